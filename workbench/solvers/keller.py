"""Keller's principal pivoting for symmetric positive semidefinite LCPs and MLCPs with bounds.

Each major step picks one infeasible unknown and drives it in the direction in which its w falls to zero, the basic
unknowns keeping their own rows at zero. The drive ends when w vanishes (the unknown becomes basic) or the unknown meets
its other bound; a basic unknown that meets a bound on the way leaves the basis and the drive goes on. Along every drive
1/2 z^T M z + q^T z falls strictly and it ends on the minimum of a face of the box, hence on no face twice. Of the
infeasible unknowns the one with the largest promised fall w^2 / M_ii is driven.

The basic block stays positive definite whatever the rank of M: an unknown whose Schur complement vanishes cannot enter.
If nothing blocks its drive either, the direction p has M p = 0 and q^T p < 0, an infeasibility certificate (Farkas);
it is checked: INFEASIBLE where it holds, RAY where it does not (M was not positive semidefinite).

Source: E. L. Keller, The general quadratic optimization problem, Mathematical Programming 5 (1973); with bounds:
C. Lacoursière, Ghosts and machines, thesis, Umeå (2007). Guarantee: finite for symmetric positive semidefinite M, with
a solution or a proof that there is none. Cost: an updated Cholesky factor, n^2 per pivot; commonly n to 2 n pivots.
"""

import numpy as np
from numba import types

from workbench.compiling import kernel
from workbench.kernels import INDICES, MATRIX, SOLVE, VECTOR, affine, solve_on_basis, spread
from workbench.problems import Problem, is_symmetric
from workbench.solution import Status
from workbench.solvers.base import KernelSolver
from workbench.solvers.bases import SIGN_TOLERANCE, backward_error, clip, first_basis, infeasibilities, usable

SOLVED = int(Status.SOLVED)
RAY = int(Status.RAY)
ITERATION_LIMIT = int(Status.ITERATION_LIMIT)
INFEASIBLE = int(Status.INFEASIBLE)
NOT_FINITE = int(Status.NOT_FINITE)
INACCURATE = int(Status.INACCURATE)

DEPENDENT = 1e-14
"""Share of the terms of p^T M p up to which it is zero: the driven unknown's row depends on the basic ones."""
NEGLIGIBLE = 1e-12
"""Share of |p| up to which a component is rounding of the others and must not block a ray."""
ACCEPTED = 1e-11
"""Componentwise backward error up to which the final point is called a solution."""


@kernel(types.UniTuple(types.float64, 2)(MATRIX, MATRIX, INDICES, types.int64, types.int64, VECTOR, VECTOR))
def direction(M, L, basis, m, i, y, x):
    """Change x (m) of the basic unknowns per unit of z_i: together with z_i's own the direction p of the drive.

    L L^T = M_aa, a the first m entries of basis; y (m) = L^-1 M_ai is row i of the factor should it enter. Returns
    row i's Schur complement p^T M p and the size sum_j sqrt(M_jj) |p_j|, whose square bounds the terms of p^T M p.
    """
    schur = M[i, i]
    for k in range(m):
        s = M[basis[k], i]
        for j in range(k):
            s -= L[k, j] * y[j]
        y[k] = s / L[k, k]
        schur -= y[k] ** 2
    for k in range(m - 1, -1, -1):
        s = -y[k]
        for j in range(k + 1, m):
            s -= L[j, k] * x[j]
        x[k] = s / L[k, k]
    size = np.sqrt(max(M[i, i], 0.0))
    for k in range(m):
        size += np.sqrt(M[basis[k], basis[k]]) * abs(x[k])
    return schur, size


@kernel(types.void(MATRIX, INDICES, types.int64, types.int64))
def drop(L, basis, m, k):
    """Remove the k-th of m basic unknowns: its row of L goes, Givens rotations restore the triangle."""
    for i in range(k, m - 1):
        basis[i] = basis[i + 1]
        for j in range(i + 2):
            L[i, j] = L[i + 1, j]
        # The row moved up has one entry right of the diagonal; rotate it into the diagonal.
        a, b = L[i, i], L[i, i + 1]
        h = np.hypot(a, b)
        cos, sin = a / h, b / h
        L[i, i], L[i, i + 1] = h, 0.0
        for r in range(i + 2, m):
            a, b = L[r, i], L[r, i + 1]
            L[r, i], L[r, i + 1] = cos * a + sin * b, cos * b - sin * a


@kernel(types.int64(MATRIX, VECTOR, INDICES, INDICES))
def most_promising(M, w, active, side):
    """The infeasible nonbasic unknown with the largest w^2 / M_ii, -1 when there is none."""
    best, fall = -1, -1.0
    for i in range(side.shape[0]):
        if side[i] != 0 and active[i] == 0:
            promised = w[i] ** 2 / M[i, i] if M[i, i] > 0.0 else np.inf
            if promised > fall:
                best, fall = i, promised
    return best


