"""The figure that ranks formulations: their error against what a step costs, and how well either is known."""

from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from workbench.arrays import Array
from workbench.builtin.reports.figures.charts import Chart, Figure, short
from workbench.builtin.reports.figures.styles import INK, palette
from workbench.comparison.columns import SHOWN
from workbench.comparison.decision import LEAST, Decision, bound, decide
from workbench.comparison.result import Comparison

WIDTH, LABELS, ROW = 430, 300, 19
"""Of the plot and of the column of names beside it, and the height that a name needs [px]."""
LOWEST = 300
"""Height of the plot at least [px]."""


def ranking_figure(c: Comparison) -> list[Figure]:
    """A point for each entry of the decision at the first step size; nothing where errors or costs are not known."""
    d = decide(c)
    if d is None:
        return []
    entries = [x for x in d.entries if np.isfinite(x.cost) and x.cost > 0]
    if not entries or max(x.error for x in entries) <= LEAST:
        return []
    factor, _, unit = SHOWN[d.error.shown]
    errors = factor * np.array([x.error for x in entries])
    smallest = errors[errors > factor * LEAST].min()
    share = factor * bound(d.own, d.known)
    low = 10.0 ** np.floor(np.log10(min(smallest, share if share > factor * LEAST else smallest)))
    high = 10.0 ** np.ceil(np.log10(1.05 * errors.max()))
    drawn = np.maximum(errors, low)
    height = max(LOWEST, ROW * len(entries))
    costs = 1e6 * np.array([[x.row["cost_low"], x.cost, x.row["cost_high"]] for x in entries])
    ends = (costs.min() / 1.3, costs.max() * 1.3)
    places = _spread(np.log10(drawn), np.log10(low), np.log10(high), ROW / height)
    colours = palette([x.label for x in entries])
    rows = [
        {
            "name": x.names, "place": x.place, "error": short(drawn[i]), "cost": short(costs[i, 1]),
            "from": short(costs[i, 0]), "to": short(costs[i, 2]), "colour": colours[i], "end": short(ends[1]),
            "label": short(10.0 ** places[i]), "words": f"{short(errors[i]):.3g} {unit}, {short(costs[i, 1]):.2g} µs",
        }
        for i, x in enumerate(entries)
    ]  # fmt: skip
    chart = _chart(pd.DataFrame(rows), d, share, (low, high), ends, height, unit, c)
    caption = _caption(c, d, share > factor * LEAST)
    lowest = " What has no error at all stands on the lower edge." if (errors < low).any() else ""
    return [Figure("ranking", "Error against cost", f"{caption}{lowest}", chart)]


def _caption(c: Comparison, d: Decision, known: bool) -> str:
    what = {
        "path_error": "The largest distance of a body from where it is under exact Coulomb friction",
        "body_position_error": "The mean distance of the farthest body from where it is under exact Coulomb friction",
        "velocity_error": "The error of the velocity, relative to |q|",
    }[d.error.name]
    step = " a step" if c.stepped else ""
    bars = "; bars are the range of the timings" if any(x.row.get("timings", 1) > 1 for x in d.entries) else ""
    band = (
        " Grey: no farther off than exact Coulomb friction at this step, and what the reference is uncertain by: "
        "who is in there shares the first place." if known else ""
    )  # fmt: skip
    return f"{what}, against what it costs{step}, both logarithmic{bars}. Left and below is better.{band}"


def _spread(y: Array, low: float, high: float, least: float) -> Array:
    """Places of names beside points at y, in their order, at least a share of the height apart."""
    gap, order = least * (high - low), np.argsort(y, kind="stable")
    found = y[order].copy()
    for _ in range(200):
        for i, j in pairwise(range(len(found))):
            lacking = gap - (found[j] - found[i])
            if lacking > 0:
                found[i] -= lacking / 2
                found[j] += lacking / 2
        found = found - max(0.0, found[-1] - (high - gap / 2)) + max(0.0, low + gap / 2 - found[0])
    places = np.empty_like(found)
    places[order] = found
    return places


def _chart(
    points: pd.DataFrame, d: Decision, share: float, errors: tuple[float, float], costs: tuple[float, float],
    height: int, unit: str, c: Comparison,
) -> Chart:  # fmt: skip
    def scale(low: float, high: float) -> alt.Scale:
        return alt.Scale(type="log", domain=[short(low), short(high)], nice=False)

    on_y = scale(*errors)
    grid = alt.Axis(format="~g", grid=True, tickCount=4)
    per = " a step" if c.stepped else ""
    x = alt.X("cost:Q", title=f"cost{per} [µs]", scale=scale(*costs), axis=grid)
    y = alt.Y("error:Q", title=f"error [{unit}]", scale=on_y, axis=grid)
    colour = alt.Color("colour:N", scale=None, legend=None)
    at, tip = alt.Chart(points), ["name:N", "words:N"]
    band = pd.DataFrame([{"low": errors[0], "high": short(min(max(share, errors[0]), errors[1]))}])
    beside = alt.value(WIDTH + 14)
    layers: list[Any] = [
        alt.Chart(band).mark_rect(color="#8888", opacity=0.4).encode(y=alt.Y("low:Q", scale=on_y), y2="high:Q"),
        at.mark_rule(strokeWidth=2).encode(x=alt.X("from:Q", scale=scale(*costs)), x2="to:Q", y=y, color=colour),
        at.mark_rule(strokeWidth=0.7, strokeDash=[2, 3], opacity=0.6).encode(
            x=x, x2=alt.value(WIDTH + 10), y=y, y2="label:Q", color=colour
        ),
        at.mark_point(size=80, filled=True, opacity=1).encode(x=x, y=y, color=colour, tooltip=tip),
        at.mark_text(align="left", fontSize=12, color=INK, clip=False).encode(
            x=beside, y=alt.Y("label:Q", scale=on_y), text="name:N", tooltip=tip
        ),
    ]  # fmt: skip
    return alt.layer(*layers).properties(
        width=WIDTH, height=height, padding={"right": LABELS, "left": 5, "top": 5, "bottom": 5}
    )
