"""The classes of an LCP's matrix and its number of solutions, by their definitions, for orders up to about five.

An oracle for tests, in whole numbers and nothing but Python: it shares no code and no method with the library. Each
definition becomes a statement on cones {x >= 0: A x >= 0}, whose generators are found by cutting orthants with one
half-space after the other (Motzkin's double description).
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import gcd, lcm

Row = list[int]
Rays = list[tuple[Row, int]]
"""Generators of a cone, each with the set, as bits, of the inequalities that it meets as equations."""

NAMES = (
    "P", "P0", "nondegenerate", "PD", "PSD", "Z", "M", "H_plus", "column_sufficient", "row_sufficient", "copositive",
    "strictly_copositive", "copositive_plus", "E0", "E", "R0", "S", "Q", "Q0",
)  # fmt: skip


def whole(rows: list[list[Fraction]]) -> list[Row]:
    """The rows over their common denominator, which is left out."""
    scale = lcm(*(x.denominator for row in rows for x in row))
    return [[int(x * scale) for x in row] for row in rows]


def dot(x: Row, y: Row) -> int:
    return sum([u * v for u, v in zip(x, y, strict=True)])


def image(A: list[Row], x: Row) -> Row:
    return [dot(row, x) for row in A]


def turned(A: list[Row]) -> list[Row]:
    return [list(column) for column in zip(*A, strict=True)]


def part(A: list[Row], a: tuple[int, ...]) -> list[Row]:
    return [[A[i][j] for j in a] for i in a]


def index_sets(n: int) -> list[tuple[int, ...]]:
    """All that are not empty."""
    return [a for k in range(1, n + 1) for a in combinations(range(n), k)]


def determinant(A: list[Row]) -> int:
    """By its first row."""
    if len(A) < 2:
        return A[0][0] if A else 1
    return sum((-1) ** j * x * determinant([row[:j] + row[j + 1 :] for row in A[1:]]) for j, x in enumerate(A[0]) if x)


def adjugate(A: list[Row]) -> list[Row]:
    """The inverse times the determinant."""
    n = range(len(A))
    return [
        [(-1) ** (i + j) * determinant([[A[r][c] for c in n if c != i] for r in n if r != j]) for j in n] for i in n
    ]


def orthant(n: int, signs: Row | None = None) -> Rays:
    """All x with s_i x_i >= 0."""
    return [([(signs[i] if signs else 1) * (i == j) for j in range(n)], (1 << n) - 1 - (1 << i)) for i in range(n)]


def cut(rays: Rays, row: Row, bit: int) -> Rays:
    """The part of a pointed cone with row . x >= 0, the inequality that `bit` stands for from now on."""
    values = [dot(row, x) for x, _ in rays]
    if min(values, default=0) > 0:
        return rays
    kept = [(x, met | bit if v == 0 else met) for (x, met), v in zip(rays, values, strict=True) if v >= 0]
    for i, v in enumerate(values):
        for j, u in enumerate(values):
            if v > 0 > u:
                both = rays[i][1] & rays[j][1]
                if not any(met & both == both for k, (_, met) in enumerate(rays) if k not in (i, j)):
                    x = [v * y - u * z for y, z in zip(rays[j][0], rays[i][0], strict=True)]
                    divisor = gcd(*x)
                    kept.append(([y // divisor for y in x], both | bit))
    return kept


def cone(n: int, nonnegative: list[Row], zero: list[Row] = ()) -> list[Row]:
    """Generators of {x >= 0 (n): those rows . x >= 0, these = 0}."""
    rays = orthant(n)
    for k, row in enumerate([*nonnegative, *(row for z in zero for row in (z, [-x for x in z]))]):
        rays = cut(rays, row, 1 << (n + k))
    return [x for x, _ in rays]


def total(rays: list[Row], n: int) -> Row:
    """A point in a cone's relative interior: what is positive anywhere in the cone is positive there."""
    return [sum(x[i] for x in rays) for i in range(n)]


