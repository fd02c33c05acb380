"""Angle between friction and the direction against sliding."""

from workbench.comparison.measured import Measured, misalignment, rms
from workbench.comparison.metric import metric


@metric(
    "misalignment-rms", unit="deg",
    meaning="RMS angle between friction and −u_t, over closed contacts that slide and whose impulses are determined",
    defined="where one slides and has friction", heading="misalign.", shown="degrees",
)  # fmt: skip
def misalignment_rms(m: Measured) -> float:
    return rms(misalignment(m.run)[m.steps][m.determined])
