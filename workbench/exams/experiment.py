"""An experiment: trials, what theory says of them, and how far from it a subject may be."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from workbench.exams.record import Record
from workbench.exams.trial import Trial


class MeasuredQuantity(NamedTuple):
    """One number of one trial: what it is, what theory says, both in `unit`, and how far apart they may be."""

    quantity: str
    trial: str
    value: float
    truth: float
    bound: float
    unit: str

    @property
    def error(self) -> float:
        """How many bounds the value is from the truth; up to 1 passes."""
        return abs(self.value - self.truth) / self.bound


@dataclass(frozen=True, eq=False)
class Experiment:
    """`measure` gets the records of the trials, by their names, those that could be played."""

    name: str
    title: str
    what: str
    """What happens, what theory says and why, in a sentence or two."""
    source: str
    bound: str
    """Where the bound comes from."""
    trials: Mapping[str, Trial]
    measure: Callable[[Mapping[str, Record]], Sequence[MeasuredQuantity]]
