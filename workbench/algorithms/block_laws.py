"""Kernels for the laws of contact blocks: a block's solution when only its own impulses change its velocities.

In scaled rows, of unit mobility, let P = R x be a block's impulses and u its velocities. With a metric A = L Z R + N,

    T(y): the impulses R x of the x for which F = L y + A x + c and x are complementary in the block's set.

With Z = 1 the equation P = T(u - P) is the block's law; with Z = W_ii, T(u - W_ii P) is the block's solution with all
others held fixed. For intervals T is piecewise linear and computed by clipping or by Lemke's method, with free unknowns
eliminated and a slack for two-sided bounds; for friction polygons P is unique even if x is not. Cones use Alart and
Curnier's equation (Coulomb's law), which is this with Z = 1, or the natural map (associated flow), as do discs.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from workbench.algorithms.law_equations import law_equations
from workbench.algorithms.lemke.method import lemke_kernel
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR, lu_factor, lu_solve
from workbench.engine.scratch import scratch
from workbench.support.arrays import Array

I64, F64 = types.int64, types.float64
FROM_LOWER, FROM_UPPER, TWO_SIDED, FREE = 0, 1, 2, 3
"""Substitution that makes an unknown nonnegative: x - lower, upper - x, the first with a slack, or none (free)."""
TIKHONOV = 1e-10
"""Share of the largest diagonal entry that regularises a singular block."""

Indices = NDArray[np.int64]


class Laws(NamedTuple):
    """B blocks in scaled rows: P^ = sqrt(w) P, u^ = u / sqrt(w) with the mobility w of a row, or of a whole cone.

    Block i has the rows row[i] : row[i + 1], unknowns unknown[i] : unknown[i + 1], and numbers in flat arrays from at_L
    (L and R), at_A (k k) and at_W (m m) on. role (X,) is how an unknown is bounded; place (B + 1,) is the start of the
    block's LCP, at_M that of its matrix.
    """

    row: Indices
    unknown: Indices
    at_L: Indices
    at_A: Indices
    at_W: Indices
    cone: Indices
    mu: Array
    L: Array
    N: Array
    R: Array
    c: Array
    lower: Array
    upper: Array
    role: Indices
    place: Indices
    at_M: Indices
    zeros: Array
    infinities: Array


class BlockMetric(NamedTuple):
    """A of every block, flat; inverses of free parts; matrices of LCPs; whether A is diagonal; the last solutions."""

    A: Array
    inverse: Array
    M: Array
    diagonal: Indices
    z: Array


LAWS = argument_type(Laws, *[INDICES] * 6, *[VECTOR] * 7, *[INDICES] * 3, *[VECTOR] * 2)
BLOCK_METRIC = argument_type(BlockMetric, *[VECTOR] * 3, INDICES, VECTOR)


@kernel(types.void(LAWS, I64, VECTOR, MATRIX))
def free_inverse(laws, i, A, inverse):
    """Compute the inverse (f, f) of the free part of block i's A, which begins at laws.at_A[i]."""
    first, k, at, f = laws.unknown[i], laws.unknown[i + 1] - laws.unknown[i], laws.at_A[i], inverse.shape[0]
    LU, pivots, x, b = np.empty((f, f)), np.empty(f, dtype=np.int64), np.empty(f), np.zeros(f)
    for attempt in range(2):
        largest, r = 0.0, 0
        for p in range(k):
            if laws.role[first + p] == FREE:
                largest, c = max(largest, abs(A[at + p * (k + 1)])), 0
                for q in range(k):
                    if laws.role[first + q] == FREE:
                        LU[r, c] = A[at + p * k + q]
                        c += 1
                r += 1
        for p in range(f):
            LU[p, p] += attempt * TIKHONOV * (largest if largest > 0.0 else 1.0)
        if lu_factor(LU, pivots) == 0:
            break
    for q in range(f):
        b[q] = 1.0
        lu_solve(LU, pivots, b, x)
        b[q] = 0.0
        for p in range(f):
            inverse[p, q] = x[p]


@kernel(types.void(LAWS, BLOCK_METRIC))
def lay(laws, metric):
    """Prepare the solution of all blocks from their matrices A."""
    for i in range(laws.cone.shape[0]):
        if laws.cone[i] != 0:
            continue
        first, k, at = laws.unknown[i], laws.unknown[i + 1] - laws.unknown[i], laws.at_A[i]
        K, f, diagonal = laws.place[i + 1] - laws.place[i], 0, True
        for p in range(k):
            f += 1 if laws.role[first + p] == FREE else 0
            for q in range(k):
                entry = metric.A[at + p * k + q]
                diagonal &= entry > 0.0 if p == q else entry == 0.0
        metric.diagonal[i] = 1 if diagonal else 0
        if diagonal:
            continue
        inverse = metric.inverse[at : at + f * f].reshape(f, f)
        if f > 0:
            free_inverse(laws, i, metric.A, inverse)
        M = metric.M[laws.at_M[i] : laws.at_M[i + 1]].reshape(K, K)
        schur_complement(laws, i, metric.A, inverse, M)


