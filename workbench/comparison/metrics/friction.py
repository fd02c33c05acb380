"""Deviation of the normalised friction (Peiret et al. 2016, IDETC2016-60064) from the reference's."""

from workbench.comparison.measured import Measured
from workbench.comparison.metric import metric


@metric(
    "friction-rmsd", unit="1",
    meaning="RMS deviation of |p_t|/(μ p_n) from the reference, over contacts that are compared",
    defined="where impulses of a contact are compared", heading="friction", shown="percent",
)  # fmt: skip
def friction_rmsd(m: Measured) -> float:
    return m.friction_apart(m.run, m.reference)
