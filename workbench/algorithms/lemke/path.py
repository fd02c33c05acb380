"""Lemke's path on a reduced basis: only the basic z's and their rows are stored.

With R the rows whose w is nonbasic and B the unknowns that are basic in their place, z's and z0, a basis is given by
the square G = [M d]_RB of order m, and for any column a, of M or the constants,

    y = G^-1 a_R,    its column in the tableau:  -y where a z is basic,  a_i - [M d]_iB y  where w_i is.

G^-1 is kept explicitly and updated by a rank-one matrix per pivot, m^2 operations; the column takes m^2 and n m, less
if M has zeros, the rest n. A full tableau would take n^2. The rows R of a - [M d]_B y vanish in exact arithmetic; their
values are the error of y, known without further work, and if it is not negligible one step of refinement removes it.
The constants are recomputed every `REFRESH` pivots.

Ties are broken by an infinitesimal perturbation q + delta p with a fixed p > 0 in general position: the constants are
two columns, and among rows that block together for q the one that blocks first for p leaves. This is the lexicographic
rule with p as the leading column, and needs no rows of the basis inverse.

The state of a path is a `Workspace`, whose names are those used here; H is (G^-1)^T.
"""

import numpy as np
from numba import types

from workbench.algorithms.lemke.sparse_rows import nonzeros
from workbench.algorithms.lemke.workspace import WORKSPACE
from workbench.engine.compiling import kernel
from workbench.engine.kernels import FAST, FASTER, FLOATS, INDICES, INTEGERS, MATRIX, VECTOR, address, after
from workbench.engine.lanes import LANES as BLOCK
from workbench.engine.lanes import load, splat, store
from workbench.problems.solution import Status

SOLVED = int(Status.SOLVED)
RAY = int(Status.RAY)
ITERATION_LIMIT = int(Status.ITERATION_LIMIT)

PIVOT = 1e-8
"""Smallest pivot of the scaled tableau, relative to its column's largest entry where that exceeds one."""
TIE = 1e-10
"""Two rows block together if the second is this close to its bound where the first blocks; constants are initially at
most 1. The remaining constant of the second row changes the others by up to TIE / PIVOT when it is pivoted on later."""
RELATIVE_TIE = 1e-14
"""The same, relative to the constant itself."""
REFINE = 1e-13
"""Error of the rows R, relative to y, above which a column is refined."""
REFRESH = 20
"""Number of pivots after which the constants are recomputed."""
SPARSE = 64
"""Order above which the zeros of a column are skipped."""
BLOCKS_NOTHING = 1e300

I64, F64, VOID = types.int64, types.float64, types.void


@kernel(VOID(FLOATS, I64, INTEGERS, FLOATS, I64, I64, FLOATS), **FAST)
def add_rows(F, N, pick, times, used, size, out):
    """Compute out += sum_k times_k (row pick_k of F) over the first `size` entries, four rows a sweep."""
    k = 0
    while k + 4 <= used:
        a, b, c, d = N * pick[k], N * pick[k + 1], N * pick[k + 2], N * pick[k + 3]
        f, g, h, l = times[k], times[k + 1], times[k + 2], times[k + 3]
        for i in range(size):
            out[i] += (f * F[a + i] + g * F[b + i]) + (h * F[c + i] + l * F[d + i])
        k += 4
    while k < used:
        a, f = N * pick[k], times[k]
        for i in range(size):
            out[i] += f * F[a + i]
        k += 1


