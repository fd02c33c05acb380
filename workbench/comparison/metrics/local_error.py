"""Error of a formulation in one step from states of exact Coulomb friction, without drift, chaos or feedback."""

import numpy as np

from workbench.comparison.kinetic import kick, kinetic
from workbench.comparison.measured import MeasuredRun
from workbench.comparison.metric import metric


@metric(
    "local-velocity-error", unit="1",
    meaning="RMS over the steps of |v − v*|_M, with v after one step of the formulation, solved to round-off, from "
    "exact Coulomb's state and v* after exact Coulomb's own step, over the mean RMS of |M⁻¹ Jᵀ p|_M under both, the "
    "velocity change by contacts; at most 200 %",
    defined="where a contact acts, and the formulation has an answer to every step and no springs of its own, which "
    "the exact run does not compress", heading="local error",
    shown="percent",
)  # fmt: skip
def local_velocity_error(m: MeasuredRun) -> float:
    if m.local is None or m.local.formulation.soft:
        return np.nan
    base, k = m.local.base, m.steps
    mass, J_b = base.record.mass[k], base.record.J_b[k]
    apart = np.linalg.norm(kinetic(mass, m.local.v_after[k] - base.v_after[k]))
    # Of both, since a formulation that throws bodies apart in a step is wrong, and not without limit.
    size = sum(np.linalg.norm(kinetic(mass, kick(mass, J_b, x.contact_impulse[k]))) for x in (base, m.local)) / 2
    return float(apart / size) if size > 0 else np.nan
