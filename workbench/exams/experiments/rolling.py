"""A ball thrown without spin slides, and then rolls with 5/7 of its speed."""

from collections.abc import Mapping

from workbench.exams.experiment import Experiment, MeasuredQuantity
from workbench.exams.record import Record
from workbench.exams.trial import Trial, sphere

MU, SPEED, RADIUS = 0.3, 2.0, 0.1
BALL = sphere("ball", 1.0, RADIUS, position=(0.0, 0.0, RADIUS), velocity=(SPEED, 0.0, 0.0, 0.0, 0.0, 0.0))
DURATION = 0.4
"""Duration [s]; the ball rolls from 2 v / (7 mu g) = 0.19 s on."""


def measure(records: Mapping[str, Record]) -> list[MeasuredQuantity]:
    found, truth = [], 5 / 7 * SPEED
    for name, record in records.items():
        v = record.speed(DURATION)
        found.append(MeasuredQuantity("speed", name, float(v[0]), truth, 0.01 * truth, "m/s"))
        slip = float(v[0] - RADIUS * v[4])
        found.append(MeasuredQuantity("slip while rolling", name, slip, 0.0, 1e-3, "m/s"))
    return found


EXPERIMENT = Experiment(
    "rolling", "From sliding to rolling",
    "A homogeneous ball is thrown without spin. It slides for 2 v / (7 mu g) and then rolls with 5/7 v, because its "
    "angular momentum about the contact is conserved.",
    "Euler; any textbook", "1 % of the speed, 1 mm/s of slip", {"2 m/s": Trial((BALL,), MU, DURATION)}, measure,
)  # fmt: skip