@kernel(VOID(I64, WORKSPACE), **FAST)
def lay_columns(n, work):
    """Fill the columns of a large D M D from the nonzeros of M's rows, in nonzero blocks of rows unless too many."""
    N, scaled, first = n + 1, address(work.scaled), address(work.first)
    starts, columns, values = nonzeros(work)
    D, count = address(work.D), address(work.count)
    for j in range(n):
        count[j] = 0 if n > SPARSE else -2
    if n <= SPARSE:
        return
    most = n // (2 * BLOCK)
    for i in range(n):
        f = D[i]
        for k in range(starts[i], starts[i + 1]):
            j = columns[k]
            used = count[j]
            if used == -2:
                continue
            if used == 0 or i >= first[N * j + used - 1] + BLOCK:
                if used == most:
                    count[j] = -2
                    continue
                for l in range(BLOCK):
                    scaled[N * j + BLOCK * used + l] = 0.0
                # Blocks are aligned, so that columns share cached positions; the last must not extend beyond the
                # column.
                first[N * j + used] = min(i - i % BLOCK, n - BLOCK)
                used += 1
                count[j] = used
            scaled[N * j + BLOCK * (used - 1) + i - first[N * j + used - 1]] = f * values[k] * D[j]


@kernel(VOID(I64, FLOATS, I64, WORKSPACE), **FAST)
def fetch(n, M, c, work):
    """Fetch t = column c of D M D."""
    D, scaled, count, t = address(work.D), address(work.scaled), address(work.count), address(work.t)
    at, f = (n + 1) * c, D[c]
    if count[c] == -2:
        count[c] = -1
        for i in range(n):
            scaled[at + i] = D[i] * M[n * i + c] * f
    if count[c] == -1:
        for i in range(n):
            t[i] = scaled[at + i]
    else:
        for i in range(n):
            t[i] = 0.0
        first = address(work.first)
        for k in range(count[c]):
            x = after(t, first[at + k])
            store(x, 0, load(x, 0) + load(after(scaled, at), k))


@kernel(VOID(I64, WORKSPACE, I64, FLOATS, FLOATS), **FAST)
def less_basic_part(n, work, m, y, t):
    """Compute y (m) = G^-1 t_R, then t (n) -= [M d]_B y."""
    N, scaled, first, count = n + 1, address(work.scaled), address(work.first), address(work.count)
    R, B, pick, times = address(work.R), address(work.B), address(work.pick), address(work.times)
    used = 0
    for k in range(m):
        y[k] = 0.0
        f = t[R[k]]
        if f != 0.0:
            pick[used], times[used] = k, f
            used += 1
    add_rows(address(work.H), N, pick, times, used, m, y)
    used = 0
    for s in range(m):
        f, j = y[s], B[s]
        if f == 0.0:
            continue
        if count[j] == -1:
            pick[used], times[used] = j, -f
            used += 1
        else:
            for k in range(count[j]):
                x = after(t, first[N * j + k])
                store(x, 0, load(x, 0) - splat(f) * load(after(scaled, N * j), k))
    add_rows(scaled, N, pick, times, used, n, t)


@kernel(VOID(I64, WORKSPACE, I64, F64, FLOATS), **FAST)
def to_tableau(n, work, m, tolerance, t):
    """Convert a column t (n) of the problem to the tableau's; work.y = G^-1 t_R is refined above the tolerance."""
    R, y, correction = address(work.R), address(work.y), address(work.correction)
    less_basic_part(n, work, m, y, t)
    error, size = 0.0, 1.0
    for k in range(m):
        e, a = abs(t[R[k]]), abs(y[k])
        error = e if e > error else error
        size = a if a > size else size
    if error > tolerance * size:
        less_basic_part(n, work, m, correction, t)
        for k in range(m):
            y[k] += correction[k]
    for k in range(m):
        t[R[k]] = -y[k]


@kernel(F64(I64, FLOATS, FLOATS, F64), **FASTER)
def first_block(n, b, t, smallest):
    """Return how far the entering unknown can grow; rows whose pivot -t_i is not above `smallest` do not block."""
    theta = BLOCKS_NOTHING
    for i in range(n):
        ratio = b[i] / -t[i] if -t[i] > smallest else BLOCKS_NOTHING
        if ratio < theta:
            theta = ratio
    return max(theta, 0.0)


