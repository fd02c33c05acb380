"""Time and place at which motion ends."""

import numpy as np

from workbench.comparison.measured import MeasuredRun, angles, closed
from workbench.comparison.metric import metric
from workbench.comparison.metrics.creep import speed
from workbench.step.run import Run
from workbench.support.arrays import Array

SLOW = 0.01
"""Share of the reference's fastest turn below which a body counts as no longer spinning."""


def _until(fast: Array) -> int | None:
    """Return the number of steps up to the last fast one; None if that is the last step."""
    if fast[-1]:
        return None
    return int(len(fast) - np.argmax(fast[::-1])) if fast.any() else 0


def _rests_from(m: MeasuredRun, run: Run) -> int | None:
    """Return the step of the window from which the centre of mass and all contacts stay at rest, or None."""
    first, last = m.starts(run)[0], m.ends(run)[-1]
    drift = np.linalg.norm(np.diff(run.case.centre(run.states_q[first : last + 1]), axis=0), axis=-1) / run.h
    touches = closed(run)[first:last]
    fast = (drift > run.v_th) | ((speed(run)[first:last] > run.v_th) & touches).any(axis=1)
    return _until(fast)


@metric(
    "rest-time", unit="s",
    meaning="time after which neither the centre of mass nor a closed contact moves faster than v_th",
    defined="where all rests at the end of the window and moves before", heading="rests",
)  # fmt: skip
def rest_time(m: MeasuredRun) -> float:
    begun = _rests_from(m, m.run)
    return m.run.h * (m.steps[0] + begun) if begun else np.nan


@metric(
    "rest-place", unit="mm", meaning="distance of the resting centre of mass from that of the reference",
    defined="where both rest at the end of the window", heading="rest place",
)  # fmt: skip
def rest_place(m: MeasuredRun) -> float:
    if _rests_from(m, m.run) is None or _rests_from(m, m.reference) is None:
        return np.nan
    here, there = (m.case.centre(x.states_q[m.ends(x)[-1]]) for x in (m.run, m.reference))
    return float(1e3 * np.linalg.norm(here - there))


@metric(
    "spin-down", unit="s",
    meaning="time after which no body rotates faster than 1 % of the reference's largest angular speed in the window",
    defined="where bodies rotate, and no longer at the end of the window", heading="spins",
)  # fmt: skip
def spin_down(m: MeasuredRun) -> float:
    here, there = _turning(m, m.run), _turning(m, m.reference)
    if here is None or there is None or not there.max() > np.degrees(m.run.v_th):
        return np.nan
    begun = _until(here > SLOW * there.max())
    return m.run.h * (m.steps[0] + begun) if begun else np.nan


def _turning(m: MeasuredRun, run: Run) -> Array | None:
    """(K,) the fastest turn of a body in each step [deg/s]; None if the case has no orientations."""
    q = run.case.orientation(run.states_q[m.starts(run)[0] : m.ends(run)[-1] + 1])
    return np.degrees(angles(q[1:], q[:-1]).max(axis=-1)) / run.h if q.shape[-2] else None
