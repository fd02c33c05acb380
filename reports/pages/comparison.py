"""The comparison report: one HTML file that opens offline, readable without the code."""

from typing import Any

import pandas as pd

from workbench.builtin.reports.figures.comparison import figures
from workbench.builtin.reports.figures.drawing import drawing
from workbench.builtin.reports.pages.page import environment, scripts
from workbench.builtin.reports.text.comparison import COLUMNS, of_window, rows_of, summary
from workbench.comparison.cases import Comparison


def render(c: Comparison, provenance: dict[str, Any]) -> str:
    """The whole page as text."""
    shown = figures(c)
    tables = []
    for window in dict.fromkeys(c.runs["window"]):
        rows = rows_of(of_window(c, window))
        title = f"Window “{window}”: {rows[0]['window_start']:g} s ≤ t < {rows[0]['window_end']:g} s"
        tables.append({"title": title, "rows": rows, "columns": COLUMNS, "clipped": rows[0]["clipped"]})
    return (
        environment()
        .get_template("comparison.html.j2")
        .render(
            c=c,
            name=c.case.name,
            provenance=provenance,
            tables=tables,
            undefined="no friction, or nothing slides",
            figures=shown,
            verdicts=_verdicts(c.diagnostics),
            summary=summary(c),
            sketch=drawing(c.case.sketch(), f"{c.case.name} at its start"),
            **scripts(shown),
        )
    )


def _verdicts(diagnostics: pd.DataFrame) -> list[dict[str, Any]]:
    """One row per formulation and step, a column per quantity."""
    if diagnostics.empty:
        return []
    rows = []
    for label, by_label in diagnostics.groupby("label", sort=False):
        for h in by_label["step"].unique():
            cells = by_label[by_label["step"] == h].to_dict("records")
            rows.append({"formulation": label, "step": f"{1e3 * h:g} ms", "cells": cells})
    return rows
