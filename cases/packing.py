"""A jittered packing: spheres on a slightly perturbed grid, so that neighbours overlap and are in contact at the start.

A timing benchmark for solvers of granular matter: at rest, with random velocities, or sheared. The initial overlaps are
deliberate and are not corrected (`recovery` 0): the first step is a problem without a gap term.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from workbench.mechanics.parameters import quantity
from workbench.scenes.grains.case import GrainCase
from workbench.scenes.grains.scene import Grains
from workbench.scenes.grains.walls import Flat


@dataclass(frozen=True)
class Packing(GrainCase):
    """Cubic grid of 1 m, radii 0.5 to 0.6 m, centres jittered by 0.06 m, on a floor."""

    name: ClassVar[str] = "packing"
    description: ClassVar[str] = "N spheres in contact on a floor: moving at random, at rest or sheared"
    duration: ClassVar[float] = 0.01

    speed: float = quantity(0.2, "m/s", "standard deviation of the velocities, and of the angular velocities [rad/s]")
    shear: float = quantity(0.0, "1/s", "shear rate: horizontal velocity over height")
    density: float = quantity(1000.0, "kg/m3", "density of the spheres", "positive")

    def scene(self) -> Grains:
        N, rng = int(self.N), self.rng
        k = np.arange(int(np.ceil(N ** (1 / 3))))
        grid = np.stack(np.meshgrid(k, k, k, indexing="ij")[::-1], axis=-1).reshape(-1, 3)[:N]
        radius = rng.uniform(0.5, 0.6, N)
        x = grid + rng.uniform(-0.06, 0.06, (N, 3)) + [0.0, 0.0, 0.5]
        v = rng.normal(0.0, self.speed, (N, 6))
        v[:, 0] += self.shear * x[:, 2]
        return self.grains(radius, x, v, walls=[Flat(self.mu, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))], recovery=0.0)
