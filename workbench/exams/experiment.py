"""An experiment: trials, their theoretical values and the allowed errors; what several experiments measure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from workbench.exams.record import Record
from workbench.exams.trial import Trial

BEGIN, END = 0.1, 0.3
"""Start and end times after the push between which sliding or creep is measured [s]."""
CREEP = 1e-5
"""Speed below which something counts as held [m/s]: a metre a day."""


class MeasuredQuantity(NamedTuple):
    """One number of one trial: its name, measured and theoretical value, both in `unit`, and the allowed difference."""

    quantity: str
    trial: str
    value: float
    truth: float
    bound: float
    unit: str

    @property
    def error(self) -> float:
        """Difference from the theoretical value in units of the bound; at most 1 passes."""
        return abs(self.value - self.truth) / self.bound


@dataclass(frozen=True, eq=False)
class Experiment:
    """`measure` gets the records of the trials that could be run, by name."""

    name: str
    title: str
    what: str
    """The setup, the theory and its reason, in a sentence or two."""
    source: str
    bound: str
    """Origin of the bound."""
    trials: Mapping[str, Trial]
    measure: Callable[[Mapping[str, Record]], Sequence[MeasuredQuantity]]


def held_or_sliding(name: str, record: Record, truth: float) -> MeasuredQuantity:
    """Measure a body pulled along x: its acceleration if it slides in theory (`truth` > 0), otherwise its creep."""
    if truth > 0:
        value = record.acceleration(BEGIN, END)
        return MeasuredQuantity("acceleration of slip", name, value, truth, 0.01 * truth, "m/s2")
    return MeasuredQuantity("creep", name, record.creep(BEGIN, END), 0.0, CREEP, "m/s")
