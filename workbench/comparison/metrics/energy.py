"""Difference of mechanical energy from the reference's."""

import numpy as np

from workbench.comparison.measured import SPAN, MeasuredRun
from workbench.comparison.metric import distance
from workbench.comparison.once import energies
from workbench.step.run import Run


@distance(
    "energy-error", unit="1",
    meaning=f"largest difference of energy, averaged over every {100 * SPAN:g} % of the window, relative to the "
    "largest of the reference's largest kinetic energy, its range of energies in the whole run and the run's largest "
    "change of energy (so at most 200 %), and at least to the work of forces over the window at its first speed",
    defined="where something moves or pushes", heading="energy",
)  # fmt: skip
def energy_error(m: MeasuredRun, a: Run, b: Run) -> float:
    here, there = (energies(x)[m.ends(x)] for x in (a, b))
    return np.abs(m.over_spans(here - there)).max() / (m.span * m.energy(a, b))
