"""Fitted parameters in sentences, and as a table for a terminal."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

BESIDE = 2.0
"""Difference, in standard errors, from which on two values are distinct."""


def sentences(table: pd.DataFrame, settings: dict[str, Any]) -> list[str]:
    """State the best fits, the fits that disagree with them, and the fits that were not made."""
    made = table[np.isfinite(table["value"])]
    found = []
    if len(made):
        # The relative standard error of a root mean square of as many residuals.
        noise = 1.0 / np.sqrt(2.0 * settings["measurements"])
        best = made[made["residual"] <= (1.0 + noise) * made["residual"].min()]
        groups = list(best.groupby("formulation", sort=False))
        fits = [
            f"{name} ({100 * own['residual'].iloc[0]:.3g} %) with "
            + ", ".join(f"{r['parameter']} = {_known(r)}" for r in own.to_dict("records"))
            for name, own in groups
        ]
        tied = ". Their residuals differ by less than the noise" if len(groups) > 1 else ""
        found.append(f"Smallest residual{'s' if len(groups) > 1 else ''}: {'; '.join(fits)}{tied}.")
        sure = best[np.isfinite(best["standard_error"])].drop_duplicates("parameter").set_index("parameter")
        others = made[~made["formulation"].isin(best["formulation"])].to_dict("records")
        apart = [r for r in others if r["parameter"] in sure.index and _differs(r, sure.loc[r["parameter"]])]
        if apart:
            said = ", ".join(f"{r['formulation']} ({r['parameter']} = {_known(r)})" for r in apart)
            found.append(f"More than {BESIDE:g} standard errors from {sure['formulation'].iloc[0]}: {said}.")
    known = made[np.isfinite(made["standard_error"]) & (made["rough_steps"] > 0)].drop_duplicates("formulation")
    if len(known):
        names = ", ".join(f"{r['formulation']} ({r['rough_steps']})" for r in known.to_dict("records"))
        found.append(f"Steps with one-sided derivatives or jumps, so that standard errors hold on one side: {names}.")
    for why, rows in (
        (
            "residuals near the fit do not grow as the derivatives say; 95 % intervals by values tried",
            made["low"].notna(),
        ),
        ("measurements do not outnumber parameters", made["low"].isna()),
    ):
        unknown = made[~np.isfinite(made["standard_error"]) & rows]["formulation"].unique()
        if len(unknown):
            found.append(f"No standard error, because {why}: {', '.join(unknown)}.")
    absent = table[table["reason"] != ""].drop_duplicates("formulation")
    found += [f"{r['formulation']}: {r['reason']}." for r in absent.to_dict("records")]
    found.append(
        f"{settings['measurements']} measured numbers of {', '.join(settings['of'])}; steps of "
        f"{1e3 * settings['step']:g} ms. Residuals are relative to the spread of each output. Standard errors assume "
        "independent errors of equal size relative to it."
    )
    return found


def _known(r: Any) -> str:
    error, value = r["standard_error"], f"{r['value']:.6g}"
    if np.isfinite(error):
        return f"{value} ± {error:.2g}"
    return value if np.isnan(r["low"]) else f"{value} ({_ends(r)})"


def _ends(r: Any) -> str:
    """The 95 % interval of a value, with two digits of its width."""
    low, high = r["low"], r["high"]
    width = high - low
    digits = max(0, 1 - int(np.floor(np.log10(width)))) if np.isfinite(width) and width > 0 else 6
    return f"{low:.{digits}f} to {high:.{digits}f}"


def _differs(r: dict[str, Any], best: Any) -> bool:
    size = np.hypot(np.nan_to_num(r["standard_error"]), np.nan_to_num(best["standard_error"]))
    return bool(abs(r["value"] - best["value"]) > max(BESIDE * size, 1e-9 * abs(best["value"])))


def print_table(title: str, words: Sequence[str], table: pd.DataFrame) -> None:
    """Title, a table and sentences on a terminal."""
    from rich.markup import escape

    from workbench.builtin.reports.text.terminal import light_table, say, wide_console

    say(title)
    shape = light_table()
    for name in ("formulation", "parameter", "value", "standard error", "95 % interval", "residual", "runs"):
        shape.add_column(name, justify="left" if name in ("formulation", "parameter") else "right")
    for r in table.to_dict("records"):
        numbers = [f"{r[name]:.6g}" if np.isfinite(r[name]) else "none" for name in ("value", "standard_error")]
        residual = f"{100 * r['residual']:.3g} %" if np.isfinite(r["residual"]) else ""
        ends = _ends(r) if pd.notna(r["low"]) else ""
        shape.add_row(escape(r["formulation"]), escape(r["parameter"]), *numbers, ends, residual, str(r["runs"] or ""))
    wide_console().print(shape)
    say(*words)
