"""Difference of mechanical energy from the reference's."""

import numpy as np

from workbench.comparison.measured import MeasuredRun
from workbench.comparison.metric import metric


@metric(
    "energy-error", unit="1",
    meaning="largest difference of energy from the reference over the window, over the initial energy",
    defined="where there is energy at the start",
    heading="energy", shown="percent",
)  # fmt: skip
def energy_error(m: MeasuredRun) -> float:
    here, there = m.ends
    energy, reference = (m.case.energy(r.states_q, r.states_v) for r in (m.run, m.reference))
    return np.abs(energy[here] - reference[there]).max() / abs(reference[0]) if reference[0] else np.nan
