"""Mixed problems to round-off: all sets together, by the dense method for few contacts (`small_cones`).

It consists of Gauss-Seidel sweeps, Newton's method on the equations of every set's law, and proximal points for
redundant rows, and restarts from its result until round-off prevents progress. No method is proven to solve Coulomb's
law; the problem's own residual judges the solution. For problems without cones and discs, and for those with friction
cones only, other solvers give stronger guarantees.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.algorithms.base import EXACT, refusal
from workbench.engine.timing import clock
from workbench.problems.mixed import MixedNCP
from workbench.problems.solution import Solution, Status
from workbench.support.arrays import Array


@dataclass(frozen=True)
class MixedSolver:
    """Solver of mixed problems (see the module)."""

    name: str = "mixed-exact"
    solves: frozenset[str] = frozenset({MixedNCP.kind})
    guaranteed_for: str = "nothing; the residual decides"
    tolerance: float = EXACT

    def why_not(self, problem: Any) -> str | None:
        """Return why a problem is not accepted: only single mixed problems are, with any sets."""
        if problem.kind not in self.solves:
            return f"{self.name} solves {MixedNCP.kind}, not {problem.kind}"
        return None if np.ndim(problem.q) == 1 else "one problem at a time is needed, not a batch"

    def solve(self, problem: Any) -> Solution:
        """Solve one problem, from zero."""
        if reason := self.why_not(problem):
            return refusal(self, problem, reason)
        return self.solve_from(problem, np.zeros(problem.size))

    def solve_from(self, problem: Any, start: Array) -> Solution:
        """Solve from a start (n,); see `solve`."""
        from workbench.algorithms.small_cones import solve_anew

        begun, p, info = clock(), problem.by_set, np.zeros(1, dtype=np.int64)
        x = np.nan_to_num(p.unknowns(start), nan=0.0, posinf=0.0, neginf=0.0)
        solve_anew(p.matrix, p.q, p.sets, x, info)
        z = p.plain(x)
        residual = float(problem.residual(z))
        claimed = Status.SOLVED if residual <= self.tolerance else Status.INACCURATE
        reason = "" if claimed is Status.SOLVED else claimed.meaning
        return Solution(z, claimed, residual, self.tolerance, int(info[0]), clock() - begun, self.name, reason)


SOLVER = MixedSolver()
