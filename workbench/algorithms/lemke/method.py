"""Lemke's complementary pivoting with a covering vector, for LCPs.

The artificial unknown z0 is added to the rows of w = M z + q with weights d > 0, just large enough that no w is
negative, and the method then follows the path of almost complementary bases until z0 leaves (a solution) or no row
blocks (a secondary ray). `path` follows it on a reduced basis, `small` in the tableau of a small problem, both
with ties broken so that degenerate problems do not cycle.

The data are first scaled to order one by the symmetric scaling D M D, so that absolute pivot tolerances have a meaning
and the path does not depend on the units. For orders beyond the tableau's, M is stored by the nonzeros of its rows
(`sparse_rows`), read once.

z on entry is a guess: if it is a solution it is returned, and if the basis of its positive entries belongs to one, that
is the result (`guessed`); otherwise the path starts from zero. Resting or sticking bodies have unknowns that are basic
and zero, without which the basis is lost; they are returned as `BASIC_ZERO`, so that the positive entries of a solution
are its basis. If solutions are not unique the result may therefore depend on the guess; z = 0 is no guess. Problems of
order up to `workspace.SMALL` are solved in the time of checking a guess, and ignore it.

Redundant contacts with compliance lead the path through nearly singular bases: more contacts than the body has degrees
of freedom make a block of M of the size of the compliance, and tableau entries of its inverse, 1e6 to 1e10. The
constants lose as many digits, while forces that are equal by symmetry differ by less; a basic unknown below zero by
round-off, divided by such a pivot, throws the path off, and it ends on a ray where theory guarantees a solution. No
choice of pivots avoids this, since the path is unique. If the end of a path is not a solution, its z's are first solved
for again on their support: often z0 is zero up to round-off, and the basis only too nearly singular to let it leave. If
that fails, the path is followed again with other covering vectors, hence elsewhere, and then in double-double
precision, which keeps all entries to full accuracy, also with several covering vectors; the end with the least residual
is returned.

A result counts as solved if it passes a test on the original data, whatever happened on the path. Row errors are
relative to the rows' terms; if these are large compared with q, far out along a direction in which nothing moves, the
problem's own residual must agree. RAY is claimed only if the ray's direction, checked with M, indicates that there is
no solution (`is_ray`); otherwise round-off is to blame and the problem counts as singular.

Source: C. E. Lemke, Bimatrix equilibrium points and mathematical programming, Management Science 11 (1965); R. W.
Cottle, J.-S. Pang, R. E. Stone, The Linear Complementarity Problem (1992), sections 4.4 and 4.9. Guarantee: ends, in
exact arithmetic, on a solution or a ray; on a solution for P-matrices and strictly copositive ones, for copositive-plus
(PSD among them) and Z-matrices if the problem is feasible, and for copositive M if q^T v >= 0 for every v in SOL(0, M),
which rigid-body data satisfy (Anitescu & Potra 1997). Otherwise a ray proves nothing. Cost: m (n + m) per pivot, m the
number of basic z's, commonly n / 2 to 2 n pivots, 2^n at worst.
"""

import numpy as np
from numba import types

from workbench.algorithms.base import EXACT, Starting
from workbench.algorithms.bases import backward_error, usable
from workbench.algorithms.lemke.double_double import follow_path_twice
from workbench.algorithms.lemke.path import follow_path, general, lay_columns
from workbench.algorithms.lemke.small import power_of_two, solve_small
from workbench.algorithms.lemke.sparse_rows import (
    BASIC_ZERO,
    CLOSE,
    equilibrate,
    nonzeros,
    read,
    solve_on_support,
    violation,
)
from workbench.algorithms.lemke.workspace import (
    SMALL,
    TABLEAU_NUMBERS,
    WORKSPACE,
    numbers_for,
    place_tableau,
    place_workspace,
)
from workbench.engine.compiling import kernel
from workbench.engine.kernels import FAST, INDICES, MATRIX, SOLVE, VECTOR, address, copy, is_finite, set_all
from workbench.engine.scratch import scratch
from workbench.problems.residual import FAR_SCALED, bounded_residual
from workbench.problems.solution import Status

SOLVED = int(Status.SOLVED)
RAY = int(Status.RAY)
SINGULAR = int(Status.SINGULAR)
NOT_FINITE = int(Status.NOT_FINITE)
INACCURATE = int(Status.INACCURATE)

