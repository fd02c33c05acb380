"""The figure that ranks formulations: their errors side by side, and how well the reference is known."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from workbench.builtin.reports.figures.charts import Figure, short
from workbench.builtin.reports.figures.styles import INK, palette
from workbench.comparison.result import Comparison

PANELS = {
    "local_velocity_error": "local error",
    "velocity_error": "velocity",
    "position_error": "position",
    "impulse_error": "impulses",
    "friction_error": "friction",
}
"""Errors that have a panel each, shares, and what it is called."""
WIDTH, ROW = 830, 20
"""Of all panels together, of a row [px]."""
LEAST = 1e-9
"""Errors below this share are round-off, and said to be 0."""
MARKS = {"fixed or no axes": "circle", "turned axes": "diamond", "not verified": "cross"}
"""Short, so that the legend fits beside the names on a telephone."""


def ranking_figure(c: Comparison) -> list[Figure]:
    """A panel for every error, a row for every formulation, the smallest first error on top; nothing without errors."""
    window, runs = next(iter(c.windows.items()))
    where = ""
    if c.case is not None:
        h = c.settings.steps[0]
        runs = runs[(runs["step"] == h) & ~runs["sampled"]]
        where = f" in the window “{window}” at {1e3 * h:g} ms a step"
    # Of several solvers of a formulation the first whose answer is verified, if there is one.
    runs = runs.sort_values("verified", ascending=False, kind="stable").drop_duplicates("label").sort_index()
    shown = [name for name in PANELS if name in runs and (runs[name] > LEAST).any()]
    if not shown:
        return []
    cells = _cells(runs, shown)
    known = cells["state"] == "band"
    words = [f"Errors against exact Coulomb friction{where}, logarithmic; the smallest first error is on top."]
    if known.any():
        words.append("Grey: an error in there is within the uncertainty of the reference.")
    if c.case is not None:
        words.append(
            "The local error is that of the velocity after single steps, which begin at states of the exact run; the "
            "other errors are those of runs from the start. What coulomb, which is exact, has of these is the step "
            "size's."
        )
    if ((cells["mark"] == "turned axes") & (cells["state"] == "point")).any():
        words.append("Diamonds: axes that turn with the sliding direction, which helps any polygon or box.")
    chart = _chart(cells, shown, list(runs["label"]))
    return [Figure("ranking", "Who is how far from Coulomb's law", " ".join(words), chart)]


def _cells(runs: pd.DataFrame, shown: list[str]) -> pd.DataFrame:
    """What stands where: a point, words in place of one, or the band of the reference, with errors in percent."""
    rows: list[dict[str, Any]] = []
    records = [{str(key): value for key, value in record.items()} for record in runs.to_dict("records")]
    for r in sorted(records, key=lambda r: (r["formulation"] != "coulomb", _last(r[shown[0]]))):
        turned = r.get("axes") == "sliding"
        for column in shown:
            value = r[column]
            words = "" if value > LEAST else "0" if pd.notna(value) else _why_not(r, column)
            mark = "not verified" if not r["verified"] else list(MARKS)[turned]
            state, number = ("words", 0.0) if words else ("point", short(100 * value))
            cell = {"name": r["label"], "panel": PANELS[column], "mark": mark}
            rows.append(cell | {"value": number, "words": words, "state": state})
    for column in shown:
        own = column.replace("_error", "_reference")
        if own in runs and (runs[own] > LEAST).any():
            rows.append({"panel": PANELS[column], "value": short(100 * runs[own].max()), "state": "band"})
    return pd.DataFrame(rows).fillna("")


def _last(error: float) -> float:
    """What is not defined stands below."""
    return float(error) if pd.notna(error) else np.inf


def _why_not(row: dict[str, Any], column: str) -> str:
    """In place of an error: what became of the row, or that redundant contacts leave it open."""
    if not row["verified"]:
        return str(row["claimed"]).lower().replace("_", " ")
    free = row.get("free_directions", 0.0)
    return f"{free:.0f} free" if column in ("friction_error", "impulse_error") and free > 0 else "not defined"


def _chart(cells: pd.DataFrame, shown: list[str], labels: list[str]) -> alt.FacetChart:
    names = [name for name in dict.fromkeys(cells["name"]) if name]
    values = cells["value"][cells["state"] != "words"]
    low, high = int(np.floor(np.log10(values.min()))), int(np.ceil(np.log10(values.max())))
    ends = [10.0**low, 10.0 ** max(high, low + 1)]
    cells = cells.assign(low=ends[0])
    axis = alt.Axis(format="~g", values=[10.0**k for k in range(low, high + 1, max(1, (high - low) // 4))], grid=True)
    x = alt.X("value:Q", title="error [%]", scale=alt.Scale(type="log", domain=ends, nice=False), axis=axis)
    y = alt.Y("name:N", sort=names, title=None, axis=alt.Axis(labelLimit=230, grid=True), scale=alt.Scale(domain=names))
    marks = [mark for mark in MARKS if ((cells["mark"] == mark) & (cells["state"] == "point")).any()]
    # In the order of all other figures, since a colour that is taken leads to the next one.
    colours = alt.Scale(domain=labels, range=palette(labels))
    legend = alt.Legend(
        orient="top", direction="vertical", symbolStrokeWidth=1.6, symbolSize=70, symbolStrokeColor=INK,
        symbolFillColor="transparent",
    )  # fmt: skip
    scale = alt.Scale(domain=marks, range=[MARKS[mark] for mark in marks])
    shape = alt.Shape("mark:N", title=None, scale=scale, legend=legend if len(marks) > 1 else None)
    base = alt.Chart(cells)
    layers = [
        base.transform_filter("datum.state == 'band'").mark_rect(color="#8888", opacity=0.55).encode(x=x, x2="low:Q"),
        base.transform_filter("datum.state == 'point'")
        .mark_point(size=70, strokeWidth=2, opacity=1)
        .encode(
            x=x, y=y, shape=shape, tooltip=["name:N", "value:Q", "mark:N"],
            color=alt.Color("name:N", scale=colours, legend=None),
            fill=alt.Fill("name:N", scale=colours, legend=None),
            fillOpacity=alt.condition(f"datum.mark == '{next(iter(MARKS))}'", alt.value(1.0), alt.value(0.0)),
        ),
        base.transform_filter("datum.state == 'words'")
        .mark_text(align="left", fontSize=11, color=INK)
        .encode(x=alt.value(4), y=y, text="words:N"),
    ]  # fmt: skip
    return (
        alt.layer(*layers, data=cells)
        .properties(width=min(WIDTH // len(shown) - 10, 400), height=alt.Step(ROW))
        .facet(facet=alt.Facet("panel:N", sort=[PANELS[x] for x in shown], title=None), columns=len(shown))
    )
