"""Projected Gauss-Seidel for LCPs and MLCPs with bounds.

Each unknown in turn takes the value that satisfies its own row, projected onto its bounds. The method stops when one
sweep moves z by less than `TOLERANCE`, and claims a solution only if the natural map, each row divided by its diagonal,
is as small. Both are measured in the norm sqrt(sum M_ii z_i^2) relative to the larger of z and diag(M)^-1 q, a measure
free of the units of z and w.

Source: C. W. Cryer, The solution of a quadratic programming problem using systematic overrelaxation, SIAM J. Control 9
(1971); O. L. Mangasarian, Solution of symmetric linear complementarity problems by iterative methods, JOTA 22 (1977);
H+: J.-S. Pang, Necessary and sufficient conditions for the convergence of iterative methods for the linear
complementarity problem, JOTA 42 (1984). Guarantee: converges for symmetric positive definite matrices and H-matrices
with positive diagonal (strict diagonal dominance among them). Cost: n^2 per sweep, convergence linear, at a rate that
falls with the condition number.
"""

from dataclasses import dataclass, replace

import numpy as np
from numba import types

from workbench.algorithms import best
from workbench.algorithms.base import KernelSolver, kernel_arguments, refusal
from workbench.algorithms.bases import usable
from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, SOLVE, VECTOR, set_all
from workbench.engine.timing import clock
from workbench.problems.classes import Array, MatrixProblem
from workbench.problems.solution import Solution, Status

SOLVED = int(Status.SOLVED)
ITERATION_LIMIT = int(Status.ITERATION_LIMIT)
SINGULAR = int(Status.SINGULAR)
NOT_FINITE = int(Status.NOT_FINITE)
INACCURATE = int(Status.INACCURATE)

TOLERANCE = 1e-13
"""Relative change of a sweep, and relative natural map, at which the method stops."""
SWEEPS = 10_000
AT_ONCE = 20
"""Sweeps between iterates offered to watchers."""


@kernel(types.float64(MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, types.boolean))
def relative_step(M, q, lower, upper, z, move):
    """Return how far one sweep moves z (Gauss-Seidel, `move`), or would move each row (Jacobi: the natural map)."""
    n = M.shape[0]
    step = size_z = size_q = 0.0
    for i in range(n):
        w = q[i]
        for j in range(n):
            w += M[i, j] * z[j]
        y = min(max(z[i] - w / M[i, i], lower[i]), upper[i])
        step += M[i, i] * (y - z[i]) ** 2
        size_z += M[i, i] * y**2
        size_q += q[i] ** 2 / M[i, i]
        if move:
            z[i] = y
    size = max(size_z, size_q)
    if not np.isfinite(size):
        return np.inf
    return np.sqrt(step / size) if size > 0.0 else 0.0


@kernel(types.int64(MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, types.float64, types.int64, INDICES))
def sweeps_from(M, q, lower, upper, z, tolerance, most, info):
    """Make at most `most` sweeps from z, in place; info[0] is incremented."""
    for _ in range(most):
        step = relative_step(M, q, lower, upper, z, True)
        info[0] += 1
        if step == np.inf:
            set_all(np.nan, z)
            return NOT_FINITE
        if step <= tolerance:
            if relative_step(M, q, lower, upper, z, False) <= tolerance:
                return SOLVED
            if step == 0.0:
                return INACCURATE
    return ITERATION_LIMIT


@kernel(SOLVE)
def pgs_kernel(M, q, lower, upper, mu, d, z, info):
    """Solve by sweeps (see the module); info[0] counts them. SINGULAR if some M_ii <= 0; z nan on divergence."""
    n = M.shape[0]
    info[0] = 0
    set_all(np.nan, z)
    if not usable(M, q, lower, upper):
        return NOT_FINITE
    for i in range(n):
        if not M[i, i] > 0.0:
            return SINGULAR
        z[i] = min(max(0.0, lower[i]), upper[i])
    return sweeps_from(M, q, lower, upper, z, TOLERANCE, SWEEPS, info)


def _objection(problem: MatrixProblem) -> str | None:
    diagonal = np.diagonal(problem.M, axis1=-2, axis2=-1)
    if (diagonal <= 0).any():
        k = tuple(np.argwhere(diagonal <= 0)[0])
        return f"pgs divides by the diagonal, which must be positive; M[{k[-1]}, {k[-1]}] = {diagonal[k]}"
    return None


@dataclass(frozen=True)
class GaussSeidel(KernelSolver):
    """The method with an adjustable tolerance, sweep limit and start."""

    stop: float = TOLERANCE
    most: int = SWEEPS

    def adjusted(self, tolerance: float | None, max_iterations: int | None) -> "GaussSeidel":
        """Return the solver with another relative change of a sweep for termination, and another limit of sweeps."""
        return replace(self, stop=tolerance or self.stop, most=max_iterations or self.most)

    def solve(self, problem: MatrixProblem, guess: Array | None = None) -> Solution:
        """Solve one problem like `KernelSolver.solve`; sweep by sweep if limits are adjusted or it is watched."""
        if (self.stop, self.most) == (TOLERANCE, SWEEPS) and not best.watched(problem.size):
            return super().solve(problem, guess)
        reason = self.why_not(problem)
        return refusal(self, problem, reason) if reason else self.solve_from(problem, np.zeros(problem.size))

    def solve_from(self, problem: MatrixProblem, start: Array) -> Solution:
        """Solve from the point within the bounds that is nearest to `start` (n,)."""
        M, q, lower, upper, _, _ = kernel_arguments(problem)
        begun, info = clock(), np.zeros(1, dtype=np.int64)
        z, status = np.clip(start, lower, upper), ITERATION_LIMIT
        while status == ITERATION_LIMIT and info[0] < self.most:
            status = sweeps_from(M, q, lower, upper, z, self.stop, min(AT_ONCE, self.most - info[0]), info)
            best.offer(z)
        elapsed, claimed = clock() - begun, Status(status)
        reason = "" if claimed is Status.SOLVED else claimed.meaning
        residual = float(problem.residual(z))
        return Solution(z, claimed, residual, self.tolerance, int(info[0]), elapsed, self.name, reason)


SOLVER = GaussSeidel(
    name="pgs",
    kernel=pgs_kernel,
    solves=frozenset({"LCP", "MLCP"}),
    guaranteed_for="symmetric positive definite matrices; H-matrices with positive diagonal",
    source="Cryer 1971; Mangasarian 1977; Pang 1984",
    objection=_objection,
)
