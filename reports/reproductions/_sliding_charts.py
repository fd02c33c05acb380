"""Charts of the page of hal-01224915: maps of solution counts, and impulses over the step."""

import altair as alt
import numpy as np
import pandas as pd

from workbench.builtin.reports.figures.charts import COLOURS, HEIGHT, WIDTH, Chart
from workbench.mechanics.case import Array

KINDS = {
    "unique for every load (P)": "#dce6f2", "not P, one solution here": "#8fb0d3", "no solution": "#c8553d",
    "two solutions": "#e8b04a", "three solutions": "#8c5fa8",
}  # fmt: skip
OVERLAP = 1.15
"""Columns reach into the next one, or hairlines would show between them."""


def kind(p: bool, count: int) -> str:
    """Return the name of a state's regime, from the P verdict on M_mu and the number of solutions."""
    return list(KINDS)[0 if p else {1: 1, 0: 2, 2: 3, 3: 4}[count]]


def cells(x: Array, y: Array, kinds: list[str]) -> pd.DataFrame:
    """Rectangles around the centres x (p,), y (q,), kinds in the order of x, then y; equal neighbours in y are one."""
    dx, dy = (x[1] - x[0]) / 2, (y[1] - y[0]) / 2
    rows = []
    for i, column in enumerate(np.array(kinds).reshape(len(x), len(y))):
        ends = [*np.flatnonzero(column[1:] != column[:-1]) + 1, len(y)]
        for low, high in zip([0, *ends], ends, strict=False):
            rows.append((x[i] - dx, x[i] + OVERLAP * dx, y[low] - dy, y[high - 1] + dy, str(column[low])))
    return pd.DataFrame(rows, columns=["x", "x2", "y", "y2", "kind"]).round(5)


def _map(frame: pd.DataFrame, x_title: str, y_title: str) -> alt.Chart:
    shown = [name for name in KINDS if name in set(frame["kind"])]
    colour = alt.Scale(domain=shown, range=[KINDS[name] for name in shown])
    scale = [alt.Scale(domain=[frame[c].min(), frame[f"{c}2"].max()], nice=False) for c in "xy"]
    axis = alt.Axis(tickCount=6)
    return alt.Chart(frame).mark_rect(strokeWidth=0, clip=True).encode(
        x=alt.X("x:Q", title=x_title, scale=scale[0], axis=axis), x2="x2",
        y=alt.Y("y:Q", title=y_title, scale=scale[1], axis=axis), y2="y2",
        color=alt.Color("kind:N", scale=colour, title=None, legend=alt.Legend(orient="top", symbolType="square")),
    )  # fmt: skip


def regimes(frame: pd.DataFrame, x_title: str, y_title: str, *over: Chart) -> Chart:
    """The map of `cells` with charts in the columns x, y laid over it."""
    return alt.layer(_map(frame, x_title, y_title), *over).properties(width=WIDTH, height=HEIGHT)


def panels(frame: pd.DataFrame, x_title: str, y_title: str) -> alt.FacetChart:
    """One map for every value of the column panel, side by side."""
    several = list(dict.fromkeys(frame["panel"]))
    side = (WIDTH - 40) // len(several)
    column = alt.Column("panel:N", sort=several, title=None, header=alt.Header(labelFontSize=12))
    return _map(frame, x_title, y_title).properties(width=side, height=side).facet(column=column)


def curve(x: Array, y: Array, dash: tuple[int, int] = (1, 0)) -> alt.Chart:
    """A dark line over a map."""
    frame = pd.DataFrame({"x": x, "y": y}).round(5)
    return alt.Chart(frame).mark_line(color="#222", strokeDash=list(dash), clip=True).encode(x="x:Q", y="y:Q")


def points(x: list[float], y: list[float], labels: list[str]) -> Chart:
    """Plot labelled points."""
    base = alt.Chart(pd.DataFrame({"x": x, "y": y, "label": labels})).encode(x="x:Q", y="y:Q")
    return alt.layer(
        base.mark_circle(color="#222", size=45, opacity=1),
        base.mark_text(align="left", dx=7, dy=12, fontSize=12, color="#222").encode(text="label:N"),
    )


def over_step(frame: pd.DataFrame) -> alt.Chart:
    """Columns h [s], impulse [N s] and label, both axes logarithmic."""
    order = list(dict.fromkeys(frame["label"]))
    colour = alt.Scale(domain=order, range=COLOURS[: len(order)])

    def log(column: str) -> tuple[alt.Scale, alt.Axis]:
        shown = np.log10(frame[column][frame[column] > 0])
        decades = range(int(np.floor(shown.min())), int(np.ceil(shown.max())) + 1)
        return alt.Scale(type="log"), alt.Axis(format=".0e", values=[10.0**k for k in decades])

    (x_scale, x_axis), (y_scale, y_axis) = log("h"), log("impulse")
    return alt.Chart(frame).mark_line(point=True, strokeWidth=1.6).encode(
        x=alt.X("h:Q", title="step [s]", scale=x_scale, axis=x_axis),
        y=alt.Y("impulse:Q", title="normal impulse of the first step [N s]", scale=y_scale, axis=y_axis),
        color=alt.Color("label:N", sort=order, scale=colour, title=None, legend=alt.Legend(orient="top")),
    ).properties(width=WIDTH, height=HEIGHT)  # fmt: skip
