"""Distance of a matrix from losing the P-property, and from a singular principal minor: enclosed, in the 2-norm.

The nearest matrix with a singular principal minor is at the distance

    sigma(M) = min over index sets a of sigma_min(M_aa).

For det (M + E)_aa = 0 needs |E| >= |E_aa| >= sigma_min(M_aa) (Eckart and Young, Psychometrika 1, 1936), and on the
minimising a, with its singular vectors u and v, E = -sigma u v^T is as large as that. For a P-matrix it is also the
distance to the non-P matrices: on the straight line to one of them the first principal minor that is no longer
positive is zero, and a matrix with a zero minor is not P.

1/sigma(M) is the constant beta_2(M) = max over D = diag(d), 0 <= d <= 1, of |(I - D + D M)^-1 D|_2 of Chen and Xiang
(SIAM J. Optim. 18, 2007), the Lipschitz constant of the solution: |z(q) - z(q')|_2 <= beta_2 |q - q'|_2. The maximum
lies at a vertex: in every t_i = 1/d_i - 1 the matrix (M + diag t)^-1 moves along a segment of rank one, and a norm is
convex. So beta_2 = max over a of |M_aa^-1|_2. It is the smallest such constant: the solution is piecewise linear in
q, and for every a there are q with z_a = -M_aa^-1 q_a > 0 around which this is the constant.
"""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from workbench.engine.timing import OutOfTimeError, clock
from workbench.matrices.distances.distance_bounds import (
    LARGEST_BALLS,
    Diagonal,
    definite_diagonal,
    low_index_set,
    stable_diagonal,
)
from workbench.matrices.distances.index_sets import LARGEST, LeastOverIndexSets, least_singular_value, principal
from workbench.matrices.distances.singular_values import (
    direction,
    least_of_rationals,
    quotient,
    rounded_down,
    rounded_up,
)
from workbench.matrices.linear_algebra.rationals import as_text, submatrix
from workbench.readers.matrix import Matrix
from workbench.support.errors import DataError

SHARP = fmpq(1, 10**9)
"""Relative width below which an enclosure is not improved by another method."""
NEAR = fmpq(1, 10**6)
"""Distance, relative to the entries, above which a singular vector in doubles is accurate enough."""


@dataclass(frozen=True)
class Enclosure:
    """0 <= lower <= an unknown number <= upper, exactly; `upper` is None where it may be infinite."""

    lower: fmpq
    upper: fmpq | None

    @property
    def reciprocal(self) -> "Enclosure":
        return Enclosure(1 / self.upper if self.upper else fmpq(0), 1 / self.lower if self.lower else None)

    def entry(self) -> dict[str, float | None]:
        """The enclosing doubles, for JSON: null for a bound beyond their range."""
        upper = None if self.upper is None else rounded_up(self.upper)
        return {"lower": rounded_down(self.lower), "upper": None if upper == float("inf") else upper}


@dataclass(frozen=True, eq=False)
class Distance:
    """Enclosure of sigma(M), in the unit of M's entries, and its proof.

    Above: with `x` on `index_set` a, |M_aa x| <= upper |x|. Below: `diagonal`, a W >= 0 and s >= lower^2 with
    W M + M^T W - W^2 - s I >= 0; or `complete`, all index sets were examined; or neither, where the bound is zero.
    """

    enclosure: Enclosure
    index_set: tuple[int, ...]
    x: list[fmpq]
    diagonal: Diagonal | None
    complete: bool

    @property
    def method(self) -> str:
        """The support of the bounds, as text."""
        if self.diagonal:
            return "from below by a diagonal W with W M + M^T W - W^2 - s I >= 0, from above by one index set"
        return "by all index sets" if self.complete else "from above by one index set; no lower bound was found"

    @property
    def beta_2(self) -> Enclosure:
        return self.enclosure.reciprocal

    def entry(self) -> dict:
        """For JSON: the bounds as doubles, and in `certificate` the exact ones with their proof, as "p/q"."""
        below = None if self.diagonal is None else {"W": as_text(self.diagonal.w), "s": str(self.diagonal.s)}
        return {
            **self.enclosure.entry(),
            "index_set": list(self.index_set),
            "method": self.method,
            "certificate": {
                "lower": str(self.enclosure.lower),
                "upper": str(self.enclosure.upper),
                "index_set": list(self.index_set),
                "x": as_text(self.x),
                "diagonal": below,
                "all_index_sets": self.complete,
            },
        }


def distance(matrix: Matrix, seconds: float = 5.0) -> Distance:
    """sigma(M) of a square matrix (n, n), in about `seconds`: to 1e-10 up to order 14 if there is enough time.

    Beyond order 14 the bounds come from one diagonal W and one index set, and the lower one is zero unless M is a
    P-matrix. Raises DataError for a matrix that is not square.
    """
    n, columns = matrix.values.shape
    if n != columns:
        raise DataError(f"the matrix is {n} x {columns}; a distance to the matrices that are not P needs a square one")
    end = clock() + seconds
    M = matrix.exact
    diagonal = definite_diagonal(M, end)
    if diagonal:
        above = _of_one_set(matrix, tuple(range(n)), end)
        if diagonal.lower >= above.upper * (1 - SHARP):
            return Distance(Enclosure(diagonal.lower, above.upper), above.index_set, above.x, diagonal, False)
    floor = diagonal.lower if diagonal else fmpq(0)
    if n <= LARGEST:
        found = least_singular_value(principal(M), end - seconds / 4, floor)
        if found.complete and (found.upper == 0 or found.lower > floor):
            return Distance(Enclosure(found.lower, found.upper), found.index_set, found.x, None, True)
    else:
        found = _of_one_set(matrix, low_index_set(matrix.values, end - 0.6 * seconds), end)
    if floor < found.upper * (1 - SHARP):
        candidates = [d for d in (diagonal, stable_diagonal(matrix.values, end)) if d]
        diagonal = max(candidates, key=lambda d: d.lower, default=None)
    lower = diagonal.lower if diagonal else fmpq(0)
    return Distance(Enclosure(lower, found.upper), found.index_set, found.x, diagonal, False)


def _of_one_set(matrix: Matrix, a: tuple[int, ...], end: float) -> LeastOverIndexSets:
    """An upper bound of sigma(M) from the index set a, with its x."""
    B = submatrix(matrix.exact, list(a))
    x = direction(matrix.values[np.ix_(a, a)])
    upper = quotient(B, x)
    if len(a) <= LARGEST_BALLS and upper < NEAR * max(abs(v) for v in B.entries()):
        # The doubles give an upper bound too.
        with suppress(OutOfTimeError):
            found = least_of_rationals(B, deadline=end)
            upper, x = found.upper, found.x
    return LeastOverIndexSets(fmpq(0), upper, a, x, False)
