"""Distance of the impulses of a problem from the exact ones, and its two parts (formulary, section 7.6)."""

from workbench.comparison.measured import MeasuredProblem
from workbench.comparison.metric import metric

DETERMINED = "where the velocity determines impulses of a contact"


@metric(
    "impulse-error", unit="1", meaning="|p − p*| over |p*|, of contacts whose impulses are determined",
    defined=DETERMINED, heading="impulse", shown="percent",
)  # fmt: skip
def impulse_error(m: MeasuredProblem) -> float:
    return m.impulses_apart(m.run, m.exact)


@metric(
    "impulse-formulation-error", unit="1",
    meaning="|p° − p*| over |p*|, of the same contacts, ° the formulation to round-off", defined=DETERMINED,
    heading="(formul.)", shown="percent",
)  # fmt: skip
def impulse_formulation_error(m: MeasuredProblem) -> float:
    return m.impulses_apart(m.round_off, m.exact)


@metric(
    "impulse-solver-error", unit="1", meaning="|p − p°| over |p*|, of the same contacts", defined=DETERMINED,
    heading="(solver)", shown="percent",
)  # fmt: skip
def impulse_solver_error(m: MeasuredProblem) -> float:
    return m.impulses_apart(m.run, m.round_off)
