"""Distance of bodies from their positions in the reference."""

import numpy as np

from workbench.comparison.measured import MeasuredRun
from workbench.comparison.metric import distance
from workbench.step.run import Run


@distance(
    "position-error", unit="1",
    meaning="largest distance of the centre of mass from the reference over the window, relative to the longer of the "
    "reference's path from its start and the run's distance from there (so at most 200 %), and at least to the way "
    "covered in that time at v_th or at the speed that forces cause in one step",
    heading="position",
)  # fmt: skip
def position_error(m: MeasuredRun, a: Run, b: Run) -> float:
    apart = m.case.centre(a.states_q[m.ends(a)]) - m.case.centre(b.states_q[m.ends(b)])
    return np.linalg.norm(apart, axis=-1).max() / m.length(a, b)


@distance(
    "path-error", unit="m", shown="millimetres", heading="motion",
    meaning="largest distance of a body from its position in the reference, over the window",
)  # fmt: skip
def path_error(m: MeasuredRun, a: Run, b: Run) -> float:
    apart = m.case.poses(a.states_q[m.ends(a)])[0] - m.case.poses(b.states_q[m.ends(b)])[0]
    return np.linalg.norm(apart, axis=-1).max()
