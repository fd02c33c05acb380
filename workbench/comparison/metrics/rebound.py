"""Error of the rebound after impacts: missing or spurious."""

import numpy as np

from workbench.comparison.measured import MeasuredRun, closed
from workbench.comparison.metric import metric
from workbench.comparison.metrics.balance import given
from workbench.step.run import Run

STEPS = 10
"""Steps in which the forces make less of an approach than counts as an impact: resting is no impact."""


@metric(
    "rebound", unit="1",
    meaning="Σ of the separation speeds of contacts over Σ of their approach speeds, minus the same in the reference; "
    "-0.8 where a restitution of 0.8 is lost entirely",
    defined="where contacts strike in both", heading="rebound",
)  # fmt: skip
def rebound(m: MeasuredRun) -> float:
    return _given_back(m, m.run) - _given_back(m, m.reference)


def _given_back(m: MeasuredRun, run: Run) -> float:
    """Share of the approach that comes back, of all impacts that begin in the window; nan without one.

    An impact begins with the step in which a contact closes, faster than v_th and than forces make it in `STEPS` steps,
    and ends with the one before it opens: soft contacts take several.
    """
    first, last = m.starts(run)[0], m.ends(run)[-1]
    touches = np.pad(closed(run)[first:last].astype(int), ((1, 1), (0, 0)))
    change = np.diff(touches, axis=0).T
    # Pairs of contact and step, in the same order in both.
    (i, begun), (_, ended) = np.nonzero(change > 0), np.nonzero(change < 0)
    begun, ended = begun + first, ended - 1 + first
    approach = -_separation(run, begun, i, run.states_v[begun])
    of_forces = np.abs(_along(run, begun, i, m.falls(begun * round(run.h / m.reference.h))))
    strikes = approach > np.maximum(run.v_th, STEPS * of_forces)
    back = np.maximum(_separation(run, ended, i, run.v_after[ended]), 0.0)
    return float(back[strikes].sum() / approach[strikes].sum()) if strikes.any() else np.nan


def _along(run: Run, k: np.ndarray, i: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.einsum("kj,kj->k", run.record.J[k, i], v)


def _separation(run: Run, k: np.ndarray, i: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Normal velocities [m/s] of contacts i in steps k, their bodies at velocities v."""
    return _along(run, k, i, v) + given(run, "r_n", k)[np.arange(len(k)), i]
