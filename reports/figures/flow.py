"""Figures of a flow of grains: what formulations change, every measure over the step, the artefact of associated flow,
and P(f)."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from workbench.builtin.reports.figures.charts import Chart, Figure, short
from workbench.builtin.reports.figures.styles import INK, dashes, palette
from workbench.comparison.scenes.flow import GranularFlow, at_roughness
from workbench.comparison.scenes.flow_differences import EXACT

WIDTH, ROW = 760, 130
FINE = 1e-3
"""Gaps below this share of the roughness come from the tolerance of the steps, and are not drawn."""
ASSOCIATED = "ccp"


def figures(f: GranularFlow) -> list[Figure]:
    """Figures of granular flow: differences, measures over the step, gap relative to roughness, forces."""
    rows = f.rows[f.rows["finished"]]
    if rows.empty:
        return []
    found = [difference_figure(f, f.measures), _measures(f, rows), artefact_figure(f), _forces(f)]
    return [x for x in found if x is not None]


def colours(order: list[str]) -> tuple[alt.Color, alt.StrokeDash]:
    """Colours and dashes of formulations in this order."""
    scale = alt.Scale(domain=order, range=palette(order))
    legend = alt.Legend(orient="top", symbolType="stroke", title=None)
    dash = alt.Scale(domain=order, range=dashes(order))
    return alt.Color("formulation:N", scale=scale, legend=legend), alt.StrokeDash(
        "formulation:N", scale=dash, title=None
    )


def by_mu(layers: list[alt.Chart], data: pd.DataFrame, height: int = ROW) -> Chart:
    """A plot for every friction coefficient, side by side."""
    several = data["panel"].nunique()
    plot = alt.layer(*layers, data=data).properties(width=WIDTH // several - 20, height=height)
    facet = alt.Facet("panel:N", title=None, sort=list(dict.fromkeys(data["panel"])))
    return plot.facet(facet=facet, columns=several)


def panels(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with the `panel` that they are drawn in."""
    return rows.assign(panel=[f"μ = {mu:g}" for mu in rows["mu"]])


def _over_step(rows: pd.DataFrame) -> alt.X:
    """An axis for steps in milliseconds."""
    axis = alt.Axis(values=sorted(map(float, rows["step"].unique())), format="~g")
    return alt.X("step:Q", title="step [ms]", scale=alt.Scale(type="log", nice=False, padding=15), axis=axis)


