"""Drawings in the tangent plane of a contact: friction in units of mu p_n, bounds as lines, forces as arrows."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from workbench.builtin.reports.figures.charts import Chart
from workbench.mechanics.case import Array

GREY, DARK, BLUE, RED, ORANGE = "#bbb", "#777", "#2b5a8c", "#b5442c", "#e08a1e"


def disc(radius: float = 1.0) -> Array:
    """(91, 2) Coulomb's disc."""
    around = np.linspace(0, 2 * np.pi, 91)
    return radius * np.column_stack([np.cos(around), np.sin(around)])


def circumscribed(axes: Array) -> Array:
    """(2 k + 1, 2) the polygon |e_j . p| <= 1 of k axes (2, k) equally spaced over the half plane, closed."""
    k = axes.shape[1]
    angle = np.pi / k * (np.arange(2 * k + 1) + 0.5) + np.arctan2(axes[1, 0], axes[0, 0])
    return np.column_stack([np.cos(angle), np.sin(angle)]) / np.cos(np.pi / (2 * k))


def line(points: Array, colour: str, width: float = 1.2, dash: Sequence[int] = (1, 0)) -> Chart:
    """A polyline through points (m, 2)."""
    data = pd.DataFrame(points, columns=["x", "y"]).round(5).assign(k=range(len(points)))
    return alt.Chart(data).mark_line(color=colour, strokeWidth=width, strokeDash=list(dash)).encode(
        x="x:Q", y="y:Q", order="k:Q"
    )  # fmt: skip


def arrow(head: Array, colour: str, tail: Sequence[float] = (0.0, 0.0)) -> Chart:
    x, y = np.subtract(head, tail)
    tip = pd.DataFrame({"x": [head[0]], "y": [head[1]], "angle": [90 - np.degrees(np.arctan2(y, x))]})
    angle = alt.Angle("angle:Q", scale=alt.Scale(domain=[0, 360], range=[0, 360]))
    mark = alt.Chart(tip).mark_point(shape="triangle-up", filled=True, size=90, color=colour, opacity=1)
    return line(np.array([tail, head]), colour, 2.4) + mark.encode(x="x:Q", y="y:Q", angle=angle)


def dots(points: Array, colour: str) -> Chart:
    data = pd.DataFrame(points, columns=["x", "y"]).round(5)
    return alt.Chart(data).mark_point(filled=True, size=28, color=colour, opacity=1).encode(x="x:Q", y="y:Q")


def words(points: Array, texts: Sequence[str], colour: str) -> Chart:
    data = pd.DataFrame(points, columns=["x", "y"]).assign(text=texts)
    return alt.Chart(data).mark_text(color=colour, fontSize=11).encode(x="x:Q", y="y:Q", text="text:N")


def panel(layers: Sequence[Chart], title: str, side: int = 175, reach: float = 1.4) -> Chart:
    """Layers over each other, both axes to the same scale, [-reach, reach]."""
    scale = alt.Scale(domain=[-reach, reach], nice=False)
    framed = [
        layer.encode(x=alt.X("x:Q", scale=scale, axis=None), y=alt.Y("y:Q", scale=scale, axis=None))
        for part in layers
        for layer in (part.layer if isinstance(part, alt.LayerChart) else [part])
    ]
    heading = alt.Title(title, fontSize=12, fontWeight="normal")
    return alt.layer(*framed).properties(width=side, height=side, title=heading)
