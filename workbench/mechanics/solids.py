"""The shapes of a case: closed triangulated surfaces, each of a body or of the ground, and infinite planes.

Every surface is a loft: rings of points, one after the other along an axis, closed by a point at either end. All are
convex; a nonconvex body consists of several.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.support.arrays import Array

GROUND = -1
AROUND = 32
"""Corners of a circle; its sides are within half a per cent of the radius."""
Point = Sequence[float] | Array
Y, Z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
ORIGIN = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Solid:
    """A solid of a body: vertices (n, 3) [m] in the body's frame, triangles (m, 3), anticlockwise seen from outside.

    Solids of `GROUND` are at rest in world axes.
    """

    name: str
    vertices: Array
    triangles: NDArray[np.int64]
    body: int = 0


@dataclass(frozen=True)
class Plane:
    """An infinite face of the ground through a point [m], with its normal out of the ground."""

    name: str
    normal: Point = Z
    point: Point = ORIGIN

    def slab(self, low: Array, high: Array) -> Solid:
        """Return the ground behind the part of the plane within the box between two corners (3,)."""
        axes = _axes(self.normal)
        corners = np.stack(np.meshgrid(*zip(low, high, strict=True)), axis=-1).reshape(-1, 3)
        (a, b, _), (c, d, _) = (f(axes @ (corners - self.point).T, axis=1) for f in (np.min, np.max))
        deep = 0.02 * float(np.linalg.norm(np.subtract(high, low)))
        face = np.array([[a, b, 0.0], [c, b, 0.0], [c, d, 0.0], [a, d, 0.0]])
        return _loft(self.name, np.stack([face - [0.0, 0.0, deep], face]) @ axes + self.point, GROUND)


def slabs(planes: Sequence[Plane], low: Array, high: Array) -> list[Solid]:
    """Return the ground behind planes, limited to the part of the box in front of the level and upright ones."""
    for plane in planes:
        n, x = np.asarray(plane.normal), np.asarray(plane.point)
        low, high = np.where(n >= 1, np.maximum(low, x), low), np.where(n <= -1, np.minimum(high, x), high)
    return [plane.slab(low, high) for plane in planes]


def lathe(name: str, profile: Sequence[Point] | Array, centre: Point = ORIGIN, axis: Point = Z, body: int = 0) -> Solid:
    """Revolve a profile (k, 2) of radii and heights, upwards, about an axis; heights from the centre."""
    rings = np.asarray(profile, dtype=float)
    ends, inner = rings[[0, -1], 1], rings[rings[:, 0] > 0]
    turn = 2 * np.pi * np.arange(AROUND) / AROUND
    radius, height = np.broadcast_arrays(inner[:, :1], inner[:, 1:])[0], inner[:, 1:] + 0 * turn
    around = np.stack([radius * np.cos(turn), radius * np.sin(turn), height], axis=-1)
    return _loft(name, around @ _axes(axis) + centre, body, ends[:, None] * _axes(axis)[2] + centre)


def ball(name: str, radius: float, centre: Point = ORIGIN, body: int = 0) -> Solid:
    """A ball, its poles on the z axis."""
    angle = np.linspace(0.0, np.pi, AROUND // 2 + 1)
    rings = radius * np.stack([np.sin(angle), -np.cos(angle)], axis=-1)
    rings[[0, -1], 0] = 0.0
    return lathe(name, rings, centre, Z, body)


def capsule(name: str, radius: float, half: float, body: int = 0) -> Solid:
    """A capsule: all points within a radius of the segment from -half to half on the z axis."""
    angle = np.linspace(0.0, 0.5 * np.pi, AROUND // 4 + 1)
    low = np.stack([radius * np.sin(angle), -half - radius * np.cos(angle)], axis=-1)
    return lathe(name, np.concatenate([low, (low * [1.0, -1.0])[::-1]]), body=body)


def cylinder(name: str, radius: float, length: float, centre: Point = ORIGIN, axis: Point = Z, body: int = 0) -> Solid:
    """A circular cylinder about an axis."""
    return lathe(name, [(radius, -0.5 * length), (radius, 0.5 * length)], centre, axis, body)


def rod(name: str, start: Point, end: Point, radius: float, body: int = 0) -> Solid:
    """A thin rod between two points, pointed at both."""
    along = np.subtract(end, start)
    length = float(np.linalg.norm(along))
    profile = [(0.0, 0.0), (radius, 2 * radius), (radius, length - 2 * radius), (0.0, length)]
    return lathe(name, profile, start, along, body)


def prism(name: str, outline: Sequence[Point] | Array, depth: float, y: float = 0.0, body: int = 0) -> Solid:
    """A prism: a convex outline (m, 2) in the xz plane, anticlockwise with x to the right, of a given depth in y."""
    x, z = np.asarray(outline, dtype=float).T
    front, back = (np.stack([x, 0 * x + y + side * depth, z], axis=-1) for side in (-0.5, 0.5))
    return _loft(name, np.stack([back, front]), body)


def cuboid(name: str, half: Point, centre: Point = ORIGIN, body: int = 0) -> Solid:
    """A cuboid with half edges along the axes."""
    (a, b, c), (x, y, z) = half, centre
    return prism(name, [(x - a, z - c), (x + a, z - c), (x + a, z + c), (x - a, z + c)], 2 * b, y, body)


def turning(orientation: Array) -> Array:
    """Rotation matrices (..., 3, 3) from body axes to world axes, of unit quaternions (..., 4)."""
    w, x, y, z = np.moveaxis(np.asarray(orientation, dtype=float), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def rotated(orientation: Array, x: Array) -> Array:
    """Rotate vectors x (..., 3) from body axes to world axes; unit quaternions (..., 4), scalar first."""
    a, u = orientation[..., :1], orientation[..., 1:]
    return x + 2 * np.cross(u, a * x + np.cross(u, x))


def joined(parts: Sequence[Solid]) -> Solid:
    """Join the parts of one body into one solid with the name of the first."""
    first = np.cumsum([0, *(len(p.vertices) for p in parts[:-1])])
    triangles = np.concatenate([p.triangles + k for p, k in zip(parts, first, strict=True)])
    return Solid(parts[0].name, np.concatenate([p.vertices for p in parts]), triangles, parts[0].body)


def _axes(normal: Point) -> Array:
    """Right-handed unit axes (3, 3), the third along the normal; those of the world for z."""
    n = np.asarray(normal, dtype=float) / np.linalg.norm(normal)
    across = np.cross(n, [1.0, 0.0, 0.0] if abs(n[0]) < 0.9 else [0.0, 0.0, 1.0])
    across /= np.linalg.norm(across)
    return np.array([np.cross(across, n), across, n])


def _loft(name: str, rings: Array, body: int, ends: Array | None = None) -> Solid:
    """The surface through rings (k, m, 3), anticlockwise about the direction from first to last; ends (2, 3)."""
    k, m, _ = rings.shape
    ends = rings[[0, -1]].mean(axis=1) if ends is None else ends
    j, top = np.arange(m), 1 + (k - 1) * m
    i, after = 1 + m * np.arange(k - 1)[:, None] + j, 1 + m * np.arange(k - 1)[:, None] + (j + 1) % m
    low = np.stack([0 * j, 1 + (j + 1) % m, 1 + j], axis=-1)
    high = np.stack([0 * j + 1 + k * m, top + j, top + (j + 1) % m], axis=-1)
    sides = np.stack([i, after, after + m, i, after + m, i + m], axis=-1)
    triangles = np.concatenate([low, sides.reshape(-1, 3), high]).astype(np.int64)
    return Solid(name, np.concatenate([ends[:1], rings.reshape(-1, 3), ends[1:]]), triangles, body)
