"""Figures of derivatives: an output over a parameter under each formulation, with tangents at the value in use."""

import altair as alt
import numpy as np
import pandas as pd

from workbench.builtin.reports.figures.charts import HEIGHT, WIDTH, Figure, short
from workbench.builtin.reports.figures.styles import dashes, palette
from workbench.comparison.derivatives import EVENT_DRIVEN

REFERENCE = "uncertainty of the reference"
"""What the motion itself has the grey of."""
WIDTHS = 5.0, 1.8
"""Widths of the line of the motion and of those of formulations, which often lie on it."""
TANGENT = 0.35
"""Half length of a tangent, as a share of the sampled range's half."""


def figures(samples: pd.DataFrame) -> list[Figure]:
    """A figure for each parameter and output of the samples (`derivatives.SAMPLED`)."""
    groups = samples.groupby(["parameter", "output"], sort=False)
    return [_figure(rows, str(parameter), str(output), k) for k, ((parameter, output), rows) in enumerate(groups)]


def _figure(rows: pd.DataFrame, parameter: str, output: str, k: int) -> Figure:
    labels = list(dict.fromkeys(rows["formulation"]))
    styled = [REFERENCE if label == EVENT_DRIVEN else label for label in labels]
    colour = alt.Color(
        "formulation:N", sort=labels, scale=alt.Scale(domain=labels, range=palette(styled)),
        legend=alt.Legend(title=None, symbolType="stroke", symbolSize=500, symbolOpacity=1.0),
    )  # fmt: skip
    dash = alt.StrokeDash(
        "formulation:N", sort=labels, scale=alt.Scale(domain=labels, range=dashes(styled)), title=None
    )
    ends = [float(rows["at"].min()), float(rows["at"].max())]
    x = alt.X("at:Q", title=parameter, scale=alt.Scale(domain=ends, nice=False, zero=False))
    y = alt.Y("value:Q", title=f"{output} at the end of the motion", scale=alt.Scale(zero=False))
    drawn = rows.assign(at=rows["at"].map(short), value=rows["value"].map(short)).dropna(subset=["value"])
    drawn = drawn[["formulation", "at", "value", "kinks", "jumps"]]
    of_motion = alt.datum.formulation == EVENT_DRIVEN
    width = alt.condition(of_motion, *(alt.value(x) for x in WIDTHS))
    line = alt.Chart(drawn).mark_line().encode(x=x, y=y, color=colour, strokeDash=dash, strokeWidth=width)
    marked = drawn[(drawn["kinks"] > 0) | (drawn["jumps"] > 0)]
    tips = ["formulation:N", "at:Q", "kinks:Q", "jumps:Q"]
    circles = alt.Chart(marked).mark_point(size=60, filled=False).encode(x=x, y=y, color=colour, tooltip=tips)
    tangent = alt.Chart(_tangents(rows)).mark_rule(strokeWidth=4, opacity=0.45)
    tangents = tangent.encode(x="at:Q", x2="end:Q", y="value:Q", y2="top:Q", color=colour)
    caption = (
        f"Lines: {output} at the end of a run against {parameter}. Thick segments: tangents from the derivative at "
        "the current value; a segment that leaves its line shows a wrong derivative."
        + " Circles: runs with steps that have only one-sided derivatives or whose data jump."
        * (len(marked) > 0)
    )
    chart = alt.layer(line, tangents, *[circles] * (len(marked) > 0)).properties(width=WIDTH, height=HEIGHT)
    return Figure(f"objective-{k}", f"{output} over {parameter}", caption, chart)


def _tangents(rows: pd.DataFrame) -> pd.DataFrame:
    """The ends of the tangent of each formulation at the middle of the samples."""
    middle = 0.5 * (rows["at"].min() + rows["at"].max())
    here = rows[np.isclose(rows["at"], middle)].dropna(subset=["value", "derivative"])
    far = TANGENT * (rows["at"].max() - middle)
    value, rise = here["value"], far * here["derivative"]
    ends = {"at": here["at"] - far, "end": here["at"] + far, "value": value - rise, "top": value + rise}
    return pd.DataFrame({"formulation": here["formulation"], **ends})
