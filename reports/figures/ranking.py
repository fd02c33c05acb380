"""The figure that ranks formulations: error against cost of a step, with the uncertainty of both."""

import json
from itertools import pairwise
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from workbench.builtin.reports.figures.charts import Chart, Figure, short
from workbench.builtin.reports.figures.styles import FAMILIES, INK, palette
from workbench.comparison.columns import SHOWN
from workbench.comparison.decision import LEAST, LENGTHS, Decision, Entry, amount, decide, shared_up_to, shown
from workbench.comparison.families import family
from workbench.comparison.result import Comparison
from workbench.support.arrays import Array

WIDTH, ROW = 360, 20
"""Size of the plot, and height of a label next to it [px]."""
LOWEST = 200
"""Height of the plot at least [px]."""
DECADE = 10.0
"""Ratio of the largest to the smallest cost up to which the axis of costs is linear."""
MANY = 300.0
"""Ratio of the ends of that axis from which on there is room for its decades alone."""
QUIET = "#8a8f98"


class Errors(NamedTuple):
    """Axis of errors between powers of ten; with `zero` its lower end represents zero."""

    low: float
    high: float
    zero: bool
    unit: str


def ranking_figure(c: Comparison) -> list[Figure]:
    """Plot a point for each entry of the decision at the first step size; none without errors or costs."""
    d = decide(c)
    if d is None:
        return []
    entries = [x for x in d.entries if np.isfinite(x.cost) and x.cost > 0]
    if not entries or max(x.error for x in entries) <= LEAST:
        return []
    factor, _, unit = SHOWN[d.error.shown]
    errors = factor * np.array([x.error for x in entries])
    smallest = errors[errors > factor * LEAST].min()
    share = factor * shared_up_to(d.own, d.known)
    low = 10.0 ** np.floor(np.log10(min(smallest, share if share > factor * LEAST else smallest)))
    high = 10.0 ** np.ceil(np.log10(1.05 * errors.max()))
    # What has no error at all stands at a zero below the smallest decade.
    zero = bool((errors < low).any())
    low = low / 10.0 if zero else low
    drawn = np.maximum(errors, low)
    beside = [i for i, x in enumerate(entries) if x in shown(d)]
    height = max(LOWEST, ROW * len(beside))
    scale, time_unit = (1e6, "µs") if min(x.cost for x in entries) < 1e-3 else (1e3, "ms")
    costs = scale * np.array([[x.row["cost_low"], x.cost, x.row["cost_high"]] for x in entries])
    labels = list(dict.fromkeys(c.runs["label"]))
    colours = dict(zip(labels, palette(labels), strict=True))
    places = dict(
        zip(beside, _spread(np.log10(drawn[beside]), np.log10(low), np.log10(high), ROW / height), strict=True)
    )
    rows = [
        {
            "name": x.names, "place": x.place, "error": short(drawn[i]), "cost": short(costs[i, 1]),
            "from": short(costs[i, 0]), "to": short(costs[i, 2]), "family": family(x.label), "named": i in places,
            "colour": colours[x.label] if i in places else QUIET,
            "taken": x is d.recommended,
            "label": short(10.0 ** places[i]) if i in places else short(drawn[i]),
            "beside": f"{_short(x)}\u2002{amount(x.error, d.error)}",
            "words": f"{amount(x.error, d.error)}, {short(costs[i, 1]):.2g} {time_unit}",
        }
        for i, x in enumerate(entries)
    ]  # fmt: skip
    chart = _chart(pd.DataFrame(rows), share, Errors(low, high, zero, unit), costs, time_unit, height, c)
    caption = _caption(c, d, share > factor * LEAST, len(rows) - len(places))
    legend = _legend(d, len(rows) - len(places), _is_wide(costs))
    return [Figure("ranking", "Error against cost", caption, chart, legend)]


