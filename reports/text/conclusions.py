"""Conclusions of a comparison in sentences: verified rows, smallest errors, and reasons.

Two errors whose difference is below the reference's own uncertainty are not ranked.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from workbench.builtin.reports.text.comparison import cell, who
from workbench.comparison.columns import Column
from workbench.comparison.decision import stops
from workbench.comparison.jobs import EVENTS
from workbench.comparison.result import GENERIC_SOLVER, Comparison

NAMED = 3
"""Things of one kind that a sentence names; of more the number."""
VELOCITY = "velocity_error"
"""The error of cases that the summary ranks; places are by the motion (`comparison.decision`)."""
NEGLIGIBLE = 1e-6
"""Errors up to this share, or number of metres, have no reason worth a sentence."""
CLEAR = 1.2
"""Factor up to which errors share a rank."""


def summary(c: Comparison) -> list[str]:
    """The whole of it, for the first window."""
    window, rows = next(iter(c.windows.items()))
    verified = verified_in_words(rows, is_cross_check(c, rows), c.case is not None)
    sentences = [" ".join([f"{verified}, by the residual of the posed problem.", *not_verified(rows), *_early(c)])]
    for h in c.settings.steps if c.case else (None,):
        at = f"at {1e3 * h:g} ms, " if h and len(c.settings.steps) > 1 else ""
        where = at + (f"in the window “{window}”, " if c.case else "")
        sentences += about_step(c, rows if h is None else rows[rows["step"] == h], where)
    return [*sentences, *_known(c, rows), *c.remarks]


def is_cross_check(c: Comparison, rows: pd.DataFrame) -> "pd.Series[bool]":
    """Return which rows of a window are cross-checks by the generic solver."""
    if c.stepped:
        return rows["sampled"].astype(bool) if c.case else pd.Series(False, rows.index)
    return (rows["solver"] == GENERIC_SOLVER) & rows["label"].duplicated()


def verified_in_words(rows: pd.DataFrame, again: "pd.Series[bool]", case: bool) -> str:
    """Return the number of verified rows of a window; those that are cross-checks, `again`, are counted separately."""
    own, checks = rows[~again], rows[again]
    sampled = " in sampled steps" if case else ""
    crossed = f", and {checks['verified'].sum()} of {len(checks)} cross-checks{sampled}" if len(checks) else ""
    what = "runs are verified in every step of the window" if case else "answers are verified"
    return f"{own['verified'].sum()} of {len(own)} {what}{crossed}"


def _early(c: Comparison) -> list[str]:
    """Return the runs that stop after the window and before the end."""
    end = float(list(c.windows.values())[-1]["window_end"].iloc[0]) if c.case is not None else 0.0
    early = [f"{x} at {t:.4g} s" for x, t in stops(c, c.settings.steps[0]).items()]
    if not early:
        return []
    return [f"Stopped before the end at {end:g} s: {', '.join(early)}; the last table gives the reason."]


def uncertainty(c: Comparison) -> str:
    """Return how the uncertainty of a case's reference is measured."""
    if c.settings.reference == EVENTS:
        return "the change with coarser tolerances"
    return "twice the change at half its step"


def _known(c: Comparison, rows: pd.DataFrame) -> list[str]:
    """Return the uncertainty of the reference, and the difference from which on rows can be distinguished."""
    parts = []
    if rows.get("velocity_reference", pd.Series(dtype=float)).notna().any():
        known = f"{100 * rows['velocity_reference'].max():.3g} %"
        parts.append(f"The velocity of the reference is known to {known} ({uncertainty(c)}).")
    if c.truths:
        failing = [t.name for t in c.truths if not t.holds]
        held = f"{len(c.truths) - len(failing)} of {len(c.truths)} checks against theory hold"
        parts.append(held + (f"; these fail: {', '.join(failing)}." if failing else "."))
    apart = ", or closer than the reference's uncertainty," if c.case is not None else ""
    parts.append(f"Velocity errors within a factor of {CLEAR:g}{apart} are not ranked.")
    return [" ".join(parts)]


