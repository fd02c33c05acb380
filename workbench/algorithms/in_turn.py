"""Solvers in sequence: each starts from the result of the one before, until the residual meets the tolerance."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.engine.timing import clock
from workbench.problems.solution import Solution, Status
from workbench.support.arrays import Array


@dataclass(frozen=True)
class InTurn:
    """A sequence of `solvers` with warm start, at least one; if none meets `tolerance`, the best result is returned."""

    solvers: Sequence[Any]
    tolerance: float

    @property
    def name(self) -> str:
        return ", then ".join(s.name for s in self.solvers)

    @property
    def solves(self) -> frozenset[str]:
        return frozenset.union(*(s.solves for s in self.solvers))

    @property
    def guaranteed_for(self) -> str:
        return "; ".join(f"{s.name}: {s.guaranteed_for}" for s in self.solvers)

    def why_not(self, problem: Any) -> str | None:
        """Return why none of them accepts a problem, or None if one does."""
        reasons = [s.why_not(problem) for s in self.solvers]
        return None if None in reasons else "; ".join(filter(None, reasons))

    def solve(self, problem: Any) -> Solution:
        """Solve from zero."""
        return self.solve_from(problem, np.zeros(problem.size))

    def solve_from(self, problem: Any, start: Array) -> Solution:
        """Solve from a start (X,); the iterations are the total over all solvers."""
        begun, best, iterations = clock(), None, 0
        for solver in self.solvers:
            found = solver.solve_from(problem, start if best is None else np.nan_to_num(best.z))
            iterations += found.iterations
            if best is None or found.residual < best.residual:
                best = found
            if best.residual <= self.tolerance:
                break
        assert best is not None
        if best.residual <= self.tolerance:
            claimed, reason = Status.SOLVED, ""
        else:
            # A solver may have stopped at its own, larger tolerance.
            claimed = Status.INACCURATE if best.claimed is Status.SOLVED else best.claimed
            reason = best.reason or claimed.meaning
        return replace(
            best, claimed=claimed, reason=reason, tolerance=self.tolerance, iterations=iterations,
            solve_time=clock() - begun,
        )  # fmt: skip
