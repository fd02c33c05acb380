"""All solutions of a small problem with bounds: every bounded unknown is tried at its bounds and between them."""

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR, copy, copy_at, lu_factor, lu_solve

AT_LOWER, BETWEEN, AT_UPPER = range(3)
ALLOWED = 1e-7
"""Violation of a bound or a sign, relative to the largest number compared, up to which a candidate is kept."""
I64 = types.int64


@kernel(types.UniTuple(I64, 2)(MATRIX, VECTOR, VECTOR, VECTOR, INDICES, MATRIX, MATRIX, MATRIX))
def find_candidates(M, q, lower, upper, bounded, S, X, found):
    """Put the solutions of lower <= y <= upper complementary to M y + q, up to rounding, into the rows of found (., n);
    `bounded` are the unknowns with a finite bound. Returns their number, at most the rows of found, and whether none
    was left out, as at choices whose equations are singular.

    S (m, m + 1) is [M, q] without the unknowns behind the first m, none of them bounded, which are X (n - m, m + 1)
    [y, 1] of the others.
    """
    n, m, k, count, complete = q.shape[0], S.shape[0], bounded.shape[0], 0, 1
    state, empty = np.zeros(k, dtype=np.int64), np.ones(k, dtype=np.int64)
    A, b, x, y, pivots = np.empty((m, m)), np.empty(m), np.empty(m), np.empty(n), np.empty(m, dtype=np.int64)
    for i in range(k):
        state[i] = AT_LOWER if np.isfinite(lower[bounded[i]]) else BETWEEN
        for j in range(m):
            empty[i] = 0 if S[bounded[i], j] != 0.0 else empty[i]
        # A row of zeros determines no unknown between its bounds.
        complete = 0 if empty[i] else complete
    while True:
        for i in range(m):
            copy(S[i, :m], A[i])
            b[i] = -S[i, m]
        for i in range(k):
            row = bounded[i]
            if state[i] != BETWEEN:
                for j in range(m):
                    A[row, j] = 1.0 if j == row else 0.0
                b[row] = lower[row] if state[i] == AT_LOWER else upper[row]
        if lu_factor(A, pivots):
            complete = 0
        else:
            lu_solve(A, pivots, b, x)
            copy_at(x, y, 0)
            for i in range(n - m):
                y[m + i] = X[i, m]
                for j in range(m):
                    y[m + i] += X[i, j] * x[j]
            if is_within(M, q, lower, upper, bounded, state, y):
                if count == found.shape[0]:
                    return count, 0
                copy(y, found[count])
                count += 1
        i = 0
        while i < k:
            state[i] += 2 if empty[i] and state[i] == AT_LOWER else 1
            if state[i] <= BETWEEN or (state[i] == AT_UPPER and np.isfinite(upper[bounded[i]])):
                break
            state[i] = AT_LOWER if np.isfinite(lower[bounded[i]]) else BETWEEN
            i += 1
        if i == k:
            return count, complete


@kernel(types.boolean(MATRIX, VECTOR, VECTOR, VECTOR, INDICES, INDICES, VECTOR))
def is_within(M, q, lower, upper, bounded, state, y):
    """Whether y keeps its bounds, and M y + q has the signs that the states demand."""
    largest = 0.0
    for i in range(y.shape[0]):
        largest = max(largest, abs(y[i]))
    for i in range(bounded.shape[0]):
        row, w, size = bounded[i], q[bounded[i]], abs(q[bounded[i]])
        for j in range(y.shape[0]):
            w, size = w + M[row, j] * y[j], size + abs(M[row, j] * y[j])
        outside = max(lower[row] - y[row], y[row] - upper[row]) > ALLOWED * largest
        if state[i] == BETWEEN and outside:
            return False
        if (state[i] == AT_LOWER and w < -ALLOWED * size) or (state[i] == AT_UPPER and w > ALLOWED * size):
            return False
    return True
