"""The error of friction, weighed by impulse: finite however small the normal impulses are (formulary, section 7)."""

from typing import Any

import numpy as np

from workbench.comparison.measured import SPAN, Measured
from workbench.comparison.metric import distance

ENOUGH = 0.5
"""Least share of the friction bounds at determined contacts for their error to represent that of friction."""


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
