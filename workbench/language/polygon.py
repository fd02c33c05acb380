"""Friction polygons in place of the disc, for the declarations that use them.

In the plane (d = 1) the pair +-1 is exact. If a contact resists torsion or rolling (d > 2), the ball of dimension d is
replaced by the polytope with the fewest directions: inscribed, the cross-polytope with the 2 d vertices +-e_i;
circumscribed, the cube with an interval for each of the d axes. The option `directions` matters only in space (d = 2).
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from workbench.engine.lazy import cvxpy as cp
from workbench.support.errors import ModellingError

Directions = Annotated[int, "number of friction directions of a contact, even, at least 4; in the plane two"]
"""The option `directions` of formulations with polygons."""


def polygon(directions: int, r: int, d: int) -> tuple[cp.Constant, cp.Constant]:
    """A (d r, n_d r), directions 2 pi / n_d apart, and E (n_d r, r) of ones: p_t = A beta, sum of beta = E^T beta."""
    _must_be_even(directions)
    if d == 2:
        block = _spread(2 * np.pi * np.arange(directions) / directions)
    else:
        # Each axis in both directions: [1, -1] in the plane.
        block = np.kron(np.eye(d), [[1.0, -1.0]])
    return _for_all(block, r, "A", "E")


def half_plane(directions: int, r: int, d: int) -> tuple[cp.Constant, cp.Constant]:
    """E (d r, k r), k = directions / 2 axes pi / k apart, and S (k r, r), which repeats a contact's entry k times."""
    _must_be_even(directions)
    k = directions // 2
    block = _spread(np.pi * np.arange(k) / k) if d == 2 else np.eye(d)
    return _for_all(block, r, "E", "S")


def _must_be_even(directions: int) -> None:
    if directions < 4 or directions % 2:
        raise ModellingError(f"directions={directions}; an even number >= 4 is needed")


def _spread(angle: np.ndarray) -> np.ndarray:
    """Unit vectors (2, .) at these angles."""
    x = np.array([np.cos(angle), np.sin(angle)])
    # cos(pi/2) is 6e-17 in floating point; orthogonal axes must be exactly so.
    return np.where(np.abs(x) < 1e-15, 0.0, x)


def _for_all(block: np.ndarray, r: int, vectors: str, ones: str) -> tuple[cp.Constant, cp.Constant]:
    """Directions of one contact (d, k) repeated for r contacts, and the matrix that sums or repeats k entries each."""
    every = np.eye(r)
    return (
        cp.Constant(np.kron(every, block), name=vectors),
        cp.Constant(np.kron(every, np.ones((block.shape[1], 1))), name=ones),
    )
