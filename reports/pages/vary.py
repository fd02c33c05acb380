"""The page of the solutions along a parameter: figure and table. One HTML file that opens offline."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from workbench.builtin.reports.figures.charts import COLOURS, WIDTH, Chart, Figure, short
from workbench.builtin.reports.figures.styles import INK
from workbench.builtin.reports.pages.page import environment, scripts
from workbench.builtin.reports.text.vary import count_words, in_words, path_words, rows
from workbench.diagnostics.solution_paths import SolutionPaths, at_critical, curves
from workbench.support.arrays import Array

BANDS = {"0": "#d6604d", "1": "transparent", "infinitely many": "#8a8f98"}
"""Colours behind the curves by the number of solutions, laid thinly over any page; several are blue."""
SEVERAL = ["#9ecae1", "#6baed6", "#4292c6", "#2171b5"]
THIN = 0.35
HEIGHT = 180
BEYOND = 6
"""Times the median of the values drawn, beyond which a curve leaves the frame."""


def render(paths: SolutionPaths, title: str, provenance: dict[str, Any]) -> str:
    """The whole page as text."""
    shown = [figure(paths)]
    return environment().get_template("vary.html.j2").render(
        paths=paths, title=title, words=in_words(paths), source=path_words(paths), rows=rows(paths), figures=shown,
        provenance=provenance, **scripts(shown),
    )  # fmt: skip


def figure(paths: SolutionPaths) -> Figure:
    """Plot unknowns over the parameter: a curve per solution, bands by solution number, lines at critical values."""
    p, lines, marks = paths.problem, curves(paths), at_critical(paths)
    supports = list(dict.fromkeys(lines["support"]))
    palette = [COLOURS[i % len(COLOURS)] for i in range(len(supports))]
    colour = alt.Color("support:N", title="positive", sort=supports, scale=alt.Scale(domain=supports, range=palette))
    unit = f" [{p.unit}]" if p.unit not in ("", "-") else ""
    ends = [paths.path.start[0].value, paths.path.end[0].value]
    x = alt.X("t:Q", title=p.parameter + unit, scale=alt.Scale(domain=ends, nice=False, zero=False))
    behind = [_bands(paths, x), _rules(paths)]
    charts = []
    for name in p.names:
        own, own_marks = (frame[frame["name"] == name].drop(columns="name") for frame in (lines, marks))
        title = f"{name} [{p.shown_unit}]" if p.shown_unit else name
        charts.append(_chart(title, own, own_marks, x, colour, behind))
    caption = (
        "Horizontal: the parameter. Each curve is one solution, coloured by its positive unknowns; bands show the "
        "number of solutions. Dashed lines: critical values. Thick lines: infinitely many solutions there; dots: "
        "a solution at that value only. Between critical values infinitely many solutions are shown by their corners. "
        "Curves leaving the frame diverge. Stability is not assessed."
    )
    return Figure("paths", f"Solutions over {p.parameter}", caption, alt.vconcat(*charts))


def _chart(
    title: str, lines: pd.DataFrame, marks: pd.DataFrame, x: alt.X, colour: alt.Color, behind: list[alt.Chart]
) -> Chart:
    low, high = _frame(lines["value"].to_numpy(dtype=float), marks[["low", "high"]].to_numpy(dtype=float).ravel())
    y = alt.Y("value:Q", title=title, scale=alt.Scale(domain=[low, high], nice=False, zero=False))
    # A value next to infinity is beyond what can be drawn.
    far = 1e3 * (high - low)
    drawn = lines.assign(t=lines["t"].map(short), value=lines["value"].clip(low - far, high + far).map(short))
    curve = alt.Chart(drawn).mark_line(strokeWidth=1.8, clip=True)
    layers = [*behind, curve.encode(x=x, y=y, color=colour, detail="branch:N", tooltip=["support:N", "t:Q", "value:Q"])]
    if len(marks):
        base = alt.Chart(marks.assign(value=marks["low"].clip(low, high), top=marks["high"].clip(low, high)))
        alone = base.transform_filter("datum.low == datum.high")
        layers.append(base.mark_rule(strokeWidth=3, color=INK).encode(x="t:Q", y=y, y2="top:Q"))
        layers.append(alone.mark_circle(size=50, color=INK, opacity=1).encode(x="t:Q", y=y))
    return alt.layer(*layers).properties(width=WIDTH - 170, height=HEIGHT)


def _rules(paths: SolutionPaths) -> alt.Chart:
    """The critical values."""
    values = pd.DataFrame({"t": [c.t.value for c in paths.path.critical]})
    return alt.Chart(values).mark_rule(strokeDash=[4, 3], color="#555").encode(x="t:Q")


def _bands(paths: SolutionPaths, x: alt.X) -> alt.Chart:
    """Rectangles by the number of solutions."""
    bands = pd.DataFrame(
        [(i.lo.value, i.hi.value, count_words(i.solutions)) for i in paths.path.intervals],
        columns=["t", "end", "solutions"],
    )
    several = sorted((s for s in set(bands["solutions"]) if s not in BANDS), key=int)
    colours = {**BANDS, **{s: SEVERAL[min(k, len(SEVERAL) - 1)] for k, s in enumerate(several)}}
    names = [s for s in (*list(BANDS)[:2], *several, "infinitely many") if s in set(bands["solutions"])]
    scale = alt.Scale(domain=names, range=[colours[s] for s in names])
    fill = alt.Fill(
        "solutions:N",
        title="number of solutions",
        scale=scale,
        legend=alt.Legend(symbolStrokeColor="#999", symbolOpacity=THIN),
    )
    return alt.Chart(bands).mark_rect(opacity=THIN).encode(x=x, x2="end:Q", fill=fill, tooltip=["solutions:N"])


def _frame(curves: Array, marks: Array) -> tuple[float, float]:
    """Return the limits of the ordinate: all drawn values except those that diverge."""
    values = np.concatenate([curves, marks, [0.0]])
    values = values[np.isfinite(values)]
    if values.any():
        values = values[np.abs(values) <= BEYOND * np.median(np.abs(values[values != 0]))]
    low, high = float(values.min()), float(values.max())
    room = 0.06 * ((high - low) or 1.0)
    return low - room, high + room
