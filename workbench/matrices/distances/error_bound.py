"""Certified bounds of the error of an approximate LCP solution for a P-matrix: the distance to z*, in the 2-norm.

With r = min(z, M z + q) there is a D = diag(d), 0 <= d <= 1, for which r = (I - D + D M)(z - z*), since both z* and
M z* + q have min 0 componentwise. Hence |z - z*| <= alpha_2 |r| with

    alpha_2(M) = max over D of |(I - D + D M)^-1|_2     (Chen and Xiang, Math. Program. 106, 2006).

The maximum is at a vertex: by Sherman and Morrison's formula the inverse is, in every d_i, a constant matrix plus
d_i / (1 + d_i g) times another one. The determinant, a multiple of 1 + d_i g, does not vanish on [0, 1], so that the
factor is monotone, the inverse moves along a segment, and a norm is convex. So 1/alpha_2 is the least sigma_min over
the matrices with rows of M on an index set a and of the identity elsewhere.

The second bound is that of beta_2 (`distance`): set z to zero where z <= M z + q, or z < 0. Then zbar solves the LCP
of another qbar, and |z - z*| <= |z - zbar| + beta_2 |qbar - q|. The smaller bound is taken.
"""

from collections.abc import Sequence

import numpy as np
from flint import fmpq, fmpq_mat

from workbench.engine.timing import clock
from workbench.matrices.distances.distance import Distance, Enclosure
from workbench.matrices.distances.index_sets import LARGEST, least_singular_value, mixed
from workbench.matrices.distances.singular_values import root, rounded_up
from workbench.matrices.linear_algebra.rationals import affine, dot, exact
from workbench.support.errors import DataError


def alpha_2(M: fmpq_mat, distance: Distance, seconds: float = 5.0) -> Enclosure:
    """alpha_2 of a P-matrix M (n, n), given its enclosed `distance` to the non-P matrices.

    Beyond order 14, or out of time, the upper bound is 1 + beta_2 |M - I|, from (I - D + D M)^-1 =
    I - (I - D + D M)^-1 D (M - I), in the Frobenius norm; it is infinite where that of beta_2 is.
    """
    n = M.nrows()
    beta = distance.beta_2.upper
    differences = (M[i, j] - (i == j) for i in range(n) for j in range(n))
    upper = None if beta is None else 1 + beta * root(sum((x * x for x in differences), fmpq(0)), up=True)
    if n > LARGEST:
        return Enclosure(fmpq(1), upper)
    floor = fmpq(0) if upper is None else 1 / upper
    found = least_singular_value(mixed(M), clock() + seconds, floor)
    return Enclosure(found.lower, found.upper).reciprocal


def error_bound(
    M: fmpq_mat, q: Sequence[fmpq], z: Sequence[float], distance: Distance, alpha: Enclosure
) -> float | None:
    """A proved bound of |z - z*|_2 for any z (n,), z* the solution of LCP(q, M) with a P-matrix M; exact arithmetic.

    None where the bound is infinite. Raises DataError for a z of another length or with an entry that is not finite.
    """
    n = M.nrows()
    if len(z) != n or not np.isfinite(z).all():
        raise DataError(
            f"z has {len(z)} entries, {int(np.isfinite(z).sum())} of them finite; {n} finite ones are needed"
        )
    point = [exact(x) for x in z]
    w = affine(M, point, q)
    near = [x if x > max(y, fmpq(0)) else fmpq(0) for x, y in zip(point, w, strict=True)]
    moved = [y if x > 0 else min(y, fmpq(0)) for x, y in zip(near, affine(M, near, q), strict=True)]
    bounds = []
    if alpha.upper is not None:
        bounds.append(alpha.upper * _norm([min(x, y) for x, y in zip(point, w, strict=True)]))
    if distance.beta_2.upper is not None:
        shift = [x - y for x, y in zip(point, near, strict=True)]
        bounds.append(_norm(shift) + distance.beta_2.upper * _norm(moved))
    bound = rounded_up(min(bounds)) if bounds else np.inf
    return bound if np.isfinite(bound) else None


def _norm(x: list[fmpq]) -> fmpq:
    """A rational at or just above |x|_2."""
    return root(dot(x, x), up=True)
