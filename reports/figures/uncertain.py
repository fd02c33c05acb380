"""The solutions of an LCP or MLCP with uncertain data: an interval for each unknown, and solutions within."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from flint import fmpq

from workbench.builtin.reports.figures.charts import WIDTH, Figure, short
from workbench.builtin.reports.figures.styles import INK
from workbench.matrices.linear_algebra.rationals import nearest_double

COLOURS = {
    "positive": "#4c6a92", "between": "#4c6a92", "zero": "#8d8d8d", "lower": "#8d8d8d", "upper": "#5b8c5a",
    "undetermined": "#e08a1e",
}  # fmt: skip
WORDS = {
    "positive": "certainly positive", "zero": "certainly zero", "between": "certainly between its bounds",
    "lower": "certainly at its lower bound", "upper": "certainly at its upper bound", "undetermined": "undetermined",
}  # fmt: skip
ROW = 24
"""Height of an unknown [px]."""


def solutions_figure(found: dict[str, Any]) -> Figure:
    """The bounds in the result of `check_box`, the solution of the middle, and solutions of members."""
    bars = frame(found)
    names = list(bars["unknown"])
    kinds = [kind for kind in COLOURS if kind in set(bars["sign"])]
    colour = alt.Color(
        "meaning:N", title=None, scale=alt.Scale(domain=[WORDS[k] for k in kinds], range=[COLOURS[k] for k in kinds]),
        legend=alt.Legend(symbolType="square", symbolSize=160),
    )  # fmt: skip
    y = alt.Y("unknown:N", title=None, sort=names, axis=alt.Axis(ticks=False, grid=True, labelPadding=8))
    x = alt.X("lower:Q", title="z", scale=alt.Scale(zero=True))
    between = ["unknown:N", "lower:Q", "upper:Q", "meaning:N"]
    bar = alt.Chart(bars).mark_bar(height=ROW // 2, opacity=0.45)
    ends = pd.concat([bars, bars.assign(lower=bars["upper"])])
    end = alt.Chart(ends[~((ends["open"] & (ends["lower"] == ends["upper"])) | ends["below"])]).mark_tick(
        thickness=2.5, size=ROW // 2
    )
    layers: list[alt.Chart] = [
        bar.encode(x=x, x2="upper:Q", y=y, color=colour, tooltip=between),
        end.encode(x=x, y=y, color=colour, tooltip=between),
    ]
    words = ["Bars: proved bounds of each unknown over all data"]
    words[0] += ", each attained." if found["exact"] else "."
    samples = _points(found["samples"], names)
    if len(samples):
        shown = alt.Chart(samples).mark_tick(color=INK, thickness=1, size=ROW // 3, opacity=0.35)
        layers.append(shown.encode(x="z:Q", y=y))
        words.append(f"Fine ticks: solutions of {len(found['samples'])} members, in floating point.")
    if found["centre"]:
        middle = _points([[nearest_double(fmpq(v)) for v in found["centre"]]], names)
        layers.append(alt.Chart(middle).mark_point(filled=True, color=INK, size=50, opacity=1).encode(x="z:Q", y=y))
        words.append("Dot: solution of the middle.")
    for column, side, end_of in (("open", "right", "upper"), ("below", "left", "lower")):
        beyond = bars[bars[column]]
        if len(beyond):
            arrow = alt.Chart(beyond).mark_point(shape=f"triangle-{side}", filled=True, size=110, opacity=1)
            layers.append(arrow.encode(x=f"{end_of}:Q", y=y, color=colour))
            words.append(f"Triangle to the {side}: no {end_of} bound was found.")
    chart = alt.layer(*layers).properties(width=WIDTH, height=ROW * len(names))
    return Figure("solutions", "Solutions for all data of the boxes", " ".join(words), chart)


def frame(found: dict[str, Any]) -> pd.DataFrame:
    """Return a row per unknown: unknown, lower and upper (ends of the bar), open (no upper bound), below (no lower
    bound), sign, meaning."""
    lower, upper = (
        [end if x is None else nearest_double(fmpq(x)) for x in found[name]]
        for name, end in (("lower", -np.inf), ("upper", np.inf))
    )
    ends = [0.0, *(x for x in (*lower, *upper, *np.ravel(found["samples"])) if np.isfinite(x))]
    far = [max(ends) + 0.1 * (max(ends) - min(ends)) or 1.0, min(ends) - 0.1 * (max(ends) - min(ends)) or -1.0]
    return pd.DataFrame({
        "unknown": [f"z_{i}" for i in range(len(lower))],
        "lower": [short(x if np.isfinite(x) else far[1]) for x in lower],
        "upper": [short(x if np.isfinite(x) else far[0]) for x in upper],
        "open": [not np.isfinite(x) for x in upper],
        "below": [not np.isfinite(x) for x in lower],
        "sign": found["signs"],
        "meaning": [WORDS[kind] for kind in found["signs"]],
    })  # fmt: skip


def _points(solutions: list[list[float]], names: list[str]) -> pd.DataFrame:
    rows = [(name, short(x)) for z in solutions for name, x in zip(names, z, strict=True)]
    return pd.DataFrame(rows, columns=["unknown", "z"])
