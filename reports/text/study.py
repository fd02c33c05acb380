"""Conclusions of a study in sentences."""

from typing import Any

import numpy as np
import pandas as pd

from workbench.builtin.reports.text.conclusions import listed
from workbench.comparison.columns import SHOWN, Column
from workbench.comparison.decision import amount
from workbench.comparison.metric import Metric
from workbench.studies.convergence import Bound, Order
from workbench.studies.tables import by_scheme, concerned, errors_of, first_window, varied_numbers

EXACT = "coulomb"
"""The formulation that is not ranked: its error is that of the time step alone."""
SAME = 1e-6
"""Relative difference up to which two errors are equal."""
SAMPLE = 8
"""Number of points with distinct values from which on they count as a sample, whose quarters are compared."""


def in_words(found: Order | Bound, column: Column) -> str:
    """Return a sentence on the fit of an error."""
    if isinstance(found, Bound):
        at_last = f"{with_unit(found.last, column)} at the smallest"
        return {
            "bounded": f"is at most C h, {with_unit(1e-3 * found.C, column)} per ms: {at_last}",
            "zero": "is zero at every step", "not": f"has no bound C h: {at_last}",
            "unknown": "not determined by these steps",
        }[found.falls]  # fmt: skip
    between = ""
    if np.isfinite([found.p_low, found.p_high]).all():
        between = f" ({found.p_low:.2f} to {found.p_high:.2f})"
    said = {
        "zero": "is zero at every step",
        "unknown": "not determined by these steps",
        "not": "does not fall with the step",
        "hardly": f"hardly falls with the step, order {found.p:.2f}{between}",
        "vanishes": f"vanishes with the step, order {found.p:.2f}{between or ', from two steps only'}",
        "limit": f"converges to {with_unit(found.limit, column)}",
    }[found.falls]
    ends = [with_unit(x, column) for x in (found.limit_low, found.limit_high)]
    if found.falls == "limit" and np.isfinite(found.limit_high) and ends[0] != ends[1]:
        said += f" ({ends[0]} to {ends[1]})"
    return said + (f": {with_unit(found.last, column)} at the smallest" if found.falls in ("not", "hardly") else "")


def conclusions(rows: pd.DataFrame, metrics: tuple[Metric, ...]) -> list[str]:
    """Return the smallest and largest errors over all points, and how errors depend on the parameters."""
    numbers, rows = varied_numbers(rows), first_window(by_scheme(rows))
    errors, said = errors_of(metrics, rows), []
    others = rows[rows["verified"] & (rows["label"] != EXACT)]
    for column in errors[:2]:
        medians = others.groupby("label")[column.name].median().dropna().sort_values()
        if len(medians) > 1:
            best, last = str(medians.index[0]), str(medians.index[-1])
            points = others.groupby(["case", "point", "step"]).ngroups
            over = f"Over all points the median {column.heading}" if points > 1 else f"The {column.heading}"
            often = f"; {_best_at(others, column, best)}" if points > 1 else ""
            said.append(
                f"{over} error is smallest for {best} ({with_unit(medians.iloc[0], column)}{often}) and largest for "
                f"{last} ({with_unit(medians.iloc[-1], column)})."
            )
    if said:
        said.append(_exact(rows, errors[:2]))
    if errors:
        for name in numbers:
            said += _trend(rows, errors[0], name)
    return said


def _exact(rows: pd.DataFrame, errors: list[Column]) -> str:
    """Return why exact Coulomb friction is not ranked, and its errors with the steps of the study if it is there."""
    words = "Exact Coulomb friction is not ranked, because errors are measured from Coulomb's law"
    own = rows[rows["verified"] & (rows["label"] == EXACT)]
    medians = [f"{with_unit(own[c.name].median(), c)} ({c.heading})" for c in errors if own[c.name].notna().any()]
    if not medians:
        return f"{words}."
    return f"{words}; the time step alone causes median errors of {listed(medians)}."


def _best_at(rows: pd.DataFrame, column: Column, label: str) -> str:
    """Return at how many points and steps no formulation has a smaller error than this one."""
    each = rows.pivot_table(index=["case", "point", "step"], columns="label", values=column.name, aggfunc="min")
    count = int((each[label] <= (1 + SAME) * each.min(axis=1)).sum())
    where = "points and steps" if rows["step"].nunique() > 1 else "points"
    return f"the smallest at {count} of {len(each)} {where}"


def _trend(rows: pd.DataFrame, column: Column, name: str) -> list[str]:
    """Return the formulation whose error changes most over the parameters."""
    values = rows[name]
    if not pd.api.types.is_numeric_dtype(values) or values.nunique() < 2:
        return []
    low, high = _ends(rows, name)
    ends: dict[str, tuple[float, float]] = {}
    others = concerned(rows, name)
    others = others[others["verified"] & (others["label"] != EXACT)]
    for label, own in others.groupby("label", sort=False):
        first, last = (own[column.name][own[name].between(*end)].median() for end in (low, high))
        if first > 0 and last > 0:
            ends[str(label)] = first, last
    if not ends:
        return []
    label = max(ends, key=lambda key: abs(np.log(ends[key][1] / ends[key][0])))
    before, after = (with_unit(x, column) for x in ends[label])
    between = f"{name} = {_between(low)} to {_between(high)}"
    if before == after:
        return [f"For {between} no {column.heading} error changes."]
    only = ", the largest change" if len(ends) > 1 else ""
    return [f"For {between} the {column.heading} error of {label} changes from {before} to {after}{only}."]


def _ends(rows: pd.DataFrame, name: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """The least and the largest value, or the lowest and the highest quarter of a sample's.

    Each value of a sample is that of one point, where all else that is varied differs as well.
    """
    values = np.sort(rows.groupby("point")[name].first().dropna())
    grid = len(np.unique(values)) < len(values) or len(values) < SAMPLE
    count = 1 if grid else len(values) // 4
    return (values[0], values[count - 1]), (values[-count], values[-1])


def _between(end: tuple[float, float]) -> str:
    low, high = (f"{x:.4g}" for x in end)
    return low if low == high else f"{low}...{high}"


def with_unit(value: Any, column: Column) -> str:
    """Format a value with its unit: a length with a suitable one, others as in tables."""
    if column.shown == "millimetres":
        return amount(value, column)
    factor, form, unit = SHOWN[column.shown]
    space = "" if unit == "°" else " "
    return f"{form.format(factor * value)}{space}{unit}".strip() if pd.notna(value) else "–"
