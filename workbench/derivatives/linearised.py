"""The law linearised at a solution: one linear system, and between modes a complementarity problem of the same kind.

Every set moves its impulse along the columns of R and satisfies its law by the rows of L, with a curvature H in
sliding:

    dx = R y + p,     S y = b - L^T (r + A p),     S = L^T A R + H,     r = dA x + dq

p and b are the direct effect of a change of friction coefficients and bounds. Between modes some y are bounded, and
those of a contact with neither force nor velocity lie in its cone: F = S y + L^T (r + A p) - b complementary to y. A
solution of this problem is the one-sided derivative. For contacts, by n and t, with e the direction of sliding and
k = mu for associated flow, 0 for Coulomb's law:

    sticks     R = L = 1
    slides     R = (1, -mu e), (0, mu p_n t)     L = (1, -k e), (0, mu p_n t)     H = (0, mu p_n |u_t|)
               p = (0, -p_n e) dmu, b = (|u_t| dmu, 0) for associated flow
    on edge    as slides, and y >= 0 along (0, e)
    touches    (1, -mu e), y >= 0

Sources: Robinson (Math. Oper. Res. 5, 1980); Bonnans & Ramirez (Math. Program. 104, 2005) for cones; Beremlijski,
Haslinger, Outrata & Pathó (SIAM J. Optim. 20, 2009) for Coulomb's law.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from workbench.derivatives.columns import clear, put_row
from workbench.derivatives.elimination import factorise, find_kernel, solve_one, solve_transposed
from workbench.derivatives.modes import (
    AT_LOWER,
    AT_UPPER,
    EDGE,
    FIXED,
    INSIDE,
    LEAVES_LOWER,
    LEAVES_UPPER,
    LOOSE,
    MODES,
    NO_PLACE,
    NOTHING,
    OPEN,
    SLIDES,
    STICKS,
    TOUCHES,
    Place,
    SetMode,
    find_modes,
    is_between,
    places,
)  # fmt: skip
from workbench.derivatives.system import SYSTEM, System
from workbench.engine.compiling import kernel
from workbench.engine.kernels import FAST, FASTER, INDICES, MATRIX, copy, lu_factor, lu_solve, set_all
from workbench.engine.lanes import LANES
from workbench.engine.scratch import VECTOR, scratch, scratch_indices, scratch_matrix
from workbench.problems.islands import READ, READ_INDICES
from workbench.problems.mixed import MixedNCP
from workbench.problems.problem import OverMatrix, Problem, SetBySet
from workbench.problems.sets import APART, ASSOCIATED, DISC, NO_CONE, Sets
from workbench.support.arrays import Array
from workbench.support.errors import DataError

SINGULAR = 1e-12
"""S counts as singular if the ratio of smallest to largest singular value of the equilibrated S is below this."""
LARGEST = 3000
"""Largest number of unknowns for which A is formed."""
SAME = 1e-9
"""Share of the largest terms that it may have up to which the change of a velocity is zero."""
SMALL = 1e-2
"""Share of the largest impulse that rows are tried to bear which need not (`share_load`)."""

I64, F64 = types.int64, types.float64


@kernel(I64(SYSTEM, I64, I64, I64, I64), linked=True)
def begin_column(s, y, k, first, end):
    """Set column y of R and L, zero so far, in rows first : end of the set that begins at k; return the next column."""
    R, L = s.R, s.L
    for a in range(s.x.shape[0]):
        R[y, a] = L[y, a] = 0.0
    s.begin[y], s.end[y], s.H[y], s.low[y], s.high[y] = first, end, 0.0, -np.inf, np.inf
    s.law[y], s.mu_y[y], s.begins[y], s.loose[y] = NO_CONE, 0.0, 1, -1
    return y + 1


@kernel(I64(SYSTEM))
def find_columns(s):
    """Compute R, L, H and the bounds of all y, after `find_modes`; return the number of y."""
    Y = 0
    for k in range(s.x.shape[0]):
        mode, i = s.mode[k], s.set_of[k]
        if mode in (NO_PLACE, AT_LOWER, AT_UPPER, FIXED, OPEN):
            continue
        first, end, law, mu = s.first[i], s.first[i + 1], s.cone[i], s.mu[i]
        if law == NO_CONE:
            Y = begin_column(s, Y, k, k, k + 1)
            s.R[Y - 1, k] = s.L[Y - 1, k] = 1.0
            s.low[Y - 1] = 0.0 if mode == LEAVES_LOWER else -np.inf
            s.high[Y - 1] = 0.0 if mode == LEAVES_UPPER else np.inf
            s.loose[Y - 1] = k if mode == LOOSE else -1
        elif mode == STICKS:
            for a in range(first, end):
                Y = begin_column(s, Y, k, a, a + 1)
                s.R[Y - 1, a] = s.L[Y - 1, a] = 1.0
        elif mode == NOTHING:
            for a in range(first, end):
                Y = begin_column(s, Y, k, first, end)
                s.R[Y - 1, a] = s.L[Y - 1, a] = 1.0
                s.law[Y - 1], s.mu_y[Y - 1], s.begins[Y - 1] = law, mu, a == first
        else:
            Y = find_sliding(s, Y, k, first + (law != DISC), end)
    return Y


@kernel(I64(SYSTEM, I64, I64, I64, I64))
def find_sliding(s, Y, k, t, end):
    """`find_columns` for a contact that slides, sticks on the edge or touches; its tangents are the rows t : end."""
    i, mode = s.set_of[k], s.mode[k]
    law, mu = s.cone[i], s.mu[i]
    first, force = s.first[i], mu if law == DISC else mu * s.x[s.first[i]]
    if law != DISC:
        Y = begin_column(s, Y, k, first, end)
        s.R[Y - 1, first] = s.L[Y - 1, first] = 1.0
        for a in range(t, end):
            s.R[Y - 1, a], s.L[Y - 1, a] = -mu * s.e[a], -mu * s.e[a] if law == ASSOCIATED else 0.0
        s.low[Y - 1] = 0.0 if mode == TOUCHES else -np.inf
    if mode == TOUCHES or mu == 0.0:
        return Y
    if mode == EDGE:
        Y = begin_column(s, Y, k, first, end)
        s.low[Y - 1] = 0.0
        for a in range(t, end):
            s.R[Y - 1, a] = s.L[Y - 1, a] = s.e[a]
    # Directions across e: images of the other axes under the reflection that maps e to the first axis.
    sign = 1.0 if s.e[t] >= 0.0 else -1.0
    for b in range(t + 1, end):
        Y = begin_column(s, Y, k, first, end)
        for a in range(t, end):
            whole = s.e[a] + (sign if a == t else 0.0)
            turned = (1.0 if a == b else 0.0) - whole * s.e[b] / (1.0 + abs(s.e[t]))
            s.R[Y - 1, a] = s.L[Y - 1, a] = force * turned
        s.H[Y - 1] = force * s.speed[k] if mode == SLIDES else 0.0
    return Y


@kernel(types.void(SYSTEM, I64), **FASTER)
def find_matrix(s, Y):
    """Compute S = L^T A R + H (Y, Y), and the units E (Y,) in which its entries are of order one."""
    X = s.x.shape[0]
    left, A, R, L, S, E, begin, end = scratch(X), s.A, s.R, s.L, s.S, s.E, s.begin, s.end
    for z in range(Y):
        set_all(0.0, left)
        for a in range(begin[z], end[z]):
            if L[z, a] != 0.0:
                for k in range(X):
                    left[k] += L[z, a] * A[a, k]
        for y in range(Y):
            total = s.H[y] if z == y else 0.0
            for a in range(begin[y], end[y]):
                total += left[a] * R[y, a]
            S[z, y] = total
    set_all(0.0, E)
    for z in range(Y):
        most = E[z]
        for y in range(Y):
            most, E[y] = max(most, abs(S[z, y])), max(E[y], abs(S[z, y]))
        E[z] = most
    for y in range(Y):
        E[y] = 1.0 / np.sqrt(E[y]) if E[y] > 0.0 else 1.0


@kernel(types.void(SYSTEM, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX))
def find_sources(s, dmu, dlower, dupper, p, b):
    """Compute p (X, K) and b (Y, K) for K changes of the coefficients (B, K) and the bounds (X, K), after
    `find_columns`."""
    clear(p)
    for k in range(s.x.shape[0]):
        mode, i = s.mode[k], s.set_of[k]
        if mode in (AT_LOWER, LEAVES_LOWER) or (mode == FIXED and s.F[k] > 0.0):
            put_row(1.0, dlower, k, p, k)
        elif mode in (AT_UPPER, LEAVES_UPPER, FIXED):
            put_row(1.0, dupper, k, p, k)
        elif mode in (SLIDES, EDGE):
            first = s.first[i]
            pressed = 1.0 if s.cone[i] == DISC else s.x[first]
            for a in range(first + (s.cone[i] != DISC), s.first[i + 1]):
                put_row(-pressed * s.e[a], dmu, i, p, a)
    clear(b)
    for y in range(b.shape[0]):
        i = s.set_of[s.begin[y]]
        k = s.first[i]
        head = s.cone[i] == ASSOCIATED and (y == 0 or s.begin[y - 1] != s.begin[y])
        if head and s.mode[k] in (SLIDES, TOUCHES):
            put_row(s.speed[k], dmu, i, b, y)


@kernel(types.void(SYSTEM, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR))
def due_to_sources(s, a, left, mu, low, high):
    """Adjoint with respect to the coefficients (B,) and the bounds (X,): the transpose of `find_sources`."""
    set_all(0.0, mu)
    for k in range(s.x.shape[0]):
        mode, i = s.mode[k], s.set_of[k]
        low[k] = high[k] = 0.0
        if mode == AT_LOWER or (mode == FIXED and s.F[k] > 0.0):
            low[k] = left[k]
        elif mode in (AT_UPPER, FIXED):
            high[k] = left[k]
        elif mode in (SLIDES, EDGE) and s.cone[i] != NO_CONE:
            first = s.first[i]
            pressed = 1.0 if s.cone[i] == DISC else s.x[first]
            for j in range(first + (s.cone[i] != DISC), s.first[i + 1]):
                mu[i] -= left[j] * pressed * s.e[j]
    for y in range(a.shape[0]):
        i = s.set_of[s.begin[y]]
        k = s.first[i]
        head = s.cone[i] == ASSOCIATED and (y == 0 or s.begin[y - 1] != s.begin[y])
        if head and s.mode[k] in (SLIDES, TOUCHES):
            mu[i] += a[y] * s.speed[k]


@kernel(types.boolean(SYSTEM))
def settle(s):
    """Give rows with bounds that are between two modes those that they have at a neighbouring solution; return whether
    all modes hold there. Contacts of cones have to stick or to be open.

    Methods return vertices of a set of solutions. There some facets of a friction polygon that sticks do not bear,
    although they could, and slacks of open contacts are the smallest possible. In the inside of the set all modes hold,
    and velocities are smooth. A row bears there or leaves its bound: at first all are tried to bear, those with bounds
    alike, then at solutions where the load is shared more evenly (`share_load`).
    """
    X = s.x.shape[0]
    mode, inwards, unit, rate = scratch_indices(X), scratch(X), scratch(X), scratch(X)
    for i in range(s.cone.shape[0]):
        if s.cone[i] != NO_CONE and s.mode[s.first[i]] not in (STICKS, OPEN):
            return False
    for k in range(X):
        if s.mode[k] == LOOSE:
            return False
    for k in range(X):
        mode[k], inwards[k], unit[k] = s.mode[k], 0.0, 0.0
        if mode[k] == LEAVES_LOWER:
            s.mode[k], inwards[k] = AT_LOWER, 1.0
        elif mode[k] == LEAVES_UPPER:
            s.mode[k], inwards[k] = AT_UPPER, -1.0
    Y = find_columns(s)
    find_matrix(s, Y)
    rank = factorise(s, Y)
    found = again = rank >= 0
    if found:
        # Rows whose velocities the kernel moves alone, as it moves slacks, do not bear.
        move_inwards(s, Y, rank, unit, rate)
        for k in range(X):
            unit[k] = inwards[k] if inwards[k] * rate[k] <= 0.0 else 0.0
    while again:
        move_inwards(s, Y, rank, unit, rate)
        again = False
        for k in range(X):
            if unit[k] * rate[k] > 0.0:
                unit[k], again = 0.0, True
    for k in range(X):
        bears = s.mode[k] == INSIDE or unit[k] != 0.0
        found = found and (rate[k] == 0.0 if bears else inwards[k] * rate[k] >= 0.0)
    holds = found
    for k in range(X):
        if inwards[k] == 0.0:
            continue
        if found and (unit[k] != 0.0 or rate[k] != 0.0):
            s.mode[k], s.margin[k] = INSIDE if unit[k] != 0.0 else s.mode[k], np.inf
        else:
            s.mode[k], holds = mode[k], False
    return holds or share_load(s, mode, inwards)


@kernel(types.boolean(SYSTEM, INDICES, VECTOR))
def share_load(s, mode, inwards):
    """`settle` from the modes `mode` (X,) towards small and even impulses with the same velocities; modes remain those
    of the system if some do not hold there. `inwards` is 1 or -1 for rows between modes."""
    X, found, again = s.x.shape[0], True, True
    before, aside, rate = scratch_indices(X), scratch(X), scratch(X)
    for k in range(X):
        before[k], s.mode[k] = s.mode[k], INSIDE if inwards[k] != 0.0 else mode[k]
    while found and again:
        Y, again = find_columns(s), False
        find_matrix(s, Y)
        rank = factorise(s, Y)
        found = 0 < rank < Y
        if found:
            move_evenly(s, Y, rank, aside)
            find_rates(s, Y, aside, rate)
        for k in range(X):
            # What cannot bear leaves.
            if found and inwards[k] != 0.0 and s.mode[k] == INSIDE and aside[k] == 0.0:
                s.mode[k], again = AT_LOWER if inwards[k] > 0.0 else AT_UPPER, True
    for k in range(X):
        bears = s.mode[k] == INSIDE
        found = found and (rate[k] == 0.0 if bears else inwards[k] * rate[k] >= 0.0)
        if inwards[k] != 0.0:
            found = found and inwards[k] * (aside[k] if bears else rate[k]) > 0.0
    for k in range(X):
        if not found:
            s.mode[k] = before[k]
        elif inwards[k] != 0.0:
            s.margin[k] = np.inf
    return found


@kernel(types.void(SYSTEM, I64, I64, VECTOR))
def move_evenly(s, Y, rank, aside):
    """Compute the part in the kernel of S, which is factorised, of the change `aside` (X,) of impulses to small and
    equal ones, in the units of S; zero for rounding."""
    LU, E, begin, column = s.LU, s.E, s.begin, s.column
    rows, G, pivots = scratch_matrix(rank, Y), scratch_matrix(rank, rank), scratch_indices(rank)
    change, b, y, largest = scratch(Y), scratch(rank), scratch(rank), 0.0
    for j in range(Y):
        change[j] = -s.x[begin[column[j]]] / E[column[j]]
        largest = max(largest, abs(change[j]))
    for j in range(Y):
        change[j] += SMALL * largest
    for i in range(rank):
        b[i] = 0.0
        for j in range(Y):
            rows[i, j] = LU[i, j] / LU[i, i] if j >= i else 0.0
            b[i] += rows[i, j] * change[j]
    for i in range(rank):
        for k in range(rank):
            G[i, k] = 0.0
            for j in range(Y):
                G[i, k] += rows[i, j] * rows[k, j]
    lu_factor(G, pivots)
    lu_solve(G, pivots, b, y)
    set_all(0.0, aside)
    for j in range(Y):
        for i in range(rank):
            change[j] -= y[i] * rows[i, j]
        aside[begin[column[j]]] = E[column[j]] * change[j] if abs(change[j]) > SAME * largest else 0.0


@kernel(types.void(SYSTEM, I64, I64, VECTOR, VECTOR))
def move_inwards(s, Y, rank, unit, rate):
    """Compute the rates (X,) at which velocities change where some rows move by `unit` (X,), and those that bear by
    what keeps their own velocities, and along the kernel of S; zero for rounding."""
    X, A, begin = s.x.shape[0], s.A, s.begin
    right, y, free, change = scratch(Y), scratch(Y), scratch(Y), scratch(X)
    for i in range(Y):
        right[i] = 0.0
        for j in range(X):
            right[i] -= A[begin[i], j] * unit[j]
    solve_one(s, Y, rank, right, y)
    find_kernel(s, Y, rank, free)
    copy(unit, change)
    for i in range(Y):
        change[begin[i]] = y[i] + free[i]
    find_rates(s, Y, change, rate)


@kernel(types.void(SYSTEM, I64, VECTOR, VECTOR), **FAST)
def find_rates(s, Y, change, rate):
    """Compute the rates (X,) at which velocities change with the unknowns, `change` (X,); zero for rounding."""
    X, A, E, begin, size, largest = s.x.shape[0], s.A, s.E, s.begin, scratch(s.x.shape[0]), 0.0
    for k in range(X):
        size[k] = abs(change[k])
    for i in range(Y):
        largest = max(largest, size[begin[i]] / E[i])
    for i in range(Y):
        size[begin[i]] = E[i] * largest
    for k in range(X):
        total = terms = 0.0
        for j in range(X):
            total += A[k, j] * change[j]
            terms += abs(A[k, j]) * size[j]
        rate[k] = total if abs(total) > SAME * terms else 0.0


@kernel(types.boolean(SYSTEM))
def depends_on_impulses(s):
    """Return whether S depends on the impulses: they weigh directions across that of sliding."""
    found = False
    for k in range(s.x.shape[0]):
        found |= s.mode[k] in (SLIDES, EDGE) and s.cone[s.set_of[k]] != NO_CONE
    return found


@kernel(types.Tuple((I64, I64, I64, F64))(SYSTEM))
def linearise_modes(s):
    """Linearise the law in the modes of `find_modes`, and factorise S; return the number of y, the rank (-1 if it is
    undecided), the number of places between modes, and the smallest margin of the others, inf if there are none."""
    between, least = 0, np.inf
    for k in range(s.x.shape[0]):
        if s.mode[k] == NO_PLACE:
            continue
        if is_between(s.mode[k]):
            between += 1
        else:
            least = min(least, s.margin[k])
    Y = find_columns(s)
    find_matrix(s, Y)
    return Y, factorise(s, Y), between, least


@kernel(types.Tuple((I64, I64, I64, F64))(SYSTEM, F64))
def linearise_there(s, least):
    """Find the modes at x (`find_modes`) and linearise the law there (`linearise_modes`)."""
    find_modes(s, least)
    return linearise_modes(s)


@kernel(types.Tuple((I64, I64, I64, F64))(SYSTEM, READ_INDICES, READ_INDICES, READ, VECTOR, F64), checked=False)
def linearise_problem(s, first, cone, A, numbers, least):
    """`linearise_there` of a problem over A (X, X), which is put into the system; of its sets, the places and kinds,
    and the other `numbers`: the coefficients, bounds, q and the solution. The number of y is -1 for separate discs."""
    own, bounds, answer = s.A, s.bounds, s.answer
    s.first[0] = 0
    for i in range(cone.shape[0]):
        if cone[i] == APART:
            return -1, -1, 0, 0.0
        s.cone[i], s.first[i + 1] = cone[i], first[i + 1]
        for k in range(first[i], first[i + 1]):
            s.set_of[k] = i
    for i in range(own.shape[0]):
        for j in range(own.shape[0]):
            own[i, j] = A[i, j]
    copy(numbers, bounds)
    copy(numbers[bounds.shape[0] :], answer)
    return linearise_there(s, least)


@kernel(types.void(SYSTEM, VECTOR, VECTOR, VECTOR))
def due_to_law(s, a, given, found):
    """Adjoint with respect to q, the lower and the upper bounds (X,), the coefficients (B,) and A (X, X), one after the
    other in `found`, from a (Y,) for the rows of the law and given (X,) for the solution."""
    X, B = s.x.shape[0], s.cone.shape[0]
    left, A, L, q = scratch(X), s.A, s.L, found[:X]
    set_all(0.0, q)
    for y in range(a.shape[0]):
        for k in range(s.begin[y], s.end[y]):
            q[k] -= L[y, k] * a[y]
    copy(given, left)
    for j in range(X):
        if q[j] != 0.0:
            for i in range(X):
                left[i] += A[j, i] * q[j]
    due_to_sources(s, a, left, found[3 * X : 3 * X + B], found[X : 2 * X], found[2 * X : 3 * X])
    for i in range(X):
        for j in range(X):
            found[3 * X + B + X * i + j] = q[i] * s.x[j]


@kernel(types.void(SYSTEM, I64, VECTOR, VECTOR), checked=False)
def due_to_regular_law(s, Y, given, found):
    """`due_to_law` where S is regular, with a (Y,) of S^T a = R^T given."""
    right, a = scratch(Y), scratch(Y)
    for y in range(Y):
        right[y] = 0.0
        for k in range(s.begin[y], s.end[y]):
            right[y] += s.R[y, k] * given[k]
    solve_transposed(s, Y, Y, right, a)
    due_to_law(s, a, given, found)


class DataChange(NamedTuple):
    """Change of the data of a problem along a parameter, set by set: A (X, X), q, lower, upper (X,), mu (B,)."""

    A: Array
    q: Array
    mu: Array
    lower: Array
    upper: Array


def change_of(problem: Problem, **data: Any) -> DataChange:
    """The change of a problem's M (or W), q, mu, lower, upper, in the problem's order; omitted data do not change.

    Raises DataError for a shape that differs from the data, for a name that the problem does not have, and for
    coefficients of single directions.
    """
    p, n = problem.by_set, problem.size
    given = {}
    for name, value in data.items():
        own = getattr(problem, name, None)
        if name not in ("M", "q", "mu", "lower", "upper") or own is None:
            raise DataError(f"a {problem.kind} has no {name!r} that could change")
        change = np.asarray(value, dtype=float)
        if change.shape != np.shape(own):
            raise DataError(f"the change of {name} has shape {change.shape}; {name} has {np.shape(own)}")
        if not np.isfinite(change).all():
            raise DataError(f"the change of {name} has an entry that is not finite")
        given[name] = change
    A, mu = np.zeros((n, n)), np.zeros(p.sets.cone.size)
    if "M" in given:
        A = p.unit[:, None] * given["M"][np.ix_(p.order, p.order)] * p.unit
    if "mu" in given:
        mu = _coefficients(problem, given["mu"])
    none = np.zeros(n)
    q, lower, upper = (given.get(name, none)[p.order] for name in ("q", "lower", "upper"))
    return DataChange(A, p.unit * q, mu, lower, upper)


def _coefficients(problem: Problem, change: Array) -> Array:
    """Coefficients of every set (B,)."""
    if not isinstance(problem, MixedNCP):
        return change
    at, found = problem.sets.at, np.zeros(problem.sets.cone.size)
    for i, count in enumerate(np.diff(at)):
        if count > 1 and change[at[i] : at[i + 1]].any():
            raise DataError(f"set {i} has a coefficient for every direction; changing one alone is not supported")
        found[i] = change[at[i]] if count == 1 else 0.0
    return found


def matrix_of(p: SetBySet) -> Array:
    """A (X, X), row by row. Raises DataError if it would be too large."""
    if p.q.size > LARGEST:
        raise DataError(f"{p.q.size} unknowns; sensitivities are formed of at most {LARGEST}")
    if isinstance(p.operator, OverMatrix):
        A = p.operator.A.toarray() if hasattr(p.operator.A, "toarray") else p.operator.A
    else:
        A = np.stack([p.operator.products(e)[0] for e in np.eye(p.q.size)], axis=1)
    return np.ascontiguousarray(A)


@dataclass(frozen=True, eq=False)
class Linearised:
    """A problem set by set at a solution, with its law linearised there in Y unknowns y (`System`).

    rank: that of S, -1 if its factors leave it undecided; count_between: the number of places between two modes;
    margin: the smallest of the other places.
    """

    problem: SetBySet
    at: System
    Y: int
    rank: int
    count_between: int
    margin: float

    @property
    def x(self) -> Array:
        return self.at.x

    @property
    def A(self) -> Array:
        """(X, X)."""
        return self.at.A

    @property
    def R(self) -> Array:
        """(X, Y)."""
        return self.at.R[: self.Y].T

    @property
    def L(self) -> Array:
        """(X, Y)."""
        return self.at.L[: self.Y].T

    @property
    def S(self) -> Array:
        """(Y, Y)."""
        return self.at.S[: self.Y, : self.Y]

    @cached_property
    def places(self) -> tuple[Place, ...]:
        return tuple(places(self.at))

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """Mask (Y,) of the y without bounds."""
        s, Y = self.at, self.Y
        unbounded = (s.low[:Y] == -np.inf) & (s.high[:Y] == np.inf)
        return np.asarray((s.law[:Y] == NO_CONE) & unbounded & (s.loose[:Y] < 0), dtype=bool)

    @cached_property
    def between(self) -> list[SetMode]:
        """The modes of the sets that are between two."""
        return [MODES[k] for k in self.at.mode.tolist() if is_between(k)] if self.count_between else []

    @cached_property
    def spectrum(self) -> tuple[Array, Array, Array]:
        """U, singular values and V^T of the equilibrated S = E S E."""
        E = self.at.E[: self.Y]
        return np.linalg.svd(E[:, None] * self.S * E)

    @property
    def is_singular(self) -> bool:
        """Whether S has a kernel, up to round-off."""
        if self.rank == self.Y:
            return False
        values = self.spectrum[1]
        return bool(values.size) and not values[-1] > SINGULAR * values[0]

    @property
    def condition(self) -> float:
        """Condition number of the equilibrated S; 1 if it is empty."""
        values = self.spectrum[1]
        return float(values[0] / values[-1]) if values.size and values[-1] > 0 else (np.inf if values.size else 1.0)

    def kernel(self) -> Array:
        """A basis (Y, k) of the kernel of S."""
        _, values, V = self.spectrum
        return self.at.E[: self.Y, None] * V[values <= SINGULAR * values.max(initial=0.0)].T

    def redundancy(self) -> Array:
        """A vector (Y,) of the kernel of S, in which all of its directions take part; zero where there is none."""
        if self.rank < 0:
            basis = self.kernel()
            return basis @ np.linspace(1.0, 2.0, basis.shape[1])
        y = np.empty(self.Y)
        find_kernel(self.at, self.Y, self.rank, y)
        return y

    def solved(self, right: Array, transposed: bool = False) -> Array:
        """S^-1 right, or S^-T right; minimum norm where S is singular."""
        if self.rank == self.Y:
            y = np.empty(self.Y)
            (solve_transposed if transposed else solve_one)(self.at, self.Y, self.Y, right, y)
            return y
        (U, values, V), E = self.spectrum, self.at.E[: self.Y]
        if transposed:
            U, V = V.T, U.T
        kept = values > SINGULAR * values.max(initial=0.0)
        found: Array = E * (V[kept].T @ ((U[:, kept].T @ (E * right)) / values[kept]))
        return found

    def sources(self, change: DataChange) -> tuple[Array, Array, Array]:
        """r, p (X,) and b (Y,) of a change."""
        p, b = np.empty((self.x.size, LANES)), np.empty((self.Y, LANES))
        given = (np.repeat(x[:, None], LANES, axis=1) for x in (change.mu, change.lower, change.upper))
        find_sources(self.at, *given, p, b)
        return change.A @ self.x + change.q, p[:, 0].copy(), b[:, 0].copy()

    @property
    def velocity(self) -> Array:
        """F = A x + q (X,)."""
        return self.at.F

    def right(self, change: DataChange) -> Array:
        """b - L^T (r + A p) (Y,), the right-hand side of S y."""
        r, p, b = self.sources(change)
        return b - self.L.T @ (r + self.A @ p)

    def terms(self, change: DataChange) -> Array:
        """Sizes (Y,) of the terms that add up to `right`, for the largest row in the units of S."""
        _, p, b = self.sources(change)
        E = self.at.E[: self.Y]
        r = np.abs(change.A) @ np.abs(self.x) + np.abs(change.q) + np.abs(self.A) @ np.abs(p)
        found: Array = (E * (np.abs(b) + np.abs(self.L.T) @ r)).max(initial=0.0) / E
        return found

    def one_sided(self, change: DataChange) -> MixedNCP:
        """The problem whose solutions y are the one-sided derivatives along a change."""
        s, Y = self.at, self.Y
        lower, upper, loose = s.low[:Y].copy(), s.high[:Y].copy(), s.loose[:Y]
        some = loose >= 0
        lower[some], upper[some] = change.lower[loose[some]], change.upper[loose[some]]
        crossing = lower > upper
        if crossing.any() and float((lower - upper)[crossing].max()) <= 1e-9 * float(np.abs(change.q).max(initial=0.0)):
            upper[crossing] = lower[crossing]
        elif crossing.any():
            raise DataError("equal bounds cross: there is no neighbouring solution")
        start = np.flatnonzero(s.begins[:Y])
        cone = s.law[start]
        # Rate of the disc's radius to which a y belongs.
        grows = np.maximum(change.mu[s.set_of[s.begin[start]]], 0.0)
        radius = np.where(cone == DISC, grows, s.mu_y[start])
        at = np.append(0, np.cumsum(cone != NO_CONE))
        sets = Sets(cone, np.append(start, Y), np.arange(Y), at)
        return MixedNCP(self.S, -self.right(change), lower, upper, radius[cone != NO_CONE], sets)

    def derivative(self, y: Array, change: DataChange) -> tuple[Array, Array]:
        """dx and dF (X,) for y."""
        r, p, _ = self.sources(change)
        dx = self.R @ y + p
        return dx, self.A @ dx + r

    def gradient(self, given: Array, a: Array | None = None) -> DataChange:
        """The gradient by all data of a function of x with gradient `given` (X,), from a (Y,) of S^T a = R^T given.

        Without a, S must be regular.
        """
        s = self.at
        X, B = s.X, s.B
        found = np.empty(X * (3 + X) + B)
        if a is None:
            due_to_regular_law(s, self.Y, given, found)
        else:
            due_to_law(s, a, given, found)
        A, mu = found[3 * X + B :].reshape(X, X), found[3 * X : 3 * X + B]
        return DataChange(A, found[:X], mu, found[X : 2 * X], found[2 * X : 3 * X])

    def taken_for(self, sides: dict[int, int]) -> "Linearised":
        """The law with some modes taken for others, those between two for one of them."""
        s = self.at.copy()
        for mode, side in sides.items():
            s.mode[self.at.mode == mode] = side
        return Linearised(self.problem, s, *linearise_modes(s))

    def settled(self) -> "Linearised":
        """The law in the modes of a neighbouring solution (`settle`)."""
        s = self.at.copy()
        settle(s)
        return Linearised(self.problem, s, *linearise_modes(s))

    def moved(self, x: Array) -> "Linearised":
        """The same modes at another solution x (X,) with the same velocities."""
        s = self.at.copy()
        s.x = x
        return Linearised(self.problem, s, *linearise_modes(s))


def linearised(p: SetBySet, x: Array, least: float, still: NDArray[np.bool_]) -> Linearised:
    """Linearise the law at a solution x (X,); margins of at most `least` count as zero; `still` (X,) as in `System`.

    Raises DataError for laws with separate discs, and as `matrix_of`.
    """
    first, cone, *numbers = p.sets
    s = System.unset(X=x.size, B=cone.size, ends=first.size)
    s.still = still
    given = np.concatenate([*numbers, p.q, x])
    Y, rank, between, margin = linearise_problem(s, first, cone, matrix_of(p), given, least)
    if Y < 0:
        raise DataError("separate torsion and rolling bounds are not supported")
    return Linearised(p, s, Y, rank, between, margin)
