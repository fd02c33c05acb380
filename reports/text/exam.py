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


def worst(rows: pd.DataFrame) -> Any:
    """Return the most instructive row: the largest error, among the failed rows if there are any."""
    failed = rows[~rows["passed"].astype(bool)]
    rows = failed if len(failed) else rows
    return rows.iloc[int(rows["error"].fillna(-1.0).to_numpy().argmax())]


def passed(rows: pd.DataFrame) -> bool:
    """Return whether an experiment is passed: everything in it."""
    return bool(rows["passed"].all())


def with_unit(value: float, unit: str, beside: float = 0.0) -> str:
    """Format a number with a unit that also suits the number next to it; values below 1e-10 are round-off."""
    if abs(value) < 1e-10:
        return "0"
    size = max(abs(value), abs(beside))
    if unit in SMALLER:
        factor, smaller = next(x[1:] for x in SMALLER[unit] if size >= x[0])
        return f"{factor * value:.4g} {smaller}" if factor == 1 else f"{factor * value:.3g} {smaller}"
    return f"{value:.4g} {unit}" if unit not in ("", "1") else f"{value:.3g}"


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


def sentences(exam: Exam) -> list[str]:
    """Return the subjects that pass most, and the largest deviation of every other one."""
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
    for row in found:
        if row["failed"] and row["step"] == exam.steps[0]:
            own = exam.rows[(exam.rows["subject"] == row["subject"]) & (exam.rows["step"] == row["step"])]
            measured = own[own["value"].notna() & ~own["passed"].astype(bool)]
            least = f"; largest deviation: {against(worst(measured))}" if len(measured) else ""
            failed = ", ".join(x for x in row["failed"] if x not in row["unplayed"])
            score = f"{row['passed']} of {row['of']}{f' and fails {failed}' if failed else ''}"
            gaps = f"; incomplete: {', '.join(row['unplayed'])}" if row["unplayed"] else ""
            words.append(f"{row['subject']} passes {score}{gaps}{least}.")
    return words


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
    """Return for every step the verdict on an experiment and its most telling number, in short and in a sentence."""
    found: list[dict[str, Any]] = []
    for h in exam.steps:
        rows = exam.rows
        own = rows[(rows["subject"] == subject) & (rows["experiment"] == experiment) & (rows["step"] == h)]
        if own.empty:
            continue
        row = worst(own)
        number = "none" if pd.isna(row["value"]) else with_unit(row["value"], row["unit"])
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
