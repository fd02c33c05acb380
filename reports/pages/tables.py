"""Tables of a comparison's runs as its page has them, with the files that each is saved as."""

from typing import Any

import pandas as pd

from workbench.builtin.reports.pages.page import data_link, links
from workbench.builtin.reports.text.comparison import budget_columns, rows_of
from workbench.builtin.reports.text.decision import legend, rows
from workbench.builtin.reports.text.exports import full, of_runs
from workbench.comparison.columns import Column
from workbench.comparison.decision import decide
from workbench.comparison.result import Comparison

PLACES = "Distance from Coulomb's law"
PARQUET = "application/vnd.apache.parquet"


def table(title: str, runs: pd.DataFrame, columns: list[Column]) -> dict[str, Any]:
    """Return a table and its files: CSV and Parquet at full precision, Markdown and LaTeX as shown."""
    found = {"title": title, "rows": rows_of(runs, columns), "columns": columns, "clipped": False}
    shown, numbers = of_runs(found), full(runs, columns)
    of_numbers = [
        ("CSV", f"{shown.file}.csv", data_link(numbers.to_csv(index=False), "text/csv")),
        ("Parquet", f"{shown.file}.parquet", data_link(numbers.to_parquet(index=False), PARQUET)),
    ]
    return found | {"saved": of_numbers + links(shown)[1:]}


def places(c: Comparison) -> list[dict[str, Any]]:
    """Return the places of all formulations at each step size, as in the terminal."""
    found = []
    for step in c.settings.steps if c.stepped else (None,):
        d = decide(c, step)
        if d is not None:
            several = c.stepped and len(c.settings.steps) > 1
            title = f"{PLACES}, steps of {1e3 * d.step:g} ms" if several else PLACES
            found.append({"title": title, "rows": rows(c, d), "legend": legend(c, d)})
    return found


def budgets(c: Comparison) -> list[dict[str, Any]]:
    """The parts of every error in the first window."""
    window, runs = next(iter(c.windows.items()))
    where = f", window “{window}”" if window else ""
    return [table(f"{columns[0].heading}{where}", runs, columns) for columns in budget_columns(c)]
