"""Mixed problems to round-off: all sets together, by the dense method for few contacts (`small_cones`).

It consists of Gauss-Seidel sweeps, Newton's method on the equations of every set's law, and proximal points for
redundant rows, and restarts from its result until round-off prevents progress. No method is proven to solve Coulomb's
law; the problem's own residual judges the solution. For problems without cones and discs, and for those with friction
cones only, other solvers give stronger guarantees.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types

from workbench.algorithms.base import EXACT, KernelSolver, kernel_info, refusal
from workbench.algorithms.small_cones import solve_anew
from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, SOLVE, VECTOR, set_all
from workbench.engine.scratch import scratch, scratch_matrix
from workbench.engine.timing import clock
from workbench.problems.mixed import MixedNCP
from workbench.problems.residual import LOWER, MU, READ, READ_ROW, UNIT, UPPER, Q, order_by_set, parts_of_code
from workbench.problems.sets import BlockSets
from workbench.problems.solution import Solution, Status
from workbench.support.arrays import Array

SOLVED, INACCURATE, NOT_FINITE = int(Status.SOLVED), int(Status.INACCURATE), int(Status.NOT_FINITE)


@kernel(types.float64(READ, READ_ROW, READ_ROW, READ_ROW, READ_ROW, VECTOR, INDICES))
def solve_sets(M, q, lower, upper, mu, z, info):
    """Solve a mixed problem from z (n,), which receives the best iterate; returns the residual. `info` is [iterations,
    its sets as in `Sets.code`]."""
    n, code = q.shape[0], info[1:]
    B, start = parts_of_code(code, n)
    A, rows, x = scratch_matrix(n, n), scratch_matrix(5, n), scratch(n)
    order_by_set(M, q, lower, upper, mu, code, A, rows)
    for k in range(n):
        y = z[code[start + k]] / rows[UNIT, k]
        # Impulses along directions without friction have no unit.
        x[k] = y if np.isfinite(y) else 0.0
    sets = BlockSets(code[B : 2 * B + 1], code[:B], rows[MU, :B], rows[LOWER], rows[UPPER])
    residual = solve_anew(A, rows[Q], sets, x, info)
    for k in range(n):
        z[code[start + k]] = rows[UNIT, k] * x[k]
    return residual


@kernel(SOLVE)
def mixed_kernel(M, q, lower, upper, mu, d, z, info):
    """A mixed problem, from zero; d is not used."""
    set_all(0.0, z)
    residual = solve_sets(M, q, lower, upper, mu, z, info)
    if residual == np.inf:
        return NOT_FINITE
    return SOLVED if residual <= EXACT else INACCURATE


@dataclass(frozen=True)
class MixedSolver(KernelSolver):
    """Solver of mixed problems (see the module)."""

    def solve(self, problem: Any, guess: Array | None = None) -> Solution:
        """Solve one problem, from zero, ignoring the guess."""
        if reason := self.why_not(problem):
            return refusal(self, problem, reason)
        return self.solve_from(problem, np.zeros(problem.size))

    def solve_from(self, problem: Any, start: Array) -> Solution:
        """Solve from a start (n,); see `solve`."""
        begun, info, z = clock(), kernel_info(problem), np.array(start, dtype=float)
        solve_sets(problem.M, problem.q, problem.lower, problem.upper, problem.mu, z, info)
        residual = float(problem.residual(z))
        claimed = Status.SOLVED if residual <= self.tolerance else Status.INACCURATE
        reason = "" if claimed is Status.SOLVED else claimed.meaning
        return Solution(z, claimed, residual, self.tolerance, int(info[0]), clock() - begun, self.name, reason)


def _objection(problem: Any) -> str | None:
    return None if np.ndim(problem.q) == 1 else "one problem at a time is needed, not a batch"


SOLVER = MixedSolver(
    name="mixed-exact",
    kernel=mixed_kernel,
    solves=frozenset({MixedNCP.kind}),
    guaranteed_for="nothing; the residual decides",
    source="Jourdan, Alart & Jean 1998; Alart & Curnier 1991; Acary, Bremond & Huber 2018",
    objection=_objection,
)
