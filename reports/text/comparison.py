"""What a comparison says: the columns and cells of its tables, and sentences made from its numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from workbench.comparison.columns import RUNS, SHOWN, Column
from workbench.comparison.failure import NOBODY
from workbench.comparison.problem_step import MODES
from workbench.comparison.result import Comparison

RESIDUAL, *OTHERS = (column for column in RUNS if column.heading)
UNDEFINED = "–"
ROUND_OFF = 1e-12
"""Errors below this share are printed as 0: they are round-off of the comparison itself."""


def error_columns(c: Comparison) -> list[Column]:
    """The metrics that are errors, without those that are not defined in any row."""
    return _defined(c, [m.column for m in c.metrics if m.column.shown not in ("small", "count")])


def judged_columns(c: Comparison) -> list[Column]:
    """Residuals, counts of contacts, and what the answers cost."""
    law = [m.column for m in c.metrics if m.column.shown in ("small", "count")]
    return _defined(c, [RESIDUAL, *law, *OTHERS])


def _defined(c: Comparison, columns: Sequence[Column]) -> list[Column]:
    return [column for column in columns if c.runs[column.name].notna().any()]


def cell(value: float, column: Column) -> str:
    """A number of the table; `UNDEFINED` where it is not defined."""
    factor, form, _ = SHOWN[column.shown]
    if pd.isna(value):
        return UNDEFINED
    if column.shown != "small" and abs(value) < ROUND_OFF:
        return "0"
    return form.format(factor * value)


def rows_of(runs: pd.DataFrame, columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Table rows of runs, formatted; `step_text` is empty without step sizes, `nothing` tells of no defined cell."""
    rows = []
    for record in runs.to_dict("records"):
        run = {str(key): value for key, value in record.items()}
        cells = [cell(run[column.name], column) for column in columns]
        nothing = not run["verified"] and set(cells) <= {UNDEFINED}
        step = f"{1e3 * run['step']:g} ms" if "step" in run else ""
        rows.append(run | {"cells": cells, "nothing": nothing, "step_text": step, "why_not": why_not(run)})
    return rows


def who(row: Mapping[Any, Any]) -> str:
    """The row by its formulation and, where one was reached, solver."""
    return row["label"] if row["solver"] == NOBODY else f"{row['label']} by {row['solver']}"


def why_not(row: Mapping[Any, Any]) -> str:
    """Why the row is not verified, if it is not."""
    if row["verified"]:
        return ""
    return row["reason"] or f"residual {row['residual']:.1e} above {row['tolerance']:.0e}"


def summary(c: Comparison) -> list[str]:
    """What the numbers say, in sentences made from the numbers."""
    window, rows = next(iter(c.windows.items()))
    wrong = [who(r) for r in rows[~rows["verified"]].to_dict("records")]
    what = (
        "rows are verified by the posed problem's own residual." if c.case is None
        else "runs are verified: every step's own residual is within the stated tolerance."
    )  # fmt: skip
    counted = f"{len(rows) - len(wrong)} of {len(rows)} {what}" + (f" Not so: {', '.join(wrong)}." if wrong else "")
    others = rows[rows["verified"] & (rows["formulation"] != "coulomb")]
    if c.case is None:
        found = [_ranking(c, others, "formulation_error", "the velocity"), _same_modes(others)]
        return [counted, *filter(None, found)]
    sentences = [counted]
    for h in c.settings.steps:
        at = f"at {1e3 * h:g} ms, " if len(c.settings.steps) > 1 else ""
        what = f"{at}in the window “{window}” the friction"
        ranking = _ranking(c, others[others["step"] == h], "friction_rmsd", what)
        sentences += filter(None, (ranking, _mostly_discretisation(c, h, at)))
    return sentences


def _ranking(c: Comparison, rows: pd.DataFrame, name: str, what: str) -> str:
    """Which formulations come closest to exact Coulomb friction, and which stay farthest, to three digits."""
    column = next((m.column for m in c.metrics if m.column.name == name), None)
    if column is None:
        return ""
    ranked = rows.dropna(subset=[name]).drop_duplicates("label").sort_values(name, kind="stable")
    if len(ranked) < 2 or ranked[name].max() < ROUND_OFF:
        return ""
    shown = ranked[name].map(lambda error: cell(error, column))
    closest, farthest = (
        f"{', '.join(ranked['label'][shown == end])} ({end} %)" for end in (shown.iloc[0], shown.iloc[-1])
    )
    return _capital(f"{what} closest to Coulomb's is that of {closest}, the farthest that of {farthest}.")


