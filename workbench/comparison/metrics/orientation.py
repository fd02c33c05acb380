"""Angle between the bodies' orientations and the reference's."""

import numpy as np

from workbench.comparison.measured import MeasuredRun, angles
from workbench.comparison.metric import distance
from workbench.step.run import Run


@distance(
    "orientation-error", unit="deg", meaning="largest angle of a body from its orientation in the reference",
    defined="where the case has bodies that rotate", heading="turn", shown="degrees",
)  # fmt: skip
def orientation_error(m: MeasuredRun, a: Run, b: Run) -> float:
    here, there = (m.case.orientation(x.states_q[m.ends(x)]) for x in (a, b))
    if not here.shape[-2]:
        return np.nan
    return float(np.degrees(angles(here, there).max()))
