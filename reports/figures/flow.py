"""Figures of a flow of grains: every measure over the step, the artefact of associated flow, and P(f)."""

import altair as alt
import numpy as np
import pandas as pd

from workbench.builtin.reports.figures.charts import Chart, Figure, short
from workbench.builtin.reports.figures.styles import INK, dashes, palette
from workbench.comparison.scenes.flow import Flow

WIDTH, ROW = 760, 130
SHOWN = ("solid_fraction", "coordination")
"""Measures of all scenes that have a row of plots, below those of the scene itself."""
FINE = 1e-3
"""Gaps below this share of the roughness come from the tolerance of the steps, and are not drawn."""


def figures(f: Flow) -> list[Figure]:
    """The measures over the step, the artefact beside the roughness, the forces."""
    rows = f.rows[f.rows["finished"]]
    if rows.empty:
        return []
    found = [_measures(f, rows)]
    if (rows["artefact"] > 0).any():
        found.append(_artefact(f, rows))
    return [*found, _forces(f)]


def _colours(order: list[str]) -> tuple[alt.Color, alt.StrokeDash]:
    scale = alt.Scale(domain=order, range=palette(order))
    legend = alt.Legend(orient="top", symbolType="stroke", title=None)
    dash = alt.Scale(domain=order, range=dashes(order))
    return alt.Color("formulation:N", scale=scale, legend=legend), alt.StrokeDash(
        "formulation:N", scale=dash, title=None
    )


def _by_mu(rows: pd.DataFrame, layers: list[alt.Chart], data: pd.DataFrame, height: int = ROW) -> Chart:
    """A plot for every friction coefficient, side by side."""
    several = rows["mu"].nunique()
    plot = alt.layer(*layers, data=data).properties(width=WIDTH // several - 20, height=height)
    return plot.facet(column=alt.Column("panel:N", title=None, sort=list(dict.fromkeys(data["panel"]))))


def _panels(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(panel=[f"μ = {mu:g}" for mu in rows["mu"]])


def _over_step(rows: pd.DataFrame) -> alt.X:
    ticks = sorted(rows["step"].unique())
    return alt.X(
        "step:Q",
        title="step [s]",
        scale=alt.Scale(type="log", nice=False, padding=15),
        axis=alt.Axis(values=ticks, format=".1~e"),
    )


def _measures(f: Flow, rows: pd.DataFrame) -> Figure:
    colour, dash = _colours(list(dict.fromkeys(rows["formulation"])))
    told, plots = f.rows.attrs["columns"], []
    for name in (*f.case.measures, *SHOWN):
        data = _panels(rows)[["panel", "formulation", "step", name]].rename(columns={name: "value"}).dropna()
        if data.empty:
            continue
        unit = "" if told[name]["unit"] == "1" else f" [{told[name]['unit']}]"
        y = alt.Y("value:Q", title=f"{name.replace('_', ' ')}{unit}", scale=alt.Scale(zero=False))
        data["value"] = data["value"].map(short)
        line = alt.Chart(data).mark_line(point={"size": 30}, strokeWidth=1.8)
        plots.append(_by_mu(rows, [line.encode(x=_over_step(rows), y=y, color=colour, strokeDash=dash)], data))
    caption = (
        "Statistics of the runs, a point each, a column for each friction coefficient. Where the curves of two "
        "formulations meet towards small steps, what they differ in is an artefact of the step."
    )
    return Figure("flow", "What the formulation does to the flow, and what the step does", caption, alt.vconcat(*plots))


def _artefact(f: Flow, rows: pd.DataFrame) -> Figure:
    data = _panels(rows)[["panel", "formulation", "step"]].assign(
        floats=(rows["float_gap"] / f.roughness).where(rows["float_gap"] > FINE * f.roughness).map(short),
        artefact=(rows["artefact"] / f.roughness).where(rows["artefact"] > 0).map(short),
    )
    colour, dash = _colours(list(dict.fromkeys(rows["formulation"])))
    base = alt.Chart(data).encode(x=_over_step(rows))
    scale = alt.Scale(type="log")
    theory = base.transform_filter("datum.formulation == 'ccp'").mark_line(strokeDash=[2, 3], color=INK)
    layers = [
        theory.encode(y=alt.Y("artefact:Q", scale=scale, title="gap beside the roughness")),
        base.mark_line(point={"size": 30}).encode(y=alt.Y("floats:Q", scale=scale), color=colour, strokeDash=dash),
        alt.Chart(data).transform_aggregate(n="count()", groupby=["panel"])
        .mark_rule(color=INK, strokeWidth=1.6).encode(y=alt.datum(1.0)),
    ]  # fmt: skip
    caption = (
        "The gap at which contacts that press stand after a step, the mean by their forces, beside the roughness of a "
        f"grain, {1e6 * f.roughness:.3g} µm; dotted: μ h |uₜ|, what associated flow asks for. Below the rule at "
        "1 the artefact is finer than the grain. Coulomb's law holds nothing open. Both axes are logarithmic."
    )
    return Figure("artefact", "How far associated flow holds grains apart", caption, _by_mu(rows, layers, data, 180))


def _forces(f: Flow) -> Figure:
    finest = f.forces[f.forces["step"] == f.forces["step"].min()]
    data = _panels(finest[finest["density"] > 0])[["panel", "formulation", "force", "density", "mu"]]
    data = data.assign(density=np.log10(data["density"]).map(short))
    colour, dash = _colours(list(dict.fromkeys(data["formulation"])))
    x, y = alt.X("force:Q", title="f, beside its mean"), alt.Y("density:Q", title="log10 P(f)")
    line = alt.Chart(data).mark_line(strokeWidth=1.8).encode(x=x, y=y, color=colour, strokeDash=dash)
    caption = (
        "How the normal forces of contacts are distributed, all contacts of the second half of the run at the smallest "
        "step. Force chains are the tail, which falls exponentially in packings at rest."
    )
    return Figure("forces", "Force chains", caption, _by_mu(data, [line], data, 180))
