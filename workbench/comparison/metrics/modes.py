"""Modes of contacts: in a problem, and differences from the reference's in time and in events.

Modes are read from run and reference alike, from the motion: at contacts whose impulses the motion leaves open too.
"""

import numpy as np

from workbench.comparison.columns import OPEN, SLIDING, STICKING
from workbench.comparison.contacts import TOLERANCE, events_apart, modes_beside
from workbench.comparison.measured import MeasuredRun
from workbench.comparison.measured_problem import MeasuredProblem
from workbench.comparison.metric import metric

EVENT = "touch-down, lift-off, begin or end of slip"
MATCHED = (
    f"matched by the same change of the same contact within {TOLERANCE} steps; modes that last no longer are ignored, "
    "except touches"
)


@metric(
    "other-mode", unit="1", meaning="number of contacts whose mode differs from that in the exact solution",
    heading="other mode",
)  # fmt: skip
def other_mode(m: MeasuredProblem) -> float:
    return sum(a != b for a, b in zip(m.run.modes, m.exact.modes, strict=True))


@metric("open", unit="1", meaning="number of contacts without impulse that separate", heading="open", shown="count")
def open_contacts(m: MeasuredProblem) -> float:
    return m.run.modes.count(OPEN)


@metric("sliding", unit="1", meaning="number of closed contacts that slide", heading="sliding", shown="count")
def sliding_contacts(m: MeasuredProblem) -> float:
    return m.run.modes.count(SLIDING)


@metric("sticking", unit="1", meaning="number of closed contacts that stick", heading="sticking", shown="count")
def sticking_contacts(m: MeasuredProblem) -> float:
    return m.run.modes.count(STICKING)


@metric(
    "mode-time", unit="ms",
    meaning="longest time in which a contact has another mode than in the reference: sliding instead of sticking, "
    "sticking instead of sliding, open instead of closed, or closed instead of open",
    heading="other mode",
)  # fmt: skip
def mode_time(m: MeasuredRun) -> float:
    stride = round(m.run.h / m.reference.h)
    here = np.repeat(modes_beside(m.run, m.reference)[m.steps], stride, axis=0)
    every = (m.starts(m.reference)[:, None] + np.arange(stride)).ravel()
    there = modes_beside(m.reference, m.reference)[every]
    return float(1e3 * m.reference.h * (here != there).sum(axis=0).max(initial=0))


@metric(
    "missed-events", unit="1",
    meaning=f"events of the reference ({EVENT}) that the run does not have, {MATCHED}",
    heading="missed events",
)  # fmt: skip
def missed_events(m: MeasuredRun) -> float:
    return len(events_apart(m.run, m.reference, m.steps)[0])


@metric(
    "spurious-events", unit="1",
    meaning=f"events of the run ({EVENT}) that the reference does not have, {MATCHED}",
    heading="spurious events",
)  # fmt: skip
def spurious_events(m: MeasuredRun) -> float:
    return len(events_apart(m.run, m.reference, m.steps)[1])
