"""Robustness of the solution for this q: the margin of q, the index of each solution, the problem that a z solves."""

from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError
from workbench.matrices.distances.margin import LARGEST, Cones, Margin, margin, square_root
from workbench.matrices.linear_algebra.rationals import affine, as_text, dot, doubles, exact, nearest_double, submatrix

Entry = dict[str, Any]
UNIT = 2.0**-53
"""The unit roundoff: half the distance from 1 to the next double."""
FAR = 1e-7
"""Relative difference from every exact solution above which a z is not one of them: between the round-off of doubles
and anything that matters, the root of the unit roundoff."""


def margin_entry(M: fmpq_mat, q: list[fmpq], is_p: bool, deadline: float) -> Entry:
    """Distance of q (n) from the nearest boundary at which the number of solutions changes, in the 2-norm.

    "distance" is [least, most], equal but for the last digits unless facets overlap, null where there is no
    such boundary ("reason" then says "none", or why none was sought). "rounding" is the largest displacement of q by
    half a unit in the last place of q and of the columns of M that make up the nearest point; "fragile" tells whether
    it reaches the boundary.
    """
    nothing: Entry = dict.fromkeys(
        ("distance", "squared", "facet", "nearest", "here", "beyond", "neighbour", "rounding", "fragile")
    )
    if is_p:
        return {**nothing, "reason": "none: M is a P-matrix, and every q has one solution"}
    if M.nrows() > LARGEST:
        return {**nothing, "reason": f"the order {M.nrows()} exceeds {LARGEST}, the most for all complementary cones"}
    try:
        found = margin(M, q, deadline)
    except OutOfTimeError:
        return {**nothing, "reason": f"{OUT_OF_TIME} before all facets of complementary cones were seen"}
    if found is None:
        return {**nothing, "reason": "none: the number of solutions is the same on both sides of every facet"}
    rounding = _rounding(q, found)
    return {
        "distance": [square_root(found.least_squared), found.value],
        "squared": [str(found.least_squared), str(found.squared)],
        "facet": {"index": found.facet.i, "index_set": list(found.facet.a)},
        "nearest": as_text(found.nearest),
        "here": found.here,
        "beyond": found.beyond,
        "neighbour": as_text(found.neighbour),
        "rounding": rounding,
        "fragile": found.value <= rounding,
        "reason": None,
    }


def _rounding(q: list[fmpq], found: Margin) -> float:
    terms = [(fmpq(1), q), *zip(found.multipliers, found.facet.generators, strict=True)]
    return UNIT * sum(abs(nearest_double(c)) * square_root(dot(v, v)) for c, v in terms)


def index_entries(M: fmpq_mat, q: list[fmpq], points: list[list[str]]) -> list[int | None]:
    """The index of each isolated solution: the sign of det M_aa on its support a, where z_i + w_i > 0 for all i and the
    minor is not zero; null for a degenerate one (CPS section 6.1)."""
    return [_index(M, q, [fmpq(x) for x in point]) for point in points]


def _index(M: fmpq_mat, q: list[fmpq], z: list[fmpq]) -> int | None:
    w = affine(M, z, q)
    a = [i for i, x in enumerate(z) if x > 0]
    if any(x == y == 0 for x, y in zip(z, w, strict=True)):
        return None
    minor = submatrix(M, a).det() if a else fmpq(1)
    return None if minor == 0 else 1 if minor > 0 else -1


def degree_entry(M: fmpq_mat, deadline: float) -> int | None:
    """The degree of an R0-matrix M: the sum of the indices for every q off the facets of complementary cones. It has
    the parity of the number of solutions there. Null for large M, or out of time."""
    if M.nrows() > LARGEST:
        return None
    try:
        return Cones(M, deadline).degree()
    except OutOfTimeError:
        return None


def moved(M: fmpq_mat, q: list[fmpq], z: list[float]) -> float:
    """The smallest change of q, in its largest entry, for which z >= 0 solves LCP(q, M) exactly; z (n) of doubles."""
    point = [exact(x) for x in np.maximum(z, 0.0)]
    off = (abs(v) if x > 0 else max(-v, fmpq(0)) for x, v in zip(point, affine(M, point, q), strict=True))
    return max(map(nearest_double, off), default=0.0)


def is_elsewhere(M: fmpq_mat, q: list[fmpq], z: list[float], solutions: Entry) -> bool:
    """Return whether z is none of the finitely many exact solutions, but one of a neighbouring problem.

    Differences that are small compared with |q|/|M|, the size of unknowns in this problem, do not count.
    """
    if not isinstance(solutions["count"], int):
        return False
    points = [doubles(map(fmpq, point)) for point in solutions["points"]]
    at, largest = np.asarray(z), max(map(abs, M.entries()))
    usual = nearest_double(max(map(abs, q)) / largest) if largest else 0.0
    return all(np.abs(at - point).max() > FAR * max(usual, np.abs(at).max(), np.abs(point).max()) for point in points)
