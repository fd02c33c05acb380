"""Velocities and impulses in the kinetic norm, in which contributions of different bodies can be added."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.support.arrays import Array


def kinetic(mass: Array, dv: NDArray[Any]) -> Array:
    """(k,) the kinetic norm sqrt(v^T M v) [sqrt J] of velocities (k, n), mass (k, n, n)."""
    return np.sqrt(np.einsum("ki,kij,kj->k", dv, mass, dv))


def kick(mass: Array, J_b: Array, impulse: Array) -> Array:
    """(k, n) the change of velocity that generalised impulses (k, n) make.

    What bilateral constraints J_b (k, m, n) take up of them is left out, since the contacts' part in it is not
    determined.
    """
    dv = np.linalg.solve(mass, impulse[..., None])
    if J_b.shape[1]:
        X = np.linalg.solve(mass, np.swapaxes(J_b, 1, 2))
        dv = dv - X @ np.linalg.pinv(J_b @ X, hermitian=True) @ (J_b @ dv)
    return np.asarray(dv[..., 0], dtype=float)
