"""Grains in a drum that rotates about its horizontal axis: the slope of their surface, the dynamic angle of repose.

For freely rolling spheres the angle rises with their friction coefficient and levels off: 5.8 degrees without
friction (Peyneau & Roux 2008, Phys. Rev. E 78, 011307), some 20 to 30 degrees from mu = 0.3 on.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from workbench.mechanics.parameters import quantity
from workbench.scenes.grains.case import GrainCase
from workbench.scenes.grains.placing import LOOSE, SOLID, disordered, radii
from workbench.scenes.grains.scene import Grains
from workbench.scenes.grains.walls import Flat, Tube
from workbench.scenes.track import Track


@dataclass(frozen=True)
class RotatingDrum(GrainCase):
    """The axis of the drum is y; its ends are smooth, its wall has the friction coefficient of the grains."""

    name: ClassVar[str] = "rotating-drum"
    description: ClassVar[str] = "N grains in a rotating drum: slope of their surface"
    duration: ClassVar[float] = 2.0
    measures: ClassVar[dict[str, tuple[str, str]]] = {
        "slope": ("deg", "angle between the grains' mean position and the vertical, mean over the second half"),
    }

    radius: float = quantity(0.005, "m", "mean radius", "positive")
    spread: float = quantity(0.1, "-", "relative spread: radii are uniform in radius (1 ± spread)", "nonnegative")
    drum: float = quantity(0.14, "m", "diameter of the drum", "positive")
    filling: float = quantity(0.4, "-", "filled fraction of the drum, which sets its length", "positive")
    turning: float = quantity(1.0, "rad/s", "angular velocity of the drum")

    @property
    def length(self) -> float:
        """Inner length [m] of the drum."""
        solid = self.N * 4 / 3 * np.pi * self.radius**3
        return float(solid / (SOLID * self.filling * 0.25 * np.pi * self.drum**2) + 4 * self.radius * (1 + self.spread))

    def scene(self) -> Grains:
        rng, R, half = self.rng, 0.5 * self.drum, 0.5 * self.length
        radius = radii(int(self.N), self.radius, self.spread, rng)
        room = LOOSE * float(radius.max())

        def inside(x: np.ndarray) -> np.ndarray:
            return (np.hypot(x[:, 0], x[:, 2]) <= R - room) & (np.abs(x[:, 1]) <= half - room)

        x = disordered(radius, LOOSE, -R, max(R, half), inside, rng, R)
        walls = [
            Tube(self.mu, R, axis=1, turning=self.turning), Flat(0.0, (0.0, -half, 0.0), (0.0, 1.0, 0.0)),
            Flat(0.0, (0.0, half, 0.0), (0.0, -1.0, 0.0)),
        ]  # fmt: skip
        return self.grains(radius, x, walls=walls)

    def measured(self, track: Track) -> dict[str, float]:
        """A segment with a plane surface has its centre on the surface normal through the axis."""
        x = track.position[len(track.position) // 2 :].mean(axis=1)
        # A drum that rotates about y from z to x lifts the grains towards -x below the axis.
        return {"slope": float(np.degrees(np.arctan2(-x[:, 0], -x[:, 2])).mean() * np.sign(self.turning or 1.0))}
