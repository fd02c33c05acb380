"""Range of an axis for some curves, values beyond it, and curves that coincide in it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from workbench.support.arrays import Array

USUAL = (0.05, 0.95)
"""Quantiles of a curve between which it is no spike."""
ROOM = 0.35
"""Share of the usual range that an axis leaves on both sides."""
APART = 0.005
"""Share of the axis below which the distance of two curves is not visible."""
SLACK = 0.03
"""Share of the axis by which it is longer than what it shows, so that no curve lies on its edge."""
SMALLEST = 1e-12
"""Logarithmic axes begin here at the earliest."""


@dataclass(frozen=True)
class AxisRange:
    """The ends of an axis, whether it is logarithmic, and words on what it hides."""

    low: float
    high: float
    log: bool
    words: str


def range_of(curves: pd.DataFrame, column: str, log: bool = False, zero: bool = False) -> AxisRange:
    """An axis that shows what every "label" does for nine tenths of the time; spikes are cut off.

    `curves` has columns label, t, `column` and may have contact and step. With `zero` the axis includes 0.
    """
    data = curves.dropna(subset=[column])
    data = data[data[column] > SMALLEST] if log else data
    if data.empty:
        return AxisRange(SMALLEST, 1.0, log, "")
    values = np.log10(data[column]) if log else data[column]
    usual = values.groupby(data["label"]).quantile(np.array(USUAL))
    room = ROOM * (usual.max() - usual.min())
    low, high = (max(values.min(), usual.min() - room), min(values.max(), usual.max() + room))
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    low, high = low - SLACK * (high - low), high + SLACK * (high - low)
    scaled = ((values - low) / (high - low)).clip(0.0, 1.0)
    words = " ".join(filter(None, [_cut_off(data, column, values, low, high, log), _coincident(data, scaled)]))
    return AxisRange(*((10.0**low, 10.0**high) if log else (low, high)), log, words)


def _cut_off(data: pd.DataFrame, column: str, values: pd.Series, low: float, high: float, log: bool) -> str:
    """Name the curves with values beyond the axis, and their extremes, except small values on a logarithmic axis."""
    beyond = data[(values > high) if log else (values > high) | (values < low)]
    if beyond.empty:
        return ""
    names = ", ".join(dict.fromkeys(beyond["label"]))
    farthest = float(beyond[column].iloc[int(beyond[column].abs().argmax())])
    return (
        f"Triangles at the edge: {100 * len(beyond) / len(data):.2g} % of the values lie beyond the axis, up to "
        f"{farthest:.3g} ({names})."
    )


def _coincident(data: pd.DataFrame, scaled: pd.Series) -> str:
    """Return the groups of curves that coincide throughout."""
    keys = [name for name in ("step", "contact", "t") if name in data]
    table = data.assign(scaled=scaled).pivot_table(index=keys, columns="label", values="scaled", sort=False)
    # A curve without any value has no column.
    values = {label: table[label].to_numpy(dtype=float) for label in dict.fromkeys(data["label"]) if label in table}
    groups: list[list[str]] = []
    for label, own in values.items():
        group = next((g for g in groups if _one(values[g[0]], own)), None)
        if group is None:
            groups.append([label])
        else:
            group.append(label)
    return coincident_words([g for g in groups if len(g) > 1])


def coincident_words(groups: Sequence[Sequence[str]]) -> str:
    """The groups of curves that are one curve, in a sentence."""
    listed = "; ".join(", ".join(group[:-1]) + f" and {group[-1]}" for group in groups)
    return f"Coincident curves: {listed}." if groups else ""


def _one(a: Array, b: Array) -> bool:
    # A curve with gaps of its own is not the other one.
    gaps = np.isnan(a), np.isnan(b)
    both = ~(gaps[0] | gaps[1])
    alike = (gaps[0] == gaps[1]).mean() > 0.99 and both.any()
    return bool(alike and np.quantile(np.abs(a[both] - b[both]), 0.99) <= APART)
