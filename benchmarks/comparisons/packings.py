"""Packings of spheres by the hundred and by the thousand, under Coulomb's law and as CCPs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from benchmarks.comparisons.growth import up_to
from benchmarks.harness import Comparison, Measure, Options, Peer, Task, in_process
from benchmarks.packings import STATES, packing
from benchmarks.peers.convex import clarabel_bodies
from benchmarks.peers.pinocchio import pinocchio
from benchmarks.peers.siconos import siconos
from workbench.algorithms import apgd, sphere_interior, sphere_newton, spheres
from workbench.algorithms.in_turn import InTurn

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


def ours(name: str, *solvers: Any) -> Peer:
    """The workbench's solvers in turn, to the residual of the last one."""

    def load() -> Measure:
        method = InTurn(solvers, solvers[-1].stop)

        def ready(task: Task) -> Callable[[], Callable[[], Any]]:
            def solve() -> Any:
                # What a problem keeps of a first solve is part of every one.
                found = method.solve(replace(task.data.blocks))
                return found.z[task.data.order], found.reason

            return lambda: solve

        return in_process(ready, LIMIT)

    return Peer(name, load, f"{', '.join(s.name for s in solvers)}, residual {solvers[-1].stop:g}")


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
        up_to(FACTORED, ours("workbench", sweeps(NEAR, 8000), newton(NEAR, 60))),
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
        ours("workbench, APGD", replace(apgd.SOLVER, stop=NEAR * GUARD, most=8000)),
        up_to(SPARSE, clarabel_bodies(1e-10)),
        up_to(DENSE, pinocchio("Pinocchio ADMM", "ADMM", False, 1e-9, 1000)),
    ),
    within=(NEAR, CLOSE),
)
