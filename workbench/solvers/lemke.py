"""Lemke's complementary pivoting with a covering vector, for LCPs.

The artificial unknown z0 is added to the rows of w = M z + q with weights d > 0, as far as no w is negative, and the
method then follows the path of almost complementary bases until z0 leaves (a solution) or no row blocks (a secondary
ray). `lemke_path` follows it on a reduced basis, `lemke_small` in the tableau of a small problem, both with ties broken
so that degenerate problems do not cycle.

The data are made of order one beforehand by the symmetric scaling D M D, so that absolute pivot tolerances have a
meaning and the path does not depend on the units. z on entry is a guess: if it is a solution it stays, and if
the basis of its positive entries belongs to one, that is the answer (`guessed`); else the path starts from nothing.
Where solutions are not unique the answer may therefore depend on the guess; z = 0 is none. Problems of order up to
`lemke_small.SMALL` are solved in the time that checking a guess takes, and take none.

Redundant contacts that are relaxed lead the path through nearly singular bases: more contacts than the body has
degrees of freedom make a block of M of the size of the compliance, and tableau entries of its inverse, 1e6 to 1e10.
The constants lose as many digits, while forces that symmetry makes equal differ by less; a basic unknown below zero
by rounding, divided by such a pivot, throws the path off, to end on a ray where theory promises a solution. No choice
among pivots mends this, since the path is unique. A path whose end is not a solution is therefore followed again: with
other covering vectors, hence elsewhere, and then in twice the precision, which carries all entries to full accuracy.

The answer is called solved if it passes a test on the original data, whatever the path looked like. A ray is called
a ray if its direction is one of M; where it is not, rounding has won and the problem counts as singular.

Source: C. E. Lemke, Bimatrix equilibrium points and mathematical programming, Management Science 11 (1965); R. W.
Cottle, J.-S. Pang, R. E. Stone, The Linear Complementarity Problem (1992), sections 4.4 and 4.9. Guarantee: ends, in
exact arithmetic, on a solution or a ray; on a solution for P-matrices and strictly copositive ones, for copositive-plus
(PSD among them) and Z-matrices if the problem is feasible, and for copositive M if q^T v >= 0 for every v in SOL(0, M),
which rigid-body data satisfy (Anitescu & Potra 1997). Elsewhere a ray proves nothing. Cost: m (n + m) per pivot, m the
number of basic z's, commonly n / 2 to 2 n pivots, 2^n at worst.
"""

import numpy as np
from numba import types

from workbench.compiling import kernel
from workbench.kernels import FAST, FASTER, INDICES, MATRIX, SOLVE, VECTOR, address, put, solve_on_basis, spread
from workbench.solution import Status
from workbench.solvers.base import KernelSolver
from workbench.solvers.bases import backward_error, usable
from workbench.solvers.lemke_path import follow_path, room
from workbench.solvers.lemke_small import FLOAT_ROOM, INTEGER_ROOM, SMALL, power_of_two, solve_small
from workbench.solvers.lemke_twice import follow_path_twice

SOLVED = int(Status.SOLVED)
RAY = int(Status.RAY)
SINGULAR = int(Status.SINGULAR)
NOT_FINITE = int(Status.NOT_FINITE)
INACCURATE = int(Status.INACCURATE)

ACCEPTED = 1e-11
"""Componentwise backward error up to which the final point is called a solution."""
CANCELLED = 1e-13
"""Violation, beside the largest scaled activity of any row, that is taken for rounding of the data. Rows whose q is
what cancellation left over, such as the sliding velocity of a rolling contact, know no better."""
CLOSE = 1e-14
"""The same, above which the path is followed again."""
NEGLIGIBLE = 1e-9
"""Share of the largest entry of a ray's direction up to which an entry counts as zero."""
EARLY = 0.1
"""Share of the covering vector on unknowns that take from no budget."""


