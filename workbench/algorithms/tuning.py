"""What a person may ask of a single solve: a start, a tolerance, a number of iterations. Solvers without refuse.

A solver that can stop earlier or later has a method `adjusted(tolerance, max_iterations)`, which returns it so; one
that can begin somewhere has `solve_from(problem, start)`. What counts as verified is not adjusted.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.algorithms.base import Solver, solved_by
from workbench.algorithms.paths import solved_by_path, solved_from
from workbench.arrays import Array
from workbench.errors import DataError, WorkbenchError
from workbench.problems.classes import Problem
from workbench.problems.solution import Solution


@dataclass(frozen=True, eq=False)
class Tuning:
    """start (n,) as unknowns of the problem that is solved; the solver's own tolerance; iterations at most."""

    start: Array | None = None
    tolerance: float | None = None
    max_iterations: int | None = None

    def __post_init__(self) -> None:
        if self.tolerance is not None and not 0 < self.tolerance < np.inf:
            raise WorkbenchError(f"tolerance {self.tolerance:g}; a positive number is needed")
        if self.max_iterations is not None and self.max_iterations < 1:
            raise WorkbenchError(f"{self.max_iterations} iterations; at least 1 is needed")

    @property
    def asked(self) -> bool:
        """Whether anything is asked for."""
        return not (self.start is self.tolerance is self.max_iterations is None)

    def of(self, solver: Any) -> Solver:
        """The solver with this tolerance and number of iterations. Raises WorkbenchError where it has none."""
        if self.tolerance is None and self.max_iterations is None:
            return solver
        if not hasattr(solver, "adjusted"):
            raise WorkbenchError(
                f"{solver.name} goes on until it has a solution to round-off or cannot go on, and takes no tolerance "
                "or number of iterations; pgs, nsgs, apgd, admm, clarabel and cvxpy:NAME do"
            )
        return solver.adjusted(self.tolerance, self.max_iterations)

    def solved(self, solver: Any, problem: Problem) -> Solution:
        """The problem solved so. Raises WorkbenchError where the solver cannot, DataError for a start that is none."""
        method = self.of(solver)
        if self.start is None:
            return solved_by(method, problem)
        if not hasattr(method, "solve_from"):
            raise WorkbenchError(
                f"{method.name} always starts from nothing; coulomb-exact, ccp-exact, lemke, pgs, nsgs, apgd and admm "
                "take a start"
            )
        start = np.array(self.start, dtype=float)
        if start.shape != (problem.size,) or not np.isfinite(start).all():
            raise DataError(f"the start has shape {start.shape}; {problem.size} finite numbers are needed")
        if problem.kind in method.solves and method.why_not(problem):
            return solved_by_path(method, problem, start)
        return solved_from(method, problem, start)


UNTUNED = Tuning()
