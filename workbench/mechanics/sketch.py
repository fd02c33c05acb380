"""What a case looks like at its start: a few plane shapes in metres, drawn by the report."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.arrays import Array

Point = Sequence[float] | Array


@dataclass(frozen=True)
class Outline:
    """A closed polygon, the outline of a body."""

    points: Sequence[Point] | Array


@dataclass(frozen=True)
class Line:
    """An open line: an edge, a rope, an axis; `ground` is hatched on its right-hand side, seen from start to end."""

    points: Sequence[Point] | Array
    ground: bool = False


@dataclass(frozen=True)
class Disc:
    centre: Point
    radius: float


@dataclass(frozen=True)
class Arrow:
    """A velocity, force or direction, with its symbol."""

    tail: Point
    head: Point
    label: str = ""


Shape = Outline | Line | Disc | Arrow


def seen(x: Sequence[Point] | Point) -> Array:
    """Points (..., 3) of space as the plane shows them: x to the right, y into the page, z upwards."""
    x = np.asarray(x, dtype=float)
    return np.stack([x[..., 0] + 0.4 * x[..., 1], x[..., 2] + 0.25 * x[..., 1]], axis=-1)


def cuboid(corner_of: Array) -> list[Shape]:
    """The twelve edges of a cuboid with corners (2, 2, 2, 3)."""
    edges: list[Shape] = []
    for i, j in itertools.product(range(2), repeat=2):
        edges += [Line(seen(corner_of[:, i, j])), Line(seen(corner_of[i, :, j])), Line(seen(corner_of[i, j, :]))]
    return edges


def floor(x: tuple[float, float], z: float = 0.0) -> Line:
    """The floor between two abscissae."""
    return Line([(x[0], z), (x[1], z)], ground=True)