@kernel(types.float64(MATRIX, VECTOR, VECTOR, VECTOR), **FAST)
def scaled_violation(M, q, D, z):
    """Largest D_i |w_i| of the rows where w is wrong, over the largest D_i (|q_i| + sum_j |M_ij z_j|)."""
    n = M.shape[0]
    worst, largest = 0.0, 0.0
    for i in range(n):
        w, activity = q[i], abs(q[i])
        for j in range(n):
            term = M[i, j] * z[j]
            w += term
            activity += abs(term)
        wrong = D[i] * (abs(w) if z[i] > 0.0 else max(0.0, -w))
        # A nan must not pass for nothing wrong.
        if not wrong <= worst:
            worst = wrong
        largest = max(largest, D[i] * activity)
    return worst / largest if largest > 0.0 else worst


@kernel(types.void(MATRIX, VECTOR, VECTOR), **FASTER)
def equilibrate(M, D, largest):
    """A symmetric scaling D (n,): D M D has unit positive diagonal entries, or failing that rows of order one."""
    n = M.shape[0]
    for i in range(n):
        D[i] = 1.0 / np.sqrt(M[i, i]) if M[i, i] > 0.0 else 0.0
    for i in range(n):
        if not M[i, i] > 0.0:
            met = 0.0
            for j in range(n):
                if M[j, j] > 0.0:
                    met = max(met, max(abs(M[i, j]), abs(M[j, i])) * D[j])
            D[i] = 1.0 / met if met > 0.0 else 1.0
    # Largest entries of rows and columns; of unit diagonals with smaller entries nothing is left to do.
    for _ in range(3):
        for j in range(n):
            largest[j] = 0.0
        for i in range(n):
            met, f = 0.0, D[i]
            for j in range(n):
                a = abs(M[i, j])
                row, column = a * D[j], a * f
                met = row if row > met else met
                largest[j] = column if column > largest[j] else largest[j]
            largest[i] = met if met > largest[i] else largest[i]
        done = True
        for i in range(n):
            size = D[i] * largest[i]
            if size > 2.0 or (0.0 < size < 0.5 and not M[i, i] > 0.0):
                D[i] /= np.sqrt(size)
                done = False
        if done:
            break


@kernel(types.void(MATRIX, VECTOR), **FAST)
def covering_vector(M, d):
    """The covering vector d (n,) in scaled units: 1 for unknowns that take from a budget, `EARLY` for the others.

    A budget is a row without a diagonal entry; friction forces take from that of their contact, so that normal forces
    find their places first and friction joins in. Any d > 0 will do.
    """
    n = M.shape[0]
    budgets = False
    for i in range(n):
        d[i] = EARLY
    for i in range(n):
        if M[i, i] == 0.0:
            budgets = True
            for j in range(n):
                d[j] = 1.0 if M[i, j] < 0.0 else d[j]
    if not budgets:
        for i in range(n):
            d[i] = 1.0


@kernel(types.boolean(MATRIX, VECTOR, VECTOR, INDICES, VECTOR, types.int64))
def is_ray(M, D, d, basic, t, entering):
    """Whether the column t (n) of the entering unknown is a ray of the original data.

    That is 0 <= y perp D M D y + y0 d >= 0, y not zero; y D is the change of z, y0 >= 0 that of z0.
    """
    n = M.shape[0]
    y, y0, largest, moves = np.zeros(n), 0.0, 1.0, False
    if entering >= 0:
        y[entering] = 1.0
    for i in range(n):
        largest = max(largest, abs(t[i]))
        if basic[i] == n:
            y0 = t[i]
        elif basic[i] >= 0:
            y[basic[i]] = t[i]
    small = NEGLIGIBLE * largest
    for i in range(n):
        w = y0 * d[i]
        for j in range(n):
            w += D[i] * M[i, j] * D[j] * y[j]
        if min(w, y[i]) < -small or min(w, y[i]) > small:
            return False
        moves = moves or y[i] > small
    return moves and y0 >= -small


