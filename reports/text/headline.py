"""The three sentences that a comparison begins with: who is how wrong, by what mechanism, and how sure this is."""

import pandas as pd

from workbench.builtin.reports.text.comparison import cell
from workbench.builtin.reports.text.conclusions import (
    NEGLIGIBLE,
    called,
    errs,
    ranking,
    same_modes,
    sentence,
    with_equal_axes,
)
from workbench.comparison.result import Comparison

MOST = 2
"""Reasons that the headline gives for one formulation."""


def headline(c: Comparison) -> list[str]:
    """Sentences made from the numbers of the first window and step size; those that have no numbers are left out."""
    rows = next(iter(c.windows.values()))
    if c.case is not None:
        rows = rows[rows["step"] == c.settings.steps[0]]
    others = with_equal_axes(rows[rows["verified"] & (rows["formulation"] != "coulomb")])
    columns = {x.name: x for m in c.metrics for x in m.columns}
    for name, what in called(c).items():
        order = ranking(others, columns[name]) if name in columns and name in others else []
        if order:
            first = sentence(columns[name], what, order, others)
            return [first[0].upper() + first[1:], *_mechanism(c, order, others), _sure(c, rows)]
    alike = [name for name in called(c) if name in others and (others[name].dropna() < NEGLIGIBLE).all()]
    if len(others) > 1 and alike and not others[alike].isna().all(axis=None):
        return ["Every verified formulation moves as under Coulomb's law, but for less than 1e-6.", _sure(c, rows)]
    return [_sure(c, rows)]


def _mechanism(c: Comparison, order: list[list[str]], rows: pd.DataFrame) -> list[str]:
    if c.case is None:
        return [words] if (words := same_modes(rows)) else []
    found, ends = errs(c), (order[0], order[-1]) if len(order) > 1 else (order[0],)
    parts = [f"for {group[0]}, {' and '.join(found[group[0]][:MOST])}" for group in ends if group[0] in found]
    return [f"Mechanisms that show in the numbers: {'; '.join(parts)}."] if parts else []


def _sure(c: Comparison, rows: pd.DataFrame) -> str:
    own = "every step solves its own problem within the stated tolerance" if c.case else "they solve their own problem"
    parts = [f"{rows['verified'].sum()} of {len(rows)} answers are verified: {own}"]
    columns = {x.name: x for m in c.metrics for x in m.columns}
    if "velocity_reference" in rows and rows["velocity_reference"].notna().any():
        known = cell(rows["velocity_reference"].max(), columns["velocity_reference"])
        parts.append(f"the reference's velocity is known to {known} %")
    if c.truths:
        parts.append(f"{sum(t.holds for t in c.truths)} of {len(c.truths)} checks of it against theory hold")
    if c.known:
        parts.append(f"the exact solution's own residual is {c.known['residual']:.0e}")
    return f"How sure: {'; '.join(parts)}."
