"""Derivatives under several formulations, in sentences and as a table for a terminal."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from workbench.comparison.derivatives import EVENT_DRIVEN

KNOWN = 1e-6
"""Relative difference of quotients of two orders up to which a quotient is known."""
GOOD = 0.05
"""Relative error up to which a derivative is called right."""
FLAT = 1e-3
"""Share of the motion's steepest slope below which the sign of a slope is ignored."""
MOST = 10


def sentences(table: pd.DataFrame, settings: dict[str, Any]) -> list[str]:
    """Say for each output and parameter which derivatives are right, wrong, or absent, and by which reference."""
    found = []
    for (parameter, output), rows in table.groupby(["parameter", "output"], sort=False):
        true = rows[rows["formulation"] == EVENT_DRIVEN]
        against = f"the {EVENT_DRIVEN}" if len(true) else "exact Coulomb friction with the same steps"
        exact = (true if len(true) else rows)["derivative"].iloc[0]
        if not np.isfinite(exact):
            found.append(f"d{output}/d{parameter}: no reference derivative.")
            continue
        found.append(f"d{output}/d{parameter} = {exact:.6g} for {against}. {_judged(rows, float(exact))}")
    absent = table[table["reason"] != ""].drop_duplicates(["formulation", "reason"])
    found += [
        f"{r['formulation']} has no derivative by {r['parameter']}: {r['reason']}" for r in absent.to_dict("records")
    ]
    for what, words in (
        ("kinks", "one-sided derivatives only"),
        ("jumps", "data that jump near the motion or are noisy"),
    ):
        some = table[table[what] > 0].drop_duplicates("formulation")
        if len(some):
            names = ", ".join(f"{r['formulation']} ({r[what]})" for r in some.to_dict("records"))
            found.append(f"Steps with {words}: {names}.")
    found.append(
        f"Steps of {1e3 * settings['step']:g} ms to {settings['duration']:g} s. Check by difference quotients of whole "
        f"runs: {_agreement(table)}"
    )
    return found


def sampled_in_words(samples: pd.DataFrame) -> list[str]:
    """State for each output and parameter at how many sampled values a formulation has a derivative, and at how many
    its sign differs from that of the motion's slope."""
    found = []
    for (parameter, output), rows in samples.groupby(["parameter", "output"], sort=False):
        true = rows[rows["formulation"] == EVENT_DRIVEN].set_index("at")["value"]
        count = len(true)
        slope = pd.Series(np.gradient(true, true.index) if count > 1 else np.nan, true.index)
        slope = slope.where(slope.abs() > FLAT * slope.abs().max())
        parts = []
        for label, own in rows[rows["formulation"] != EVENT_DRIVEN].groupby("formulation", sort=False):
            smooth = own[np.isfinite(own["derivative"]) & (own["kinks"] == 0) & (own["jumps"] == 0)]
            turned = int((np.sign(own["derivative"]) * np.sign(slope.loc[own["at"]].to_numpy()) < 0).sum())
            if len(smooth) < count or turned:
                wrong = f", the wrong sign at {turned}" if turned else ""
                parts.append(f"{label} has a derivative at {len(smooth)}{wrong}")
        near = f"Of {count} values of {parameter} from {true.index.min():.3g} to {true.index.max():.3g}"
        every = f"every formulation has d{output}/d{parameter} at all of them, with the sign of the motion's slope"
        found.append(f"{near}, {'; '.join(parts) or every}.")
    return found


def _judged(rows: pd.DataFrame, exact: float) -> str:
    own = rows[(rows["formulation"] != EVENT_DRIVEN) & np.isfinite(rows["derivative"])]
    if exact == 0.0:
        moving = own[own["derivative"] != 0.0]["formulation"]
        if len(moving):
            return f"Nonzero: {', '.join(moving)}."
        every = "All formulations" if len(own) == len(rows[rows["formulation"] != EVENT_DRIVEN]) else "The others"
        return f"{every} agree."
    right = own[own["error"].abs() <= GOOD]["formulation"]
    turned = own[own["derivative"] * exact < 0]["formulation"]
    blind = own[own["derivative"] == 0.0]["formulation"]
    off = own[(own["error"].abs() > GOOD) & (own["derivative"] * exact > 0)]
    parts = [f"Within {100 * GOOD:g} %: {', '.join(right)}."] if len(right) else []
    if len(off):
        some = ", ".join(f"{r['formulation']} ({100 * r['error']:+.0f} %)" for r in off.to_dict("records"))
        parts.append(f"Larger error: {some}.")
    if len(turned):
        parts.append(f"Wrong sign, so a gradient search goes the wrong way: {', '.join(turned)}.")
    if len(blind):
        parts.append(f"Zero, so a gradient search ignores {rows['parameter'].iloc[0]}: {', '.join(blind)}.")
    return " ".join(parts)


def _agreement(table: pd.DataFrame) -> str:
    own = table[(table["formulation"] != EVENT_DRIVEN) & (table["kinks"] == 0) & np.isfinite(table["derivative"])]
    size = np.maximum(own["derivative"].abs(), own["quotient"].abs()).replace(0.0, 1.0)
    # Runs between which something switches tell no derivative.
    known = own["quotient_error"] <= KNOWN * size
    if not known.any():
        return "none is accurate enough."
    apart = float(((own["derivative"] - own["quotient"]).abs() / size)[known].max())
    which = "all" if known.all() else f"{int(known.sum())} of {len(own)} are accurate enough and"
    return f"{which} differ from the derivatives by {apart:.0e} at most."


def print_table(title: str, words: Sequence[str], table: pd.DataFrame, everything: bool = False) -> None:
    """Title, a table for each output and parameter, and sentences on a terminal."""
    from rich.markup import escape

    from workbench.builtin.reports.text.terminal import light_table, say, wide_console

    say(title)
    for (parameter, output), rows in table.groupby(["parameter", "output"], sort=False):
        shape = light_table()
        for name in ("formulation", output, f"d{output}/d{parameter}", "error", "steps with kinks"):
            shape.add_column(str(name), justify="left" if name == "formulation" else "right")
        ranked = rows.assign(off=rows["error"].abs()).sort_values("off", kind="stable", na_position="last")
        for r in ranked.head(len(ranked) if everything else MOST + 1).to_dict("records"):
            held = r["formulation"] != EVENT_DRIVEN and np.isfinite(r["error"])
            error = f"{round(100 * r['error'], 2) + 0.0:+.2f} %" if held else ""  # no -0.00 %
            derivative = "none" if not np.isfinite(r["derivative"]) else f"{r['derivative']:.6g}"
            value = "" if not np.isfinite(r["value"]) else f"{r['value']:.6g}"
            name = escape(r["formulation"])
            shape.add_row(name, value, derivative, error, str(r["kinks"] or ""))
        wide_console().print(shape)
        if len(ranked) > MOST + 1 and not everything:
            say(f"{len(ranked) - MOST - 1} more rows: --all.")
    say(*words)
