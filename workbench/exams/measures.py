"""What several experiments measure alike."""

from workbench.exams.experiment import MeasuredQuantity
from workbench.exams.record import Record

BEGIN, END = 0.1, 0.3
"""Between which times after the push what slides or creeps is measured [s]."""
CREEP = 1e-5
"""Speed below which something is held [m/s]: a metre a day."""


def held_or_sliding(name: str, record: Record, truth: float) -> MeasuredQuantity:
    """What is pulled along x: its acceleration where theory says that it slides with `truth`, else its creep."""
    if truth > 0:
        value = record.acceleration(BEGIN, END)
        return MeasuredQuantity("acceleration of slip", name, value, truth, 0.01 * truth, "m/s2")
    return MeasuredQuantity("creep", name, record.creep(BEGIN, END), 0.0, CREEP, "m/s")
