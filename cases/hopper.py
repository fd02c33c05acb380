"""A bin with a round hole in its flat floor above a catching bin: an hourglass of grains.

The discharge rate does not depend on the filling height, but on the opening D and the grain diameter d:

    W = C rho_b g^1/2 (D - k d)^5/2,   C = 0.58, k = 1.5 for spheres (Beverloo, Leniger & van de Velde 1961)

with rho_b the bulk density. The grains fall into the bin and settle in random positions before the hole opens: in close
layers they would form a crystal, which hardly flows.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from workbench.mechanics.case import Truth
from workbench.mechanics.parameters import quantity
from workbench.scenes.grains.case import GrainCase
from workbench.scenes.grains.measures import BEVERLOO, passing_rate, passing_time, solid_fraction
from workbench.scenes.grains.placing import LOOSE, disordered, radii
from workbench.scenes.grains.scene import Grains
from workbench.scenes.grains.walls import Flat, Sieve, Tube
from workbench.scenes.track import Track
from workbench.support.errors import DataError

BEGUN = 0.1
"""Fraction of the grains that has to pass before the discharge counts as begun."""


@dataclass(frozen=True)
class Hopper(GrainCase):
    """A round bin; its floor z = 0 has a hole from the time `opens` on."""

    name: ClassVar[str] = "hopper"
    description: ClassVar[str] = "N grains flow out of a bin through a round hole in its floor"
    source: ClassVar[str] = "after Beverloo, Leniger & van de Velde 1961, Chem. Eng. Sci. 15"
    duration: ClassVar[float] = 1.0
    measures: ClassVar[dict[str, tuple[str, str]]] = {
        "discharge": ("kg/s", "mass flow through the hole, fitted from 20 % to 60 % of what passes"),
        "delay": ("s", "time from the opening until 10 % of the grains have passed the hole"),
        "bulk": ("kg/m3", "bulk density of the grains in the bin when the hole opens"),
        "height": ("m", "mean height of the grains when the hole opens; larger for looser packings"),
    }

    radius: float = quantity(0.005, "m", "mean radius", "positive")
    spread: float = quantity(0.1, "-", "relative spread: radii are uniform in radius (1 ± spread)", "nonnegative")
    opening: float = quantity(0.045, "m", "diameter of the hole", "positive")
    bin: float = quantity(0.08, "m", "diameter of the bin", "positive")
    opens: float = quantity(0.2, "s", "time at which the hole opens", "nonnegative")

    def scene(self) -> Grains:
        if self.opening >= self.bin:
            raise DataError(f"{self.name}: opening = {self.opening:g} m; less than the bin's {self.bin:g} m is needed")
        rng = self.rng
        radius = radii(int(self.N), self.radius, self.spread, rng)
        within = 0.5 * self.bin - LOOSE * float(radius.max())
        x = disordered(radius, LOOSE, 0.0, 0.5 * self.bin, lambda x: np.hypot(x[:, 0], x[:, 1]) <= within, rng)
        # The settled grains need less height than the falling ones, so both they and the heap below fit.
        floor = -float(x[:, 2].max()) - self.opening
        walls = [
            Tube(self.mu, 0.5 * self.bin, axis=2), Sieve(self.mu, self.opening, self.opens),
            Flat(self.mu, (0.0, 0.0, floor), (0.0, 0.0, 1.0)),
        ]  # fmt: skip
        return self.grains(radius, x, walls=walls)

    def beverloo(self, bulk: float) -> float:
        """Discharge rate [kg/s] for a bulk density [kg/m^3] by `BEVERLOO`; 0 where no grain passes."""
        free = max(self.opening - 2.0 * BEVERLOO["k"] * self.radius, 0.0)
        return float(BEVERLOO["C"] * bulk * np.sqrt(self.gravity) * free**2.5)

    def bed(self, position: np.ndarray) -> np.ndarray:
        """Mask of the grains still in the upper bin."""
        return position[:, 2] > 0

    def measured(self, track: Track) -> dict[str, float]:
        scene, at = self.scene(), int(np.searchsorted(track.t, self.opens - 1e-9))
        z, t = track.position[:, :, 2], track.t
        share = height = np.nan
        delay = passing_time(z, t, BEGUN) - self.opens
        if at < len(track.t):
            share = solid_fraction(track.position[at], scene.radius) if self.N > 1 else np.nan
            height = float(z[at].mean())
        return {
            # Before a tenth has passed the rate is that of the start-up, which Beverloo's law does not describe.
            "discharge": np.nan if np.isnan(delay) else passing_rate(z, t, scene.mass), "delay": delay,
            "bulk": self.density * share, "height": height,
        }  # fmt: skip

    def truths(self, track: Track) -> list[Truth]:
        """The balances; Beverloo's law where enough grains have passed, with the bulk density of the run.

        Published constants for spheres are C from 0.55 to 0.65 and k from 1.2 to 1.6 (Nedderman 1992, section 10.2),
        which limits the accuracy of the law.
        """
        measured = self.measured(track)
        found, law = measured["discharge"], self.beverloo(measured["bulk"])
        source = f"Beverloo, Leniger & van de Velde 1961, C = {BEVERLOO['C']:g}, k = {BEVERLOO['k']:g}"
        known = [Truth("discharge", found, law, 0.4 * law, "kg/s", source)] if np.isfinite(found) and law > 0 else []
        return [*super().truths(track), *known]
