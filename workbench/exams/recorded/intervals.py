"""Confidence intervals by the bootstrap: means over tosses, resampled with replacement.

Samples of one toss are dependent, so whole tosses are resampled. Source: Efron & Tibshirani 1993, An Introduction to
the Bootstrap, chapter 13 (percentile intervals).
"""

from dataclasses import dataclass

import numpy as np

from workbench.support.arrays import Array

DRAWS, SEED = 4000, 1
LEVEL = 95.0
"""Percentage of the means within an interval."""


@dataclass(frozen=True)
class ConfidenceInterval:
    """A mean and the ends of its 95 % interval; NaN if there are no values."""

    mean: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """The meaning of a difference: "less", "more", or "cannot tell" if the interval contains zero."""
        return "less" if self.high < 0 else "more" if self.low > 0 else "cannot tell"


class Bootstrap:
    """Return the resamples of `count` tosses, shared by all comparisons on them."""

    def __init__(self, count: int, seed: int = SEED) -> None:
        drawn = np.random.default_rng(seed).integers(0, count, size=(DRAWS, count))
        self.weights = np.zeros((DRAWS, count))
        np.add.at(self.weights, (np.arange(DRAWS)[:, None], drawn), 1.0)

    def means(self, values: Array, counts: Array | None = None) -> Array:
        """Means (DRAWS, ...) in every resample of values (tosses, ...), each a sum over `counts` items of its toss.

        NaN values are omitted; a resample without any value gives NaN.
        """
        known = np.isfinite(values)
        n = known.astype(float) if counts is None else np.where(known, counts, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return (self.weights @ np.where(known, values, 0.0)) / (self.weights @ n)

    def interval(self, values: Array, counts: Array | None = None) -> ConfidenceInterval:
        """The mean of values (tosses,) with its interval."""
        return self.intervals(values[:, None], None if counts is None else counts[:, None])[0]

    def intervals(self, values: Array, counts: Array | None = None) -> list[ConfidenceInterval]:
        """The means of the columns of values (tosses, k) with their intervals."""
        found = self.means(values, counts)
        known = np.isfinite(values)
        n = known.sum(axis=0) if counts is None else np.where(known, counts, 0.0).sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(known, values, 0.0).sum(axis=0) / n
        tail = 0.5 * (100.0 - LEVEL)
        found[:, ~np.isfinite(mean)] = 0.0
        low, high = np.nanpercentile(found, [tail, 100.0 - tail], axis=0)
        return [
            ConfidenceInterval(float(m), float(a) if np.isfinite(m) else np.nan, float(b) if np.isfinite(m) else np.nan)
            for m, a, b in zip(mean, low, high, strict=True)
        ]
