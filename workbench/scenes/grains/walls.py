"""Walls that hold grains: surfaces at rest, or that move in themselves."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from workbench.mechanics.solids import GROUND, Plane, Point, Solid, cylinder
from workbench.support.arrays import Array

THIN = 0.01
"""Thickness of a rim that is drawn, beside its diameter."""


@dataclass(frozen=True)
class Wall(ABC):
    """A surface with its own friction coefficient; points x (N, 3) [m], time t [s]."""

    mu: float

    @abstractmethod
    def facing(self, x: Array, t: float) -> tuple[Array, Array]:
        """Distances (N,) of points from the wall and its unit normals (N, 3) towards them."""

    def stands(self, t: float) -> bool:
        """Whether the wall is there at a time."""
        return True

    def shapes(self, low: Array, high: Array) -> list[Solid | Plane]:
        """What is drawn of the wall next to a box between two corners (3,)."""
        return []

    def velocity(self, point: Array, t: float) -> Array:
        """Velocities (N, 3) [m/s] of the wall at points on it."""
        return np.zeros_like(point)


@dataclass(frozen=True)
class Flat(Wall):
    """The plane through a point, its unit normal towards the grains."""

    point: Point
    normal: Point

    def facing(self, x: Array, t: float) -> tuple[Array, Array]:
        n = np.asarray(self.normal, dtype=float)
        return (x - self.point) @ n, np.broadcast_to(n, x.shape)

    def shapes(self, low: Array, high: Array) -> list[Solid | Plane]:
        return [Plane("floor", self.normal, self.point)] if self.normal[2] == 1 else []


@dataclass(frozen=True)
class Tube(Wall):
    """The inside of a round tube about the y axis (`axis` 1) or the z axis (2), which turns at `turning` [rad/s]
    and slides along itself at `rising` [m/s].

    From the time `until` [s] on it is no more.
    """

    radius: float
    axis: int
    turning: float = 0.0
    until: float = np.inf
    rising: float = 0.0

    def facing(self, x: Array, t: float) -> tuple[Array, Array]:
        out = np.array(x)
        out[:, self.axis] = 0.0
        far = np.linalg.norm(out, axis=1)
        # On the axis every direction is as good; the wall is farthest there.
        out[far == 0, 0] = 1.0
        return self.radius - far, -out / np.where(far == 0, 1.0, far)[:, None]

    def stands(self, t: float) -> bool:
        return t < self.until

    def shapes(self, low: Array, high: Array) -> list[Solid | Plane]:
        """As long as the box, and no lower than z = 0 where it stands upright; the foot of one that will be gone."""
        ends = np.array([low[self.axis], high[self.axis]])
        if np.isfinite(self.until):
            return [cylinder("foot", self.radius, THIN * self.radius, body=GROUND)]
        if self.axis == 2:
            ends = np.maximum(ends, 0.0)
        axis = np.eye(3)[self.axis]
        centre, long = 0.5 * ends.sum() * axis, float(np.ptp(ends))
        return [cylinder("wall", self.radius, long, centre, axis, GROUND)] if long > 0 else []

    def velocity(self, point: Array, t: float) -> Array:
        axis = np.eye(3)[self.axis]
        return np.cross(self.turning * axis, point) + self.rising * axis


@dataclass(frozen=True)
class Sieve(Wall):
    """The thin plate z = 0 with a round hole about the z axis, which is closed until the time `opens` [s]."""

    opening: float
    """diameter [m]"""
    opens: float = 0.0

    def facing(self, x: Array, t: float) -> tuple[Array, Array]:
        hole = 0.5 * self.opening if t >= self.opens else 0.0
        across = np.hypot(x[:, 0], x[:, 1])
        # The nearest point is the foot on the plate, or on the rim for what is over the hole.
        share = np.where(across > hole, 1.0, hole / np.where(across == 0, 1.0, across))
        away = np.stack([(1 - share) * x[:, 0], (1 - share) * x[:, 1], x[:, 2]], axis=-1)
        away[(across == 0) & (hole > 0), 0] = -hole
        far = np.linalg.norm(away, axis=1)
        away[far == 0] = [0.0, 0.0, 1.0]
        return far, away / np.where(far == 0, 1.0, far)[:, None]

    def shapes(self, low: Array, high: Array) -> list[Solid | Plane]:
        """The rim of the hole."""
        return [cylinder("rim", 0.5 * self.opening, THIN * self.opening, body=GROUND)]
