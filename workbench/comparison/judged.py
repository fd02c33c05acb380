"""Planned runs of a case and their rows; runs with which several others are compared are shared."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.algorithms.escalation import default_solver
from workbench.comparison.beside import ReferenceRuns, measured_run
from workbench.comparison.decision import RANKED
from workbench.comparison.failure import Failed, failed
from workbench.comparison.in_turn import rows_in_turn
from workbench.comparison.jobs import EVENTS, CaseRuns, Job, Settings, run_jobs
from workbench.comparison.local import from_exact
from workbench.comparison.measured import MeasuredRun
from workbench.comparison.metric import Metric, evaluate
from workbench.comparison.reference import Reference, make_reference
from workbench.comparison.rows import came_to, in_window, solver_columns, status_in, windows
from workbench.comparison.sampling import sampled_rows
from workbench.comparison.several import columns_of_local
from workbench.language.assemble.find import compiled
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.mechanics.relaxation import Relaxation
from workbench.step.local_steps import LocalSteps
from workbench.step.run import Run
from workbench.support.progress import ProgressCallback


@dataclass(frozen=True, eq=False)
class JudgedRuns:
    """The rows of every planned job, a row for each window, and the runs that they were made from.

    The reference's job `fine` is among `runs`, at the other steps too.
    """

    reference: Reference
    runs: dict[Job, Run | Failed]
    rows: dict[Job, list[dict[str, Any]]]


def reference_for(
    case: Case, exact: Formulation, settings: Settings, progress: ProgressCallback | None = None
) -> Reference:
    """Return the reference of a case under `exact`, exact Coulomb friction; `settings` are those of the case.

    Raises WorkbenchError where there is no verified reference.
    """
    fine = Job(exact, default_solver("Coulomb NCP"), settings.reference_step, of_reference(case, settings))
    return make_reference(case, fine, settings, progress)


def judged(
    case: Case, plan: Sequence[Job], reference: Reference, settings: Settings, metrics: Sequence[Metric],
    refused: Mapping[Formulation, Failed] | None = None, sampled: Collection[Job] = (),
    progress: ProgressCallback | None = None, workers: int = 1,
) -> JudgedRuns:  # fmt: skip
    """Run the jobs of `plan`, and what each is compared with, and judge them against the reference.

    `settings` are those of the case (`Settings.of_case`). Formulations that are `refused` already are not run, and jobs
    that are `sampled` take a sample of the steps (`sampling`). A run that fails has rows with its reason.
    """
    refused, fine = refused or {}, reference.fine
    runs: dict[Job, Run | Failed] = {} if reference.kind == EVENTS else {fine: reference.run}
    beside = {job: _beside(case, job, fine) for job in plan if job.subject not in refused}
    # An event-driven motion needs no steps: those of the reference's size come last.
    wanted = (*(x for job, others in beside.items() for x in (job, *others)), fine)
    needed = dict.fromkeys(x for x in wanted if x not in (*runs, *sampled))
    local: dict[tuple[Job, ...], LocalSteps | Failed] = {}

    def rows_of(job: Job) -> list[dict[str, Any]]:
        spans = windows(job, case, settings.duration or case.duration)
        try:
            found = refused.get(job.subject) or runs.get(job)
            if isinstance(found, Failed):
                return [w | vars(found) for w in spans]
            alike = beside[job]
            if alike not in local:
                local[alike] = from_exact(alike[-1], runs[alike[0]], runs[alike[1]])
            others = ReferenceRuns(local[alike], reference.run, reference.second, *(runs[x] for x in alike))
            if found is None:
                return sampled_rows(job, spans, others, metrics)
            solutions = columns_of_local(local[alike], runs[alike[0]])
            return [w | _row(found, w, others, metrics) | solutions for w in spans]
        except Exception as error:
            return [w | vars(failed(error)) for w in spans]

    def first_of(job: Job) -> dict[str, Any]:
        """The ranked error of a run in the first window, which is known before the rest of its row."""
        run, window = runs[job], windows(job, case, settings.duration or case.duration)[0]
        if not isinstance(run, Run):
            return window
        k, complete = _steps_in(window, run)
        if not complete:
            return window
        found = solver_columns(run, k, complete, status_in(run, complete))
        alone = MeasuredRun(run, reference.run, None, None, k, None, None, None)
        return window | found | evaluate([x for x in metrics if x.column.name in RANKED], alone)

    def ready(job: Job) -> bool:
        return all(x in runs for x in (job, *beside.get(job, ())))

    made = run_jobs(CaseRuns(case, settings), list(needed), progress, workers)
    return JudgedRuns(reference, runs, rows_in_turn(plan, made, runs, ready, first_of, rows_of, metrics, progress))


def _row(run: Run, window: dict[str, Any], beside: ReferenceRuns, metrics: Sequence[Metric]) -> dict[str, Any]:
    """Return the row of a run in a window, without metrics if the run does not finish it."""
    k, complete = _steps_in(window, run)
    found = came_to(run, k, complete)
    return found | evaluate(metrics, measured_run(run, k, beside)) if complete else found


def _steps_in(window: dict[str, Any], run: Run) -> tuple[NDArray[np.int64], bool]:
    """Return the steps of a run in a window, and whether these are all that the window has."""
    k = in_window(run.t, window)
    wanted = in_window(run.h * np.arange(run.steps_wanted, dtype=float), window)
    return k, bool(k.size and k.size == wanted.size)


def of_reference(case: Case, settings: Settings) -> Relaxation:
    """The compliance of a stepped reference: that of the runs, without the tangential one unless it is physics."""
    given = case.relaxation if settings.relaxation is None else settings.relaxation
    return given if case.elastic else given.with_values(k_t=float("inf"), b_t=0.0, lateral=0.0)


def _beside(case: Case, job: Job, fine: Job) -> tuple[Job, Job, Job, Job]:
    """The jobs of `beside.ReferenceRuns` after the reference's own."""
    round_off = replace(job, solver=default_solver(compiled(job.subject, *case.size).kind))
    exact = replace(fine, h=job.h)
    return (
        exact, replace(exact, relaxation=job.relaxation),
        replace(round_off, relaxation=fine.relaxation), round_off,
    )  # fmt: skip
