"""Contact blocks of any sets to round-off: islands that nothing couples are solved apart, small ones as dense problems.

Guarantees are those of the methods that the islands go to; the problem's own residual grades the answer.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.algorithms.base import EXACT, refusal
from workbench.arrays import Array
from workbench.engine.timing import clock
from workbench.errors import DataError
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.solution import Solution, Status


@dataclass(frozen=True)
class BlockSolver:
    """See the module."""

    name: str = "blocks-exact"
    solves: frozenset[str] = frozenset({ContactBlocks.kind})
    guaranteed_for: str = "islands of one kind as the methods that they go to; others: no proof, graded by the residual"
    tolerance: float = EXACT

    def why_not(self, problem: Any) -> str | None:
        """Contact blocks are taken, whatever their sets."""
        return None if problem.kind in self.solves else f"{self.name} solves contact blocks, not {problem.kind}"

    def solve(self, problem: Any, guess: Array | None = None) -> Solution:
        """Solve one problem from a guess x (X,) or from nothing.

        Raises DataError where the guess has another shape.
        """
        # Lazy, since SciPy's graphs take longer to import than small problems to solve.
        from workbench.algorithms.block_islands import islands, solve_dense

        if reason := self.why_not(problem):
            return refusal(self, problem, reason)
        start = clock()
        x = np.zeros(problem.size)
        if guess is not None:
            if np.shape(guess) != x.shape:
                raise DataError(f"the guess has shape {np.shape(guess)}; the problem's unknowns have {x.shape}")
            x[:] = np.where(np.isfinite(guess), guess, 0.0)
        some = [island for island in islands(problem) if island.method is not None]
        iterations = solve_dense(problem, some, x) if some else 0
        residual = problem.residual(x)
        claimed = Status.SOLVED if residual <= self.tolerance else Status.INACCURATE
        reason = "" if claimed is Status.SOLVED else claimed.meaning
        return Solution(x, claimed, residual, self.tolerance, iterations, clock() - start, self.name, reason)

    def solve_from(self, problem: Any, start: Array) -> Solution:
        """As `solve`, from a start (X,)."""
        return self.solve(problem, start)


SOLVER = BlockSolver()
