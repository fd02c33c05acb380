"""The page of a result that is words and tables."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from workbench.builtin.reports.pages.page import environment, scripts
from workbench.builtin.reports.text.comparison import UNDEFINED

if TYPE_CHECKING:
    from workbench.builtin.reports.figures.charts import Figure

MOST_ROWS = 1000
"""Rows of a table that the page shows; the saved files have them all."""


def render(
    title: str, words: Sequence[str], frames: Mapping[str, pd.DataFrame], provenance: dict[str, Any],
    figures: Sequence["Figure"] = (),
) -> str:  # fmt: skip
    """The whole page as text: sentences, figures, and every table with the units and meanings of its columns."""
    tables = [
        {
            "name": name,
            "columns": list(frame.columns),
            "texts": [c for c in frame.columns if not pd.api.types.is_numeric_dtype(frame[c])],
            "rows": [
                list(zip(frame.columns, map(_shown, row), strict=True))
                for row in frame.head(MOST_ROWS).itertuples(index=False)
            ],
            "left": max(0, len(frame) - MOST_ROWS),
            "meanings": frame.attrs.get("columns", {}),
        }
        for name, frame in ((name, _without_empty(frame)) for name, frame in frames.items())
    ]
    return environment().get_template("result.html.j2").render(
        title=title, words=words, tables=tables, provenance=provenance, figures=figures,
        **(scripts(figures) if figures else {}),
    )  # fmt: skip


def _without_empty(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame without columns that are empty throughout, such as reasons where nothing failed."""
    return frame.loc[:, [not len(frame) or not (frame[c].isna() | (frame[c] == "")).all() for c in frame]]


def _shown(x: Any) -> str:
    if not isinstance(x, float):
        return str(x)
    return UNDEFINED if math.isnan(x) else f"{x:.6g}"