def truth(M: list[Row]) -> dict[str, bool]:
    """Whether M, in whole numbers, belongs to each of the nineteen classes (Cottle, Pang and Stone 1992)."""
    n, sets = len(M), index_sets(len(M))
    S = [[x + y for x, y in zip(row, column, strict=True)] for row, column in zip(M, turned(M), strict=True)]
    minors = {a: determinant(part(M, a)) for a in sets}
    forms = {a: determinant(part(S, a)) for a in sets}
    compared = [[x if i == j else -abs(x) for j, x in enumerate(row)] for i, row in enumerate(M)]
    is_z = all(M[i][j] <= 0 for i in range(n) for j in range(n) if i != j)
    is_p = min(minors.values()) > 0
    # x >= 0 with support in a and (M x)_a <= 0.
    against = {a: cone(len(a), [[-x for x in row] for row in part(M, a)]) for a in sets}
    strict = [image(part(M, a), total(against[a], len(a))) for a in sets if against[a]]
    copositive = not any(_presses_down(part(S, a), forms[a]) for a in sets)
    nulls = [_spread(x, a, n) for a in sets if not forms[a] for x in cone(len(a), [], part(S, a))]
    uncovered = uncovered_q(M)
    return {
        "P": is_p,
        "P0": min(minors.values()) >= 0,
        "nondegenerate": all(minors.values()),
        "PD": min(forms.values()) > 0,
        "PSD": min(forms.values()) >= 0,
        "Z": is_z,
        "M": is_z and is_p,
        "H_plus": all(determinant(part(compared, a)) > 0 for a in sets),
        "column_sufficient": is_column_sufficient(M),
        "row_sufficient": is_column_sufficient(turned(M)),
        "copositive": copositive,
        "strictly_copositive": copositive and not nulls,
        "copositive_plus": copositive and not any(any(image(S, x)) for x in nulls),
        "E0": not any(max(w) < 0 for w in strict),
        "E": not strict,
        "R0": not any(_homogeneous(M, a) for a in sets if not minors[a]),
        "S": min(image(M, total(cone(n, M), n))) > 0,
        "Q": uncovered is None and not cone(n, [[-x for x in row] for row in turned(M)]),
        "Q0": uncovered is None,
    }


def is_indefinite(M: list[Row]) -> bool:
    """Whether x^T M x is positive for one x, and negative for another."""
    n = len(M)
    S = [[M[i][j] + M[j][i] for j in range(n)] for i in range(n)]
    return all(
        any(determinant(part([[s * x for x in row] for row in S], a)) < 0 for a in index_sets(n)) for s in (1, -1)
    )


def rank(M: list[Row]) -> int:
    """The order of the largest minor that is not zero."""
    n = len(M)
    for k in range(n, 0, -1):
        sets = [a for a in index_sets(n) if len(a) == k]
        if any(determinant([[M[i][j] for j in b] for i in a]) for a in sets for b in sets):
            return k
    return 0


def _spread(x: Row, a: tuple[int, ...], n: int) -> Row:
    values = dict(zip(a, x, strict=True))
    return [values.get(i, 0) for i in range(n)]


def _presses_down(S: list[Row], d: int) -> bool:
    """Whether S x = -e for some x > 0. The least value of x^T S x on the simplex is taken at an x of smallest support,
    where S_aa x = value e and S_aa is nonsingular: else x could move in a's null space, and leave the support."""
    return d != 0 and all(sum(row) * d < 0 for row in adjugate(S))


def _homogeneous(M: list[Row], a: tuple[int, ...]) -> bool:
    """Whether LCP(0, M) has a solution other than zero, with support in a."""
    outside = [i for i in range(len(M)) if i not in a]
    return bool(cone(len(a), [[M[i][j] for j in a] for i in outside], part(M, a)))


def is_column_sufficient(M: list[Row]) -> bool:
    """x_i (M x)_i <= 0 for all i makes all these products zero: for x of each sign pattern."""
    n = len(M)
    for signs in product((1, -1), repeat=n - 1):
        s = (1, *signs)
        N = [[s[i] * s[j] * x for j, x in enumerate(row)] for i, row in enumerate(M)]
        x = total(cone(n, [[-v for v in row] for row in N]), n)
        if any(u and v for u, v in zip(x, image(N, x), strict=True)):
            return False
    return True


def uncovered_q(M: list[Row]) -> Row | None:
    """A feasible q on no complementary cone with interior; where there is none, the closed cones cover all of them."""
    n = len(M)
    columns = [[[int(i == j) for i in range(n)] for j in range(n)], [[-x for x in column] for column in turned(M)]]
    cones = []
    for choice in product((0, 1), repeat=n):
        G = turned([columns[c][j] for j, c in enumerate(choice)])
        d = determinant(G)
        if d:
            cones.append([[x if d > 0 else -x for x in row] for row in adjugate(G)])
    # q is feasible iff f . q >= 0 for all f >= 0 with f^T M <= 0.
    feasible = cone(n, [[-x for x in row] for row in turned(M)])
    for signs in product((1, -1), repeat=n):
        region, bit = orthant(n, list(signs)), 1 << n
        for f in feasible:
            region, bit = cut(region, f, bit), bit << 1
        # What is left of the feasible cone may be flat: then it is on the border of its other parts.
        if all(
            any(dot(f, x) > 0 for x, _ in region)
            for f in [*feasible, *([s * (i == j) for j in range(n)] for i, s in enumerate(signs))]
        ):
            q = _outside(region, bit, cones)
            if q is not None:
                return q
    return None


