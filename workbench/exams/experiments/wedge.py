"""A block on a wedge: without friction it pushes the wedge away; if friction holds the wedge, it slides alone."""

from collections.abc import Mapping

import numpy as np

from workbench.exams.experiment import CREEP, Experiment, MeasuredQuantity
from workbench.exams.record import Record
from workbench.exams.trial import FOOT, Trial, TrialBody, Vector, cuboid_inertia

ANGLE, MASS, WEDGE, HEIGHT = 30.0, 1.0, 2.0, 0.3
"""Angle of the face, in degrees; masses of block and wedge [kg]; height of the wedge's centre [m]."""
S, C = float(np.sin(np.radians(ANGLE))), float(np.cos(np.radians(ANGLE)))
HALF, PLATE, BLOCK = (0.4, 0.2, 0.04), 0.04, 0.05
"""Half edges of the wedge, a tilted plate; distances of its face and of the block's centre from it [m]."""
BEGIN, END = 0.1, 0.2


def turned(x: float, y: float, z: float) -> Vector:
    """Transform a world vector to the axes of wedge and block, which descend along x."""
    return C * x - S * z, y, S * x + C * z


LEAN = (float(np.cos(np.radians(0.5 * ANGLE))), 0.0, float(np.sin(np.radians(0.5 * ANGLE))), 0.0)
CORNERS = [(x, y) for x in (-0.3, 0.3) for y in (-0.2, 0.2)]
FEET = tuple((*turned(x, y, FOOT - HEIGHT), FOOT) for x, y in CORNERS)
SLIDER = tuple((0.3 * x, 0.3 * y, FOOT - BLOCK, FOOT) for x, y in CORNERS)
ALONG, ABOVE = -0.1, PLATE + BLOCK
BODIES = (
    TrialBody(
        "wedge", WEDGE, cuboid_inertia(WEDGE, HALF), FEET, ((0.0, 0.0, 0.0, *HALF),), (), (0.0, 0.0, HEIGHT), LEAN
    ),
    TrialBody(
        "block", MASS, cuboid_inertia(MASS, (0.1, 0.07, 0.03)), SLIDER, (), ((0.0, 0.0, 0.01, 0.1, 0.07, 0.03),),
        (C * ALONG + S * ABOVE, 0.0, HEIGHT - S * ALONG + C * ABOVE), LEAN,
    ),
)  # fmt: skip


def measure(records: Mapping[str, Record]) -> list[MeasuredQuantity]:
    found = []
    for name, record in records.items():
        ax, az = (record.acceleration(BEGIN, END, along, body=1) for along in (0, 2))
        if record.trial.mu == 0:
            away = MASS * 9.81 * S * C / (WEDGE + MASS * S * S)
            value = -record.acceleration(BEGIN, END)
            found.append(MeasuredQuantity("acceleration of the wedge", name, value, away, 0.01 * away, "m/s2"))
            truth, what = (1 + MASS / WEDGE) * 9.81 * S * S / (1 + MASS / WEDGE * S * S), "fall of the block"
            found.append(MeasuredQuantity(what, name, -az, truth, 0.01 * truth, "m/s2"))
        else:
            creep = record.creep(BEGIN, END)
            found.append(MeasuredQuantity("creep of the wedge", name, creep, 0.0, CREEP, "m/s"))
            truth = 9.81 * (S - record.trial.mu * C)
            found.append(
                MeasuredQuantity("acceleration of the block", name, C * ax - S * az, truth, 0.01 * truth, "m/s2")
            )
    return found


EXPERIMENT = Experiment(
    "wedge", "Block on a wedge",
    "A block of m = 1 kg slides down a face of a = 30 degrees of a wedge of M = 2 kg, which stands on level ground. "
    "Without friction the wedge is pushed away with m g sin a cos a / (M + m sin^2 a), and the block falls with "
    "(M + m) g sin^2 a / (M + m sin^2 a). With mu = 0.3 the ground holds the wedge, and the block slides with "
    "g (sin a - mu cos a).",
    "balance of momentum; any textbook", "1 % of the accelerations, 10 µm/s of creep",
    {f"mu = {mu:g}": Trial(BODIES, mu, END, settling=0.0) for mu in (0.0, 0.3)}, measure,
)  # fmt: skip
