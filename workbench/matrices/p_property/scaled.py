"""A matrix scaled and rounded for floating point, with the same P-property."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from workbench.matrices.linear_algebra.rationals import exact
from workbench.matrices.p_property.minors import unit_diagonal

SWEEPS = 6
"""Number of balancing sweeps."""


@dataclass(frozen=True, eq=False)
class Scaled:
    """A = R M T rounded once, R and T positive diagonal: ones on the diagonal, rows and columns of similar size."""

    A: NDArray[np.float64]
    r: list[fmpq]
    t: list[fmpq]

    @staticmethod
    def of(M: fmpq_mat, deadline: float = math.inf) -> "Scaled":
        """Scale a rational matrix. Raises OutOfTimeError."""
        A, s = unit_diagonal(M, deadline)
        n, d = len(A), np.ones(len(A))
        if np.isfinite(A).all():
            A, d = balanced(A)
        # A_ij = M_ij / m_ii 2^(s_i - s_j) d_j / d_i, with powers of two for d.
        powers = [exact(x) for x in d]
        r = [fmpq(2) ** s[i] / (M[i, i] * powers[i]) for i in range(n)]
        return Scaled(np.ascontiguousarray(A), r, [fmpq(2) ** -s[i] * powers[i] for i in range(n)])

    def weights(self, w: Iterable[float], index: Iterable[int]) -> list[fmpq]:
        """Transform a diagonal W of the rows `index` of A to M: the congruence by T^-1 maps W R M T to T^-1 W R M."""
        return [exact(x) * self.r[i] / self.t[i] for x, i in zip(w, index, strict=True)]


def balanced(A: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A_ij d_j / d_i with powers of two for d, so that off the diagonal rows and columns are of similar size."""
    n = len(A)
    off, d = np.abs(A), np.ones(n)
    np.fill_diagonal(off, 0.0)
    for _ in range(SWEEPS):
        for i in range(n):
            row, column = off[i].sum(), off[:, i].sum()
            if row > 0 and column > 0 and np.isfinite(row / column) and row / column > 0:
                factor = np.exp2(np.round(0.5 * np.log2(row / column)))
                d[i] *= factor
                off[i] /= factor
                off[:, i] *= factor
    result = A / d[:, None] * d
    return (result, d) if np.isfinite(result).all() else (A, np.ones(n))
