"""A column of grains on rough ground collapses when its support is removed: its run-out and its final slope.

Round columns of height H and radius r_0 run out to r_0 (1 + 1.24 H/r_0) for H/r_0 below 1.7 and to r_0 (1 + 1.6
(H/r_0)^1/2) above, for all grains (Lube, Huppert, Sparks & Hallworth 2004, J. Fluid Mech. 508, eq. 4.3, 4.4). The
grains settle in a smooth tube, which is then removed at one moment. The ground is a layer of fixed grains, because a
sphere on a smooth plane would roll on for ever.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from workbench.mechanics.parameters import quantity
from workbench.scenes.grains.case import GrainCase
from workbench.scenes.grains.measures import fall_time
from workbench.scenes.grains.placing import LOOSE, SOLID, disordered, radii
from workbench.scenes.grains.scene import Grains
from workbench.scenes.grains.walls import Flat, Tube
from workbench.scenes.track import Track
from workbench.support.errors import DataError

LOWEST = np.sqrt(8 / 3) - np.sqrt(2 / 3)
"""Height [radii] of the ground's surface above the centres of its grains: half a layer below the grains on it."""

FARTHEST = 450
"""Largest distance to the edge of the ground [grain radii], limited by the number of grains in a scene."""


@dataclass(frozen=True)
class ColumnCollapse(GrainCase):
    """A round column of grains, held by a tube until the time `release`."""

    name: ClassVar[str] = "column-collapse"
    description: ClassVar[str] = "a column of N grains collapses on rough ground when its tube is removed"
    source: ClassVar[str] = "after Lube, Huppert, Sparks & Hallworth 2004, J. Fluid Mech. 508"
    duration: ClassVar[float] = 0.7
    measures: ClassVar[dict[str, tuple[str, str]]] = {
        "runout": ("1", "(r - r0)/r0, r0 the column's radius and r the final radius that encloses 90 % of the grains"),
        "height": ("m", "final height of the grains, mean over their centres"),
        "slope": ("deg", "slope of the cone with the same mean height and half of the grains within half its radius"),
        "fall_time": ("s", "time from the removal of the tube until half of the mean height's total fall"),
    }

    radius: float = quantity(0.005, "m", "mean radius", "positive")
    spread: float = quantity(0.1, "-", "relative spread: radii are uniform in radius (1 ± spread)", "nonnegative")
    slender: float = quantity(1.5, "-", "ratio of the column's height to its radius", "positive")

    release: float = quantity(0.2, "s", "time at which the tube is removed", "nonnegative")

    @property
    def foot(self) -> float:
        """Radius [m] of the column and of the tube: N grains fill `SOLID` of the volume up to its height."""
        return float(self.radius * np.cbrt(4 / 3 * self.N / (SOLID * self.slender)) + self.radius)

    def scene(self) -> Grains:
        foot, rng = self.foot, self.rng
        radius = radii(int(self.N), self.radius, self.spread, rng)
        within = foot - LOOSE * float(radius.max())
        room = foot * (2 + 1.6 * max(self.slender, np.sqrt(self.slender)))
        ground = layers_of_ground(room, self.radius)
        x = disordered(radius, LOOSE, self.radius, foot, lambda x: np.hypot(x[:, 0], x[:, 1]) <= within, rng)
        walls = [Flat(self.mu, (0.0, 0.0, -self.radius), (0.0, 0.0, 1.0)), Tube(0.0, foot, axis=2, until=self.release)]
        return self.grains(radius, x, fixed=(ground, np.full(len(ground), self.radius)), walls=walls)

    def measured(self, track: Track) -> dict[str, float]:
        """A cone of height H and radius R has its centre of mass at H/4, and half its volume within R/2 of the axis."""
        x = track.position[-1]
        axial = np.hypot(x[:, 0], x[:, 1])
        height = float(x[:, 2].mean())
        # The lowest grains lie in the dips of the ground; its surface is where the cells of the next layer begin.
        cone = 4.0 * (height - LOWEST * self.radius) / (2.0 * float(np.median(axial)))
        return {
            "runout": float(np.quantile(axial, 0.9)) / self.foot - 1.0, "height": height,
            "slope": float(np.degrees(np.arctan(cone))),
            "fall_time": fall_time(track.position[:, :, 2].mean(axis=1), track.t, self.release),
        }  # fmt: skip


def layers_of_ground(room: float, radius: float) -> np.ndarray:
    """Centres of the fixed grains: one close layer at z = 0 out to `room` [m]; DataError beyond `FARTHEST`."""
    if not room <= FARTHEST * radius:
        raise DataError(
            f"column-collapse: ground out to {room:g} m of grains of radius {radius:g} m; up to {FARTHEST} radii are "
            "possible; use fewer grains, or a less slender or less flat column"
        )
    k = np.arange(-int(room / radius) - 1, int(room / radius) + 2)
    i, j = np.meshgrid(k, k)
    x = 2 * radius * np.column_stack([(i + 0.5 * j).ravel(), (np.sqrt(0.75) * j).ravel(), 0.0 * i.ravel()])
    return x[np.hypot(x[:, 0], x[:, 1]) <= room]
