"""A fast cube and a fast ball on level ground: friction decelerates them, and does not lift them."""

from collections.abc import Mapping

from workbench.exams.experiment import Experiment, MeasuredQuantity
from workbench.exams.record import Record
from workbench.exams.trial import Trial, sled, sphere

VELOCITY = (6.0, 0.0, 0.0, 0.0, 0.0, 0.0)
BALL = sphere("ball", 1.0, 0.1, position=(0.0, 0.0, 0.1), velocity=VELOCITY)


def measure(records: Mapping[str, Record]) -> list[MeasuredQuantity]:
    return [
        MeasuredQuantity("lift", name, float(record.path()[:, 2].max()), 0.0, 1e-3, "m")
        for name, record in records.items()
    ]


EXPERIMENT = Experiment(
    "lift", "Lift of fast sliding bodies",
    "A block on four feet and a ball are thrown along level ground at 6 m/s, mu = 0.5. The only upward force "
    "carries the weight, so neither rises. Associated flow opens a contact with mu |u_t| and throws the block up to "
    "(mu v / (1 + mu^2))^2 / (2 g) = 0.294 m.",
    "Coulomb's law; associated flow: Anitescu 2006, Castro et al. 2022", "1 mm",
    {"block": Trial((sled(velocity=VELOCITY),), 0.5, 0.3), "ball": Trial((BALL,), 0.5, 0.3)}, measure,
)  # fmt: skip
