"""Linear programmes by floating point, confirmed in exact arithmetic.

HiGHS finds the active inequalities and unknowns; from them follow both the optimum and the dual vector that proves
it, exactly. Programmes that cannot be confirmed, mostly degenerate ones, go to the exact simplex method.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat

from workbench.engine.lazy import optimize
from workbench.engine.timing import OutOfTimeError, check_clock, clock
from workbench.matrices.linear_algebra.exact_lp import Dictionary, least, made_feasible, solve_inequalities
from workbench.matrices.linear_algebra.in_time import solution
from workbench.matrices.linear_algebra.rationals import Vector, dot, doubles, product, spread, submatrix
from workbench.support.arrays import Array

ACTIVE = 1e-9
"""Size, relative to the largest, above which unknowns and multipliers count as positive."""
MOST_BASES = 30
"""Number of bases of a degenerate optimum that are tried."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """The smallest `value` and an exact point x (n) where it is attained; value None where it is unbounded.

    `multipliers` y (m) >= 0 prove it, A^T y <= c and y . b = value, where they were found along with it.
    """

    value: fmpq | None
    point: Vector
    multipliers: Vector | None = None


def least_unknown(A: fmpq_mat, b: Vector, k: int, sign: int, deadline: float) -> Optimum | None:
    """The smallest sign * x_k over x >= 0 with A x >= b, A (m, n); None where there is none. Raises OutOfTimeError."""
    m, n = A.nrows(), A.ncols()
    check_clock(deadline)
    cost = [fmpq(sign * (j == k)) for j in range(n)]
    found = _solved(A, b, cost, deadline)
    if found is not None:
        return found
    # A x + t >= b for some t: if the smallest t is positive there is no x.
    wider = fmpq_mat(m, n + 1, [v for row in A.tolist() for v in (*row, fmpq(1))])
    short = _solved(wider, b, [fmpq(j == n) for j in range(n + 1)], deadline)
    if short is not None and short.value is not None and short.value > 0:
        return None
    table = [v for row, bound in zip(A.tolist(), b, strict=True) for v in (*row, -bound)]
    start = Dictionary(fmpq_mat(m, n + 1, table), tuple(range(n, n + m)), tuple(range(n)))
    d, infeasible = made_feasible(start, deadline)
    if infeasible is not None:
        return None
    d, value = least(d, k, sign, deadline)
    return Optimum(value, [d.value(j) for j in range(n)])


def _solved(A: fmpq_mat, b: Vector, c: Vector, deadline: float) -> Optimum | None:
    """The optimum of c . x over x >= 0 with A x >= b, if HiGHS finds one and it is confirmed."""
    values, right, cost = doubles(A), doubles(b), doubles(c)
    if not (np.isfinite(values).all() and np.isfinite(right).all()):
        return None
    found = optimize.linprog(
        cost, -values, -right, bounds=(0, None), options={"time_limit": max(deadline - clock(), 0.01)}
    )
    if found.status != 0:
        if found.status == 1:
            raise OutOfTimeError
        return None
    return _confirmed(A, b, c, found.x, -found.ineqlin.marginals, found.ineqlin.residual, deadline)


def _confirmed(A: fmpq_mat, b: Vector, c: Vector, x: Array, y: Array, slack: Array, deadline: float) -> Optimum | None:
    """The optimum from its active unknowns x (n) and inequalities, multipliers y and slacks (m), checked exactly."""
    rows, columns = _positive(y), _positive(x)
    active = [i for i in range(len(slack)) if i not in rows and slack[i] <= ACTIVE * max(1.0, np.abs(slack).max())]
    free = [j for j in range(len(x)) if j not in columns]
    # If the numbers of positive unknowns and multipliers differ, the basis has further zero entries.
    missing = len(columns) - len(rows)
    pool = active if missing > 0 else free
    for extra in itertools.islice(itertools.combinations(pool, abs(missing)), MOST_BASES):
        more = [*rows, *extra] if missing > 0 else rows
        found = _at_basis(A, b, c, more, columns if missing >= 0 else [*columns, *extra], deadline)
        if found is not None:
            return found
    return None


def _at_basis(
    A: fmpq_mat, b: Vector, c: Vector, rows: list[int], columns: list[int], deadline: float
) -> Optimum | None:
    """The point where these inequalities are equations and only these unknowns are nonzero, if it is an optimum."""
    inside: Vector = []
    outside: Vector = []
    if rows:
        part = submatrix(A, rows, columns)
        try:
            inside = solution(part, fmpq_mat(len(rows), 1, [b[i] for i in rows]), deadline).entries()
            outside = solution(part.transpose(), fmpq_mat(len(rows), 1, [c[j] for j in columns]), deadline).entries()
        except ZeroDivisionError:
            return None
    point, multipliers = spread(A.ncols(), columns, inside), spread(A.nrows(), rows, outside)
    reached = product(A, point)
    prices = (fmpq_mat(1, A.nrows(), multipliers) * A).entries()
    feasible = min(point) >= 0 and all(v >= bound for v, bound in zip(reached, b, strict=True))
    optimal = min(multipliers) >= 0 and all(price <= v for price, v in zip(prices, c, strict=True))
    if not (feasible and optimal):
        return None
    return Optimum(dot(c, point), point, multipliers)


def proof_of_bound(A: fmpq_mat, b: Vector, k: int, sign: int, value: fmpq, deadline: float) -> Vector | None:
    """y (m) >= 0 with A^T y <= sign * e_k and y . b >= value: sign * x_k >= value for all x >= 0 with A x >= b; None
    where there is none. Raises OutOfTimeError."""
    n = A.ncols()
    dual = fmpq_mat([*(-1 * A.transpose()).tolist(), b])
    y, _ = solve_inequalities(dual, [*(fmpq(-sign * (j == k)) for j in range(n)), value], deadline)
    return y


def _positive(x: Array) -> list[int]:
    return np.flatnonzero(x > ACTIVE * max(np.abs(x).max(initial=0.0), 1e-300)).tolist()
