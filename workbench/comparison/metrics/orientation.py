"""Angle between the bodies' orientations and the reference's."""

import numpy as np

from workbench.comparison.measured import MeasuredRun
from workbench.comparison.metric import distance
from workbench.step.run import Run


@distance(
    "orientation-error", unit="deg", meaning="largest angle of a body from its orientation in the reference",
    defined="where the case has bodies that turn", heading="turn", shown="degrees",
)  # fmt: skip
def orientation_error(m: MeasuredRun, a: Run, b: Run) -> float:
    here, there = (m.case.orientation(x.states_q[m.ends(x)]) for x in (a, b))
    if not here.shape[-2]:
        return np.nan
    return angle(here, there).max()


def angle(here: np.ndarray, there: np.ndarray) -> np.ndarray:
    """(...) [deg] the angle between orientations given as unit quaternions (..., 4), scalar first."""
    # |here - there| and |here + there| are twice the sine and cosine of a quarter of it: exact for small angles too.
    sine, cosine = np.linalg.norm(here - there, axis=-1), np.linalg.norm(here + there, axis=-1)
    return np.degrees(4 * np.arctan2(np.minimum(sine, cosine), np.maximum(sine, cosine)))
