"""Lemke's complementary pivoting with a covering vector, for LCPs.

The artificial unknown z0 is added to every row of w = M z + q, driven up until no w is negative, and the method then
follows the path of almost complementary bases until z0 leaves (a solution) or no row blocks (a secondary ray). Ties in
the ratio test are broken lexicographically, so that degenerate problems do not cycle.

The tableau is condensed: n rows of basic unknowns, n + 1 columns of nonbasic ones and the constants. Its entries are
made of order one beforehand by the symmetric scaling D M D, so that absolute pivot tolerances have a meaning and the
path does not depend on the units. The basis found is solved again with the original data.

Redundant contacts that are relaxed lead the path through nearly singular bases: more contacts than the body has
degrees of freedom make a block of M of the size of the compliance, and tableau entries of its inverse, 1e6 to 1e10.
The constants lose as many digits, while forces that symmetry makes equal differ by less; a basic unknown below zero
by rounding, divided by such a pivot, throws the path off, to end on a ray where theory promises a solution. No choice
among pivots mends this, since the path is unique. A path whose end is not a solution is therefore followed again in
twice the precision, which carries all entries to full accuracy; the point it ends on needs no further solve.

The answer is called solved if it passes a test on the original data, whatever the path looked like. A ray is called
a ray if its direction is one of M; where it is not, rounding has won and the problem counts as singular.

Source: C. E. Lemke, Bimatrix equilibrium points and mathematical programming, Management Science 11 (1965); R. W.
Cottle, J.-S. Pang, R. E. Stone, The Linear Complementarity Problem (1992), sections 4.4 and 4.9. Guarantee: ends, in
exact arithmetic, on a solution or a ray; on a solution for P-matrices and strictly copositive ones, for copositive-plus
(PSD among them) and Z-matrices if the problem is feasible, and for copositive M if q^T v >= 0 for every v in SOL(0, M),
which rigid-body data satisfy (Anitescu & Potra 1997). Elsewhere a ray proves nothing. Cost: n^2 per pivot, commonly n
to 3 n pivots, 2^n at worst; a pivot in twice the precision costs four (n = 24) to ten times (n = 100) as much.
"""

import numpy as np
from numba import njit, types

from workbench.kernels import INDICES, MATRIX, SOLVE, VECTOR, put, solve_on_basis, spread
from workbench.solution import Status
from workbench.solvers.base import KernelSolver
from workbench.solvers.bases import backward_error, clip, usable
from workbench.solvers.twofold import less_product, product, quotient

SOLVED = int(Status.SOLVED)
RAY = int(Status.RAY)
ITERATION_LIMIT = int(Status.ITERATION_LIMIT)
SINGULAR = int(Status.SINGULAR)
NOT_FINITE = int(Status.NOT_FINITE)
INACCURATE = int(Status.INACCURATE)

PIVOT, PIVOT_TWICE = 1e-11, 1e-12
"""Smallest pivot in the scaled tableau, relative to its column's largest entry where that exceeds one. What is smaller
may be rounding of the data, which no precision of the path takes away."""
TIE, TIE_TWICE = 1e-12, 1e-21
"""Two rows block together if the second is this near to its bound where the first blocks; constants start within 1.
What is left of the second row's constant moves the others by up to TIE / PIVOT when it is pivoted on in its turn."""
RELATIVE_TIE = 1e-14
"""The same beside the constant itself."""
SAME = 1e-12
"""Two entries are equal in the lexicographic order up to this share of the larger, or of one."""
ACCEPTED = 1e-11
"""Componentwise backward error up to which the final point is called a solution."""
CANCELLED = 1e-13
"""Violation, beside the largest scaled activity of any row, that is taken for rounding of the data. Rows whose q is
what cancellation left over, such as the sliding velocity of a rolling contact, know no better."""
CLOSE = 1e-14
"""The same, above which the path is followed again."""
NEGLIGIBLE = 1e-9
"""Share of the largest entry of a ray's direction up to which an entry counts as zero."""


@njit(types.float64(MATRIX, VECTOR, VECTOR, VECTOR), cache=True)
def scaled_violation(M, q, D, z):
    """Largest D_i |w_i| of the rows where w is wrong, over the largest D_i (|q_i| + sum_j |M_ij z_j|)."""
    worst, largest = 0.0, 0.0
    for i in range(M.shape[0]):
        w, activity = q[i], abs(q[i])
        for j in range(M.shape[0]):
            w += M[i, j] * z[j]
            activity += abs(M[i, j] * z[j])
        worst = max(worst, D[i] * (abs(w) if z[i] > 0.0 else max(0.0, -w)))
        largest = max(largest, D[i] * activity)
    return worst / largest if largest > 0.0 else worst


