"""Measurements shared by several experiments."""

from workbench.exams.experiment import MeasuredQuantity
from workbench.exams.record import Record

BEGIN, END = 0.1, 0.3
"""Start and end times after the push between which sliding or creep is measured [s]."""
CREEP = 1e-5
"""Speed below which something counts as held [m/s]: a metre a day."""


def held_or_sliding(name: str, record: Record, truth: float) -> MeasuredQuantity:
    """Measure a body pulled along x: its acceleration if it slides in theory (`truth` > 0), otherwise its creep."""
    if truth > 0:
        value = record.acceleration(BEGIN, END)
        return MeasuredQuantity("acceleration of slip", name, value, truth, 0.01 * truth, "m/s2")
    return MeasuredQuantity("creep", name, record.creep(BEGIN, END), 0.0, CREEP, "m/s")
