"""What is measured of grains: of single contacts while a run is made (`Watched`), of where the grains are, afterwards.

A contact presses where its normal impulse is more than `PRESSES` of a grain's weight in the step. Associated flow
holds a contact that slides open by phi + h u_n = mu h |u_t|: that gap is what `float_gap` measures, and `slip` says at
which step it would be as small as asked for.
"""

from typing import NamedTuple

import numpy as np

from workbench.engine.lazy import spatial
from workbench.scenes.grains.scene import Grains
from workbench.scenes.run import Stepped, SteppingScheme
from workbench.support.arrays import Array
from workbench.support.errors import DataError

PRESSES = 1e-6
"""Impulse, beside the mean grain's weight times the step, from which on a contact presses."""
POINTS, NEAREST = 10_000, 8
"""Points of the box that a solid fraction is counted in, half a per cent; spheres that are asked of each."""
INNER = (0.2, 0.8)
"""Quantiles of the centres between which the box of a solid fraction lies."""
FLOW = (0.1, 0.6)
"""Shares of all that passes between which its rate is taken: before, it begins, and after, the filling is low."""

BEVERLOO = {"C": 0.58, "k": 1.5}
"""Of the discharge of spheres, W = C rho_b g^1/2 (D - k d)^5/2, by Beverloo, Leniger & van de Velde (1961)."""


class Measure(NamedTuple):
    """Unit and meaning of a number."""

    unit: str
    meaning: str


MEASURES = {
    "coordination": Measure("1", "mean number of loaded contacts of a grain, over the grains that have one"),
    "strong_contacts": Measure("1", "fraction of the loaded contacts with more than twice the mean force"),
    "float_gap": Measure("m", "gap of loaded contacts after a step, mean weighted by force"),
    "slip": Measure("m/s", "sliding speed of loaded contacts, mean weighted by force"),
    "solid_fraction": Measure("1", "fraction of the volume that the grains fill, in a box amid them"),
    "overlap": Measure("m", "deepest overlap of two grains, or of a grain and a wall"),
}
"""Of every scene of grains; means over the second half of a run."""


class Watched:
    """A stepper that notes what its contacts do from a time `since` [s] on."""

    def __init__(self, stepper: SteppingScheme, scene: Grains, since: float):
        self.stepper, self.scene, self.since = stepper, scene, since
        self.label, self.solver, self.h = stepper.label, stepper.solver, stepper.h
        self._forget()

    def _forget(self) -> None:
        self.noted: list[Array] = []
        self.forces: list[Array] = []
        self.deepest = 0.0

    def begin(self) -> None:
        """Nothing is noted yet."""
        self.stepper.begin()
        self._forget()

    def step(self, q: Array, v: Array, t: float) -> Stepped:
        x = self.stepper.step(q, v, t)
        if t >= self.since:
            self._note(x)
        return x

    def _note(self, x: Stepped) -> None:
        given, first = x.given, x.given.first[:-1]
        least = PRESSES * self.h * float(np.linalg.norm(self.scene.weight, axis=1).mean())
        pressing = x.P[first] > least
        self.deepest = max(self.deepest, -float(given.phi.min(initial=0.0)))
        if not pressing.any():
            return
        u = given.J @ x.v + given.rate
        tangents = np.ones(u.size, dtype=bool)
        tangents[first] = False
        slip = np.sqrt(np.add.reduceat(np.where(tangents, u, 0.0) ** 2, first))
        p = x.P[first][pressing]
        assert given.places is not None
        ends = given.places.pair[pressing]
        ends = ends[ends >= 0]
        gap = (given.phi + self.h * u[first])[pressing]
        share = p / p.sum()
        self.noted.append(np.array([ends.size / np.unique(ends).size, share @ gap, share @ slip[pressing]]))
        self.forces.append(p / p.mean())

    def measured(self) -> dict[str, float]:
        """The first measures of `MEASURES` by name; NaN where nothing presses."""
        if not self.noted:
            return dict.fromkeys(("coordination", "strong_contacts", "float_gap", "slip"), np.nan) | {
                "overlap": self.deepest
            }
        coordination, gap, slip = np.mean(self.noted, axis=0)
        return {
            "coordination": float(coordination), "strong_contacts": float((np.concatenate(self.forces) > 2.0).mean()),
            "float_gap": float(gap), "slip": float(slip), "overlap": self.deepest,
        }  # fmt: skip


def force_distribution(forces: Array, bins: Array) -> Array:
    """P(f) (k,), the density of forces f beside their mean in bins (k + 1,), normed over all forces."""
    if not len(forces):
        return np.full(len(bins) - 1, np.nan)
    return np.histogram(forces, bins)[0] / (len(forces) * np.diff(bins))


def solid_fraction(x: Array, radius: Array, quantiles: tuple[float, float] = INNER) -> float:
    """Share of a box amid the centres x (N, 3) that is within the spheres, counted at `POINTS` points.

    Raises DataError where there are fewer than two spheres.
    """
    if len(x) < 2:
        raise DataError(f"{len(x)} spheres have no solid fraction; at least two are needed")
    low, high = np.quantile(x, quantiles, axis=0)
    points = low + (high - low) * np.random.default_rng(0).uniform(size=(POINTS, 3))
    distance, nearest = spatial.cKDTree(x).query(points, k=min(NEAREST, len(x)))
    return float((distance <= radius[nearest]).any(axis=1).mean())


def passing_rate(z: Array, t: Array, mass: Array, level: float = 0.0) -> float:
    """The rate [kg/s] at which what is at heights z (K, N) [m] passes a level downwards, by least squares over `FLOW`.

    NaN where fewer than ten pass in that time.
    """
    below = (z < level) @ mass
    count = (z < level).sum(axis=1)
    some = (count >= FLOW[0] * count[-1]) & (count <= FLOW[1] * count[-1])
    if not some.any() or np.ptp(count[some]) < 10:
        return float("nan")
    return float(np.polyfit(t[some], below[some], 1)[0])


def passing_time(z: Array, t: Array, share: float, level: float = 0.0) -> float:
    """Time [s] when a share of what is at heights z (K, N) [m] has passed a level downwards; NaN where less does."""
    count, wanted = (z < level).sum(axis=1), share * z.shape[1]
    k = int(np.argmax(count >= wanted))
    if k == 0:
        return float("nan")
    return float(t[k - 1] + (wanted - count[k - 1]) / (count[k] - count[k - 1]) * (t[k] - t[k - 1]))


def fall_time(z: Array, t: Array, since: float) -> float:
    """Time [s] after `since` at which a height z (K,) is half way to what it ends at; NaN where it does not fall."""
    first = int(np.searchsorted(t, since))
    if first >= len(z) - 1 or not z[-1] < z[first]:
        return float("nan")
    k = first + int(np.argmax(z[first:] <= 0.5 * (z[first] + z[-1])))
    share = (z[k - 1] - 0.5 * (z[first] + z[-1])) / (z[k - 1] - z[k])
    return float(t[k - 1] + share * (t[k] - t[k - 1]) - t[first])
