"""The error budget (formulary, section 7.3): what the step size, the formulation and the solver add to an error.

The error is that of the normalised friction in a case, and of the velocities in a problem, where there is no step.
"""

from workbench.comparison.measured import Measured, MeasuredRun
from workbench.comparison.metric import metric


@metric(
    "discretisation-error", unit="1",
    meaning="exact Coulomb at this step against the reference: RMS deviation of |p_t|/(μ p_n)",
    defined="where exact Coulomb reaches the end of the window", heading="discret.", shown="percent",
)  # fmt: skip
def discretisation_error(m: MeasuredRun) -> float:
    return m.apart(m.exact, m.reference)


@metric(
    "formulation-error", unit="1",
    meaning="the formulation to round-off against exact Coulomb at this step: friction, or velocity of a problem",
    defined="where both are there", heading="formul.", shown="percent",
)  # fmt: skip
def formulation_error(m: Measured) -> float:
    return m.apart(m.round_off, m.exact)


@metric(
    "solver-error", unit="1",
    meaning="this solver against the formulation to round-off: friction, or velocity of a problem",
    defined="where both are there", heading="solver", shown="percent",
)  # fmt: skip
def solver_error(m: Measured) -> float:
    return m.apart(m.run, m.round_off)
