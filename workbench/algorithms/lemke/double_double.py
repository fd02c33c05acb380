"""Lemke's path in double-double precision: a full condensed tableau, for problems beyond double precision.

n rows of basic unknowns, w 0..n-1, z n..2n-1, z0 2n; n + 1 columns of nonbasic ones and the constants of q and of the
perturbation that breaks ties (`path`). A pivot takes n^2 operations, each of some twenty in doubles.
"""

import numpy as np
from numba import types

from workbench.algorithms.lemke.path import general
from workbench.engine.compiling import kernel
from workbench.engine.double_double import less_product, product, quotient
from workbench.engine.kernels import INDICES, MATRIX, VECTOR, address
from workbench.problems.solution import Status

SOLVED = int(Status.SOLVED)
RAY = int(Status.RAY)
ITERATION_LIMIT = int(Status.ITERATION_LIMIT)

TIE = 1e-21
"""The counterpart of `path.TIE`."""
RELATIVE_TIE = 1e-14


@kernel(types.void(MATRIX, MATRIX, types.int64, types.int64))
def pivot_twice(T, low, r, c):
    """Exchange the basic unknown of row r with the nonbasic one of column c in the tableau T + low, in place."""
    n, width = T.shape
    p, p_low = T[r, c], low[r, c]
    T[r, c], low[r, c] = 1.0, 0.0
    for j in range(width):
        T[r, j], low[r, j] = quotient(T[r, j], low[r, j], p, p_low)
    for i in range(n):
        f, f_low = T[i, c], low[i, c]
        if i != r and f != 0.0:
            T[i, c], low[i, c] = 0.0, 0.0
            for j in range(width):
                T[i, j], low[i, j] = less_product(T[i, j], low[i, j], f, f_low, T[r, j], low[r, j])


@kernel(types.int64(MATRIX, INDICES, types.int64, types.float64))
def blocking_row_twice(T, basic, c, smallest):
    """Return the row whose basic unknown reaches zero first as the nonbasic one of column c grows; -1 for a ray.

    A row blocks if its pivot is above the share `smallest` of the column's largest entry, or of one.
    """
    n = T.shape[0]
    largest, theta, best, least = 1.0, np.inf, -1, np.inf
    for i in range(n):
        largest = max(largest, abs(T[i, c]))
    for i in range(n):
        if T[i, c] > smallest * largest:
            theta = min(theta, max(T[i, n + 1], 0.0) / T[i, c])
    for i in range(n):
        if T[i, c] > smallest * largest and T[i, n + 1] - theta * T[i, c] <= TIE + RELATIVE_TIE * T[i, n + 1]:
            if basic[i] == 2 * n:
                return i
            if T[i, n + 2] / T[i, c] < least:
                best, least = i, T[i, n + 2] / T[i, c]
    return best


@kernel(types.void(MATRIX, VECTOR, VECTOR, types.float64, VECTOR, MATRIX, MATRIX))
def first_tableau(M, q, D, unit, d, T, low):
    """Fill the tableau with every w basic, every z and z0 at zero: T + low = [-D M D, -d, D q unit, p]."""
    n = M.shape[0]
    p = np.empty(n)
    general(n, 1, address(p))
    for i in range(n):
        for j in range(n):
            T[i, j], low[i, j] = product(-D[i], M[i, j], D[j])
        T[i, n], low[i, n] = -d[i], 0.0
        T[i, n + 1], low[i, n + 1] = product(D[i], q[i], unit)
        T[i, n + 2], low[i, n + 2] = p[i], 0.0


@kernel(
    types.UniTuple(types.int64, 2)(
        MATRIX, VECTOR, VECTOR, types.float64, VECTOR, types.float64, VECTOR, INDICES, VECTOR, INDICES
    ),
)
def follow_path_twice(M, q, D, unit, d, smallest, b, basic, t, info):
    """Follow the path like `path.follow_path`; its S.b, S.basic and S.t are b, basic and t (n).

    `smallest` is the least pivot (`blocking_row_twice`).
    """
    n = M.shape[0]
    T, low = np.empty((n, n + 3)), np.empty((n, n + 3))
    first_tableau(M, q, D, unit, d, T, low)
    names, nonbasic, where = np.arange(n), np.arange(n, 2 * n + 1), np.empty(2 * n + 1, dtype=np.int64)
    for j in range(n + 1):
        where[nonbasic[j]] = j
    r, c, status, most = 0, n, ITERATION_LIMIT, 100 * (n + 10)
    for i in range(n):
        # The least q_i / d_i; among equal ones the least p_i / d_i.
        x, y = T[i, n + 1] * d[r], T[r, n + 1] * d[i]
        if x < y or (x == y and T[i, n + 2] * d[r] < T[r, n + 2] * d[i]):
            r = i
    pivots = 0
    while r >= 0 and pivots < most:
        pivot_twice(T, low, r, c)
        pivots += 1
        leaving, entering = names[r], nonbasic[c]
        names[r], nonbasic[c] = entering, leaving
        where[leaving] = c
        if leaving == 2 * n:
            status = SOLVED
            break
        c = where[leaving + n if leaving < n else leaving - n]
        r = blocking_row_twice(T, names, c, smallest)
    if r < 0:
        status = RAY
    info[0] += pivots
    for i in range(n):
        basic[i] = names[i] - n if names[i] >= n else -1
        b[i], t[i] = T[i, n + 1], -T[i, c]
    return status, max(nonbasic[c] - n, -1)
