"""Lemke's complementary pivoting with a covering vector, for LCPs.

The artificial unknown z0 is added to every row of w = M z + q, driven up until no w is negative, and the method then
follows the path of almost complementary bases until z0 leaves (a solution) or no row blocks (a secondary ray). Ties in
the ratio test are broken lexicographically, so that degenerate problems do not cycle.

The tableau is condensed: n rows of basic unknowns, n + 1 columns of nonbasic ones and the constants. Its entries are
made of order one beforehand by the symmetric scaling D M D, so that absolute pivot tolerances have a meaning and the
path does not depend on the units. The basis found is solved again with the original data, LU and one step of
refinement; where that basis is singular the tableau's own point stands. The answer is called solved if it passes a
test on the original data, whatever the path looked like.

Source: C. E. Lemke, Bimatrix equilibrium points and mathematical programming, Management Science 11 (1965); R. W.
Cottle, J.-S. Pang, R. E. Stone, The Linear Complementarity Problem (1992), sections 4.4 and 4.9. Guarantee: ends, in
exact arithmetic, on a solution or a ray; on a solution for P-matrices and strictly copositive ones, for copositive-plus
(PSD among them) and Z-matrices if the problem is feasible, and for copositive M if q^T v >= 0 for every v in SOL(0, M),
which rigid-body data satisfy (Anitescu & Potra 1997). Elsewhere a ray proves nothing. Cost: n^2 per pivot, commonly n
to 3 n pivots, 2^n at worst.
"""

import numpy as np
from numba import njit, types

from workbench.kernels import INDICES, MATRIX, SOLVE, VECTOR, put, solve_on_basis, spread
from workbench.solution import Status
from workbench.solvers.base import KernelSolver
from workbench.solvers.bases import backward_error, clip, usable

SOLVED = int(Status.SOLVED)
RAY = int(Status.RAY)
ITERATION_LIMIT = int(Status.ITERATION_LIMIT)
NOT_FINITE = int(Status.NOT_FINITE)
INACCURATE = int(Status.INACCURATE)

PIVOT = 1e-11
"""Smallest pivot in the scaled tableau, relative to its column's largest entry where that exceeds one."""
TIE = 1e-12
"""Two rows block together if the second is this near to its bound where the first blocks; constants start within 1."""
ACCEPTED = 1e-11
"""Componentwise backward error up to which the final point is called a solution."""


CANCELLED = 1e-13
"""Violation, beside the largest scaled activity of any row, that is taken for rounding of the data. Rows whose q is
what cancellation left over, such as the sliding velocity of a rolling contact, know no better."""


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
        if abs(a - b) > TIE * max(1.0, abs(a), abs(b)):
            return a < b
    return False


@njit(types.int64(MATRIX, INDICES, types.int64), cache=True)
def blocking_row(T, where, c):
    """The row whose basic unknown reaches zero first as the nonbasic one of column c grows; -1 for a ray."""
    n = T.shape[0]
    last = n + 1
    largest = 1.0
    for i in range(n):
        largest = max(largest, abs(T[i, c]))
    smallest = PIVOT * largest
    theta = np.inf
    for i in range(n):
        if T[i, c] > smallest:
            theta = min(theta, max(T[i, last], 0.0) / T[i, c])
    best = -1
    for i in range(n):
        if T[i, c] > smallest and T[i, last] - theta * T[i, c] <= TIE * max(1.0, T[i, last]):
            if where[2 * n] == i:
                return i
            if best < 0 or precedes(T, where, i, best, c):
                best = i
    return best


@njit(types.int64(MATRIX, INDICES, INDICES, INDICES, INDICES), cache=True)
def follow_path(T, basic, nonbasic, where, info):
    """Pivot from the first almost complementary basis until z0 leaves or the path ends; returns a Status.

    Unknowns are numbered w 0..n-1, z n..2n-1, z0 2n; basic (n,) and nonbasic (n+1,) name those of T's rows and
    columns, where (2n+1,) is the row of a basic unknown, -1 - column of a nonbasic one.
    """
    n = T.shape[0]
    c = n
    # z0 enters where q is least; of equal rows the last keeps the others lexicographically positive.
    r = 0
    for i in range(n):
        if T[i, n + 1] <= T[r, n + 1]:
            r = i
    while info[0] < 100 * (n + 10):
        pivot(T, r, c)
        info[0] += 1
        leaving, entering = basic[r], nonbasic[c]
        basic[r], nonbasic[c] = entering, leaving
        where[entering], where[leaving] = r, -1 - c
        if leaving == 2 * n:
            return SOLVED
        c = -1 - where[leaving + n if leaving < n else leaving - n]
        r = blocking_row(T, where, c)
        if r < 0:
            return RAY
    return ITERATION_LIMIT


@njit(SOLVE, cache=True)
def lemke_kernel(M, q, lower, upper, mu, d, z, info):
    """See the module; info[0] counts pivots, at most 100 (n + 10). The bounds are those of an LCP, 0 and inf."""
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
    T = np.empty((n, n + 2))
    basic, nonbasic = np.empty(n, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    where = np.empty(2 * n + 1, dtype=np.int64)
    nonbasic[n] = 2 * n
    where[2 * n] = -1 - n
    for i in range(n):
        basic[i], nonbasic[i] = i, n + i
        where[i], where[n + i] = i, -1 - i
        for j in range(n):
            T[i, j] = -D[i] * M[i, j] * D[j]
        T[i, n], T[i, n + 1] = -1.0, D[i] * q[i] / size
    status = follow_path(T, basic, nonbasic, where, info)

    active, on_path = np.zeros(n, dtype=np.int64), np.zeros(n)
    for i in range(n):
        if n <= basic[i] < 2 * n:
            active[basic[i] - n] = 1
            on_path[basic[i] - n] = D[basic[i] - n] * size * T[i, n + 1]
    error = np.inf
    for _ in range(2):
        if solve_on_basis(M, q, z, active, True):
            break
        clip(lower, upper, z)
        error = backward_error(M, q, lower, upper, z)
        if error > ACCEPTED and scaled_violation(M, q, D, z) <= CANCELLED:
            error = 0.0
        if error <= ACCEPTED:
            break
        # A basic unknown below zero shows a degenerate, nearly singular basis; without it the rest is well determined.
        for i in range(n):
            active[i] = 1 if z[i] > 0.0 else 0
    if error > ACCEPTED:
        clip(lower, upper, on_path)
        error_on_path = backward_error(M, q, lower, upper, on_path)
        if error_on_path < error:
            put(on_path, z)
            error = error_on_path
    if error <= ACCEPTED:
        return SOLVED
    return INACCURATE if status == SOLVED else status


SOLVER = KernelSolver(
    name="lemke",
    kernel=lemke_kernel,
    solves=frozenset({"LCP"}),
    guaranteed_for="P; strictly copositive; feasible copositive-plus, PSD, Z; copositive with q^T v >= 0 on SOL(0, M)",
    source="Lemke 1965; Cottle, Pang & Stone 1992, sections 4.4 and 4.9",
)
