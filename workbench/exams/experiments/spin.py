"""A disc on four feet that spins in place decelerates by mu m g r / I."""

from collections.abc import Mapping

from workbench.exams.experiment import Experiment, MeasuredQuantity
from workbench.exams.record import Record
from workbench.exams.trial import FOOT, Trial, TrialBody

MU, RADIUS, MASS, SPIN, HEIGHT = 0.3, 0.2, 1.0, 10.0, 0.04
FEET = tuple((RADIUS * x, RADIUS * y, FOOT - HEIGHT, FOOT) for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1)))
I = 0.5 * MASS * RADIUS**2
CROSS = ((0.0, 0.0, 0.0, RADIUS, 0.03, 0.01), (0.0, 0.0, 0.0, 0.03, RADIUS, 0.01))
DISC = TrialBody(
    "disc", MASS, (0.5 * I, 0.5 * I, I), FEET, (), CROSS, (0.0, 0.0, HEIGHT),
    velocity=(0.0, 0.0, 0.0, 0.0, 0.0, SPIN),
)  # fmt: skip
BRAKED = MU * MASS * 9.81 * RADIUS / I
BEGIN, END = 0.05, 0.25
"""Interval of the measurement [s]; the spin ends after 10 / 29.4 = 0.34 s."""


def measure(records: Mapping[str, Record]) -> list[MeasuredQuantity]:
    found = []
    for name, record in records.items():
        value = -record.acceleration(BEGIN, END, along=5)
        found.append(MeasuredQuantity("deceleration", name, value, BRAKED, 0.02 * BRAKED, "rad/s2"))
        left = float(abs(record.speed(0.5)[5]))
        found.append(MeasuredQuantity("spin left", name, left, 0.0, 1e-3, "rad/s"))
    return found


EXPERIMENT = Experiment(
    "spin", "Spin-down of a disc",
    "A disc with four feet on its rim spins on the spot. Every foot slides along the rim and decelerates it by "
    "mu m g r / I = 29.4 rad/s2 until it stops after 0.34 s.",
    "angular momentum about the axis", "2 % of the deceleration, 1 mrad/s after 0.5 s",
    {"10 rad/s": Trial((DISC,), MU, 0.5)}, measure,
)  # fmt: skip
