"""Symptoms along the surfaces: motion of contacts that should stick, and slip of all contacts."""

import numpy as np

from workbench.comparison.measured import MeasuredRun, closed
from workbench.comparison.metric import metric
from workbench.step.run import Run
from workbench.support.arrays import Array


def speed(run: Run) -> Array:
    """(K, r) sliding speed [m/s] at the end of each step."""
    return np.linalg.norm(run.u_t, axis=-1)


@metric(
    "creep", unit="µm/s",
    meaning="median sliding speed over the steps in which a contact is closed, and in the reference closed and slower "
    "than v_th throughout; for the contact that creeps fastest",
    defined="where there is such a contact", heading="creep",
)  # fmt: skip
def creep(m: MeasuredRun) -> float:
    every = m.starts(m.reference)[:, None] + np.arange(round(m.run.h / m.reference.h))
    sticks = (closed(m.reference) & (speed(m.reference) <= m.run.v_th))[every].all(axis=1)
    sticks &= closed(m.run)[m.steps]
    # The median leaves out what shakes the contact for a while, such as its first steps on a spring.
    creeping = [np.median(u[s]) for u, s in zip(speed(m.run)[m.steps].T, sticks.T, strict=True) if s.any()]
    return 1e6 * max(creeping, default=np.nan)


@metric(
    "slip", unit="mm", meaning="largest distance that a contact slides while it is closed",
    heading="slip",
)  # fmt: skip
def slip(m: MeasuredRun) -> float:
    moved = m.run.h * np.where(closed(m.run), speed(m.run), 0.0)[m.steps]
    return 1e3 * moved.sum(axis=0).max()
