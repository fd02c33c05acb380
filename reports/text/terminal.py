"""Tables for a terminal."""

from collections.abc import Sequence
from textwrap import shorten
from typing import Any

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from workbench.builtin.reports.text.comparison import RESIDUAL, error_columns, rows_of, symptom_columns, who
from workbench.builtin.reports.text.decision import cross_checks, is_cross_check, legend, rows
from workbench.builtin.reports.text.headline import headline, subject
from workbench.builtin.reports.text.mathematics import plain
from workbench.builtin.reports.text.scenes import touches_nothing
from workbench.comparison.columns import Column
from workbench.comparison.decision import Decision, amount, decide, shown
from workbench.comparison.metric import Metric
from workbench.comparison.result import GENERIC_SOLVER, Comparison

UNBOUNDED = 1000
"""Width at which a table is measured."""
PIPE_WIDTH = 100
"""Width of the table where no terminal says otherwise."""
LONGEST = 180
"""Characters of the reason why a run has no answer; runs.csv has all of a longer one."""


def print_comparison(
    c: Comparison, wanted: Sequence[Metric] = (), everything: bool = False, by_solver: bool = False
) -> None:
    """Print the recommendation, the ranking and its confidence.

    Then one row per run and solver, if there are metrics `wanted`, with `by_solver`, or if several solvers were used.
    `everything` prints all ranks instead of at most ten.
    """
    console = wide_console()
    say(f"{c.name}: {subject(c)}", "", *headline(c).sentences)
    for step in c.settings.steps if c.stepped else (None,):
        found = decide(c, step)
        # Without contact all rows are the same.
        alike = c.scene is not None and touches_nothing(c) and not everything
        if found is not None and (found.entries or found.missing) and not alike:
            console.print(_places(c, found, everything))
            say(*filter(None, (legend(c, found), "" if everything else _hidden(found))))
    say(*filter(None, [cross_checks(c)]))
    # The features of a model that are not included.
    say(*(f"Not included of {c.name}: {x}." for x in (c.scene.left_out if c.scene else ())))
    rows_of_first = next(iter(c.windows.values()))
    own = rows_of_first[rows_of_first["solver"] != GENERIC_SOLVER]
    several = by_solver or decide(c) is None or own.duplicated(["label", *["step"] * c.stepped]).any()
    if wanted or several:
        _print_runs(console, c, [m.column for m in wanted])
    lines: dict[str, list[str]] = {}
    # One sentence tells of all cross-checks.
    for r in rows_of(rows_of_first[~is_cross_check(c, rows_of_first)], []):
        if not r["verified"]:
            outcome = r["claimed"].lower().replace("_", " ")
            lines.setdefault(f"{outcome}: {r['why_not']}", []).append(who(r))
        if r["notes"]:
            lines.setdefault(r["notes"], []).append(who(r))
    for what, runs_of_it in lines.items():
        say(f"{', '.join(runs_of_it)}: {shorten(what, LONGEST, placeholder=' ...; see runs.csv')}")


def _places(c: Comparison, d: Decision, everything: bool) -> Table:
    """Return the ranking, best first, and a row for each formulation without a solution."""
    title = f"steps of {1e3 * d.step:g} ms" if c.stepped and len(c.settings.steps) > 1 else None
    table = light_table(title)
    table.add_column("", justify="right", no_wrap=True)
    # Labels are whole, however narrow the terminal.
    longest = max((len(word) for x in rows(c, d) for word in x.names.split()), default=0)
    table.add_column("formulation", overflow="fold", min_width=longest)
    table.add_column("error", justify="right", no_wrap=True)
    table.add_column("main defect")
    table.add_column("a step" if c.stepped else "time", justify="right", no_wrap=True)
    table.add_column("ok", no_wrap=True)
    colours = {"yes": "green", "differs": "yellow", "no": "red"}
    for x in rows(c, d, everything):
        place = x.place if x.place.endswith("=") else f"{x.place} "
        cells = (place, x.names, x.error, x.defect, x.cost)
        table.add_row(*map(escape, cells), f"[{colours[x.state]}]{x.verified}[/]")
    return table


def _hidden(d: Decision) -> str:
    """Name the formulations without a row in the table."""
    seen = {x.label for x in shown(d)}
    hidden = [f"{x.label} ({amount(x.error, d.error)})" for x in d.entries if x.label not in seen]
    return f"Not shown: {', '.join(hidden)}; --all shows them." if hidden else ""


def _print_runs(console: Console, c: Comparison, asked: Sequence[Column]) -> None:
    """Print a row per run, for a case over its first window; a narrow terminal keeps the requested metrics longest."""
    usual = [*error_columns(c), *symptom_columns(c)]
    columns = [*asked, *(x for x in usual if x not in asked), RESIDUAL]
    found = rows_of(next(iter(c.windows.values())), columns)
    table, left_out = _table_that_fits(console, found, columns, len(asked))
    console.print(table)
    if left_out:
        console.print(f"Not shown in {console.width} columns: {', '.join(left_out)}; see runs.csv.")


def light_table(title: str | None = None) -> Table:
    """A table without frame, its title on the left."""
    return Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))


def say(*sentences: str) -> None:
    """Print sentences, a line each, without markup."""
    for sentence in sentences:
        wide_console().print(sentence, markup=False, highlight=False)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Rich would exit with code 1; a reader that closes the output (`| head`) is no error."""
        raise


def wide_console() -> Console:
    """Return a console of the terminal's width, in a pipe of `PIPE_WIDTH` columns."""
    console = _Console()
    return console if console.is_terminal else _Console(width=PIPE_WIDTH)


def _table_that_fits(
    console: Console, rows: list[dict[str, Any]], columns: Sequence[Column], asked: int
) -> tuple[Table, list[str]]:
    """Return the table with as many columns as fit into the terminal, and the headings of the others.

    The last columns are dropped first; the residual, at the end, is kept until only the first column, or the requested
    ones, are left with it.
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
    table = light_table()
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
    """Print one row per claim of every paper, then per additional check; the page and claims.csv give the reasons."""
    console = wide_console()
    colours = {"confirmed": "green", "confirmed in part": "yellow", "differs": "yellow", "not confirmed": "red"}
    for paper, of_paper in claims.groupby("paper", sort=False):
        claimed, checked = (of_paper[of_paper["kind"] == kind] for kind in ("claim", "check"))
        console.print(
            f"{paper}: {_confirmed(claimed)} claims of the paper confirmed; {_confirmed(checked)} additional checks"
        )
        for heading, number, part in (("claim of the paper", "published", claimed), ("check", "expected", checked)):
            if part.empty:
                continue
            table = light_table()
            table.add_column(heading)
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
