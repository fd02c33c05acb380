"""Charts of a comparison: time against size with the floor drawn in, and the performance profile."""

from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd

from benchmarks.harness import FLOOR, Result
from benchmarks.tables import frame, profile
from workbench.builtin.reports.figures.charts import COLOURS, DASHES, HEIGHT, WIDTH

ENDINGS = ("svg", "png")


def save_charts(result: Result, folder: Path) -> list[Path]:
    """NAME-size and NAME-profile as SVG and PNG; no chart without two sizes, two solvers or anything solved."""
    found = {}
    rows = frame(result)
    if not np.isfinite(rows["cost"]).any():
        return []
    if rows["size"].nunique() > 1:
        found["size"] = against_size(result, rows)
    if rows.loc[rows["peer"] != FLOOR, "peer"].nunique() > 1:
        found["profile"] = performance(result)
    paths = []
    for name, chart in found.items():
        for ending in ENDINGS:
            paths.append(folder / f"{result.comparison.name}-{name}.{ending}")
            chart.save(paths[-1], **({"scale_factor": 2} if ending == "png" else {}))
    return paths


def _solvers(result: Result, rows: pd.DataFrame) -> tuple[alt.Color, alt.StrokeDash]:
    """One colour a solver, and dashes where there are more solvers than colours."""
    there = set(rows["peer"])
    names = [p.name for p in result.comparison.peers if p.name in there and p.name != FLOOR]
    colours = [COLOURS[k % len(COLOURS)] for k in range(len(names))]
    dashes = [DASHES[k // len(COLOURS)] for k in range(len(names))]
    legend = alt.Legend(labelLimit=240, symbolType="stroke")
    return (
        alt.Color("peer:N", title=None, scale=alt.Scale(domain=names, range=colours), legend=legend),
        alt.StrokeDash("peer:N", title=None, scale=alt.Scale(domain=names, range=dashes), legend=legend),
    )


def against_size(result: Result, rows: pd.DataFrame) -> alt.LayerChart:
    """Median time of each size over the problems solved; the floor dashed."""
    solved = rows[np.isfinite(rows["cost"]) & (rows["peer"] != FLOOR)]
    lines = solved.groupby(["peer", "size"], as_index=False)["seconds"].median()
    floor = rows[rows["peer"] == FLOOR].groupby("size", as_index=False)["seconds"].median()
    x = alt.X("size:Q", title="unknowns", scale=alt.Scale(type="log", nice=False))
    y = alt.Y("seconds:Q", title="seconds", scale=alt.Scale(type="log"), axis=alt.Axis(format=".0e"))
    chart = alt.Chart(lines).mark_line(point=True).encode(x, y, *_solvers(result, lines))
    layers = [chart]
    if len(floor):
        layers.append(alt.Chart(floor).mark_line(color="#888", strokeDash=[4, 3]).encode(x, y))
        layers.append(alt.Chart(floor.tail(1)).mark_text(align="right", dy=12, color="#666", text=FLOOR).encode(x, y))
    title = f"{result.comparison.title}: median time of the problems {solved_within(result)}"
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, title=title)


def performance(result: Result) -> alt.Chart:
    """Share of all problems that a solver finishes within a factor of the fastest of them."""
    shares = profile(result)
    x = alt.X("factor:Q", title="time over the fastest solver's", scale=alt.Scale(type="log", nice=False))
    y = alt.Y("share:Q", title="share of the problems", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
    chart = alt.Chart(shares).mark_line(interpolate="step-after").encode(x, y, *_solvers(result, shares))
    title = f"{result.comparison.title}: performance profile, {solved_within(result)}"
    return chart.properties(width=WIDTH, height=HEIGHT, title=title)


def solved_within(result: Result) -> str:
    return f"solved within {result.comparison.within[0]:g}"
