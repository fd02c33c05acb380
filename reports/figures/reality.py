"""Figures of formulations compared with recordings: differences with intervals, errors over time, searches, phases."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from workbench.builtin.reports.figures.charts import Chart, Figure, lines, short
from workbench.builtin.reports.figures.styles import INK, dashes, palette
from workbench.exams.recorded.findings import Findings

WIDTH, ROW = 560, 20
PANELS = {"position": "mean over the toss [mm]", "rest_position": "at its end [mm]"}
TOUCHING = ("impact", "sliding", "rolling", "rest")
ALONE = "uncertainty of the reference"
"""The name under which the page draws how well something is known; here the error of the starts alone."""
FAR = 10.0
"""Ratio of the largest difference to the median one above which the axis of differences is compressed."""
MOST = 8
"""Curves of a figure over time; others are drawn on request."""


def figures(f: Findings) -> list[Figure]:
    """Return the figures, the answer first, without subjects that have no numbers."""
    rows = f.subjects[f.subjects["reason"].fillna("") == ""]
    order = [f.reference, *rows[rows["label"] != f.reference].sort_values("position_more")["label"]]
    found = [_differences(f, rows, order)] if len(rows) > 1 else []
    return [*found, _over_time(f, order), _orientation(f, order), _search(f, order), *_phases(f, order)]


def _differences(f: Findings, rows: pd.DataFrame, order: list[str]) -> Figure:
    cells = [
        {"label": r["label"], "panel": panel} | _interval(r, f"{name}_more")
        for name, panel in PANELS.items()
        for r in rows[rows["label"] != f.reference].to_dict("records")
    ]
    base = rows.iloc[0]
    caption = (
        f"Position error minus that of {f.reference} on the same tosses: mean and 95 % interval. Negative is better; "
        f"an interval that crosses 0 is not significant. The error of {f.reference} is {base['position']:.3g} mm on "
        f"average over a toss and {base['rest_position']:.3g} mm at its end."
    )
    if _is_wide(pd.DataFrame(cells)):
        caption += " Beyond 1 mm the axis is logarithmic."
    chart = _dots(pd.DataFrame(cells), list(PANELS.values()), order[1:], f"minus {f.reference} [mm]", stacked=True)
    return Figure("difference", f"Prediction error compared with {f.reference}", caption, chart)


def _interval(row: Any, name: str) -> dict[str, Any]:
    return {"value": short(row[name]), "low": short(row[f"{name}_low"]), "high": short(row[f"{name}_high"])}


def _dots(data: pd.DataFrame, panels: Sequence[str], order: list[str], title: str, stacked: bool) -> Chart:
    """A plot a panel, in it a point with its interval for each label, and a rule at zero."""
    colour = alt.Color("label:N", scale=alt.Scale(domain=order, range=palette(order)), legend=None)
    y = alt.Y("label:N", sort=order, title=None, axis=alt.Axis(labelLimit=200, grid=True))
    base = alt.Chart(data).encode(y=y, color=colour)
    scale, axis = _axis(data)
    layers = [
        alt.Chart(data)
        .transform_aggregate(rows="count()", groupby=["panel"])
        .mark_rule(color=INK)
        .encode(x=alt.datum(0.0)),
        base.mark_rule(strokeWidth=2.2).encode(x=alt.X("low:Q", title=title, scale=scale, axis=axis), x2="high:Q"),
        base.mark_point(filled=True, size=46, opacity=1).encode(
            x=alt.X("value:Q", title=title, scale=scale, axis=axis), tooltip=["label:N", "value:Q", "low:Q", "high:Q"]
        ),
    ]
    columns = 1 if stacked else 2
    plot = alt.layer(*layers, data=data).properties(width=WIDTH if stacked else WIDTH // 2, height=alt.Step(ROW))
    facet = alt.Facet("panel:N", title=None, sort=list(panels))
    return plot.facet(facet=facet, columns=columns).resolve_scale(x="independent").resolve_axis(x="independent")


def _is_wide(data: pd.DataFrame) -> bool:
    size = data["value"].abs()
    return bool(size.max() > FAR * size.median())


def _axis(data: pd.DataFrame) -> tuple[alt.Scale, alt.Axis]:
    """Scale and axis of differences; compressed if one difference is many times larger than most."""
    if not _is_wide(data):
        return alt.Scale(), alt.Axis()
    ticks = [sign * x * 10**k for k in range(4) for x in (1, 2, 5) for sign in (-1, 1)]
    return alt.Scale(type="symlog", constant=1), alt.Axis(values=[0, *ticks])


def _curves(f: Findings, measure: str, order: list[str]) -> pd.DataFrame:
    found = f.over_time[f.over_time["measure"] == measure].set_index("label")
    there = [x for x in order if x in found.index]
    return found.loc[there].reset_index()[["t", "label", "value"]] if there else pd.DataFrame()


def _over_time(f: Findings, order: list[str]) -> Figure:
    curves, alone = _curves(f, "position", order), _curves(f, "spread", [f.reference])
    caption = (
        "Distance between predicted and recorded centre against time, mean over the test tosses that are recorded to "
        "the end of the axis (half of them)."
    )
    if not alone.empty:
        curves = pd.concat([alone.assign(label=ALONE), curves])
        caption += (
            f" “{ALONE}”: effect of the measurement error of initial states on {f.reference}. No model can be expected "
            "below it."
        )
    chart = lines(curves, "value", "distance from the recording [mm]", aside=order[MOST:], zero=True)
    if len(order) > MOST:
        caption += f" Drawn: the {MOST} of {len(order)} curves with the smallest errors."
    return Figure("position", "Position error against time", caption, chart)


def _orientation(f: Findings, order: list[str]) -> Figure:
    caption = "Angle between predicted and recorded orientation against time, mean as above."
    chart = lines(_curves(f, "orientation", order), "value", "angle [°]", aside=order[MOST:], zero=True)
    return Figure("orientation", "Orientation error against time", caption, chart)


def _search(f: Findings, order: list[str]) -> Figure:
    """The error over mu at the restitution that was found, for each label, and where it is least."""
    found = f.search.merge(f.search[f.search["chosen"]][["label", "e"]], on="label", suffixes=("", "_found"))
    found = found[found["e"] == found["e_found"]].sort_values(["label", "mu"]).drop_duplicates(["label", "mu"])
    data = found[["label", "mu", "position", "position_low", "position_high", "chosen"]].assign(panel="")
    for name in ("mu", "position", "position_low", "position_high"):
        data[name] = data[name].map(short)
    scale = alt.Scale(domain=order, range=palette(order))
    legend = alt.Legend(title=None, symbolType="stroke", symbolSize=500, symbolOpacity=1)
    base = alt.Chart(data).encode(
        x=alt.X("mu:Q", title="friction coefficient μ"),
        color=alt.Color("label:N", scale=scale, legend=legend),
    )
    y = alt.Y("position:Q", title="position error [mm]", scale=alt.Scale(zero=False))
    dash = alt.StrokeDash("label:N", scale=alt.Scale(domain=order, range=dashes(order)), title=None)
    band = base.transform_filter(alt.datum.label == f.reference).mark_area(opacity=0.15)
    layers = [
        band.encode(y=alt.Y("position_low:Q", title="position error [mm]"), y2="position_high:Q"),
        base.mark_line(strokeWidth=1.6).encode(y=y, strokeDash=dash),
        base.transform_filter(alt.datum.chosen).mark_point(filled=True, size=50, opacity=1).encode(y=y),
    ]
    caption = (
        "Position error on the identification tosses against μ, at the identified restitution. Points: minima. Band: "
        f"95 % interval of {f.reference}, for the mean over so few tosses, not for μ."
    )
    chart = alt.layer(*layers).properties(width=WIDTH, height=300)
    return Figure("search", "Identification of μ", caption, chart)


def _phases(f: Findings, order: list[str]) -> list[Figure]:
    """Differences of one interval between samples, a plot a phase."""
    rows = f.by_phase[f.by_phase["phase"].isin(TOUCHING) & (f.by_phase["samples"] > 0)]
    cells = [
        {"label": r["label"], "panel": r["phase"]} | _interval(r, "position_more")
        for r in rows.to_dict("records")
        if r["label"] != f.reference
    ]
    if not cells:
        return []
    base = rows[rows["label"] == f.reference]
    own = ", ".join(f"{r['position']:.2g} mm in {r['phase']}" for r in base.to_dict("records"))
    caption = (
        f"Position error minus that of {f.reference} after one sampling interval from the recorded state, by phase; "
        f"scales differ. Error of {f.reference}: {own}."
    )
    panels = [p for p in TOUCHING if p in set(rows["phase"])]
    chart = _dots(pd.DataFrame(cells), panels, order[1:], f"minus {f.reference} [mm]", stacked=False)
    return [Figure("phases", "Differences by phase", caption, chart)]
