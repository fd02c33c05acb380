"""Polygons in place of the friction disc, for the declarations that use them."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from workbench.engine.lazy import cvxpy as cp
from workbench.errors import ModellingError

Directions = Annotated[int, "friction directions of a contact, an even number from 4 on; in the plane there are two"]
"""The option of formulations with polygons."""


def polygon(directions: int, r: int, d: int) -> tuple[cp.Constant, cp.Constant]:
    """A (d r, n_d r), directions spaced by 2 pi / n_d, and E (n_d r, r), ones: p_t = A beta, sum of beta = E^T beta.

    In the plane (d = 1) the pair +-1 is the whole of friction, whatever `directions` says.
    """
    if directions < 4 or directions % 2:
        raise ModellingError(f"directions={directions}; an even number from 4 on is needed")
    if d == 1:
        block = np.array([[1.0, -1.0]])
    else:
        angle = 2 * np.pi * np.arange(directions) / directions
        block = _clean(np.array([np.cos(angle), np.sin(angle)]))
    return cp.Constant(np.kron(np.eye(r), block), name="A"), cp.Constant(
        np.kron(np.eye(r), np.ones((block.shape[1], 1))), name="E"
    )


def half_plane(directions: int, r: int, d: int) -> tuple[cp.Constant, cp.Constant]:
    """E (d r, k r), k = directions / 2 axes spaced by pi / k, and S (k r, r) that repeats a contact's entry k times."""
    if directions < 4 or directions % 2:
        raise ModellingError(f"directions={directions}; an even number from 4 on is needed")
    if d == 1:
        block = np.array([[1.0]])
    else:
        k = directions // 2
        angle = np.pi * np.arange(k) / k
        block = _clean(np.array([np.cos(angle), np.sin(angle)]))
    return cp.Constant(np.kron(np.eye(r), block), name="E"), cp.Constant(
        np.kron(np.eye(r), np.ones((block.shape[1], 1))), name="S"
    )


def _clean(x: np.ndarray) -> np.ndarray:
    # cos(pi/2) is 6e-17 in floating point: an axis that should not see the other one must not.
    return np.where(np.abs(x) < 1e-15, 0.0, x)
