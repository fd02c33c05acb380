"""All solutions of Coulomb's law for one q: friction over normal impulse of each closed contact, in Coulomb's disc."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from workbench.builtin.reports.figures.charts import COLOURS, Figure, short
from workbench.builtin.reports.figures.styles import INK

SIDE, ROW = 240, 26
"""Side of a contact's plane, and height of a solution's row for contacts in the plane [px]."""
SECTORS = 72
"""Chords of the drawn disc."""


def solutions_figures(points: list[dict[str, Any]], mu: Sequence[float]) -> list[Figure]:
    """The figure of the `points` of `coulomb_entry`, at contacts with coefficients mu (r); none if all are open."""
    marks = frame(points)
    if marks.empty:
        return []
    d = len(points[0]["p"]) // len(mu) - 1
    colour = alt.Color(
        "solution:N", title=None, scale=alt.Scale(domain=list(dict.fromkeys(marks["solution"])), range=COLOURS)
    )
    far = 1.25 * max(*mu, 0.1)
    x = alt.X("first:Q", title="p_t1 / p_n" if d == 2 else "p_t / p_n", scale=alt.Scale(domain=[-far, far]))
    tooltip = ["solution:N", "mode:N", "p_n:Q", "first:Q", *(["second:Q"] if d == 2 else [])]
    y: Any = alt.Y("solution:N", title=None)
    if d == 2:
        y = alt.Y("second:Q", title="p_t2 / p_n", scale=alt.Scale(domain=[-far, far]))
    planes: list[Any] = []
    for i, radius in enumerate(mu):
        own = marks[marks["contact"] == i + 1]
        shown = alt.Chart(own).mark_point(filled=True, size=110, opacity=1)
        size = {"width": SIDE, "height": SIDE if d == 2 else ROW * len(points)}
        planes.append(
            alt.layer(border(radius, x, y, d), shown.encode(x=x, y=y, color=colour, tooltip=tooltip))
            .properties(title=f"contact {i + 1}", **size)
        )  # fmt: skip
    caption = (
        "Dots: friction over normal impulse of each solution. The contact sticks inside Coulomb's limit (dashed) and "
        "slides on it. Open contacts have no dot."
    )
    return [Figure("solutions", "All solutions of Coulomb's law for this q", caption, alt.hconcat(*planes))]


def border(radius: float, x: Any, y: Any, d: int) -> Any:
    """Coulomb's limit: the circle of this radius, or in the plane its two ends."""
    if d == 1:
        ends = pd.DataFrame({"first": [-radius, radius]})
        return alt.Chart(ends).mark_rule(color=INK, strokeDash=[4, 3]).encode(x=x)
    angle = np.linspace(0, 2 * np.pi, SECTORS + 1)
    circle = pd.DataFrame(
        {"first": radius * np.cos(angle), "second": radius * np.sin(angle), "order": range(len(angle))}
    )
    return alt.Chart(circle).mark_line(color=INK, strokeDash=[4, 3]).encode(x=x, y=y, order="order:Q")


def frame(points: list[dict[str, Any]]) -> pd.DataFrame:
    """One row per solution and closed contact: solution, contact, mode, p_n, first and second (friction over p_n)."""
    rows = []
    for k, point in enumerate(points, start=1):
        r, p = len(point["modes"]), np.array(point["p"])
        d = p.size // r - 1
        for i, mode in enumerate(point["modes"]):
            if p[i] > 0:
                ratio = [short(v) for v in p[r + d * i : r + d * (i + 1)] / p[i]]
                index = "" if point["index"] is None else f", index {point['index']:+d}"
                rows.append((f"{k}: {', '.join(point['modes'])}{index}", i + 1, mode, short(p[i]), *(*ratio, 0.0)[:2]))
    return pd.DataFrame(rows, columns=["solution", "contact", "mode", "p_n", "first", "second"])
