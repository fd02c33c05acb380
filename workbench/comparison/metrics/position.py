"""How far bodies are from where they are in the reference."""

import numpy as np

from workbench.comparison.measured import MeasuredRun
from workbench.comparison.metric import distance
from workbench.step.run import Run


@distance(
    "position-error", unit="1",
    meaning="largest distance of the centre of mass over the window, over the reference's path from its "
    "start or how far the run comes from there, whichever is longer (so that it is 200 % at most), and at least over "
    "the way that v_th, or the speed that forces make in one step, leads in that time",
    heading="position",
)  # fmt: skip
def position_error(m: MeasuredRun, a: Run, b: Run) -> float:
    apart = m.case.centre(a.states_q[m.ends(a)]) - m.case.centre(b.states_q[m.ends(b)])
    return np.linalg.norm(apart, axis=-1).max() / m.length(a, b)


@distance(
    "path-error", unit="m", shown="millimetres", heading="motion",
    meaning="largest distance of a body from where it is in the reference, over the window",
)  # fmt: skip
def path_error(m: MeasuredRun, a: Run, b: Run) -> float:
    apart = m.case.poses(a.states_q[m.ends(a)])[0] - m.case.poses(b.states_q[m.ends(b)])[0]
    return np.linalg.norm(apart, axis=-1).max()