def not_verified(rows: pd.DataFrame) -> list[str]:
    """Return the unverified rows by outcome: no solution, a solution of some steps only, an inaccurate one."""
    found: dict[str, list[str]] = {}
    for r in rows[~rows["verified"]].to_dict("records"):
        inaccurate = r["claimed"] == "INACCURATE" and pd.notna(r["residual"])
        begun = pd.notna(r["residual"]) or r.get("steps", 0) > 0
        word = (
            "Residual above the tolerance" if inaccurate
            else "No solution found at some step (see the table)" if begun
            else "Refused (see the table)" if r["claimed"] == "REFUSED"
            else "No solution found (see the table)"
        )  # fmt: skip
        own = f"{who(r)} ({r['residual']:.0e}, allowed {r['tolerance']:.0e})" if inaccurate else who(r)
        found.setdefault(word, []).append(own)
    return [f"{word}: {', '.join(some)}." for word, some in found.items()]


def about_step(c: Comparison, rows: pd.DataFrame, where: str) -> list[str]:
    """Return the conclusions on the rows of one step size."""
    others = rows[rows["verified"] & (rows["formulation"] != "coulomb")]
    equal = others.drop_duplicates("label")
    columns = {x.name: x for m in c.metrics for x in m.columns}
    order = ranking(equal, columns[VELOCITY]) if c.stepped and VELOCITY in columns and VELOCITY in equal else []
    found = [capital(f"{where}{sentence(columns[VELOCITY], 'velocity error', order, equal)}")] if order else []
    found += [
        turned_axes(others, columns), within_reference(equal), mostly_step_size(equal), cancelled(equal), impacts(rows),
        redundancy(rows), same_modes(others),
    ]  # fmt: skip
    return [words for words in found if words]


def ranking(rows: pd.DataFrame, column: Column) -> list[list[str]]:
    """Return labels by the error of a column, smallest first, grouped where errors share a rank."""
    errors = by_error(rows, column)
    if len(errors) < 2 or errors.max() < NEGLIGIBLE:
        return []
    name = column.name.replace("_error", "_reference")
    noise = float(rows[name].max()) if name in rows and rows[name].notna().any() else 0.0
    groups: list[list[str]] = []
    first = np.nan
    for label, error in errors.items():
        if not (groups and error <= max(CLEAR * first, first + noise, NEGLIGIBLE)):
            groups.append([])
            first = error
        groups[-1].append(str(label))
    return groups


def by_error(rows: pd.DataFrame, column: Column) -> pd.Series:
    """Return the defined errors by label, smallest first; errors equal in three digits keep the order of the table."""
    errors = rows.set_index("label")[column.name].dropna()
    return errors.sort_values(kind="stable", key=lambda x: x.map("{:.2e}".format).astype(float))


def sentence(column: Column, what: str, order: list[list[str]], rows: pd.DataFrame) -> str:
    """Return the formulations with the smallest and the largest error, `what` in words."""
    errors = rows.set_index("label")[column.name]
    low, high = (listed(group) for group in (order[0], order[-1]))
    near, far = (span(errors[group], column) for group in (order[0], order[-1]))
    if len(order) == 1:
        return f"all formulations have about the same {what} ({near})."
    return f"the {what} is smallest for {low} ({near}) and largest for {high} ({far})."


def listed(names: Sequence[str]) -> str:
    """Names as a sentence has them: a, b and c; what all of them are with is said once."""
    shared = {name.partition(" with ")[2] for name in names}
    if len(names) > 1 and len(shared) == 1 and "" not in shared:
        bare = listed([name.partition(" with ")[0] for name in names])
        return f"{bare} ({'both' if len(names) == 2 else 'all'} with {shared.pop()})"
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def few(names: Sequence[str]) -> str:
    """Return the first few names and the number of others."""
    return listed([*names[:NAMED], *[f"{len(names) - NAMED} more"] * (len(names) > NAMED)])


def span(errors: pd.Series, column: Column) -> str:
    low, high = cell(errors.min(), column), cell(errors.max(), column)
    unit = column.title.rpartition("[")[2].rstrip("]")
    return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"


def turned_axes(rows: pd.DataFrame, columns: Mapping[str, Column]) -> str:
    """Return the effect of axes that turn with the sliding direction."""
    # Of the motion, which may get worse where single steps from the exact states get better.
    name = "velocity_error" if "velocity_error" in columns and "velocity_error" in rows else ""
    if "axes" not in rows or not name:
        return ""
    first, x = rows.drop_duplicates("label"), columns[name]
    both = first.pivot_table(index="formulation", columns="axes", values=name, sort=False)
    for axes in ("fixed", "sliding"):
        if axes not in both:
            both[axes] = np.nan
    pairs = both.dropna(subset=["fixed", "sliding"])
    found = {
        verb: [f"{f} ({cell(r['fixed'], x)} to {cell(r['sliding'], x)})" for f, r in pairs[which].iterrows()]
        for verb, which in (
            ("reduce", pairs["sliding"] * CLEAR < pairs["fixed"]),
            ("increase", pairs["sliding"] > CLEAR * pairs["fixed"]),
        )
    }  # fmt: skip
    parts = [f"{verb} the error of {', '.join(some)}" for verb, some in found.items() if some]
    if not parts:
        return ""
    return f"Axes along the sliding direction {' and '.join(parts)}, in the column “{x.title}”."


