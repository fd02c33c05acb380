"""How far the motion determines the impulses of the contacts."""

from workbench.comparison.measured import Measured
from workbench.comparison.metric import metric


@metric(
    "free-directions", unit="1",
    meaning="most directions in a step in which the reference's contact impulses may change while its motion does "
    "not: 0 where all are determined",
    heading="free dir.", shown="count",
)  # fmt: skip
def free_directions(m: Measured) -> float:
    return m.free_directions


@metric(
    "determined", unit="1",
    meaning="share of the reference's friction bounds, Σ (μ p_n)², of contacts whose impulses the motion determines, "
    "among those that carry something in the reference or in this row",
    defined="where a contact with friction carries something", heading="determined", shown="percent",
)  # fmt: skip
def determined(m: Measured) -> float:
    return m.determined_share
