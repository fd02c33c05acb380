"""Tables for a terminal."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from workbench.builtin.reports.text.comparison import COLUMNS, Column, of_window, rows_of
from workbench.builtin.reports.text.file import ERRORS, JUDGED, defined, facts_in_words, known_in_words
from workbench.comparison.cases import Comparison
from workbench.comparison.files import NOBODY, FileComparison

UNBOUNDED = 1000
"""Width at which a table is measured."""
PIPE_WIDTH = 120
"""Width of the table where no terminal says otherwise."""

LEFT_OUT_FIRST = [
    "energy_error",
    "position_error",
    "residual",
    "discretisation_error",
    "solver_error",
    "misalignment_rms",
    "formulation_error",
]
"""Columns that a narrow terminal does without, in this order; the report has them all."""


RESIDUAL = next(column for column in JUDGED if column[0] == "residual")
LEFT_OUT_FIRST_OF_FILES = [
    "impulse_solver_error",
    "impulse_formulation_error",
    "misalignment_rms",
    "residual",
    "solver_error",
    "friction_rmsd",
    "other_mode",
    "formulation_error",
]


def print_table(c: Comparison) -> None:
    """One row per run over the case's first window; failures with their reason below the table."""
    console = _console()
    window = next(iter(c.runs["window"]))
    rows = rows_of(of_window(c, window))
    clipped = ", clipped to the run" if rows[0]["clipped"] else ""
    law = c.settings.normal
    update = "explicit" if c.settings.explicit else "symplectic"
    console.print(
        f"{c.case.name}, window '{window}': {rows[0]['window_start']:g} to {rows[0]['window_end']:g} s{clipped}; "
        f"step {', '.join(f'{1e3 * h:g}' for h in c.settings.steps)} ms; {update} update, {law} normal law, "
        f"relaxation {c.settings.relaxation}",
        markup=False, highlight=False,
    )  # fmt: skip
    _print_rows(console, rows, COLUMNS, LEFT_OUT_FIRST)
    console.print(
        f"Errors against exact Coulomb friction at {1e3 * c.settings.reference_step:g} ms; discret., formul., solver: "
        "the parts of the friction's error.\nok: every step's own residual is within the solver's tolerance.",
        markup=False, highlight=False,
    )  # fmt: skip


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=PIPE_WIDTH)


def print_file_table(c: FileComparison) -> None:
    """One row per formulation and solver; failures with their reason below the table."""
    console = _console()
    for sentence in (f"{c.name}: {facts_in_words(c)}", *known_in_words(c)):
        console.print(sentence, markup=False, highlight=False)
    columns = defined(c, [*ERRORS, RESIDUAL])
    _print_rows(console, rows_of(c.runs, columns), columns, LEFT_OUT_FIRST_OF_FILES)
    console.print(
        "Errors against exact Coulomb friction, of velocities W p + q relative to |q| and of impulses; formul., "
        "solver:\nthe parts of the velocities' error. One step: there is no discretisation error.\n"
        "ok: the problem's own residual is within the solver's tolerance.",
        markup=False, highlight=False,
    )  # fmt: skip


def _print_rows(
    console: Console, rows: list[dict[str, Any]], columns: Sequence[Column], left_out_first: Sequence[str]
) -> None:
    """A table of rows, and below it the reasons of those that are not verified."""
    several = len({r["step_text"] for r in rows}) > 1
    console.print(_table_that_fits(console, rows, columns, left_out_first, several))
    failures: dict[str, list[str]] = {}
    for r in rows:
        if not r["verified"]:
            reason = r["reason"] or f"residual {r['residual']:.1e} above {r['tolerance']:.0e}"
            who = r["label"] if r["solver"] == NOBODY else f"{r['label']} by {r['solver']}"
            failures.setdefault(f"{r['claimed']}: {reason}", []).append(who)
    for what, runs in failures.items():
        console.print(f"{', '.join(runs)}: {what}", markup=False, highlight=False)


def _table_that_fits(
    console: Console,
    rows: list[dict[str, Any]],
    columns: Sequence[Column],
    left_out_first: Sequence[str],
    several: bool,
) -> Table:
    """The table with as many of its columns as the terminal is wide for."""
    shown = list(range(len(columns)))
    table = _table(rows, columns, several, shown)
    for key in left_out_first:
        if Measurement.get(console, console.options.update(max_width=UNBOUNDED), table).maximum <= console.width:
            break
        shown = [i for i in shown if columns[i][0] != key]
        table = _table(rows, columns, several, shown)
    return table


def _table(rows: list[dict[str, Any]], columns: Sequence[Column], several: bool, shown: list[int]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("formulation", no_wrap=True)
    table.add_column("solver", no_wrap=True)
    if several:
        table.add_column("step", justify="right", no_wrap=True)
    for i in shown:
        table.add_column(columns[i][1].replace(" ", "\n"), justify="right", no_wrap=True)
    table.add_column("ok", no_wrap=True)
    for r in rows:
        verified = "[green]yes[/]" if r["verified"] else "[red]no[/]"
        step = [r["step_text"]] if several else []
        table.add_row(r["label"], r["solver"], *step, *(r["cells"][i] for i in shown), verified)
    return table


def print_claims(claims: pd.DataFrame) -> None:
    """One row per claim of every paper; why claims fail is on the page and in claims.csv."""
    console = _console()
    colours = {"confirmed": "green", "differs": "yellow", "not confirmed": "red"}
    for paper, rows in claims.groupby("paper", sort=False):
        console.print(f"{paper}: {(rows['verdict'] == 'confirmed').sum()} of {len(rows)} claims confirmed")
        table = Table("claim", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        for name in ("published", "computed"):
            table.add_column(name, justify="right", no_wrap=True)
        for name in ("unit", "verdict"):
            table.add_column(name, no_wrap=True)
        for c in rows.to_dict("records"):
            published = f"{c['published']:.4g}" if c["relation"] == "=" else f"{c['relation']} {c['published']:.4g}"
            verdict = f"[{colours[c['verdict']]}]{c['verdict']}[/]"
            table.add_row(escape(c["statement"]), published, f"{c['computed']:.4g}", c["unit"], verdict)
        console.print(table)


def problem_text(problem: Any, title: str, unknowns: list[str]) -> str:
    """The numbers of an assembled problem: lead matrix, constants, bounds or friction coefficients, row by row."""
    if problem is None:
        return f"{title}: the problem cannot be posed (the free unknowns cannot be eliminated)"
    width = max(map(len, unknowns))
    with np.printoptions(precision=5, linewidth=10**6, threshold=10**9):
        lines = [f"{problem.kind}, {title}", "M ="]
        lines += [f"  {name:<{width}}  {row}" for name, row in zip(unknowns, str(problem.M).split("\n"), strict=True)]
        lines.append(f"q = {problem.q}")
        if problem.kind == "MLCP":
            lines += [f"lower = {problem.lower}", f"upper = {problem.upper}"]
        if hasattr(problem, "mu"):
            lines.append(f"mu = {problem.mu}")
    return "\n".join(lines)
