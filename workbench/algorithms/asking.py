"""What a solver makes of a problem of any kind: by a path of bridges where it does not take that as it is."""

from collections.abc import Callable, Sequence
from typing import Any

from workbench.algorithms.base import Solver, begun, with_residual
from workbench.arrays import Array
from workbench.problems.classes import MatrixProblem
from workbench.problems.solution import Solution, Status


def solved_by(solver: Solver, problem: MatrixProblem, *guess: Array, like: Sequence[str] = ()) -> Solution:
    """What a solver makes of a problem, from a guess if it has one; over bridges `like` those of another, if they lead
    there (`paths.path_to`)."""
    return _asked(solver, problem, lambda: solver.solve(problem, *guess), like=like)


def solved_from(solver: Any, problem: Any, start: Array) -> Solution:
    """The same from a start (n,). Solvers that take none begin from nothing."""
    return _asked(solver, problem, lambda: begun(solver, problem, start), start)


def _asked(
    solver: Solver, problem: MatrixProblem, solve: Callable[[], Solution], start: Array | None = None,
    like: Sequence[str] = (),
) -> Solution:  # fmt: skip
    if problem.kind in solver.solves:
        found = with_residual(solver, problem, solve())
        if found.claimed is not Status.REFUSED:
            return found
    # Lazy: what is taken as it is needs no bridges.
    from workbench.algorithms.crossing import solved_by_path

    return solved_by_path(solver, problem, start, like)
