"""What a comparison says: the cells of its table, and sentences made from its numbers."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from workbench.comparison.cases import Comparison

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
        sentences += [
            _capital(at + text)
            for text in (_ranking(rows[rows["step"] == h], window), _mostly_discretisation(c, h))
            if text
        ]
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


def _mostly_discretisation(c: Comparison, h: float) -> str:
    """Which formulations' error over the whole run is mostly the step size's."""
    whole = c.runs[(c.runs["window"] == "all") & (c.runs["step"] == h) & (c.runs["formulation"] != "coulomb")]
    stepwise = whole[
        (whole["discretisation_error"] > whole["formulation_error"]) & (whole["discretisation_error"] > ROUND_OFF)
    ].drop_duplicates("label")
    if stepwise.empty:
        return ""
    own = 100 * stepwise["discretisation_error"].iloc[0]
    return (
        f"over the whole run the deviation of {', '.join(stepwise['label'])} comes more from the step size than "
        f"from the model: exact Coulomb friction at the same step deviates by {own:.3g} % itself."
    )


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
