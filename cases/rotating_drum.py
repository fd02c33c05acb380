"""Grains in a drum that turns about its level axis: their surface keeps a slope, the dynamic angle of repose.

Spheres that roll freely have an angle that rises with their friction coefficient and levels off: 5.8 degrees without
friction (Peyneau & Roux 2008, Phys. Rev. E 78, 011307), some 20 to 30 from mu = 0.3 on.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from workbench.mechanics.parameters import quantity
from workbench.scenes.grains.case import GrainCase
from workbench.scenes.grains.placing import SPACE, layers, radii
from workbench.scenes.grains.scene import Grains
from workbench.scenes.grains.walls import Flat, Tube
from workbench.scenes.track import Track


@dataclass(frozen=True)
class RotatingDrum(GrainCase):
    """The axis of the drum is y; its ends are smooth, its inside is as rough as the grains."""

    name: ClassVar[str] = "rotating-drum"
    description: ClassVar[str] = "N grains in a drum that turns: the slope that their surface keeps"
    duration: ClassVar[float] = 2.0
    measures: ClassVar[dict[str, tuple[str, str]]] = {
        "slope": ("deg", "by which the grains' centre is away from below the axis, the mean of the run's second half"),
    }

    radius: float = quantity(0.005, "m", "mean radius", "positive")
    spread: float = quantity(0.1, "-", "radii are uniform in radius (1 -+ spread)", "nonnegative")
    drum: float = quantity(0.14, "m", "diameter of the drum", "positive")
    filling: float = quantity(
        0.4, "-", "share of the drum that the grains fill; the drum is as long as that takes", "positive"
    )
    turning: float = quantity(1.0, "rad/s", "angular velocity of the drum")

    @property
    def length(self) -> float:
        """Inner length [m] of the drum."""
        cell = np.sqrt(0.5) * (2 * self.radius * (1 + self.spread) * (1 + SPACE)) ** 3
        return float(self.N * cell / (self.filling * 0.25 * np.pi * self.drum**2) + 4 * self.radius * (1 + self.spread))

    def scene(self) -> Grains:
        N, largest = int(self.N), self.radius * (1 + self.spread)
        R, half = 0.5 * self.drum, 0.5 * self.length

        def inside(x: np.ndarray) -> np.ndarray:
            return (np.hypot(x[:, 0], x[:, 2]) <= R - largest) & (np.abs(x[:, 1]) <= half - largest)

        x = layers(N, largest, -R, max(R, half), inside, R)
        walls = [
            Tube(self.mu, R, axis=1, turning=self.turning), Flat(0.0, (0.0, -half, 0.0), (0.0, 1.0, 0.0)),
            Flat(0.0, (0.0, half, 0.0), (0.0, -1.0, 0.0)),
        ]  # fmt: skip
        return self.grains(radii(N, self.radius, self.spread, self.rng), x, walls=walls)

    def measured(self, track: Track) -> dict[str, float]:
        """A segment with a plane surface has its centre on the line through the axis that is normal to the surface."""
        x = track.position[len(track.position) // 2 :].mean(axis=1)
        # A drum that turns about y from z to x lifts the grains towards -x below the axis.
        return {"slope": float(np.degrees(np.arctan2(-x[:, 0], -x[:, 2])).mean() * np.sign(self.turning or 1.0))}
