"""Contact detection in a trial for its shapes: spheres, boxes, planes."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.exams.trial import Trial
from workbench.support.arrays import Array

GROUND = -1
STEEP = 0.9
"""Above this |n . x| the first tangent comes from the world's second axis instead of its first."""


class TrialContacts(NamedTuple):
    """C contacts: body a, or the ground (-1), pushes body b along the normal, at a point [m]; gap [m]."""

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    point: Array
    """(C, 3)"""
    normal: Array
    """(C, 3)"""
    gap: Array
    key: NDArray[np.int64]


class Shapes:
    """The shapes of a trial: points with a radius (spheres, then the corners of boxes); boxes; planes."""

    def __init__(self, trial: Trial) -> None:
        bodies = list(enumerate(trial.bodies))
        spheres = [(k, *sphere) for k, body in bodies for sphere in body.spheres]
        self.boxes = [(k, np.array(box[:3]), np.array(box[3:])) for k, body in bodies for box in body.boxes]
        self.planes = [(np.array(n) / np.linalg.norm(n), np.array(point)) for n, point in trial.planes]
        signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
        corners = [(k, *(centre + s * half), 0.0) for k, centre, half in self.boxes for s in signs]
        points = np.array([*spheres, *corners])
        self.balls, self.body = len(spheres), points[:, 0].astype(np.int64)
        self.centre, self.radius = points[:, 1:4], points[:, 4]

    def close(self, x: Array, R: Array, reach: Array) -> TrialContacts:
        """Contacts with a gap below the reaches (B,) [m] of both bodies; bodies at x (B, 3), with rotations R."""
        body, radius, balls = self.body, self.radius, self.balls
        centre = x[body] + (R[body] @ self.centre[..., None])[..., 0]
        found = []

        def add(which: Array, a: int, apart: Array, normal: Array, number: int) -> None:
            """Add contacts of points `which` with feature `number` of body a, at distances `apart` of their centres."""
            i, point = np.flatnonzero(which), centre - radius[:, None] * normal
            first = np.full(i.size, a)
            found.append(TrialContacts(first, body[i], point[i], normal[i], (apart - radius)[i], 1000 * i + number))

        for j, (normal, origin) in enumerate(self.planes):
            apart = (centre - origin) @ normal
            add(apart - radius < reach[body], GROUND, apart, np.broadcast_to(normal, centre.shape), j)
        feet = np.arange(len(body)) < balls
        for j, (a, place, half) in enumerate(self.boxes):
            local = (centre - x[a]) @ R[a] - place
            off = local - np.clip(local, -half, half)
            apart, normal = _unit(off @ R[a].T)
            # No trial has a sphere centre inside a box.
            near = (apart > 0) & (apart - radius < reach[body] + reach[a])
            add(feet & (body != a) & near, a, apart, normal, 100 + j)
        if len(self.boxes) == 0:
            for i in range(balls):
                apart, normal = _unit(centre - centre[i])
                near = apart - radius - radius[i] < reach[body] + reach[body[i]]
                later = (np.arange(len(body)) > i) & (body != body[i]) & near
                add(later, int(body[i]), apart - radius[i], normal, 500 + i)
        columns: Any = (np.concatenate(column) for column in zip(*found, strict=True))
        return TrialContacts(*columns)


def _unit(x: Array) -> tuple[Array, Array]:
    """Lengths (n,) of vectors (n, 3), and their directions; upwards for zero."""
    size = np.linalg.norm(x, axis=1)
    return size, np.where(size[:, None] > 0, x / np.where(size > 0, size, 1.0)[:, None], [0.0, 0.0, 1.0])


def frames(normal: Array) -> Array:
    """Normals (C, 3) with two tangents each, rows of (C, 3, 3), right-handed; the first is near x, or else near y."""
    along = np.where(abs(normal[:, :1]) > STEEP, [0.0, 1.0, 0.0], [1.0, 0.0, 0.0])
    tangent = along - (along * normal).sum(axis=1, keepdims=True) * normal
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    return np.stack([normal, tangent, np.cross(normal, tangent)], axis=1)
