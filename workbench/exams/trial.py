"""A trial: a small scene of rigid bodies that any engine can build, and the actions on it."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from workbench.mechanics.solids import Plane, Solid, ball, cuboid

Vector = tuple[float, float, float]
UPWARDS, UNTURNED, STILL = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0), (0.0,) * 6
SETTLING = 0.2
"""Settling time of every scene before the push [s]: the same for every subject."""
FOOT = 0.02
"""Radius of a foot [m]."""


@dataclass(frozen=True)
class TrialBody:
    """A body about its centre of mass, principal axes: mass [kg], inertia (3,) [kg m2], and its contact shapes.

    `spheres` are (x, y, z, radius) and `boxes` (x, y, z and three half edges) [m], in the body's axes; `looks` are
    boxes without contacts that show the body to which the feet belong. Position [m] and orientation, a unit
    quaternion with the scalar first, are initial values. `velocity` (6,), linear and angular [m/s, rad/s] in world
    axes, is given to the body when the settling of the trial is over.
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
    """Bodies on planes (normal, point), with one friction coefficient and one restitution for all contacts.

    The scene settles for `settling` [s], the bodies get their velocities, and the motion continues for `duration` [s],
    while gravity changes by `swing` per second [m/s3]. Spheres touch planes, boxes and each other, boxes touch planes
    only: bodies stand on feet, so that every engine has the same number of contacts. Every step of the exam is divided
    into `finer` steps.
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
        """The trial in lists and numbers, for adapters."""
        return asdict(self)

    @classmethod
    def of(cls, plain: dict[str, Any]) -> "Trial":
        """The trial from the result of `plain`, also after conversion to and from JSON."""
        return cls(**{**plain, "bodies": tuple(TrialBody(**body) for body in plain["bodies"])})

    def solids(self) -> tuple[Solid | Plane, ...]:
        """The shapes with which a motion is drawn."""
        found: list[Solid | Plane] = [Plane(f"plane {i + 1}", *plane) for i, plane in enumerate(self.planes)]
        for k, body in enumerate(self.bodies):
            found += [ball(body.name, radius, centre, k) for *centre, radius in body.spheres]
            found += [cuboid(body.name, box[3:], box[:3], k) for box in (*body.boxes, *body.looks)]
        return tuple(found)


def sled(mass: float = 1.0, **given: Any) -> TrialBody:
    """A low block on four feet, 0.3 m apart, with its centre of mass 0.05 m above the ground, at the origin."""
    a, height = 0.15, 0.05
    feet = tuple((x, y, FOOT - height, FOOT) for x in (-a, a) for y in (-a, a))
    given = {"position": (0.0, 0.0, height)} | given
    plate = (0.0, 0.0, 0.01, 0.17, 0.17, 0.03)
    return TrialBody("sled", mass, cuboid_inertia(mass, (0.17, 0.17, 0.03)), feet, looks=(plate,), **given)


def cube_on_feet(name: str, mass: float, edge: float, level: float) -> TrialBody:
    """A cube with a foot at each lower corner, standing at a height [m]; others may stand on its upper face."""
    half, rise = 0.5 * edge, 0.5 * FOOT
    a = half - FOOT
    feet = tuple((x, y, FOOT - half, FOOT) for x in (-a, a) for y in (-a, a))
    # Only the feet touch what is below: the box is a little shorter than they are.
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
    """Gravity (3,) [m/s2] on a slope that descends along x, in its own axes; the angle in degrees."""
    return size * float(np.sin(np.radians(angle))), 0.0, -size * float(np.cos(np.radians(angle)))
