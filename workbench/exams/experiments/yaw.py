"""One throw in several directions, on which friction of Coulomb's disc does not depend."""

from collections.abc import Mapping

import numpy as np

from workbench.exams.experiment import Experiment, MeasuredQuantity
from workbench.exams.record import Record
from workbench.exams.trial import Trial, sled

MU, SPEED = 0.3, 1.0
YAWS = (0.0, 22.5, 45.0)


def trial(yaw: float) -> Trial:
    along = np.radians(yaw)
    velocity = (SPEED * float(np.cos(along)), SPEED * float(np.sin(along)), 0.0, 0.0, 0.0, 0.0)
    return Trial((sled(velocity=velocity),), MU, 1.5 * SPEED / (MU * 9.81))


def measure(records: Mapping[str, Record]) -> list[MeasuredQuantity]:
    truth, found = SPEED**2 / (2 * MU * 9.81), []
    for name, record in records.items():
        end, v = record.path()[-1], np.array(record.trial.bodies[0].velocity[:3]) / SPEED
        value, aside = float(np.hypot(*end[:2])), float(abs(end[0] * v[1] - end[1] * v[0]))
        bound = 0.01 * truth + 0.5 * record.h * SPEED
        found.append(MeasuredQuantity("distance", name, value, truth, bound, "m"))
        found.append(MeasuredQuantity("sideways drift", name, aside, 0.0, bound, "m"))
    return found


EXPERIMENT = Experiment(
    "yaw", "Isotropy",
    "The block is thrown at angles of 0, 22.5 and 45 degrees to the axes of the ground. The distance is the same, and "
    "the path is straight. At 45 degrees, friction within a square with corners on the axes is smaller by 1 / sqrt 2 "
    "(41 % farther), and within a square with sides along the axes larger by sqrt 2 (29 % shorter).",
    "isotropy of Coulomb's disc", "1 % of v^2 / (2 mu g), and h v / 2",
    {f"{yaw:g} degrees": trial(yaw) for yaw in YAWS}, measure,
)  # fmt: skip
