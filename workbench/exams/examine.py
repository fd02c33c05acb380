"""Run the exam: every subject performs every trial at every step size once, and is measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from workbench.exams.experiment import Experiment
from workbench.exams.plays import played, plays, record_of
from workbench.exams.record import Record
from workbench.exams.subject import ExamSubject
from workbench.exams.trial import Trial

COLUMNS = {
    "subject": ("", "formulation or engine"),
    "step": ("s", "step size"),
    "experiment": ("", "name of the experiment"),
    "quantity": ("", "measured quantity"),
    "trial": ("", "trial of the experiment"),
    "value": ("unit", "measured value"),
    "truth": ("unit", "theoretical value"),
    "bound": ("unit", "largest allowed |value - truth|"),
    "unit": ("", "unit of value, truth and bound"),
    "error": ("bounds", "|value - truth| / bound"),
    "passed": ("", "whether the error is at most one"),
    "contacts": ("1", "largest number of contacts that the subject reports while the bodies settle"),
    "reason": ("", "why there is no value"),
}


@dataclass(frozen=True, eq=False)
class Exam:
    """`rows`, one per measured number (`COLUMNS`); `records` by (subject, experiment, trial, step)."""

    experiments: tuple[Experiment, ...]
    subjects: dict[str, str]
    """Versions of the subjects by name."""
    about: dict[str, str]
    """What each subject is, in a few words."""
    steps: tuple[float, ...]
    rows: pd.DataFrame
    records: Mapping[tuple[str, str, str, float], Record] = field(repr=False)


def examine(
    subjects: Sequence[ExamSubject], experiments: Sequence[Experiment], steps: Sequence[float],
    found: Mapping[tuple[str, Trial, float], Record | str] | None = None,
) -> Exam:  # fmt: skip
    """Run all experiments with all subjects and step sizes [s], measured on the results `found` of their `plays`.

    Missing results are computed here, one after the other.
    """
    if found is None:
        found = {play.name: record_of(play, played(play)) for play in plays(subjects, experiments, steps)}
    rows: list[dict[str, Any]] = []
    kept: dict[tuple[str, str, str, float], Record] = {}
    for subject in subjects:
        for h in steps:
            for experiment in experiments:
                outcomes = {name: found[subject.name, x, h / x.finer] for name, x in experiment.trials.items()}
                records = {name: x for name, x in outcomes.items() if isinstance(x, Record)}
                reasons = [
                    {"quantity": "", "trial": name, "passed": False, "reason": x}
                    for name, x in outcomes.items()
                    if not isinstance(x, Record)
                ]
                rows += [
                    {"subject": subject.name, "step": h, "experiment": experiment.name, **row}
                    for row in (*_measured(experiment, records), *reasons)
                ]
                kept |= {(subject.name, experiment.name, trial, h): x for trial, x in records.items()}
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame.attrs["columns"] = {name: {"unit": x[0], "meaning": x[1]} for name, x in COLUMNS.items()}
    versions, about = ({x.name: getattr(x, key) for x in subjects} for key in ("version", "about"))
    return Exam(tuple(experiments), versions, about, tuple(steps), frame, kept)


def _measured(experiment: Experiment, records: Mapping[str, Record]) -> list[dict[str, Any]]:
    rows = []
    for x in experiment.measure(records):
        record = next((r for name, r in records.items() if x.trial.startswith(name)), None)
        contacts = record.most_contacts if record else np.nan
        rows.append(x._asdict() | {"error": x.error, "passed": x.error <= 1, "contacts": contacts, "reason": ""})
    return rows
