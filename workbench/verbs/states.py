"""A state of a case to examine: given coordinates and velocities, or a time of the reference run."""

from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np

from workbench.algorithms.escalation import default_solver
from workbench.comparison.jobs import Settings
from workbench.comparison.reference import of_reference
from workbench.engine.timing import clock
from workbench.mechanics.case import Case
from workbench.step.simulation import simulate
from workbench.step.sliding.state import SlidingState, contact_data
from workbench.support.errors import WorkbenchError
from workbench.support.progress import ProgressCallback
from workbench.verbs.find import find_formulation

LOADED = 1e-9
"""Fraction of the largest impulse of a step above which a contact counts as loaded."""


class GivenState(TypedDict, total=False):
    """A state of a case as people give it: arguments of `state_of` by name."""

    q: Any
    v: Any
    at: float | None
    slip: float | Sequence[float] | None


def state_of(
    case: Case, progress: ProgressCallback | None, end: float, *, q: Any = None, v: Any = None,
    at: float | None = None, slip: float | Sequence[float] | None = None,
) -> SlidingState:  # fmt: skip
    """The state of coordinates q and velocities v, or after `at` [s] of the reference run; the start by default.

    `slip` and the others are as in `SlidingState` and `_of_run`. Raises WorkbenchError for `at` with a state.
    """
    if at is not None and not (q is None and v is None):
        raise WorkbenchError("at and a state (q, v) are both given; give one of them")
    state = SlidingState(q, v, None, None if slip is None else tuple(np.atleast_1d(np.asarray(slip, float)).tolist()))
    return state if at is None else _of_run(case, at, state, progress, end)


def _of_run(case: Case, at: float, state: SlidingState, progress: ProgressCallback | None, end: float) -> SlidingState:
    """The state after `at` seconds of the reference run; closed are the contacts that were loaded in its last step.

    `progress` is called with "run", the number of steps done, and the total; `end` is by `clock()`. Raises
    WorkbenchError for a time outside the run, and if the run is not verified or takes too long.
    """
    settings = Settings().of_case(case)
    h = settings.reference_step
    if not 0 <= at <= case.duration:
        raise WorkbenchError(f"at = {at:g} s; the run of {case.name} goes from 0 to {case.duration:g} s")
    steps = round(at / h)
    if steps == 0:
        return state

    def report(done: int) -> None:
        if progress:
            progress("run", done, steps)
        if clock() > end:
            raise WorkbenchError(f"at = {at:g} s: the time was over after {done} of {steps} steps; allow more seconds")

    run = simulate(
        case, find_formulation("coulomb"), default_solver("Coulomb NCP"), h, steps * h,
        relaxation=of_reference(case, settings), progress=report,
    )  # fmt: skip
    if run.steps < steps or run.residuals.max() > run.tolerance:
        raise WorkbenchError(f"at = {at:g} s: the run under exact Coulomb friction is not verified up to there")
    q, v = run.states_q[-1], run.states_v[-1]
    core = contact_data(case, q, v)
    loaded = run.p_n[-1] > LOADED * np.abs(run.p_n[-1]).max()
    leaving = core.J_n @ v + core.r_n > case.v_th
    return state._replace(q=q, v=v, closed=tuple(np.flatnonzero(loaded & ~leaving).tolist()))
