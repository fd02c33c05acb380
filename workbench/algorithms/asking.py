"""Solve a problem of any kind with a given solver, with bridges if the solver does not accept it directly."""

from collections.abc import Callable, Sequence
from typing import Any

from workbench.algorithms.base import Solver, begun, with_residual
from workbench.problems.classes import MatrixProblem
from workbench.problems.solution import Solution, Status
from workbench.support.arrays import Array


def solved_by(solver: Solver, problem: MatrixProblem, *guess: Array, like: Sequence[str] = ()) -> Solution:
    """Return a solver's solution of a problem, from a guess if there is one.

    Bridges are chosen `like` those used for another problem, if they apply (`paths.path_to`)."""
    return _asked(solver, problem, lambda: solver.solve(problem, *guess), like=like)


def solved_from(solver: Any, problem: Any, start: Array) -> Solution:
    """Return a solver's solution of a problem from a start (n,), which solvers without warm start ignore."""
    return _asked(solver, problem, lambda: begun(solver, problem, start), start)


def _asked(
    solver: Solver, problem: MatrixProblem, solve: Callable[[], Solution], start: Array | None = None,
    like: Sequence[str] = (),
) -> Solution:  # fmt: skip
    if problem.kind in solver.solves:
        found = with_residual(solver, problem, solve())
        if found.claimed is not Status.REFUSED:
            return found
    # Lazy import: directly accepted problems need no bridges.
    from workbench.algorithms.crossing import solved_by_path

    return solved_by_path(solver, problem, start, like)
