"""Metrics of the determinacy of contact impulses by the motion."""

from workbench.comparison.measured import Measured
from workbench.comparison.metric import metric


@metric(
    "free-directions", unit="1",
    meaning="largest number of redundant directions in a step of the reference, in which its contact impulses are not "
    "determined by its motion; 0 if all are determined",
    heading="redundant dir.", shown="count",
)  # fmt: skip
def free_directions(m: Measured) -> float:
    return m.free_directions


@metric(
    "determined", unit="1",
    meaning="share of the reference's friction bounds, Σ (μ p_n)², at contacts whose impulses the motion determines, "
    "among those that carry an impulse in the reference or in this row",
    defined="where a contact with friction carries an impulse", heading="determined", shown="percent",
)  # fmt: skip
def determined(m: Measured) -> float:
    return m.determined_share
