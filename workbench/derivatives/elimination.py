"""S factorised with complete pivoting, which reveals its rank: one factorisation serves all changes of the data."""

from numba import types

from workbench.derivatives.columns import put_columns, put_row, take_column
from workbench.derivatives.system import SYSTEM
from workbench.engine.compiling import kernel
from workbench.engine.kernels import FAST, FASTER, INDICES, MATRIX, address, set_all
from workbench.engine.lanes import LANES, load, splat, store
from workbench.engine.scratch import VECTOR, scratch, scratch_matrix

KEPT, GONE = 1e-8, 1e-11
"""Relative to the first pivot: nonzero above this, zero below that; in between the rank is undecided."""
I64, F64 = types.int64, types.float64


@kernel(types.void(MATRIX, INDICES, VECTOR, VECTOR), **FAST)
def lu_solve_transposed(LU, pivots, b, x):
    """Solve A^T x = b with the factors of `kernels.lu_factor`; b and x (n,) must be different arrays."""
    n = LU.shape[0]
    y = scratch(n)
    for i in range(n):
        y[i] = b[i]
    for i in range(n):
        y[i] /= LU[i, i]
        for j in range(i + 1, n):
            y[j] -= LU[i, j] * y[i]
    for i in range(n - 1, -1, -1):
        for j in range(i):
            y[j] -= LU[i, j] * y[i]
        x[pivots[i]] = y[i]


@kernel(I64(SYSTEM, I64), **FASTER)
def factorise(s, Y):
    """Factorise the equilibrated S into LU with rows and columns exchanged; return the rank or -1."""
    LU, largest, first = s.LU, scratch(Y), 0.0
    for i in range(Y):
        s.row[i] = s.column[i] = i
        most = 0.0
        for j in range(Y):
            LU[i, j] = s.E[i] * s.S[i, j] * s.E[j]
            most = max(most, abs(LU[i, j]))
        largest[i] = most
        first = max(first, most)
    for k in range(Y):
        row, column = k, k
        for i in range(k + 1, Y):
            row = i if largest[i] > largest[row] else row
        for j in range(k + 1, Y):
            column = j if abs(LU[row, j]) > abs(LU[row, column]) else column
        if not largest[row] > GONE * first:
            return k
        if not largest[row] > KEPT * first:
            return -1
        s.row[k], s.row[row] = s.row[row], s.row[k]
        s.column[k], s.column[column] = s.column[column], s.column[k]
        largest[k], largest[row] = largest[row], largest[k]
        for j in range(Y):
            LU[k, j], LU[row, j] = LU[row, j], LU[k, j]
        for i in range(Y):
            LU[i, k], LU[i, column] = LU[i, column], LU[i, k]
        for i in range(k + 1, Y):
            if LU[i, k] == 0.0:
                continue
            LU[i, k] /= LU[k, k]
            f, most = LU[i, k], 0.0
            for j in range(k + 1, Y):
                LU[i, j] -= f * LU[k, j]
                most = max(most, abs(LU[i, j]))
            largest[i] = most
    return Y


@kernel(types.void(SYSTEM, I64, I64, MATRIX, MATRIX))
def back_substitute(s, Y, rank, c, y):
    """Compute y (Y, K) from the pivoted, equilibrated unknowns c (Y, K), those beyond the rank given; c is
    overwritten."""
    LU, E, column, p, n = s.LU, s.E, s.column, address(c), c.shape[1] // LANES
    for i in range(Y - 1, -1, -1):
        if i < rank:
            for k in range(n):
                total = load(p, n * i + k)
                for j in range(i + 1, Y):
                    total = total - splat(LU[i, j]) * load(p, n * j + k)
                store(p, n * i + k, total / splat(LU[i, i]))
        put_row(E[column[i]], c, i, y, column[i])


