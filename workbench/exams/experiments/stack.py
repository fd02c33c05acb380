"""A cube on a cube, from a thousandth to a thousand times as heavy, and a tower: they stay where they are."""

from collections.abc import Mapping

import numpy as np

from workbench.exams.experiment import Experiment, MeasuredQuantity
from workbench.exams.record import Record
from workbench.exams.trial import Trial, cube_on_feet

EDGE, TOWER = 0.2, 6
RATIOS = (1e-3, 1.0, 1e3)


def pile(masses: tuple[float, ...]) -> Trial:
    bodies = tuple(cube_on_feet(f"cube {i + 1}", mass, EDGE, i * EDGE) for i, mass in enumerate(masses))
    return Trial(bodies, 0.5, 0.3)


def measure(records: Mapping[str, Record]) -> list[MeasuredQuantity]:
    found = []
    for name, record in records.items():
        moved = np.linalg.norm(record.position - record.position[0], axis=-1)
        found.append(MeasuredQuantity("displacement", name, float(moved.max()), 0.0, 1e-3, "m"))
    return found


EXPERIMENT = Experiment(
    "stack", "Stacks of unequal masses",
    "Cubes of 0.2 m on four feet each, mu = 0.5, are stacked: one on another with 0.001, 1 or 1000 times its mass, and "
    "six equal ones. They must not move; soft contacts give way under the weight.",
    "statics", "1 mm, 0.5 % of an edge",
    {**{f"ratio {ratio:g}": pile((1.0, ratio)) for ratio in RATIOS}, f"tower of {TOWER}": pile((1.0,) * TOWER)},
    measure,
)  # fmt: skip
