"""Fitted parameters in sentences, and as a table for a terminal."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

BESIDE = 2.0
"""Standard errors by which two values differ that are told apart."""


def sentences(table: pd.DataFrame, settings: dict[str, Any]) -> list[str]:
    """The best fit, the fits that disagree with it, and what could not be fitted."""
    made = table[np.isfinite(table["value"])]
    found = []
    if len(made):
        best = made["formulation"].iloc[0]
        own = made[made["formulation"] == best].set_index("parameter")
        values = ", ".join(f"{name} = {_known(r)}" for name, r in own.iterrows())
        found.append(f"Smallest residual: {best}, {100 * own['residual'].iloc[0]:.3g} % of the spread, with {values}.")
        others = [
            f"{r['formulation']} ({r['parameter']} = {_known(r)})" for r in made.to_dict("records")
            if r["formulation"] != best and _differs(r, own.loc[r["parameter"]])
        ]  # fmt: skip
        if others:
            found.append(f"Further than {BESIDE:g} standard errors from these: {', '.join(others)}.")
    if (rough := made[made["rough_steps"] > 0].drop_duplicates("formulation")).size:
        names = ", ".join(f"{r['formulation']} ({r['rough_steps']})" for r in rough.to_dict("records"))
        found.append(f"Steps with one-sided derivatives or jumps, so that standard errors hold on one side: {names}.")
    unknown = made[~np.isfinite(made["standard_error"])]["formulation"].unique()
    if len(unknown):
        found.append(
            "No standard error, because residuals near the fit do not grow as the derivatives say or measurements do "
            f"not outnumber parameters: {', '.join(unknown)}."
        )
    absent = table[table["reason"] != ""].drop_duplicates("formulation")
    found += [f"{r['formulation']}: {r['reason']}." for r in absent.to_dict("records")]
    found.append(
        f"{settings['measurements']} measured numbers of {', '.join(settings['of'])}; steps of "
        f"{1e3 * settings['step']:g} ms. Standard errors assume independent errors of equal size relative to each "
        "output's spread."
    )
    return found


def _known(r: Any) -> str:
    error = r["standard_error"]
    return f"{r['value']:.6g}" + (f" +- {error:.2g}" if np.isfinite(error) else "")


def _differs(r: dict[str, Any], best: Any) -> bool:
    size = np.hypot(np.nan_to_num(r["standard_error"]), np.nan_to_num(best["standard_error"]))
    return bool(abs(r["value"] - best["value"]) > max(BESIDE * size, 1e-9 * abs(best["value"])))


def print_table(title: str, words: Sequence[str], table: pd.DataFrame) -> None:
    """Title, a table and sentences on a terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    from workbench.builtin.reports.text.terminal import wide_console

    console = wide_console()
    console.print(title, markup=False, highlight=False)
    shape = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("formulation", "parameter", "value", "standard error", "residual", "runs"):
        shape.add_column(name, justify="left" if name in ("formulation", "parameter") else "right")
    for r in table.to_dict("records"):
        numbers = [f"{r[name]:.6g}" if np.isfinite(r[name]) else "none" for name in ("value", "standard_error")]
        residual = f"{100 * r['residual']:.3g} %" if np.isfinite(r["residual"]) else ""
        shape.add_row(escape(r["formulation"]), escape(r["parameter"]), *numbers, residual, str(r["runs"] or ""))
    console.print(shape)
    for sentence in words:
        console.print(sentence, markup=False, highlight=False)
