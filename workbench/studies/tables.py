"""Summary tables of a study: errors by formulation and step, and orders of convergence."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pandas as pd

from workbench.comparison.columns import Column
from workbench.comparison.metric import Metric
from workbench.studies.convergence import Bound, Order, error_bound, order

ERRORS = ("path_error", "velocity_error", "friction_error", "local_velocity_error")
"""Errors on a study's page. Conclusions are on the first of those available, by which a comparison ranks."""

IDENTIFYING = ("case", "formulation", "label", "solver", "step", "window", "verified", "cost")


def shown_columns(names: Iterable[str]) -> list[str]:
    """Return the columns of a study's table for its page: first the varied quantities, then errors."""
    names = list(names)
    references = {f"{name.removesuffix('_error')}_reference" for name in ERRORS}
    measured = {*IDENTIFYING, *ERRORS, *references}
    return names[: names.index("case")] + [name for name in names[names.index("case") :] if name in measured]


def varied(rows: pd.DataFrame) -> list[str]:
    """Return the columns of varied quantities, which stand between those of the point and the case."""
    return list(rows.columns[1 : list(rows.columns).index("case")])


def varied_numbers(rows: pd.DataFrame) -> list[str]:
    """Return those that are numbers."""
    return [name for name in varied(rows) if pd.api.types.is_numeric_dtype(rows[name])]


def errors_of(metrics: tuple[Metric, ...], rows: pd.DataFrame, names: Sequence[str] = ERRORS) -> list[Column]:
    """Return the columns of these names that have a value, with headings that precede "error"."""
    columns = {m.column.name: replace(m.column, heading=m.column.heading.removesuffix(" error")) for m in metrics}
    return [columns[name] for name in names if name in columns and name in rows and rows[name].notna().any()]


def first_window(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of each case's first window."""
    return rows[rows["window"] == rows.groupby("case")["window"].transform("first")]


def by_scheme(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows, with the scheme in their labels if there are several: each has its own orders."""
    several = "scheme" in rows and rows["scheme"].nunique() > 1
    return rows.assign(label=rows["label"] + ", " + rows["scheme"]) if several else rows


def by_variant(rows: pd.DataFrame, errors: list[Column]) -> pd.DataFrame:
    """Return a row for each case, formulation, solver and step: shares, medians and largest values over the points."""
    whole = rows.assign(missing=(~rows["verified"]).astype(float))
    found = whole.groupby(["case", "label", "solver", "step"], sort=False)
    table = found.agg(points=("point", "nunique"), unverified=("missing", "mean"), time=("cost", "median"))
    for column in errors:
        table[f"{column.name}_median"] = found[column.name].median()
        table[f"{column.name}_worst"] = found[column.name].max()
    return table.reset_index()


def is_option(rows: pd.DataFrame, name: str) -> bool:
    """Return whether a column of a varied quantity is FORMULATION.OPTION."""
    head, dot, _ = name.partition(".")
    return bool(dot) and bool((rows["formulation"] == head).any())


def concerned(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the rows that a quantity concerns: all, or for FORMULATION.OPTION those of this formulation."""
    head = name.partition(".")[0]
    own = rows[rows["formulation"] == head]
    return own.assign(label=head) if is_option(rows, name) else rows


def front(table: pd.DataFrame) -> pd.DataFrame:
    """Return the Pareto front of rows with case, time and error: no other row is both faster and as accurate."""
    ordered = table.sort_values(["time", "error"], kind="stable")
    best = ordered.groupby("case", sort=False)["error"].cummin()
    return ordered[ordered["error"] == best].drop_duplicates(["case", "error"])


def orders(rows: pd.DataFrame, column: Column) -> list[tuple[str, str, Order | Bound]]:
    """Return case, label and order of each formulation over the steps of a study; empty for a single step.

    Rows marked by a column `impacts` are of motion through impacts, where an error has a bound and no order.
    """
    if rows["step"].nunique() < 2:
        return []
    found: list[tuple[str, str, Order | Bound]] = []
    for (case, label), own in rows[rows["verified"]].groupby(["case", "label"], sort=False):
        first = own[own["solver"] == own["solver"].iloc[0]]
        errors = first.pivot_table(index="point", columns="step", values=column.name, aggfunc="first")
        if errors.shape[1] >= 2 and "impacts" in first and first["impacts"].all():
            found.append((str(case), str(label), error_bound(errors.columns.to_numpy(), errors.max().to_numpy())))
        elif errors.shape[1] >= 2:
            name = f"{column.name.removesuffix('_error')}_reference"
            known = first.groupby("point")[name].max().loc[errors.index].to_numpy() if name in first else None
            found.append((str(case), str(label), order(errors.columns.to_numpy(), errors.to_numpy(), known)))
    return found
