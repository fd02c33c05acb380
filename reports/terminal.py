"""Tables for a terminal."""

from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from reports.comparison_page import COLUMNS, rows_of
from workbench.comparison import Comparison

PIPE_WIDTH = 140
"""Width of the table where no terminal says otherwise."""


def print_table(c: Comparison) -> None:
    """One row per run over the case's first window; failures with their reason below the table."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=PIPE_WIDTH)
    window = next(iter(c.runs["window"]))
    rows = rows_of(c.runs, window)
    end = rows[0]["window_end"]
    clipped = ", clipped to the run" if rows[0]["clipped"] else ""
    law = "gap" if c.settings.gap_law else "velocity"
    update = "explicit" if c.settings.explicit else "symplectic"
    table = Table(
        title=f"{c.case.name}, window {window} ({rows[0]['window_start']:g} to {end:g} s{clipped}), {update} update, {law} normal law",
        caption=f"errors against exact Coulomb friction at {c.settings.reference_step:g} s; budget: RMS of the normalised friction",
        title_justify="left", caption_justify="left",
    )  # fmt: skip
    table.add_column("formulation", overflow="fold", min_width=12)
    table.add_column("solver", overflow="fold")
    for name in ("step", *(title for _, title, *_ in COLUMNS)):
        table.add_column(name, justify="right", overflow="fold")
    table.add_column("verified")
    for r in rows:
        verified = "[green]yes[/]" if r["verified"] else f"[red]no: {r['claimed']}[/]"
        table.add_row(_label(r), r["solver"], r["step_text"], *r["cells"], verified)
    console.print(table)
    for r in rows:
        if r["reason"]:
            console.print(f"{r['formulation']}, {r['solver']}: {r['reason']}", markup=False)


def _label(row: dict[str, Any]) -> str:
    return row["formulation"] + (f"\n  {row['options'].replace(',', ' ')}" if row["options"] else "")


def problem_text(problem: Any, title: str) -> str:
    """The numbers of an assembled problem: lead matrix, constants, bounds or friction coefficients."""
    if problem is None:
        return f"{title}: the problem cannot be posed (the free unknowns cannot be eliminated)"
    with np.printoptions(precision=5, suppress=False, linewidth=120):
        lines = [f"{problem.kind}, {title}", f"M =\n{problem.M}", f"q = {problem.q}"]
        if problem.kind == "MLCP":
            lines += [f"lower = {problem.lower}", f"upper = {problem.upper}"]
        if hasattr(problem, "mu"):
            lines.append(f"mu = {problem.mu}")
    return "\n".join(lines)
