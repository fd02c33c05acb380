"""A declaration as numbers: a sparse tensor T with (A, a) = T theta, and the operations of a step on it.

theta holds the values of all parameters: the core parameters in the order of `Symbols.shapes`, the formulation's own,
and a final 1. The rows of (A, a) are

    [ equations | partners' rows | answer | lower bounds | upper bounds | friction coefficients ]

over the columns [ free unknowns | partners | constant ]; the answer, for a time step v+, p_n, p_t, p_b, is
`Symbols.answer`. Compilation (`language.assemble.tensor`) happens once per size; a step only evaluates T theta
("stamps").

Free unknowns x_f are eliminated by the Schur complement M = A_cc - A_cf A_ff^-1 A_fc and recovered from the solution.
"""

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import SINGULAR_PIVOT, VECTOR
from workbench.language.assemble.plan import WORK


@kernel(types.void(VECTOR, WORK))
def stamp(theta, work):
    """Compute A = T theta, and the bounds."""
    A, flat, at, par, val = work.A, work.entries, work.at, work.par, work.val
    for k in range(work.first):
        flat[at[k]] = val[k] * theta[par[k]]
    for k in range(work.first, at.shape[0]):
        flat[at[k]] += val[k] * theta[par[k]]
    n_c, last = work.q.shape[0], A.shape[1] - 1
    row = last + work.out.shape[0]
    for i in range(n_c):
        work.lower[i] = A[row + i, last] if np.isnan(work.least[i]) else work.least[i]
        work.upper[i] = A[row + n_c + i, last] if np.isnan(work.most[i]) else work.most[i]
    for i in range(work.mu.shape[0]):
        work.mu[i] = A[row + 2 * n_c + i, last]


@kernel(types.int64(WORK))
def factor(work):
    """Compute LU and X from A: Gauss elimination of the free unknowns, all right-hand sides at once, row by row.

    Scaled partial pivoting. Returns 0, or 1 + the first dependent column of A_ff.
    """
    A, LU, X, scale = work.A, work.LU, work.X, work.scale
    n, width = X.shape
    for i in range(n):
        largest = 0.0
        for j in range(n):
            LU[i, j] = A[i, j]
            largest = max(largest, abs(A[i, j]))
        for j in range(width):
            X[i, j] = A[i, n + j]
        scale[i] = largest
    for k in range(n):
        best, row = 0.0, -1
        for i in range(k, n):
            if scale[i] > 0.0 and abs(LU[i, k]) / scale[i] > best:
                best, row = abs(LU[i, k]) / scale[i], i
        if not best > SINGULAR_PIVOT:
            return k + 1
        if row != k:
            scale[k], scale[row] = scale[row], scale[k]
            for j in range(n):
                LU[k, j], LU[row, j] = LU[row, j], LU[k, j]
            for j in range(width):
                X[k, j], X[row, j] = X[row, j], X[k, j]
        for i in range(k + 1, n):
            if LU[i, k] != 0.0:
                f = LU[i, k] / LU[k, k]
                for j in range(k + 1, n):
                    LU[i, j] -= f * LU[k, j]
                for j in range(width):
                    X[i, j] -= f * X[k, j]
    return 0


@kernel(types.int64(WORK))
def eliminate(work):
    """Form the Schur complement on the free unknowns; returns 0, or 1 + the first dependent column of A_ff."""
    A, LU, X, M = work.A, work.LU, work.X, work.M
    missing = factor(work)
    if missing:
        return missing
    n_f, width = X.shape
    n_c = width - 1
    for i in range(n_f - 1, -1, -1):
        for k in range(i + 1, n_f):
            f = LU[i, k]
            if f != 0.0:
                for j in range(width):
                    X[i, j] -= f * X[k, j]
        for j in range(width):
            X[i, j] /= LU[i, i]
    for i in range(n_c):
        for j in range(n_c):
            M[i, j] = A[n_f + i, n_f + j]
        q = A[n_f + i, n_f + n_c]
        for k in range(n_f):
            f = A[n_f + i, k]
            if f != 0.0:
                for j in range(n_c):
                    M[i, j] -= f * X[k, j]
                q -= f * X[k, n_c]
        work.q[i] = q
    return 0


@kernel(types.void(WORK))
def carry_back(work):
    """Write the answer for the reduced solution z into work.out."""
    A, X, z, x, out = work.A, work.X, work.z, work.x, work.out
    n_f, n_c = X.shape[0], X.shape[1] - 1
    for i in range(n_f):
        s = X[i, n_c]
        for j in range(n_c):
            s += X[i, j] * z[j]
        x[i] = -s
    first = n_f + n_c
    for i in range(out.shape[0]):
        s = A[first + i, first]
        for j in range(n_f):
            s += A[first + i, j] * x[j]
        for j in range(n_c):
            s += A[first + i, n_f + j] * z[j]
        out[i] = s
