"""The default for MLCPs: three methods, each used if the one before does not apply or fails to reach round-off.

1. Symmetric problems of order above `SMALL`: the drives of `keller`, the fastest, with or without redundant rows.
2. Block principal pivoting (`judice_pires`).
3. If that ends singular or inaccurate, as with redundant rows, the proximal point method around it: from zero,
   and with D M D of unit diagonal, the next z solves the MLCP of M + eps D^-2, q - eps D^-2 z, positive definite even
   with redundant rows, by pivoting too. Among the many solutions of a hyperstatic system it approaches one without
   needless self-stress. The best iterate is kept.

Source: R. T. Rockafellar, Monotone operators and the proximal point algorithm, SIAM J. Control Optim. 14 (1976).
Guarantee: P-matrices, by pivoting; M positive semidefinite with a solution, by the convergence of the proximal points.
Cost: that of `keller`, of block principal pivoting, and up to `PROXIMAL_STEPS` times that.
"""

import numpy as np
from numba import types

from workbench.algorithms.base import KernelSolver
from workbench.algorithms.bases import SIGN_TOLERANCE, clip, natural_residual, usable
from workbench.algorithms.judice_pires import by_pivots
from workbench.algorithms.keller import by_drives
from workbench.engine.compiling import kernel
from workbench.engine.kernels import FAST, MATRIX, SOLVE, copy, set_all
from workbench.engine.scratch import scratch
from workbench.problems.solution import Status

SOLVED = int(Status.SOLVED)
INACCURATE = int(Status.INACCURATE)
ITERATION_LIMIT = int(Status.ITERATION_LIMIT)
NOT_FINITE = int(Status.NOT_FINITE)

GOOD, CLAIM = 1e-14, 1e-9
"""Scaled natural-map residuals below which no gain is possible, and up to which the result is a solution."""
ENOUGH = 1e-12
"""Residual up to which the drives' result needs no further pivots."""
SMALL = 12
"""Order up to which block exchanges are as fast as drives."""
SYMMETRIC = 1e-10
"""Largest |M_ij - M_ji| / sqrt(M_ii M_jj) of a symmetric matrix."""
FINE_TOLERANCE = 1e-15
"""`SIGN_TOLERANCE` for the proximal steps, whose bases are regular: signs lost to cancellation matter there."""
FEW = 25
"""Exchanges before the proximal points are tried: if block exchanges work, a dozen suffice."""
FIRST_EPS, LAST_EPS, SHRINK, PROXIMAL_STEPS = 1e-3, 1e-9, 0.1, 40


@kernel(types.boolean(MATRIX), **FAST)
def is_symmetric(M):
    """Return whether M (n, n) is symmetric up to round-off, in units with unit diagonal."""
    n = M.shape[0]
    worst = 0.0
    for i in range(n):
        for j in range(i):
            apart = (M[i, j] - M[j, i]) ** 2 - SYMMETRIC**2 * abs(M[i, i] * M[j, j])
            worst = max(worst, apart)
    return worst <= 0.0


@kernel(SOLVE)
def proximal_kernel(M, q, lower, upper, mu, d, z, info):
    """Solve an MLCP (see the module); info[0] counts pivots and exchanges, at most 1000 + 20 n a problem solved."""
    n = M.shape[0]
    info[0] = 0
    set_all(np.nan, z)
    if not usable(M, q, lower, upper):
        return NOT_FINITE
    D = scratch(n)
    for i in range(n):
        D[i] = 1.0 / np.sqrt(M[i, i]) if M[i, i] > 0.0 else 1.0
    if n > SMALL and is_symmetric(M):
        status = by_drives(M, q, lower, upper, z, info)
        if status == SOLVED and natural_residual(M, q, lower, upper, D, z) <= ENOUGH:
            return SOLVED
    status = by_pivots(M, q, lower, upper, SIGN_TOLERANCE, FEW, False, z, info)
    best = natural_residual(M, q, lower, upper, D, z) if status == SOLVED else np.inf
    if best <= GOOD:
        return SOLVED
    # From zero, which among the many solutions of redundant contacts approaches one without needless self-stress.
    centre, trial, M_eps, q_eps, eps, worse = np.zeros(n), np.empty(n), M.copy(), np.empty(n), FIRST_EPS, 0
    clip(lower, upper, centre)
    many, warm = 1000 + 20 * n, False
    for _ in range(PROXIMAL_STEPS):
        for i in range(n):
            shift = eps / (D[i] * D[i])
            M_eps[i, i] = M[i, i] + shift
            q_eps[i] = q[i] - shift * centre[i]
        if by_pivots(M_eps, q_eps, lower, upper, FINE_TOLERANCE, many, warm, trial, info) != SOLVED:
            break
        warm = True
        residual = natural_residual(M, q, lower, upper, D, trial)
        copy(trial, centre)
        eps = max(LAST_EPS, SHRINK * eps)
        if residual < best:
            best, worse = residual, 0
            copy(trial, z)
            if best <= GOOD:
                break
        elif eps == LAST_EPS:
            worse += 1
            if worse == 3:
                break
    if not best <= CLAIM and status == ITERATION_LIMIT:
        status = by_pivots(M, q, lower, upper, SIGN_TOLERANCE, many, False, trial, info)
        if status == SOLVED:
            best = natural_residual(M, q, lower, upper, D, trial)
            copy(trial, z)
    if best <= CLAIM:
        return SOLVED
    return INACCURATE if best < np.inf else status


SOLVER = KernelSolver(
    name="proximal",
    kernel=proximal_kernel,
    solves=frozenset({"LCP", "MLCP"}),
    guaranteed_for="P-matrices; positive semidefinite matrices if a solution exists",
    source="Keller 1973; Júdice & Pires 1992, 1994; Rockafellar 1976",
)
