"""A block on an accelerating belt: it moves with the belt until friction reaches its limit, and slides from then on."""

from collections.abc import Mapping

import numpy as np

from workbench.exams.experiment import CREEP, Experiment, MeasuredQuantity
from workbench.exams.record import Record
from workbench.exams.trial import Trial, sled

MU, SWING, DURATION = 0.5, 20.0, 0.4
"""Rate of the belt's acceleration [m/s3]."""
BREAKS = MU * 9.81 / SWING
"""Time at which friction reaches its limit: 0.245 s."""


def measure(records: Mapping[str, Record]) -> list[MeasuredQuantity]:
    found, truth = [], 0.5 * SWING * (DURATION - BREAKS) ** 2
    for name, record in records.items():
        creep = record.creep(0.0, 0.9 * BREAKS)
        found.append(MeasuredQuantity("creep before it breaks away", name, creep, 0.0, CREEP, "m/s"))
        force = np.linalg.norm(record.wrench[record.pushed :, 0, :2], axis=-1).max()
        if np.isfinite(force):
            most = MU * record.trial.bodies[0].mass * 9.81
            found.append(MeasuredQuantity("largest friction", name, float(force), most, 0.01 * most, "N"))
        bound = 0.01 * truth + SWING * (DURATION - BREAKS) * record.h
        found.append(MeasuredQuantity("speed of slip", name, float(record.speed(DURATION)[0]), truth, bound, "m/s"))
    return found


EXPERIMENT = Experiment(
    "conveyor", "From sticking to sliding on a belt",
    "A block stands on a belt whose acceleration grows at j = 20 m/s3. It moves with the belt until the acceleration "
    "is mu g, after 0.245 s, and then slides back on it with speed j (t - 0.245 s)^2 / 2; friction never exceeds "
    "mu m g. The trial runs in the frame of the belt, with a tilting gravity, because engines model belts differently "
    "but gravity alike.",
    "Coulomb's law with one coefficient; equivalence of inertia and weight",
    "10 µm/s of creep; 1 % of the force; 1 % of the speed and its gain in one step",
    {"20 m/s3": Trial((sled(),), MU, DURATION, swing=(SWING, 0.0, 0.0))}, measure,
)  # fmt: skip
