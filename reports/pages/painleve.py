"""The page of one state of sliding contacts: is its friction well posed? One HTML file that opens offline."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from workbench.builtin.reports.figures.charts import HEIGHT, WIDTH, Figure
from workbench.builtin.reports.figures.drawing import drawing
from workbench.builtin.reports.pages.page import environment, scripts
from workbench.builtin.reports.text.check import between
from workbench.builtin.reports.text.painleve import float_of, forces, in_words, number, spans, vector
from workbench.diagnostics.painleve import Painleve
from workbench.diagnostics.painleve_map import KINDS, RegimeMap
from workbench.mechanics.case import Case

COLOURS = dict(
    zip(KINDS, ["#2e7d43", "#9fcf9a", "#e9dfa0", "#c8553d", "#4c6a92", "#8c5fa8", "#2b2b2b", "#dddddd"], strict=True)
)


def render(
    p: Painleve, case: Case, given: Mapping[str, Any], provenance: dict[str, Any], regimes: RegimeMap | None = None
) -> str:
    """The whole page as text."""
    shown = [] if regimes is None else [map_figure(regimes, case, given)]
    template = environment().get_template("painleve.html.j2")
    return template.render(
        p=p, case=case, given=dict(given), provenance=provenance, words=in_words(p, regimes), figures=shown,
        sketch=drawing(case.sketch(), f"{case.name} at its start"), number=number, spans=spans, forces=forces,
        vector=vector, float_of=float_of, between=between, bounds=_bounds(p), **scripts(shown),
    )  # fmt: skip


def _bounds(p: Painleve) -> list[tuple[str, Any, list[float | None]]]:
    """Proposition 1 in both scalings, with what it guarantees along each line."""
    if p.proposition is None or p.proposition.plain is None:
        return []
    names = (("rows as they are", "plain"), ("rows balanced", "balanced"))
    return [(words, getattr(p.proposition, n), [getattr(x, n) for x in p.losses]) for words, n in names]


def map_figure(m: RegimeMap, case: Case, given: Mapping[str, Any]) -> Figure:
    """Regimes by colour, the certified critical friction as a line, the case itself as a point."""
    names = [name for name in KINDS if name in m.shares()]
    low, high = [float(axis.values[0]) for axis in (m.x, m.y)], [float(axis.values[-1]) for axis in (m.x, m.y)]
    x_scale, y_scale = (alt.Scale(domain=[a, b], nice=False, zero=False) for a, b in zip(low, high, strict=True))
    colour = alt.Color("kind:N", title=None, scale=alt.Scale(domain=names, range=[COLOURS[n] for n in names]))
    x = alt.X("x:Q", title=_title(m.x.name, case), scale=x_scale)
    y = alt.Y("y:Q", title=_title(m.y.name, case), scale=y_scale)
    cells = (
        alt.Chart(rectangles(m))
        .mark_rect(clip=True)
        .encode(x=x, x2="x2:Q", y=y, y2="y2:Q", color=colour, tooltip=["kind:N"])
    )
    layers: list[alt.Chart] = [cells]
    words = ""
    if m.critical is not None and np.isfinite(m.critical).any():
        pair = (m.x.values, m.critical) if m.friction == "y" else (m.critical, m.y.values)
        # Where there is no critical value the line has a gap.
        curve = pd.DataFrame({"x": pair[0], "y": pair[1]}).replace(np.inf, np.nan)
        order = "x:Q" if m.friction == "y" else "y:Q"
        line = alt.Chart(curve).mark_line(color="black", strokeWidth=1.6, clip=True)
        layers.append(line.encode(x=x, y=y, order=order))
        words = " The black line is the certified critical friction, up to which M_μ is a P-matrix from zero on."
    here = [_value(case, given, axis.name) for axis in (m.x, m.y)]
    if all(v is not None and a <= v <= b for v, a, b in zip(here, low, high, strict=True)):
        point = alt.Chart(pd.DataFrame({"x": [here[0]], "y": [here[1]]})).mark_point(
            color="white", fill="black", size=70, opacity=1
        )
        layers.append(point.encode(x=x, y=y))
        words += " The point is the state above."
    caption = (
        "Number of answers at each state, in floating point. Green is where M_μ is a P-matrix, dark green where "
        f"Proposition 1 of Blumentals, Brogliato & Bertails-Descoubes proves it.{words}"
    )
    chart = alt.layer(*layers).properties(width=WIDTH - 190, height=HEIGHT + 80)
    return Figure("map", f"Regimes over {m.x.name} and {m.y.name}", caption, chart)


def _value(case: Case, given: Mapping[str, Any], name: str) -> float | None:
    value = getattr(case, name, given.get(name))
    return None if value is None else float(value)


def _title(name: str, case: Case) -> str:
    units = {row[0]: row[2] for row in case.parameter_table()}
    return f"{name} [{units[name]}]" if name in units else name


def rectangles(m: RegimeMap) -> pd.DataFrame:
    """The cells, those of one kind above each other in one rectangle."""
    x, y = _edges(m.x.values), _edges(m.y.values)
    rows = []
    for i, column in enumerate(m.kind):
        starts = np.flatnonzero(np.r_[True, np.diff(column) != 0])
        for j, k in zip(starts, np.r_[starts[1:], len(column)], strict=True):
            # Drawn from left to right, each column hides what the one before overlaps: no seams between them.
            rows.append((x[i], x[i + 1] + 0.5 * (x[i + 1] - x[i]), y[j], y[k], KINDS[column[j]]))
    frame = pd.DataFrame(rows, columns=["x", "x2", "y", "y2", "kind"])
    for name in ("x", "x2", "y", "y2"):
        frame[name] = frame[name].map(lambda v: float(f"{v:.6g}"))
    return frame


def _edges(values: np.ndarray) -> np.ndarray:
    """Cell edges half way between values, the outer ones at the ends."""
    return np.r_[values[0], 0.5 * (values[1:] + values[:-1]), values[-1]]
