"""The inertia of a global friction problem: v for given impulses, M v = a + G p_b with G^T v = c, factored once."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.engine.lazy import sparse
from workbench.support.arrays import Array
from workbench.support.errors import DataError

LARGEST_BODY = 60
"""Largest number of rows of a body whose inverse inertia is stored."""
SINGULAR = 1e-13
"""Smallest pivot of K over the largest, in scaled velocities, below which at most three digits of W would be left."""
CHUNK = 256
"""Right-hand sides solved at a time."""


class Inertia:
    """K = [[M, -G], [G^T, 0]] in scaled velocities v^ = v / scale, in which M has a unit diagonal, and its `factors`.

    M (n, n), G (n, m) sparse. `body` numbers the uncoupled parts of K. `inverse` is the block of K^-1 that maps
    impulses to velocities (n, n), sparse; None if a body has more than LARGEST_BODY rows. `mobility` (n,) is that block
    if it is diagonal. Impulses are scaled like H, `scaled(H)`. Raises DataError if K is singular.
    """

    def __init__(self, M: "sparse.csr_array", G: "sparse.csr_array"):
        self.n, m = G.shape
        diagonal = np.abs(M.diagonal())
        self.scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        M, G = self.scaled(self.scaled(M).T).T, self.scaled(G)
        size = np.sqrt((G**2).sum(axis=0)) if m else np.zeros(0)
        self.unit = 1.0 / np.where(size > 0, size, 1.0)
        G = G @ sparse.diags_array(self.unit)
        self.K = sparse.csc_array(sparse.block_array([[M, -G], [G.T, None]]) if m else M)
        every = np.arange(self.n + m)
        apart = self.K.nnz == every.size and np.array_equal(self.K.indices, every)
        pivots = np.abs(self.K.diagonal() if apart else self.factors.U.diagonal())
        if not pivots.min() > SINGULAR * pivots.max():
            raise _singular()
        self.mobility = 1.0 / self.K.diagonal() if apart else None
        if apart:
            self.body, self.inverse = every, sparse.diags_array(self.mobility, format="csr")
        else:
            self.body = sparse.csgraph.connected_components(self.K, directed=False)[1]
            sizes = np.bincount(self.body)
            self.inverse = self._inverse(sizes) if sizes.max() <= LARGEST_BODY else None

    @cached_property
    def factors(self) -> Any:
        """Factors of K by SuperLU; raises DataError if a pivot is zero."""
        try:
            return sparse.linalg.splu(self.K)
        except RuntimeError:
            raise _singular() from None

    def scaled(self, X: Any) -> "sparse.csr_array":
        """Convert rows (n, ...) of impulses per velocity to scaled velocities."""
        return sparse.csr_array(sparse.diags_array(self.scale) @ X)

    def velocity(self, f: Array, b: Array) -> Array:
        """Return v^ (n,) of M v = f + G p_b, G^T v + b = 0; f and b not scaled."""
        return self.factors.solve(np.concatenate([self.scale * f, -self.unit * b]))[: self.n]

    def response(self, impulse: Array) -> Array:
        """Return v^ for scaled impulses, both (n,) or (n, k)."""
        if self.mobility is not None and impulse.ndim == 1:
            return self.mobility * impulse
        if self.inverse is not None:
            return self.inverse @ impulse
        rhs = np.zeros((self.K.shape[0], *impulse.shape[1:]))
        rhs[: self.n] = impulse
        return self.factors.solve(rhs)[: self.n]

    def squares(self, H: "sparse.csr_array") -> Array:
        """Return the diagonal of H^T K^-1 H; H (n, k) scaled."""
        if self.inverse is not None:
            return (H * (self.inverse @ H)).sum(axis=0)
        columns, found = H.tocsc(), []
        for first in range(0, H.shape[1], CHUNK):
            some = columns[:, first : first + CHUNK].toarray()
            found.append((some * self.response(some)).sum(axis=0))
        return np.concatenate(found)

    def _inverse(self, sizes: NDArray[np.int64]) -> "sparse.csr_array":
        """All bodies at once: each right-hand side has one entry 1 for every body."""
        size, largest = self.body.size, int(sizes.max())
        order = np.argsort(self.body, kind="stable")
        place = np.empty(size, dtype=np.int64)
        place[order] = np.arange(size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        members = np.full((sizes.size, largest), size)
        members[self.body, place] = np.arange(size)
        X = self.factors.solve((place[:, None] == np.arange(largest)).astype(float))
        columns = members[self.body[: self.n]]
        i, k = np.nonzero(columns < self.n)
        return sparse.csr_array((X[i, k], (i, columns[i, k])), shape=(self.n, self.n))


def _singular() -> DataError:
    return DataError("M (with its bilateral constraints) is singular; W = H^T M^-1 H does not exist")
