"""A trial: a small scene of rigid bodies that any engine can build, and what is done to it."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from workbench.arrays import Array
from workbench.mechanics.solids import Plane, Solid, ball, cuboid

Vector = tuple[float, float, float]
UPWARDS, UNTURNED, STILL = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0), (0.0,) * 6
SETTLING = 0.2
"""How long every scene rests, or tries to, before it is pushed [s]: the same for every subject."""
FOOT = 0.02
"""Radius of a foot [m]."""


@dataclass(frozen=True)
class TrialBody:
    """A body about its centre of mass, principal axes: mass [kg], inertia (3,) [kg m2], what it touches with.

    `spheres` are (x, y, z, radius) and `boxes` (x, y, z and three half edges) [m], in the body's axes; `looks` are
    boxes that touch nothing, so that it can be seen what the feet belong to. Position [m] and orientation, a unit
    quaternion with the scalar first, are those at the start. `velocity` (6,), linear and angular [m/s, rad/s] in the
    axes of the world, is what it is given when the trial's settling is over.
    """

    name: str
    mass: float
    inertia: Vector
    spheres: tuple[tuple[float, float, float, float], ...] = ()
    boxes: tuple[tuple[float, ...], ...] = ()
    looks: tuple[tuple[float, ...], ...] = ()
    position: Vector = (0.0, 0.0, 0.0)
    orientation: tuple[float, float, float, float] = UNTURNED
    velocity: tuple[float, ...] = STILL


@dataclass(frozen=True)
class Trial:
    """Bodies on planes (normal, point), one friction coefficient and one restitution for all that touches.

    It rests for `settling` [s], is given the bodies' velocities, and moves on for `duration` [s], in which gravity
    changes by `swing` a second [m/s3]. Spheres touch planes, boxes and each other, boxes touch planes alone: bodies
    stand on feet, so that every engine has as many contacts. `finer` steps are taken for every step of the exam.
    """

    bodies: tuple[TrialBody, ...]
    mu: float
    duration: float
    planes: tuple[tuple[Vector, Vector], ...] = ((UPWARDS, (0.0, 0.0, 0.0)),)
    gravity: Vector = (0.0, 0.0, -9.81)
    e: float = 0.0
    settling: float = SETTLING
    swing: Vector = (0.0, 0.0, 0.0)
    finer: int = 1

    def plain(self) -> dict[str, Any]:
        """The trial in lists and numbers, as adapters get it."""
        return asdict(self)

    @classmethod
    def of(cls, plain: dict[str, Any]) -> "Trial":
        """The trial that `plain` gave, whether or not it has travelled as JSON."""
        return cls(**{**plain, "bodies": tuple(TrialBody(**body) for body in plain["bodies"])})

    def solids(self) -> tuple[Solid | Plane, ...]:
        """The shapes that a motion is drawn with."""
        found: list[Solid | Plane] = [Plane(f"plane {i + 1}", *plane) for i, plane in enumerate(self.planes)]
        for k, body in enumerate(self.bodies):
            found += [ball(body.name, radius, centre, k) for *centre, radius in body.spheres]
            found += [cuboid(body.name, box[3:], box[:3], k) for box in (*body.boxes, *body.looks)]
        return tuple(found)


def sled(mass: float = 1.0, **given: Any) -> TrialBody:
    """A low block on four feet, 0.3 m apart, whose centre of mass is 0.05 m above the ground, at the origin there."""
    a, height = 0.15, 0.05
    feet = tuple((x, y, FOOT - height, FOOT) for x in (-a, a) for y in (-a, a))
    given = {"position": (0.0, 0.0, height)} | given
    plate = (0.0, 0.0, 0.01, 0.17, 0.17, 0.03)
    return TrialBody("sled", mass, cuboid_inertia(mass, (0.17, 0.17, 0.03)), feet, looks=(plate,), **given)


def cube_on_feet(name: str, mass: float, edge: float, level: float) -> TrialBody:
    """A cube with a foot at each lower corner, standing at a level [m]; on its upper face others may stand."""
    half, rise = 0.5 * edge, 0.5 * FOOT
    a = half - FOOT
    feet = tuple((x, y, FOOT - half, FOOT) for x in (-a, a) for y in (-a, a))
    # Feet alone touch what is below: the box is a little shorter than they reach.
    box = (0.0, 0.0, 0.5 * rise, half, half, half - 0.5 * rise)
    inertia = cuboid_inertia(mass, (half, half, half))
    return TrialBody(name, mass, inertia, feet, (box,), position=(0.0, 0.0, level + half))


def sphere(name: str, mass: float, radius: float, **given: Any) -> TrialBody:
    """A homogeneous ball."""
    inertia = 0.4 * mass * radius**2
    return TrialBody(name, mass, (inertia, inertia, inertia), ((0.0, 0.0, 0.0, radius),), **given)


def cuboid_inertia(mass: float, half: Vector) -> Vector:
    """Principal moments (3,) [kg m2] of a homogeneous cuboid with half edges [m]."""
    x, y, z = (mass * side * side / 3.0 for side in half)
    return y + z, x + z, x + y


def tilted(angle: float, size: float = 9.81) -> Vector:
    """Gravity (3,) [m/s2] on a slope that falls along x, in its own axes; the angle in degrees."""
    return size * float(np.sin(np.radians(angle))), 0.0, -size * float(np.cos(np.radians(angle)))


def turning(orientation: Array) -> Array:
    """Matrices (..., 3, 3) from the axes of bodies to those of the world, of unit quaternions (..., 4)."""
    w, x, y, z = np.moveaxis(np.asarray(orientation, dtype=float), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))
