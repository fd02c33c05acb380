"""Modes of the contacts of a problem (open, sliding, sticking), and differences from the exact solution."""

from workbench.comparison.measured_problem import MeasuredProblem
from workbench.comparison.metric import metric


@metric(
    "other-mode", unit="1", meaning="number of contacts whose mode differs from that in the exact solution",
    heading="other mode",
)  # fmt: skip
def other_mode(m: MeasuredProblem) -> float:
    return sum(a != b for a, b in zip(m.run.modes, m.exact.modes, strict=True))


@metric("open", unit="1", meaning="number of contacts without impulse that separate", heading="open", shown="count")
def open_contacts(m: MeasuredProblem) -> float:
    return m.run.modes.count("open")


@metric("sliding", unit="1", meaning="number of closed contacts that slide", heading="sliding", shown="count")
def sliding_contacts(m: MeasuredProblem) -> float:
    return m.run.modes.count("sliding")


@metric("sticking", unit="1", meaning="number of closed contacts that stick", heading="sticking", shown="count")
def sticking_contacts(m: MeasuredProblem) -> float:
    return m.run.modes.count("sticking")
