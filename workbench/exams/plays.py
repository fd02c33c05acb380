"""Plays: a subject in a trial with a step size, and the result as text for storage."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from workbench.exams.experiment import Experiment
from workbench.exams.protocol import FIELDS
from workbench.exams.record import Record
from workbench.exams.subject import CannotPlayError, EndedError, ExamSubject
from workbench.exams.trial import Trial
from workbench.support.arrays import arrays_as_text, from_text


class Play(NamedTuple):
    """A subject in a trial, with steps of h [s]."""

    subject: ExamSubject
    trial: Trial
    h: float

    @property
    def name(self) -> tuple[str, Trial, float]:
        """The key that identifies it within an exam."""
        return self.subject.name, self.trial, self.h


def plays(subjects: Sequence[ExamSubject], experiments: Sequence[Experiment], steps: Sequence[float]) -> Iterator[Play]:
    """All plays of an exam with steps [s], subject by subject; plays shared by several experiments occur once."""
    trials = dict.fromkeys(trial for experiment in experiments for trial in experiment.trials.values())
    for subject in subjects:
        for h in steps:
            for trial in trials:
                yield Play(subject, trial, h / trial.finer)


def played(play: Play) -> list[dict[str, Any]]:
    """The result of a play, in one row of text: `record`, or the `reason` why there is none."""
    try:
        record = play.subject.play(play.trial, play.h)
    except EndedError as error:
        return [{"claimed": "CRASHED", "reason": str(error)}]
    except CannotPlayError as error:
        return [{"reason": str(error)}]
    return [{"record": arrays_as_text({name: getattr(record, name) for name in FIELDS})}]


def record_of(play: Play, rows: Sequence[dict[str, Any]]) -> Record | str:
    """The record, or the reason, from the text of `played`."""
    (row,) = rows
    if "record" not in row:
        return str(row["reason"])
    return Record(play.trial, play.h, **from_text(row["record"]))
