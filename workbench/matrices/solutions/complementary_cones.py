"""Where the number of solutions of LCP(q, M) changes: the complementary cones of two or three unknowns, exactly.

For an index set a the complementary cone is spanned by the columns -M_i, i in a, and I_i, i not in a; q has a solution
that is positive on a where it lies inside (Cottle, Pang and Stone 1992, section 1.3). The facets of all cones divide
the directions of q into regions. Within a region the number of solutions is that of the cones around any one of its
points, and cones of lower dimension lie on the facets. Directions are vectors of integers without a common divisor.
"""

import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from flint import fmpq, fmpq_mat, fmpz

from workbench.matrices.linear_algebra.rationals import nearest_double
from workbench.support.arrays import index_sets

Direction = tuple[fmpz, ...]


@dataclass(frozen=True)
class Cone:
    """A complementary cone of full dimension: its index set a, its generators (n), and `index`, sgn det M_aa."""

    index_set: tuple[int, ...]
    generators: tuple[Direction, ...]
    index: int

    def surrounds(self, q: Direction) -> bool:
        """Whether q lies in its interior."""
        size = _determinant(self.generators)
        parts = (_determinant((*self.generators[:i], q, *self.generators[i + 1 :])) for i in range(len(q)))
        return all(part * size > 0 for part in parts)


@dataclass(frozen=True)
class Region:
    """An open set of directions of q, and the cones that contain it: one solution for each.

    In the plane `outline` is one pair of directions, and the region extends counterclockwise from the first to the
    second; in space it is the loops of directions around the region, joined by great circles. `inside` is one of its
    directions, `share` its fraction of all directions, rounded.
    """

    cones: tuple[Cone, ...]
    outline: tuple[tuple[Direction, ...], ...]
    inside: Direction
    share: float

    @property
    def count(self) -> int:
        """The number of solutions for every q in the region."""
        return len(self.cones)

    @property
    def degree(self) -> int:
        """The sum of sgn det M_aa over the solutions; for an R0-matrix the same in all regions (CPS section 6.1)."""
        return sum(cone.index for cone in self.cones)


@dataclass(frozen=True)
class ComplementaryCones:
    """All cones of M (n, n): `generators` are the columns of I and then of -M (2 n), zero where the column is.

    `degenerate` holds the index sets a with det M_aa = 0. In space no region crosses the plane x + y + z = 0, so that
    each is visible from one side.
    """

    generators: tuple[Direction, ...]
    cones: tuple[Cone, ...]
    degenerate: tuple[tuple[int, ...], ...]
    regions: tuple[Region, ...]

    @property
    def facets(self) -> list[tuple[Direction, ...]]:
        """The boundaries of the cones: rays in the plane, pairs of independent directions in space."""
        n = len(self.generators) // 2
        return list(dict.fromkeys(_facets(self.generators, n)))

    def at_boundary(self, q: Direction) -> bool:
        """Whether q, not zero, lies on a facet, where the number of solutions may differ from both sides."""
        if len(q) == 2:
            return (q,) in self.facets
        return _on(q, [(a, b, _cross(a, b)) for a, b in self.facets])


def complementary_cones(M: fmpq_mat) -> ComplementaryCones:
    """The cones of a rational M (n, n) and the regions between them; raises ValueError unless n is 2 or 3."""
    n = M.nrows()
    if n not in (2, 3) or M.ncols() != n:
        raise ValueError(f"complementary cones are drawn for n = 2 and 3; the matrix is {n} x {M.ncols()}")
    columns = [[fmpq(i == j) for i in range(n)] for j in range(n)] + [[-M[i, j] for i in range(n)] for j in range(n)]
    generators = tuple(direction(column) for column in columns)
    cones, degenerate = [], []
    for a in index_sets(range(n)):
        chosen = tuple(generators[n + i if i in a else i] for i in range(n))
        size = _determinant(chosen)
        if size == 0:
            degenerate.append(a)
        else:
            # The determinant of columns of I and -M is (-1)^|a| det M_aa.
            cones.append(Cone(a, chosen, (1 if size > 0 else -1) * (-1) ** len(a)))
    parts = _sectors(generators) if n == 2 else _pieces(generators)
    regions = tuple(
        Region(tuple(cone for cone in cones if cone.surrounds(inside)), outline, inside, share)
        for outline, inside, share in parts
    )
    return ComplementaryCones(generators, tuple(cones), tuple(degenerate), regions)


