"""A block on four feet and a ball at rest: the ground carries their weight, and they do not penetrate."""

from collections.abc import Mapping

import numpy as np

from workbench.exams.experiment import Experiment, MeasuredQuantity
from workbench.exams.experiments import lift
from workbench.exams.record import Record

MEAN = 0.05
"""Averaging time of forces before the push [s]: soft contacts still oscillate a little."""
TRIALS = lift.EXPERIMENT.trials


def sunk(record: Record) -> float:
    """Penetration of a body before the push [m]."""
    return float(record.position[0, 0, 2] - record.position[record.pushed, 0, 2])


def measure(records: Mapping[str, Record]) -> list[MeasuredQuantity]:
    found = []
    for name, record in records.items():
        found.append(MeasuredQuantity("penetration", name, sunk(record), 0.0, 1e-4, "m"))
        wrench = record.wrench[record.pushed - round(MEAN / record.h) : record.pushed, 0].mean(axis=0)
        if np.isfinite(wrench).all():
            weight = record.trial.bodies[0].mass * 9.81
            found.append(MeasuredQuantity("force carried", name, float(wrench[2]), weight, 0.01 * weight, "N"))
            moment = float(np.linalg.norm(wrench[3:]))
            found.append(MeasuredQuantity("moment", name, moment, 0.0, 1e-3 * weight, "N m"))
    return found


EXPERIMENT = Experiment(
    "rest", "At rest on one contact and on four",
    "A block on four feet and a ball, 1 kg each, rest on level ground. The distribution of the weight over four feet "
    "is not determined, but its resultants are: 9.81 N, and no moment about the centre of mass. Neither body "
    "penetrates the ground; with soft contacts, the ball on one contact penetrates deeper than the block on four.",
    "statics", "0.1 mm; 1 % of the weight; 1 mm of lever arm", TRIALS, measure,
)  # fmt: skip