def _colour(points: pd.DataFrame, kind: str) -> str:
    """Return a family's colour in the legend: its own if a point has it, else that of its first point."""
    own, drawn = FAMILIES[kind][0], points["colour"][(points["family"] == kind) & points["named"]].tolist()
    return own if own in drawn or not drawn else str(drawn[0])


def _short(x: Entry) -> str:
    """Return the label of an entry's point: the CCP is always named, other formulations are counted."""
    named = [x.label, *["ccp"] * ("ccp" in x.alike)]
    more = len(x.alike) + 1 - len(named)
    return " = ".join(named) + (f" +{more}" if more else "")


def _in_time(unit: str) -> str:
    """Return the expression of a tick's label: times of 1000 units or more have a larger unit."""
    units = ("µs", "ms", "s")[("µs", "ms").index(unit) :]
    label = f"format(datum.value, '.3~r') + ' {units[0]}'"
    for k, larger in enumerate(units[1:], 1):
        label = f"datum.value >= {1000**k} ? format(datum.value / {1000**k}, '.3~r') + ' {larger}' : {label}"
    # The largest comes first.
    return label


def _in_length() -> str:
    """Return the expression of a tick's label for a value in millimetres, in the units of `amount`."""
    *larger, (_, by, name) = LENGTHS
    label = f"format({by / 1e3:g} * datum.value, '.3~r') + ' {name}'"
    for least, by, name in reversed(larger):
        label = f"datum.value >= {1e3 * least:g} ? format({by / 1e3:g} * datum.value, '.3~r') + ' {name}' : {label}"
    return label


def _in_share(unit: str) -> str:
    """Return the expression of a tick's label for a value in percent, in the numbers of `amount`."""
    return f"format(datum.value, datum.value < 1e-3 ? '.0e' : '.3~r') + ' {unit}'"


def _is_wide(costs: Array) -> bool:
    """Return whether costs need a logarithmic axis."""
    return bool(costs.max() / costs.min() >= DECADE)


def _caption(c: Comparison, d: Decision, known: bool, unnamed: int) -> str:
    what = {
        "path_error": "largest distance of a body's centre from the reference path",
        "body_position_error": "mean distance of the farthest body from the reference path",
        "velocity_error": "velocity error in percent of |q|, the velocity without contact impulses",
    }[d.error.name]
    band = f" Grey band: within the error of {d.exact_in_words}." if known else ""
    ring = " Ring: recommended." if d.recommended is not None else ""
    run = "run" if c.stepped else "answer"
    alike = f" +N: N more with the same {run}." if any(x.alike for x in d.entries) else ""
    small = f" Grey dots: {unnamed} others." if unnamed else ""
    return f"Vertical: {what}. Lower left is better.{band}{ring}{alike}{small}"


def _legend(d: Decision, unnamed: int, wide: bool) -> str:
    """Return what a first look at the figure does not need."""
    bars = " Bars: range of the timings." if any(x.row.get("timings", 1) > 1 for x in d.entries) else ""
    same = "; ".join(x.every for x in d.entries if x.alike)
    dear = (
        ", where the first named is drawn and others may cost more"
        if any(x.dearest > x.cost for x in d.entries)
        else ""
    )
    alike = f" +N stands for: {same}{dear}." if same else ""
    small = " Grey dots are named in the table." if unnamed else ""
    axes = "Both axes are logarithmic." if wide else "The vertical axis is logarithmic."
    return f"{axes}{bars}{alike}{small}"


def _spread(y: Array, low: float, high: float, least: float) -> Array:
    """Return label positions for points at y, in their order, at least a share of the height apart."""
    gap, order = least * (high - low), np.argsort(y, kind="stable")
    found = y[order].copy()
    for _ in range(200):
        for i, j in pairwise(range(len(found))):
            lacking = gap - (found[j] - found[i])
            if lacking > 0:
                found[i] -= lacking / 2
                found[j] += lacking / 2
        found[0], found[-1] = max(found[0], low + gap / 2), min(found[-1], high - gap / 2)
    places = np.empty_like(found)
    places[order] = found
    return places


