"""Sketch of a case at its start: plane shapes in metres, made from its solids and drawn by the report.

A case in the plane is shown from the side, one in space from the front, a little from the right and from above, without
perspective: balls are discs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.mechanics.solids import GROUND, Plane, Point, Solid, rotated, slabs
from workbench.support.arrays import Array

TURN, RISE = np.radians(20.0), np.radians(15.0)
"""Viewing angles of a case in space, to the right and upwards."""
SHARP = 0.8
"""Edges between faces are drawn if the product of their normals is smaller."""
BESIDE = 0.25
"""Overhang of planes beyond everything else, as a share of its size."""


@dataclass(frozen=True)
class Outline:
    """A closed polygon, the outline of a body or of the `ground`."""

    points: Sequence[Point] | Array
    ground: bool = False


@dataclass(frozen=True)
class Line:
    """An open line: an edge, a rope, an axis, or a dimension with its label."""

    points: Sequence[Point] | Array
    label: str = ""


@dataclass(frozen=True)
class Disc:
    """A marked point, such as a centre of mass, with its label."""

    centre: Point
    radius: float
    label: str = ""


@dataclass(frozen=True)
class Arrow:
    """A velocity, force or direction, with its symbol."""

    tail: Point
    head: Point
    label: str = ""


Shape = Outline | Line | Disc | Arrow
Annotation = Line | Disc | Arrow


def view(axes: Array) -> Array:
    """Unit vectors (3, 3) to the right, upwards and towards the viewer, for the axes (r, 1 + d, 3) of the contacts."""
    if axes.shape[-2] == 2:
        # A level plane is shown from above.
        return np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]) if axes[..., 2].any() else np.eye(3)
    (c, s), (C, S) = ((np.cos(x), np.sin(x)) for x in (TURN, RISE))
    right, towards = np.array([c, s, 0.0]), np.array([s * C, -c * C, S])
    return np.array([right, np.cross(towards, right), towards])


def drawn(
    solids: Sequence[Solid | Plane], position: Array, orientation: Array, notes: Sequence[Annotation], look: Array
) -> list[Shape]:
    """Project solids at positions (B, 3) and orientations (B, 4) of their bodies, and annotations, on the `view` plane.

    Higher solids come later in the list, and nearer ones among equally high."""
    placed = [x if x.body == GROUND else _placed(x, position, orientation) for x in solids if isinstance(x, Solid)]
    points = np.concatenate([*(x.vertices for x in placed), *map(_extent, notes)])
    low, high = points.min(axis=0), points.max(axis=0)
    aside = BESIDE * (high - low).max()
    planes = [x for x in solids if isinstance(x, Plane)]
    ground = slabs(planes, low - aside, high + aside)

    def order(x: Solid) -> tuple[bool, float, float]:
        centre = x.vertices.mean(axis=0)
        return x.body != GROUND, round(centre[2] / aside, 6), float(centre @ look[2])

    # Planes seen from behind would hide the bodies on them: only their edges are drawn.
    behind = [slab for x, slab in zip(planes, ground, strict=True) if look[2] @ x.normal < 0]
    shapes: list[Shape] = []
    for x in (*(slab for slab in ground if slab not in behind), *sorted(placed, key=order)):
        outline, edges = _faces(x, look)
        shapes += [Outline(outline, x.body == GROUND), *map(Line, edges)]
    shapes += [Line(outline[[*range(len(outline)), 0]]) for outline, _ in (_faces(x, look) for x in behind)]
    return [*shapes, *(_seen(x, look) for x in notes)]


def _placed(x: Solid, position: Array, orientation: Array) -> Solid:
    return replace(x, vertices=position[x.body] + rotated(orientation[x.body], x.vertices))


def _extent(note: Annotation) -> Array:
    if isinstance(note, Arrow):
        return np.array([note.tail, note.head], dtype=float)
    return np.asarray(note.points if isinstance(note, Line) else [note.centre], dtype=float)


def _seen(note: Annotation, look: Array) -> Shape:
    points = _extent(note) @ look[:2].T
    if isinstance(note, Arrow):
        return replace(note, tail=points[0], head=points[1])
    return replace(note, points=points) if isinstance(note, Line) else replace(note, centre=points[0])


def _faces(x: Solid, look: Array) -> tuple[Array, Array]:
    """The outline (k, 2) of a convex solid and its visible sharp edges (j, 2, 2)."""
    corners = x.vertices[x.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    edges = np.sort(x.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    # Every edge belongs to two triangles, a and b, and appears twice, consecutively in this order.
    order = np.lexsort(edges.T).reshape(-1, 2)
    ends, (a, b) = edges[order[:, 0]], (order // 3).T
    seen, flat = normals @ look[2] > 1e-9, x.vertices @ look[:2].T
    sharp = seen[a] & seen[b] & ((normals[a] * normals[b]).sum(axis=1) < SHARP)
    rim = flat[np.unique(ends[seen[a] != seen[b]])]
    angle = np.arctan2(*(rim - rim.mean(axis=0)).T[::-1])
    return rim[np.argsort(angle)], flat[ends[sharp]]