@njit(types.void(MATRIX, VECTOR), cache=True)
def equilibrate(M, D):
    """A symmetric scaling D (n,): D M D has unit positive diagonal entries, or failing that rows of order one."""
    n = M.shape[0]
    for i in range(n):
        D[i] = 1.0 / np.sqrt(M[i, i]) if M[i, i] > 0.0 else 1.0
    for _ in range(2):
        for i in range(n):
            largest = 0.0
            for j in range(n):
                largest = max(largest, max(abs(M[i, j]), abs(M[j, i])) * D[j])
            if largest > 0.0:
                D[i] /= np.sqrt(D[i] * largest)


@njit(types.void(MATRIX, types.int64, types.int64), cache=True)
def pivot(T, r, c):
    """Exchange the basic unknown of row r with the nonbasic one of column c in the condensed tableau T, in place."""
    n, width = T.shape
    p = T[r, c]
    T[r, c] = 1.0
    for j in range(width):
        T[r, j] /= p
    for i in range(n):
        f = T[i, c]
        if i != r and f != 0.0:
            T[i, c] = 0.0
            for j in range(width):
                T[i, j] -= f * T[r, j]


@njit(types.void(MATRIX, MATRIX, types.int64, types.int64), cache=True)
def pivot_twice(T, low, r, c):
    """The same in twice the precision, the tableau being T + low."""
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


@njit(types.boolean(MATRIX, INDICES, types.int64, types.int64, types.int64), cache=True)
def precedes(T, where, i, r, c):
    """Whether row i of the basis inverse over T[i, c] is lexicographically smaller than row r over T[r, c].

    The basis inverse stands in the columns of the slacks w: a unit column where w is basic, else a column of T.
    """
    for k in range(T.shape[0]):
        place = where[k]
        if place >= 0:
            a = 1.0 / T[i, c] if place == i else 0.0
            b = 1.0 / T[r, c] if place == r else 0.0
        else:
            a, b = T[i, -1 - place] / T[i, c], T[r, -1 - place] / T[r, c]
        if abs(a - b) > SAME * max(1.0, abs(a), abs(b)):
            return a < b
    return False


@njit(types.int64(MATRIX, INDICES, types.int64, types.float64, types.float64), cache=True)
def blocking_row(T, where, c, least_pivot, tie):
    """The row whose basic unknown reaches zero first as the nonbasic one of column c grows; -1 for a ray."""
    n = T.shape[0]
    last = n + 1
    largest = 1.0
    for i in range(n):
        largest = max(largest, abs(T[i, c]))
    smallest = least_pivot * largest
    theta = np.inf
    for i in range(n):
        if T[i, c] > smallest:
            theta = min(theta, max(T[i, last], 0.0) / T[i, c])
    best = -1
    for i in range(n):
        if T[i, c] > smallest and T[i, last] - theta * T[i, c] <= tie + RELATIVE_TIE * T[i, last]:
            if where[2 * n] == i:
                return i
            if best < 0 or precedes(T, where, i, best, c):
                best = i
    return best


@njit(types.UniTuple(types.int64, 2)(MATRIX, MATRIX, INDICES, INDICES, INDICES, INDICES), cache=True)
def follow_path(T, low, basic, nonbasic, where, info):
    """Pivot from the first almost complementary basis until z0 leaves or the path ends.

    Unknowns are numbered w 0..n-1, z n..2n-1, z0 2n; basic (n,) and nonbasic (n+1,) name those of T's rows and
    columns, where (2n+1,) is the row of a basic unknown, -1 - column of a nonbasic one. The tableau is T, or T + low
    in twice the precision unless low is empty. Returns a Status and the column that was to enter last.
    """
    n = T.shape[0]
    twice = low.shape[0] > 0
    least_pivot, tie, most = (PIVOT_TWICE, TIE_TWICE, 100) if twice else (PIVOT, TIE, 10)
    c = n
    # z0 enters where q is least; of equal rows the last keeps the others lexicographically positive.
    r = 0
    for i in range(n):
        if T[i, n + 1] <= T[r, n + 1]:
            r = i
    while info[0] < most * (n + 10):
        if twice:
            pivot_twice(T, low, r, c)
        else:
            pivot(T, r, c)
        info[0] += 1
        leaving, entering = basic[r], nonbasic[c]
        basic[r], nonbasic[c] = entering, leaving
        where[entering], where[leaving] = r, -1 - c
        if leaving == 2 * n:
            return SOLVED, c
        c = -1 - where[leaving + n if leaving < n else leaving - n]
        r = blocking_row(T, where, c, least_pivot, tie)
        if r < 0:
            return RAY, c
    return ITERATION_LIMIT, c


