"""A block thrown along the ground stops after v^2 / (2 mu g), independent of its mass."""

from collections.abc import Mapping

import numpy as np

from workbench.exams.experiment import Experiment, MeasuredQuantity
from workbench.exams.record import Record
from workbench.exams.trial import Trial, sled

MU = 0.3
THROWN = {
    "1 kg at 2 m/s": (1.0, 2.0), "1 kg at 1 m/s": (1.0, 1.0), "10 g at 1 m/s": (0.01, 1.0),
    "100 kg at 1 m/s": (100.0, 1.0),
}  # fmt: skip
"""Mass [kg] and speed [m/s]."""


def trial(mass: float, speed: float) -> Trial:
    """The block during its sliding and 0.1 s more."""
    return Trial((sled(mass, velocity=(speed, 0.0, 0.0, 0.0, 0.0, 0.0)),), MU, speed / (MU * 9.81) + 0.1)


def measure(records: Mapping[str, Record]) -> list[MeasuredQuantity]:
    found = []
    for name, record in records.items():
        speed = record.trial.bodies[0].velocity[0]
        truth, value = speed**2 / (2 * MU * 9.81), float(np.linalg.norm(record.path()[-1, :2]))
        found.append(MeasuredQuantity("distance", name, value, truth, 0.01 * truth + 0.5 * record.h * speed, "m"))
    return found


EXPERIMENT = Experiment(
    "stopping", "Stopping distance",
    "A block on four feet is thrown along level ground and stops after v^2 / (2 mu g), independent of its mass.",
    "Coulomb 1785; any textbook", "1 % and the first-order error of a step, h v / 2",
    {name: trial(*thrown) for name, thrown in THROWN.items()}, measure,
)  # fmt: skip
