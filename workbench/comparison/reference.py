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
from workbench.step.run import Run
from workbench.support.errors import DataError, WorkbenchError
from workbench.support.progress import ProgressCallback


@dataclass(frozen=True, eq=False)
class Reference:
    """The reference's run, and the same made otherwise, from which it differs by its uncertainty.

    `stepped` is exact Coulomb friction at the reference step, which is the reference itself where there is no
    event-driven motion; `reason` says why not, "" where there is one or none was asked for.
    """

    run: Run
    second: Run | Failed
    stepped: Run | Failed
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
    runs = CaseRuns(case, settings)
    # First, since it refuses what no record has room for.
    stepped = dict(run_jobs(runs, [fine], progress))[fine]
    if progress:
        progress("computing the event-driven motion", 0, 1)
    found = stepped.reason if isinstance(stepped, Failed) else _followed(case, fine, settings)
    if isinstance(found, str) and settings.reference == EVENTS:
        raise DataError(f"{case.name} has no event-driven reference: {found}")
    if isinstance(found, str):
        half = replace(fine, h=fine.h / 2)
        return Reference(_verified(stepped), dict(run_jobs(runs, [half], progress))[half], stepped, found)
    return Reference(*found, stepped, "")


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
