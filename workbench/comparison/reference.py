"""Reference of a comparison: the event-driven motion of a case if it has one, else time stepping at a small step.

Time stepping under exact Coulomb friction has an error of first order in its step, as large as what tells the best
formulations apart. The event-driven motion (`workbench.events`) has none. It is followed twice, the second time at
coarser tolerances: their distance is what is said of its uncertainty, and is that of the coarser one.
"""

from dataclasses import dataclass, replace

from workbench.comparison.event_steps import SampledMotion, event_motion
from workbench.comparison.failure import Failed, failed
from workbench.comparison.jobs import EVENTS, STEPS, CaseRuns, Job, Settings, run_jobs
from workbench.mechanics.case import Case
from workbench.mechanics.relaxation import RIGID
from workbench.step.record import visits_must_fit
from workbench.step.run import Run
from workbench.step.simulation import whole_steps
from workbench.support.errors import DataError, WorkbenchError
from workbench.support.progress import ProgressCallback


@dataclass(frozen=True, eq=False)
class Reference:
    """The reference's run, and the same made otherwise, from which it differs by its uncertainty.

    `fine` is the job of exact Coulomb friction at the reference step, with the compliance of a stepped reference.
    `reason` says why there is no event-driven motion, "" where there is one or none was asked for.
    """

    fine: Job
    run: Run
    second: Run | Failed
    reason: str

    @property
    def beside(self) -> Run | None:
        """`second`, if it reaches the end of the reference."""
        x = self.second
        return x if isinstance(x, Run) and x.steps >= round(self.run.h / x.h) * self.run.steps else None

    @property
    def kind(self) -> str:
        """`EVENTS` or `STEPS`."""
        return EVENTS if isinstance(self.run, SampledMotion) else STEPS


def make_reference(case: Case, fine: Job, settings: Settings, progress: ProgressCallback | None) -> Reference:
    """The reference of a case; `fine` is exact Coulomb friction at the reference step, with the compliance of a stepped
    reference, and `settings` are those of the case.

    Raises WorkbenchError where it is stepped and not verified, or where events are asked for and there are none.
    """
    if progress:
        progress("computing the event-driven motion", 0, 1)
    found = _followed(case, fine, settings)
    if not isinstance(found, str):
        return Reference(fine, *found, "")
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
