"""Shared parts of figures, as Altair charts: one declaration serves the page and the PDF, SVG or PNG for a paper."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import altair as alt
import numpy as np
import pandas as pd

from workbench.builtin.reports.figures.ranges import SMALLEST, AxisRange
from workbench.builtin.reports.figures.styles import INK, dashes, palette

WIDTH, HEIGHT = 760, 300
COLOURS = ["#4c6a92", "#e08a1e", "#c8553d", "#5b9e9e", "#3f8f4f", "#b79a20", "#8c5fa8", "#d4739b", INK, "#8d7461"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]
RESTLESS = 10
"""Times that a curve may cross the axis' range before it is drawn below the others."""

PARTS = {
    "total": (INK, "stroke"), "reference": ("#b9b9b9", "square"), "step size": ("#7fa6c9", "diamond"),
    "formulation": ("#e08a1e", "circle"), "compliance": ("#3f8f4f", "triangle-up"), "solver": ("#8c5fa8", "cross"),
}  # fmt: skip
"""Parts of an error budget, their colours and marks."""
LEAST = 1e-6
"""Parts of an error budget up to this have no mark [%]."""

NAMES = (
    "ranking",
    "friction",
    "misalignment",
    "position",
    "orientation",
    "energy",
    "budget",
    "timeline",
    "painleve",
    "cones",
    "motion",
)
"""File names of the figures, without ending."""

Chart = alt.LayerChart | alt.FacetChart | alt.HConcatChart | alt.VConcatChart | alt.Chart


@dataclass(frozen=True)
class Figure:
    """A chart with the words that belong to it. `name` is the file name without ending; `legend` is folded on a page,
    with the links that save the figure."""

    name: str
    title: str
    caption: str
    chart: Chart
    legend: str = ""


def short(x: float) -> float | None:
    """Five digits are more than a curve shows; fewer bytes for the page."""
    return float(f"{x:.5g}") if np.isfinite(x) else None