ACCEPTED = 1e-11
"""Largest componentwise backward error of a solution."""
CANCELLED = 1e-13
"""Violation, relative to the largest scaled activity of any row, that counts as round-off of the data. Rows whose q
results from cancellation, such as the sliding velocity of a rolling contact, are not more accurate."""
CLEAR = 1e-12
"""Residual at the end of a path below which no further path is tried."""
NEGLIGIBLE = 1e-9
"""Share of the largest entry of a ray's direction below which an entry counts as zero."""
EARLY = 0.1
"""Weight in the covering vector of unknowns that do not draw on a budget."""
PATHS, PRECISE_PATHS = 3, 4
"""Number of paths in doubles, then in double-double precision, the first with the last covering vector again."""
FIRST_PIVOT, LATER_PIVOT = 1e-12, 1e-14
"""Smallest pivots of the paths in double-double precision, relative to the largest entry of their column. Stacks of
redundant contacts with a mass ratio of 1e6 need pivots of 3e-17 in exact arithmetic, compared with round-off of
1e-16."""


@kernel(types.void(MATRIX, types.int64, WORKSPACE), **FAST)
def covering_vector(M, attempt, work):
    """Fill the covering vector d in scaled units: about 1 for unknowns that draw on a budget, `EARLY` for the others.

    A budget is a row without a diagonal entry; friction forces draw on that of their contact, so that normal forces are
    determined first and friction follows. Any d > 0 is valid. In general position, and different in each attempt, it
    separates rows that are equal by symmetry: of 120 towers of 10 to 100 contacts none needs a second attempt, with
    equal entries eleven do. Without budgets the first attempt has d = 1, as in textbooks.
    """
    n = M.shape[0]
    starts, columns, values = nonzeros(work)
    d, p = work.d, work.x
    budgets = False
    for i in range(n):
        d[i] = EARLY
    for i in range(n):
        if M[i, i] == 0.0:
            budgets = True
            for k in range(starts[i], starts[i + 1]):
                if values[k] < 0.0:
                    d[columns[k]] = 1.0
    # Seed 1 is used by the tie breaker.
    general(n, 2 + attempt, address(p))
    for i in range(n):
        d[i] = d[i] * p[i] if budgets else (p[i] if attempt else 1.0)


@kernel(types.boolean(MATRIX, VECTOR, VECTOR, types.float64, VECTOR, INDICES, VECTOR, types.int64))
def is_ray(M, q, D, unit, d, basic, t, entering):
    """Return whether the column t (n) of the entering unknown is a ray of the original data that shows infeasibility.

    A ray is 0 <= y perp D M D y + y0 d >= 0, y not zero; y D is the change of z, y0 >= 0 that of z0. If M is
    copositive, a ray at the end of Lemke's path has unit q^T D y < 0. Directions without this and with y0 = 0, such as
    opposing forces of redundant contacts, occur when pivots were mistaken for round-off.
    """
    n = M.shape[0]
    y, y0, largest, moves, fall = np.zeros(n), 0.0, 1.0, False, 0.0
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
        fall -= D[i] * q[i] * unit * y[i]
    return moves and y0 >= -small and (y0 > small or fall > small)


@kernel(types.boolean(VECTOR, VECTOR))
def bounded(lower, upper):
    """Return whether bounds (n,) allow every unknown a finite value."""
    fine = True
    for i in range(lower.shape[0]):
        fine &= (lower[i] < np.inf) & (upper[i] > -np.inf)
    return fine


@kernel(types.float64(VECTOR, VECTOR, WORKSPACE))
def guessed(q, z, work):
    """Return the violation of z if it is a guess (finite, not zero): as given, or solved on its support, in place."""
    n, some = z.shape[0], False
    for i in range(n):
        if not abs(z[i]) < np.inf:
            return np.inf
        z[i] = max(z[i], 0.0)
        some = some or z[i] > 0.0
    if not some:
        return np.inf
    found = violation(q, z, work)
    return found if found <= CLOSE else solve_on_support(q, z, work)


@kernel(types.void(VECTOR, types.float64, INDICES, VECTOR, VECTOR))
def take(D, size, basic, b, z):
    """Convert the end of a path to z: D b size if a z is basic, at least `BASIC_ZERO`, and zero otherwise."""
    n = z.shape[0]
    set_all(0.0, z)
    for i in range(n):
        if 0 <= basic[i] < n:
            z[basic[i]] = max(D[basic[i]] * b[i] * size, BASIC_ZERO)


@kernel(types.boolean(MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR))
def is_verified(M, q, lower, upper, D, z):
    """Return whether z (n,), whose violation is at most `CLOSE`, also passes the problem's own test.

    It does unless z is large compared with q, in scaled units. Far out along a direction in which nothing moves, such
    as opposing forces of redundant contacts, row errors are negligible relative to the rows' terms.
    """
    size, largest = 0.0, 0.0
    for i in range(z.shape[0]):
        size, largest = max(size, D[i] * abs(q[i])), max(largest, z[i] / D[i])
    return largest <= FAR_SCALED * size or bounded_residual(M, q, lower, upper, z) <= EXACT


