"""Difference of mechanical energy from the reference's."""

import numpy as np

from workbench.comparison.measured import MeasuredRun
from workbench.comparison.metric import distance
from workbench.step.run import Run


@distance(
    "energy-error", unit="1",
    meaning="largest difference of energy over the window, over the reference's largest kinetic energy or its range "
    "of energies in the whole run, and at least over the forces' work on a fall through the window at its first speed",
    defined="where something moves or pushes", heading="energy",
)  # fmt: skip
def energy_error(m: MeasuredRun, a: Run, b: Run) -> float:
    here, there = (m.case.energy(x.states_q, x.states_v)[m.ends(x)] for x in (a, b))
    return np.abs(here - there).max() / m.energy