@kernel(types.float64(MATRIX, VECTOR, VECTOR, VECTOR, INDICES))
def guessed(M, q, D, z, active):
    """The violation of z, where it is a guess (finite, not zero): as it is, or solved anew on its support, in place."""
    n, some = M.shape[0], False
    for i in range(n):
        if not abs(z[i]) < np.inf:
            return np.inf
        active[i] = 1 if z[i] > 0.0 else 0
        z[i] = max(z[i], 0.0)
        some = some or z[i] > 0.0
    if not some:
        return np.inf
    violation = scaled_violation(M, q, D, z)
    if violation > CLOSE and solve_on_basis(M, q, z, active, True) == 0:
        for i in range(n):
            z[i] = max(z[i], 0.0)
        violation = scaled_violation(M, q, D, z)
    return violation


@kernel(types.void(VECTOR, types.float64, INDICES, VECTOR, VECTOR))
def take(D, size, basic, b, z):
    """The end of a path as z: D b size where a z is basic, at least zero, and zero elsewhere."""
    n = z.shape[0]
    spread(0.0, z)
    for i in range(n):
        if 0 <= basic[i] < n:
            z[basic[i]] = max(D[basic[i]] * b[i] * size, 0.0)


@kernel(types.int64(MATRIX, VECTOR, VECTOR, types.float64, VECTOR, VECTOR, INDICES))
def twice(M, q, D, size, d, z, info):
    """The path in twice the precision, its end in z; a Status."""
    n = M.shape[0]
    basic, b, t = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n)
    status, entering = follow_path_twice(M, q, D, 1.0 / size, d, 100 * (n + 10), b, basic, t, info)
    take(D, size, basic, b, z)
    if status == RAY and not is_ray(M, D, d, basic, t, entering):
        return SINGULAR
    return INACCURATE if status == SOLVED else status


@kernel(SOLVE)
def lemke_kernel(M, q, lower, upper, mu, d, z, info):
    """See the module; z on entry is the guess, zero for none; info[0] counts the pivots of all paths."""
    n = M.shape[0]
    info[0] = 0
    if not usable(M, q, lower, upper):
        spread(np.nan, z)
        return NOT_FINITE
    if n <= SMALL:
        small, numbers = np.empty(FLOAT_ROOM), np.empty(INTEGER_ROOM, dtype=np.int64)
        found = solve_small(n, address(M), address(q), address(z), address(small), address(numbers), address(info))
        # The room must outlive the call.
        small[0], numbers[0] = 0.0, 0
        if found:
            return SOLVED
    F, L = room(n)
    D, cover, best, basic, least, size = F[2 * n + 2], F[2 * n + 3], F[2 * n + 11, :n], L[n + 2], 0.0, 0.0
    equilibrate(M, D, cover)
    if guessed(M, q, D, z, basic) <= CLOSE:
        return SOLVED
    spread(0.0, z)
    for i in range(n):
        least, size = min(least, q[i]), max(size, D[i] * abs(q[i]))
    if least == 0.0:
        return SOLVED
    size = power_of_two(size)
    covering_vector(M, cover)
    violation = np.inf
    for attempt in range(3):
        status, _ = follow_path(M, q, 1.0 / size, F, L, 10 * (n + 10), info)
        if status == SOLVED:
            take(D, size, basic, F[2 * n + 4], z)
            found = scaled_violation(M, q, D, z)
            if found <= CLOSE:
                return SOLVED
            if found < violation:
                violation = found
                put(z, best)
        for i in range(n):
            cover[i] = 1.0 + 0.5 * (i if attempt == 0 else n - i) / n
    status = twice(M, q, D, size, cover, z, info)
    if not scaled_violation(M, q, D, z) < violation:
        put(best, z)
    if scaled_violation(M, q, D, z) <= CANCELLED or backward_error(M, q, lower, upper, z) <= ACCEPTED:
        return SOLVED
    return status


SOLVER = KernelSolver(
    name="lemke",
    kernel=lemke_kernel,
    solves=frozenset({"LCP"}),
    guaranteed_for="P; strictly copositive; feasible copositive-plus, PSD, Z; copositive with q^T v >= 0 on SOL(0, M)",
    source="Lemke 1965; Cottle, Pang & Stone 1992, sections 4.4 and 4.9",
)
