"""Figures of a study: errors over a parameter, maps of two parameters, errors over the step, error against time."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from workbench.builtin.reports.figures.charts import HEIGHT, WIDTH, Chart, Figure, short
from workbench.builtin.reports.figures.styles import dashes, palette
from workbench.comparison.columns import SHOWN, Column
from workbench.studies.tables import by_variant, concerned, front, is_option

LEAST = 1e-12
"""Errors below are round-off and have no place on a logarithmic axis."""
DECADES = [10.0**k for k in range(-9, 10)]
MOST_BANDS = 6
"""Formulations up to which the range of the points is shaded."""
APART = 1.05
"""Ratio of the quartiles from which on a band is seen beside its line."""
MOST_VALUES = 25
"""Values of a quantity that are drawn one by one; of more, as a sample has them, classes of equal width are drawn."""
MOST_DISCS = 500
"""Points of a sample that a map shows one by one."""


def figures(rows: pd.DataFrame, errors: Sequence[Column], varied: Sequence[str], units: dict[str, str]) -> list[Figure]:
    """All that the study has something to show for; `varied` are numeric columns, `units` their units.

    What a figure holds are medians over at most `MOST_VALUES` values of a quantity, however large the study is.
    """
    rows = rows[rows["verified"]]
    # What is zero, or nothing but round-off, has no place on a logarithmic axis.
    errors = [c for c in errors if (rows[c.name] > LEAST).any()]
    if not errors:
        return []
    found = [
        _response(own, errors, name, units) for name in varied if (own := concerned(rows, name))[name].nunique() > 1
    ]
    if rows["step"].nunique() > 1:
        found.append(_steps(rows, errors))
    plane = [name for name in varied if not is_option(rows, name) and rows[name].nunique() > 1]
    if len(plane) > 1:
        found.append(_map(rows, errors[0], plane[0], plane[1], units))
    return [*found, _pareto(rows, errors[0])]


def _titled(column: Column) -> str:
    return f"{column.heading} error [{SHOWN[column.shown][2] or column.unit}]"


def _errors(rows: pd.DataFrame, errors: Sequence[Column], keys: list[str]) -> pd.DataFrame:
    """Median and quartiles of every error, as tables show it, by label and `keys`."""
    parts = []
    for column in errors:
        factor = SHOWN[column.shown][0]
        groups = rows[rows[column.name] > LEAST].groupby(["label", *keys], sort=False)[column.name]
        shares = {"low": 0.25, "middle": 0.5, "high": 0.75}
        found = pd.DataFrame({name: factor * groups.quantile(share) for name, share in shares.items()})
        parts.append(found.reset_index().assign(error=_titled(column)))
    whole = pd.concat(parts, ignore_index=True)
    return whole.assign(**{name: whole[name].map(short) for name in ("low", "middle", "high")})


def _colour(order: list[str], symbol: str = "stroke") -> alt.Color:
    legend = alt.Legend(title=None, symbolType=symbol, symbolSize=500 if symbol == "stroke" else 120, symbolOpacity=1)
    return alt.Color("label:N", sort=order, scale=alt.Scale(domain=order, range=palette(order)), legend=legend)


def _dash(order: list[str]) -> alt.StrokeDash:
    return alt.StrokeDash("label:N", sort=order, scale=alt.Scale(domain=order, range=dashes(order)), title=None)


def _has_bands(data: pd.DataFrame, order: list[str]) -> bool:
    """Return whether the quartiles are drawn: of few formulations, where they differ by more than a line's width."""
    return len(order) <= MOST_BANDS and bool((data["high"] > APART * data["low"]).any())


