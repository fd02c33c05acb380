"""A robot's step: contact problems of scenes that MuJoCo describes, each from the impulses of the step before."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import robots
from benchmarks.harness import Comparison, Measure, Missing, Options, Peer, Task, in_process
from benchmarks.peers import ours
from benchmarks.peers.pinocchio import pinocchio
from benchmarks.peers.siconos import siconos
from workbench.algorithms.small_cones import solve_small
from workbench.problems.classes import ConicQP, CoulombNCP
from workbench.problems.sets import normals_first

STEPS, EVERY, TIGHT = 350, 5, 1e-10


def tasks(options: Options, associated: bool = False) -> list[Task]:
    try:
        import mujoco  # noqa: F401
    except ImportError:
        raise Missing("the package mujoco is needed: pip install mujoco") from None
    law, made = ConicQP if associated else CoulombNCP, []
    for name in robots.SCENES:
        every, count = (10, 20) if options.quick else (EVERY, STEPS)
        for k, step in enumerate(robots.steps(name, count)):
            if k % every == 0:
                order = normals_first(step.mu.size, 2)
                problem = law(step.W[np.ix_(order, order)], step.q[order], step.mu)
                made.append(Task(f"{name}-{k}", problem, name, step.mu.size, step))
    return made


def islands(warm: bool) -> Peer:
    """The workbench's solver of some contacts in one go, island by island; islands are cut out untimed."""

    def ready(task: Task) -> Callable[[], Callable[[], Any]]:
        step, order = task.data, normals_first(task.data.mu.size, 2)
        parts = [(robots.rows(k), robots.sets(step.mu[k], task.problem.associated)) for k in step.islands]
        cut = [(k, step.W[np.ix_(k, k)], step.q[k], law, np.zeros(k.size)) for k, law in parts]
        start, p, info = step.start if warm else np.zeros(step.q.size), np.empty(step.q.size), np.zeros(1, np.int64)
        starts = [start[k] for k, *_ in cut]

        def solve() -> Any:
            for (k, W, q, law, z), from_there in zip(cut, starts, strict=True):
                solve_small(W, q, law, from_there, z, info)
                p[k] = z
            return p[order], ""

        return lambda: solve

    return Peer("workbench" if warm else "workbench, cold", lambda: in_process(ready), "solve_small")


def mujoco_itself() -> Peer:
    """MuJoCo's own solver on the same state: another problem, soft contacts, so no answer to judge."""

    def load() -> Measure:
        import mujoco

        def ready(task: Task) -> Callable[[], Callable[[], Any]]:
            model, q, v, control = task.data.state
            data = mujoco.MjData(model)
            data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, control
            mujoco.mj_forward(model, data)

            def fresh() -> Callable[[], Any]:
                data.qacc_warmstart[:] = 0.0
                return lambda: (mujoco.mj_fwdConstraint(model, data), "")

            return fresh

        return in_process(ready)

    return Peer("MuJoCo, its own problem", load)


ABOUT = (
    f"Steps of {robots.STEP * 1e3:g} ms under Coulomb's law: a robot's scene (37 velocities), five stacked boxes, "
    "and a loaded table on four legs; W rank deficient. Each problem starts from the impulses of the step before."
)
COULOMB = Comparison(
    "robots",
    "A robot's step, Coulomb friction",
    ABOUT,
    tasks,
    (
        islands(warm=True),
        islands(warm=False),
        ours.solver("coulomb-exact", "coulomb-exact"),
        mujoco_itself(),
        pinocchio("Pinocchio ADMM", "ADMM", True, TIGHT, 10_000),
        siconos("Siconos NSN_AC", "friction", "NSN_AC", TIGHT, 1000),
        siconos("Siconos NSGS", "friction", "NSGS", TIGHT, 10_000),
    ),
)
CCP = Comparison(
    "robots-ccp",
    "A robot's step, the CCP",
    ABOUT + " The CCP on the same W, q and mu.",
    lambda options: tasks(options, True),
    (
        islands(warm=True),
        islands(warm=False),
        ours.solver("ccp-exact", "ccp-exact"),
        pinocchio("Pinocchio ADMM", "ADMM", False, TIGHT, 10_000),
    ),
)