@kernel(types.void(SYSTEM, I64, I64, MATRIX, MATRIX, VECTOR))
def solve_factorised(s, Y, rank, b, y, off):
    """Compute y (Y, K) of S y = b, some unknowns zero where S is singular, and the parts `off` (K,) of E b outside
    range E S E."""
    c, LU, E, row, n = scratch_matrix(Y, b.shape[1]), s.LU, s.E, s.row, b.shape[1] // LANES
    p, q = address(c), address(b)
    set_all(0.0, off)
    for i in range(Y):
        for k in range(n):
            total = splat(E[row[i]]) * load(q, n * row[i] + k)
            for j in range(min(i, rank)):
                total = total - splat(LU[i, j]) * load(p, n * j + k)
            store(p, n * i + k, total)
        if i >= rank:
            for k in range(off.shape[0]):
                off[k] = max(off[k], abs(c[i, k]))
            set_all(0.0, c[i])
    back_substitute(s, Y, rank, c, y)


@kernel(F64(SYSTEM, I64, I64, VECTOR, VECTOR))
def solve_one(s, Y, rank, b, y):
    """`solve_factorised` for one b (Y,)."""
    given, found, off = scratch_matrix(Y, LANES), scratch_matrix(Y, LANES), scratch(LANES)
    put_columns(b, given)
    solve_factorised(s, Y, rank, given, found, off)
    take_column(found, y)
    return off[0]


@kernel(types.void(SYSTEM, I64, I64, VECTOR, VECTOR))
def back_substitute_transposed(s, Y, rank, c, y):
    """`back_substitute` for S^T."""
    LU = s.LU
    for i in range(rank - 1, -1, -1):
        for j in range(i + 1, Y):
            c[i] -= LU[j, i] * c[j]
    for i in range(Y):
        y[s.row[i]] = s.E[s.row[i]] * c[i]


@kernel(F64(SYSTEM, I64, I64, VECTOR, VECTOR))
def solve_transposed(s, Y, rank, b, y):
    """`solve_factorised` for S^T y = b."""
    c, off, LU = scratch(Y), 0.0, s.LU
    for i in range(Y):
        c[i] = s.E[s.column[i]] * b[s.column[i]]
    for i in range(Y):
        for j in range(min(i, rank)):
            c[i] -= LU[j, i] * c[j]
        if i < rank:
            c[i] /= LU[i, i]
        else:
            off, c[i] = max(off, abs(c[i])), 0.0
    back_substitute_transposed(s, Y, rank, c, y)
    return off


@kernel(types.void(VECTOR, I64), linked=True)
def weigh_kernel(c, rank):
    """Set pivoted unknowns c (Y,): those beyond the rank to unequal weights, the others to zero."""
    for i in range(c.shape[0]):
        c[i] = 0.0 if i < rank else 1.0 + 0.7548776662466927 * (i - rank) % 1.0


@kernel(types.void(SYSTEM, I64, VECTOR), linked=True)
def drop_rounding(s, Y, y):
    """Set entries of a vector y (Y,) of the kernel to zero that do not take part in it."""
    for i in range(Y):
        y[i] = y[i] if abs(y[i]) > GONE * s.E[i] else 0.0


@kernel(types.void(SYSTEM, I64, I64, VECTOR))
def find_kernel(s, Y, rank, y):
    """Compute one y (Y,) in the kernel of S, a sum of all independent ones with unequal weights."""
    c, found = scratch_matrix(Y, LANES), scratch_matrix(Y, LANES)
    weigh_kernel(y, rank)
    put_columns(y, c)
    back_substitute(s, Y, rank, c, found)
    take_column(found, y)
    drop_rounding(s, Y, y)


@kernel(types.void(SYSTEM, I64, I64, VECTOR))
def find_left_kernel(s, Y, rank, y):
    """`find_kernel` of S^T."""
    c = scratch(Y)
    weigh_kernel(c, rank)
    back_substitute_transposed(s, Y, rank, c, y)
    drop_rounding(s, Y, y)
