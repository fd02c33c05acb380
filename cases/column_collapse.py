"""A column of grains on rough ground, without support from one moment on: how far it runs, and how steep it rests.

Round columns of height H and radius r_0 run out to r_0 (1 + 1.24 H/r_0) below H/r_0 = 1.7 and to r_0 (1 + 1.6
(H/r_0)^1/2) above it, whatever the grains (Lube, Huppert, Sparks & Hallworth 2004, J. Fluid Mech. 508, eq. 4.3, 4.4).
The ground is a layer of fixed grains: a sphere on a smooth plane would roll on for ever.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from workbench.mechanics.case import Truth
from workbench.mechanics.parameters import quantity
from workbench.scenes.grains.case import GrainCase
from workbench.scenes.grains.placing import SPACE, layers, radii
from workbench.scenes.grains.scene import Grains
from workbench.scenes.grains.truths import weight_carried
from workbench.scenes.grains.walls import Flat
from workbench.scenes.track import Track


@dataclass(frozen=True)
class ColumnCollapse(GrainCase):
    """A round column of close hexagonal layers, which falls apart."""

    name: ClassVar[str] = "column-collapse"
    description: ClassVar[str] = "a column of N grains falls apart on rough ground, and comes to rest as a heap"
    source: ClassVar[str] = "after Lube, Huppert, Sparks & Hallworth 2004, J. Fluid Mech. 508"
    duration: ClassVar[float] = 0.5
    measures: ClassVar[dict[str, tuple[str, str]]] = {
        "runout": ("1", "how much farther from the axis than the column's foot nine tenths of the grains end, in feet"),
        "height": ("m", "height of the grains' common centre at the end"),
    }

    radius: float = quantity(0.005, "m", "mean radius", "positive")
    spread: float = quantity(0.1, "-", "radii are uniform in radius (1 -+ spread)", "nonnegative")
    slender: float = quantity(1.5, "-", "height of the column beside its radius", "positive")

    @property
    def foot(self) -> float:
        """Radius [m] of the column: N cells of the layers fill it up to its height."""
        a = 2 * self.radius * (1 + self.spread) * (1 + SPACE)
        return float(np.cbrt(self.N * np.sqrt(0.5) * a**3 / (np.pi * self.slender)) + 0.25 * a)

    def scene(self) -> Grains:
        N, foot = int(self.N), self.foot
        largest = self.radius * (1 + self.spread)
        room = foot * (2 + 1.6 * max(self.slender, np.sqrt(self.slender)))
        ground = layers_of_ground(room, self.radius)
        x = layers(N, largest, self.radius, foot + largest, lambda x: np.hypot(x[:, 0], x[:, 1]) <= foot)
        return self.grains(
            radii(N, self.radius, self.spread, self.rng), x, fixed=(ground, np.full(len(ground), self.radius)),
            walls=[Flat(self.mu, (0.0, 0.0, -self.radius), (0.0, 0.0, 1.0))],
        )  # fmt: skip

    def measured(self, track: Track) -> dict[str, float]:
        x = track.position[-1]
        far = float(np.quantile(np.hypot(x[:, 0], x[:, 1]), 0.9))
        return {"runout": far / self.foot - 1.0, "height": float(x[:, 2].mean())}

    def truths(self, track: Track) -> list[Truth]:
        """The balances; and that the ground carries the weight, but for what the grains still gain or lose in speed."""
        scene, last, found = self.scene(), len(track.contacts) // 5, super().truths(track)
        if last and self.gravity:
            v = track.v.reshape(len(track.v), -1, 6)[:, :, 2] @ scene.mass / scene.mass.sum()
            theory = 1.0 + (v[-1] - v[-1 - last]) / (self.gravity * track.h * last)
            carried = float(weight_carried(scene, track)[-last:].mean())
            source = "mean of the last fifth, by the change of momentum"
            found.append(Truth("weight on the ground", carried, float(theory), 1e-9, "1", source))
        return found


def layers_of_ground(room: float, radius: float) -> np.ndarray:
    """Centres of the fixed grains: one layer at z = 0 out to `room` [m], side by side."""
    k = np.arange(-int(room / radius) - 1, int(room / radius) + 2)
    i, j = np.meshgrid(k, k)
    x = 2 * radius * np.column_stack([(i + 0.5 * j).ravel(), (np.sqrt(0.75) * j).ravel(), 0.0 * i.ravel()])
    return x[np.hypot(x[:, 0], x[:, 1]) <= room]
