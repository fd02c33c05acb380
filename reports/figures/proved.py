"""Proved map: boxes coloured by proved verdict, hatched without one."""

import altair as alt
import numpy as np
import pandas as pd

from workbench.builtin.reports.figures.charts import HEIGHT, WIDTH, Figure
from workbench.builtin.reports.figures.regimes import COLOURS, axis_title
from workbench.diagnostics.box_regime import MEANINGS, UNDECIDED, VERDICTS
from workbench.diagnostics.proved_ranges import P_WORDS, ProvedRanges
from workbench.mechanics.case import Case

SHADES = {
    "unique": COLOURS["sliding"], "none": COLOURS["inconsistent"], "several": COLOURS["indeterminate"],
    "locking": "#5e9c76", "undecided": "#ffffff",
}  # fmt: skip
"""Colours of the regimes of the verdicts, and one for locking."""
FINEST_HATCH = 1 / 60
"""Side of a box, relative to the map, that has one stroke of the hatching; larger ones have more."""


def proved_figure(r: ProvedRanges, case: Case) -> Figure:
    """Boxes of two parameters by verdict; those without a verdict on the P-property enclose the critical curve."""
    boxes = frame(r)
    x_name, y_name = r.names
    axes = {}
    for side, name, span in zip("xy", r.names, r.ranges, strict=True):
        scale = alt.Scale(domain=[float(e) for e in span], nice=False, zero=False)
        axes[side] = (alt.X if side == "x" else alt.Y)(f"{side}:Q", title=axis_title(name, case), scale=scale)
    names = [name for name in VERDICTS if name in r.shares()]
    shades = alt.Scale(domain=names, range=[SHADES[n] for n in names])
    # Undecided boxes are hatched, which the caption says and no symbol shows.
    proved = [name for name in names if name != "undecided"]
    legend = alt.Legend(symbolType="square", symbolSize=220, values=proved)
    colour = alt.Fill("verdict:N", title=None, scale=shades, legend=legend)
    # Strokes of the fill's own colour close the seams between boxes.
    cells = (
        alt.Chart(boxes)
        .mark_rect(clip=True, strokeWidth=1)
        .encode(
            **axes, x2="x2:Q", y2="y2:Q", fill=colour,
            stroke=alt.Stroke("verdict:N", title=None, scale=shades, legend=legend),
            tooltip=["verdict:N", "p_matrix:N"],
        )
    )  # fmt: skip
    layers = [cells]
    strokes = _hatching(r, (r.verdict == UNDECIDED) | (r.p == -1))
    if len(strokes):
        rule = alt.Chart(strokes).mark_rule(color="black", strokeWidth=0.5, clip=True)
        layers.append(rule.encode(**axes, x2="x2:Q", y2="y2:Q"))
    words = [f"{name}: {MEANINGS[name]}" for name in proved]
    caption = (
        f"Solid: proved for every state of the box ({', '.join(words)}). Hatched: undecided, or not proved whether M_μ "
        "is a P-matrix; every critical state lies in a hatched box."
    )
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT + 80)
    return Figure("map", f"Proved regimes over {x_name} and {y_name}", caption, chart)


def frame(r: ProvedRanges) -> pd.DataFrame:
    """The boxes, one a row: the ends of each parameter (x, x2 and y, y2 where there are two), verdict, p_matrix."""
    low, high = r.edges()
    columns: dict[str, object] = {}
    for k, name in enumerate(r.names):
        first, last = (("x", "x2"), ("y", "y2"))[k] if len(r.names) == 2 else (f"{name}_from", f"{name}_to")
        columns |= {first: low[:, k], last: high[:, k]}
    columns["verdict"] = [VERDICTS[k] for k in r.verdict]
    columns["p_matrix"] = [P_WORDS[k] for k in r.p.tolist()]
    return pd.DataFrame(columns)


def _hatching(r: ProvedRanges, where: np.ndarray) -> pd.DataFrame:
    """Parallel strokes from lower left to upper right across some of the boxes."""
    (x_low, y_low), (x_high, y_high) = ([float(span[k]) for span in r.ranges] for k in (0, 1))
    strokes = []
    for (u, v), (w, h) in zip(r.corner[where], r.side[where], strict=True):
        number = max(1, round(max(w, h) / FINEST_HATCH))
        for k in range(1, 2 * number):
            # Where the line through k / number along the sides enters and leaves the box.
            s = k / number
            a, b = (max(0.0, 1 - s), max(0.0, s - 1)), (min(1.0, 2 - s), min(1.0, s))
            strokes.append((u + w * a[0], v + h * a[1], u + w * b[0], v + h * b[1]))
    found = pd.DataFrame(strokes, columns=["x", "y", "x2", "y2"])
    for side, low, high in (("x", x_low, x_high), ("y", y_low, y_high)):
        for name in (side, f"{side}2"):
            found[name] = low + (high - low) * found[name]
    return found