@njit(types.void(MATRIX, VECTOR, VECTOR, types.float64, MATRIX, MATRIX, INDICES, INDICES, INDICES), cache=True)
def first_tableau(M, q, D, unit, T, low, basic, nonbasic, where):
    """Every w basic, every z and z0 at zero: T (+ low) = [-D M D, -1, D q unit]."""
    n = M.shape[0]
    nonbasic[n] = 2 * n
    where[2 * n] = -1 - n
    for i in range(n):
        basic[i], nonbasic[i] = i, n + i
        where[i], where[n + i] = i, -1 - i
        T[i, n] = -1.0
        if low.shape[0] == 0:
            for j in range(n):
                T[i, j] = -D[i] * M[i, j] * D[j]
            T[i, n + 1] = D[i] * q[i] * unit
        else:
            for j in range(n):
                T[i, j], low[i, j] = product(-D[i], M[i, j], D[j])
            low[i, n] = 0.0
            T[i, n + 1], low[i, n + 1] = product(D[i], q[i], unit)


@njit(types.boolean(MATRIX, VECTOR, MATRIX, INDICES, INDICES, types.int64), cache=True)
def is_ray(M, D, T, basic, nonbasic, c):
    """Whether column c of the tableau is a ray of the original data: 0 <= y perp D M D y + y0 >= 0, y not zero.

    y D is the change of z, y0 >= 0 that of z0.
    """
    n = M.shape[0]
    x = np.zeros(2 * n + 1)
    x[nonbasic[c]] = 1.0
    largest = 1.0
    for i in range(n):
        x[basic[i]] = -T[i, c]
        largest = max(largest, abs(T[i, c]))
    small = NEGLIGIBLE * largest
    moves = False
    for i in range(n):
        w, y = x[2 * n], x[n + i]
        for j in range(n):
            w += D[i] * M[i, j] * D[j] * x[n + j]
        if min(w, y) < -small or min(w, y) > small:
            return False
        moves = moves or y > small
    return moves and x[2 * n] >= -small


@njit(SOLVE, cache=True)
def lemke_kernel(M, q, lower, upper, mu, d, z, info):
    """See the module; info[0] counts the pivots of both paths, at most 100 (n + 10). The bounds are 0 and inf."""
    n = M.shape[0]
    info[0] = 0
    spread(np.nan, z)
    if not usable(M, q, lower, upper):
        return NOT_FINITE
    spread(0.0, z)
    least = 0.0
    for i in range(n):
        least = min(least, q[i])
    if least == 0.0:
        return SOLVED
    D, size = np.empty(n), 0.0
    equilibrate(M, D)
    for i in range(n):
        size = max(size, D[i] * abs(q[i]))
    T, low = np.empty((n, n + 2)), np.empty((0, n + 2))
    basic, nonbasic = np.empty(n, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    where = np.empty(2 * n + 1, dtype=np.int64)
    first_tableau(M, q, D, 1.0 / size, T, low, basic, nonbasic, where)
    status, c = follow_path(T, low, basic, nonbasic, where, info)
    active = np.zeros(n, dtype=np.int64)
    for i in range(n):
        if n <= basic[i] < 2 * n:
            active[basic[i] - n] = 1
    violation = np.inf
    if solve_on_basis(M, q, z, active, True) == 0:
        clip(lower, upper, z)
        violation = scaled_violation(M, q, D, z)
        if violation <= CLOSE:
            return SOLVED

    low, end = np.empty((n, n + 2)), np.zeros(n)
    first_tableau(M, q, D, 1.0 / size, T, low, basic, nonbasic, where)
    status, c = follow_path(T, low, basic, nonbasic, where, info)
    for i in range(n):
        if n <= basic[i] < 2 * n:
            end[basic[i] - n] = D[basic[i] - n] * T[i, n + 1] * size
    clip(lower, upper, end)
    violation_at_end = scaled_violation(M, q, D, end)
    if not violation < violation_at_end:
        put(end, z)
        violation = violation_at_end
    if violation <= CANCELLED or backward_error(M, q, lower, upper, z) <= ACCEPTED:
        return SOLVED
    if status == RAY and not is_ray(M, D, T, basic, nonbasic, c):
        return SINGULAR
    return INACCURATE if status == SOLVED else status


SOLVER = KernelSolver(
    name="lemke",
    kernel=lemke_kernel,
    solves=frozenset({"LCP"}),
    guaranteed_for="P; strictly copositive; feasible copositive-plus, PSD, Z; copositive with q^T v >= 0 on SOL(0, M)",
    source="Lemke 1965; Cottle, Pang & Stone 1992, sections 4.4 and 4.9",
)
