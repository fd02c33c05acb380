"""A robot's step: some twenty contacts of which many are redundant, exact Coulomb friction to 1e-9.

    python -m benchmarks.robot [--steps 1000]

A ragdoll falls among crates (`scenes/ragdoll.xml`, 32 velocities) in MuJoCo; the contact problems of its states with 16
to 24 contacts are solved one after the other, cold, by the workbench and by Pinocchio's ADMM (`pip install pin`), which
gets W in units in which it is of order one, and limits as contacts without friction. Peers take turns problem by
problem, one thread. MuJoCo's own step of the same states stands beside them: its contacts are soft, so it solves an
easier problem. Times are the processor's, of the thread: median, 99 of 100,
worst.
"""

import argparse
import os
from pathlib import Path
from time import thread_time
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import mujoco
import numpy as np

from benchmarks.peers.pinocchio import contacts
from benchmarks.provenance import one_line, provenance
from tests.dense_contact import dense_step, residual
from workbench.algorithms.escalation import default_solver
from workbench.scenes.mujoco.scene import MujocoScene
from workbench.scenes.posing import Poser
from workbench.verbs.find import find_formulation

SCENE = Path(__file__).parent / "scenes" / "ragdoll.xml"
CONTACTS = range(16, 25)
CLOSE = 1e-9


def states(scene: Any, count: int) -> Any:
    """States (q, v, t) of falls from `count` / 100 or more heights, five steps apart."""
    model, rng = scene.model, np.random.default_rng(0)
    found, data = 0, mujoco.MjData(model)
    while found < count:
        mujoco.mj_resetData(model, data)
        data.qpos[2] += rng.uniform(0.0, 0.3)
        data.qvel[:] = rng.uniform(-0.5, 0.5, model.nv)
        for k in range(1000):
            mujoco.mj_step(model, data)
            if k % 5 or found == count:
                continue
            given = scene.instant(data.qpos.copy(), data.qvel.copy(), data.time, scene.step)
            if (given.directions > 0).sum() in CONTACTS:
                found += 1
                yield given, data


class Engine:
    """MuJoCo's step, all of it and its solver alone."""

    def __init__(self, model: Any) -> None:
        self.model, self.copy = model, mujoco.MjData(model)

    def step(self, data: Any) -> tuple[float, float]:
        copy = self.copy
        copy.qpos[:], copy.qvel[:], copy.qacc_warmstart[:] = data.qpos, data.qvel, data.qacc_warmstart
        mujoco.mj_forward(self.model, copy)
        begun = thread_time()
        mujoco.mj_fwdConstraint(self.model, copy)
        solved = thread_time() - begun
        begun = thread_time()
        mujoco.mj_step(self.model, copy)
        return thread_time() - begun, solved


class Admm:
    """Pinocchio's ADMM for Coulomb's law, asked for 1e-11; limits are contacts without friction or tangents."""

    def __init__(self) -> None:
        import pinocchio

        self.pin = pinocchio

    def solve(self, step: Any) -> tuple[float, Any]:
        """Seconds, and the impulses in the rows of the dense step."""
        pin, r = self.pin, len(step.cones)
        place = np.full((r, 3), -1)
        for i, rows in enumerate(step.cones):
            place[i, 2], place[i, : rows.size - 1] = rows[0], rows[1:]
        there = place.ravel() >= 0
        inertia, speed = np.trace(step.W) / step.q.size, np.linalg.norm(step.q) or 1.0
        W, q = np.zeros((3 * r, 3 * r)), np.zeros(3 * r)
        W[np.ix_(there, there)] = step.W[np.ix_(place.ravel()[there], place.ravel()[there])] / inertia
        q[there] = step.q[place.ravel()[there]] / speed
        models, data = contacts(pin, [1.0 if rows.size > 1 else 0.0 for rows in step.cones])
        solver, found, asked = pin.ADMMConstraintSolver(q.size), pin.ADMMSolverResult(), pin.ADMMSolverSettings()
        asked.solve_ncp, asked.max_iterations = True, 10_000
        asked.absolute_complementarity_tol = asked.absolute_feasibility_tol = 1e-11
        asked.relative_complementarity_tol = asked.relative_feasibility_tol = 0.0
        delassus = pin.DelassusOperatorDense(W)
        begun = thread_time()
        solver.solve(delassus, q, models, data, asked, found)
        seconds = thread_time() - begun
        p = np.zeros(step.q.size)
        p[place.ravel()[there]] = found.retrieveConstraintImpulses()[there] * speed / inertia
        return seconds, p


def measure(count: int) -> dict[str, list[tuple[float, float]]]:
    """(seconds, residual) of every problem and peer; the residual is that of `tests.dense_contact`."""
    scene = MujocoScene(SCENE)
    poser, solver, engine = Poser(find_formulation("coulomb")), default_solver("contact blocks"), Engine(scene.model)
    names = ["contact data of the scene", "posing", "Coulomb, solve", "MuJoCo, whole step", "MuJoCo, solver"]
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    try:
        admm = Admm()
        found["Pinocchio ADMM, solve"] = []
    except ImportError:
        admm = None
    sizes = []
    for given, data in states(scene, count):
        step = dense_step(given)
        sizes.append(((given.directions > 0).sum(), step.q.size, np.linalg.matrix_rank(step.A)))
        begun = thread_time()
        scene.instant(data.qpos.copy(), data.qvel.copy(), data.time, scene.step)
        known = thread_time()
        posed = poser.pose(given)
        problem = posed.problem()
        ready = thread_time()
        answer = solver.solve(problem)
        solved = thread_time()
        P = posed.impulses(answer.z)[0]
        p = P[given.mu > 0] / given.mu[given.mu > 0]
        taken = known - begun, ready - known, solved - ready, *engine.step(data)
        for name, seconds in zip(names, taken, strict=True):
            found[name].append((seconds, residual(step, p) if name == "Coulomb, solve" else np.nan))
        if admm:
            seconds, p = admm.solve(step)
            found["Pinocchio ADMM, solve"].append((seconds, residual(step, p)))
    contacts, rows, rank = np.median(sizes, axis=0)
    print(f"{count} problems, medians: {contacts:g} contacts, {rows:g} rows of rank {rank:g}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.robot", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=1000)
    found = measure(parser.parse_args().steps)
    print("| | median [ms] | 99 % [ms] | worst [ms] | within 1e-9 | worst residual |\n|---|---|---|---|---|---|")
    for name, values in found.items():
        # The first loads kernels.
        seconds, errors = np.array(values[1:]).T
        judged = (
            f"{(errors <= CLOSE).sum()} of {errors.size} | {errors.max():.1e}" if np.isfinite(errors).any() else "|"
        )
        median, most, worst = 1e3 * np.percentile(seconds, [50, 99, 100])
        print(f"| {name} | {median:.3g} | {most:.3g} | {worst:.3g} | {judged} |")
    print(f"\nload {os.getloadavg()[0]:.1f}; {one_line(provenance())}")


if __name__ == "__main__":
    main()
