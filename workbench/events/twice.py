"""Accuracy of an event-driven motion: the same motion by a second integrator with other tolerances."""

from dataclasses import dataclass

import numpy as np

from workbench.events.phase import Integrator
from workbench.events.simulation import CROWDED, EventRun, simulate_events
from workbench.mechanics.case import Case

SECOND = Integrator("Radau", 1e-10, 1e-13, steps=100_000)
"""An implicit method of order five, which shares no code with DOP853 and takes more steps."""
MOMENTS = 8
"""Number of times at which the motions are compared, besides the end."""


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Largest differences of two runs: coordinates q, velocities v (in fixed axes), times of events [s].

    `same_events` tells whether the contacts had the same events in the same order; the times are those of the common
    events. `until` [s] is the time that both runs reached; `reason` is why the second one ended before the first, ""
    if it did not.
    """

    q: float
    v: float
    t: float
    same_events: bool
    until: float
    reason: str = ""


def simulate_twice(
    case: Case, duration: float | None = None, first: Integrator = Integrator(), second: Integrator = SECOND  # noqa: B008
) -> tuple[EventRun, Uncertainty]:  # fmt: skip
    """The motion by `first` and its differences from that by `second`. Raises DataError as `simulate_events` does."""
    run, other = (simulate_events(case, duration, method) for method in (first, second))
    return run, differences(run, other)


def differences(run: EventRun, other: EventRun) -> Uncertainty:
    """The differences of a motion from the same one by another integrator."""
    case = run.case
    if not (run.stretches and other.stretches):
        return Uncertainty(np.nan, np.nan, np.nan, run.reason == other.reason, 0.0, _otherwise(run, other))
    until = min(run.end.t, other.end.t)
    off_q = off_v = 0.0
    for t in np.linspace(0.0, until, MOMENTS + 1):
        a, b = run.state(t), other.state(t)
        v = case.in_space(a.q, a.v) - case.in_space(b.q, b.v)
        off_q, off_v = max(off_q, float(np.abs(a.q - b.q).max())), max(off_v, float(np.abs(v).max()))
    pairs = list(zip(run.events, other.events, strict=False))
    same = len(run.events) == len(other.events) and all((x.contact, x.what) == (y.contact, y.what) for x, y in pairs)
    off_t = max((abs(x.t - y.t) for x, y in pairs), default=0.0)
    return Uncertainty(off_q, off_v, off_t, same, until, _otherwise(run, other))


def _otherwise(run: EventRun, other: EventRun) -> str:
    """Return the reason why the other run ended before the end of `run`; "" if it did not."""
    reached = [r.end.t if r.stretches else 0.0 for r in (run, other)]
    return other.reason if reached[1] < reached[0] - CROWDED else ""
