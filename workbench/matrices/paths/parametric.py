"""The basic solutions of an LCP whose data are polynomials in one parameter t, as rational functions of t.

The problem is, with rational polynomials P, Q (n, n) and w (n),

    P(t) s = Q(t) y - w(t),    0 <= s  perp  y >= 0,

an LCP being P = I, Q = M, w = -q. The basic solution of an index set a has y = 0 outside a and s = 0 on a:
C_a x = -w with the columns -Q_j for j in a and P_j elsewhere, x_j being y_j or s_j. Elimination without fractions
(Bareiss, Math. Comp. 22, 1968) gives x_j = numerator_j / denominator, with the denominator det C_a. If it vanishes
for every t, some unknowns are free, and the solutions of the index set form a polyhedron in them.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flint import fmpq_poly, fmpz, fmpz_poly

from workbench.engine.timing import check_clock
from workbench.support.arrays import index_sets

Rows = list[list[fmpz_poly]]


@dataclass(frozen=True, eq=False)
class Parametric:
    """Rows (P_i, Q_i, w_i) of polynomials with integer coefficients, (n, 2 n + 1)."""

    rows: Rows

    @classmethod
    def of(cls, P: Sequence, Q: Sequence, w: Sequence) -> "Parametric":
        """From rows of fmpq_poly P, Q (n, n) and w (n); each row is multiplied by its common denominator."""
        rows = [[fmpq_poly(f) for f in (*p, *q, c)] for p, q, c in zip(P, Q, w, strict=True)]
        scales = [math.lcm(*(int(f.denom()) for f in row)) for row in rows]
        return cls([[(f * fmpz(c)).numer() for f in row] for row, c in zip(rows, scales, strict=True)])

    @classmethod
    def lcp(cls, M: Sequence, q: Sequence) -> "Parametric":
        """LCP(q, M) with rows of fmpq_poly M (n, n) and q (n)."""
        n = len(q)
        return cls.of([[fmpq_poly([int(i == j)]) for j in range(n)] for i in range(n)], M, [-f for f in q])

    @property
    def n(self) -> int:
        return len(self.rows)

    def system(self, a: Sequence[int]) -> Rows:
        """The rows of (C_a, -w)."""
        n = self.n
        return [[-row[n + j] if j in a else row[j] for j in range(n)] + [-row[-1]] for row in self.rows]


@dataclass(frozen=True, eq=False)
class Basis:
    """The basic solutions of the index set `a`: denominator x_pivot + (row over the free unknowns) x_free = right side.

    `rows` (r, n + 1) belong to the `pivots`, with the right side in the last column. `rest` is nonzero if the
    equations are inconsistent except at its roots.
    """

    n: int
    a: tuple[int, ...]
    denominator: fmpz_poly
    pivots: list[int]
    rows: Rows
    rest: fmpz_poly

    @cached_property
    def free(self) -> list[int]:
        return [j for j in range(self.n) if j not in self.pivots]

    @property
    def regular(self) -> bool:
        """Whether there is one basic solution for all t except the roots of the denominator."""
        return len(self.pivots) == self.n

    @property
    def numerators(self) -> list[fmpz_poly]:
        return [row[-1] for row in self.rows]

    def polynomials(self) -> Iterator[fmpz_poly]:
        """Nonzero polynomials between whose roots the basis has solutions throughout or not at all."""
        yield self.denominator
        if self.rest != 0:
            yield self.rest
        elif self.regular:
            yield from (f for f in self.numerators if f != 0)
        else:
            yield from self._minors()

    def _minors(self) -> Iterator[fmpz_poly]:
        """The largest minors of the inequalities x >= 0, t_0 >= 0 over the free unknowns and the constant t_0.

        Their signs determine which inequalities can be strict, and which be equations, together.
        """
        d = len(self.free) + 1
        one, zero = fmpz_poly([1]), fmpz_poly([])
        units = [[one if i == j else zero for j in range(d)] for i in range(d)]
        inequalities = [[-row[j] for j in self.free] + [row[-1]] for row in self.rows] + units
        for chosen in itertools.combinations(inequalities, d):
            determinant, pivots, _ = reduced([[*row, zero] for row in chosen])
            if len(pivots) == d:
                yield determinant


def bases(data: Parametric, deadline: float) -> Iterator[Basis]:
    """The basis of every index set, by size. Raises OutOfTimeError."""
    n = data.n
    for a in index_sets(range(n)):
        check_clock(deadline)
        denominator, pivots, rows = reduced(data.system(a))
        rest = fmpz_poly([])
        for row in rows[len(pivots) :]:
            rest = rest.gcd(row[-1])
        yield Basis(n, a, denominator, pivots, rows[: len(pivots)], rest)


def reduced(rows: Rows) -> tuple[fmpz_poly, list[int], Rows]:
    """Gauss-Jordan elimination without fractions over all columns but the last: the last pivot, the columns of the
    pivots, and the rows, with all pivots equal to the last one."""
    rows = [list(row) for row in rows]
    pivots: list[int] = []
    previous = fmpz_poly([1])
    for c in range(len(rows[0]) - 1):
        r = len(pivots)
        candidates: Any = [i for i in range(r, len(rows)) if rows[i][c] != 0]
        if not candidates:
            continue
        # A short pivot keeps the products short.
        chosen = min(candidates, key=lambda i: rows[i][c].degree())
        rows[r], rows[chosen] = rows[chosen], rows[r]
        top, pivot = rows[r], rows[r][c]
        for i, row in enumerate(rows):
            if i != r:
                factor = row[c]
                rows[i] = [(pivot * x - factor * y) // previous for x, y in zip(row, top, strict=True)]
        pivots.append(c)
        previous = pivot
    return previous, pivots, rows
