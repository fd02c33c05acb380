"""The shapes of a model's geoms as triangles, in the frames of its rigid bodies or, at rest, of the world."""

from typing import Any

import numpy as np

from workbench.mechanics.solids import GROUND, Plane, Solid, ball, capsule, cuboid, cylinder, rotated
from workbench.scenes.mujoco.bodies import Bodies
from workbench.scenes.mujoco.package import mujoco
from workbench.support.arrays import Array

DIRECTIONS = 120
"""A mesh is shown by the hull of its points that reach farthest in so many directions; what touches is its hull."""
ROWS = 48
"""Rows and columns of a height field that are shown at most."""


def solids(model: Any, data: Any, bodies: Bodies) -> tuple[Solid | Plane, ...]:
    """All geoms that can touch, and those of bodies that have no other; `data` with kinematics done."""
    centre, orientation = bodies.poses(data)
    touches = (model.geom_contype | model.geom_conaffinity) > 0
    touches[np.concatenate([model.pair_geom1, model.pair_geom2])] = True
    with_contacts = set(model.geom_bodyid[touches])
    shown: list[Solid | Plane] = []
    for g in range(model.ngeom):
        if not touches[g] and model.geom_bodyid[g] in with_contacts:
            continue
        if model.geom_type[g] == mujoco().mjtGeom.mjGEOM_PLANE:
            normal = data.geom_xmat[g].reshape(3, 3)[:, 2]
            shown.append(Plane(_name(model, g), normal.copy(), data.geom_xpos[g].copy()))
            continue
        solid = _solid(model, g)
        if solid is None:
            continue
        x = rotated(data.geom_xquat[g], solid.vertices) + data.geom_xpos[g]
        body = int(bodies.number[model.geom_bodyid[g]])
        if body >= 0:
            back = orientation[body] * [1.0, -1.0, -1.0, -1.0]
            x = rotated(back, x - centre[body])
        shown.append(Solid(solid.name, x, solid.triangles, body if body >= 0 else GROUND))
    return tuple(shown)


def _name(model: Any, g: int) -> str:
    return model.geom(g).name or f"geom {g}"


def _solid(model: Any, g: int) -> Solid | None:
    """A geom in its own frame; None for what has no surface."""
    kinds = mujoco().mjtGeom
    kind, size = kinds(model.geom_type[g]), model.geom_size[g]
    name = _name(model, g)
    if kind == kinds.mjGEOM_SPHERE:
        return ball(name, size[0])
    if kind == kinds.mjGEOM_ELLIPSOID:
        round_one = ball(name, 1.0)
        return Solid(name, round_one.vertices * size, round_one.triangles)
    if kind == kinds.mjGEOM_CAPSULE:
        return capsule(name, size[0], size[1])
    if kind == kinds.mjGEOM_CYLINDER:
        return cylinder(name, size[0], 2 * size[1])
    if kind == kinds.mjGEOM_BOX:
        return cuboid(name, size)
    if kind == kinds.mjGEOM_HFIELD:
        return _height_field(model, model.geom_dataid[g], name)
    if model.geom_dataid[g] >= 0:
        first, count = model.mesh_vertadr[model.geom_dataid[g]], model.mesh_vertnum[model.geom_dataid[g]]
        return hull(name, model.mesh_vert[first : first + count].astype(float))
    return None


def hull(name: str, points: Array) -> Solid | None:
    """The convex hull of those points (k, 3) that reach farthest in `DIRECTIONS`; None where they span no volume."""
    from scipy.spatial import ConvexHull, QhullError

    i = np.arange(DIRECTIONS) + 0.5
    height, around = 1 - 2 * i / DIRECTIONS, np.pi * (1 + 5**0.5) * i
    out = np.sqrt(1 - height**2)
    directions = np.stack([out * np.cos(around), out * np.sin(around), height])
    kept = points[np.unique(np.argmax(points @ directions, axis=0))]
    try:
        found = ConvexHull(kept)
    except (QhullError, ValueError):
        return None
    corners = kept[found.vertices]
    number = np.zeros(len(kept), dtype=np.int64)
    number[found.vertices] = np.arange(len(corners))
    triangles = number[found.simplices]
    a, b, c = corners[triangles].transpose(1, 0, 2)
    inward = (np.cross(b - a, c - a) * found.equations[:, :3]).sum(axis=1) < 0
    triangles[inward] = triangles[inward][:, [0, 2, 1]]
    return Solid(name, corners, triangles)


def _height_field(model: Any, k: int, name: str) -> Solid:
    rows, columns, first = model.hfield_nrow[k], model.hfield_ncol[k], model.hfield_adr[k]
    x_half, y_half, top, _ = model.hfield_size[k]
    z = top * model.hfield_data[first : first + rows * columns].reshape(rows, columns)
    i, j = (np.unique(np.linspace(0, n - 1, min(n, ROWS)).astype(int)) for n in (rows, columns))
    y, x = np.meshgrid(y_half * (2 * i / (rows - 1) - 1), x_half * (2 * j / (columns - 1) - 1), indexing="ij")
    corners = np.stack([x, y, z[np.ix_(i, j)]], axis=-1).reshape(-1, 3)
    corner = np.arange(len(i) * len(j)).reshape(len(i), len(j))
    a, b, c, d = (s.ravel() for s in (corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1]))
    return Solid(name, corners, np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]))
