"""Sentences and table cells of the exam."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from workbench.builtin.reports.text.conclusions import listed
from workbench.exams.examine import Exam

REFERENCE = "coulomb"
"""The subject that others are laid over where it is there: exact Coulomb friction."""
COLOURS = ((1.0, "brightgreen"), (0.7, "yellow"), (0.0, "red"))
"""Colours of a badge, with the smallest share of passed experiments of each."""
SMALLER = {
    "m": ((0.5, 1.0, "m"), (1e-4, 1e3, "mm"), (1e-7, 1e6, "µm"), (0.0, 1e9, "nm")),
    "m/s": ((0.5, 1.0, "m/s"), (1e-3, 1e3, "mm/s"), (0.0, 1e6, "µm/s")),
}
"""Smaller units, each with the smallest value for which it is used and its factor."""
ROUND_OFF = 1e-10
MOST = 999.0
"""Largest multiple of a bound that is printed in full."""


def worst(rows: pd.DataFrame) -> Any:
    """Return the most instructive row: the largest error, among the failed rows if there are any."""
    failed = rows[~rows["passed"].astype(bool)]
    rows = failed if len(failed) else rows
    return rows.iloc[int(rows["error"].fillna(-1.0).to_numpy().argmax())]


def passed(rows: pd.DataFrame) -> bool:
    """Return whether an experiment is passed: everything in it."""
    return bool(rows["passed"].all())


def scaled(unit: str, size: float) -> tuple[float, str]:
    """Return the unit that suits a number of this size, and its factor."""
    return next((x[1:] for x in SMALLER.get(unit, ()) if size >= x[0]), (1.0, unit))


def with_unit(value: float, unit: str, beside: float = 0.0) -> str:
    """Format a number with a unit that also suits the number next to it; values below 1e-10 are round-off."""
    if abs(value) < ROUND_OFF:
        return "0"
    factor, shown = scaled(unit, max(abs(value), abs(beside)))
    digits = 4 if factor == 1 and unit not in ("", "1") else 3
    return f"{factor * value:.{digits}g} {shown}".removesuffix(" 1").rstrip()


def in_column(value: float, factor: float) -> str:
    """Format a number of a column whose head has the unit."""
    x = factor * value
    if abs(value) < ROUND_OFF:
        return "0"
    return f"{x:.4g}" if abs(x) < 1e4 else f"{x:.0f}"


def of_bound(error: float) -> str:
    """Format a deviation as a multiple of its bound."""
    if error > MOST:
        return f"> {MOST:g}"
    return f"{error:.2f}" if error <= 1 else f"{error:.1f}" if error < 9.95 else f"{error:.0f}"


def against(row: Any) -> str:
    """Format a measured number with its theoretical value, or the reason why there is none."""
    if pd.isna(row["value"]):
        return f"{row['trial']}: {row['reason']}"
    return (
        f"{row['quantity']}, {row['trial']}: {with_unit(row['value'], row['unit'], row['truth'])}, "
        f"theory {with_unit(row['truth'], row['unit'], row['value'])}, within {with_unit(row['bound'], row['unit'])}"
    )


def tally(exam: Exam) -> list[dict[str, Any]]:
    """Count by subject and step the experiments passed, and list those failed and those not run."""
    rows = []
    for (subject, h), found in exam.rows.groupby(["subject", "step"], sort=False):
        by = {str(name): passed(x) for name, x in found.groupby("experiment", sort=False)}
        failed = [name for name, yes in by.items() if not yes]
        missing = list(found[found["value"].isna()]["experiment"].unique())
        score = {"passed": len(by) - len(failed), "of": len(by), "failed": failed, "unplayed": missing}
        rows.append({"subject": subject, "step": h, **score})
    return rows


def ranked(exam: Exam) -> list[str]:
    """The subjects, those first that pass most over all steps; of equals the reference, then as they came."""
    scores = dict.fromkeys(exam.subjects, 0)
    for row in tally(exam):
        scores[row["subject"]] += row["passed"]
    return sorted(exam.subjects, key=lambda name: (-scores[name], name != REFERENCE))


def leading(exam: Exam) -> list[str]:
    """Return for every step the subjects that pass most."""
    order = {name: place for place, name in enumerate(ranked(exam))}
    found, words = sorted(tally(exam), key=lambda row: order[row["subject"]]), []
    for h in exam.steps:
        rows = [row for row in found if row["step"] == h]
        most = max(row["passed"] for row in rows)
        best, of = listed([row["subject"] for row in rows if row["passed"] == most]), rows[0]["of"]
        what, at = "the experiment" if of == 1 else f"all {of} experiments", f"With {1e3 * h:g} ms steps"
        if most == of:
            words.append(f"{at} {what} {'is' if of == 1 else 'are'} passed by {best}.")
        elif most == 0:
            words.append(f"{at} no subject passes {'the' if of == 1 else 'any'} experiment.")
        else:
            words.append(f"{at} no subject passes {what}; {best} passes the most, {most}.")
    return words


def failures(exam: Exam) -> list[tuple[str, list[str]]]:
    """Return a sentence on every subject that fails at the first step, and each failed experiment with its numbers."""
    order = {name: place for place, name in enumerate(ranked(exam))}
    found = []
    for row in sorted(tally(exam), key=lambda row: order[row["subject"]]):
        if not row["failed"] or row["step"] != exam.steps[0]:
            continue
        own = exam.rows[(exam.rows["subject"] == row["subject"]) & (exam.rows["step"] == row["step"])]
        measured = own[own["value"].notna() & ~own["passed"].astype(bool)]
        least = f"; largest deviation: {against(worst(measured))}" if len(measured) else ""
        failed = ", ".join(x for x in row["failed"] if x not in row["unplayed"])
        score = f"{row['passed']} of {row['of']}{f' and fails {failed}' if failed else ''}"
        gaps = f"; incomplete: {', '.join(row['unplayed'])}" if row["unplayed"] else ""
        causes = [f"{name}: {_cause(own[own['experiment'] == name])}." for name in row["failed"]]
        found.append((f"{row['subject']} passes {score}{gaps}{least}.", causes))
    return found


def _cause(rows: pd.DataFrame) -> str:
    """Return by how much a subject misses the bound of an experiment, and why trials were not run."""
    measured, unplayed = rows[rows["value"].notna()], rows[rows["value"].isna()]
    found = [against(row) for _, row in unplayed.iterrows()]
    if not measured["passed"].all():
        row = worst(measured)
        found.insert(0, f"{against(row)}; {of_bound(row['error'])} times the bound")
    return "; ".join(found)


def sentences(exam: Exam) -> list[str]:
    """Return the subjects that pass most, and the largest deviation of every other one."""
    return [*leading(exam), *(sentence for sentence, _ in failures(exam))]


def badges(exam: Exam, version: str) -> list[dict[str, Any]]:
    """Return results for continuous integration: passed experiments, and a badge in the form of shields.io."""
    found = []
    for row in tally(exam):
        share = row["passed"] / row["of"]
        badge = {
            "schemaVersion": 1, "label": f"contact exam {version}, {1e3 * row['step']:g} ms",
            "message": f"{row['passed']} of {row['of']}", "color": next(c for least, c in COLOURS if share >= least),
        }  # fmt: skip
        found.append({"exam": version, "version": exam.subjects[row["subject"]], **row, "badge": badge})
    return found


def cells(exam: Exam, subject: str, experiment: str) -> list[dict[str, Any]]:
    """Return for every step the verdict on an experiment and its largest deviation, in bounds and in a sentence."""
    found: list[dict[str, Any]] = []
    for h in exam.steps:
        rows = exam.rows
        own = rows[(rows["subject"] == subject) & (rows["experiment"] == experiment) & (rows["step"] == h)]
        if own.empty:
            continue
        row = worst(own)
        number = "none" if pd.isna(row["value"]) else of_bound(row["error"])
        found.append({"passed": passed(own), "number": number, "says": against(row), "trial": row["trial"], "step": h})
    return found


def contacts(exam: Exam, names: Sequence[str]) -> dict[str, str]:
    """Return the number of contacts that a subject reports, experiment by experiment."""
    found = {}
    for name in names:
        counted = exam.rows[(exam.rows["subject"] == name)].dropna(subset=["contacts"])
        most = counted.groupby("experiment", sort=False)["contacts"].max()
        found[name] = ", ".join(f"{experiment} {int(n)}" for experiment, n in most.items() if n > 0)
    return found
