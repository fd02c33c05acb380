"""Distance of the velocities from the exact ones."""

from typing import Any

from workbench.comparison.measured import Measured
from workbench.comparison.metric import distance


@distance(
    "velocity-error", unit="1",
    meaning="for a case the RMS distance |v − v*|_M over the window, relative to the larger of the reference's largest "
    "|v*|_M in its whole run and the RMS of |v|_M (so at most 200 %), and at least to the velocity that forces cause "
    "in a step; for a problem |u − u*| over |q|, u = W p + q",
    defined="where something moves or pushes", heading="velocity",
)  # fmt: skip
def velocity_error(m: Measured, a: Any, b: Any) -> float:
    return m.velocities_apart(a, b)