def _same_modes(rows: pd.DataFrame) -> str:
    """Under which formulations contacts do what they do in the exact solution."""
    if "other_mode" not in rows or len(rows["label"].unique()) < 2:
        return ""
    agreed = rows["label"][rows["other_mode"] == 0].unique()
    if not len(agreed):
        return "No other formulation has every contact open, slide or stick as in the exact solution."
    return f"Every contact opens, slides or sticks as in the exact solution under {', '.join(agreed)}."


def _mostly_discretisation(c: Comparison, h: float, at: str) -> str:
    """Which formulations' error over the whole run is mostly the step size's."""
    if not {"discretisation_error", "formulation_error"} <= set(c.runs):
        return ""
    whole = c.runs[(c.runs["window"] == "all") & (c.runs["step"] == h) & (c.runs["formulation"] != "coulomb")]
    stepwise = whole[
        (whole["discretisation_error"] > whole["formulation_error"]) & (whole["discretisation_error"] > ROUND_OFF)
    ].drop_duplicates("label")
    if stepwise.empty:
        return ""
    own = 100 * stepwise["discretisation_error"].iloc[0]
    return _capital(
        f"{at}over the whole run the deviation of {', '.join(stepwise['label'])} comes more from the step size than "
        f"from the model: exact Coulomb friction at the same step deviates by {own:.3g} % itself."
    )


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def facts_in_words(c: Comparison) -> str:
    """The problem in a sentence."""
    f = c.facts
    friction = f"{f['mu_min']:g}" if f["mu_min"] == f["mu_max"] else f"{f['mu_min']:g} to {f['mu_max']:g}"
    symmetric = "symmetric" if f["symmetric"] else f"relative asymmetry {f['asymmetry']:.1e}"
    where = "space" if f["dimension"] == 3 else "the plane"
    return (
        f"{f['contacts']} contact{'s' if f['contacts'] > 1 else ''} in {where}, "
        f"W {f['size']} × {f['size']} of rank {f['rank']}, {symmetric}, condition {f['condition'] or np.nan:.3g} on "
        f"its range, μ {friction}"
    )


def known_in_words(c: Comparison) -> list[str]:
    """What is known of the exact solution, in sentences."""
    k, contacts = c.known, c.facts["contacts"]
    modes = ", ".join(f"{k[mode]} {mode}" for mode in MODES)
    sentences = []
    if k["moved"] is not None:
        sentences.append(
            "This is the symmetric part (W + Wᵀ)/2 of the file's W; taking it moves the exact velocity by "
            f"{k['moved']:.1e} |q|."
        )
    elif not c.facts["symmetric"]:
        sentences.append(
            "W is not symmetric, and most formulations are stated over bodies, whose W is: --symmetric-part compares "
            "them on (W + Wᵀ)/2."
        )
    sentences += [f"Exact Coulomb friction (natural map {k['residual']:.0e}): {modes}."]
    if k["null_space"] == 0:
        sentences.append("Impulses: W has full rank, so the velocity determines all of them, under every formulation.")
    else:
        only = f"only the {k['comparable']} others" if k["comparable"] else "none"
        exact = (
            f"the exact ones with this velocity and these modes form a set of dimension {k['dimension']}"
            if k["dimension"] else "the exact ones are determined by the velocity and the modes"
        )  # fmt: skip
        sentences.append(
            f"Impulses: W is singular (null space of dimension {k['null_space']}), so the velocity leaves those of "
            f"{contacts - k['comparable']} of {contacts} contacts open; {exact}. Velocities are compared; of impulses "
            f"{only}."
        )
    return [
        *sentences,
        f"Velocity: {k['velocity']}{' to be the only one' * (k['velocity'] == 'not known')}; {k['reason']}.",
    ]
