"""What scenes of grains have in common: so many spheres of one material under gravity."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.mechanics.case import Truth
from workbench.mechanics.parameters import quantity
from workbench.scenes.case import SceneCase
from workbench.scenes.grains.scene import MOST, Grains
from workbench.scenes.grains.truths import balances, weight
from workbench.scenes.track import Track
from workbench.support.arrays import Array
from workbench.support.errors import DataError

SIZES = (1e-9, 1e6)
"""Radii of grains [m]: from a molecule's to an asteroid's."""


@dataclass(frozen=True)
class GrainCase(SceneCase):
    """Derived classes say where N grains are, and between which walls."""

    N: float = quantity(300, "-", "number of grains", "count")
    mu: float = quantity(0.5, "-", "friction coefficient, also of rough walls", "nonnegative")
    density: float = quantity(2500.0, "kg/m3", "density of the grains", "positive")
    gravity: float = quantity(9.81, "m/s2", "gravitational acceleration", "nonnegative")
    seed: float = quantity(0, "-", "seed of the random numbers", "nonnegative")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.N > MOST:
            raise DataError(f"{self.name}: N = {self.N:g} grains; 1 to {MOST} are possible")
        radius = getattr(self, "radius", 1.0)
        if not SIZES[0] <= radius <= SIZES[1]:
            raise DataError(f"{self.name}: radius = {radius:g} m; {SIZES[0]:g} to {SIZES[1]:g} m are possible")

    @property
    def rng(self) -> np.random.Generator:
        """Random numbers from the beginning."""
        return np.random.default_rng(int(self.seed))

    def grains(self, radius: Array, centre: Array, *given: Array, **others: Any) -> Grains:
        """The scene of grains of these radii (N,) [m] at these centres (N, 3), with what else `Grains` takes."""
        made = Grains(
            radius, centre, *given, mu=self.mu, density=self.density, gravity=(0.0, 0.0, -self.gravity),
            name=self.name, **others,
        )  # fmt: skip
        made.known = self.truths
        return made

    def truths(self, track: Track) -> list[Truth]:
        """The balances of momentum and energy, and the weight that walls and ground carry."""
        scene = self.scene()
        return [*balances(scene, track), *weight(scene, track)]

    @abstractmethod
    def scene(self) -> Grains: ...