def _in_ms(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(step=(1e3 * rows["step"]).map(short))


def difference_figure(f: GranularFlow, measures: Sequence[str]) -> Figure | None:
    """Return the figure of differences from Coulomb's law over the step; None without data."""
    d = f.differences
    d = _in_ms(d[(d["formulation"] != EXACT) & np.isfinite(d["uncertainty"].astype(float))])
    if d.empty:
        return None
    colour, dash = colours(list(dict.fromkeys(d["formulation"])))
    plots = []
    for measure in [m for m in measures if m in set(d["measure"])]:
        data = panels(d[d["measure"] == measure])
        data = data.assign(
            significant=data["significant"].astype(bool),
            middle=(100 * data["difference"]).map(short),
            low=(100 * (data["difference"] - data["uncertainty"])).map(short),
            high=(100 * (data["difference"] + data["uncertainty"])).map(short),
        )[["panel", "formulation", "step", "middle", "low", "high", "significant"]]
        y = alt.Y("middle:Q", title=f"{measure.replace('_', ' ')} [%]")
        base = alt.Chart(data).encode(x=_over_step(d), color=colour)
        layers = [
            alt.Chart(data).transform_aggregate(n="count()", groupby=["panel"])
            .mark_rule(color=INK, strokeWidth=1).encode(y=alt.datum(0.0)),
            base.mark_rule(strokeWidth=1.8).encode(y="low:Q", y2="high:Q"),
            base.mark_line(strokeWidth=1.4).encode(y=y, strokeDash=dash),
            base.mark_point(filled=True, opacity=1)
            .encode(y=y, size=alt.condition("datum.significant", alt.value(80), alt.value(14))),
        ]  # fmt: skip
        plots.append(by_mu(layers, data))
    caption = (
        "Difference from Coulomb's law at the same step and friction coefficient, mean over the starts, in percent of "
        "Coulomb's value, against the step. Bars: confidence intervals. A large dot marks a significant difference, "
        "whose bar does not cross zero."
    )
    return Figure("differences", "Differences from Coulomb's law", caption, alt.vconcat(*plots))


def _measures(f: GranularFlow, rows: pd.DataFrame) -> Figure | None:
    """Figure of the flow measures, or None for one step and one start: axes scaled to two runs would magnify chance."""
    if rows["step"].nunique() == rows["seed"].nunique() == 1:
        return None
    colour, dash = colours(list(dict.fromkeys(rows["formulation"])))
    about, plots = f.rows.attrs["columns"], []
    for measure in f.measures:
        data = (
            panels(_in_ms(rows))[["panel", "formulation", "step", measure]].rename(columns={measure: "value"}).dropna()
        )
        if data.empty:
            continue
        unit = "" if about[measure]["unit"] in ("", "1") else f" [{about[measure]['unit']}]"
        title = f"{measure.replace('_', ' ')}{unit}"
        y = alt.Y("value:Q", title=title, scale=alt.Scale(zero=False))
        data["value"] = data["value"].map(short)
        base = alt.Chart(data).encode(x=_over_step(_in_ms(rows)), color=colour)
        layers = [
            base.mark_point(size=22, opacity=0.6, filled=True).encode(y=y),
            base.mark_line(strokeWidth=1.8).encode(y=alt.Y("mean(value):Q", title=title), strokeDash=dash),
        ]
        plots.append(by_mu(layers, data))
    caption = (
        "Measures against the step, a column for each friction coefficient. Points: runs. Curves: means over the "
        "starts. If two curves meet towards small steps, their difference is an artefact of the step."
    )
    return Figure("flow", "Flow measures against the step", caption, alt.vconcat(*plots))


def artefact_figure(f: GranularFlow) -> Figure | None:
    """Return the figure of the gap due to associated flow over the step, relative to roughness; None without gap."""
    rows = f.rows[f.rows["finished"]]
    if not (rows["artefact"] > 0).any():
        return None
    mean = rows.groupby(["mu", "step", "formulation"], sort=False)[["float_gap", "artefact"]].mean().reset_index()
    open_ = mean[mean["float_gap"] > FINE * f.roughness]
    gaps = panels(_in_ms(open_)).assign(gap=(open_["float_gap"] / f.roughness).map(short), kind="gap")
    data = pd.concat([gaps, _asked(f, rows)], ignore_index=True)
    data = data[["panel", "formulation", "step", "gap", "kind", "said"]]
    colour, dash = colours(list(dict.fromkeys(gaps["formulation"])))
    scale = alt.Scale(type="log", nice=False, padding=12)
    y = alt.Y("gap:Q", scale=scale, title="gap / roughness", axis=alt.Axis(tickCount=6))
    base = alt.Chart(data).encode(x=_over_step(_in_ms(rows)), y=y)
    fine = base.transform_filter("datum.kind == 'fine'")
    layers = [
        base.transform_filter("datum.kind != 'gap'").mark_line(strokeDash=[2, 3], color=INK),
        base.transform_filter("datum.kind == 'gap'")
        .mark_line(point={"size": 30}).encode(color=colour, strokeDash=dash),
        fine.mark_point(color=INK, filled=True, size=50, opacity=1),
        fine.mark_text(align="left", dx=24, dy=-9, color=INK, fontSize=12).encode(text="said:N"),
        alt.Chart(data).transform_aggregate(n="count()", groupby=["panel"])
        .mark_rule(color=INK, strokeWidth=1.6).encode(y=alt.datum(1.0)),
    ]  # fmt: skip
    caption = (
        "Force-weighted mean gap of loaded contacts after a step, over the roughness of a grain "
        f"({1e6 * f.roughness:.3g} µm), against the step; both axes logarithmic. Dotted: μ h |uₜ|, the gap of "
        "associated flow, extended to the step at which it equals the roughness. Below 1 the artefact is smaller than "
        "the roughness. Coulomb's law opens no gap."
    )
    return Figure("artefact", "Gap between grains under associated flow", caption, by_mu(layers, data, 180))


def _asked(f: GranularFlow, rows: pd.DataFrame) -> pd.DataFrame:
    """mu h |u_t| of associated flow by panel and step, beside the roughness; where `kind` is "fine", that is 1."""
    own = _in_ms(rows[(rows["formulation"] == ASSOCIATED) & (rows["artefact"] > 0)])
    beside = own.assign(gap=own["artefact"] / f.roughness).groupby(["mu", "step"])["gap"].mean().reset_index()
    own = at_roughness(rows[(rows["formulation"] == ASSOCIATED) & (rows["artefact"] > 0)])
    there = (
        own.groupby("mu")["needed_step"].mean().reset_index().rename(columns={"needed_step": "step"}).assign(gap=1.0)
    )
    there["step"] *= 1e3
    there["said"] = [f"{x:.2g} ms" for x in there["step"]]
    found = pd.concat([there.assign(kind="fine"), beside.assign(kind="asked")], ignore_index=True)
    found = found.sort_values(["mu", "step"]).assign(step=found["step"].map(short), gap=found["gap"].map(short))
    return panels(found).assign(formulation=ASSOCIATED)


def _forces(f: GranularFlow) -> Figure:
    finest = f.forces[f.forces["step"] == f.forces["step"].min()]
    finest = finest.groupby(["mu", "formulation", "force"], sort=False)["density"].mean().reset_index()
    data = panels(finest[finest["density"] > 0])[["panel", "formulation", "force", "density"]]
    data = data.assign(density=np.log10(data["density"]).map(short))
    colour, dash = colours(list(dict.fromkeys(data["formulation"])))
    x, y = alt.X("force:Q", title="f / mean f"), alt.Y("density:Q", title="log10 P(f)")
    line = alt.Chart(data).mark_line(strokeWidth=1.8).encode(x=x, y=y, color=colour, strokeDash=dash)
    caption = (
        "Probability density P of the normal force f, logarithmic, over all contacts in the second half of the runs at "
        "the smallest step. Force chains are the tail, which decays exponentially in packings at rest."
    )
    return Figure("forces", "Distribution of normal forces", caption, by_mu([line], data, 180))
