"""Reference of a comparison: the event-driven motion of a case if it has one, else time stepping at a small step.

Time stepping under exact Coulomb friction has an error of first order in its step, as large as what tells the best
formulations apart. The event-driven motion (`workbench.events`) has none. It is followed twice, the second time at
coarser tolerances: their distance is what is said of its uncertainty, and is that of the coarser one.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.algorithms.escalation import default_solver
from workbench.comparison.event_steps import SampledMotion, event_motion
from workbench.comparison.failure import Failed, failed
from workbench.comparison.jobs import EVENTS, STEPS, CaseRuns, Job, Settings, run_jobs
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.mechanics.relaxation import RIGID, Relaxation
from workbench.step.record import visits_must_fit
from workbench.step.run import Run
from workbench.step.simulation import whole_steps
from workbench.support.errors import DataError, WorkbenchError
from workbench.support.progress import ProgressCallback


@dataclass(frozen=True, eq=False)
class Reference:
    """The reference's run, and the same made otherwise, from which it differs by its uncertainty.

    `fine` is the job of exact Coulomb friction at the reference step, of a case with the compliance of a stepped
    reference. Both are `Run`s of a case or `Track`s of a scene; the second of a case may be `Failed`. `reason` says why
    there is no event-driven motion, "" where there is one or none was asked for.
    """

    fine: Job
    run: Any
    second: Any
    reason: str = ""

    @property
    def kind(self) -> str:
        """`EVENTS` or `STEPS`."""
        return EVENTS if isinstance(self.run, SampledMotion) else STEPS


def reaching(other: Any, run: Any, k: NDArray[np.int64]) -> Any:
    """Return `other`, a run of a case or a scene, or None if it failed or ends before the steps k of a run do."""
    if other is None or isinstance(other, Failed) or not k.size:
        return None
    return None if other.steps < round((k[-1] + 1) * run.h / other.h) else other


def of_reference(case: Case, settings: Settings) -> Relaxation:
    """The compliance of a stepped reference: that of the runs, without the tangential one unless it is physics."""
    given = case.relaxation if settings.relaxation is None else settings.relaxation
    return given if case.elastic else given.with_values(k_t=float("inf"), b_t=0.0, lateral=0.0)


def make_reference(
    case: Case, exact: Formulation, settings: Settings, progress: ProgressCallback | None = None
) -> Reference:
    """Make the reference of a case under `exact`, exact Coulomb friction; `settings` are those of the case.

    Raises WorkbenchError where it is stepped and not verified, or where events are asked for and there are none.
    """
    fine = Job(exact, default_solver("Coulomb NCP"), settings.reference_step, of_reference(case, settings))
    if progress:
        progress("computing the event-driven motion", 0, 1)
    found = _followed(case, fine, settings)
    if not isinstance(found, str):
        return Reference(fine, *found)
    if settings.reference == EVENTS:
        raise DataError(f"{case.name} has no event-driven reference: {found}")
    runs, half = CaseRuns(case, settings), replace(fine, h=fine.h / 2)
    stepped = _verified(dict(run_jobs(runs, [fine], progress))[fine])
    return Reference(fine, stepped, dict(run_jobs(runs, [half], progress))[half], found)


def _followed(case: Case, fine: Job, settings: Settings) -> tuple[SampledMotion, SampledMotion] | str:
    """The event-driven motion, and the same at coarser tolerances, sampled at the reference step; or why there is
    none."""
    if settings.reference == STEPS:
        return ""
    if fine.relaxation != RIGID:
        return "the rows of its contacts are compliant"
    if settings.normal != case.normal:
        return f"the normal law is not the case's own, {case.normal}"
    try:
        # Before hours are spent on a motion that no record has room for.
        visits_must_fit(case, whole_steps(settings.duration or case.duration, fine.h))
        found = event_motion(case, fine.subject, settings.duration)
        return found.reason or found.at(fine.h)
    except Exception as error:
        return failed(error).reason


def _verified(run: Run | Failed) -> Run:
    if isinstance(run, Failed):
        raise WorkbenchError(f"there is no reference run: {run.reason}")
    if run.steps < run.steps_wanted or run.residuals.max() > run.tolerance:
        worst = f"residual {run.residuals.max():.1e}" if run.steps else "no step was made"
        raise WorkbenchError(f"the reference run is not verified ({worst}): {run.reason}")
    return run
