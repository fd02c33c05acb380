"""Beverloo's law of discharge, fitted to runs over several openings, with how sure its two numbers are.

    W = C rho_b g^1/2 (D - k d)^5/2      is a line     (W / (rho_b g^1/2 d^5/2))^2/5 = C^2/5 (D/d - k)

(Beverloo, Leniger & van de Velde 1961): its slope gives C, the opening at which it is zero gives k. The intervals are
Student's, that of k by Fieller's theorem, since it is a ratio. Where some openings have several runs, their spread
tells whether the means lie on a line at all (F test of lack of fit).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import fdtrc, stdtrit

from workbench.comparison.scenes.flow import FlowPlan, GranularFlow, flow_runs
from workbench.scenes.case import SceneCase
from workbench.support.arrays import Array
from workbench.support.errors import DataError
from workbench.support.progress import ProgressCallback

POWER = 0.4
SURE = 0.95
LITERATURE = {"C": (0.55, 0.65), "k": (1.2, 1.6)}
"""Published ranges for spheres (Nedderman 1992, section 10.2)."""
NAN = float("nan")


class BeverlooFit(NamedTuple):
    """C and k with confidence intervals of level `SURE`; NaN if the runs do not determine them.

    `straight` is the probability of means as far from a line, were they on one.
    """

    C: float = NAN
    C_low: float = NAN
    C_high: float = NAN
    k: float = NAN
    k_low: float = NAN
    k_high: float = NAN
    straight: float = NAN
    runs: int = 0


def beverloo(across: Array, rate: Array) -> BeverlooFit:
    """Law of openings D/d (n,) and rates W / (rho_b g^1/2 d^5/2) (n,); raises DataError for fewer than two openings.

    Fewer than three runs tell no interval, and fewer than three openings, or one run of each, not whether it is a line.
    """
    x, y, n = np.asarray(across, dtype=float), np.asarray(rate, dtype=float) ** POWER, len(across)
    openings = np.unique(x)
    if len(openings) < 2:
        raise DataError(f"{len(openings)} openings with a discharge; at least two are needed")
    a, b = map(float, np.polyfit(x, y, 1))
    if not a > 0:
        return BeverlooFit(runs=n)
    residual = y - (a * x + b)
    C, k = a ** (1 / POWER), -b / a
    if n < 3:
        return BeverlooFit(C=C, k=k, runs=n)
    t = stdtrit(n - 2, 0.5 * (1 + SURE))
    cov = residual @ residual / (n - 2) * np.linalg.inv([[x @ x, x.sum()], [x.sum(), n]])
    far = float(t * np.sqrt(cov[0, 0]))
    straight = _straight(x, y, openings, residual)
    if far >= a:
        return BeverlooFit(C=C, k=k, straight=straight, runs=n)
    C_low, C_high = (a - far) ** (1 / POWER), (a + far) ** (1 / POWER)
    # Where the line a k + b may be zero: (a k + b)^2 <= t^2 (k^2 V_aa + 2 k V_ab + V_bb), an interval since far < a.
    ends = np.roots([a**2 - t**2 * cov[0, 0], 2 * (a * b - t**2 * cov[0, 1]), b**2 - t**2 * cov[1, 1]])
    k_low, k_high = map(float, np.sort(ends.real))
    return BeverlooFit(C, C_low, C_high, k, k_low, k_high, straight, n)


def _straight(x: Array, y: Array, openings: Array, residual: Array) -> float:
    """Return the p-value of the lack-of-fit F test: openings' means about the line against runs about their means."""
    pure, lack = len(x) - len(openings), len(openings) - 2
    if not (pure and lack):
        return NAN
    own = sum(float(((y[x == D] - y[x == D].mean()) ** 2).sum()) for D in openings)
    missing = float(residual @ residual) - own
    return float(fdtrc(lack, pure, (missing / lack) / (own / pure))) if own > 0 else NAN


def laws(rows: pd.DataFrame) -> pd.DataFrame:
    """A row per formulation, friction coefficient and step, of rows with `across` and `rate`; see `beverloo`.

    Rows without a rate are left out; where fewer than two openings have one, all numbers are NaN.
    """
    found = []
    for (formulation, mu, step), own in rows.groupby(["formulation", "mu", "step"], sort=False):
        own = own.dropna(subset=["rate"])
        if own["across"].nunique() < 2:
            law = BeverlooFit(runs=len(own))
        else:
            law = beverloo(own["across"].to_numpy(), own["rate"].to_numpy())
        found.append({"formulation": formulation, "mu": mu, "step": step} | law._asdict())
    return pd.DataFrame(found, columns=["formulation", "mu", "step", *BeverlooFit._fields])


@dataclass(frozen=True)
class Discharge:
    """Flows of one hopper, of which every one has another opening, the narrowest first."""

    flows: tuple[GranularFlow, ...]

    @property
    def case(self) -> SceneCase:
        return self.flows[0].case

    @property
    def rows(self) -> pd.DataFrame:
        """Return a row per run, with dimensionless opening `across` and discharge `rate`, as `beverloo` takes them."""
        found = []
        for x in self.flows:
            opening, d, g = x.case.opening, 2 * x.radius, x.case.gravity  # type: ignore[attr-defined]
            rate = x.rows["discharge"] / (x.rows["bulk"] * np.sqrt(g) * d**2.5)
            found.append(x.rows.assign(opening=opening, across=opening / d, rate=rate))
        return pd.concat(found, ignore_index=True)

    @property
    def laws(self) -> pd.DataFrame:
        """C and k by formulation, friction coefficient and step; see `laws`."""
        return laws(self.rows)

    @property
    def truths(self) -> pd.DataFrame:
        """Return the truths of every run."""
        return pd.concat([x.truths for x in self.flows], ignore_index=True)


def discharge_runs(cases: Sequence[SceneCase], plan: FlowPlan, progress: ProgressCallback | None = None) -> Discharge:
    """The flow of every case, all with the same runs; see `flow_runs`."""
    flows = []
    for i, case in enumerate(cases):

        def report(text: str, k: int, total: int, i: int = i) -> None:
            assert progress
            progress(f"opening {i + 1} of {len(cases)}, {text}", i * total + k, len(cases) * total)

        flows.append(flow_runs(plan._replace(case=case), report if progress else None))
    return Discharge(tuple(flows))
