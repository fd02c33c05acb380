"""Decide whether M is a Q0-matrix: LCP(q, M) has a solution whenever it is feasible.

The q with a solution are the union of the complementary cones, spanned by a column of I or of -M for each index; the
feasible q are the cone spanned by all these columns (Cottle, Pang and Stone 1992, sections 1.3 and 3.2). A point
outside every complementary cone disproves Q0. Otherwise the cone around the point is cut away, and the rest of the
feasible cone, split along the facets, is searched in the same way until nothing is left: 2^n cones, each met at most
once on a path. Cones of lower dimension cannot fill a gap, since the union is closed; they are omitted from the cover.
If one passes through the point, the points q + (t, t^2, ..., t^n) are feasible too, for small t > 0 in the same gap,
and on none of these cones: each lies in a hyperplane, which such a curve meets for finitely many t.
"""

import itertools
import random

from flint import fmpq, fmpq_mat

from workbench.engine.timing import check_clock
from workbench.matrices.linear_algebra.exact_lp import solve_inequalities
from workbench.matrices.linear_algebra.rationals import Vector, product
from workbench.matrices.solutions.solution_set import solution_set

LARGEST = 10
"""Largest order for which the 2^n complementary cones are stored."""
TRIES = 50
"""Number of random points that are tried."""


def guessed(M: fmpq_mat, deadline: float) -> tuple[Vector, Vector] | None:
    """`unsolvable` by chance: tries random feasible q with few nonzero multipliers; None proves nothing."""
    n = M.nrows()
    chance = random.Random(1)
    for _ in range(TRIES):
        w, z = ([fmpq(chance.choice((0, 0, 1, 2, 5))) for _ in range(n)] for _ in "wz")
        q = [x - y for x, y in zip(w, product(M, z), strict=True)]
        if solution_set(M, q, deadline, unique=True).count == 0:
            return q, z
    return None


def unsolvable(M: fmpq_mat, deadline: float, nodes_seen: list[list] | None = None) -> tuple[Vector, Vector] | None:
    """q and z >= 0 with M z + q >= 0 for which LCP(q, M) has no solution, or None when M (n, n), n <= `LARGEST`, is
    proved a Q0-matrix. Raises OutOfTimeError.

    The nodes of the proof are recorded in `nodes_seen`, in preorder (`certificates.cones`): ["cone", a], ["empty", y].
    """
    seen = [] if nodes_seen is None else nodes_seen
    n = M.nrows()
    columns = fmpq_mat([[fmpq(i == j) for j in range(n)] + [-x for x in row] for i, row in enumerate(M.tolist())])
    cones = _cones(columns, deadline)
    every = fmpq_mat([row for _, facets in cones for row in facets])
    chance = random.Random(0)
    regions: list[list[Vector]] = [[]]
    while regions:
        region = regions.pop()
        feasible, y = _point(columns, region, [fmpq(1)] * len(region), deadline)
        if feasible is None:
            seen.append(["empty", y])
            continue
        if not region:
            feasible = [fmpq(chance.randint(1, 9)) for _ in range(2 * n)]
        inside = _cone_around(every, columns, feasible)
        if inside is not None:
            a, facets = cones[inside]
            seen.append(["cone", a])
            regions += [[*region, *facets[:i], [-x for x in facets[i]]] for i in reversed(range(n))]
            continue
        return _beside(M, columns, every, feasible, deadline)
    return None


def _beside(
    M: fmpq_mat, columns: fmpq_mat, every: fmpq_mat, multipliers: Vector, deadline: float
) -> tuple[Vector, Vector]:
    """An unsolvable q at the point of these multipliers, which is on no cone of full dimension, or close by."""
    n, t = M.nrows(), fmpq(0)
    while True:
        check_clock(deadline)
        near = [x + t ** (i + 1) if i < n else x for i, x in enumerate(multipliers)]
        q = product(columns, near)
        # One solution is enough to continue, hence "unique".
        if _cone_around(every, columns, near) is None and solution_set(M, q, deadline, unique=True).count == 0:
            return q, near[n:]
        t = t / 8 if t else fmpq(1, 8)


def _cones(columns: fmpq_mat, deadline: float) -> list[tuple[list[int], list[Vector]]]:
    """Every complementary cone of full dimension: the indices whose column is that of -M, and the facet normals (the
    rows of the inverse of its generators)."""
    n = columns.nrows()
    rows, cones = columns.tolist(), []
    for choice in itertools.product((0, n), repeat=n):
        check_clock(deadline)
        try:
            inverse = fmpq_mat([[row[i + c] for i, c in enumerate(choice)] for row in rows]).inv()
            cones.append(([i for i, c in enumerate(choice) if c], inverse.tolist()))
        except ZeroDivisionError:
            continue
    return cones


def _point(
    columns: fmpq_mat, region: list[Vector], bounds: Vector, deadline: float
) -> tuple[Vector | None, Vector | None]:
    """Multipliers >= 0 of the columns whose combination q has normal . q >= bound for every normal of the region."""
    if not region:
        return [fmpq(1)] * columns.ncols(), None
    return solve_inequalities(fmpq_mat(region) * columns, bounds, deadline)


def _cone_around(every: fmpq_mat, columns: fmpq_mat, multipliers: Vector) -> int | None:
    n = columns.nrows()
    values = product(every, product(columns, multipliers))
    return next((i for i in range(len(values) // n) if min(values[n * i : n * i + n]) >= 0), None)
