"""Planned runs of a case and their rows: each run beside those that it is compared with, which are shared."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.assemble.find import compiled
from workbench.comparison.failure import Failed, failed
from workbench.comparison.jobs import Job, Settings, run_jobs
from workbench.comparison.local import from_exact
from workbench.comparison.metric import Metric
from workbench.comparison.reference import Reference, make_reference
from workbench.comparison.rows import ReferenceRuns, row, windows
from workbench.comparison.sampling import sampled_rows
from workbench.escalation import default_solver
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.mechanics.relaxation import Relaxation
from workbench.progress import ProgressCallback
from workbench.step.run import Run


@dataclass(frozen=True, eq=False)
class JudgedRuns:
    """The rows of every planned job, a row for each window, and the runs that they were made from.

    `fine` is the job of exact Coulomb friction at the reference step, which is among `runs` at the other steps too.
    """

    fine: Job
    reference: Reference
    runs: dict[Job, Run | Failed]
    rows: dict[Job, list[dict[str, Any]]]


def judged(
    case: Case, plan: Sequence[Job], exact: Formulation, settings: Settings, metrics: Sequence[Metric],
    refused: Mapping[Formulation, Failed] | None = None, sampled: Collection[Job] = (),
    progress: ProgressCallback | None = None, workers: int = 1,
) -> JudgedRuns:  # fmt: skip
    """Run the jobs of `plan`, and what each is compared with, and judge them against `exact`, exact Coulomb friction.

    `settings` are those of the case (`Settings.of_case`). Formulations that are `refused` already are not run, and jobs
    that are `sampled` take a sample of the steps (`sampling`). Raises WorkbenchError where there is no verified
    reference; a run that fails has rows with its reason.
    """
    refused = refused or {}
    fine = Job(exact, default_solver("Coulomb NCP"), settings.reference_step, of_reference(case, settings))
    reference = make_reference(case, fine, settings, progress)
    beside = {job: _beside(case, job, fine) for job in plan if job.formulation not in refused}
    needed = dict.fromkeys(x for job, others in beside.items() for x in (job, *others) if x not in (fine, *sampled))
    runs = run_jobs(case, list(needed), settings, progress, workers) | {fine: reference.stepped}
    local = {others: from_exact(others[-1], runs[others[0]], runs[others[1]]) for others in set(beside.values())}
    rows = {}
    for k, job in enumerate(plan):
        if progress:
            progress(f"judging {job}", k, len(plan))
        spans = windows(job, case, settings.duration or case.duration)
        try:
            found = refused.get(job.formulation) or runs.get(job)
            if isinstance(found, Failed):
                rows[job] = [w | vars(found) for w in spans]
                continue
            found_beside = (runs[x] for x in beside[job])
            others = ReferenceRuns(local[beside[job]], reference.run, reference.second, *found_beside)
            if found is None:
                rows[job] = sampled_rows(job, spans, others, metrics)
            else:
                rows[job] = [w | row(found, w, others, metrics) for w in spans]
        except Exception as error:
            rows[job] = [w | vars(failed(error)) for w in spans]
    return JudgedRuns(fine, reference, runs, rows)


def of_reference(case: Case, settings: Settings) -> Relaxation:
    """The compliance of a stepped reference: that of the runs, without the tangential one unless it is physics."""
    given = case.relaxation if settings.relaxation is None else settings.relaxation
    return given if case.elastic else given.with_values(k_t=float("inf"), b_t=0.0, lateral=0.0)


def _beside(case: Case, job: Job, fine: Job) -> tuple[Job, Job, Job, Job]:
    """The jobs of `rows.ReferenceRuns` after the reference's own."""
    round_off = replace(job, solver=default_solver(compiled(job.formulation, *case.size).kind))
    exact = replace(fine, h=job.h)
    return (
        exact, replace(exact, relaxation=job.relaxation),
        replace(round_off, relaxation=fine.relaxation), round_off,
    )  # fmt: skip
