"""A recorded body above a level floor, as a case: it touches at its points, any number of them at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from workbench.engine.compiling import kernel
from workbench.exams.recorded.body import Body
from workbench.mechanics.bodies import GROUND, RigidBodies, fill_body, fill_contact, point_of
from workbench.mechanics.case import quantity
from workbench.mechanics.core import FILL
from workbench.mechanics.solids import Plane, Solid, ball
from workbench.support.arrays import Array


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `Tossed`, then its points."""
    fill_body(core, v, 0, data[M_], data[I_1], data[I_1 + 1], data[I_1 + 2], data[G])
    n, t, s, x = np.zeros(3), np.zeros(3), np.empty(3), np.empty(3)
    n[2] = t[0] = 1.0
    for i in range(core.mu.shape[0]):
        for k in range(3):
            s[k] = data[POINTS + 3 * i + k]
        point_of(q, 0, s, x)
        # The lowest point of the ball around it.
        x[2] -= data[RADIUS]
        fill_contact(core, i, q, GROUND, 0, x, n, t, x[2] - data[FLOOR], data[MU])
        core.e[i] = data[E]


@dataclass(frozen=True)
class Tossed(RigidBodies):
    """The thrown body; `tossed` makes the class for a body's number of points."""

    name: ClassVar[str] = "tossed"
    description: ClassVar[str] = "a recorded throw of a body on a level floor"
    size: ClassVar[tuple[int, int, int, int]] = (6, 0, 1, 2)
    duration: ClassVar[float] = 1.0
    points_of_body: ClassVar[Array] = np.zeros((1, 3))
    state: ClassVar[Array] = np.array([0.0, 0.0, 1.0, 1.0, *9 * [0.0]])
    """Initial state (13,)."""
    fill: ClassVar[Any] = staticmethod(fill)

    m: float = quantity(1.0, "kg", "mass", "positive")
    I_1: float = quantity(1.0, "kg m2", "first principal moment of inertia", "positive")
    I_2: float = quantity(1.0, "kg m2", "second principal moment of inertia", "positive")
    I_3: float = quantity(1.0, "kg m2", "third principal moment of inertia", "positive")
    radius: float = quantity(0.0, "m", "radius about every point", "nonnegative")
    floor: float = quantity(0.0, "m", "height of the floor")
    mu: float = quantity(0.3, "-", "friction coefficient", "nonnegative")
    e: float = quantity(0.0, "-", "restitution", "nonnegative")

    def data(self) -> Array:
        return np.concatenate([super().data(), self.points_of_body.ravel()])

    def inertias(self) -> Array:
        return np.array([[self.m, self.I_1, self.I_2, self.I_3]])

    def start(self) -> tuple[Array, Array]:
        return self.state[:7].copy(), self.state[7:].copy()

    def solids(self) -> Sequence[Solid | Plane]:
        """The convex hull of the points, or the ball; empty for points in a plane, which enclose no solid."""
        floor = Plane("floor", point=(0.0, 0.0, self.floor))
        if self.radius > 0 and len(self.points_of_body) == 1:
            return [floor, ball("body", self.radius, self.points_of_body[0])]
        hull = _hull(self.points_of_body)
        return [floor, Solid("body", self.points_of_body, hull)] if hull.size else []


def _hull(points: Array) -> NDArray[np.int64]:
    """Triangles (m, 3) of the convex hull, anticlockwise seen from outside; none if the points are in a plane."""
    # Imported here, since only pages need it.
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        return np.zeros((0, 3), dtype=np.int64)
    corners = points[hull.simplices]
    turn = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = (turn * hull.equations[:, :3]).sum(axis=1) < 0
    return np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices).astype(np.int64)


@lru_cache(maxsize=8)
def tossed(body: Body) -> Tossed:
    """The case of a body, at rest above the floor."""
    state = np.array([0.0, 0.0, body.floor + body.reach, 1.0, *9 * [0.0]])
    return begun(body, state, mu=0.3, e=0.0)


def begun(body: Body, state: Array, mu: float, e: float) -> Tossed:
    """The case of a body that starts in a state (13,)."""
    members = {"size": (6, 0, len(body.points), 2), "points_of_body": body.points, "state": state}
    kind = type("Tossed", (Tossed,), members)
    return kind(
        gravity=body.gravity, m=body.mass, I_1=body.inertia[0], I_2=body.inertia[1], I_3=body.inertia[2],
        radius=body.radius, floor=body.floor, mu=mu, e=e,
    )  # fmt: skip


G, M_, I_1, RADIUS, FLOOR, MU, E = Tossed.places("gravity", "m", "I_1", "radius", "floor", "mu", "e")
POINTS = E + 1
"""Positions of the parameters in `data`, for the compiled mechanics, followed by the coordinates of the points."""