@kernel(types.boolean(MATRIX, INDICES, types.int64, types.int64, VECTOR, types.float64))
def is_null_direction(M, basis, m, i, x, size):
    """Whether M p = 0 up to rounding, p the direction of z_i with the changes x (m) and the size from `direction`."""
    for k in range(M.shape[0]):
        s = M[k, i]
        for j in range(m):
            s += M[k, basis[j]] * x[j]
        # Cauchy-Schwarz for PSD matrices: (M p)_k^2 <= M_kk p^T M p, and p^T M p is zero up to DEPENDENT size^2.
        if s**2 > DEPENDENT * max(M[k, k], 0.0) * size**2:
            return False
    return True


@kernel(
    types.int64(MATRIX, MATRIX, VECTOR, VECTOR, INDICES, types.int64, types.int64, types.float64, VECTOR, INDICES),
)
def drive(M, L, lower, upper, basis, m, i, w_i, z, info):
    """Drive z_i until its row holds, it meets its other bound, or nothing blocks; z, L and basis are updated.

    Returns the new number of basic unknowns, or -Status.
    """
    y, x = np.empty(m), np.empty(m)
    sign = 1.0 if w_i < 0.0 else -1.0
    while True:
        info[0] += 1
        schur, size = direction(M, L, basis, m, i, y, x)
        enters = schur > DEPENDENT * size**2
        step = abs(w_i) / schur if enters else np.inf
        blocking = -1
        reach = upper[i] - z[i] if sign > 0.0 else z[i] - lower[i]
        if reach <= step:
            step, blocking = reach, m
        for k in range(m):
            j, p = basis[k], sign * x[k]
            if abs(p) * np.sqrt(M[j, j]) > NEGLIGIBLE * size:
                reach = (upper[j] - z[j]) / p if p > 0.0 else (lower[j] - z[j]) / p
                if reach < step:
                    step, blocking = max(reach, 0.0), k
        if step == np.inf:
            return -INFEASIBLE if is_null_direction(M, basis, m, i, x, size) else -RAY
        z[i] += sign * step
        for k in range(m):
            z[basis[k]] += sign * step * x[k]
        if blocking < 0:
            for k in range(m):
                L[m, k] = y[k]
            L[m, m] = np.sqrt(schur)
            basis[m] = i
            return m + 1
        if blocking == m:
            z[i] = upper[i] if sign > 0.0 else lower[i]
            return m
        j = basis[blocking]
        z[j] = upper[j] if sign * x[blocking] > 0.0 else lower[j]
        w_i += sign * step * schur
        drop(L, basis, m, blocking)
        m -= 1


@kernel(SOLVE)
def keller_kernel(M, q, lower, upper, mu, d, z, info):
    """See the module; info[0] counts pivots, at most 50 (n + 10). M must be symmetric."""
    n = M.shape[0]
    info[0] = 0
    spread(np.nan, z)
    if not usable(M, q, lower, upper):
        return NOT_FINITE
    w, L, basis = np.empty(n), np.zeros((n, n)), np.empty(n, dtype=np.int64)
    active, side = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    first_basis(lower, upper, z, active)
    # Free unknowns too start outside the basis, at zero: their block may be singular.
    for k in range(n):
        active[k] = 0
    m = 0
    while info[0] < 50 * (n + 10):
        infeasibilities(M, q, lower, upper, SIGN_TOLERANCE, z, active, side)
        affine(M, q, z, w)
        i = most_promising(M, w, active, side)
        if i < 0:
            break
        m = drive(M, L, lower, upper, basis, m, i, w[i], z, info)
        if m < 0:
            return -m
        for k in range(n):
            active[k] = 0
        for k in range(m):
            active[basis[k]] = 1
    else:
        return ITERATION_LIMIT
    # Drives leave rounding behind; the final basis solved afresh has none, and stands back if it is nearly singular.
    solve_on_basis(M, q, z, active, True)
    clip(lower, upper, z)
    return SOLVED if backward_error(M, q, lower, upper, z) <= ACCEPTED else INACCURATE


def _objection(problem: Problem) -> str | None:
    if not is_symmetric(problem.M):
        return "keller needs a symmetric M (its pivots are those of a quadratic programme); this one is not symmetric"
    return None


SOLVER = KernelSolver(
    name="keller",
    kernel=keller_kernel,
    solves=frozenset({"LCP", "MLCP"}),
    guaranteed_for="symmetric positive semidefinite matrices",
    source="Keller 1973; bounds: Lacoursière 2007",
    objection=_objection,
)