@kernel(F64(I64, FLOATS), **FASTER)
def largest_entry(n, t):
    """Return max(1, |t|_inf)."""
    largest = 1.0
    for i in range(n):
        a = abs(t[i])
        if a > largest:
            largest = a
    return largest


@kernel(I64(I64, FLOATS, FLOATS, FLOATS, INTEGERS), **FAST)
def blocking_row(n, t, b, e, basic):
    """Return the row that leaves as the unknown of column t (n) enters, z0's if it can; -1 for a ray."""
    smallest = PIVOT * largest_entry(n, t)
    theta = first_block(n, b, t, smallest)
    if theta == BLOCKS_NOTHING:
        return -1
    best, least = -1, np.inf
    for i in range(n):
        pivot = -t[i]
        # One branch instead of two, since which of the conditions fails is as good as random.
        if (pivot > smallest) & (b[i] - theta * pivot <= TIE + RELATIVE_TIE * b[i]):
            if basic[i] == n:
                return i
            if e[i] / pivot < least:
                best, least = i, e[i] / pivot
    return best


@kernel(VOID(I64, FLOATS, F64, FLOATS, F64, FLOATS), **FAST)
def move(n, t, f, b, g, e):
    """Compute b += f t, e += g t."""
    for i in range(n):
        b[i] += f * t[i]
        e[i] += g * t[i]


@kernel(VOID(I64, FLOATS, WORKSPACE, I64, I64), **FAST)
def tableau_row(n, M, work, r, m):
    """Compute row r of the tableau in the columns of m nonbasic w's: of G^-1 if a z is basic, else [M d]_rB G^-1."""
    N, H, row, times, s = n + 1, address(work.H), address(work.row), address(work.times), work.slot[r]
    if s >= 0:
        for k in range(m):
            row[k] = H[N * k + s]
        return
    D, d, B, pick, used = address(work.D), address(work.d), address(work.B), address(work.pick), 0
    for k in range(m):
        j = B[k]
        v = D[r] * M[n * r + j] * D[j] if j < n else d[r]
        if v != 0.0:
            pick[used], times[used] = k, v
            used += 1
    for k in range(m):
        a = 0.0
        for i in range(used):
            a += times[i] * H[N * k + pick[i]]
        row[k] = a


@kernel(I64(I64, WORKSPACE, I64, I64, I64, F64, I64), **FAST)
def exchange(n, work, r, c, entering, pivot, m):
    """Update G^-1 and the lists: row r's unknown leaves, z_entering or, at -1, w_c enters. Returns m.

    y and row are those of the entering column t and of row r, pivot is t_r.
    """
    N, H, y, row = n + 1, address(work.H), address(work.y), address(work.row)
    basic, slot, R, B = address(work.basic), address(work.slot), address(work.R), address(work.B)
    s, last = slot[r], m - 1
    for k in range(m):
        f = row[k] / pivot
        if f != 0.0:
            for i in range(m):
                H[N * k + i] += f * y[i]
    if entering >= 0:
        if s < 0:
            for k in range(m):
                H[N * m + k] = -y[k] / pivot
            # The corner is 1 / pivot.
            row[m] = -1.0
            s, slot[r], R[m] = m, m, r
            m += 1
        for k in range(m):
            H[N * k + s] = -row[k] / pivot
        B[s], basic[r] = entering, entering
        return m
    gone = slot[c]
    if s < 0:
        # w_r replaces w_c, and the z that was in row c is in row r.
        for k in range(m):
            H[N * gone + k] = -y[k] / pivot
        R[gone], slot[r] = r, gone
    else:
        if s != gone:
            for k in range(m):
                H[N * k + s] = H[N * k + gone]
            B[s] = B[gone]
        if gone != last:
            for k in range(m):
                H[N * gone + k] = H[N * last + k]
            for k in range(last):
                H[N * k + gone] = H[N * k + last]
            B[gone], R[gone] = B[last], R[last]
            slot[R[gone]] = gone
        m = last
    basic[r], basic[c], slot[c] = basic[c], -1, -1
    return m


