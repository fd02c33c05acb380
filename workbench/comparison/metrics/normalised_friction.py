"""Deviation of the normalised friction (Peiret et al. 2016, IDETC2016-60064)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.comparison.measured import Measured, friction, rms
from workbench.comparison.metric import distance
from workbench.support.arrays import Array

SHARE = 0.1
"""Share of the RMS normal impulse that a contact must carry in either answer: the ratio diverges where p_n vanishes."""


@distance(
    "friction-rmsd", unit="1",
    meaning="RMS deviation of |p_t|/(μ p_n), over determined contacts that carry a tenth of the RMS normal impulse in "
    "both answers (the metric of the papers, per contact)",
    defined="where there is such a contact", heading="ratio",
)  # fmt: skip
def friction_rmsd(m: Measured, a: Any, b: Any) -> float:
    (x, x_carries), (y, y_carries) = (_ratio(m, answer) for answer in (a, b))
    return rms((x - y)[x_carries & y_carries & m.determined])


def _ratio(m: Measured, a: Any) -> tuple[Array, NDArray[np.bool_]]:
    """|p_t|/(mu p_n) (k, r) in the steps that start with those of the window, and where it means something."""
    p_n = a.p_n[m.starts(a)]
    return friction(a)[m.starts(a)], p_n > SHARE * rms(p_n[p_n > 0])
