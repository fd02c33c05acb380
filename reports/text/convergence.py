"""Errors over the step size, in sentences and as a table for a terminal."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from workbench.builtin.reports.text.study import with_unit
from workbench.studies.refinement import ERRORS, IMPACTS, PHASES

MOST = 10
"""Rows of the table by default."""
(POSITION, _) = (m.column for m in ERRORS)


def sentences(orders: pd.DataFrame, rows: pd.DataFrame) -> list[str]:
    """Say how well the reference is known, how orders are fitted, and what failed."""
    h = 1e3 * rows["step"]
    found = [f"Steps of {h.max():g} to {h.min():g} ms."]
    if len(orders):
        found = [
            f"Steps of {h.max():g} to {h.min():g} ms; the reference is known to {orders['uncertainty'].max():.0e}."
        ]
    found.append(
        "Errors are fitted by e = C h^p, or by e = e0 + C h^p where that is better; e0 is the formulation error, "
        "which remains at every step size."
    )
    if IMPACTS in set(rows["phase"]):
        found.append(
            "With impacts the error depends on where in a step each impact falls, so only a bound e ≤ C h is given."
        )
    failing = rows[~rows["verified"]].drop_duplicates(["label", "scheme"])
    found += [
        f"{r['label']}, {r['scheme']}, at {1e3 * r['step']:g} ms: {r['reason']}" for r in failing.to_dict("records")
    ]
    return found


def table(orders: pd.DataFrame, everything: bool = False) -> tuple[list[str], list[list[str]], int]:
    """Return heading and rows, one for each formulation and scheme, best first, and the number left out.

    Cells are of position errors: order with its interval, limit or bound, and the error at the smallest step.
    """
    own = orders[orders["error"] == POSITION.name]
    names = [x for x in PHASES if x in set(own["phase"])]
    by_variant = own.pivot_table(index=["label", "scheme"], columns="phase", values="last", sort=False)[names]
    ranked = by_variant.max(axis=1, skipna=False).sort_values(kind="stable").index
    cells = {(r["label"], r["scheme"], r["phase"]): _cell(r) for r in own.to_dict("records")}
    lines = [[*x, *(cells.get((*x, name), "") for name in names)] for x in ranked]
    kept = lines if everything else lines[:MOST]
    return ["formulation", "scheme", *names], kept, len(lines) - len(kept)


def _cell(r: dict) -> str:
    last = with_unit(r["last"], POSITION)
    if r["verdict"] == "zero":
        return "exact"
    if r["verdict"] == "limit":
        return f"e0 = {with_unit(r['limit'], POSITION)}"
    if r["verdict"] == "bounded":
        return f"≤ {with_unit(1e-3 * r['bound'], POSITION)} per ms; {last}"
    if r["verdict"] == "vanishes":
        return f"{r['order']:.2f}{_between(r['order'], r['order_low'], r['order_high'])}; {last}"
    return f"{ {'not': 'stays', 'hardly': 'hardly falls', 'unknown': 'unknown'}[r['verdict']] }; {last}"


def _between(p: float, low: float, high: float) -> str:
    return f" ± {max(high - p, p - low):.2f}" if np.isfinite([low, high]).all() else ""


def print_orders(title: str, words: Sequence[str], orders: pd.DataFrame, everything: bool = False) -> None:
    """Title, table and sentences on a terminal, in 100 columns where it does not say otherwise."""
    from rich.markup import escape

    from workbench.builtin.reports.text.terminal import light_table, say, wide_console

    say(title)
    if len(orders):
        head, lines, left = table(orders, everything)
        shape = light_table()
        for k, name in enumerate(head):
            shape.add_column(
                name if k < 2 else f"{name}: {'bound' if name == IMPACTS else 'order'}, error",
                no_wrap=k != 0,
                overflow="fold",
            )
        for line in lines:
            shape.add_row(*map(escape, line))
        wide_console().print(shape)
        if left:
            say(f"{left} more rows: --all.")
    say(*words)
