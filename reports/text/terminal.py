"""Tables for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from workbench.builtin.reports.text import scenes
from workbench.builtin.reports.text.comparison import (
    RESIDUAL,
    error_columns,
    facts_in_words,
    known_in_words,
    rows_of,
    symptom_columns,
    who,
)
from workbench.builtin.reports.text.mathematics import plain
from workbench.comparison.columns import Column
from workbench.comparison.metric import Metric
from workbench.comparison.result import Comparison

UNBOUNDED = 1000
"""Width at which a table is measured."""
PIPE_WIDTH = 120
"""Width of the table where no terminal says otherwise."""


def print_table(c: Comparison, wanted: Sequence[Metric] = ()) -> None:
    """One row per run, of a case over its first window; below it why rows are not verified, and notes on metrics.

    Metrics that were asked for, `wanted`, are there whatever they are and stay longest where the terminal is narrow.
    """
    console = _console()
    asked = [m.column for m in wanted]
    usual = [*error_columns(c), *symptom_columns(c)]
    columns = [*asked, *(x for x in usual if x not in asked), RESIDUAL]
    rows = rows_of(next(iter(c.windows.values())), columns)

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False)

    for sentence in _before(c, rows):
        say(sentence)
    table, left_out = _table_that_fits(console, rows, columns, len(asked))
    console.print(table)
    if left_out:
        say(f"Not shown, for want of room in {console.width} columns: {', '.join(left_out)}.")
    lines: dict[str, list[str]] = {}
    for r in rows:
        if not r["verified"]:
            lines.setdefault(f"{r['claimed']}: {r['why_not']}", []).append(who(r))
        if r["notes"]:
            lines.setdefault(r["notes"], []).append(who(r))
    for what, runs_of_it in lines.items():
        say(f"{', '.join(runs_of_it)}: {what}")
    for sentence in _after(c):
        say(sentence)


def _before(c: Comparison, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What stands above the table."""
    if c.scene:
        return [f"{c.name}: {scenes.compared(c)}", *scenes.headline(c)]
    if c.case is None:
        return [f"{c.name}: {facts_in_words(c)}", *known_in_words(c)]
    clipped = ", clipped to the run" if rows[0]["clipped"] else ""
    return [
        f"{c.name}, window '{rows[0]['window']}': {rows[0]['window_start']:g} to {rows[0]['window_end']:g} s{clipped}; "
        f"step {', '.join(f'{1e3 * h:g}' for h in c.settings.steps)} ms; "
        f"{'explicit' if c.settings.explicit else 'symplectic'} update, {c.settings.normal} normal law, "
        f"relaxation {c.settings.relaxation}"
    ]


def _after(c: Comparison) -> list[str]:
    """What stands below it."""
    if c.scene:
        left_out = [f"Not taken over of {c.name}: {x}." for x in c.scene.left_out]
        return [
            *left_out,
            "Errors against exact Coulomb friction, of the body that is farthest; body by body on the page and in "
            "bodies.csv.\nok: every step's own residual is within the solver's tolerance; an engine came to the end.",
        ]
    if c.case is None:
        return [
            "Errors against exact Coulomb friction, of velocities W p + q relative to |q| and of impulses; their parts "
            "are on the page and in runs.csv. One step: there is no error of the step size.\n"
            "ok: the problem's own residual is within the solver's tolerance."
        ]
    return [
        f"Errors against exact Coulomb friction at {1e3 * c.settings.reference_step:g} ms; their parts (step size, "
        "formulation, compliance, solver) are on the page and in runs.csv. “k free”: k directions of the impulses "
        "are not determined.\n"
        "ok: every step's own residual is within the solver's tolerance."
    ]


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Rich would end the program with code 1; whoever closes our output (`| head`) has seen enough."""
        raise


def _console() -> Console:
    console = _Console()
    return console if console.is_terminal else _Console(width=PIPE_WIDTH)


def _table_that_fits(
    console: Console, rows: list[dict[str, Any]], columns: Sequence[Column], asked: int
) -> tuple[Table, list[str]]:
    """The table with as many of its columns as the terminal is wide for, and the headings of the others.

    The last go first, but for the residual, which stands at the end and goes when only the first, or those that were
    asked for, are left beside it.
    """
    shown = list(range(len(columns)))
    table = _table(rows, columns, shown)
    while len(shown) > 1:
        if Measurement.get(console, console.options.update(max_width=UNBOUNDED), table).maximum <= console.width:
            break
        del shown[-2 if len(shown) > max(2, asked + 1) and len(columns) - 1 in shown else -1]
        table = _table(rows, columns, shown)
    return table, [column.title for i, column in enumerate(columns) if i not in shown]


def _table(rows: list[dict[str, Any]], columns: Sequence[Column], shown: list[int]) -> Table:
    several = len({r["step_text"] for r in rows}) > 1
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("formulation", no_wrap=True)
    table.add_column("solver", no_wrap=True)
    if several:
        table.add_column("step", justify="right", no_wrap=True)
    for i in shown:
        table.add_column(escape(columns[i].title).replace(" ", "\n"), justify="right", no_wrap=True)
    table.add_column("ok", no_wrap=True)
    for r in rows:
        verified = "[green]yes[/]" if r["verified"] else "[red]no[/]"
        step = [r["step_text"]] if several else []
        table.add_row(escape(r["label"]), escape(r["solver"]), *step, *(r["cells"][i] for i in shown), verified)
    return table


def print_claims(claims: pd.DataFrame) -> None:
    """One row per claim of every paper, then per check of our own; why some fail is on the page and in claims.csv."""
    console = _console()
    colours = {"confirmed": "green", "confirmed in part": "yellow", "differs": "yellow", "not confirmed": "red"}
    for paper, rows in claims.groupby("paper", sort=False):
        claimed, checked = (rows[rows["kind"] == kind] for kind in ("claim", "check"))
        console.print(
            f"{paper}: {_confirmed(claimed)} claims of the paper confirmed; {_confirmed(checked)} checks of our own"
        )
        for heading, number, part in (("claim of the paper", "published", claimed), ("check", "expected", checked)):
            if part.empty:
                continue
            table = Table(heading, box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
            for name in (number, "computed"):
                table.add_column(name, justify="right", no_wrap=True)
            for name in ("unit", "verdict"):
                table.add_column(name, no_wrap=True)
            for c in part.to_dict("records"):
                expected = f"{c['expected']:.4g}" if c["relation"] == "=" else f"{c['relation']} {c['expected']:.4g}"
                verdict = f"[{colours[c['verdict']]}]{c['verdict']}[/]"
                statement = plain(c["statement"] + (f"\nfor {c['where']}" if c["where"] else ""))
                table.add_row(escape(statement), expected, f"{c['computed']:.4g}", c["unit"], verdict)
            console.print(table)


def _confirmed(claims: pd.DataFrame) -> str:
    return f"{(claims['verdict'] == 'confirmed').sum()} of {len(claims)}"
