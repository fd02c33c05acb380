"""Grains in a narrow upright bin with a slowly rising wall: the fraction of their weight that the floor carries.

Janssen (1895): where wall friction is fully mobilised and the horizontal pressure of the grains is K times the vertical
one, the floor under a bed of height H in a round bin of diameter D carries the fraction

    (1 - exp(-s)) / s,   s = 4 mu K H/D

of its weight, so that the floor of a tall bed carries no more than that of a bed D/(4 mu K) high. Friction below its
limit is undetermined: the rising wall, which is equivalent to a sinking floor, mobilises it.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from workbench.engine.lazy import optimize
from workbench.mechanics.case import Truth
from workbench.mechanics.parameters import quantity
from workbench.scenes.grains.case import GrainCase
from workbench.scenes.grains.placing import LOOSE, disordered, radii
from workbench.scenes.grains.scene import Grains
from workbench.scenes.grains.walls import Flat, Tube
from workbench.scenes.track import Track

SIDEWAYS = (0.4, 1.0)
"""Bounds of K: Rankine's active state of grains with a slope of 25 degrees, (1 - sin 25)/(1 + sin 25), and equal
pressure.

At rest K is 1 - sin 25 = 0.58 (Jaky 1944)."""
LAST = 5
"""The run is divided into this number of parts; only the last is measured, after the grains have fallen and settled."""
UNSTEADY = 0.02
"""Fluctuation of the floor's load [fraction of the weight]."""


def janssen(s: float) -> float:
    """Fraction of the weight that the floor carries, for s = 4 mu K H/D."""
    return float(-np.expm1(-s) / s) if s > 0 else 1.0


@dataclass(frozen=True)
class Silo(GrainCase):
    """A round bin with the grains' friction coefficient, on a rough floor."""

    name: ClassVar[str] = "silo"
    description: ClassVar[str] = "N grains in a narrow bin with a rising wall: the floor carries part of their weight"
    source: ClassVar[str] = "after Janssen 1895, Z. Ver. dt. Ing. 39"
    duration: ClassVar[float] = 0.64
    measures: ClassVar[dict[str, tuple[str, str]]] = {
        "floor": ("1", "fraction of the grains' weight on the floor, mean over the last fifth of the run"),
        "sideways": ("1", "ratio K of lateral to vertical pressure for which Janssen's law gives that fraction"),
        "height": ("m", "final height of the grains, mean over their centres"),
    }

    N: float = quantity(200, "-", "number of grains", "count")
    radius: float = quantity(0.005, "m", "mean radius", "positive")
    spread: float = quantity(0.1, "-", "relative spread: radii are uniform in radius (1 ± spread)", "nonnegative")
    bin: float = quantity(0.04, "m", "diameter of the bin", "positive")
    rising: float = quantity(0.02, "m/s", "speed at which the wall rises")

    def scene(self) -> Grains:
        rng, half = self.rng, 0.5 * self.bin
        radius = radii(int(self.N), self.radius, self.spread, rng)
        within = half - LOOSE * float(radius.max())
        x = disordered(radius, LOOSE, 0.0, half, lambda x: np.hypot(x[:, 0], x[:, 1]) <= within, rng)
        walls = [Tube(self.mu, half, axis=2, rising=self.rising), Flat(self.mu, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))]
        return self.grains(radius, x, walls=walls)

    def measured(self, track: Track) -> dict[str, float]:
        """The floor's normal is the only one that points upwards, and the centre of a level bed is at H/2."""
        height, last = float(track.position[-1, :, 2].mean()), track.steps // LAST
        pull = float(self.scene().mass.sum() * self.gravity)
        floor = float(track.touched.held[-last:, 2].mean()) / pull if last and pull else np.nan
        return {"floor": floor, "sideways": self._sideways(floor, height), "height": height}

    def _friction(self, height: float) -> float:
        """s of Janssen's law for K = 1, for a bed whose centre is at a height."""
        return 8.0 * self.mu * height / self.bin

    def _sideways(self, floor: float, height: float) -> float:
        """K by Janssen's law; NaN where wall or floor carry no load."""
        most = 1e6
        if not (janssen(most) < floor < 1.0 and self.mu > 0):
            return np.nan
        return float(optimize.brentq(lambda s: janssen(s) - floor, 0.0, most)) / self._friction(height)

    def truths(self, track: Track) -> list[Truth]:
        """The balances; Janssen's law once the wall has risen by one grain, which mobilises its friction."""
        found = self.measured(track)
        if not (np.isfinite(found["floor"]) and self.rising * track.t[-1] >= 2 * self.radius):
            return super().truths(track)
        few, many = (janssen(K * self._friction(found["height"])) for K in SIDEWAYS)
        source = f"Janssen 1895, K from {SIDEWAYS[0]:g} to {SIDEWAYS[1]:g}"
        middle, half = 0.5 * (few + many), 0.5 * (few - many)
        law = Truth("weight on the floor", found["floor"], middle, half + UNSTEADY, "1", source)
        return [*super().truths(track), law]