@kernel(VOID(I64, I64, FLOATS))
def general(n, seed, p):
    """Fill p (n) between 1/2 and 3/2 from a congruential generator, without simple relations between its entries."""
    state = seed
    for i in range(n):
        state = (1103515245 * state + 12345) & 0x7FFFFFFF
        p[i] = 0.5 + state / 2147483648.0


@kernel(VOID(I64, FLOATS, FLOATS, F64, FLOATS, FLOATS), **FAST)
def constants(n, q, D, unit, b, e):
    """Fill the columns D q unit and p."""
    general(n, 1, e)
    for i in range(n):
        b[i] = D[i] * q[i] * unit


@kernel(I64(I64, FLOATS, FLOATS, FLOATS), **FAST)
def first_row(n, b, e, d):
    """Return the row that z0 leaves at zero: the least b_i / d_i, among equal ones the least e_i / d_i."""
    r = 0
    for i in range(n):
        x, y = b[i] * d[r], b[r] * d[i]
        if x < y or (x == y and e[i] * d[r] < e[r] * d[i]):
            r = i
    return r


@kernel(types.UniTuple(I64, 2)(MATRIX, VECTOR, F64, WORKSPACE, I64, INDICES), **FAST)
def follow_path(M_, q_, unit, work, most, info):
    """Follow Lemke's path for D M D, D q unit with the covering vector d (n) > 0; some q_i < 0. At most `most` pivots.

    `work` holds D, d and the columns. Returns a Status and the z that was to enter last, -1 for a w. On SOLVED b holds
    the solution and `basic` its basis; on RAY t is the column of the entering unknown. info[0] counts pivots.
    """
    n = M_.shape[0]
    M, q, D, d, b, e = address(M_), address(q_), address(work.D), address(work.d), address(work.b), address(work.e)
    t, last, basic, slot = address(work.t), address(work.scaled[n]), address(work.basic), address(work.slot)
    constants(n, q, D, unit, b, e)
    for i in range(n):
        basic[i], slot[i], last[i] = -1, -1, d[i]
    work.count[n] = -1
    # z0 enters at the least value for which no constant is negative.
    r = first_row(n, b, e, d)
    theta, theta_e = -b[r] / d[r], -e[r] / d[r]
    move(n, d, theta, b, theta_e, e)
    b[r], e[r], basic[r], slot[r], work.R[0], work.B[0], work.H[0, 0] = theta, theta_e, n, 0, r, n, 1.0 / d[r]
    m, c, entering, leaving, status = 1, r, r, -1, ITERATION_LIMIT
    info[0] += 1
    for pivots in range(1, most):
        if entering >= 0:
            fetch(n, M, c, work)
        else:
            for i in range(n):
                t[i] = 0.0
            t[c] = -1.0
        to_tableau(n, work, m, REFINE, t)
        r = blocking_row(n, t, b, e, basic)
        if r < 0:
            return RAY, entering
        pivot, leaving = t[r], basic[r]
        theta, theta_e = -b[r] / pivot, -e[r] / pivot
        move(n, t, theta, b, theta_e, e)
        tableau_row(n, M, work, r, m)
        m = exchange(n, work, r, c, entering, pivot, m)
        if entering < 0:
            # The z that was in row c is in row r now.
            b[r], e[r], b[c], e[c] = b[c], e[c], theta, theta_e
        else:
            b[r], e[r] = theta, theta_e
        info[0] += 1
        if leaving == n:
            status = SOLVED
            break
        # The complement of the leaving unknown enters next.
        c, entering = (r, r) if leaving < 0 else (leaving, -1)
        if pivots % REFRESH == 0:
            constants(n, q, D, unit, b, e)
            to_tableau(n, work, m, REFINE, e)
            to_tableau(n, work, m, REFINE, b)
    if status == SOLVED:
        constants(n, q, D, unit, b, e)
        to_tableau(n, work, m, 0.0, b)
    return status, entering