def _lines(data: pd.DataFrame, x: alt.X, order: list[str], points: bool) -> Chart:
    """Medians as lines, quartiles as bands, a plot for each error."""
    y = alt.Y("middle:Q", title=None, scale=alt.Scale(type="log"), axis=alt.Axis(format="~g", values=DECADES))
    pick = alt.selection_point(fields=["label"], bind="legend")
    base = alt.Chart(data).encode(x=x, color=_colour(order))
    clear = alt.condition(pick, alt.value(0.95), alt.value(0.1))
    line = base.mark_line(strokeWidth=1.8, point={"size": 18} if points else False)
    layers: list[alt.Chart] = [line.encode(y=y, strokeDash=_dash(order), opacity=clear).add_params(pick)]
    if _has_bands(data, order):
        band = base.mark_area().encode(
            y=alt.Y("low:Q", scale=alt.Scale(type="log")), y2="high:Q",
            opacity=alt.condition(pick, alt.value(0.18), alt.value(0.02)),
        )  # fmt: skip
        layers.insert(0, band)
    panels = list(dict.fromkeys(data["error"]))
    plot = alt.layer(*layers, data=data).properties(
        width=WIDTH if len(panels) == 1 else WIDTH // 2 - 40, height=HEIGHT if len(panels) == 1 else 2 * HEIGHT // 3
    )
    facet = alt.Facet("error:N", title=None, sort=panels)
    return plot.facet(facet=facet, columns=2).resolve_scale(y="independent")


def _response(rows: pd.DataFrame, errors: Sequence[Column], name: str, units: dict[str, str]) -> Figure:
    classes = rows[name].nunique() > MOST_VALUES
    rows = rows.assign(x=classed(rows[name], MOST_VALUES) if classes else rows[name])
    data, order = _errors(rows, errors, ["x"]), list(dict.fromkeys(rows["label"]))
    x = alt.X("x:Q", title=_named(name, units), scale=_scale(rows[name]), axis=alt.Axis(tickCount=5, labelOverlap=True))
    words = (
        f"Median error against {name}{f', in {MOST_VALUES} classes' if classes else ''}, over all other parameters; "
        f"logarithmic.{' Shaded: lower to upper quartile.' if _has_bands(data, order) else ''}"
    )
    return Figure(f"over-{_slug(name)}", f"Errors against {name}", words, _lines(data, x, order, True))


def _steps(rows: pd.DataFrame, errors: Sequence[Column]) -> Figure:
    # The errors of different cases have no median in common.
    parts = [(case, _errors(own, errors, ["step"])) for case, own in rows.groupby("case", sort=False)]
    named = [x.assign(error=f"{case}: " + x["error"]) if len(parts) > 1 else x for case, x in parts]
    data, order = pd.concat(named, ignore_index=True), list(dict.fromkeys(rows["label"]))
    ticks = sorted(rows["step"].unique())
    x = alt.X(
        "step:Q", title="step [s]", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(values=ticks, format=".1~e")
    )
    words = "Median error over all points against the step, both logarithmic; the slope is the order of convergence."
    return Figure("over-step", "Errors against the step", words, _lines(data, x, order, True))