@kernel(types.int64(MATRIX, VECTOR, VECTOR, types.float64, VECTOR, types.float64, VECTOR, INDICES))
def double_double(M, q, D, size, d, smallest, z, info):
    """Follow the path in double-double precision, its end in z; returns a Status. `smallest` is the smallest pivot."""
    n = M.shape[0]
    basic, b, t = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n)
    status, entering = follow_path_twice(M, q, D, 1.0 / size, d, smallest, b, basic, t, info)
    take(D, size, basic, b, z)
    if status == RAY and not is_ray(M, q, D, 1.0 / size, d, basic, t, entering):
        return SINGULAR
    return INACCURATE if status == SOLVED else status


@kernel(types.float64(types.float64, VECTOR, types.float64, VECTOR))
def keep_better(found, z, least, best):
    """Return the smaller of two residuals and keep its point in best (n): `found` belongs to z (n), `least` to best."""
    if found < least:
        copy(z, best)
    return min(found, least)


@kernel(types.int64(MATRIX, VECTOR, VECTOR, VECTOR, WORKSPACE, VECTOR, INDICES))
def solve_large(M, q, lower, upper, work, z, info):
    """Solve an LCP of any order (see `lemke_kernel`)."""
    n, D = M.shape[0], work.D
    if not (bounded(lower, upper) and is_finite(q) and read(M, work)):
        set_all(np.nan, z)
        return NOT_FINITE
    equilibrate(M, work)
    if guessed(q, z, work) <= CLOSE and is_verified(M, q, lower, upper, D, z):
        return SOLVED
    set_all(0.0, z)
    least, size = 0.0, 0.0
    for i in range(n):
        least, size = min(least, q[i]), max(size, D[i] * abs(q[i]))
    if least == 0.0:
        return SOLVED
    size = power_of_two(size)
    lay_columns(n, work)
    best, least = np.zeros(n), np.inf
    for attempt in range(PATHS):
        covering_vector(M, attempt, work)
        status, _ = follow_path(M, q, 1.0 / size, work, 10 * (n + 10), info)
        take(D, size, work.basic, work.b, z)
        if violation(q, z, work) <= CLOSE and is_verified(M, q, lower, upper, D, z):
            return SOLVED
        if status == SOLVED:
            least = keep_better(bounded_residual(M, q, lower, upper, z), z, least, best)
        # A ray with z0 zero up to round-off has still found the basis.
        if solve_on_support(q, z, work) <= CLOSE and is_verified(M, q, lower, upper, D, z):
            return SOLVED
    smallest, solved = FIRST_PIVOT, False
    for attempt in range(PATHS - 1, PATHS - 1 + PRECISE_PATHS):
        covering_vector(M, attempt, work)
        status = double_double(M, q, D, size, work.d, smallest, z, info)
        found = bounded_residual(M, q, lower, upper, z)
        least = keep_better(found, z, least, best)
        if violation(q, z, work) <= CANCELLED or backward_error(M, q, lower, upper, z) <= ACCEPTED:
            status = SOLVED if found <= EXACT else INACCURATE
        solved = solved or status == SOLVED
        if status == RAY or (status == SOLVED and found <= CLEAR):
            break
        smallest = LATER_PIVOT
    copy(best, z)
    return SOLVED if solved else status


@kernel(SOLVE)
def lemke_kernel(M, q, lower, upper, mu, d, z, info):
    """Solve an LCP (see the module); z on entry is the guess, zero for none; info[0] counts the pivots of all paths."""
    n = M.shape[0]
    info[0] = 0
    if n <= SMALL:
        if not usable(M, q, lower, upper):
            set_all(np.nan, z)
            return NOT_FINITE
        small = place_tableau(address(scratch(TABLEAU_NUMBERS)))
        if solve_small(n, address(M), address(q), address(z), small, address(info)):
            return SOLVED
    numbers = numbers_for(n)
    status = solve_large(M, q, lower, upper, place_workspace(address(numbers), n + 1), z, info)
    # The numbers must stay alive until the end of the call.
    numbers[0] = 0.0
    return status


SOLVER = Starting(
    name="lemke",
    kernel=lemke_kernel,
    solves=frozenset({"LCP"}),
    guaranteed_for="P; strictly copositive; feasible copositive-plus, PSD, Z; copositive with q^T v >= 0 on SOL(0, M)",
    source="Lemke 1965; Cottle, Pang & Stone 1992, sections 4.4 and 4.9",
)