def lines(
    curves: pd.DataFrame, column: str, title: str, over: tuple[str, str] = ("t", "time [s]"), log: bool = False,
    zero: bool = False, within: AxisRange | None = None, aside: Collection[str] = (), ends: float | None = None,
) -> Chart:  # fmt: skip
    """A curve of `column` for every "label", a plot for every "step" and "contact" where there are several.

    `over` is the column of the other axis, and its title. A curve is broken where its value is missing. A click in the
    legend singles out a curve. `zero` adds the line 0 and keeps it in view. What lies beyond `within` is marked at its
    edge. Labels `aside` are in no legend, and drawn when they are singled out by other means than it. `ends` is where a
    dashed rule stands, beyond which nothing is compared.
    """
    x, order = over[0], list(dict.fromkeys(curves["label"]))
    data = curves[[x, "label", *(name for name in ("step", "contact") if name in curves), column]]
    if log:
        data = data.assign(**{column: data[column].where(data[column] > SMALLEST)})
    parts = [name for name in ("step", "contact") if name in data and data[name].nunique() > 1]
    # Contacts in their order at every step size.
    data = data.sort_values(parts[::-1], kind="stable") if "contact" in parts else data
    named = [data[name].map(lambda value, name=name: f"{name} {value}") for name in parts]
    panel = pd.concat(named, axis=1).agg(", ".join, axis=1) if parts else pd.Series("", data.index)
    panels = list(dict.fromkeys(panel))
    data = pd.DataFrame(
        {x: data[x].map(short), "label": data["label"], "panel": panel, column: data[column].map(short)}
    )
    # What changes most lies below, then the longest dashes, so that all of what coincides shows through.
    inked = (sum(dash[::2]) / sum(dash) for dash in dashes(order))
    rank = dict(zip(order, zip(_restless(data, column, order), inked, strict=True), strict=True))
    data = data.sort_values("label", key=lambda names: names.map(rank), ascending=False, kind="stable")
    width, height = (WIDTH, HEIGHT) if len(panels) <= 1 else (WIDTH // 2 - 30, 2 * HEIGHT // 3)
    chart = _curves(data, (column, title), over, order, log, zero, within, aside, ends).properties(
        width=width, height=height
    )
    if len(panels) <= 1:
        return chart
    return chart.facet(facet=alt.Facet("panel:N", title=None, sort=panels), columns=2)


def envelopes(curves: pd.DataFrame, column: str, title: str, within: AxisRange) -> Chart:
    """Plot the range of `column` over the contacts at each time and the median as a line, a panel for each "label"."""
    found = curves.dropna(subset=[column]).groupby(["label", "t"], sort=False)[column]
    data = found.agg(["min", "median", "max"]).reset_index()
    data = data.assign(**{name: data[name].map(short) for name in ("t", "min", "median", "max")})
    order = list(dict.fromkeys(data["label"]))
    scale = alt.Scale(domain=[short(within.low), short(within.high)], nice=False)
    colour = alt.Color("label:N", scale=alt.Scale(domain=order, range=palette(order)), legend=None)
    base = alt.Chart(data).encode(x=alt.X("t:Q", title="time [s]"), color=colour)
    y = alt.Y("min:Q", title=title, scale=scale)
    area = base.mark_area(opacity=0.35, clip=True).encode(y=y, y2="max:Q")
    median = base.mark_line(strokeWidth=1.5, clip=True).encode(y="median:Q")
    plot = alt.layer(area, median, now(data, "label"), data=data).properties(width=WIDTH // 3, height=HEIGHT // 2)
    return plot.facet(facet=alt.Facet("label:N", title=None, sort=order), columns=3)


def _curves(
    data: pd.DataFrame, up: tuple[str, str], over: tuple[str, str], order: list[str], log: bool, zero: bool,
    within: AxisRange | None, aside: Collection[str], stop: float | None,
) -> alt.LayerChart | alt.FacetChart:  # fmt: skip
    (column, title), (x, x_title) = up, over
    pick = alt.selection_point(fields=["label"], bind="legend")
    ends: dict[str, Any] = {"domain": [short(within.low), short(within.high)], "nice": False} if within else {}
    scale = alt.Scale(type="log", **ends) if log else alt.Scale(zero=zero, **ends)
    axis = alt.Axis(format=".0e", values=_decades(data[column])) if log else alt.Axis()
    legend = alt.Legend(values=[x for x in order if x not in aside])
    dash = alt.StrokeDash(
        "label:N", sort=order, scale=alt.Scale(domain=order, range=dashes(order)), title=None, legend=legend
    )
    chosen, hidden = {"param": pick.name, "empty": False}, f"indexof({json.dumps(sorted(aside))}, datum.label) >= 0"
    opacity = {
        "condition": [
            {"test": chosen, "value": 0.95},
            {"test": hidden, "value": 0},
            {"test": {"param": pick.name}, "value": 0.95},
        ],
        "value": 0.08,
    }
    # Numbers of steps after which errors are looked at run over decades.
    on_x = alt.Scale(type="log") if x == "after" else alt.Undefined
    base = alt.Chart(data).encode(
        x=alt.X(f"{x}:Q", title=x_title, axis=alt.Axis(tickCount=6), scale=on_x),
        y=alt.Y(f"{column}:Q", title=title, scale=scale, axis=axis),
        color=alt.Color(
            "label:N", sort=order, scale=alt.Scale(domain=order, range=palette(order)), title=None, legend=legend
        ),
        opacity=opacity,
    )
    layers = [base.mark_line(strokeWidth=1.8, clip=True).encode(strokeDash=dash).add_params(pick)]
    if zero:
        # One rule a plot, not one a row.
        plots = alt.Chart(data).transform_aggregate(rows="count()", groupby=["panel"])
        layers.append(plots.mark_rule(color="#888", strokeWidth=1.4).encode(y=alt.datum(0.0)))
    if x == "t":
        layers.append(now(data, "panel"))
    if stop is not None:
        plots = alt.Chart(data).transform_aggregate(rows="count()", groupby=["panel"])
        layers.append(plots.mark_rule(color=INK, strokeDash=[5, 4]).encode(x=alt.datum(stop)))
    if within and (data[column] > within.high).any():
        above = base.transform_filter(alt.datum[column] > within.high).mark_point(shape="triangle-up", size=22)
        layers.append(above.encode(y=alt.value(4)))
    if within and not log and (data[column] < within.low).any():
        below = base.transform_filter(alt.datum[column] < within.low).mark_point(shape="triangle-down", size=22)
        layers.append(below.encode(y=alt.value("height")))
    return alt.layer(*layers, data=data)


def now(data: pd.DataFrame, plot: str) -> alt.Chart:
    """A rule in each `plot` that the page's script moves to the page's time; not to be seen in a file."""
    rule = alt.Chart(data).transform_aggregate(rows="count()", groupby=[plot]).mark_rule(color=INK, clip=True)
    return rule.encode(x=alt.value(0), opacity=alt.value(0)).properties(name="clock")


def _decades(values: pd.Series, most: int = 9) -> list[float]:
    """Return powers of ten, a limited number of them, for the ticks of a logarithmic axis."""
    values = values.dropna()
    if values.empty:
        return []
    low, high = int(np.floor(np.log10(values.min()))), int(np.ceil(np.log10(values.max())))
    return [float(f"1e{k}") for k in range(low, high + 1, max(1, -(-(high - low) // (most - 1))))]


def _restless(data: pd.DataFrame, column: str, labels: Sequence[str]) -> list[bool]:
    """Return whether a curve goes up and down all the time, so that it would hide what lies below."""
    steps = data.groupby(["label", "panel"], sort=False)[column].diff().abs().groupby(data["label"]).sum()
    return [steps.get(label, 0.0) > RESTLESS * np.ptp(data[column]) * data["panel"].nunique() for label in labels]


def budget(errors: pd.DataFrame) -> Chart:
    """A row for every "run", on it a mark for each of the columns named in `PARTS`, shares; a plot a "field"."""
    parts, fields = [part for part in PARTS if part in errors], list(dict.fromkeys(errors["field"]))
    tidy = errors.melt(["run", "field"], parts, var_name="part", value_name="error").dropna(subset=["error"])
    tidy["error"] = (100 * tidy["error"]).map(short)
    tidy = tidy[tidy["error"] > LEAST]
    parts, runs = [part for part in parts if part in set(tidy["part"])], list(dict.fromkeys(errors["run"]))
    decades = _decades(tidy["error"], 5)
    form = "~g" if min(decades) >= 1e-3 else ".0e"
    colours, shapes = (alt.Scale(domain=parts, range=[PARTS[part][i] for part in parts]) for i in (0, 1))
    legend = alt.Legend(orient="top", symbolSize=70, symbolStrokeWidth=2, title=None)
    axis = alt.Axis(format=form, values=decades, orient="top", grid=True)
    columns = 3 if len(fields) % 4 else 4
    return (
        alt.Chart(tidy)
        .mark_point(size=48, strokeWidth=1.6, filled=False, opacity=0.95)
        .encode(
            y=alt.Y("run:N", sort=runs, title=None, axis=alt.Axis(labelLimit=230, grid=True)),
            x=alt.X("error:Q", title=None, scale=alt.Scale(type="log", nice=True), axis=axis),
            color=alt.Color("part:N", sort=parts, scale=colours, legend=legend),
            shape=alt.Shape("part:N", sort=parts, scale=shapes, legend=legend),
            tooltip=["run:N", "part:N", "error:Q"],
        )
        .properties(width=(WIDTH - 130) // columns - 20, height=alt.Step(16))
        .facet(facet=alt.Facet("field:N", sort=fields, title=None), columns=columns)
        .resolve_axis(x="independent")
    )


def styled(chart: Chart, background: str = "transparent") -> Chart:
    """The house style: no frame, quiet grid, the page's typeface and ink."""
    ink: dict[str, Any] = {
        "labelColor": INK,
        "titleColor": INK,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    }
    # All at once: each `configure_...` would copy the whole chart.
    return chart.configure(
        font="system-ui, 'DejaVu Sans', sans-serif",
        background=background,
        view=alt.ViewConfig(stroke="transparent"),
        axis=alt.AxisConfig(**ink, gridColor="#8885", domainColor="#888", tickColor="#888"),
        legend=alt.LegendConfig(**ink, symbolStrokeWidth=3, symbolSize=500, labelLimit=260),
        header=alt.HeaderConfig(**ink),
        title=alt.TitleConfig(color=INK),
    )


def unlimited() -> Any:
    """A block in which charts may have any number of rows: curves are thinned, but there may be many of them."""
    return alt.data_transformers.enable("default", max_rows=None)


def write_figures(shown: Sequence[Figure], folder: Path, ending: Literal["pdf", "svg", "png"]) -> list[Path]:
    """Write each figure as `folder/NAME.ending`, ending "pdf", "svg" or "png", without a browser or network."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for figure in shown:
        path = folder / f"{figure.name}.{ending}"
        with unlimited():
            styled(figure.chart, "white").save(str(path), format=ending, scale_factor=2.0 if ending == "png" else 1.0)
        paths.append(path)
    return paths


def remove_figures(folder: Path, keep: str | None) -> None:
    """Take away an earlier report's figures, all but the ending `keep`, and the folder if that leaves it empty."""
    if not folder.is_dir():
        return
    for name in NAMES:
        for ending in {"pdf", "svg", "png"} - {keep}:
            (folder / f"{name}.{ending}").unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()
