"""Design of a study: lists and grids of values, values that vary together, and samples of ranges."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.support.errors import DataError
from workbench.support.numbers import parse_entry

MOST_POINTS = 10**6
SAMPLES = ("sobol", "lhs", "random")
"""Sobol low-discrepancy points, Latin hypercubes, independent uniform points."""


@dataclass(frozen=True)
class DesignAxis:
    """Quantities that vary together, and their values: `values[i]` has a value for each of `names`."""

    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Range:
    """A range of a quantity to be sampled, uniformly in its logarithm if `log`."""

    name: str
    low: float
    high: float
    log: bool = False

    def at(self, share: np.ndarray) -> np.ndarray:
        """Return the values at fractions of the way from `low` to `high`."""
        if self.log:
            return self.low * (self.high / self.low) ** share
        return self.low + (self.high - self.low) * share


@dataclass(frozen=True)
class Sample:
    """Sampling of ranges: a method of `SAMPLES`, the number of points, and the random seed."""

    method: str
    count: int
    seed: int = 0


def varied(name: str, values: Any) -> DesignAxis | Range:
    """Return an axis or range of one quantity.

    `values` are a sequence, or text: "0.1,0.3,0.5", "0.1:0.9:9" (nine values), "1e-3:1:4:log", and for a range to be
    sampled "0.1:0.9" or "1e-3:1:log"; a tuple `(low, high)` is a range too. Words are written "symplectic,midpoint" or
    "moreau-jean:theta=0.7". Raises DataError.
    """
    if isinstance(values, str):
        return _parsed(name, values)
    if isinstance(values, tuple) and len(values) == 2 and all(isinstance(x, int | float) for x in values):
        return _range(name, float(values[0]), float(values[1]), False)
    found = list(values) if np.ndim(values) else [values]
    if not found:
        raise DataError(f"{name} has no values")
    return DesignAxis((name,), tuple((_value(name, x),) for x in found))


def together(values: Mapping[str, Any]) -> DesignAxis:
    """Return an axis of several quantities that vary together, with equally many values; raises DataError."""
    lists: dict[str, list[Any]] = {}
    for name, given in values.items():
        axis = varied(name, list(given) if isinstance(given, tuple) else given)
        if isinstance(axis, Range):
            raise DataError(f"{name} varies together with other quantities and needs its values, not a range")
        lists[name] = [x for (x,) in axis.values]
    return DesignAxis(tuple(lists), tuple(side_by_side(lists)))


def side_by_side(lists: Mapping[str, Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Return the first values of all quantities, then the second ones, ...; raises DataError for unequal lengths."""
    counts = {name: len(found) for name, found in lists.items()}
    if len(set(counts.values())) > 1:
        counted = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise DataError(f"quantities that vary together need equally many values; there are: {counted}")
    return list(zip(*lists.values(), strict=True))


def points(axes: Sequence[DesignAxis], ranges: Sequence[Range], sample: Sample | None) -> list[dict[str, Any]]:
    """Return all combinations of the axes, each with every point of the sample of the ranges; raises DataError."""
    names = [name for axis in axes for name in axis.names] + [r.name for r in ranges]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise DataError(f"{twice} is varied twice")
    if ranges and sample is None:
        raise DataError(f"{ranges[0].name} is a range; give the number of its values (low:high:n), or a sample")
    if sample and not ranges:
        raise DataError(f"a sample ({sample.method}) needs a range; give one as NAME=low:high")
    count = int(np.prod([len(axis.values) for axis in axes], dtype=float)) * (sample.count if sample else 1)
    if count > MOST_POINTS:
        raise DataError(f"a study of {count} points; at most {MOST_POINTS} are possible")
    sampled = _sampled(ranges, sample) if sample else [{}]
    return [
        dict(itertools.chain(*(zip(axis.names, place, strict=True) for axis, place in zip(axes, places, strict=True))))
        | drawn
        for places in itertools.product(*(axis.values for axis in axes)) for drawn in sampled
    ]  # fmt: skip


def _sampled(ranges: Sequence[Range], sample: Sample) -> list[dict[str, float]]:
    from scipy.stats import qmc

    if sample.method not in SAMPLES:
        raise DataError(f"sample '{sample.method}'; it can be {', '.join(SAMPLES)}")
    if not 1 <= sample.count <= MOST_POINTS:
        raise DataError(f"a sample of {sample.count} points; 1 to {MOST_POINTS} are possible")
    rng = np.random.default_rng(sample.seed)
    if sample.method == "sobol":
        # The first points of a longer sequence; balance needs a power of two, and fewer points are nearly balanced.
        m = int(np.ceil(np.log2(sample.count)))
        shares = qmc.Sobol(len(ranges), rng=rng).random_base2(m)[: sample.count]
    elif sample.method == "lhs":
        shares = qmc.LatinHypercube(len(ranges), rng=rng).random(sample.count)
    else:
        shares = rng.random((sample.count, len(ranges)))
    columns = [r.at(shares[:, i]) for i, r in enumerate(ranges)]
    return [dict(zip((r.name for r in ranges), map(float, row), strict=True)) for row in zip(*columns, strict=True)]


def _parsed(name: str, text: str) -> DesignAxis | Range:
    # A word with an option of its own, "moreau-jean:theta=0.7", is not a range.
    if ":" not in text or "=" in text:
        return DesignAxis((name,), tuple((_value(name, part.strip()),) for part in text.split(",")))
    parts = text.split(":")
    log = parts[-1] == "log"
    parts = parts[:-1] if log else parts
    if len(parts) not in (2, 3):
        raise DataError(f"{name}={text[:60]}; give low:high:number, low:high for a sample, or values with commas")
    low, high = (parse_entry(part.strip(), name) for part in parts[:2])
    found = _range(name, low, high, log)
    if len(parts) == 2:
        return found
    number = parse_entry(parts[2].strip(), name)
    if number != int(number) or not 2 <= number <= MOST_POINTS:
        raise DataError(f"{name}={text[:60]}: {parts[2]} values; a whole number from 2 to {MOST_POINTS} is needed")
    return DesignAxis((name,), tuple((float(x),) for x in found.at(np.linspace(0.0, 1.0, int(number)))))


def _range(name: str, low: float, high: float, log: bool) -> Range:
    if not (np.isfinite([low, high]).all() and low < high):
        raise DataError(f"{name} from {low:g} to {high:g}; two finite numbers, the smaller one first, are needed")
    if log and low <= 0:
        raise DataError(f"{name} from {low:g} in its logarithm; a positive number is needed")
    return Range(name, low, high, log)


def _value(name: str, given: Any) -> Any:
    """Convert to a number, or to a word as in the options of formulations."""
    if not isinstance(given, str):
        return given.item() if hasattr(given, "item") else given
    try:
        return parse_entry(given, name)
    except DataError:
        return given
