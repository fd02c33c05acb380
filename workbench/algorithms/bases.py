"""Common parts of pivoting methods: bases of an MLCP with bounds, their infeasibilities, and the remaining error.

In a basis every unknown is basic (its row holds as an equation) or at one of its bounds.
"""

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import FAST, INDICES, MATRIX, VECTOR, WITHIN, is_finite
from workbench.problems.residual import FAR_SCALED

SIGN_TOLERANCE = 1e-12
"""Share of a row's activity |q_i| + sum_j |M_ij z_j| up to which a wrong sign counts as round-off."""
ROUNDING = 1e-15
"""Share of a row's largest possible activity, |M_i|_1 |z|_inf, below which values are meaningless."""


@kernel(types.boolean(MATRIX, VECTOR, VECTOR, VECTOR))
def usable(M, q, lower, upper):
    """Return whether M (n, n) and q (n,) are finite and the bounds (n,) allow every unknown a finite value."""
    n = M.shape[0]
    for i in range(n):
        if not (lower[i] < np.inf and upper[i] > -np.inf and is_finite(M[i])):
            return False
    return is_finite(q)


@kernel(types.void(VECTOR, VECTOR, VECTOR, INDICES))
def basis_of(lower, upper, z, active):
    """Find the basis of a point z (n,): unknowns between their bounds are basic, the others at the bound they reach."""
    for i in range(z.shape[0]):
        active[i] = 1 if lower[i] < z[i] < upper[i] else 0
        if active[i] == 0:
            z[i] = lower[i] if z[i] <= lower[i] else upper[i]


@kernel(types.void(VECTOR, VECTOR, VECTOR, INDICES))
def first_basis(lower, upper, z, active):
    """Start with every unknown at its lower bound, or else at its upper bound, or else basic."""
    for i in range(z.shape[0]):
        active[i] = 0
        if lower[i] > -np.inf:
            z[i] = lower[i]
        elif upper[i] < np.inf:
            z[i] = upper[i]
        else:
            z[i], active[i] = 0.0, 1


@kernel(types.UniTuple(types.float64, 3)(MATRIX, VECTOR, VECTOR, types.int64), **WITHIN, **FAST)
def row_sums(M, q, z, i):
    """Return row i of M z + q, the sum of the sizes of its terms, and that of its entries in M."""
    w, activity, row = q[i], abs(q[i]), 0.0
    for j in range(z.shape[0]):
        term = M[i, j] * z[j]
        w += term
        activity += abs(term)
        row += abs(M[i, j])
    return w, activity, row


@kernel(types.int64(MATRIX, VECTOR, VECTOR, VECTOR, types.float64, VECTOR, INDICES, INDICES), **FAST)
def infeasibilities(M, q, lower, upper, tolerance, z, active, side):
    """Count the infeasible unknowns of a basis and mark them in side (n,): -1 below, 1 above its range, 0 feasible.

    An unknown at a bound is marked with the direction in which it should leave. Tolerances are relative to the rows'
    activities, so that the result does not depend on the units of z and w.
    """
    n = M.shape[0]
    z_max = 0.0
    for i in range(n):
        z_max = max(z_max, abs(z[i]))
    count = 0
    for i in range(n):
        w, activity, row = row_sums(M, q, z, i)
        small = max(tolerance * activity, ROUNDING * row * z_max)
        side[i] = 0
        if active[i] != 0:
            # Activity in units of z: the value that would balance it on the diagonal.
            near = tolerance * z_max
            if abs(M[i, i]) * near > small:
                near = small / abs(M[i, i])
            if z[i] < lower[i] - near:
                side[i] = -1
            elif z[i] > upper[i] + near:
                side[i] = 1
        elif w < -small and z[i] < upper[i]:
            side[i] = 1
        elif w > small and z[i] > lower[i]:
            side[i] = -1
        if side[i] != 0:
            count += 1
    return count


@kernel(types.void(VECTOR, VECTOR, VECTOR, INDICES, INDICES, types.int64))
def exchange(lower, upper, z, active, side, i):
    """Exchange the infeasible unknown i: from the basis to the bound it crossed, or from its bound into the basis."""
    if active[i] == 0:
        active[i] = 1
    else:
        active[i] = 0
        z[i] = lower[i] if side[i] < 0 else upper[i]


@kernel(types.void(VECTOR, VECTOR, VECTOR))
def clip(lower, upper, z):
    """Clip z (n,) to its bounds."""
    for i in range(z.shape[0]):
        z[i] = min(max(z[i], lower[i]), upper[i])


@kernel(types.float64(MATRIX, VECTOR, VECTOR, VECTOR, VECTOR), **FAST)
def backward_error(M, q, lower, upper, z):
    """Return the relative change of M and q, entry by entry, for which z (n,), within its bounds, is an exact solution.

    After Oettli and Prager (1964). Violations within the round-off of the largest entries of z are ignored.
    """
    n = M.shape[0]
    z_max = 0.0
    for i in range(n):
        z_max = max(z_max, abs(z[i]))
    worst = 0.0
    for i in range(n):
        w, activity, row = row_sums(M, q, z, i)
        wrong = 0.0
        if z[i] < upper[i]:
            wrong = max(wrong, -w)
        if z[i] > lower[i]:
            wrong = max(wrong, w)
        if not np.isfinite(w):
            return np.inf
        if wrong > ROUNDING * row * z_max:
            worst = max(worst, wrong / activity)
    return worst


@kernel(types.float64(MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR), **FAST)
def natural_residual(M, q, lower, upper, D, z):
    """Return the natural map in rows scaled by D (n,), over one normaliser for all: a measure for comparing points.

    The problem's own residual (`problems.residual`) measures every row by itself.
    """
    gap, size_Mz, size_q, size_y, size = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(M.shape[0]):
        Mz = 0.0
        for j in range(M.shape[0]):
            Mz += M[i, j] * z[j]
        y, low, high = z[i] / D[i], lower[i] / D[i], upper[i] / D[i]
        part = min(max(D[i] * (Mz + q[i]), y - high), y - low)
        gap += part**2
        if part != 0.0 or low < y < high:
            size_Mz += (D[i] * Mz) ** 2
        size_q += (D[i] * q[i]) ** 2
        size += y**2
        if low > -np.inf and high < np.inf:
            size_y += y**2
    largest, gap = np.sqrt(max(size_Mz, size_q, size_y)), np.sqrt(gap)
    largest = max(largest, min(np.sqrt(size), FAR_SCALED * largest))
    if not (gap < np.inf and largest < np.inf):
        return np.inf
    return gap / largest if largest > 0.0 else gap
