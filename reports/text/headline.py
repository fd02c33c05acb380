"""What a comparison begins with: what is compared with what, who is how wrong in which sense, why, and how sure."""

from typing import NamedTuple

import pandas as pd

from workbench.builtin.reports.text.comparison import cell
from workbench.builtin.reports.text.conclusions import (
    CLEAR,
    NEGLIGIBLE,
    by_error,
    called,
    listed,
    ranking,
    sentence,
    small,
    span,
    stops,
    with_equal_axes,
)
from workbench.builtin.reports.text.mechanisms import errs
from workbench.builtin.reports.text.motion_sense import at_the_end, motion_sense
from workbench.comparison.columns import Column
from workbench.comparison.result import Comparison


class Ranked(NamedTuple):
    """What the headline ranks: the column, its words, labels by their error, and the rows of equal axes."""

    column: Column
    what: str
    order: list[list[str]]
    rows: pd.DataFrame

    @property
    def errors(self) -> pd.Series:
        return self.rows.set_index("label")[self.column.name]


def compared(c: Comparison) -> str:
    """What is compared with what, where, and what a percent is a percent of."""
    if c.case is None:
        return (
            "One step, solved once by each formulation, against the exact solution of Coulomb's law; velocities in "
            "percent of the velocity |q| without contact forces, friction in percent of μ p_n."
        )
    window, rows = next(iter(c.windows.items()))
    start, end = rows[["window_start", "window_end"]].iloc[0]
    where = f"{start:g} s ≤ t < {end:g} s"
    if window != "all":
        where += f" of {list(c.windows.values())[-1]['window_end'].iloc[0]:g} s (the window “{window}”)"
    single = "local_velocity_error" in rows and rows["local_velocity_error"].notna().any()
    steps = (
        " Step by step: single steps from the states of exact Coulomb friction at that step, in percent of what "
        "contacts do to the velocity."
    )
    return (
        f"Formulations at {1e3 * c.settings.steps[0]:g} ms a step against exact Coulomb friction, {where}."
        f"{steps if single else ''} In motion: runs from the start against the reference, exact Coulomb friction at "
        f"{1e3 * c.settings.reference_step:g} ms."
    )


def headline(c: Comparison) -> list[str]:
    """Sentences made from the numbers of the first window and step size; those that have no numbers are left out."""
    rows, found = _rows(c), ranked(c)
    if found is None:
        others = _others(rows)
        alike = [name for name in called(c) if name in others and (others[name].dropna() < NEGLIGIBLE).all()]
        same = len(others) > 1 and alike and not others[alike].isna().all(axis=None)
        first = "Every verified formulation moves as under Coulomb's law, but for less than 1e-6." if same else ""
        return [words for words in (first, _alone(c, others), _sure(c, rows, None)) if words]
    best, worst = _ends(c, found)
    motion = _friction(found) if c.case is None else motion_sense(c, found.rows, best, worst) or _freely(c, found, best)
    said = [_first(c, found, rows), motion, _mechanism(c, best, worst), _sure(c, rows, found)]
    return [words for words in said if words]


def extremes(c: Comparison) -> tuple[str, str] | None:
    """Labels that the headline is about: a closest one, if possible one that comes to its end, and the farthest."""
    found = ranked(c)
    return None if found is None else _ends(c, found)


def _ends(c: Comparison, found: Ranked) -> tuple[str, str]:
    early = stops(c)
    return next((x for x in found.order[0] if x not in early), found.order[0][0]), found.order[-1][-1]


def ranked(c: Comparison) -> Ranked | None:
    """The first error of `called` that ranks the formulations, in the first window at the first step size."""
    others = _others(_rows(c))
    columns = {x.name: x for m in c.metrics for x in m.columns}
    for name, what in called(c).items():
        order = ranking(others, columns[name]) if name in columns and name in others else []
        if order:
            return Ranked(columns[name], what, order, others)
    return None


def _rows(c: Comparison) -> pd.DataFrame:
    rows = next(iter(c.windows.values()))
    return rows[rows["step"] == c.settings.steps[0]] if c.stepped else rows


def _others(rows: pd.DataFrame) -> pd.DataFrame:
    return with_equal_axes(rows[rows["verified"] & (rows["formulation"] != "coulomb")])


def _alone(c: Comparison, others: pd.DataFrame) -> str:
    """How far the only formulation is from Coulomb's law, in all senses in which several are ranked."""
    if len(others) != 1:
        return ""
    label, columns = str(others["label"].iloc[0]), {x.name: x for m in c.metrics for x in m.columns}
    errors = {name: others[name] for name in called(c) if name in columns and name in others}
    misses = [
        f"{span(x, columns[name])} {small(called(c)[name])}" for name, x in errors.items() if x.iloc[0] >= NEGLIGIBLE
    ]
    if not misses:
        return ""
    return f"Beside Coulomb's law {label} is off by {listed(misses)}{at_the_end(c, label)}."


