"""A block on a slope: it slides with g (sin a - mu cos a) if tan a > mu, and otherwise stays at rest."""

from collections.abc import Mapping

from workbench.exams.experiment import END, Experiment, MeasuredQuantity, held_or_sliding
from workbench.exams.record import Record
from workbench.exams.trial import Trial, sled, tilted

ANGLES = {0.2: (10.0, 15.0), 0.5: (20.0, 30.0), 0.8: (30.0, 45.0)}
"""Slopes [deg] on which the block sticks and slides, by friction coefficient."""


def trials() -> dict[str, Trial]:
    return {
        f"mu = {mu:g}, {angle:g} degrees": Trial((sled(),), mu, END, gravity=tilted(angle))
        for mu, angles in ANGLES.items()
        for angle in angles
    }


def measure(records: Mapping[str, Record]) -> list[MeasuredQuantity]:
    found = []
    for name, record in records.items():
        down, _, normal = record.trial.gravity
        found.append(held_or_sliding(name, record, down - record.trial.mu * abs(normal)))
    return found


EXPERIMENT = Experiment(
    "slope", "Block on a slope",
    "A block on four feet rests on a slope of angle a if tan a < mu, and slides down with g (sin a - mu cos a) "
    "if tan a > mu; the resting slopes have tan a = 0.69 to 0.88 mu.",
    "Coulomb 1785; any textbook", "1 % of the acceleration, 10 µm/s of creep: a metre a day", trials(), measure,
)  # fmt: skip
