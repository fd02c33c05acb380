"""A mixed LCP with bounds as an LCP with the same solutions, in exact arithmetic.

Bounds become zero: z = l + y, or u - y where only u is finite. A second finite bound adds its multiplier,

    0 <= y  perp  w + e >= 0,    0 <= e  perp  u - l - y >= 0.

Free unknowns are eliminated by pivots on their own equations. If these pivots end early, as with redundant equations,
the rest is split: a free unknown into y' - y'', an equation into g >= 0 and -g >= 0 (Cottle, Pang and Stone 1992,
section 1.5).
"""

from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat

from workbench.engine.timing import Pace, check_clock
from workbench.matrices.linear_algebra.exact_lp import exchange
from workbench.matrices.linear_algebra.rationals import exact, product
from workbench.problems.classes import MLCP


@dataclass(frozen=True, eq=False)
class EquivalentLCP:
    """LCP(q, M) with M (k, k), q (k) rational; its solutions x give those of the mixed one by z = T (x, 1)."""

    M: fmpq_mat
    q: list[fmpq]
    T: fmpq_mat

    def point(self, x: list[fmpq]) -> list[fmpq]:
        """z (n) for x (k)."""
        return product(self.T, [*x, fmpq(1)])


def equivalent_lcp(problem: MLCP, deadline: float) -> EquivalentLCP:
    """The LCP of a problem's doubles, taken as exact numbers. Raises OutOfTimeError."""
    lower, upper = problem.lower, problem.upper
    free = np.isinf(lower) & np.isinf(upper)
    flipped = np.isinf(lower) & ~free
    kept = np.flatnonzero(lower < upper)
    kept = np.concatenate([kept[free[kept]], kept[~free[kept]]])
    boxes = [k for k, i in enumerate(kept) if np.isfinite(lower[i]) and np.isfinite(upper[i])]
    sign = [fmpq(-1 if flipped[i] else 1) for i in range(problem.size)]
    base = [exact(0.0 if free[i] else upper[i] if flipped[i] else lower[i]) for i in range(problem.size)]

    M = fmpq_mat([[exact(x) for x in row] for row in problem.M])
    at_base = product(M, base)
    n, e = len(kept), len(boxes)
    table = []
    for k, i in enumerate(map(int, kept)):
        check_clock(deadline)
        multiplier = [fmpq(k == box) for box in boxes]
        row = [sign[i] * M[i, int(j)] * sign[j] for j in kept]
        table.append([*row, *multiplier, sign[i] * (at_base[i] + exact(problem.q[i]))])
    for k in boxes:
        width = exact(upper[kept[k]]) - exact(lower[kept[k]])
        table.append([*(-fmpq(j == k) for j in range(n)), *([fmpq(0)] * e), width])
    M_x, q_x, Y = _without_free(
        fmpq_mat(n + e, n + e + 1, [x for row in table for x in row]), int(free.sum()), deadline
    )

    rows = [[fmpq(0)] * len(q_x) + [x] for x in base]
    for k, i in enumerate(map(int, kept)):
        rows[i] = [sign[i] * x + c for x, c in zip(Y[k], rows[i], strict=True)]
    return EquivalentLCP(M_x, q_x, fmpq_mat(rows))


def _without_free(T: fmpq_mat, free: int, deadline: float) -> tuple[fmpq_mat, list[fmpq], list[list[fmpq]]]:
    """M, q of the LCP that remains of w = T (y, 1) without its first `free` unknowns and equations, and y as rows over
    (x, 1), where x are its unknowns."""
    size = T.nrows()
    rows, columns, pivots = list(range(free)), list(range(free)), {}
    pace = Pace(deadline)
    while True:
        pace.step()
        place = next(((r, c) for r in rows for c in columns if T[r, c] != 0), None)
        if place is None:
            break
        T = exchange(T, *place)
        rows.remove(place[0])
        columns.remove(place[1])
        pivots[place[1]] = place[0]
    others = list(range(free, size))

    def over_x(r: int) -> list[fmpq]:
        loose = [T[r, c] for c in columns]
        return [*(T[r, c] for c in others), *loose, *(-x for x in loose), T[r, size]]

    table = [over_x(r) for r in others + rows]
    table += [[-x for x in row] for row in table[len(others) :]]
    k = len(table)
    units = [[fmpq(i == j) for j in range(k + 1)] for i in range(k)]
    y = {c: over_x(r) for c, r in pivots.items()} | {c: units[i] for i, c in enumerate(others)}
    for i, c in enumerate(columns, start=len(others)):
        y[c] = [a - b for a, b in zip(units[i], units[i + len(columns)], strict=True)]
    M = fmpq_mat(k, k, [x for row in table for x in row[:-1]])
    return M, [row[-1] for row in table], [y[c] for c in range(size)]
