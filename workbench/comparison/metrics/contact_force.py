"""The error of what all contacts together do to the bodies, which is determined however redundant they are."""

import numpy as np

from workbench.comparison.measured import SPAN, MeasuredRun
from workbench.comparison.metric import distance
from workbench.step.run import Run


@distance(
    "wrench-error", unit="1",
    meaning="Σ |G − G*| / Σ |G*|, G the net wrench impulse of the contacts on the bodies, J_nᵀ p_n + J_tᵀ p_t, summed "
    f"over every {100 * SPAN:g} % of the window and measured by the velocity that it causes, |M⁻¹ G|_M",
    defined="where a contact acts", heading="wrench",
)  # fmt: skip
def wrench_error(m: MeasuredRun, a: Run, b: Run) -> float:
    # Sums of norms, not of their squares: an impact then weighs what it does to the motion, however small the step.
    size = m.reference_kick
    return m.kick(m.contact_impulse(a) - m.contact_impulse(b)).sum() / size if size > 0 else np.nan
