"""LCPs solved from the basis of the problem before: Stewart-Trinkle LCPs of stacked boxes, the basis unchanged.

The second problem of a pair is the first with all that drives it (velocities, gravity, gaps) one per cent stronger, so
that M is the same, its solution one per cent larger and on the same basis. A solver that checks the last basis first
has one factorisation to do.
"""

from dataclasses import replace

from benchmarks.comparisons import lcp
from benchmarks.harness import Comparison, Options, Task
from benchmarks.peers import floor, ours, pivoting
from workbench.problems.classes import LCP

SIZES = (60, 180, 600)
PROBLEMS = 10


def task(n: int, k: int) -> Task:
    """The second problem of pair k; `data` is the first."""
    first = lcp.task(n, k)
    return replace(first, problem=LCP(first.problem.M, 1.01 * first.problem.q), data=first.problem)


def tasks(options: Options) -> list[Task]:
    if options.quick:
        return [task(24, 0)]
    return [task(n, k) for n in SIZES for k in range(PROBLEMS)]


COMPARISON = Comparison(
    "warm",
    "Stewart-Trinkle LCPs of stacked boxes, warm",
    "Pairs of problems with the same M and the same basis; the first is solved untimed, the second from what it left.",
    tasks,
    (ours.solver("lemke", warm=True), pivoting.drake(warm=True), floor.PEER),
)
