"""Options of a single solve: a tolerance, a start and an iteration limit; the last two only for some solvers.

A solution is judged by the requested tolerance, whether or not the solver stops there. A solver with adjustable
termination has a method `adjusted(tolerance, max_iterations)`, which returns the adjusted solver; it is made to stop at
a smaller tolerance if its own measure accepts what the problem's residual does not. A solver with warm start has
`solve_from(problem, start)`.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.algorithms.asking import solved_by, solved_from
from workbench.algorithms.base import Solver
from workbench.algorithms.crossing import solved_by_path
from workbench.problems.classes import MatrixProblem
from workbench.problems.solution import Solution, Status
from workbench.support.arrays import Array
from workbench.support.errors import DataError, WorkbenchError

CLOSER = 1e-2, 1e-4, 1e-6
"""Shares of the tolerance at which a solver stops, in turn, if its result misses the requested tolerance."""


@dataclass(frozen=True, eq=False)
class Tuning:
    """start (n,) in the unknowns of the problem; the tolerance for the result; the iteration limit."""

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
        """Whether any option is set."""
        return not (self.start is self.tolerance is self.max_iterations is None)

    def of(self, solver: Any) -> Solver:
        """Return the solver with these limits, if it has any. Raises WorkbenchError if it has no iteration limit."""
        if hasattr(solver, "adjusted"):
            asked = self.tolerance, self.max_iterations
            return solver if asked == (None, None) else solver.adjusted(*asked)
        if self.max_iterations is not None:
            raise WorkbenchError(
                f"{solver.name} iterates to round-off and takes no number of iterations; "
                "pgs, nsgs, apgd, admm, clarabel and cvxpy:NAME do"
            )
        return solver

    def graded(self, found: Solution) -> Solution:
        """Return a solution judged by the requested tolerance instead of the solver's own."""
        if self.tolerance is None or found.proof:
            return found
        held = replace(found, tolerance=self.tolerance)
        if held.claimed is not Status.SOLVED or held.verified:
            return held
        return replace(held, claimed=Status.INACCURATE, reason=held.reason or Status.INACCURATE.meaning)

    def solved(self, solver: Any, problem: MatrixProblem) -> Solution:
        """Return the solution with these options.

        Raises WorkbenchError if the solver does not support them, DataError for an invalid start.
        """
        found = self.graded(self._solved(self.of(solver), problem))
        for share in CLOSER:
            if found.claimed is not Status.INACCURATE or self.tolerance is None or not hasattr(solver, "adjusted"):
                break
            closer = solver.adjusted(share * self.tolerance, self.max_iterations)
            found = min(found, self.graded(self._solved(closer, problem)), key=lambda one: one.residual)
        return found

    def _solved(self, method: Any, problem: MatrixProblem) -> Solution:
        if self.start is None:
            return solved_by(method, problem)
        if not hasattr(method, "solve_from"):
            raise WorkbenchError(
                f"{method.name} takes no initial guess; coulomb-exact, ccp-exact, lemke, pgs, nsgs, apgd and admm "
                "take one"
            )
        start = np.array(self.start, dtype=float)
        if start.shape != (problem.size,) or not np.isfinite(start).all():
            raise DataError(f"the start has shape {start.shape}; {problem.size} finite numbers are needed")
        if problem.kind in method.solves and method.why_not(problem):
            return solved_by_path(method, problem, start)
        return solved_from(method, problem, start)


UNTUNED = Tuning()
