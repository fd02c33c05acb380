"""Arithmetic with matrices of many columns, such as one tangent each: eight columns at once in vector lanes.

The number of columns is a multiple of `LANES` (`padded`): columns beyond those in use hold anything.
"""

from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR, address
from workbench.engine.lanes import LANES, load, size_of, splat, store, where

I64, F64 = types.int64, types.float64


def padded(count: int) -> int:
    """The least number of columns that has room for so many."""
    return -(-count // LANES) * LANES


@kernel(types.void(F64, MATRIX, I64, MATRIX, I64), linked=True)
def add_row(f, x, i, y, k):
    """Add f times row i of x to row k of y."""
    p, q, n, f = address(x), address(y), x.shape[1] // LANES, splat(f)
    for c in range(n):
        store(q, n * k + c, load(q, n * k + c) + f * load(p, n * i + c))


@kernel(types.void(F64, MATRIX, I64, MATRIX, I64), linked=True)
def put_row(f, x, i, y, k):
    """Put f times row i of x into row k of y."""
    p, q, n, f = address(x), address(y), x.shape[1] // LANES, splat(f)
    for c in range(n):
        store(q, n * k + c, f * load(p, n * i + c))


@kernel(types.void(MATRIX))
def clear(x):
    """Set all entries to zero."""
    p, zero = address(x), splat(0.0)
    for k in range(x.size // LANES):
        store(p, k, zero)


@kernel(types.void(F64, MATRIX, I64, I64, MATRIX, MATRIX))
def add_products(f, A, row, column, x, found):
    """Add f A[row : row + R, column : column + C] x, with x (C, K), to found (R, K)."""
    p, q, n = address(x), address(found), x.shape[1] // LANES
    for c in range(n):
        for i in range(found.shape[0]):
            total = load(q, n * i + c)
            for j in range(x.shape[0]):
                total = total + splat(f * A[row + i, column + j]) * load(p, n * j + c)
            store(q, n * i + c, total)


@kernel(types.void(MATRIX, I64, I64, MATRIX, MATRIX))
def add_sizes(A, row, column, x, found):
    """`add_products` of the sizes of all entries."""
    p, q, n = address(x), address(found), x.shape[1] // LANES
    for c in range(n):
        for i in range(found.shape[0]):
            total = load(q, n * i + c)
            for j in range(x.shape[0]):
                total = total + splat(abs(A[row + i, column + j])) * size_of(load(p, n * j + c))
            store(q, n * i + c, total)


@kernel(types.void(MATRIX, MATRIX))
def put_sizes(x, found):
    """Put the sizes of all entries of x into found."""
    p, q = address(x), address(found)
    for k in range(x.size // LANES):
        store(q, k, size_of(load(p, k)))


@kernel(types.void(MATRIX, VECTOR))
def put_largest(x, found):
    """Put the largest entry of each column of x, or zero, into found (K,)."""
    p, q, n = address(x), address(found), x.shape[1] // LANES
    for c in range(n):
        most = splat(0.0)
        for i in range(x.shape[0]):
            y = load(p, n * i + c)
            most = where(y > most, y, most)
        store(q, c, most)


@kernel(types.void(MATRIX, INDICES, MATRIX, MATRIX))
def solve_columns(LU, pivots, b, x):
    """Solve A x = b (., K) with the factors of `kernels.lu_factor` of A (n, n), b having n rows or more."""
    p, q, m, n = address(b), address(x), x.shape[1] // LANES, LU.shape[0]
    for c in range(m):
        for i in range(n):
            total = load(p, m * pivots[i] + c)
            for j in range(i):
                total = total - splat(LU[i, j]) * load(q, m * j + c)
            store(q, m * i + c, total)
        for i in range(n - 1, -1, -1):
            total = load(q, m * i + c)
            for j in range(i + 1, n):
                total = total - splat(LU[i, j]) * load(q, m * j + c)
            store(q, m * i + c, total / splat(LU[i, i]))


@kernel(types.void(VECTOR, MATRIX), linked=True)
def put_columns(x, found):
    """Put x (n,) into all columns of found (n, K)."""
    for i in range(x.shape[0]):
        for j in range(found.shape[1]):
            found[i, j] = x[i]


@kernel(types.void(MATRIX, VECTOR), linked=True)
def take_column(x, found):
    """Put the first column of x (n, K) into found (n,)."""
    for i in range(found.shape[0]):
        found[i] = x[i, 0]