@kernel(types.void(LAWS, I64, VECTOR, MATRIX, MATRIX))
def schur_complement(laws, i, A, inverse, M):
    """Fill M (K, K) of block i's LCP: its bounded unknowns, then the slacks of two-sided ones."""
    first, k, at, f = laws.unknown[i], laws.unknown[i + 1] - laws.unknown[i], laws.at_A[i], inverse.shape[0]
    bounded, free, g, h = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64), 0, 0
    for p in range(k):
        if laws.role[first + p] == FREE:
            free[h] = p
            h += 1
        else:
            bounded[g] = p
            g += 1
    for a in range(M.shape[0]):
        for b in range(M.shape[0]):
            M[a, b] = 0.0
    slack = g
    for a in range(g):
        p = bounded[a]
        sign = -1.0 if laws.role[first + p] == FROM_UPPER else 1.0
        for b in range(g):
            q = bounded[b]
            entry = A[at + p * k + q]
            for c in range(f):
                for d in range(f):
                    entry -= A[at + p * k + free[c]] * inverse[c, d] * A[at + free[d] * k + q]
            M[a, b] = -sign * entry if laws.role[first + q] == FROM_UPPER else sign * entry
        if laws.role[first + p] == TWO_SIDED:
            M[a, slack], M[slack, a] = 1.0, -1.0
            slack += 1


@kernel(types.void(LAWS, BLOCK_METRIC, I64, VECTOR, VECTOR))
def answer(laws, metric, i, q, x):
    """Solve block i of intervals for x (X,), where F = A x + q; q (k,)."""
    first, k, at = laws.unknown[i], q.shape[0], laws.at_A[i]
    if metric.diagonal[i] != 0:
        for p in range(k):
            x[first + p] = min(max(-q[p] / metric.A[at + p * (k + 1)], laws.lower[first + p]), laws.upper[first + p])
        return
    K, f = laws.place[i + 1] - laws.place[i], 0
    moved, base, right = scratch(k), scratch(k), scratch(K)
    for p in range(k):
        f += 1 if laws.role[first + p] == FREE else 0
    inverse = metric.inverse[at : at + f * f].reshape(f, f)
    for p in range(k):
        role = laws.role[first + p]
        base[p] = laws.upper[first + p] if role == FROM_UPPER else (0.0 if role == FREE else laws.lower[first + p])
    for p in range(k):
        moved[p] = q[p]
        for r in range(k):
            moved[p] += metric.A[at + p * k + r] * base[r]
    free_unknowns(laws, metric, i, inverse, moved, base)
    g, slack = 0, k - f
    for p in range(k):
        role = laws.role[first + p]
        if role == FREE:
            continue
        right[g] = moved[p]
        for r in range(k):
            if laws.role[first + r] == FREE:
                right[g] += metric.A[at + p * k + r] * base[r]
        right[g] = -right[g] if role == FROM_UPPER else right[g]
        if role == TWO_SIDED:
            right[slack] = laws.upper[first + p] - laws.lower[first + p]
            slack += 1
        g += 1
    z, info = metric.z[laws.place[i] : laws.place[i + 1]], np.zeros(1, dtype=np.int64)
    if K > 0:
        M = metric.M[laws.at_M[i] : laws.at_M[i + 1]].reshape(K, K)
        lemke_kernel(M, right.copy(), laws.zeros[:K], laws.infinities[:K], laws.zeros[:0], 1, z, info)
    g = 0
    for p in range(k):
        role = laws.role[first + p]
        if role != FREE:
            z_p = z[g] if z[g] > 1e-150 else 0.0
            x[first + p] = laws.upper[first + p] - z_p if role == FROM_UPPER else laws.lower[first + p] + z_p
            base[p] = x[first + p]
            g += 1
    for p in range(k):
        moved[p] = q[p]
        for r in range(k):
            if laws.role[first + r] != FREE:
                moved[p] += metric.A[at + p * k + r] * base[r]
    free_unknowns(laws, metric, i, inverse, moved, base)
    for p in range(k):
        if laws.role[first + p] == FREE:
            x[first + p] = base[p]


@kernel(types.void(LAWS, BLOCK_METRIC, I64, MATRIX, VECTOR, VECTOR))
def free_unknowns(laws, metric, i, inverse, moved, x):
    """Compute the free entries of x (k,) from their rows; `moved` (k,) are the contributions of the others."""
    first, a = laws.unknown[i], 0
    for p in range(x.shape[0]):
        if laws.role[first + p] == FREE:
            x[p], b = 0.0, 0
            for r in range(x.shape[0]):
                if laws.role[first + r] == FREE:
                    x[p] -= inverse[a, b] * moved[r]
                    b += 1
            a += 1


