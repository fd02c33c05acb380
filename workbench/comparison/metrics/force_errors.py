"""Errors of the contact forces.

That of friction is weighed by impulse: finite however small the normal impulses are (formulary, section 7). Impulses of
a problem have their own (section 7.6). What all contacts together do to the bodies is determined however redundant they
are. The ratio of friction is the metric of Peiret et al. 2016, IDETC2016-60064.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.comparison.measured import SPAN, Measured, MeasuredRun, friction, rms
from workbench.comparison.measured_problem import MeasuredProblem
from workbench.comparison.metric import distance
from workbench.step.run import Run
from workbench.support.arrays import Array

ENOUGH = 0.5
"""Least share of the friction bounds at determined contacts for their error to represent that of friction."""
SHARE = 0.1
"""Share of the RMS normal impulse that a contact must carry in either answer: the ratio diverges where p_n vanishes."""


@distance(
    "friction-error", unit="1",
    meaning="√(Σ |p_t − p_t*|² / Σ (μ p_n*)²) over the contacts whose impulses the motion determines, impulses summed "
    f"over every {100 * SPAN:g} % of the window",
    defined="where these have half of Σ (μ p_n*)² or more", heading="friction",
)  # fmt: skip
def friction_error(m: Measured, a: Any, b: Any) -> float:
    if not m.determined_share >= ENOUGH:
        return np.nan
    # A span is compared as a step would be, with what is determined in it.
    p_t, bound = m.impulses(a)[1] - m.impulses(b)[1], m.friction_bound
    apart = m.over_spans(np.where(m.determined[..., None], p_t, 0.0))
    return float(np.linalg.norm(apart) / np.linalg.norm(m.over_spans(np.where(m.determined, bound, 0.0))))


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


@distance(
    "impulse-error", unit="1", meaning="|p − p*| over |p*|, of contacts whose impulses are determined",
    defined="where the velocity determines impulses of a contact", heading="impulse",
)  # fmt: skip
def impulse_error(m: MeasuredProblem, a: Any, b: Any) -> float:
    entries = np.concatenate([m.contacts, np.repeat(m.contacts, a.problem.d)])
    size = float(np.linalg.norm(m.exact.p[entries])) or np.nan
    return float(np.linalg.norm((a.p - b.p)[entries])) / size


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