def within_reference(rows: pd.DataFrame) -> str:
    """Return the formulations whose error is below the reference's uncertainty."""
    if not {"velocity_error", "velocity_reference"} <= set(rows):
        return ""
    close = rows[rows["velocity_error"] <= rows["velocity_reference"]]
    return f"Velocity errors within the reference's uncertainty: {', '.join(close['label'])}." if len(close) else ""


def mostly_step_size(rows: pd.DataFrame) -> str:
    """Return the formulations whose error is mostly due to the step size."""
    if not {"velocity_discretisation", "velocity_formulation"} <= set(rows):
        return ""
    step = rows["velocity_discretisation"]
    mostly = rows[(step > rows["velocity_formulation"].fillna(np.inf)) & (step > NEGLIGIBLE)]
    if mostly.empty:
        return ""
    return (
        f"The velocity error of {', '.join(mostly['label'])} comes more from the time step than from the model: that "
        f"of exact Coulomb friction at the same step is {100 * mostly['velocity_discretisation'].iloc[0]:.3g} %."
    )


def cancelled(rows: pd.DataFrame) -> str:
    """Name formulations whose error is smaller than one of its parts: parts have directions and may cancel."""
    parts = [x for x in ("velocity_formulation", "velocity_compliance") if x in rows]
    if "velocity_error" not in rows or not parts:
        return ""
    found = rows[rows[parts].max(axis=1) > CLEAR * rows["velocity_error"].clip(lower=NEGLIGIBLE)]
    vectors = [
        f"{r['label']} ({', '.join(f'{100 * r[x]:.3g} % from {WORDS[x]}' for x in parts if pd.notna(r[x]))}; "
        f"{100 * r['velocity_error']:.3g} % in total)"
        for r in found.to_dict("records")
    ]
    return f"Parts of an error may cancel, as in the velocity of {', '.join(vectors)}." if vectors else ""


WORDS = {"velocity_formulation": "the formulation", "velocity_compliance": "the run's tangential compliance"}
"""Sources of the parts of a velocity error."""


def impacts(rows: pd.DataFrame) -> str:
    """Return whether impulses come at other instants than in the reference under exact Coulomb friction itself."""
    if "wrench_discretisation" not in rows or not rows["wrench_discretisation"].max() > 0.5:
        return ""
    return (
        "Impacts fall a step earlier or later than in the reference: exact Coulomb friction at the same step has a "
        f"wrench error of {100 * rows['wrench_discretisation'].max():.3g} %. Compare velocity and position instead of "
        "friction and wrench."
    )


def redundancy(rows: pd.DataFrame) -> str:
    """Return a sentence on impulses that redundant contacts leave undetermined, and on the compared quantity."""
    if "free_directions" not in rows or not rows["free_directions"].max() > 0:
        return ""
    free = int(rows["free_directions"].max())
    elsewhere = ", elsewhere only the net wrench" if "wrench_error" in rows else " only"
    return (
        f"Contacts are redundant: in up to {free} direction{'s' * (free > 1)} the motion does not determine the "
        f"impulses. Friction is compared where it is determined{elsewhere}."
    )


def same_modes(rows: pd.DataFrame) -> str:
    """Name the formulations whose contacts have the modes of a problem's exact solution."""
    rows = rows.drop_duplicates("label")
    if "other_mode" not in rows or len(rows) < 2:
        return ""
    agreed = list(rows["label"][rows["other_mode"] == 0])
    if not agreed:
        return "No other formulation has every contact in the mode (open, sliding, sticking) of the exact solution."
    return (
        "Judged by velocities, every contact has the mode (open, sliding, sticking) of the exact solution under "
        f"{listed(agreed)}."
    )


def significant(x: float, digits: int = 2) -> str:
    """A number with so many significant digits, and no more zeros than it needs."""
    return f"{float(f'{x:.{digits}g}'):g}"


def capital(text: str) -> str:
    """Return the text with a capital letter first."""
    return text[:1].upper() + text[1:]