@kernel(types.void(LAWS, BLOCK_METRIC, I64, VECTOR, MATRIX))
def slope(laws, metric, i, x, T):
    """Compute T (m, m) = dP/dy of block i of intervals at the last solution x of the metric."""
    first, k, at, m = laws.unknown[i], laws.unknown[i + 1] - laws.unknown[i], laws.at_A[i], T.shape[0]
    at_L, count, g = laws.at_L[i], 0, 0
    basic, slack = np.empty(k, dtype=np.int64), laws.place[i]
    for p in range(k):
        slack += 1 if laws.role[first + p] != FREE else 0
    for p in range(k):
        role, z = laws.role[first + p], laws.place[i] + g
        between = laws.lower[first + p] < x[first + p] < laws.upper[first + p]
        if role != FREE:
            if metric.diagonal[i] == 0:
                between = metric.z[z] > 0.0
            if role == TWO_SIDED:
                if metric.diagonal[i] == 0:
                    between &= metric.z[slack] == 0.0
                slack += 1
            g += 1
        if role == FREE or between:
            basic[count] = p
            count += 1
    for a in range(m):
        for b in range(m):
            T[a, b] = 0.0
    if count == 0:
        return
    LU, pivots = np.empty((count, count)), np.empty(count, dtype=np.int64)
    right, change = np.empty(count), np.empty(count)
    for attempt in range(2):
        largest = 0.0
        for p in range(k * k):
            largest = max(largest, abs(metric.A[at + p]))
        for p in range(count):
            for q in range(count):
                LU[p, q] = metric.A[at + basic[p] * k + basic[q]]
        for p in range(count):
            LU[p, p] += attempt * TIKHONOV * largest
        if lu_factor(LU, pivots) == 0:
            break
    for b in range(m):
        for p in range(count):
            right[p] = -laws.L[at_L + basic[p] * m + b]
        lu_solve(LU, pivots, right, change)
        for a in range(m):
            for p in range(count):
                T[a, b] += laws.R[at_L + a * k + basic[p]] * change[p]


@kernel(types.void(LAWS, BLOCK_METRIC, I64, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX))
def interval_law(laws, metric, i, P, u, x, gap, C, B):
    """Evaluate block i of intervals at its solution x (X,): gap (m,) = P - T(u - P), and C, B (m, m).

    d gap = C dP + B du.
    """
    k, m, at_L, first = laws.unknown[i + 1] - laws.unknown[i], P.shape[0], laws.at_L[i], laws.unknown[i]
    q = np.empty(k)
    for p in range(k):
        q[p] = laws.c[first + p]
        for a in range(m):
            q[p] += laws.L[at_L + p * m + a] * (u[a] - P[a])
    answer(laws, metric, i, q, x)
    slope(laws, metric, i, x, B)
    for a in range(m):
        gap[a] = P[a]
        for p in range(k):
            gap[a] -= laws.R[at_L + a * k + p] * x[first + p]
        for b in range(m):
            C[a, b] = B[a, b] + (1.0 if a == b else 0.0)
            B[a, b] = -B[a, b]


@kernel(types.void(LAWS, I64, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX))
def cone_law(laws, i, P, u, x, gap, C, B):
    """Evaluate a cone or disc like `interval_law`; its unknowns are its impulses."""
    m, at, at_L, first = P.shape[0], laws.at_A[i], laws.at_L[i], laws.unknown[i]
    F, D, part = np.empty(m), np.empty((m, m)), np.empty((m, m))
    for a in range(m):
        F[a] = laws.c[first + a]
        for b in range(m):
            F[a] += laws.L[at_L + a * m + b] * u[b] + laws.N[at + a * m + b] * P[b]
    law_equations(laws.cone[i], P, F, laws.mu[i], gap, part, D)
    for a in range(m):
        x[first + a] = P[a] - gap[a]
        for b in range(m):
            C[a, b], B[a, b] = part[a, b], 0.0
            for c in range(m):
                C[a, b] += D[a, c] * laws.N[at + c * m + b]
                B[a, b] += D[a, c] * laws.L[at_L + c * m + b]


@kernel(F64(LAWS, BLOCK_METRIC, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR))
def all_laws(laws, metric, P, u, x, gap, C, B):
    """Evaluate every block's solution x, gap, C and B, flat; returns |gap|_2."""
    total = 0.0
    for i in range(laws.cone.shape[0]):
        a, b, m = laws.row[i], laws.row[i + 1], laws.row[i + 1] - laws.row[i]
        C_i = C[laws.at_W[i] : laws.at_W[i + 1]].reshape(m, m)
        B_i = B[laws.at_W[i] : laws.at_W[i + 1]].reshape(m, m)
        if laws.cone[i] == 0:
            interval_law(laws, metric, i, P[a:b], u[a:b], x, gap[a:b], C_i, B_i)
        else:
            cone_law(laws, i, P[a:b], u[a:b], x, gap[a:b], C_i, B_i)
        for r in range(a, b):
            total += gap[r] ** 2
    return np.sqrt(total)
