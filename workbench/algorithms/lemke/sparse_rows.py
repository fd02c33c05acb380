"""Large LCPs by the nonzeros of M's rows: reading, scaling, checking, and solving on a basis.

M is read once. For a tower of boxes, where each contact is coupled to those of two bodies, a twelfth of M is nonzero at
a hundred contacts, and every further pass over M is as much shorter.

A basis is solved by LU with row pivoting within the profile of a breadth-first order (Cuthill & McKee 1969): order
times bandwidth squared for a chain of bodies, a dense LU if all contacts are coupled. Columns that depend on those
before them are left out and their unknowns unchanged, so that the support of a degenerate or redundant solution can be
solved for; the result is checked like any other.

The data of a problem are in a `Workspace`, here and in the functions below.
"""

import numpy as np
from numba import types

from workbench.algorithms.lemke.workspace import WORKSPACE
from workbench.engine.compiling import kernel
from workbench.engine.kernels import FAST, FASTER, FLOATS, INTEGERS, MATRIX, VECTOR, address

DEPENDENT = 1e-11
"""Pivot of the scaled matrix below which a column depends on those before it."""
CLOSE = 1e-14
"""Largest violation of a solution, below which nothing more is done."""
BASIC_ZERO = 1e-200
"""Returned value of a basic unknown at zero, so that the positive entries of a solution are its basis."""

I64, F64, VOID, BOOL = types.int64, types.float64, types.void, types.boolean


@kernel(types.Tuple((INTEGERS, INTEGERS, FLOATS))(WORKSPACE))
def nonzeros(work):
    """Return starts (n + 1), columns and values of the nonzeros."""
    return address(work.starts), address(work.columns), address(work.values)


@kernel(BOOL(MATRIX, WORKSPACE))
def read(M, work):
    """Read the nonzeros of M (n, n); returns whether all are finite."""
    n, p = M.shape[0], address(M)
    starts, columns, values = nonzeros(work)
    used = 0
    for i in range(n):
        starts[i] = used
        for j in range(n):
            v = p[n * i + j]
            columns[used], values[used] = j, v
            used += v != 0.0
    starts[n] = used
    strange = 0
    for k in range(used):
        # A number minus itself is zero unless it is not finite.
        strange |= values[k] - values[k] != 0.0
    return strange == 0


@kernel(F64(I64, I64, INTEGERS, FLOATS, FLOATS), **FASTER)
def largest_scaled(first, last, columns, values, D):
    """Return the largest |M_ij| D_j of a row."""
    largest = 0.0
    for k in range(first, last):
        a = abs(values[k]) * D[columns[k]]
        largest = a if a > largest else largest
    return largest


@kernel(VOID(MATRIX, WORKSPACE), **FASTER)
def equilibrate(M, work):
    """Compute a symmetric scaling D: D M D has unit positive diagonal entries, or otherwise rows of order one."""
    n, p = M.shape[0], address(M)
    starts, columns, values = nonzeros(work)
    D, largest = address(work.D), address(work.x)
    for i in range(n):
        D[i], largest[i] = 1.0 / np.sqrt(p[n * i + i]) if p[n * i + i] > 0.0 else 0.0, 0.0
    worst, alone = 0.0, False
    for i in range(n):
        met = largest_scaled(starts[i], starts[i + 1], columns, values, D)
        worst, largest[i] = max(worst, D[i] * met), max(largest[i], met)
        for k in range(starts[i], starts[i + 1]):
            j = columns[k]
            if D[j] == 0.0:
                largest[j] = max(largest[j], abs(values[k]) * D[i])
    for i in range(n):
        if not p[n * i + i] > 0.0:
            D[i] = 1.0 / largest[i] if largest[i] > 0.0 else 1.0
            alone |= largest[i] == 0.0
    for i in range(n):
        if not p[n * i + i] > 0.0:
            worst = max(worst, D[i] * largest_scaled(starts[i], starts[i + 1], columns, values, D))
    if not alone and worst <= 2.0:
        return
    for _ in range(3):
        for j in range(n):
            largest[j] = 0.0
        for i in range(n):
            for k in range(starts[i], starts[i + 1]):
                j = columns[k]
                largest[i] = max(largest[i], abs(values[k]) * D[j])
                largest[j] = max(largest[j], abs(values[k]) * D[i])
        for i in range(n):
            size = D[i] * largest[i]
            if size > 2.0 or (0.0 < size < 0.5 and not p[n * i + i] > 0.0):
                D[i] /= np.sqrt(size)


@kernel(F64(VECTOR, VECTOR, WORKSPACE), **FAST)
def violation(q, z, work):
    """Return the largest D_i |w_i| of the rows where w is wrong, over the largest D_i (|q_i| + sum_j |M_ij z_j|).

    work.w receives q + M z.
    """
    n = z.shape[0]
    starts, columns, values = nonzeros(work)
    D, w, x = address(work.D), address(work.w), address(z)
    worst, largest = 0.0, 0.0
    for i in range(n):
        s, activity = q[i], abs(q[i])
        for k in range(starts[i], starts[i + 1]):
            term = values[k] * x[columns[k]]
            s += term
            activity += abs(term)
        w[i] = s
        wrong = D[i] * (abs(s) if z[i] > 0.0 else max(0.0, -s))
        # A nan must not count as correct.
        if not wrong <= worst:
            worst = wrong
        largest = max(largest, D[i] * activity)
    return worst / largest if largest > 0.0 else worst


