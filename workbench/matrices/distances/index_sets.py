"""The smallest sigma_min over a family of matrices, one for every index set, between proved bounds.

Each of the 2^n matrices is bounded in floating point. Undecided ones, so close to singular that rounding matters, are
treated one by one in arithmetic with error bounds, the most promising first.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from workbench.engine.timing import OutOfTimeError, clock
from workbench.matrices.distances.singular_values import direction, least_in_doubles, least_of_rationals, quotient
from workbench.matrices.linear_algebra.rationals import doubles, exact, nearest_double, submatrix
from workbench.support.arrays import Array

LARGEST = 14
"""Largest order for which all index sets are examined."""
BATCH = 256
"""Number of index sets between two checks of the clock: about a hundredth of a second."""
WIDTH = 1e-10
"""Relative width at which an enclosure is not narrowed further."""

Set = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Family:
    """The matrices B_a times 2^-power, of size one at most, for index sets a of at least `smallest` of n indices.

    `doubles` maps sets (c, k) to matrices (c, m, m) with entries rounded once; `rationals` takes one set.
    """

    n: int
    smallest: int
    power: int
    doubles: Callable[[NDArray[np.int64]], Array]
    rationals: Callable[[Set], fmpq_mat]

    def sets(self) -> Iterator[list[Set]]:
        """All index sets by size, in batches of one size."""
        for k in range(self.smallest, self.n + 1):
            sets = itertools.combinations(range(self.n), k)
            while batch := list(itertools.islice(sets, BATCH)):
                yield batch


def principal(M: fmpq_mat) -> Family:
    """B_a = M_aa, the principal submatrices of M (n, n)."""
    power = max((_magnitude(v) for v in M.entries()), default=0)
    S = M * fmpq(2) ** -power
    A = doubles(S)
    return Family(
        M.nrows(), 1, power, lambda sets: A[sets[:, :, None], sets[:, None, :]], lambda a: submatrix(S, list(a))
    )


def mixed(M: fmpq_mat) -> Family:
    """B_a has the rows of M (n, n) on a, and those of the identity elsewhere."""
    n = M.nrows()
    power = max(1, *(_magnitude(v) for v in M.entries()))
    unit = fmpq(2) ** -power
    S = M * unit
    A, one = doubles(S), nearest_double(unit)

    def of_sets(sets: NDArray[np.int64]) -> Array:
        B = np.tile(one * np.eye(n), (len(sets), 1, 1))
        B[np.arange(len(sets))[:, None], sets] = A[sets]
        return B

    def rationals(a: Set) -> fmpq_mat:
        return fmpq_mat(n, n, [S[i, j] if i in a else unit * (i == j) for i in range(n) for j in range(n)])

    return Family(n, 0, power, of_sets, rationals)


def _magnitude(v: fmpq) -> int:
    """The smallest or second smallest power of two above |v|."""
    return int(v.p).bit_length() - int(v.q).bit_length() + 1 if v else -(10**6)


@dataclass(frozen=True, eq=False)
class LeastOverIndexSets:
    """lower <= min over all index sets of sigma_min(B_a) <= upper, with the `index_set` of the upper bound and a vector
    x for it, |B_a x| <= upper |x|. `complete`: all index sets were examined; otherwise only the floor is a lower
    bound."""

    lower: fmpq
    upper: fmpq
    index_set: Set
    x: list[fmpq]
    complete: bool


def least_singular_value(family: Family, end: float, floor: fmpq) -> LeastOverIndexSets:
    """min over all index sets of sigma_min, to about `WIDTH`; wider if the time `end` of `clock` comes first.

    `floor` is a known lower bound, possibly zero.
    """
    scale = fmpq(2) ** family.power
    sets, lower, estimate, complete = _scan(family, end)
    where = sets[int(estimate.argmin())]
    x = direction(family.doubles(np.array([where], dtype=np.int64))[0])
    upper = quotient(family.rationals(where), x)
    settled: dict[int, fmpq] = {}
    for i in np.argsort(estimate).tolist():
        goal = upper * (1 - exact(WIDTH))
        if floor >= goal * scale:
            break
        if exact(lower[i]) >= goal:
            continue
        if clock() > end or upper == 0:
            break
        try:
            found = least_of_rationals(family.rationals(sets[i]), goal, end)
        except OutOfTimeError:
            break
        settled[i] = found.lower
        if found.upper < upper:
            upper, where, x = found.upper, sets[i], found.x
    left = np.delete(lower, list(settled))
    bounds = [*settled.values(), *([exact(left.min())] if len(left) else [])]
    least = min(bounds) * scale if complete and upper else fmpq(0)
    return LeastOverIndexSets(max(least, floor), upper * scale, where, x, complete)


def _scan(family: Family, end: float) -> tuple[list[Set], Array, Array, bool]:
    """Index sets, proved lower bounds of sigma_min and floating-point estimates, and whether all were examined."""
    sets: list[Set] = []
    lower: list[Array] = []
    estimate: list[Array] = []
    for batch in family.sets():
        if sets and clock() > end:
            return sets, np.concatenate(lower), np.concatenate(estimate), False
        bound, value = least_in_doubles(family.doubles(np.array(batch, dtype=np.int64)))
        sets += batch
        lower.append(bound)
        estimate.append(value)
    return sets, np.concatenate(lower), np.concatenate(estimate), True
