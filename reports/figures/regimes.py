"""The map of regimes: which of the four a state is in, by colour and by name; where M_mu is P, by outlines."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from workbench.builtin.reports.figures.charts import HEIGHT, WIDTH, Figure
from workbench.diagnostics.painleve_map import NAMES, SLIP, MapAxis, RegimeMap
from workbench.diagnostics.sliding_regime import REGIMES
from workbench.mechanics.case import Case

COLOURS = {
    "sliding": "#7ab8dd", "lift-off": "#f6e27a", "indeterminate": "#d9661f", "inconsistent": "#4b2a7b",
    "undecided": "#000000", "no sliding state": "#ffffff", "out of time": "#b4b4b4",
}  # fmt: skip
"""Colours that differ in hue for all kinds of colour vision, and in lightness, so that they also differ in grey."""
DARK = ("inconsistent", "undecided")
ROOM = 0.05
"""Share of the map's width and height that a region must leave around its name."""
ANSWERS = {-1: "unknown", 0: "none", 1: "one", 2: "two"}


def map_figure(m: RegimeMap, case: Case, given: Mapping[str, Any]) -> Figure:
    """Regimes by colour and name, the certified critical friction as a line, the case itself as a point."""
    names = [name for name in NAMES if name in REGIMES or name in m.shares()]
    ends = [(float(a.values[0]), float(a.values[-1])) for a in (m.x, m.y)]
    scales = (alt.Scale(domain=list(end), nice=False, zero=False) for end in ends)
    x = alt.X("x:Q", title=axis_title(m.x.name, case), scale=next(scales))
    y = alt.Y("y:Q", title=axis_title(m.y.name, case), scale=next(scales))
    colour = alt.Color(
        "regime:N", title=None, scale=alt.Scale(domain=names, range=[COLOURS[n] for n in names]),
        legend=alt.Legend(symbolType="square", symbolSize=220, symbolStrokeColor="#777", symbolStrokeWidth=1),
    )  # fmt: skip
    cells = (
        alt.Chart(rectangles(m))
        .mark_rect(clip=True)
        .encode(x=x, x2="x2:Q", y=y, y2="y2:Q", color=colour, tooltip=["regime:N", "answers:N", "p_matrix:N"])
    )
    layers: list[alt.Chart] = [cells]
    words = []
    in_sight = m.critical is not None and m.critical <= ends[m.friction == "y"][1]
    if m.critical is not None and np.any(in_sight):
        pair = (m.x.values, m.critical) if m.friction == "y" else (m.critical, m.y.values)
        # Where there is no critical value the line has a gap.
        curve = pd.DataFrame({"x": pair[0], "y": pair[1]}).replace(np.inf, np.nan)
        order = "x:Q" if m.friction == "y" else "y:Q"
        line = alt.Chart(curve).mark_line(color="black", strokeWidth=1.8, clip=True)
        layers.append(line.encode(x=x, y=y, order=order))
        words.append("Solid line: certified critical friction, below which M_μ is a P-matrix.")
    elif m.cells.p_matrix.any() and not m.cells.p_matrix.all():
        layers.append(_outline(m, m.cells.p_matrix, [1, 0]).encode(x=x, x2="x2:Q", y=y, y2="y2:Q"))
        words.append("Solid line: boundary of the P-matrix region of M_μ, in floating point.")
    proved = m.cells.proposition_1
    # Where it proves all there is to prove, one line says so.
    if proved.any() and not proved.all() and not np.array_equal(proved, m.cells.p_matrix):
        layers.append(_outline(m, proved, [4, 3]).encode(x=x, x2="x2:Q", y=y, y2="y2:Q"))
        words.append("Dashed line: where Proposition 1 of Blumentals, Brogliato & Bertails-Descoubes proves it.")
    here = [_value(case, given, a.name) for a in (m.x, m.y)]
    for dark in (False, True):
        at = _name_places(m, dark, here)
        if len(at):
            shown = alt.Chart(at).mark_text(color="white" if dark else "black", fontSize=13, fontWeight="bold")
            layers.append(shown.encode(x=x, y=y, text="regime:N"))
    if all(v is not None and a <= v <= b for v, (a, b) in zip(here, ends, strict=True)):
        point = alt.Chart(pd.DataFrame({"x": [here[0]], "y": [here[1]]})).mark_point(
            color="white", fill="black", size=80, opacity=1
        )
        layers.append(point.encode(x=x, y=y))
        words.append("Point: the state of this page.")
    caption = " ".join([
        "Regime of each state, in floating point. Sliding and lift-off: one solution; indeterminate: several; "
        "inconsistent: none.", *words,
    ])  # fmt: skip
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT + 80)
    return Figure("map", f"Regimes over {m.x.name} and {m.y.name}", caption, chart)


