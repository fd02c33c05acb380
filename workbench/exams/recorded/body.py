"""The recorded body, and the surface on which it was thrown."""

from dataclasses import dataclass, field

import numpy as np

from workbench.support.arrays import Array
from workbench.support.errors import DataError

MOST_POINTS = 64
"""Largest number of contact points of a body. More would take too long to solve a million times."""


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body that touches a level floor at `points`, each with a ball of `radius` about it.

    mass     [kg]
    inertia  (3,) principal moments about the centre of mass [kg m2]
    points   (k, 3) in principal axes, from the centre of mass [m]: the vertices of a polyhedron; the centre of a sphere
    radius   [m]; 0 for sharp vertices
    floor    height of the floor in the recordings [m]
    gravity  [m/s2], along -z
    Raises DataError for invalid bodies.
    """

    name: str
    mass: float
    inertia: Array
    points: Array
    radius: float = 0.0
    floor: float = 0.0
    gravity: float = field(default=9.81)

    def __post_init__(self) -> None:
        for name, value in (("mass", self.mass), ("gravity", self.gravity)):
            if not (np.isfinite(value) and value > 0):
                raise DataError(f"{name} = {value:g}; a positive number is needed")
        if not (np.isfinite(self.radius) and self.radius >= 0 and np.isfinite(self.floor)):
            raise DataError(f"radius = {self.radius:g}, floor = {self.floor:g}; finite numbers are needed, radius >= 0")
        if self.inertia.shape != (3,) or not (np.isfinite(self.inertia).all() and (self.inertia > 0).all()):
            raise DataError(f"inertia = {self.inertia.tolist()}; three positive principal moments [kg m2] are needed")
        if 2.0 * self.inertia.max() > (1.0 + 1e-6) * self.inertia.sum():
            raise DataError(f"inertia = {self.inertia.tolist()}; no moment can be larger than the other two together")
        if self.points.ndim != 2 or self.points.shape[1] != 3 or not 1 <= len(self.points) <= MOST_POINTS:
            raise DataError(f"vertices of shape {self.points.shape}; 1 to {MOST_POINTS} points of three numbers needed")
        if not np.isfinite(self.points).all() or not self.reach > 0:
            raise DataError("vertices must be finite, and one of them away from the centre, or the radius positive")

    @property
    def reach(self) -> float:
        """Distance of the farthest surface point from the centre [m]."""
        return float(np.linalg.norm(self.points, axis=1).max() + self.radius)