def direction(v: Sequence[fmpq]) -> Direction:
    """The direction of a rational vector; zeros for zero."""
    scale = functools.reduce(fmpz.lcm, (x.q for x in v))
    return _primitive([x.p * (scale // x.q) for x in v])


def unit(v: Direction) -> list[float]:
    """The unit vector of a direction, rounded; its entries may have thousands of digits."""
    largest = max(map(abs, v))
    scaled = [nearest_double(fmpq(x, largest)) for x in v]
    length = math.hypot(*scaled)
    return [x / length for x in scaled]


def turn(u: Direction, v: Direction) -> float:
    """The angle in the plane from u counterclockwise to v, from 0 to 2 pi; its side of 0 and pi is exact."""
    cross, dot = _determinant((u, v)), _dot(u, v)
    size = max(abs(cross), abs(dot))
    angle = math.atan2(nearest_double(fmpq(cross, size)), nearest_double(fmpq(dot, size)))
    return angle if angle >= 0 else 2 * math.pi + angle


def _facets(generators: Sequence[Direction], n: int) -> Iterator[tuple[Direction, ...]]:
    if n == 2:
        yield from ((g,) for g in generators if any(g))
        return
    for i, j in itertools.combinations(range(2 * n), 2):
        # A column of I and that of -M with the same index belong to no common cone.
        if j - i != n and any(_cross(generators[i], generators[j])):
            yield generators[i], generators[j]


def _sectors(generators: Sequence[Direction]) -> Iterator[tuple]:
    """The plane between the rays: outline, inside, share."""

    def compared(u: Direction, v: Direction) -> int:
        below = [w[1] < 0 or (w[1] == 0 and w[0] < 0) for w in (u, v)]
        return below[0] - below[1] or -_determinant((u, v))

    rays = sorted({g for g in generators if any(g)}, key=functools.cmp_to_key(compared))
    for u, v in zip(rays, [*rays[1:], rays[0]], strict=True):
        side = _determinant((u, v))
        middle = _sum((u, v)) if side else (-u[1], u[0])
        yield ((u, v),), middle if side >= 0 else _negative(middle), turn(u, v) / (2 * math.pi)


def _pieces(generators: Sequence[Direction]) -> Iterator[tuple]:
    """The sphere between the facets, separately for each side of x + y + z = 0: outline, inside, share.

    The planes through any two generators cut space into convex cells, and neighbouring cells belong together
    unless a facet lies between them.
    """
    zero, one = fmpz(0), fmpz(1)
    rim = (one, one, one)
    normals = (_primitive(_cross(u, v)) for u, v in itertools.combinations(generators, 2))
    cells = [
        _oriented(((a, zero, zero), (zero, b, zero), (zero, zero, c)))
        for a, b, c in itertools.product((one, -one), repeat=3)
    ]
    for normal in dict.fromkeys(max(v, _negative(v)) for v in (rim, *normals) if any(v)):
        cells = [part for cell in cells for part in _split(cell, normal)]
    facets = [(a, b, _cross(a, b)) for a, b in dict.fromkeys(_facets(generators, 3))]
    owner = {edge: i for i, cell in enumerate(cells) for edge in _around(cell)}
    group = list(range(len(cells)))
    for (u, v), i in owner.items():
        joined, other, middle = group[i], group[owner[v, u]], _sum((u, v))
        if joined != other and _dot(middle, rim) and not _on(middle, facets):
            group = [joined if g == other else g for g in group]
    for g in dict.fromkeys(group):
        members = [cell for cell, h in zip(cells, group, strict=True) if h == g]
        share = sum(map(_solid_angle, members)) / (4 * math.pi)
        yield tuple(_outline(members)), _sum(members[0]), share


def _split(cell: tuple[Direction, ...], normal: Direction) -> list[tuple[Direction, ...]]:
    """The two parts of a convex cell, or the cell itself where the plane does not cross it."""
    values = [_dot(normal, ray) for ray in cell]
    if min(values) >= 0 or max(values) <= 0:
        return [cell]
    above: list[Direction] = []
    below: list[Direction] = []
    for (u, s), (v, t) in _around(list(zip(cell, values, strict=True))):
        above += [u] if s >= 0 else []
        below += [u] if s <= 0 else []
        if s * t < 0:
            crossing = _primitive([abs(t) * x + abs(s) * y for x, y in zip(u, v, strict=True)])
            above.append(crossing)
            below.append(crossing)
    return [tuple(above), tuple(below)]


def _on(v: Direction, facets: Iterable[tuple[Direction, Direction, Direction]]) -> bool:
    """Whether v lies on a facet, given as its two generators and its normal."""
    return any(
        _dot(v, normal) == 0 and _dot(_cross(a, v), normal) >= 0 and _dot(_cross(v, b), normal) >= 0
        for a, b, normal in facets
    )


def _outline(cells: list[tuple[Direction, ...]]) -> Iterator[tuple[Direction, ...]]:
    """The loops of edges that belong to one cell only."""
    edges = {edge for cell in cells for edge in _around(cell)}
    after: dict[Direction, list[Direction]] = {}
    for u, v in sorted(edges):
        if (v, u) not in edges:
            after.setdefault(u, []).append(v)
    while after:
        start = here = next(iter(after))
        loop = []
        while True:
            loop.append(here)
            there = after[here].pop()
            if not after[here]:
                del after[here]
            here = there
            if here == start:
                break
        yield tuple(loop)


def _solid_angle(cell: tuple[Direction, ...]) -> float:
    """Solid angle by triangles (van Oosterom and Strackee, IEEE Trans. Biomed. Eng. 30, 1983)."""
    rays = [unit(ray) for ray in cell]
    total = 0.0
    for b, c in itertools.pairwise(rays[1:]):
        a = rays[0]
        below = 1 + _dot(a, b) + _dot(b, c) + _dot(c, a)
        total += 2 * math.atan2(abs(_determinant((a, b, c))), below)
    return total


def _oriented(cell: tuple[Direction, ...]) -> tuple[Direction, ...]:
    return cell if _determinant(cell) > 0 else cell[::-1]


def _around(items: Sequence) -> Iterator[tuple]:
    return zip(items, (*items[1:], items[0]), strict=True)


def _sum(vectors: Iterable[Direction]) -> Direction:
    return tuple(sum(entries, fmpz(0)) for entries in zip(*vectors, strict=True))


def _primitive(v: Sequence[fmpz]) -> Direction:
    divisor = functools.reduce(fmpz.gcd, v) or fmpz(1)
    return tuple(x // divisor for x in v)


def _negative(v: Direction) -> Direction:
    return tuple(-x for x in v)


def _dot(u: Sequence, v: Sequence):
    return sum(x * y for x, y in zip(u, v, strict=True))


def _cross(u: Sequence, v: Sequence) -> tuple:
    return u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]


def _determinant(vectors: Sequence[Sequence]):
    if len(vectors) == 2:
        (a, b), (c, d) = vectors
        return a * d - b * c
    u, v, w = vectors
    return _dot(_cross(u, v), w)
