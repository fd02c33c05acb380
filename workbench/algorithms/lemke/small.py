"""Lemke's path for problems of order up to `SMALL`: a whole condensed tableau in rows of constant length.

Rows of twelve numbers (`lanes`), n + 1 nonbasic columns, the constants of q and of the perturbation p (`path`),
need no bookkeeping. Sums are evaluated in the order written, so that all callers get the same bits, whatever the
compiler does. Problems without a solution to round-off are left to the other paths.
"""

import math

import numpy as np
from numba import types

from workbench.algorithms.lemke.path import PIVOT, RELATIVE_TIE, TIE, general
from workbench.algorithms.lemke.workspace import TABLEAU
from workbench.engine.compiling import kernel
from workbench.engine.kernels import FLOATS, INTEGERS, address, after
from workbench.engine.rows import WIDTH, copy_row, less_row, pivot_row
from workbench.problems.residual import FAR_SCALED

MOST = 60
"""Maximum number of pivots."""
CLOSE = 1e-14
"""Largest violation of a solution, as `sparse_rows.CLOSE`."""

I64, F64 = types.int64, types.float64


@kernel(F64(F64))
def power_of_two(x):
    """Return the least power of two above x > 0, for scaling without round-off."""
    return math.ldexp(1.0, math.frexp(x)[1])


@kernel(F64(I64, FLOATS, FLOATS, FLOATS))
def scale(n, M, q, D):
    """Compute D (n) with D M D of unit diagonal; returns a power of two above D |q|.

    Zero diagonals are scaled by their largest partner.
    """
    size = 0.0
    for i in range(n):
        D[i] = 1.0 / np.sqrt(M[n * i + i])
    for i in range(n):
        if not M[n * i + i] > 0.0:
            met = 0.0
            for j in range(n):
                a, b = abs(M[n * i + j]), abs(M[n * j + i])
                a = (a if a > b else b) * D[j]
                met = a if (a > met) & (M[n * j + j] > 0.0) else met
            D[i] = 1.0 / met if met > 0.0 else 1.0
    for i in range(n):
        a = D[i] * abs(q[i])
        size = a if a > size else size
    return power_of_two(size) if size > 0.0 else size


@kernel(types.boolean(I64, FLOATS, FLOATS, FLOATS, F64, FLOATS))
def is_solution(n, M, q, D, size, z):
    """Return whether `sparse_rows.violation` of z (n) is at most CLOSE; False if anything is nan or infinite.

    Also False if terms are large compared with D |q|, at most `size`: the test is then too weak (`method.is_verified`).
    """
    worst, largest, whole = 0.0, 0.0, 0.0
    for i in range(n):
        w, activity = q[i], abs(q[i])
        for j in range(n):
            term = M[n * i + j] * z[j]
            w += term
            activity += abs(term)
        wrong = D[i] * (abs(w) if z[i] > 0.0 else -w)
        worst = wrong if wrong > worst else worst
        largest = D[i] * activity if D[i] * activity > largest else largest
        whole += w
    return worst <= CLOSE * largest and largest <= FAR_SCALED * size and whole - whole == 0.0


@kernel(I64(I64, FLOATS, INTEGERS, I64))
def blocking_row(n, T, basic, c):
    """Return the row that leaves as the nonbasic unknown of column c enters, z0's if it can; -1 for a ray."""
    # No branches, since their outcome could not be predicted.
    theta, best = np.inf, -1
    for i in range(n):
        t = T[WIDTH * i + c]
        ratio = T[WIDTH * i + n + 1] / t
        ratio = ratio if t > PIVOT else np.inf
        best = i if ratio < theta else best
        theta = ratio if ratio < theta else theta
    theta = theta if theta > 0.0 else 0.0
    ties = 0
    for i in range(n):
        t, b = T[WIDTH * i + c], T[WIDTH * i + n + 1]
        ties += (t > PIVOT) & (b - theta * t <= TIE + RELATIVE_TIE * b)
    if ties < 2:
        return best
    least = np.inf
    for i in range(n):
        t, b = T[WIDTH * i + c], T[WIDTH * i + n + 1]
        if (t > PIVOT) & (b - theta * t <= TIE + RELATIVE_TIE * b):
            if basic[i] == 2 * n:
                return i
            ratio = T[WIDTH * i + n + 2] / t
            if ratio < least:
                best, least = i, ratio
    return best


@kernel(types.void(I64, FLOATS, FLOATS, I64, I64))
def pivot(n, T, row, r, c):
    """Exchange the basic unknown of row r with the nonbasic one of column c; `row` (WIDTH) is a work array."""
    pivot_row(after(T, WIDTH * r), c, 1.0 / T[WIDTH * r + c], row)
    for i in range(n):
        less_row(after(T, WIDTH * i), c, T[WIDTH * i + c], row)
    copy_row(row, after(T, WIDTH * r))


@kernel(types.boolean(I64, FLOATS, FLOATS, FLOATS, TABLEAU, INTEGERS))
def solve_small(n, M, q, z, work, info):
    """Solve an LCP of order n <= SMALL; returns whether z (n) is a solution. info[0] counts the pivots."""
    T, row, D, p = address(work.T), address(work.row), address(work.D), address(work.p)
    basic, nonbasic, where = address(work.basic), address(work.nonbasic), address(work.where)
    size = scale(n, M, q, D)
    general(n, 1, p)
    r = 0
    for i in range(n):
        for j in range(n):
            T[WIDTH * i + j] = -D[i] * M[n * i + j] * D[j]
        for j in range(n + 3, WIDTH):
            T[WIDTH * i + j] = 0.0
        T[WIDTH * i + n], T[WIDTH * i + n + 1], T[WIDTH * i + n + 2] = -1.0, D[i] * q[i] / size, p[i]
        basic[i], nonbasic[i], where[n + i] = i, n + i, i
        a, b = T[WIDTH * i + n + 1], T[WIDTH * r + n + 1]
        if a < b or (a == b and p[i] < p[r]):
            r = i
        z[i] = 0.0
    if n == 0 or not size > 0.0 or T[WIDTH * r + n + 1] >= 0.0:
        return is_solution(n, M, q, D, size, z)
    nonbasic[n], c, leaving = 2 * n, n, -1
    while r >= 0 and leaving != 2 * n:
        if info[0] == MOST:
            return False
        pivot(n, T, row, r, c)
        info[0] += 1
        leaving = basic[r]
        basic[r], nonbasic[c], where[leaving] = nonbasic[c], leaving, c
        if leaving < 2 * n:
            c = where[leaving + n if leaving < n else leaving - n]
            r = blocking_row(n, T, basic, c)
    for i in range(n):
        j = basic[i] - n
        if 0 <= j < n:
            b = D[j] * T[WIDTH * i + n + 1] * size
            z[j] = b if b > 0.0 else 0.0
    return r >= 0 and is_solution(n, M, q, D, size, z)
