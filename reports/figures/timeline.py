"""Figure of contacts over time: for each contact the reference's bars, and below them a formulation's."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from workbench.builtin.reports.figures.charts import Figure, now, short
from workbench.builtin.reports.figures.styles import MODE_COLOURS
from workbench.comparison.columns import SLIDING, STICKING
from workbench.comparison.result import Comparison
from workbench.comparison.timeline import (
    KINDS,
    contact_name,
    covered,
    exact_and_runs,
    names_in,
    otherwise,
    rows_by_contact,
    until,
)

MOST_PAIRS = 12
"""Contacts that the page shows, those with most normal impulse in the reference; timeline.csv has all."""
WIDTH, ROW = 760, 18
"""Width of the plot, and height of a run's bar [px]."""
MOMENTS, MOST_BARS = 380, 8000
"""Parts of the time in which bars are drawn, each two pixels wide; fewer where there are more bars than that."""
HEIGHTS = {STICKING: 12, SLIDING: 5}
"""Height of a bar where a contact sticks and where it slides [px]: colours alone are not for everybody."""
REFERENCE = "reference"


def main_contacts(c: Comparison) -> list[tuple[Any, ...]]:
    """The contacts that press: of a scene those first whose normal impulse in the reference is largest, of a case in
    their order."""
    exact, runs = exact_and_runs(c)
    every = pd.concat([exact, *(rows.assign(impulse=0.0) for rows in runs.values())])
    impulse = every.groupby(names_in(every), sort=False)["impulse"].sum().sort_values(ascending=False, kind="stable")
    if c.case is not None:
        return [(i,) for i in sorted(impulse.index)]
    return [(str(body), str(other)) for body, other in impulse.index]


def timeline_figure(c: Comparison) -> list[Figure]:
    """Plot the contact modes as bars over time, a panel for each contact; none without contact."""
    exact, runs = exact_and_runs(c)
    runs = {label: rows for label, rows in runs.items() if label != "coulomb"} or runs
    if c.timeline.empty or not runs:
        return []
    contacts, end = main_contacts(c), until(c)
    shown = contacts[:MOST_PAIRS]
    own = {REFERENCE: rows_by_contact(exact)} | {label: rows_by_contact(rows) for label, rows in runs.items()}
    moments, bars = MOMENTS, _bars(own, shown, end, MOMENTS)
    while len(bars) > MOST_BARS:
        moments //= 2
        bars = _bars(own, shown, end, moments)
    left = len(contacts) - len(shown)
    many = f" Shown are the first {MOST_PAIRS} contacts;" if c.scene is None else (
        f" Shown are the {MOST_PAIRS} pairs with the largest normal impulse;"
    )  # fmt: skip
    more = f"{many} {left} more are in timeline.csv." if left else ""
    v_th = c.scene.v_th if c.scene else c.case.v_th if c.case else np.nan
    caption = (
        f"Contact modes against time. Thick, blue: sticking. Thin, red: sliding faster than the stick threshold of "
        f"{v_th:g} m/s. Empty: {'no contact force' if c.scene else 'open'}. Upper bar: reference; lower bar: the "
        f"formulation chosen. Contacts shorter than {1e3 * end / moments:.2g} ms are drawn that long.{more}"
    )
    return [
        Figure("timeline", "Contacts over time", caption, _chart(bars, shown, list(runs), _telling(exact, runs), end))
    ]


def _telling(exact: pd.DataFrame, runs: dict[str, pd.DataFrame]) -> str:
    """Return the label of the run whose contact modes differ longest from the reference's."""
    lasts = {label: sum(x[kind] for x in otherwise(rows, exact) for kind in KINDS)
             for label, rows in runs.items()}  # fmt: skip
    return max(lasts, key=lasts.__getitem__)


def _bars(
    own: dict[str, dict[tuple[Any, ...], pd.DataFrame]], contacts: list[tuple[Any, ...]], end: float, moments: int
) -> pd.DataFrame:
    edges = np.linspace(0.0, end, moments + 1)
    rows: list[dict[str, Any]] = []
    for contact in contacts:
        for label, found in own.items():
            if contact not in found:
                continue
            stuck, slid = (
                np.diff(covered(found[contact][found[contact]["mode"] == mode], edges)) for mode in (STICKING, SLIDING)
            )
            # What lasts longer, where there is any; what is below is rounding of the sums.
            mode = np.where(np.maximum(stuck, slid) < 1e-6 * edges[1], "", np.where(slid > stuck, SLIDING, STICKING))
            begins = np.flatnonzero(np.append(True, mode[1:] != mode[:-1]))
            ends = np.append(begins[1:], moments)
            rows += [
                {"pair": contact_name(contact), "label": label, "mode": str(mode[a]), "from": short(edges[a]),
                 "to": short(edges[b])}
                for a, b in zip(begins, ends, strict=True) if mode[a]
            ]  # fmt: skip
    return pd.DataFrame(rows)


def _chart(bars: pd.DataFrame, contacts: list[tuple[Any, ...]], labels: list[str], chosen: str, end: float) -> Any:
    picked = alt.param("formulation", value=chosen, bind=alt.binding_select(options=labels, name="Formulation "))
    colour = alt.Scale(domain=list(HEIGHTS), range=[MODE_COLOURS[x] for x in HEIGHTS])
    legend = alt.Legend(orient="top", symbolType="square", symbolSize=120, symbolStrokeWidth=0)
    on_x = alt.Scale(domain=[0.0, short(end)], nice=False)
    shown = alt.Chart(bars).transform_filter(f"datum.label === '{REFERENCE}' || datum.label === formulation")
    shown = shown.encode(
        x=alt.X("from:Q", title="time [s]", scale=on_x, axis=alt.Axis(tickCount=6)),
        x2="to:Q",
        y=alt.Y("label:N", title=None, sort=[REFERENCE, *labels]),
        color=alt.Color("mode:N", scale=colour, title=None, legend=legend),
        tooltip=["pair:N", "label:N", "mode:N", "from:Q", "to:Q"],
    )
    layers = [shown.transform_filter(alt.datum.mode == x).mark_bar(size=size) for x, size in HEIGHTS.items()]
    plot = alt.layer(*layers, now(bars, "pair"), data=bars).properties(width=WIDTH, height=alt.Step(ROW))
    header = alt.Header(title=None, labelAnchor="start", labelOrient="top", labelPadding=2)
    names = [contact_name(x) for x in contacts]
    return plot.facet(facet=alt.Facet("pair:N", title=None, sort=names, header=header), columns=1).add_params(picked)
