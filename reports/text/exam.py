"""What the exam says in words and in the cells of its table."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from workbench.exams.examine import Exam

COLOURS = ((1.0, "brightgreen"), (0.7, "yellow"), (0.0, "red"))
"""Of a badge, from this share of passed experiments on."""
UNITS = {"m": (1e3, "mm"), "m/s": (1e3, "mm/s")}
"""Small numbers of these are told in smaller units."""


def worst(rows: pd.DataFrame) -> Any:
    """The row that says most: of what is not passed, if there is something, the one with the largest error."""
    failed = rows[~rows["passed"].astype(bool)]
    rows = failed if len(failed) else rows
    return rows.iloc[0] if rows["error"].isna().all() else rows.iloc[int(rows["error"].to_numpy().argmax())]


def passed(rows: pd.DataFrame) -> bool:
    """Whether an experiment is passed: everything in it."""
    return bool(rows["passed"].all())


def told(value: float, unit: str) -> str:
    """A number with its unit, to three or four figures; what is below 1e-10 is round-off."""
    value = 0.0 if abs(value) < 1e-10 else value
    if unit == "m/s" and 0 < abs(value) < 1e-3:
        return f"{1e6 * value:.3g} µm/s"
    if unit in UNITS and 0 < abs(value) < 0.5:
        factor, smaller = UNITS[unit]
        return f"{factor * value:.3g} {smaller}"
    return f"{value:.4g} {unit}" if unit not in ("", "1") else f"{value:.3g}"


def against(row: Any) -> str:
    """A measured number beside its truth, or why there is none."""
    if pd.isna(row["value"]):
        return f"{row['trial']}: {row['reason']}"
    return (
        f"{row['quantity']}, {row['trial']}: {told(row['value'], row['unit'])}, "
        f"theory {told(row['truth'], row['unit'])}, within {told(row['bound'], row['unit'])}"
    )


def tally(exam: Exam) -> list[dict[str, Any]]:
    """By subject and step: how many experiments are passed, of how many, and the names of those that are not."""
    rows = []
    for (subject, h), found in exam.rows.groupby(["subject", "step"], sort=False):
        by = {str(name): passed(x) for name, x in found.groupby("experiment", sort=False)}
        failed = [name for name, yes in by.items() if not yes]
        rows.append({"subject": subject, "step": h, "passed": len(by) - len(failed), "of": len(by), "failed": failed})
    return rows


def sentences(exam: Exam) -> list[str]:
    """Who passes everything, and of everybody else what fails worst."""
    found, words = tally(exam), []
    for h in exam.steps:
        rows = [row for row in found if row["step"] == h]
        full = ", ".join(row["subject"] for row in rows if not row["failed"])
        words.append(f"At {1e3 * h:g} ms a step all {rows[0]['of']} experiments are passed by {full or 'nobody'}.")
    for row in found:
        if row["failed"] and row["step"] == exam.steps[0]:
            own = exam.rows[(exam.rows["subject"] == row["subject"]) & (exam.rows["step"] == row["step"])]
            measured = own[own["value"].notna() & ~own["passed"].astype(bool)]
            least = f"; farthest off: {against(worst(measured))}" if len(measured) else ""
            words.append(
                f"{row['subject']} passes {row['passed']} of {row['of']}, not {', '.join(row['failed'])}{least}."
            )
    return words


def badges(exam: Exam, version: str) -> list[dict[str, Any]]:
    """What continuous integration reads: who passed what, and a badge in the form of shields.io."""
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
    """For every step whether an experiment is passed, and the number that says most, in short and in a sentence."""
    found: list[dict[str, Any]] = []
    for h in exam.steps:
        rows = exam.rows
        own = rows[(rows["subject"] == subject) & (rows["experiment"] == experiment) & (rows["step"] == h)]
        if own.empty:
            continue
        row = worst(own)
        number = "none" if pd.isna(row["value"]) else told(row["value"], row["unit"])
        found.append({"passed": passed(own), "number": number, "says": against(row), "trial": row["trial"], "step": h})
    return found


def contacts(exam: Exam, names: Sequence[str]) -> dict[str, str]:
    """How many contacts a subject counts, experiment by experiment."""
    found = {}
    for name in names:
        counted = exam.rows[(exam.rows["subject"] == name)].dropna(subset=["contacts"])
        most = counted.groupby("experiment", sort=False)["contacts"].max()
        found[name] = ", ".join(f"{experiment} {int(n)}" for experiment, n in most.items() if n > 0)
    return found
