"""All solutions of a parametric LCP at one value of its parameter, rational or algebraic, exactly.

Numbers belong to the field of that value (`roots.Root`): polynomials modulo its minimal polynomial.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

from flint import fmpq, fmpq_poly

from workbench.engine.timing import check_clock
from workbench.matrices.paths.parametric import Basis, Parametric
from workbench.matrices.paths.roots import Root

Number = fmpq_poly
Point = tuple[tuple[fmpq, ...], ...]
"""s and then y (2 n), each number as its coefficients, so that equal points are equal keys; () is zero."""


@dataclass(frozen=True, eq=False)
class Face:
    """Infinitely many solutions of one index set: the hull of the vertices plus the cone of the rays."""

    a: tuple[int, ...]
    vertices: list[Point]
    rays: list[Point]

    def holds(self, point: Point) -> bool:
        """Whether it contains a solution: all solutions with y = 0 outside a and s = 0 on a."""
        n = len(point) // 2
        return not any(point[j] if j in self.a else point[n + j] for j in range(n))


@dataclass(eq=False)
class Solutions:
    """`points` with their bases, and `faces`; any face makes the number of solutions infinite."""

    points: dict[Point, list[Basis]] = field(default_factory=dict)
    faces: list[Face] = field(default_factory=list)

    @property
    def count(self) -> int | str:
        return "infinite" if self.faces else len(self.points)

    @property
    def isolated(self) -> list[Point]:
        """The points that lie on no face."""
        return [point for point in self.points if not any(face.holds(point) for face in self.faces)]


def support(point: Point) -> tuple[int, ...]:
    """The indices j with y_j > 0."""
    n = len(point) // 2
    return tuple(j for j in range(n) if point[n + j])


def solutions_at(data: Parametric, bases: list[Basis], t: Root, deadline: float) -> Solutions:
    """All solutions at t. Raises OutOfTimeError."""
    found = Solutions()
    rays: list[list[Number]]
    for basis in bases:
        check_clock(deadline)
        if basis.regular and t.at(basis.denominator) != 0:
            if not is_feasible(basis, t):
                continue
            inverse = t.inverse(t.at(basis.denominator))
            corners, rays = [[t.at(t.at(f) * inverse) for f in basis.numerators]], []
        elif t.at(basis.rest) != 0 and t.at(basis.denominator) != 0:
            continue
        else:
            corners, rays = _polyhedron([[t.at(f) for f in row] for row in data.system(basis.a)], t)
        points = [_point(x, basis.a) for x in corners]
        if rays or len(points) > 1:
            found.faces.append(Face(basis.a, points, [_point(x, basis.a) for x in rays]))
        elif points:
            found.points.setdefault(points[0], []).append(basis)
    return found


def is_feasible(basis: Basis, t: Root) -> bool:
    """Whether the solution of a regular basis, with denominator nonzero at t, satisfies x >= 0."""
    sign = t.sign(t.at(basis.denominator))
    return all(sign * t.sign(t.at(f)) >= 0 for f in basis.numerators)


def limit(basis: Basis, t: Root) -> Point | None:
    """The limit of the solution of a regular basis as its parameter tends to t; None for infinity."""
    x = []
    for f in basis.numerators:
        common = f.gcd(basis.denominator)
        denominator = t.at(basis.denominator // common)
        if denominator == 0:
            return None
        x.append(t.at(t.at(f // common) * t.inverse(denominator)))
    return _point(x, basis.a)


def _point(x: list[Number], a: tuple[int, ...]) -> Point:
    values, nothing = [tuple(number.coeffs()) for number in x], [()] * len(x)
    s = [nothing[j] if j in a else values[j] for j in range(len(x))]
    y = [values[j] if j in a else nothing[j] for j in range(len(x))]
    return (*s, *y)


def _polyhedron(rows: list[list[Number]], t: Root) -> tuple[list[list[Number]], list[list[Number]]]:
    """Vertices and rays of {x >= 0 : C x = b}, rows of (C, b); both empty where there is no such x."""
    n = len(rows[0]) - 1
    rows, pivots = _reduced(rows, t)
    if any(row[-1] != 0 for row in rows[len(pivots) :]):
        return [], []
    free = [j for j in range(n) if j not in pivots]
    # Rows over the free unknowns and the constant t_0: x, and t_0 itself.
    zero, one = fmpq_poly(0), fmpq_poly(1)
    inequalities = [[one if k == j else zero for k in [*free, n]] for j in range(n + 1)]
    for row, j in zip(rows, pivots, strict=False):
        inequalities[j] = [*(-row[k] for k in free), row[-1]]
    vertices, rays = [], []
    for generator in _extreme_rays(inequalities, t):
        x = [t.at(sum((c * g for c, g in zip(row, generator, strict=True)), zero)) for row in inequalities]
        if x[-1] == 0:
            rays.append(x[:-1])
        else:
            inverse = t.inverse(x[-1])
            vertices.append([t.at(value * inverse) for value in x[:-1]])
    return (vertices, rays) if vertices else ([], [])


def _extreme_rays(inequalities: list[list[Number]], t: Root) -> Iterator[list[Number]]:
    """One vector of every extreme ray of the pointed cone {g : c . g >= 0 for every row c}."""
    d = len(inequalities[0])
    seen = set()
    for chosen in itertools.combinations(range(len(inequalities)), d - 1):
        rows, pivots = _reduced([[*inequalities[i], fmpq_poly(0)] for i in chosen], t) if chosen else ([], [])
        if len(pivots) < d - 1:
            continue
        free = next(j for j in range(d) if j not in pivots)
        g = [fmpq_poly(0)] * d
        g[free] = fmpq_poly(1)
        for row, j in zip(rows, pivots, strict=True):
            g[j] = -row[free]
        signs = [t.sign(t.at(sum((c * x for c, x in zip(row, g, strict=True)), fmpq_poly(0)))) for row in inequalities]
        # The entry one of g is among these values, so -g is on no such ray.
        tight = tuple(i for i, sign in enumerate(signs) if sign == 0)
        if min(signs) >= 0 and tight not in seen:
            seen.add(tight)
            yield g


def _reduced(rows: list[list[Number]], t: Root) -> tuple[list[list[Number]], list[int]]:
    """Reduced row echelon form over all columns but the last, and the columns of its pivots."""
    rows = [list(row) for row in rows]
    pivots: list[int] = []
    for c in range(len(rows[0]) - 1):
        r = len(pivots)
        chosen = next((i for i in range(r, len(rows)) if rows[i][c] != 0), None)
        if chosen is None:
            continue
        rows[r], rows[chosen] = rows[chosen], rows[r]
        inverse = t.inverse(rows[r][c])
        top = rows[r] = [t.at(x * inverse) for x in rows[r]]
        for i, row in enumerate(rows):
            if i != r and row[c] != 0:
                rows[i] = [t.at(x - row[c] * y) for x, y in zip(row, top, strict=True)]
        pivots.append(c)
    return rows, pivots
