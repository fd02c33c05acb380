"""The comparison report: one HTML file that opens offline, readable without the code."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from reports.drawing import drawing
from reports.figures import figures
from reports.page import environment, scripts
from workbench.comparison import Comparison

Column = tuple[str, str, str, float, str]
"""Key in `runs`, heading, meaning, factor, format."""
COLUMNS: list[Column] = [
    ("friction_rmsd", "friction [%]", "RMS deviation of |p_t|/(μ p_n) from the reference", 100, "{:.4g}"),
    ("misalignment_rms", "misalign. [°]", "RMS angle between friction and −u_t, over steps that slide", 1, "{:.3g}"),
    ("position_error", "position [%]", "largest distance from the reference over its path length", 100, "{:.3g}"),
    ("energy_error", "energy [%]", "largest energy difference over the initial energy", 100, "{:.3g}"),
    ("discretisation_error", "discret. [%]", "exact Coulomb at this step against the reference", 100, "{:.3g}"),
    ("formulation_error", "formul. [%]", "formulation to round-off against exact Coulomb at this step", 100, "{:.3g}"),
    ("solver_error", "solver [%]", "this solver against the formulation to round-off", 100, "{:.2g}"),
    ("residual", "residual", "the problem's own, largest over the window", 1, "{:.0e}"),
]
EXACT = ("residual", "signorini", "cone", "dissipation", "natural_map")
"""Columns whose smallness is what they tell: printed as they are."""
UNDEFINED = "–"
ROUND_OFF = 1e-12
"""Errors below this share are printed as 0: they are round-off of the comparison itself."""


def cell(value: float, factor: float, form: str, exact: bool = False) -> str:
    """A number of the table; `UNDEFINED` where it is not defined."""
    if pd.isna(value):
        return UNDEFINED
    if not exact and abs(value) < ROUND_OFF:
        return "0"
    return form.format(factor * value)


def rows_of(runs: pd.DataFrame, columns: Sequence[Column] = COLUMNS) -> list[dict[str, Any]]:
    """Table rows of runs, formatted; `step_text` is empty without step sizes, `nothing` tells of no defined cell."""
    rows = []
    for record in runs.to_dict("records"):
        run = {str(key): value for key, value in record.items()}
        cells = [cell(run[key], factor, form, key in EXACT) for key, _, _, factor, form in columns]
        nothing = not run["verified"] and set(cells) == {UNDEFINED}
        step = f"{1e3 * run['step']:g} ms" if "step" in run else ""
        rows.append(run | {"cells": cells, "nothing": nothing, "step_text": step})
    return rows


def of_window(c: Comparison, window: str) -> pd.DataFrame:
    """The rows of one window."""
    return c.runs[c.runs["window"] == window]


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


def summary(c: Comparison) -> list[str]:
    """What the numbers say, in sentences made from the numbers."""
    window = next(iter(c.runs["window"]))
    rows = c.runs[c.runs["window"] == window]
    failed = [f"{r.label} by {r.solver}" for r in rows[~rows["verified"]].itertuples()]
    sentences = [
        f"{len(rows) - len(failed)} of {len(rows)} runs are verified: every step's own residual is within the stated "
        "tolerance." + (f" Not so: {', '.join(failed)}." if failed else "")
    ]
    for h in c.settings.steps:
        at = f"At {1e3 * h:g} ms, " if len(c.settings.steps) > 1 else ""
        sentences += [_capital(at + text) for text in (_ranking(rows[rows["step"] == h], window), _owed(c, h)) if text]
    return sentences


def _ranking(rows: pd.DataFrame, window: str) -> str:
    """Which formulation comes closest to Coulomb's friction and which stays farthest."""
    ranked = rows[rows["formulation"] != "coulomb"].dropna(subset=["friction_rmsd"]).drop_duplicates("label")
    if len(ranked) < 2 or ranked["friction_rmsd"].max() < ROUND_OFF:
        return ""
    ranked = ranked.sort_values("friction_rmsd")
    names, errors = ranked["label"].tolist(), ranked["friction_rmsd"].tolist()
    least, most = (cell(errors[i], 100, "{:.3g}") for i in (0, -1))
    return (
        f"in the window “{window}” the friction closest to Coulomb's is that of {names[0]} ({least} %), the farthest "
        f"that of {names[-1]} ({most} %)."
    )


def _owed(c: Comparison, h: float) -> str:
    """Which formulations' error over the whole run is mostly the step size's."""
    whole = c.runs[(c.runs["window"] == "all") & (c.runs["step"] == h) & (c.runs["formulation"] != "coulomb")]
    owed = whole[
        (whole["discretisation_error"] > whole["formulation_error"]) & (whole["discretisation_error"] > ROUND_OFF)
    ].drop_duplicates("label")
    if owed.empty:
        return ""
    own = 100 * owed["discretisation_error"].iloc[0]
    return (
        f"over the whole run the deviation of {', '.join(owed['label'])} owes more to the step size than to the model: "
        f"exact Coulomb friction at the same step deviates by {own:.3g} % itself."
    )


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
