"""Figures of a study: errors over what is varied, maps of two parameters, errors over the step, error against time."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from workbench.builtin.reports.figures.charts import HEIGHT, WIDTH, Chart, Figure, short
from workbench.builtin.reports.figures.styles import dashes, palette
from workbench.builtin.reports.text.study import by_variant
from workbench.comparison.columns import SHOWN, Column

LEAST = 1e-12
"""Errors below are round-off and have no place on a logarithmic axis."""
DECADES = [10.0**k for k in range(-9, 10)]
MOST_BANDS = 6
"""Formulations up to which the range of the points is shaded."""


def figures(rows: pd.DataFrame, errors: Sequence[Column], varied: Sequence[str], units: dict[str, str]) -> list[Figure]:
    """All that the study has something to show for; `varied` are numeric columns, `units` their units."""
    rows = rows[rows["verified"]]
    if rows.empty or not errors:
        return []
    found = [_response(rows, errors, name, units) for name in varied if rows[name].nunique() > 1]
    if rows["step"].nunique() > 1:
        found.append(_steps(rows, errors))
    if len(varied) > 1 and all(rows[name].nunique() > 1 for name in varied[:2]):
        found.append(_map(rows, errors[0], varied[0], varied[1], units))
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
    legend = alt.Legend(title=None, symbolType=symbol, symbolSize=500 if symbol == "stroke" else 120)
    return alt.Color("label:N", sort=order, scale=alt.Scale(domain=order, range=palette(order)), legend=legend)


def _dash(order: list[str]) -> alt.StrokeDash:
    return alt.StrokeDash("label:N", sort=order, scale=alt.Scale(domain=order, range=dashes(order)), title=None)


def _lines(data: pd.DataFrame, x: alt.X, order: list[str], points: bool) -> Chart:
    """Medians as lines, quartiles as bands, a plot for each error."""
    y = alt.Y("middle:Q", title=None, scale=alt.Scale(type="log"), axis=alt.Axis(format="~g", values=DECADES))
    pick = alt.selection_point(fields=["label"], bind="legend")
    base = alt.Chart(data).encode(x=x, color=_colour(order))
    clear = alt.condition(pick, alt.value(0.95), alt.value(0.1))
    line = base.mark_line(strokeWidth=1.8, point={"size": 18} if points else False)
    layers: list[alt.Chart] = [line.encode(y=y, strokeDash=_dash(order), opacity=clear).add_params(pick)]
    if len(order) <= MOST_BANDS:
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
    data, order = _errors(rows, errors, [name]), list(dict.fromkeys(rows["label"]))
    x = alt.X(f"{_field(name)}:Q", title=_named(name, units), scale=_scale(rows[name]))
    words = (
        f"Median error at each {name} over all other parameters and steps of the study, logarithmic"
        f"{'; shaded: from the lower to the upper quartile' if len(order) <= MOST_BANDS else ''}."
    )
    return Figure(f"over-{_slug(name)}", f"Errors over {name}", words, _lines(data, x, order, True))


def _steps(rows: pd.DataFrame, errors: Sequence[Column]) -> Figure:
    data, order = _errors(rows, errors, ["step"]), list(dict.fromkeys(rows["label"]))
    ticks = sorted(rows["step"].unique())
    x = alt.X("step:Q", title="step [s]", scale=alt.Scale(type="log"), axis=alt.Axis(values=ticks, format=".1~e"))
    words = "Median error over all points at each step, both logarithmic: the slope is the order of convergence."
    return Figure("over-step", "Errors over the step", words, _lines(data, x, order, True))


def _map(rows: pd.DataFrame, column: Column, first: str, second: str, units: dict[str, str]) -> Figure:
    """Rectangles for a grid, discs where a sample has points of its own."""
    factor = SHOWN[column.shown][0]
    errors = rows[rows[column.name] > LEAST].groupby(["label", first, second], sort=False)[column.name].median()
    data = (factor * errors).reset_index().rename(columns={column.name: "error"})
    data = data.assign(error=data["error"].map(short))
    grid = data[first].nunique() * data[second].nunique() <= 2 * len(data) / data["label"].nunique()
    kind = ":O" if grid else ":Q"
    axis = alt.Axis(format=".3~g", labelOverlap=True)
    order = "descending" if grid else None
    x = alt.X(f"{_field(first)}{kind}", title=_named(first, units), axis=axis)
    y = alt.Y(f"{_field(second)}{kind}", title=_named(second, units), axis=axis, sort=order)
    colour = alt.Color("error:Q", title=_titled(column), scale=alt.Scale(type="log", scheme="viridis"))
    chart = alt.Chart(data)
    marked = chart.mark_rect() if grid else chart.mark_circle(size=45, opacity=1)
    plot = marked.encode(x=x, y=y, color=colour, tooltip=["label:N", "error:Q"])
    plot = plot.properties(width=WIDTH // 3 - 20, height=HEIGHT // 2)
    labels = list(dict.fromkeys(data["label"]))
    words = f"The median {column.heading} error over {first} and {second}, over all else of the study."
    facet = plot.facet(facet=alt.Facet("label:N", title=None, sort=labels), columns=3)
    return Figure("map", f"Where the {column.heading} error is large", words, facet)


def _pareto(rows: pd.DataFrame, column: Column) -> Figure:
    factor = SHOWN[column.shown][0]
    data = by_variant(rows, [column]).rename(columns={f"{column.name}_median": "error"})
    data = data[data["error"] > LEAST].assign(
        error=lambda x: (factor * x["error"]).map(short), time=lambda x: (1e3 * x["time"]).map(short)
    )
    order = list(dict.fromkeys(data["label"]))
    data = data[["case", "label", "step", "time", "error"]].sort_values("time")
    best = data["error"].cummin()
    front = data[data["error"] == best].drop_duplicates("error")
    axis = alt.Axis(format="~g", values=DECADES)
    x = alt.X("time:Q", title="time of a run [ms], median", scale=alt.Scale(type="log"), axis=axis)
    y = alt.Y("error:Q", title=_titled(column), scale=alt.Scale(type="log"), axis=axis)
    legend = alt.Legend(format=".1~e", values=sorted(data["step"].unique())[:8])
    size = alt.Size("step:Q", title="step [s]", scale=alt.Scale(range=[25, 160]), legend=legend)
    dots = alt.Chart(data).mark_circle(opacity=0.9).encode(
        x=x, y=y, color=_colour(order, "circle"), size=size, tooltip=["case", "label", "step", "time", "error"]
    )  # fmt: skip
    line = alt.Chart(front).mark_line(interpolate="step-after", strokeDash=[3, 3], color="#888").encode(x=x, y=y)
    words = (
        f"Each disc is a formulation at a step: its median {column.heading} error over the points, against the time of "
        "its runs on the machine that made them. Nothing is both faster and closer than what lies on the dashed line."
    )
    return Figure(
        "pareto", "Error against time", words, alt.layer(line, dots).properties(width=WIDTH - 60, height=HEIGHT)
    )


def _named(name: str, units: dict[str, str]) -> str:
    unit = units.get(name, "")
    return f"{name} [{unit}]" if unit and unit != "1" else name


def _scale(values: pd.Series) -> alt.Scale:
    """Logarithmic where values lie over two decades."""
    wide = values.min() > 0 and values.max() > 100 * values.min()
    return alt.Scale(type="log") if wide else alt.Scale(zero=False)


def _field(name: str) -> str:
    """A name as Vega's shorthand takes it: dots, brackets and colons mean something there."""
    return name.replace(".", "\\.").replace("[", "\\[").replace(":", "\\:")


def _slug(name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in name)
