"""A capsule in a V groove that slopes along its bottom: both walls press on it, so friction counts twice."""

from collections.abc import Mapping

import numpy as np

from workbench.exams.experiment import END, Experiment, MeasuredQuantity, held_or_sliding
from workbench.exams.record import Record
from workbench.exams.trial import Trial, TrialBody, tilted

HALF, RADIUS, LENGTH = 30.0, 0.05, 0.1
"""Half the angle of the groove in degrees, and the capsule: radius, and half the distance of its end spheres [m]."""
S, C = float(np.sin(np.radians(HALF))), float(np.cos(np.radians(HALF)))
WALLS = tuple(((0.0, side * C, S), (0.0, 0.0, 0.0)) for side in (-1.0, 1.0))
CAPSULE = TrialBody(
    "capsule", 1.0, (0.00125, 0.005, 0.005), ((-LENGTH, 0.0, 0.0, RADIUS), (LENGTH, 0.0, 0.0, RADIUS)), (),
    ((0.0, 0.0, 0.0, LENGTH, 0.7 * RADIUS, 0.7 * RADIUS),), (0.0, 0.0, RADIUS / S),
)  # fmt: skip
ANGLE = 30.0
FRICTION = {"slides, mu = 0.2": 0.2, "held, mu = 0.4": 0.4}


def measure(records: Mapping[str, Record]) -> list[MeasuredQuantity]:
    found = []
    for name, record in records.items():
        down, _, normal = record.trial.gravity
        found.append(held_or_sliding(name, record, down - record.trial.mu * abs(normal) / S))
    return found


EXPERIMENT = Experiment(
    "groove", "Capsule pinched in a groove",
    "A capsule lies in a V-groove of 60 degrees inclined by a = 30 degrees. Each wall pushes with "
    "m g cos a / (2 sin 30), so the capsule slides with g (sin a - mu cos a / sin 30), and rests if that is negative. "
    "Four contacts are redundant here, so only their resultants are compared.",
    "wedge friction; any textbook", "1 % of the acceleration, 10 µm/s of creep",
    {name: Trial((CAPSULE,), mu, END, WALLS, tilted(ANGLE)) for name, mu in FRICTION.items()}, measure,
)  # fmt: skip
