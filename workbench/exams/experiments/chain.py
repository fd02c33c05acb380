"""Newton's cradle: five balls in a row; the first hits the others."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from workbench.exams.experiment import Experiment, MeasuredQuantity
from workbench.exams.record import Record
from workbench.exams.trial import Trial, sphere

BALLS, RADIUS, GAP, DURATION = 5, 0.0625, 0.03, 0.2
HERTZ = 0.9888
"""Speed of the last of five touching balls over that of the first, by Hertz's law between them."""


def trial(gap: float, e: float) -> Trial:
    """Weightless balls at rest, gaps [m] apart, and the first at 1 m/s."""
    balls = tuple(
        replace(
            sphere("ball", 1.0, RADIUS), name=f"ball {i + 1}", position=(i * (2 * RADIUS + gap), 0.0, 0.0),
            velocity=(float(i == 0), 0.0, 0.0, 0.0, 0.0, 0.0),
        )
        for i in range(BALLS)
    )  # fmt: skip
    return Trial(balls, 0.0, DURATION, planes=(), gravity=(0.0, 0.0, 0.0), e=e, settling=0.0)


LAST = {"apart, e = 1": 1.0, "touching, e = 1": HERTZ, "touching, e = 0": 1 / BALLS}
"""The final speed of the last ball [m/s]."""


def measure(records: Mapping[str, Record]) -> list[MeasuredQuantity]:
    found = []
    for name, record in records.items():
        v = record.velocity[record.at(DURATION), :, 0]
        found.append(MeasuredQuantity("speed of the last ball", name, float(v[-1]), LAST[name], 0.02, "m/s"))
        found.append(MeasuredQuantity("momentum", name, float(v.sum()), 1.0, 1e-3, "N s"))
        if record.trial.e == 1:
            found.append(MeasuredQuantity("energy kept", name, float(np.square(v).sum()), 1.0, 0.02, "1"))
    return found


EXPERIMENT = Experiment(
    "chain", "Impulse through a chain of balls",
    "Five equal balls stand in a row and the first arrives at 1 m/s. If they are apart and e = 1, they collide in "
    "pairs: each stops, and the last leaves with 1 m/s. If they touch, Hertz's elastic contacts give the last ball "
    "0.989 m/s. Impact laws that treat all touching contacts at once, such as Newton's, give 0.4 m/s; momentum and "
    "energy are right but the result is wrong. Gauss-Seidel swept along the chain gives 1 m/s. With e = 0 all leave "
    "with 0.2 m/s.",
    "momentum and energy; Hertz 1882 integrated, Herrmann and Seitz, Am. J. Phys. 50 (1982)",
    "0.02 m/s; 0.1 % of the momentum; 2 % of the energy",
    {"apart, e = 1": trial(GAP, 1.0), "touching, e = 1": trial(0.0, 1.0), "touching, e = 0": trial(0.0, 0.0)}, measure,
)  # fmt: skip
