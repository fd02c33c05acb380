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
            grouped: dict[str, list[str]] = {}
            for r in apart:
                grouped.setdefault(r["formulation"], []).append(f"{r['parameter']} = {_known(r)}")
            said = "; ".join(f"{name} ({', '.join(values)})" for name, values in grouped.items())
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
    error = r["standard_error"]
    if np.isfinite(error):
        return f"{_written(r['value'], error)} ± {_written(error, error)}"
    return f"{r['value']:.6g}" + (f" ({_ends(r)})" if pd.notna(r["low"]) else "")


def _ends(r: Any) -> str:
    """The 95 % interval of a value."""
    return " to ".join(_written(r[end], r["high"] - r["low"]) for end in ("low", "high"))


def _written(value: float, known: float) -> str:
    """A value with two digits of how well it is known, six in all at most; an interval may have no end."""
    if not np.isfinite(value):
        return "∞" if value > 0 else "−∞"
    digits = 1 - int(np.floor(np.log10(known))) if np.isfinite(known) and known > 0 else 6
    most = 5 - int(np.floor(np.log10(abs(value)))) if value else 6
    return f"{value:.{max(0, digits)}f}" if digits <= most and abs(value) < 1e6 else f"{value:.6g}"


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
        known = np.isfinite(r["standard_error"])
        value = _written(r["value"], r["standard_error"]) if np.isfinite(r["value"]) else "none"
        numbers = [value, _written(r["standard_error"], r["standard_error"]) if known else "none"]
        residual = f"{100 * r['residual']:.3g} %" if np.isfinite(r["residual"]) else ""
        ends = _ends(r) if pd.notna(r["low"]) else ""
        shape.add_row(escape(r["formulation"]), escape(r["parameter"]), *numbers, ends, residual, str(r["runs"] or ""))
    wide_console().print(shape)
    say(*words)
