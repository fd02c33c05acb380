"""Distance of q from the nearest boundary at which the number of solutions of LCP(q, M) changes.

q = I w - M z lies in the complementary cone of an index set a, spanned by -M_j for j in a and by I_i elsewhere, once
for each solution with z_a >= 0 = w_a (Cottle, Pang and Stone 1992, section 1.3). A facet omits one index i; it
belongs to two cones, those with I_i and with -M_i. If these lie on different sides, crossing it exchanges one solution
for another. If they lie on one side, two solutions appear or vanish (a reflecting facet), and if one is flat, one.
P-matrices have no such facet.

Distances are Euclidean, and exact: squared, they are rational.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from flint import fmpq, fmpq_mat

from workbench.engine.timing import check_clock
from workbench.matrices.linear_algebra.in_time import null_space
from workbench.matrices.linear_algebra.rationals import Vector, dot, identity, product
from workbench.support.arrays import index_sets

LARGEST = 9
"""Largest order for which all 2^n complementary cones are examined."""
OFF = fmpq(1, 2**200)
"""Step off a facet, relative to the entries of q: exact, and below the resolution of doubles."""


@dataclass(frozen=True, eq=False)
class Facet:
    """The cone of `generators`, n - 1 linearly independent vectors (n), of index set a without index i."""

    i: int
    a: tuple[int, ...]
    generators: list[Vector]
    normal: Vector


@dataclass(frozen=True, eq=False)
class Margin:
    """A `facet` at which the number of solutions changes, its point `nearest` to q (n), and the exact `squared`
    Euclidean distance. `here` and `beyond` are the numbers of solutions on the side of q and on the other, `neighbour`
    is a q (n) just beyond. `multipliers` are those of the generators at the nearest point.

    Within the root of `least_squared` nothing changes. The two are equal unless facets overlap and their changes
    cancel: then they mean "at least" and "at most"."""

    facet: Facet
    nearest: Vector
    multipliers: Vector
    squared: fmpq
    least_squared: fmpq
    here: int
    beyond: int
    neighbour: Vector

    @property
    def value(self) -> float:
        """The distance, to a few units in the last place."""
        return square_root(self.squared)


def square_root(x: fmpq) -> float:
    """The square root of a rational, even if the rational is out of the range of doubles."""
    if x <= 0:
        return 0.0
    shift = (int(x.p).bit_length() - int(x.q).bit_length()) // 2
    scaled = x / fmpq(4) ** shift
    return math.ldexp(math.sqrt(int(scaled.p) / int(scaled.q)), shift)


class Cones:
    """All complementary cones of M (n, n), n <= `LARGEST`. Raises OutOfTimeError."""

    def __init__(self, M: fmpq_mat, deadline: float) -> None:
        n = M.nrows()
        self.n, self.M, self.deadline = n, M, deadline
        self.unit, self.minus = identity(n).tolist(), (-M).transpose().tolist()
        self.full: list[tuple[tuple[int, ...], int]] = []
        rows = []
        for a in index_sets(range(n)):
            check_clock(deadline)
            B = fmpq_mat([self.generator(j, j in a) for j in range(n)]).transpose()
            determinant = B.det()
            if determinant != 0:
                # det B = (-1)^|a| det M_aa.
                self.full.append((a, 1 if (determinant > 0) == (len(a) % 2 == 0) else -1))
                rows += B.inv().tolist()
        self.coordinates = fmpq_mat(rows)

    def generator(self, j: int, pivoted: bool) -> Vector:
        return self.minus[j] if pivoted else self.unit[j]

    def around(self, q: Vector) -> list[int]:
        """The signs of det M_aa of the full cones that contain q. Raises OutOfTimeError."""
        check_clock(self.deadline)
        values = product(self.coordinates, q)
        return [sign for k, (_, sign) in enumerate(self.full) if min(values[self.n * k : self.n * (k + 1)]) >= 0]

    def facets(self) -> Iterator[Facet]:
        """The facets at which the number of solutions may change. Raises OutOfTimeError."""
        for i in range(self.n):
            others = [j for j in range(self.n) if j != i]
            for chosen in itertools.product((False, True), repeat=self.n - 1):
                check_clock(self.deadline)
                kept = tuple(itertools.compress(others, chosen))
                generators = [self.generator(j, j in kept) for j in others]
                normal = _normal(generators)
                if normal is None:
                    continue
                sides = [dot(normal, self.generator(i, pivoted)) for pivoted in (False, True)]
                if sides[0] * sides[1] >= 0:
                    yield Facet(i, kept, generators, normal)

    def degree(self) -> int:
        """The sum of the signs of det M_aa over the cones around a q on no facet: for an R0-matrix the degree, the same
        for every such q (CPS section 6.1)."""
        return sum(self.around(_moved([fmpq(1)] * self.n)))


def margin(M: fmpq_mat, q: Vector, deadline: float) -> Margin | None:
    """The margin of q; None where the number of solutions is the same for every q off lower-dimensional sets.
    M (n, n), n <= `LARGEST`. Raises OutOfTimeError."""
    cones = Cones(M, deadline)
    count = len(cones.around(_moved(q)))
    nearest: Margin | None = None
    least: fmpq | None = None
    planes = [(dot(f.normal, q) ** 2 / dot(f.normal, f.normal), f) for f in cones.facets()]
    for reach, facet in sorted(planes, key=lambda plane: plane[0]):
        check_clock(deadline)
        if nearest and reach >= nearest.squared:
            break
        multipliers = projected(facet.generators, q)
        point = [dot(multipliers, entries) for entries in zip(*facet.generators, strict=True)] or [fmpq(0)]
        away = [x - y for x, y in zip(q, point, strict=True)]
        squared = dot(away, away)
        least = squared if least is None else min(least, squared)
        if nearest and squared >= nearest.squared:
            continue
        beside = [_beside(facet, point, q, side) for side in (1, -1)]
        counts = [len(cones.around(x)) for x in beside]
        # For q on a facet itself, only the two sides are compared.
        here = count if squared > 0 else counts[0]
        for x, beyond in zip(beside, counts, strict=True):
            if beyond != here:
                nearest = Margin(facet, point, multipliers, squared, least, here, beyond, x)
    return None if nearest is None or least is None else replace(nearest, least_squared=least)


def _moved(q: Vector) -> Vector:
    """q moved a little, off facets: two cones that share a facet both contain q there, for a single solution."""
    size = max((abs(x) for x in q), default=fmpq(0)) or fmpq(1)
    return [x + size * OFF**4 * _generic(j) for j, x in enumerate(q)]


def _generic(k: int) -> fmpq:
    """Numbers without small linear relations among them."""
    return fmpq(2 * k + 3) ** (k + 1)


def _beside(facet: Facet, point: Vector, q: Vector, side: int) -> Vector:
    """A point just off the facet's relative interior, next to `point`, on the side of the normal or the other.

    It is off other facets too, which may meet this one in simple combinations of its generators.
    """
    size = max((abs(x) for x in q), default=fmpq(0)) or fmpq(1)
    moved = list(point)
    for k, g in enumerate(facet.generators):
        step = size * OFF * (1 + OFF * _generic(k)) / abs(max(g, key=abs))
        moved = [x + step * v for x, v in zip(moved, g, strict=True)]
    step = side * size * OFF**3 / abs(max(facet.normal, key=abs))
    return [x + step * v for x, v in zip(moved, facet.normal, strict=True)]


def projected(generators: list[Vector], q: Vector) -> Vector:
    """The multipliers c >= 0 for which sum c_k g_k is nearest to q, exactly; the generators are linearly independent.

    The active set method of Lawson and Hanson (Solving Least Squares Problems, 1974, chapter 23).
    """
    k = len(generators)
    G = [[dot(g, h) for h in generators] for g in generators]
    b = [dot(g, q) for g in generators]
    c, free = [fmpq(0)] * k, set[int]()
    while True:
        slope = [b[i] - dot(G[i], c) for i in range(k)]
        entering = max((i for i in range(k) if i not in free), key=lambda i: slope[i], default=None)
        if entering is None or slope[entering] <= 0:
            return c
        free.add(entering)
        while True:
            order = sorted(free)
            solution = fmpq_mat([[G[i][j] for j in order] for i in order]).solve(
                fmpq_mat(len(order), 1, [b[i] for i in order])
            )
            wanted = dict(zip(order, solution.entries(), strict=True))
            if min(wanted.values()) > 0:
                c = [wanted.get(i, fmpq(0)) for i in range(k)]
                break
            step = min(c[i] / (c[i] - x) for i, x in wanted.items() if x <= 0)
            c = [v + step * (wanted[i] - v) if i in free else v for i, v in enumerate(c)]
            free = {i for i in free if c[i] > 0}


def _normal(generators: list[Vector]) -> Vector | None:
    """A vector orthogonal to all; None unless they are linearly independent."""
    if not generators:
        return [fmpq(1)]
    _, found = null_space(fmpq_mat(generators))
    return found[0] if len(found) == 1 else None
