"""Distance of the velocities of a problem from the exact ones."""

from workbench.comparison.measured import MeasuredProblem
from workbench.comparison.metric import metric


@metric(
    "velocity-error", unit="1", meaning="|u − u*| over |q|, u = W p + q, * the exact solution", heading="velocity",
    shown="percent",
)  # fmt: skip
def velocity_error(m: MeasuredProblem) -> float:
    return m.apart(m.run, m.reference)
