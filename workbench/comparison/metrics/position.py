"""Distance of the centre of mass from the reference's."""

import numpy as np

from workbench.comparison.measured import MeasuredRun
from workbench.comparison.metric import distance
from workbench.step.run import Run


@distance(
    "position-error", unit="1",
    meaning="largest distance of the centre of mass over the window, over the reference's path, or over v_th times the "
    "window where that is longer",
    heading="position",
)  # fmt: skip
def position_error(m: MeasuredRun, a: Run, b: Run) -> float:
    centres = m.case.centre(m.reference.states_q)[m.starts(m.reference)[0] : m.ends(m.reference)[-1] + 1]
    path = np.linalg.norm(np.diff(centres, axis=0), axis=-1).sum()
    # Below v_th a contact counts as sticking; so does a body that moves no farther than at that speed.
    length = max(path, m.case.v_th * m.run.h * len(m.steps))
    apart = m.case.centre(a.states_q[m.ends(a)]) - m.case.centre(b.states_q[m.ends(b)])
    return np.linalg.norm(apart, axis=-1).max() / length
