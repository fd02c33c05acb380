"""The page of a flow of grains: the answer, its figures, and every run."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from workbench.builtin.reports.figures.flow import figures
from workbench.builtin.reports.pages.page import environment, scripts
from workbench.comparison.scenes.flow import Flow

LEFT_OUT = ("finished", "reason", "steps")


def render(title: str, words: Sequence[str], flow: Flow, provenance: dict[str, Any]) -> str:
    """The whole page as text."""
    shown = figures(flow)
    columns = [c for c in flow.rows.columns if c not in LEFT_OUT]
    rows = [[_cell(r[c]) for c in columns] for r in flow.rows.to_dict("records")]
    return environment().get_template("flow.html.j2").render(
        title=title, words=words, case=flow.case, figures=shown, columns=columns, rows=rows,
        about=flow.rows.attrs["columns"], provenance=provenance, **scripts(shown),
    )  # fmt: skip


def _cell(x: Any) -> str:
    if isinstance(x, float):
        return "–" if pd.isna(x) else f"{x:.3g}"
    return str(x)
