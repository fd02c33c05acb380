"""Projected Gauss-Seidel for LCPs and MLCPs with bounds.

Each unknown in turn takes the value that satisfies its own row, projected onto its bounds. The method stops when one
sweep moves z by less than `TOLERANCE`, and claims a solution only where the natural map, each row divided by its
diagonal, is that small too. Both are measured in the norm sqrt(sum M_ii z_i^2) relative to the larger of z and
diag(M)^-1 q, a measure free of the units of z and w.

Source: C. W. Cryer, The solution of a quadratic programming problem using systematic overrelaxation, SIAM J. Control 9
(1971); O. L. Mangasarian, Solution of symmetric linear complementarity problems by iterative methods, JOTA 22 (1977);
H+: J.-S. Pang, Necessary and sufficient conditions for the convergence of iterative methods for the linear
complementarity problem, JOTA 42 (1984). Guarantee: converges for symmetric positive definite matrices and H-matrices
with positive diagonal (strict diagonal dominance among them). Cost: n^2 per sweep, convergence linear, at a rate that
falls with the condition number.
"""

import numpy as np
from numba import types

from workbench.algorithms.base import KernelSolver
from workbench.algorithms.bases import usable
from workbench.engine.compiling import kernel
from workbench.engine.kernels import MATRIX, SOLVE, VECTOR, set_all
from workbench.problems.classes import Problem
from workbench.problems.solution import Status

SOLVED = int(Status.SOLVED)
ITERATION_LIMIT = int(Status.ITERATION_LIMIT)
SINGULAR = int(Status.SINGULAR)
NOT_FINITE = int(Status.NOT_FINITE)
INACCURATE = int(Status.INACCURATE)

TOLERANCE = 1e-13
"""Relative change of a sweep, and relative natural map, at which the method stops."""
SWEEPS = 10_000


@kernel(types.float64(MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, types.boolean))
def relative_step(M, q, lower, upper, z, move):
    """How far one sweep moves z (Gauss-Seidel, `move`), or would move it row by row (Jacobi: the natural map)."""
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


@kernel(SOLVE)
def pgs_kernel(M, q, lower, upper, mu, d, z, info):
    """See the module; info[0] counts sweeps. SINGULAR where a diagonal entry is not positive, z nan if it diverges."""
    n = M.shape[0]
    info[0] = 0
    set_all(np.nan, z)
    if not usable(M, q, lower, upper):
        return NOT_FINITE
    for i in range(n):
        if not M[i, i] > 0.0:
            return SINGULAR
        z[i] = min(max(0.0, lower[i]), upper[i])
    while info[0] < SWEEPS:
        step = relative_step(M, q, lower, upper, z, True)
        info[0] += 1
        if step == np.inf:
            set_all(np.nan, z)
            return NOT_FINITE
        if step <= TOLERANCE:
            if relative_step(M, q, lower, upper, z, False) <= TOLERANCE:
                return SOLVED
            if step == 0.0:
                return INACCURATE
    return ITERATION_LIMIT


def _objection(problem: Problem) -> str | None:
    diagonal = np.diagonal(problem.M, axis1=-2, axis2=-1)
    if (diagonal <= 0).any():
        k = tuple(np.argwhere(diagonal <= 0)[0])
        return f"pgs divides by the diagonal, which must be positive; M[{k[-1]}, {k[-1]}] = {diagonal[k]}"
    return None


SOLVER = KernelSolver(
    name="pgs",
    kernel=pgs_kernel,
    solves=frozenset({"LCP", "MLCP"}),
    guaranteed_for="symmetric positive definite matrices; H-matrices with positive diagonal",
    source="Cryer 1971; Mangasarian 1977; Pang 1984",
    objection=_objection,
)
