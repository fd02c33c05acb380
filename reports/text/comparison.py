"""The tables of a comparison: columns, cells and rows, and facts on a problem from a file."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from workbench.comparison.columns import MODES, RUNS, SHOWN, Column
from workbench.comparison.failure import NOBODY
from workbench.comparison.result import Comparison
from workbench.mechanics.law import COULOMB

RESIDUAL, *OTHERS = (column for column in RUNS if column.heading)
UNDEFINED = "–"
OF_IMPULSES = {"friction_error", "friction_rmsd", "misalignment_rms", "impulse_error"}
"""Columns about impulses of single contacts, which redundant contacts leave open."""
OF_ANSWERS = {"determined"}
"""Relative quantities that are not errors, listed with the judge's residuals."""
SMALL = 1e-3
"""Numbers below this, in the unit of their column, are printed by their order of magnitude."""
ROUND_OFF = 1e-12
"""Errors below this share are printed as 0: they are round-off of the comparison itself."""


def error_columns(c: Comparison) -> list[Column]:
    """The metrics that are shares or angles, if defined in any row; the budget's parts apart.

    Of those that redundant contacts leave open everywhere the first says so, for all.
    """
    if c.scene:
        return _defined(c, [m.column for m in c.metrics if m.parts or m.column.shown == "percent"])
    own = [m.column for m in c.metrics if m.column.shown in ("percent", "degrees", "milliseconds")]
    own = [x for x in own if x.name not in OF_ANSWERS]
    opened = [x for x in own if not c.runs[x.name].notna().any() and _free(c.runs, x).any()]
    return [x for x in own if c.runs[x.name].notna().any() or x in opened[:1]]


def symptom_columns(c: Comparison) -> list[Column]:
    """Columns of visible effects, in SI units, and user-defined metrics with a unit."""
    if c.scene:
        return _defined(c, [m.column for m in c.metrics if not m.parts and m.column.shown != "percent"])
    return _defined(c, [m.column for m in c.metrics if m.column.shown == "number"])


def budget_columns(c: Comparison) -> list[list[Column]]:
    """Return for every distance the columns of its error budget, the total and its parts, that are defined."""
    found = [_defined(c, m.columns) for m in c.metrics if m.parts]
    return [columns for columns in found if len(columns) > 1]


def _free(runs: pd.DataFrame, column: Column) -> pd.Series:
    """Return the number of redundant impulse directions in rows where it leaves the column undefined; 0 otherwise."""
    if column.name not in OF_IMPULSES or "free_directions" not in runs:
        return pd.Series(0.0, runs.index)
    return runs["free_directions"].where(runs[column.name].isna(), 0.0).fillna(0.0)


def judged_columns(c: Comparison) -> list[Column]:
    """Columns of residuals, counts of contacts, and costs."""
    law = [m.column for m in c.metrics if m.column.shown in ("small", "count") or m.column.name in OF_ANSWERS]
    return _defined(c, [RESIDUAL, *law, *OTHERS])


def held_against(c: Comparison) -> str:
    """The laws that the judge holds the answers against: Coulomb's, and those that formulations name themselves."""
    words = "Residuals and cost"
    if "law" not in c.runs:
        return words
    own = c.runs[~c.runs["law"].isin(["", COULOMB.name])].drop_duplicates("label")
    named = [f"{label} ({law})" for label, law in zip(own["label"], own["law"], strict=True)]
    return f"{words}, with residuals of other laws: {', '.join(named)}" if named else words


def _defined(c: Comparison, columns: Sequence[Column]) -> list[Column]:
    return [column for column in columns if column.name in c.runs and c.runs[column.name].notna().any()]


def cell(value: float, column: Column) -> str:
    """A number of the table; `UNDEFINED` where it is not defined."""
    factor, form, _ = SHOWN[column.shown]
    if pd.isna(value):
        return UNDEFINED
    if value == 0 or (column.shown != "small" and abs(value) < ROUND_OFF):
        return "0"
    return ("{:.0e}" if 0 < abs(factor * value) < SMALL else form).format(factor * value)


