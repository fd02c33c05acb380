"""Numerical rank, with the tolerance and gap that show its reliability, and the rows that make it deficient."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.engine.lazy import linalg
from workbench.support.errors import DataError

DEPENDENCE = 1e-12
"""Fraction of a row's length outside the span of other rows below which it counts as dependent on them."""


@dataclass(frozen=True, eq=False)
class Rank:
    """Numerical rank of a matrix.

    `tolerance` is absolute, in the unit of the entries: singular values above it count. `gap` is the ratio of the
    last singular value that counts to the first that does not (inf when that is zero), None when there is no such
    pair; with a gap near 1 the rank depends on the tolerance. `condition` is the ratio of the largest to the smallest
    singular value that counts, the condition number on the range; None for rank zero.
    """

    value: int
    tolerance: float
    singular_values: NDArray
    gap: float | None
    condition: float | None


def rank(M: ArrayLike, tolerance: float | None = None) -> Rank:
    """Rank of M (m, n) from its singular values; the default tolerance is max(m, n) eps sigma_max.

    Raises DataError unless M is a non-empty matrix of finite entries.
    """
    M = _matrices(M)
    if M.ndim != 2:
        raise DataError(f"the rank of an array of shape {M.shape} was asked for; one matrix is needed")
    sigma = np.linalg.svd(M, compute_uv=False)
    if tolerance is None:
        tolerance = float(_rounding(M.shape, sigma))
    r = int((sigma > tolerance).sum())
    gap = None
    if 0 < r < sigma.size:
        # With a subnormal denominator the quotient may overflow.
        with np.errstate(over="ignore"):
            gap = float(sigma[r - 1] / sigma[r]) if sigma[r] > 0 else float("inf")
    return Rank(r, tolerance, sigma, gap, float(sigma[0] / sigma[r - 1]) if r else None)


def ranks(M: ArrayLike, tolerance: float | ArrayLike | None = None) -> NDArray[np.int64]:
    """Ranks (...) of a batch M (..., m, n); `tolerance` as for `rank`, one number or one per matrix."""
    M = _matrices(M)
    sigma = np.linalg.svd(M, compute_uv=False)
    limit = _rounding(M.shape, sigma) if tolerance is None else np.asarray(tolerance, dtype=float)
    return (sigma > limit[..., None]).sum(axis=-1)


def dependent_rows(A: ArrayLike, tolerance: float = DEPENDENCE) -> list[tuple[int, ...]]:
    """Sets of linearly dependent rows of A (m, n), zero-based; empty if the rows are independent.

    One set for every row beyond the rank: that row with the rows of a well-conditioned basis that it combines. Each is
    minimal (without any member the others are independent). Rows are compared at unit length, so that their units do
    not matter; a zero row is a set of its own. Raises DataError unless A is a non-empty matrix of finite entries.
    """
    A = _matrices(A)
    largest = np.abs(A).max(axis=1)
    zero = largest == 0
    nonzero = np.flatnonzero(~zero)
    sets: list[tuple[int, ...]] = [(int(i),) for i in np.flatnonzero(zero)]
    if nonzero.size:
        rows = A[nonzero] / largest[nonzero, None]
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        # Column pivoting orders the rows by their contribution to the span.
        R, order = linalg.qr(rows.T, mode="r", pivoting=True)
        r = int((np.abs(np.diag(R)) > tolerance).sum())
        combination = linalg.solve_triangular(R[:r, :r], R[:r, r:])
        negligible = tolerance / abs(R[r - 1, r - 1])
        for column, row in enumerate(order[r:]):
            involved = order[:r][np.abs(combination[:, column]) > negligible]
            sets.append(tuple(sorted(int(nonzero[i]) for i in (row, *involved))))
    return sorted(sets)


def _matrices(M: ArrayLike) -> NDArray[np.float64]:
    M = np.asarray(M, dtype=float)
    if M.ndim < 2 or 0 in M.shape[-2:]:
        raise DataError(f"an array of shape {M.shape} was given; a matrix has two non-empty dimensions")
    if not np.isfinite(M).all():
        where = np.argwhere(~np.isfinite(M))[0]
        raise DataError(f"entry {where.tolist()} is {M[tuple(where)]}; every entry must be finite")
    return M


def _rounding(shape: tuple[int, ...], sigma: NDArray) -> NDArray:
    return max(shape[-2:]) * np.finfo(float).eps * sigma[..., 0]
