"""Where grains are at the start, and radii: layers in which they just do not touch, or disorder that they fall from.

Grains in close layers are a crystal, and stay one where they settle: it flows and fails in planes, as no heap of grains
does. `disordered` leaves room in the layers, and moves each grain within its own.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from workbench.support.arrays import Array
from workbench.support.errors import DataError

SPACE = 1e-3
"""Between neighbours of the largest radius, beside their diameter."""

LOOSE = 1.2
"""Room of a grain in disorder, beside the largest radius: 0.43 of the space is filled, 0.6 after a fall."""

WIDEST = 2500
"""Radii of the largest grain from the middle of a layer to its edge, at most: 200,000 grains in a drum need as many."""

SOLID = 0.58
"""Share of its space that a bed of grains fills once it has settled at random."""


def radii(N: int, mean: float, spread: float, rng: np.random.Generator) -> Array:
    """N radii [m], uniform in mean (1 -+ spread)."""
    return rng.uniform(mean * (1 - spread), mean * (1 + spread), N)


def layers(
    N: int, largest: float, bottom: float, half: float, inside: Callable[[Array], NDArray[np.bool_]],
    highest: float = np.inf,
) -> Array:  # fmt: skip
    """Centres (N, 3) in close hexagonal layers for spheres up to a radius, from the bottom upwards, where they fit.

    Layers reach `half` in x and y to either side; `inside` says of points (k, 3) whether a sphere of that radius has
    room there. Raises DataError where fewer than N fit below the `highest` centre, and for layers beyond `WIDEST`.
    """
    if not half <= WIDEST * largest:
        raise DataError(
            f"{N} grains of radius {largest:g} m in a space {2 * half:g} m wide; up to {2 * WIDEST} radii are possible"
        )
    a = 2 * largest * (1 + SPACE)
    k = int(np.ceil(half / a)) + 1
    # Rows are 3^1/2 a/2 apart, each half a further than the one before: |j| <= 2 k/3^1/2, |i| <= k + |j|/2.
    rows, across = int(np.ceil(1.16 * k)) + 1, int(np.ceil(1.58 * k)) + 2
    i, j = np.meshgrid(np.arange(-across, across + 1), np.arange(-rows, rows + 1))
    flat = a * np.stack([(i + 0.5 * j).ravel(), (np.sqrt(0.75) * j).ravel()], axis=-1)
    found, count, layer = [], 0, 0
    while count < N:
        z = bottom + largest + layer * a * np.sqrt(2 / 3)
        x = np.column_stack([flat + (layer % 2) * a * np.array([0.5, np.sqrt(1 / 12)]), np.full(len(flat), z)])
        x = x[(np.abs(x[:, :2]) <= half - largest).all(axis=1)]
        x = x[inside(x)]
        if z > highest or (not len(x) and layer > 4 * k):
            raise DataError(f"{count} grains of radius {largest:g} m fit at the start; {N} do not")
        found.append(x)
        count, layer = count + len(x), layer + 1
    return np.concatenate(found)[:N]


def disordered(
    radius: Array, room: float, bottom: float, half: float, inside: Callable[[Array], NDArray[np.bool_]],
    rng: np.random.Generator, highest: float = np.inf,
) -> Array:  # fmt: skip
    """Centres (N, 3) of grains of radius (N,) in `layers` of grains `room` times as large, each moved within that."""
    x = layers(len(radius), room * float(radius.max()), bottom, half, inside, highest)
    direction = rng.normal(size=x.shape)
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    far = (room * radius.max() - radius) * np.cbrt(rng.uniform(size=len(x)))
    return x + far[:, None] * direction
