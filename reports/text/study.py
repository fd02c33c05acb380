"""What a study says in sentences."""

from typing import Any

import numpy as np
import pandas as pd

from workbench.comparison.columns import SHOWN, Column
from workbench.studies.convergence import Order
from workbench.studies.tables import concerned


def in_words(found: Order, column: Column) -> str:
    """What a fit says of an error."""
    between = ""
    if np.isfinite([found.p_low, found.p_high]).all():
        between = f" ({found.p_low:.2f} to {found.p_high:.2f})"
    said = {
        "zero": "is zero at every step",
        "unknown": "not told by these steps",
        "not": "does not fall with the step",
        "hardly": f"hardly falls with the step, order {found.p:.2f}{between}",
        "vanishes": f"vanishes with the step, order {found.p:.2f}{between or ', by two steps alone'}",
        "limit": f"comes to {shown(found.limit, column)}",
    }[found.falls]
    ends = [shown(x, column) for x in (found.limit_low, found.limit_high)]
    if found.falls == "limit" and np.isfinite(found.limit_high) and ends[0] != ends[1]:
        said += f" ({ends[0]} to {ends[1]})"
    return said + (f": {shown(found.last, column)} at the smallest" if found.falls in ("not", "hardly") else "")


def sentences(rows: pd.DataFrame, errors: list[Column], varied: list[str]) -> list[str]:
    """Who is closest and who is farthest over all points, and how errors follow what is varied."""
    said = []
    for column in errors[:2]:
        medians = rows[rows["verified"]].groupby("label")[column.name].median().dropna().sort_values()
        medians = medians[medians.index != "coulomb"]
        if len(medians) > 1:
            best, last = (f"{medians.index[i]} ({shown(medians.iloc[i], column)})" for i in (0, -1))
            said.append(
                f"Over all points the {column.heading} error, a median, is smallest under {best}, largest under {last}."
            )
    if errors:
        for name in varied:
            said += _trend(rows, errors[0], name)
    return said


def _trend(rows: pd.DataFrame, column: Column, name: str) -> list[str]:
    """Which formulation's error changes most over what is varied."""
    values = rows[name]
    if not pd.api.types.is_numeric_dtype(values) or values.nunique() < 2:
        return []
    ends = {}
    others = concerned(rows, name)
    others = others[others["verified"] & (others["label"] != "coulomb")]
    for label in others["label"].unique():
        own = others[others["label"] == label]
        medians = own.groupby(name)[column.name].median().dropna()
        medians = medians[medians > 0]
        if len(medians) > 1:
            ends[label] = (medians.iloc[0], medians.iloc[-1], medians.index[0], medians.index[-1])
    if not ends:
        return []
    label = max(ends, key=lambda key: abs(np.log(ends[key][1] / ends[key][0])))
    first, last, low, high = ends[label]
    if shown(first, column) == shown(last, column):
        return [f"From {name} = {low:.4g} to {high:.4g} no {column.heading} error changes."]
    only = ", which is the largest change" if len(ends) > 1 else ""
    return [
        f"From {name} = {low:.4g} to {high:.4g} the {column.heading} error of {label} goes from {shown(first, column)} "
        f"to {shown(last, column)}{only}."
    ]


def shown(value: Any, column: Column) -> str:
    """A value as tables show it, with its unit."""
    factor, form, unit = SHOWN[column.shown]
    space = "" if unit == "°" else " "
    return f"{form.format(factor * value)}{space}{unit}".strip() if pd.notna(value) else "–"