def _first(c: Comparison, found: Ranked, rows: pd.DataFrame) -> str:
    """Who is closest and farthest, and what turned axes, which are not ranked, come to."""
    words = sentence(found.column, found.what, found.order, found.rows, stops(c))
    turned = rows[rows["verified"] & ~rows["label"].isin(found.rows["label"]) & (rows["formulation"] != "coulomb")]
    errors = by_error(turned.drop_duplicates("label"), found.column)
    early = stops(c)
    lasting = errors[[x not in early for x in errors.index]]
    if len(lasting):
        least = f"{lasting.index[0]} to {cell(lasting.iloc[0], found.column)} %"
        words = f"{words[:-1]}; axes that turn with the sliding, not ranked here, bring {least}."
    return words[0].upper() + words[1:]


def _friction(found: Ranked) -> str:
    """What the velocity of a problem hides: how far friction itself is off, and how little of it the velocity shows."""
    if "friction_error" not in found.rows:
        return ""
    own = found.rows.set_index("label")["friction_error"][found.order[0]].dropna()
    if own.empty or own.max() < NEGLIGIBLE:
        return ""
    bare = found.errors[found.rows.set_index("label")["formulation"] == "frictionless"].dropna()
    cost = f", and leaving it out costs the velocity {100 * bare.iloc[0]:.3g} %" if len(bare) else ""
    return f"Friction itself is {100 * own.max():.3g} % off under {listed(found.order[0])}{cost}."


def _freely(c: Comparison, found: Ranked, best: str) -> str:
    """The other sense where there is no motion to look at: velocities of runs from the start."""
    name = "velocity_error"
    if found.column.name == name or name not in found.rows:
        return ""
    column = next(x for m in c.metrics for x in m.columns if x.name == name)
    order, errors = ranking(found.rows, column), found.rows.set_index("label")[name]
    if not order or pd.isna(errors[best]):
        return ""
    low, own = order[0][0], f"{cell(errors[best], column)} %"
    if best in order[0]:
        return f"Runs from the start agree: in velocity {best} is among the closest ({own})."
    return f"In the velocity of runs from the start {low} is closest ({cell(errors[low], column)} %), {best} {own} off."


def _mechanism(c: Comparison, best: str, worst: str) -> str:
    found = errs(c)
    parts = [f"{x}: {found[x][0]}" for x in dict.fromkeys((best, worst)) if x in found]
    return f"Mechanisms that show: {'; '.join(parts)}." if parts else ""


def _sure(c: Comparison, rows: pd.DataFrame, found: Ranked | None) -> str:
    runs = rows if c.case is None else rows[~rows["sampled"].astype(bool)]
    what = "answers are" if c.case is None else "runs are"
    early = len(stops(c))
    there = "" if c.case is None else " in the window"
    end = f", and {early} of them {'stop' if early > 1 else 'stops'} after it" if early else ""
    parts = [f"{runs['verified'].sum()} of {len(runs)} {what} verified{there}{end}"]
    if found and len(found.order) > 1:
        parts.append(_lead(c, found))
    failing = sum(not t.holds for t in c.truths)
    if failing:
        parts.append(f"{failing} of {len(c.truths)} checks of the reference against theory fail")
    if c.known:
        parts.append(f"the exact solution's own residual is {c.known['residual']:.0e}")
    elif found and found.column.name == "local_velocity_error":
        parts.append("single steps have none of the reference's uncertainty")
    return f"How sure: {'; '.join(parts)}."


def _lead(c: Comparison, found: Ranked) -> str:
    """By how much the closest formulations are ahead of the next, and whether another heading may change that."""
    errors, (low, after) = found.errors, found.order[:2]
    worst, following = float(errors[low].max()), float(errors[after[0]])
    ahead = f"{following / worst:.2g} times as far" if worst > NEGLIGIBLE else f"{cell(following, found.column)} % off"
    best, _ = _ends(c, found)
    turned = found.rows.set_index("label").get("yaw_spread", pd.Series(dtype=float)).get(best, 0.0)
    here = found.column.name == "local_velocity_error" and turned > CLEAR * max(float(errors[best]), NEGLIGIBLE)
    bound = ", in this heading of the scene" if here else ""
    bare = ", and friction hardly matters here" if "frictionless" in low else ""
    return f"{after[0]}, the next, is {ahead}{bound}{bare}"