def _chart(
    points: pd.DataFrame, share: float, errors: Errors, costs: Array, time_unit: str, height: int, c: Comparison,
) -> Chart:  # fmt: skip
    on_y = alt.Scale(type="log", domain=[short(errors.low), short(errors.high)], nice=False)
    on_x = alt.Scale(domain=[0.0, short(1.1 * costs.max())], nice=False)
    ticks: dict[str, Any] = {"tickCount": 4}
    if _is_wide(costs):
        low, high = costs.min() / 1.3, 1.3 * costs.max()
        on_x = alt.Scale(type="log", domain=[short(low), short(high)], nice=False)
        at = (1, 2, 5) if high / low < MANY else (1,)
        ticks = {"values": [m * 10.0**k for k in range(-3, 10) for m in at if low <= m * 10.0**k <= high]}
    decades = [10.0**k for k in range(round(np.log10(errors.low)), round(np.log10(errors.high)) + 1)]
    in_words = _in_length() if errors.unit == "mm" else _in_share(errors.unit)
    if errors.zero:
        in_words = f"datum.value < {2.0 * errors.low:g} ? '0' : {in_words}"
    x = alt.X(
        "cost:Q", title=f"solver time{' per step' if c.stepped else ''}", scale=on_x,
        axis=alt.Axis(labelExpr=_in_time(time_unit), grid=True, **ticks),
    )  # fmt: skip
    y = alt.Y("error:Q", title=None, scale=on_y, axis=alt.Axis(values=decades, labelExpr=in_words, grid=True))
    own, tip = alt.Color("colour:N", scale=None, legend=None), ["name:N", "words:N"]
    there = [f for f in FAMILIES if f in set(points["family"])]
    of_family = alt.ExprRef(f"{json.dumps({f: _colour(points, f) for f in there})}[datum.value]")
    legend = alt.Legend(
        title=None, orient="top", direction="horizontal", columns=7, symbolSize=90, symbolStrokeWidth=0,
        symbolFillColor=of_family,
    )  # fmt: skip
    shape = alt.Shape("family:N", scale=alt.Scale(domain=there, range=[FAMILIES[f][1] for f in there]), legend=legend)
    fill = alt.Fill("colour:N", scale=None, legend=None)
    named, others = points[points["named"]], points[~points["named"]]
    band = pd.DataFrame([{"low": errors.low, "high": short(min(max(share, errors.low), errors.high))}])
    layers: list[Any] = [
        alt.Chart(band).mark_rect(color="#8888", opacity=0.4).encode(y=alt.Y("low:Q", scale=on_y), y2="high:Q"),
        alt.Chart(points).mark_rule(strokeWidth=2).encode(x=alt.X("from:Q", scale=on_x), x2="to:Q", y=y, color=own),
        alt.Chart(named).mark_rule(strokeWidth=0.7, opacity=0.6).encode(
            x=x, x2=alt.value(alt.expr("width + 10")), y=y, y2="label:Q", color=own
        ),
        alt.Chart(others).mark_circle(size=30, opacity=1, color=QUIET).encode(x=x, y=y, tooltip=tip),
        alt.Chart(named).mark_point(size=90, filled=True, opacity=1, strokeWidth=0).encode(
            x=x, y=y, fill=fill, shape=shape, tooltip=tip
        ),
        alt.Chart(named[named["taken"]]).mark_point(shape="circle", size=380, strokeWidth=1.6, opacity=1).encode(
            x=x, y=y, color=alt.value(INK), tooltip=tip
        ),
        alt.Chart(named).mark_text(align="left", fontSize=12, color=INK, clip=False).encode(
            x=alt.value(alt.expr("width + 14")), y=alt.Y("label:Q", scale=on_y), text="beside:N", tooltip=tip
        ),
    ]  # fmt: skip
    return alt.layer(*layers).properties(width=WIDTH, height=height)
