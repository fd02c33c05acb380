"""What figures share, as Altair charts: one declaration serves the page and the PDF, SVG or PNG for a paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from zlib import crc32

import altair as alt
import numpy as np
import pandas as pd

WIDTH, HEIGHT = 760, 300
OF_FORMULATIONS = {
    "coulomb": "#2b2b2b", "frictionless": "#b9a88f", "stewart-trinkle": "#e08a1e", "anitescu-potra": "#c8553d",
    "discrete-velocity": "#d4739b", "phantom-inertia": "#3f8f4f", "box": "#4c6a92", "hybrid": "#5b9e9e",
    "ccp": "#8c5fa8", "mujoco": "#7a4a2b", "staggered": "#b79a20", "uncertainty of the reference": "#b9b9b9",
}  # fmt: skip
"""Colours that formulations have on every page, whatever stands beside them."""
OTHERS = ["#1f77b4", "#17becf", "#bcbd22", "#e377c2", "#9edae5", "#98df8a", "#ff9896", "#c5b0d5", "#dbdb8d", "#6b6ecf"]
"""Colours of other names and of further variants, by the name's digest, the next one where that is taken."""
COLOURS = ["#4c6a92", "#e08a1e", "#c8553d", "#5b9e9e", "#3f8f4f", "#b79a20", "#8c5fa8", "#d4739b", "#2b2b2b", "#8d7461"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]

PARTS = {
    "total": "#2b2b2b", "reference": "#b9b9b9", "discretisation": "#7fa6c9", "formulation": "#e08a1e",
    "compliance": "#3f8f4f", "solver": "#8c5fa8",
}  # fmt: skip
"""Parts of an error budget and their colours."""

NAMES = ("friction", "misalignment", "position", "energy", "budget", "painleve", "cones", "motion")
"""File names of the figures, without ending."""

Chart = alt.LayerChart | alt.FacetChart | alt.HConcatChart | alt.VConcatChart | alt.Chart


@dataclass(frozen=True)
class Figure:
    """A chart with the words that belong to it. `name` is the file name without ending."""

    name: str
    title: str
    caption: str
    chart: Chart


def short(x: float) -> float | None:
    """Five digits are more than a curve shows; fewer bytes for the page."""
    return float(f"{x:.5g}") if np.isfinite(x) else None


def lines(
    curves: pd.DataFrame, column: str, title: str, x: str = "t", x_title: str = "time [s]", log: bool = False,
    zero: bool = False,
) -> Chart:  # fmt: skip
    """A curve of `column` over `x` for every "label", dashed by "step" and apart by "contact" where there are several.

    A curve is broken where its value is missing. A click in the legend singles out a curve. `zero` adds the line 0 and
    keeps it in view.
    """
    several = [name for name in ("step", "contact") if name in curves and len(curves[name].unique()) > 1]
    data = curves[[x, "label", *several, column]]
    if log:
        data = data.assign(**{column: data[column].where(data[column] > 1e-12)})
    data = data.assign(**{column: data[column].map(short), x: data[x].map(short)})
    order = list(dict.fromkeys(curves["label"]))
    pick = alt.selection_point(fields=["label"], bind="legend")
    scale = alt.Scale(type="log") if log else alt.Scale(zero=zero)
    base = alt.Chart(data).encode(
        x=alt.X(f"{x}:Q", title=x_title, axis=alt.Axis(tickCount=11)),
        y=alt.Y(
            f"{column}:Q", title=title, scale=scale, axis=alt.Axis(format=".0e", tickCount=8) if log else alt.Axis()
        ),
        color=alt.Color("label:N", sort=order, scale=alt.Scale(domain=order, range=palette(order)), title=None),
        detail=[f"{name}:N" for name in several],
        opacity=alt.condition(pick, alt.value(0.95), alt.value(0.08)),
    )
    if "step" in several:
        base = base.encode(strokeDash=alt.StrokeDash("step:N", scale=alt.Scale(range=DASHES), title="step"))
    lines = base.mark_line(strokeWidth=1.6, clip=True).add_params(pick)
    layers = [lines]
    if zero:
        layers.append(alt.Chart(pd.DataFrame({"y": [0.0]})).mark_rule(color="#b00", strokeDash=[4, 4]).encode(y="y:Q"))
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


def budget(errors: pd.DataFrame, title: str) -> alt.FacetChart:
    """Bars side by side of the columns named in `PARTS`, shares, for every "run"; one chart for each "field"."""
    parts, fields = [part for part in PARTS if part in errors], list(dict.fromkeys(errors["field"]))
    tidy = errors.melt(["run", "field"], parts, var_name="part", value_name="error").dropna(subset=["error"])
    tidy["error"] = 100 * tidy["error"]
    tidy = tidy[tidy["error"] > 1e-6].assign(floor=1e-6)
    return (
        alt.Chart(tidy)
        .mark_bar()
        .encode(
            y=alt.Y("run:N", sort=list(dict.fromkeys(errors["run"])), title=None, axis=alt.Axis(labelLimit=300)),
            yOffset=alt.YOffset("part:N", sort=parts, scale=alt.Scale(domain=parts)),
            x=alt.X(
                "error:Q", title=title, scale=alt.Scale(type="log", domainMin=1e-6),
                axis=alt.Axis(format="~g", values=[1e-6, 1e-4, 1e-2, 1, 100]),
            ),
            x2="floor:Q",
            color=alt.Color(
                "part:N", sort=parts, title=None,
                scale=alt.Scale(domain=parts, range=[PARTS[part] for part in parts]),
            ),
        )
        .properties(width=max((WIDTH - 220) // len(fields), 150), height=alt.Step(5))
        .facet(column=alt.Column("field:N", sort=fields, title=None, header=alt.Header(labelFontSize=12)))
    )  # fmt: skip


def palette(labels: Sequence[str]) -> list[str]:
    """A colour for each label: a formulation's own for its first variant, for others one that their name leads to."""
    found: dict[str, str] = {}
    for label in labels:
        own = OF_FORMULATIONS.get(label.partition(":")[0])
        if own and own not in found.values():
            found[label] = own
    for label in labels:
        place = crc32(label.encode())
        free = [OTHERS[(place + i) % len(OTHERS)] for i in range(len(OTHERS))]
        found.setdefault(label, next((x for x in free if x not in found.values()), free[0]))
    return [found[label] for label in labels]


def styled(chart: Chart) -> Chart:
    """The house style: no frame, quiet grid, the page's typeface."""
    return (
        chart.configure_view(stroke=None)
        .configure(font="system-ui, 'DejaVu Sans', sans-serif", background="white")
        .configure_axis(
            labelFontSize=12, titleFontSize=12, gridColor="#e6e6e6", domainColor="#888", titleFontWeight="normal"
        )
        .configure_legend(labelFontSize=12, symbolStrokeWidth=3, labelLimit=260, titleFontWeight="normal")
    )


def write_figures(shown: Sequence[Figure], folder: Path, ending: Literal["pdf", "svg", "png"]) -> list[Path]:
    """Each figure as a file `folder/NAME.ending`, ending "pdf", "svg" or "png"; no browser, no network."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for figure in shown:
        path = folder / f"{figure.name}.{ending}"
        styled(figure.chart).save(str(path), format=ending, scale_factor=2.0 if ending == "png" else 1.0)
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
