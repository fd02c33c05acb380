"""Figures of a comparison of a scene: who is how far, over time, and where the comparison stops."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from workbench.builtin.reports.figures.charts import Chart, Figure, lines, short
from workbench.builtin.reports.figures.ranges import SMALLEST, range_of
from workbench.builtin.reports.figures.styles import INK, palette
from workbench.comparison.columns import SHOWN
from workbench.comparison.result import Comparison, by_first_solver

PANELS = ("body_position_error", "body_orientation_error", "body_force_error", "one_step_error")
"""Errors that have a panel each."""
LEAST = 1e-9
"""Errors below this, in SI units, are round-off, and said to be 0."""
WIDTH, ROW = 760, 20
"""Of all panels together, of a row [px]."""
UNCERTAIN = "uncertainty of the reference"


def figures(c: Comparison) -> list[Figure]:
    """All figures, in the order of the page."""
    return [*_ranking(c), *_over_time(c)]


def _ranking(c: Comparison) -> list[Figure]:
    """A panel for every error, a row for every formulation and engine, the smallest first error on top."""
    columns = {x.name: x for m in c.metrics for x in m.columns}
    runs = c.runs[c.runs["step"] == c.settings.steps[0]]
    shown = [x for x in PANELS if x in runs and (runs[x] > LEAST).any()]
    if not shown:
        return []
    again = runs["label"].duplicated()
    runs = runs.assign(row=runs["label"].where(~again, runs["label"] + " by " + runs["solver"]))
    order = list(runs.sort_values(shown[0], kind="stable", na_position="last")["row"])
    rows: list[dict[str, Any]] = []
    for name in shown:
        factor, panel = SHOWN[columns[name].shown][0], columns[name].title
        for r in runs.to_dict("records"):
            value = r[name]
            words = "" if value > LEAST else "0" if pd.notna(value) else "not defined" if r["verified"] else "ended"
            cell = {"name": r["row"], "label": r["label"], "panel": panel, "words": words}
            drawn = {"value": 0.0 if words else short(factor * value), "state": "words" if words else "point"}
            rows.append(cell | drawn)
        own = name.replace("_error", "_reference")
        if own in runs and (runs[own] > LEAST).any():
            rows.append({"panel": panel, "value": short(factor * runs[own].max()), "state": "band"})
    cells = pd.DataFrame(rows).fillna("")
    caption = (
        "Of every row the body that is farthest: its mean distance, angle and difference of contact forces from the "
        "reference. Logarithmic; grey: within the uncertainty of the reference. What coulomb has here is the step "
        "size's."
    )
    charts = [
        _panel(
            cells[cells["panel"] == columns[x].title],
            columns[x].title,
            order,
            list(dict.fromkeys(runs["label"])),
            WIDTH // len(shown),
            i == 0,
        )
        for i, x in enumerate(shown)
    ]
    chart = alt.hconcat(*charts, spacing=14)
    return [Figure("ranking", "Who is how far from Coulomb's law", caption, chart)]


def _panel(cells: pd.DataFrame, title: str, order: list[str], labels: list[str], width: int, first: bool) -> Chart:
    values = cells["value"][cells["state"] != "words"].astype(float)
    low, high = int(np.floor(np.log10(values.min()))), int(np.ceil(np.log10(values.max())))
    ends = [10.0**low, 10.0 ** max(high, low + 1)]
    decades = [10.0**k for k in range(low, max(high, low + 1) + 1, max(1, -(-(high - low) // 3)))]
    axis = alt.Axis(format="~g", values=decades, grid=True)
    x = alt.X("value:Q", title=title, scale=alt.Scale(type="log", domain=ends, nice=False), axis=axis)
    of_rows = alt.Axis(labelLimit=230, grid=True) if first else alt.Axis(labels=False, ticks=False, grid=True)
    y = alt.Y("name:N", sort=order, title=None, axis=of_rows, scale=alt.Scale(domain=order))
    colours = alt.Scale(domain=labels, range=palette(labels))
    base = alt.Chart(cells.assign(low=ends[0]))
    layers = [
        base.transform_filter("datum.state == 'band'").mark_rect(color="#8888", opacity=0.55).encode(x=x, x2="low:Q"),
        base.transform_filter("datum.state == 'point'").mark_point(size=70, strokeWidth=2, opacity=1, filled=True)
        .encode(x=x, y=y, color=alt.Color("label:N", scale=colours, legend=None), tooltip=["name:N", "value:Q"]),
        base.transform_filter("datum.state == 'words'").mark_text(align="left", fontSize=11, color=INK)
        .encode(x=alt.value(4), y=y, text="words:N"),
    ]  # fmt: skip
    return alt.layer(*layers).properties(width=width, height=alt.Step(ROW))


def _over_time(c: Comparison) -> list[Figure]:
    """The distance of the body that is farthest, and the difference of energy, moment by moment."""
    found = []
    stops = c.scene.until if c.scene and c.scene.why else None
    stop = " The dashed rule is where the comparison stops." if stops else ""
    for name, title, words, axis in (
        ("position_error", "How far the farthest body is from the reference", "", "distance [m]"),
        ("orientation_error", "How far the body that is turned most is turned from the reference", "", "angle [rad]"),
        (
            "energy_error", "Difference of mechanical energy from the reference", "Of all bodies, springs included. ",
            "energy difference [J]",
        ),
    ):  # fmt: skip
        curves = _worst(c, name)
        if not (curves[name] > SMALLEST).any():
            continue
        within = range_of(curves, name, log=True)
        caption = f"{words}Logarithmic. Below “{UNCERTAIN}” a curve is as good as the reference.{stop} {within.words}"
        chart = lines(curves, name, axis, log=True, within=within, ends=stops)
        found.append(Figure(name.removesuffix("_error"), title, caption.strip(), chart))
    return found


def _worst(c: Comparison, name: str) -> pd.DataFrame:
    """Of the first solver's runs and every moment the body that has most; the reference's uncertainty as a curve in
    every plot."""
    frame = c.trajectories
    own = frame[frame["role"] == "reference"]
    runs = by_first_solver(frame[frame["role"] == "run"])
    parts = [runs.assign(step=runs["step"].map("{:g} s".format))]
    parts += [own.assign(label=UNCERTAIN, step=f"{h:g} s") for h in c.settings.steps]
    every = pd.concat(parts, ignore_index=True)
    return every.groupby(["label", "step", "t"], sort=False)[name].max().reset_index()
