"""Distance of the velocities from the exact ones."""

from typing import Any

from workbench.comparison.measured import Measured
from workbench.comparison.metric import distance


@distance(
    "velocity-error", unit="1",
    meaning="of a case the RMS distance |v − v*|_M over the window, over the reference's largest |v*|_M in its whole "
    "run or the RMS of |v|_M, whichever is larger (so that it is 200 % at most), and at least over what the forces "
    "make in a step; of a problem |u − u*| over |q|, u = W p + q",
    defined="where something moves or pushes", heading="velocity",
)  # fmt: skip
def velocity_error(m: Measured, a: Any, b: Any) -> float:
    return m.velocities_apart(a, b)