def rectangles(m: RegimeMap) -> pd.DataFrame:
    """The cells, those alike above each other in one rectangle: x, x2, y, y2, regime, answers, p_matrix."""
    x, y = _edges(m.x), _edges(m.y)
    c = m.cells
    alike = (c.regime * (2 + c.answers.max()) + c.answers) * 2 + c.p_matrix
    rows = []
    for i, column in enumerate(alike):
        starts = np.flatnonzero(np.r_[True, np.diff(column) != 0])
        for j, k in pairwise([*starts, len(column)]):
            # Drawn from left to right, each column hides what the one before overlaps: no seams between them.
            words = (NAMES[c.regime[i, j]], ANSWERS.get(c.answers[i, j], str(c.answers[i, j])), bool(c.p_matrix[i, j]))
            rows.append((x[i], x[i + 1] + 0.5 * (x[i + 1] - x[i]), y[j], y[k], *words))
    return _rounded(pd.DataFrame(rows, columns=["x", "x2", "y", "y2", "regime", "answers", "p_matrix"]))


def _outline(m: RegimeMap, inside: NDArray[np.bool_], dash: list[int]) -> alt.Chart:
    """The edges between cells inside and outside, each run of them one stroke."""
    x, y = _edges(m.x), _edges(m.y)
    rows = []
    for i in np.flatnonzero((inside[1:] != inside[:-1]).any(axis=1)):
        rows += [(x[i + 1], x[i + 1], y[j], y[k]) for j, k in _runs(inside[i] != inside[i + 1])]
    for j in np.flatnonzero((inside[:, 1:] != inside[:, :-1]).any(axis=0)):
        rows += [(x[i], x[k], y[j + 1], y[j + 1]) for i, k in _runs(inside[:, j] != inside[:, j + 1])]
    edges = _rounded(pd.DataFrame(rows, columns=["x", "x2", "y", "y2"]))
    return alt.Chart(edges).mark_rule(color="black", strokeWidth=1.4, strokeDash=dash)


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and one past the last of each run of true values."""
    ends = np.flatnonzero(np.diff(np.r_[False, flags, False]))
    return list(zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True))


def _name_places(m: RegimeMap, dark: bool, here: list[float | None]) -> pd.DataFrame:
    """Positions of regime names, where there is most room, off the point `here`; none where a name does not fit."""
    rows = []
    free = np.ones(m.cells.regime.shape, dtype=bool)
    if here[0] is not None and here[1] is not None:
        free[np.abs(m.x.values - here[0]).argmin(), np.abs(m.y.values - here[1]).argmin()] = False
    for k, name in enumerate(NAMES):
        if (name in DARK) != dark:
            continue
        # Depth within the region as a share of the map.
        inside = np.pad((m.cells.regime == k) & free, 1)
        depth = distance_transform_edt(inside, sampling=[1 / m.x.values.size, 1 / m.y.values.size])[1:-1, 1:-1]
        i, j = np.unravel_index(depth.argmax(), depth.shape)
        if depth[i, j] > ROOM:
            rows.append((m.x.values[i], m.y.values[j], name))
    return pd.DataFrame(rows, columns=["x", "y", "regime"])


def _rounded(frame: pd.DataFrame) -> pd.DataFrame:
    for name in ("x", "x2", "y", "y2"):
        frame[name] = frame[name].map(lambda v: float(f"{v:.6g}"))
    return frame


def _edges(a: MapAxis) -> np.ndarray:
    """Cell edges half way between values, the outer ones at the ends."""
    return np.r_[a.values[0], 0.5 * (a.values[1:] + a.values[:-1]), a.values[-1]]


def _value(case: Case, given: Mapping[str, Any], name: str) -> float | None:
    value = getattr(case, name, given.get(name))
    return None if value is None else float(value)


def axis_title(name: str, case: Case) -> str:
    """A parameter, or `SLIP`, with its unit."""
    units = {row[0]: row[2] for row in case.parameter_table()} | {SLIP: "°"}
    return f"{name} [{units[name]}]" if name in units else name
