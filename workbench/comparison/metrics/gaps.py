"""Symptoms across the surfaces: contacts that open or that go into one another."""

import numpy as np

from workbench.comparison.measured import MeasuredRun
from workbench.comparison.metric import metric


@metric(
    "lift", unit="mm", meaning="largest excess of a contact's gap over its gap in the reference at the same time",
    heading="lift",
)  # fmt: skip
def lift(m: MeasuredRun) -> float:
    beyond = m.run.record.phi[m.steps] - np.maximum(m.reference.record.phi[m.starts(m.reference)], 0.0)
    return 1e3 * max(0.0, float(beyond.max()))


@metric("penetration", unit="mm", meaning="largest penetration depth of a contact", heading="depth")
def penetration(m: MeasuredRun) -> float:
    return 1e3 * max(0.0, -float(m.run.record.phi[m.steps].min()))
