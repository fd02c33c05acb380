"""Packings of spheres by the hundred and by the thousand, under Coulomb's law and as CCPs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.comparisons.growth import up_to
from benchmarks.harness import Comparison, Measure, Options, Peer, Task, in_process
from benchmarks.packings import SETTLED, STATES, packing
from benchmarks.peers.convex import clarabel_bodies
from benchmarks.peers.pinocchio import pinocchio
from benchmarks.peers.siconos import siconos
from workbench.algorithms import apgd, find_solver, sphere_gradient, sphere_interior, sphere_newton, spheres
from workbench.algorithms.in_turn import InTurn
from workbench.problems.classes import CoulombNCP

COUNTS = {100: STATES, 1000: STATES, 5000: STATES, 30_000: ("moving", "at rest")}
"""States that are measured, by the number of spheres."""
DENSE, SPARSE, FACTORED = 300, 5000, 20_000
"""Contacts up to which peers with a dense W are asked, those with a sparse one, and ours that factor a matrix: beyond,
none answers in time."""
LIMIT = 120.0
"""Seconds that the workbench's solvers may take."""
NEAR, CLOSE = 1e-6, 1e-10
GUARD = 0.1
"""The workbench is asked for so much less in its own residual, whose scale is up to ten times larger."""


def tasks(law: str) -> Callable[[Options], list[Task]]:
    def made(options: Options) -> list[Task]:
        found = []
        for N, states in ({20: STATES} if options.quick else COUNTS).items():
            for state in states:
                problem: Any = packing(N, state, law)
                group = f"{N} spheres, {problem.contacts} contacts, {state}"
                found.append(Task(f"{N} spheres, {state}", problem, group, problem.contacts, problem))
        return found

    return made


def in_bins(options: Options) -> list[Task]:
    """Grains that have settled in a bin, under Coulomb's law."""
    found = []
    for N in (100,) if options.quick else (100, 300, 1000):
        problem: Any = packing(N, SETTLED, "coulomb")
        name = f"{N} spheres, {problem.contacts} contacts"
        found.append(Task(name, problem, name, problem.contacts, problem))
    return found


def ours(name: str, *solvers: Any, warm: bool = False) -> Peer:
    """The workbench's solvers in turn, to the residual of the last one, from zero or from the step before."""

    def load() -> Measure:
        method = InTurn(solvers, solvers[-1].stop)

        def ready(task: Task) -> Callable[[], Callable[[], Any]]:
            def solve() -> Any:
                # What a problem keeps of a first solve is part of every one.
                start = task.data.start if warm else np.zeros(task.data.size)
                found = method.solve_from(replace(task.data.blocks), start)
                return found.z[task.data.order], found.reason

            return lambda: solve

        return in_process(ready, LIMIT)

    return Peer(name, load, f"{', '.join(s.name for s in solvers)}, residual {solvers[-1].stop:g}")


def exact(contacts: int) -> Peer:
    """The workbench's exact solver of dense problems, up to so many contacts."""

    def load() -> Measure:
        def ready(task: Task) -> Callable[[], Callable[[], Any]]:
            problem = CoulombNCP(task.data.M, task.data.q, task.data.mu, task.data.d)

            def solve() -> Any:
                found = find_solver("coulomb-exact").solve(problem)
                return found.z, found.reason

            return lambda: solve

        return in_process(ready, LIMIT)

    return up_to(contacts, Peer("workbench, exact", load, "coulomb-exact, to round-off"))


def sweeps(stop: float, most: int) -> Any:
    return replace(spheres.SOLVER, stop=stop * GUARD, most=most)


def newton(stop: float, most: int) -> Any:
    return replace(sphere_newton.SOLVER, stop=stop * GUARD, most=most)


def interior(stop: float) -> Any:
    return replace(sphere_interior.SOLVER, stop=stop * GUARD)


ABOUT = (
    "The case `packing`: spheres of 0.5 to 0.6 m on a jittered grid of 1 m, mu = 0.5, one step from zero. The residual "
    "is contact by contact |p - P_K(p - m u~)| / (m max(|u_free|, g h)), m = 3 / tr W_cc, the worst."
)
COULOMB = Comparison(
    "packings",
    "Packings of spheres, Coulomb friction",
    ABOUT,
    tasks("coulomb"),
    (
        up_to(FACTORED, ours("workbench", newton(NEAR, 60))),
        up_to(FACTORED, ours("workbench, close", newton(CLOSE, 60))),
        ours("workbench, sweeps", sweeps(NEAR, 8000)),
        up_to(SPARSE, siconos("Siconos NSGS", "friction", "NSGS", 1e-9, 3000)),
        up_to(DENSE, pinocchio("Pinocchio ADMM", "ADMM", True, 1e-9, 1000)),
    ),
    within=(NEAR, CLOSE),
)
CCP = Comparison(
    "packings-ccp",
    "Packings of spheres, the CCP",
    ABOUT,
    tasks("ccp"),
    (
        up_to(FACTORED, ours("workbench", sweeps(NEAR, 8000), newton(NEAR, 60))),
        up_to(FACTORED, ours("workbench, close", sweeps(NEAR, 8000), newton(CLOSE, 60))),
        up_to(FACTORED, ours("workbench, interior points", interior(NEAR))),
        ours("workbench, sweeps", sweeps(NEAR, 8000)),
        ours("workbench, gradients", replace(sphere_gradient.SOLVER, stop=NEAR * GUARD)),
        ours("workbench, APGD", replace(apgd.SOLVER, stop=NEAR * GUARD, most=8000)),
        up_to(SPARSE, clarabel_bodies(1e-10)),
        up_to(DENSE, pinocchio("Pinocchio ADMM", "ADMM", False, 1e-9, 1000)),
    ),
    within=(NEAR, CLOSE),
)
BINS = Comparison(
    "packings-settled",
    "Grains settled in a bin, Coulomb friction",
    "The case `silo`, its wall at rest, as high as wide: grains of 5 mm, mu = 0.5, a step of 1 ms 0.3 s after they "
    "were let go; warm from the impulses of the step before. The residual is that of the packings.",
    in_bins,
    (
        exact(1000),
        ours("workbench", newton(NEAR, 100)),
        ours("workbench, warm", newton(NEAR, 100), warm=True),
        ours("workbench, sweeps", sweeps(NEAR, 8000)),
        ours("workbench, sweeps, warm", sweeps(NEAR, 8000), warm=True),
        up_to(SPARSE, siconos("Siconos NSGS", "friction", "NSGS", 1e-9, 3000)),
    ),
    within=(NEAR, CLOSE),
)
