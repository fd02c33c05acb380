"""Distance of the impulses of a problem from the exact ones (formulary, section 7.6)."""

from typing import Any

import numpy as np

from workbench.comparison.measured_problem import MeasuredProblem
from workbench.comparison.metric import distance


@distance(
    "impulse-error", unit="1", meaning="|p − p*| over |p*|, of contacts whose impulses are determined",
    defined="where the velocity determines impulses of a contact", heading="impulse",
)  # fmt: skip
def impulse_error(m: MeasuredProblem, a: Any, b: Any) -> float:
    entries = np.concatenate([m.contacts, np.repeat(m.contacts, a.problem.d)])
    size = float(np.linalg.norm(m.exact.p[entries])) or np.nan
    return float(np.linalg.norm((a.p - b.p)[entries])) / size