def _map(rows: pd.DataFrame, column: Column, first: str, second: str, units: dict[str, str]) -> Figure:
    """Rectangles for a grid, discs where a sample has points of its own."""
    rows = rows[rows[column.name] > LEAST]
    places = {"x": rows[first], "y": rows[second]}
    count = len(rows[[first, second]].drop_duplicates())
    if count > MOST_DISCS:
        number = min(MOST_VALUES, int((count / 2) ** 0.5))
        places = {key: classed(x, number) if x.nunique() > number else x for key, x in places.items()}
    errors = rows.assign(**places).groupby(["label", "x", "y"], sort=False)[column.name].median()
    data = (SHOWN[column.shown][0] * errors).reset_index().rename(columns={column.name: "error"})
    data = data.assign(error=data["error"].map(short))
    grid = data["x"].nunique() * data["y"].nunique() <= 2 * len(data) / data["label"].nunique()
    kind = "O" if grid else "Q"
    axis = alt.Axis(format=".3~g", labelOverlap=True, tickCount=5)
    scale_x, scale_y = (alt.Undefined if grid else _scale(x) for x in places.values())
    level = alt.Axis(format=".3~g", labelOverlap=True, tickCount=5, labelAngle=0)
    x = alt.X(f"x:{kind}", title=_named(first, units), axis=level, scale=scale_x)
    y = alt.Y(f"y:{kind}", title=_named(second, units), axis=axis, scale=scale_y, sort="descending" if grid else None)
    scale = alt.Scale(type="log", scheme="viridis")
    colour = alt.Color("error:Q", title=_titled(column), scale=scale, legend=alt.Legend(format=".2~g"))
    chart = alt.Chart(data)
    marked = chart.mark_rect() if grid else chart.mark_circle(size=45, opacity=1)
    plot = marked.encode(x=x, y=y, color=colour, tooltip=["label:N", "error:Q"])
    plot = plot.properties(width=WIDTH // 3 - 20, height=HEIGHT // 2)
    labels = list(dict.fromkeys(data["label"]))
    words = f"Median {column.heading} error against {first} and {second}, over all other parameters."
    facet = plot.facet(facet=alt.Facet("label:N", title=None, sort=labels), columns=3)
    # Otherwise empty places of the last row would have axes.
    facet = facet.resolve_axis(x="independent")
    return Figure("map", f"Map of the {column.heading} error", words, facet)


def _pareto(rows: pd.DataFrame, column: Column) -> Figure:
    factor = SHOWN[column.shown][0]
    data = by_variant(rows, [column]).rename(columns={f"{column.name}_median": "error"})
    data = data[data["error"] > LEAST].assign(
        error=lambda x: (factor * x["error"]).map(short), time=lambda x: (1e6 * x["time"]).map(short)
    )
    order = list(dict.fromkeys(data["label"]))
    data = data[["case", "label", "step", "time", "error"]]
    axis = alt.Axis(format="~g", values=DECADES)
    x = alt.X("time:Q", title="solver time per step [µs], median", scale=alt.Scale(type="log"), axis=axis)
    y = alt.Y("error:Q", title=_titled(column), scale=alt.Scale(type="log"), axis=axis)
    legend = alt.Legend(format=".1~e", values=sorted(data["step"].unique())[:8])
    size = alt.Size("step:Q", title="step [s]", scale=alt.Scale(range=[25, 160]), legend=legend)
    # One frame for both layers, so that they can be parted by case.
    whole = pd.concat([data, front(data).assign(front=True)], ignore_index=True)
    base = alt.Chart(whole).encode(x=x, y=y)
    dots = base.transform_filter("!datum.front").mark_circle(opacity=0.9).encode(
        color=_colour(order, "circle"), size=size, tooltip=["case", "label", "step", "time", "error"]
    )  # fmt: skip
    line = base.transform_filter("datum.front").mark_line(interpolate="step-after", strokeDash=[3, 3], color="#888")
    words = (
        f"Median {column.heading} error over the points against the median solver time per step, a disc for each "
        "formulation and step. Dotted line: discs for which no other is both faster and more accurate."
    )
    plot: Chart = alt.layer(line, dots, data=whole).properties(width=WIDTH - 60, height=HEIGHT)
    if data["case"].nunique() > 1:
        plot = plot.properties(width=WIDTH // 2 - 60).facet(facet=alt.Facet("case:N", title=None), columns=2)
    return Figure("pareto", "Error against cost", words, plot)


def _named(name: str, units: dict[str, str]) -> str:
    unit = units.get(name, "")
    return f"{name} [{unit}]" if unit and unit != "1" else name


def _scale(values: pd.Series) -> alt.Scale:
    """Logarithmic where values lie over two decades."""
    return alt.Scale(type="log") if _wide(values) else alt.Scale(zero=False)


def _wide(values: pd.Series) -> bool:
    return bool(values.min() > 0 and values.max() > 100 * values.min())


def classed(values: pd.Series, number: int) -> pd.Series:
    """Replace each value by the centre of its class, of `number` classes of equal width on the axis."""
    log = _wide(values)
    x = np.log(values) if log else values
    width = (x.max() - x.min()) / number
    middle = x.min() + width * (((x - x.min()) / width).astype(int).clip(upper=number - 1) + 0.5)
    return (np.exp(middle) if log else middle).map(short)


def _slug(name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in name)