def rows_of(runs: pd.DataFrame, columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Table rows of runs, formatted; `step_text` is empty without step sizes, `nothing` tells of no whole answer.

    "n/u (k)" is in a cell where impulses are not unique, with k redundant directions. Of a sample the
    number of its steps stands behind the solver.
    """
    free = {column.name: _free(runs, column).to_list() for column in columns}
    rows = []
    for i, record in enumerate(runs.to_dict("records")):
        run = {str(key): value for key, value in record.items()}
        cells = [
            f"n/u ({free[x.name][i]:.0f})" if free[x.name][i] else cell(run[x.name], x) for x in columns
        ]  # fmt: skip
        nothing = not run["verified"] and bool(pd.isna(run["residual"]))
        if run.get("sampled"):
            run["solver"] += f", {run['steps']} steps"
        step = f"{1e3 * run['step']:g} ms" if "step" in run else ""
        rows.append(run | {"cells": cells, "nothing": nothing, "step_text": step, "why_not": why_not(run)})
    return rows


def who(row: Mapping[Any, Any]) -> str:
    """The row by its formulation and, where one was reached, solver."""
    return row["label"] if row["solver"] == NOBODY else f"{row['label']} by {row['solver']}"


def why_not(row: Mapping[Any, Any]) -> str:
    """Return why a row is not verified, if it is not."""
    if row["verified"]:
        return ""
    return row["reason"] or f"residual {row['residual']:.1e} above {row['tolerance']:.0e}"


def facts_in_words(c: Comparison) -> str:
    """The problem in a sentence."""
    f = c.facts
    friction = f"{f['mu_min']:g}" if f["mu_min"] == f["mu_max"] else f"{f['mu_min']:g} to {f['mu_max']:g}"
    symmetric = "symmetric" if f["symmetric"] else f"relative asymmetry {f['asymmetry']:.1e}"
    where = "space" if f["dimension"] == 3 else "the plane"
    return (
        f"{f['contacts']} contact{'s' if f['contacts'] > 1 else ''} in {where}, "
        f"W {f['size']} × {f['size']} of rank {f['rank']}, {symmetric}, condition {f['condition'] or np.nan:.3g} on "
        f"its range, μ = {friction}"
    )


def changed(c: Comparison) -> float:
    """Return the velocity change by the contact impulses of a problem's exact solution, as a share of |q|."""
    reference = c.trajectories[c.trajectories["role"] == "reference"]
    u = reference[[x for x in ("u_n", "u_t1", "u_t2") if x in reference]].to_numpy()
    return float(np.linalg.norm(u.ravel() - c.problem.q) / (np.linalg.norm(c.problem.q) or 1.0))  # type: ignore[union-attr]


def known_in_words(c: Comparison) -> list[str]:
    """Return sentences on the exact solution."""
    k, contacts = c.known, c.facts["contacts"]
    modes = ", ".join(f"{k[mode]} {mode}" for mode in MODES)
    sentences = []
    if k["nearest"]:
        sentences.append(_nearest_in_words(k["nearest"]))
    sentences += [f"Coulomb's law (natural-map residual {k['residual']:.0e}): {modes}."]
    if k["null_space"] == 0:
        sentences.append("Impulses: W has full rank, so the velocity determines all of them under every formulation.")
    else:
        only = f"at the {k['comparable']} others" if k["comparable"] else "at none"
        exact = (
            f"the exact impulses with this velocity and these modes form a set of dimension {k['dimension']}"
            if k["dimension"] else "the velocity and the modes determine the exact impulses"
        )  # fmt: skip
        sentences.append(
            f"Impulses: W is singular (null space of dimension {k['null_space']}), so the velocity does not determine "
            f"those of {contacts - k['comparable']} of {contacts} contacts; {exact}. Velocities are compared at all "
            f"contacts, impulses {only}."
        )
    return [
        *sentences,
        f"Velocity: {k['velocity']}{' to be unique' * (k['velocity'] == 'not known')}; {k['reason']}.",
    ]


def _nearest_in_words(n: Mapping[str, Any]) -> str:
    """Return a sentence on how a W that no bodies can have was changed."""
    moves = "is not solved exactly" if n["moved"] is None else f"moves the exact velocity by {n['moved']:.1e} |q|"
    given = f"The file's W is not symmetric positive semidefinite ({n['what']}), unlike that of rigid bodies."
    if n["taken"]:
        return (
            f"{given} All rows, including exact Coulomb friction, use the nearest W that is, which {moves}; smaller "
            f"errors are not significant. Changes up to {n['most']:g} |q| are accepted."
        )
    return (
        f"{given} The nearest W that is {moves}; at most {n['most']:g} |q| is accepted, so formulations over bodies "
        "are refused and the others use the file's W."
    )
