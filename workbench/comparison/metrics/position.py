"""Distance of the centre of mass from the reference's."""

import numpy as np

from workbench.comparison.measured import MeasuredRun
from workbench.comparison.metric import metric

ROUNDING = 1e-14
"""Share of the coordinates that a step may change by rounding alone."""


@metric(
    "position-error", unit="1",
    meaning="largest distance of the centre of mass from the reference over the window, over the reference's path",
    defined="where the centre moves", heading="position", shown="percent",
)  # fmt: skip
def position_error(m: MeasuredRun) -> float:
    here, there = m.ends
    centre, reference = m.case.centre(m.run.states_q), m.case.centre(m.reference.states_q)
    path = np.linalg.norm(np.diff(reference[m.in_reference[0] : there[-1] + 1], axis=0), axis=-1).sum()
    # The path of a centre that rests is the rounding of its coordinates: nothing to divide by.
    if not path > ROUNDING * len(here) * np.abs(reference).max(initial=0.0):
        return np.nan
    return np.linalg.norm(centre[here] - reference[there], axis=-1).max() / path
