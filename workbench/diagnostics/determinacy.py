"""Contact impulses that the motion determines uniquely.

The motion in a step fixes the generalised impulse J^T p of all rows together, bilateral ones included. A contact's
impulses are unique where no vector of the null space of J^T involves them; J has the rows that may be loaded.
This holds for every law of friction, so that solutions of different formulations can be compared there.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.support.arrays import Array

INDEPENDENT = 1e-6
"""Singular values of the rows, scaled to unit length in the kinetic metric, up to which they count as dependent."""
TOUCHED = 1e-6
"""Largest component of a contact in the (orthonormal) null space that counts as zero."""


@dataclass(frozen=True, eq=False)
class Determinacy:
    """contacts (K, r): whether the impulses of the contact are unique, and dimension (K,) of the null space."""

    contacts: NDArray[np.bool_]
    dimension: NDArray[np.int64]


def determinacy(mass: Array, J: Array, J_b: Array, mu: Array, carries: NDArray[np.bool_]) -> Determinacy:
    """Determinacy of K states: mass (K, n, n), J (K, (1+d) r, n) with the normal rows first, J_b (K, m, n), mu,
    carries (K, r).

    Rows of unloaded contacts and friction rows of contacts with mu = 0 do not count. If no contact is loaded, every
    contact counts as determined, since its impulses are zero.
    """
    K, r = carries.shape
    if not K or not r:
        return Determinacy(np.ones((K, r), dtype=bool), np.zeros(K, dtype=np.int64))
    d, m = J.shape[1] // r - 1, J_b.shape[1]
    may = np.concatenate([carries, np.repeat(carries & (mu > 0), d, axis=1), np.ones((K, m), dtype=bool)], axis=1)
    rows = np.concatenate([J, J_b], axis=1)
    rows = np.swapaxes(np.linalg.solve(np.linalg.cholesky(mass), np.swapaxes(rows, 1, 2)), 1, 2)
    length = np.linalg.norm(rows, axis=2)
    may &= length > 0
    rows = np.where(may[..., None], rows / np.where(length > 0, length, 1.0)[..., None], 0.0)
    # Rows that do not count get a separate unit entry, which adds nothing to the null space.
    gram = rows @ np.swapaxes(rows, 1, 2) + np.where(may, 0.0, 1.0)[..., None] * np.eye(may.shape[1])
    values, vectors = np.linalg.eigh(gram)
    free = values <= INDEPENDENT**2
    parts = np.einsum("kij,kj->ki", vectors**2, free.astype(float))
    own = parts[:, :r] + parts[:, r : r + d * r].reshape(K, r, d).sum(axis=2)
    return Determinacy(own <= TOUCHED**2, free.sum(axis=1))
