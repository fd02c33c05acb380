"""Angle between friction and the direction against sliding."""

import numpy as np

from workbench.comparison.measured import Measured, misalignment, misalignment_by_law, rms
from workbench.comparison.metric import metric
from workbench.mechanics.law import COULOMB


@metric(
    "misalignment-rms", unit="deg",
    meaning="RMS angle between friction and −u_t, over sliding contacts whose impulses are determined",
    defined="where one slides and has friction", heading="misalign.", shown="degrees",
)  # fmt: skip
def misalignment_rms(m: Measured) -> float:
    return rms(misalignment(m.run)[m.steps][m.determined])


@metric(
    "law-misalignment", unit="deg",
    meaning="the same for the law that the formulation discretises (column law): for an ellipse of friction "
    "coefficients, the angle between its gradient at the friction force and −u_t, both scaled to the round disc",
    defined="for a law other than Coulomb's, where a contact slides and has friction", heading="misalign. by its law",
    shown="degrees",
)  # fmt: skip
def law_misalignment(m: Measured) -> float:
    return np.nan if m.run.law == COULOMB else rms(misalignment_by_law(m.run)[m.steps][m.determined])