@kernel(VOID(INTEGERS, INTEGERS, I64, INTEGERS, INTEGERS, INTEGERS))
def breadth_first(starts, columns, m, seeds, place, order):
    """Traverse breadth first from the m unknowns `seeds`, each starting where the previous ones have not reached.

    `order` (m) lists them, place (n) their positions in it, -1 outside.
    """
    for s in range(m):
        place[seeds[s]] = -2
    last = 0
    for s in range(m):
        if place[seeds[s]] == -2:
            head, order[last], place[seeds[s]] = last, seeds[s], last
            last += 1
            while head < last:
                i = order[head]
                head += 1
                for k in range(starts[i], starts[i + 1]):
                    j = columns[k]
                    if place[j] == -2:
                        order[last], place[j] = j, last
                        last += 1


@kernel(VOID(I64, INTEGERS, INTEGERS, FLOATS, FLOATS, INTEGERS, INTEGERS, FLOATS, INTEGERS), **FAST)
def scaled_submatrix(m, starts, columns, values, D, order, place, A, reach):
    """Fill A (m, m) = D M D on the unknowns `order` (m), and its profile reach (2 m).

    reach_k is the last row with a nonzero up to column k, reach_(m + i) the last column with a nonzero down to row i.
    """
    for k in range(m):
        reach[k] = 0
    right = 0
    for i in range(m):
        for k in range(m):
            A[m * i + k] = 0.0
        u, left = order[i], i
        for k in range(starts[u], starts[u + 1]):
            p = place[columns[k]]
            if p >= 0:
                A[m * i + p] = D[u] * values[k] * D[columns[k]]
                left, right = min(left, p), max(right, p)
        reach[left], reach[m + i] = i, right
    for k in range(1, m):
        reach[k] = max(reach[k], reach[k - 1])


@kernel(I64(I64, FLOATS, INTEGERS, INTEGERS, INTEGERS), **FAST)
def factor(m, A, reach, rows, pivots):
    """Factor A (m, m) = LU in place within its profile; returns its rank.

    Row r of U begins in column pivots_r; `rows` (m) are A's rows in the order of U's. Columns without a pivot do not
    occur in `pivots`.
    """
    for i in range(m):
        rows[i] = i
    r = 0
    for k in range(m):
        best, chosen, bottom = DEPENDENT, -1, reach[k]
        for i in range(r, bottom + 1):
            a = abs(A[m * i + k])
            if a > best:
                best, chosen = a, i
        if chosen < 0:
            continue
        if chosen != r:
            for j in range(m):
                A[m * r + j], A[m * chosen + j] = A[m * chosen + j], A[m * r + j]
            rows[r], rows[chosen] = rows[chosen], rows[r]
        inverse, right = 1.0 / A[m * r + k], reach[m + bottom] + 1
        for i in range(r + 1, bottom + 1):
            if A[m * i + k] != 0.0:
                f = A[m * i + k] * inverse
                A[m * i + k] = f
                for j in range(k + 1, right):
                    A[m * i + j] -= f * A[m * r + j]
        pivots[r] = k
        r += 1
    return r


@kernel(VOID(I64, I64, FLOATS, INTEGERS, INTEGERS, FLOATS, FLOATS), **FAST)
def substitute(m, rank, A, rows, pivots, b, x):
    """Solve A x = b (m) on the rows with a pivot, x (m) being zero in columns without one; factors of `factor`."""
    for k in range(m):
        x[k] = 0.0
    for r in range(rank):
        s = b[rows[r]]
        for k in range(pivots[r]):
            s -= A[m * r + k] * x[k]
        x[pivots[r]] = s
    for r in range(rank - 1, -1, -1):
        s = x[pivots[r]]
        for k in range(pivots[r] + 1, m):
            s -= A[m * r + k] * x[k]
        x[pivots[r]] = s / A[m * r + pivots[r]]


@kernel(F64(VECTOR, VECTOR, WORKSPACE))
def solve_on_support(q, z, work):
    """Solve for the positive entries of z (n) with w = 0 in their rows, in place, from z; returns the violation.

    They stay positive, at least `BASIC_ZERO`. work.w = q + M z is given, as computed by `violation`; G^-1 is
    overwritten.
    """
    n = z.shape[0]
    starts, columns, values = nonzeros(work)
    D, A, w, b, x = address(work.D), address(work.H), address(work.w), address(work.rhs), address(work.x)
    seeds, order, place = address(work.seeds), address(work.order), address(work.place)
    rows, pivots, reach = address(work.rows), address(work.pivots), address(work.reach)
    m = 0
    for i in range(n):
        place[i] = -1
        if z[i] > 0.0:
            seeds[m] = i
            m += 1
    # Twice, the second time from the end of the first: the far end of a chain.
    breadth_first(starts, columns, m, seeds, place, order)
    for k in range(m):
        seeds[k] = order[m - 1 - k]
    breadth_first(starts, columns, m, seeds, place, order)
    scaled_submatrix(m, starts, columns, values, D, order, place, A, reach)
    rank = factor(m, A, reach, rows, pivots)
    found = np.inf
    for _ in range(2):
        for k in range(m):
            b[k] = -D[order[k]] * w[order[k]]
        substitute(m, rank, A, rows, pivots, b, x)
        for k in range(m):
            z[order[k]] = max(z[order[k]] + D[order[k]] * x[k], BASIC_ZERO)
        found = violation(q, z, work)
        if found <= CLOSE:
            break
    return found