def _outside(region: Rays, bit: int, cones: list[list[Row]]) -> Row | None:
    """A point of this region with interior that is on none of the cones, which are given by their facets' normals."""
    q = total([x for x, _ in region], len(region[0][0]))
    around = next((k for k, facets in enumerate(cones) if all(dot(f, q) >= 0 for f in facets)), None)
    if around is None:
        return q
    others = cones[:around] + cones[around + 1 :]
    for facet in cones[around]:
        if any(dot(facet, x) < 0 for x, _ in region):
            found = _outside(cut(region, [-v for v in facet], bit), bit << 1, others)
            if found is not None:
                return found
        if not any(dot(facet, x) > 0 for x, _ in region):
            return None
        region, bit = cut(region, facet, bit), bit << 1
    return None


def solution_count(M: list[Row], q: Row) -> int | str:
    """The number of solutions of LCP(q, M), M and q in whole numbers, or "infinite"."""
    n, points = len(M), set()
    rows = [[*row, c] for row, c in zip(M, q, strict=True)]
    for a in [(), *index_sets(n)]:
        found = list(_face(rows, a, n))
        if any(x[-1] for x in found):
            if len(found) > 1:
                return "infinite"
            x = found[0]
            points.add(tuple(Fraction(v, x[-1]) for v in _spread(x[:-1], a, n)))
    return len(points)


def _face(rows: list[Row], a: tuple[int, ...], n: int) -> Iterator[Row]:
    """Generators of the (z_a, t) >= 0 with M z + t q = 0 on a, >= 0 elsewhere, and z = 0 there."""
    kept = [[row[j] for j in (*a, n)] for row in rows]
    return iter(cone(len(a) + 1, [kept[i] for i in range(n) if i not in a], [kept[i] for i in a]))


def is_unique(M: list[Row], free: list[int], bounded: list[int]) -> bool:
    """Whether an MLCP has one solution for every q: det M_aa has one sign, not zero, for all a from `free` on, with any
    of the `bounded` indices (Robinson, Math. Oper. Res. 17, 1992)."""
    chosen = [tuple(sorted([*free, *b])) for k in range(len(bounded) + 1) for b in combinations(bounded, k)]
    minors = [determinant(part(M, a)) for a in chosen]
    return min(minors) > 0 or max(minors) < 0


def encloses(M: list[list[Fraction]], lower: Fraction, upper: Fraction | None) -> bool:
    """Whether lower <= sigma <= upper for the least singular value sigma of all principal submatrices of M, n > 0.

    M_aa^T M_aa - b^2 I has no negative principal minor, for all a, where b <= sigma, and positive ones where b < sigma.
    """

    def minors(b: Fraction) -> list[Fraction]:
        found = []
        for a in index_sets(len(M)):
            A = turned(part(M, a))
            gram = [[dot(u, v) - (b * b if i == j else 0) for j, v in enumerate(A)] for i, u in enumerate(A)]
            found += [determinant(part(gram, c)) for c in index_sets(len(a))]
        return found

    above = upper is None or (upper >= 0 and min(minors(upper)) <= 0)
    return above and (lower <= 0 or min(minors(lower)) >= 0)


def has_planar_solution(W: list[list[Fraction]], q: list[Fraction], mu: list[Fraction], coulomb: bool) -> bool:
    """Whether a friction problem in the plane has a solution, by all modes of its contacts: separation, stick, slip."""
    r = len(mu)
    for modes in product(range(4), repeat=r):
        # Impulses as sums of generators of the cones with factors >= 0, and what is left to ask of u.
        columns, asked = [], []
        for i, (mode, m) in enumerate(zip(modes, mu, strict=True)):
            columns += [{i: Fraction(1), r + i: s * m} for s in ((), (1, -1), (-1,), (1,))[mode]]
            n, t = {i: Fraction(1)}, {r + i: Fraction(1)}
            # Rows over u, and whether they vanish or are >= 0. A slip against r_t > 0 has u_t <= 0.
            s = 1 if mode == 2 else -1
            slip = [({i: Fraction(1), r + i: Fraction(0) if coulomb else -s * m}, True), ({r + i: Fraction(s)}, False)]
            apart = [({i: Fraction(1), r + i: k * m}, False) for k in (1, -1)]
            asked += [[(n, False)] if coulomb else apart, [(n, True), (t, True)], slip, slip][mode]
        rows = {True: [], False: []}
        for over_u, vanishes in asked:
            over_r = [sum((f * W[i][j] for i, f in over_u.items()), Fraction(0)) for j in range(2 * r)]
            rows[vanishes].append(
                [
                    *(sum((over_r[j] * f for j, f in column.items()), Fraction(0)) for column in columns),
                    sum((f * q[i] for i, f in over_u.items()), Fraction(0)),
                ]
            )
        nonnegative, zero = (whole(rows[kind]) if rows[kind] else [] for kind in (False, True))
        if any(x[-1] for x in cone(len(columns) + 1, nonnegative, zero)):
            return True
    return False
