"""Comparing on a case: many formulations, solvers and step sizes, judged against exact Coulomb friction.

The reference is the motion under exact Coulomb friction, followed from event to event, or stepped at a much smaller
step (`reference`). A stepped one has rigid tangential rows, whatever the compliance of the runs, unless that is physics
(`Case.elastic`); its normal rows are relaxed as theirs, which settles how redundant contacts share the load. A run is
away from it for up to four reasons, kept apart by the error budget (formulary, section 7), each a distance of two runs:

    discretisation   exact Coulomb at this step        -  the reference
    formulation      this formulation to round-off     -  exact Coulomb at this step
    compliance       the same relaxed in the tangents  -  the same
    solver           this solver's answer              -  this formulation to round-off

Where a formulation has no answer without the compliance, both are relaxed in its part, and the compliance's is that of
exact Coulomb friction. Step k of a run is compared with the steps of the reference in the same time; all runs of a
comparison share the position update and the normal law. Whatever raises an error is a row with its reason.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.algorithms import find_solver
from workbench.algorithms.base import Solver
from workbench.algorithms.escalation import default_solver
from workbench.comparison.columns import CASE, EVENTS, ONWARD
from workbench.comparison.compare import Benchmark, Frames, Rows, compare
from workbench.comparison.contacts import event_rows
from workbench.comparison.cost import repeated
from workbench.comparison.failure import Failed, failed
from workbench.comparison.jobs import STEPS, CaseRuns, Job, Settings, is_slow, run_jobs
from workbench.comparison.measured import MeasuredRun, distances
from workbench.comparison.metric import Metric
from workbench.comparison.onward import onward_rows
from workbench.comparison.reference import Reference, make_reference, reaching
from workbench.comparison.result import GENERIC_SOLVER, Comparison, chosen_metrics, refusals
from workbench.comparison.rows import in_window, must_hold_a_step, windows
from workbench.comparison.sampling import MeasuredSample, sampled_rows
from workbench.comparison.scenes.horizon import PERTURBATION
from workbench.comparison.several import ExaminedSteps, contact_velocity, examined_steps
from workbench.comparison.verdicts import verdicts
from workbench.language.assemble.find import compiled
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.mechanics.start import beginning
from workbench.scenes.run import shifted
from workbench.step.local_steps import LocalSteps, local_steps
from workbench.step.run import Run
from workbench.support.arrays import Array
from workbench.support.progress import ProgressCallback


# The numbers of a run that blows up end beyond the doubles.
@np.errstate(over="ignore", invalid="ignore")
def compare_case(
    case: Case, formulations: Sequence[Formulation], exact: Formulation, solvers: Sequence[str | Solver] = (),
    settings: Settings | None = None, progress: ProgressCallback | None = None, workers: int = 1,
    metrics: Iterable[Metric | str] | None = None,
) -> Comparison:  # fmt: skip
    """Run every formulation with every solver at every step size and judge all of it against `exact`, exact Coulomb.

    Without `solvers` each formulation gets the solver that takes it to round-off and, where it is a convex QP, a
    generic optimiser for a sample of the steps (`sampling`); without `metrics` all of `METRICS`. With `workers` > 1 the
    runs whose solvers are not compiled go to that many processes. Raises WorkbenchError for unusable settings or a
    reference that its own residual does not verify; else as `compare`.
    """
    settings = (settings or Settings()).of_case(case)
    settings.must_fit()
    must_hold_a_step(case, settings)
    found, chosen = chosen_metrics(CASE, metrics), [find_solver(x) for x in solvers]
    # Made before the declarations: where two processes compile, the other one has compiled those by then.
    reference = make_reference(case, exact, settings, progress)
    refused = refusals(formulations, case.size)
    plan = [
        Job(f, s, h, settings.relaxation)
        for h in settings.steps for f in formulations
        for s in ([None] if f in refused else chosen or solvers_for(case, f))
    ]  # fmt: skip
    # A solver that is slow and that nobody asked for takes a sample of the steps.
    sampled = [] if chosen else [x for x in plan if x.solver and is_slow(x.solver)]
    return compare(CaseBenchmark(case, settings, reference, plan, refused, sampled), found, progress, workers)


def solvers_for(case: Case, f: Formulation) -> list[Solver]:
    """Return the solver that takes the formulation to round-off and the generic one, if it solves this class.

    Where problems are not convex, the generic solver's job has no rows (`sampling`).
    """
    kind, generic = compiled(f, *case.size).kind, find_solver(GENERIC_SOLVER)
    return [default_solver(kind), *([generic] if kind in generic.solves else [])]


def from_exact(job: Job, exact: Run | Failed, alike: Run | Failed) -> LocalSteps | Failed:
    """Steps of a formulation to round-off, `job`, from all states of `exact`, exact Coulomb friction at the job's step.

    Where it has no answer to some of them, those from the states of `alike`, which is as compliant as the job.
    """
    assert job.solver
    found: list[LocalSteps | Failed] = []
    for base in dict.fromkeys((exact, alike)):
        try:
            steps = base if isinstance(base, Failed) else local_steps(base, job.subject, job.solver, range(base.steps))
        except Exception as error:
            steps = failed(error)
        if isinstance(steps, LocalSteps) and np.isfinite(steps.v_after).all():
            return steps
        found.append(steps)
    return found[0]


def displaced(case: Case, size: float) -> Case:
    """Return the case with its start displaced by `size` [m], as the start of a scene is (`shifted`)."""
    q, v = case.start()

    def advance(q: Array, v: Array, h: float) -> Array:
        found = np.empty_like(q)
        case.advance(q, v, h, case.data(), found)
        return found

    q = shifted(q, v.size, advance, case.poses, size)
    return beginning(case, [(0, i, float(x)) for i, x in enumerate(q)])


def growth(run: Run, make: Callable[[Case], Run], window: tuple[float, float]) -> float:
    """Return how many times a displacement of the start by `PERTURBATION` grows within a window [s]; nan where a run
    does not reach its end. `make` makes the same run of another case."""
    other = make(displaced(run.case, PERTURBATION))
    begins = run.h * np.arange(run.steps_wanted, dtype=float)
    k = in_window(begins, {"window_start": window[0], "window_end": window[1]})
    if not k.size or min(run.steps, other.steps) <= k[-1]:
        return np.nan
    apart = distances(*(run.case.poses(x.states_q[k[0] : k[-1] + 2])[0] for x in (run, other)))
    return float(apart.max() / PERTURBATION)


class JobsBeside(NamedTuple):
    """Exact Coulomb friction at a job's step, and as compliant as the job; its formulation to round-off, with the
    reference's compliance, and with the job's."""

    exact: Job
    alike: Job
    unrelaxed: Job
    round_off: Job


class CaseBenchmark(Benchmark):
    """A case, compared in each of its windows; `settings` are those of the case (`Settings.of_case`).

    Formulations that are `refused` already are not run, and jobs that are `sampled` take a sample of the steps
    (`sampling`).
    """

    about, tables = CASE, {"onward": ONWARD, "events": EVENTS}

    def __init__(
        self, case: Case, settings: Settings, reference: Reference, plan: Sequence[Job],
        refused: Mapping[Formulation, Failed] | None = None, sampled: Collection[Job] = (),
    ) -> None:  # fmt: skip
        super().__init__(case, case.size, replace(settings, reference=reference.kind), plan)
        self.reference, self.sampled, self.made_by = reference, sampled, CaseRuns(case, settings)
        self.until = settings.duration or case.duration
        self.windows = windows(case, self.until, max(job.h for job in plan))
        if reference.reason:
            words = f"The reference is time stepping at {1e3 * reference.run.h:g} ms, not the event-driven motion"
            self.remarks.append(f"{words}: {reference.reason}.")
        self.runs |= {job: refused[job.subject] for job in plan if refused and job.subject in refused}
        if reference.kind == STEPS:
            self.runs[reference.fine] = reference.run
        self.local: dict[JobsBeside, LocalSteps | Failed] = {}
        self.continued: set[tuple[Formulation, float]] = set()

    def beside(self, job: Job) -> JobsBeside:
        round_off = replace(job, solver=default_solver(compiled(job.subject, *self.size).kind))
        fine = self.reference.fine
        exact = replace(fine, h=job.h)
        alike, unrelaxed = replace(exact, relaxation=job.relaxation), replace(round_off, relaxation=fine.relaxation)
        return JobsBeside(exact, alike, unrelaxed, round_off)

    def made(self, jobs: Sequence[Job], progress: ProgressCallback | None, workers: int) -> Iterator[tuple[Job, Any]]:
        # An event-driven motion needs no steps: those of the reference's size come last.
        needed = dict.fromkeys(x for x in (*jobs, self.reference.fine) if x not in self.runs and x not in self.sampled)
        return run_jobs(self.made_by, list(needed), progress, workers)

    def rows(self, job: Job, metrics: Sequence[Metric]) -> Rows:
        if job not in self.sampled:
            return super().rows(job, metrics)
        measured = partial(self.measured, job, kind=MeasuredSample)
        return sampled_rows(job, self.before(job), self.runs[self.beside(job).round_off], measured, metrics)

    def measured(self, job: Job, run: Run, k: NDArray[np.int64], kind: type[MeasuredRun] = MeasuredRun) -> MeasuredRun:
        exact, alike, unrelaxed, round_off = (reaching(self.runs.get(x), run, k) for x in self.beside(job))
        second, local = reaching(self.reference.second, run, k), self._local(job)
        local = local if isinstance(local, LocalSteps) and reaching(local.base, run, k) else None
        return kind(run, self.reference.run, exact, round_off, k, second, unrelaxed, alike, local)

    def _local(self, job: Job) -> LocalSteps | Failed | None:
        """Single steps of the job's formulation from the states of exact Coulomb friction, if the runs are there."""
        beside = self.beside(job)
        if beside not in self.local and all(x in self.runs for x in beside):
            self.local[beside] = from_exact(beside.round_off, self.runs[beside.exact], self.runs[beside.alike])
        return self.local.get(beside)

    def _exact(self, h: float) -> Run | None:
        """Return the run of exact Coulomb friction at a step [s], None where it failed or is not made."""
        exact = self.runs.get(replace(self.reference.fine, h=h))
        return exact if isinstance(exact, Run) else None

    def examined(self, h: float) -> ExaminedSteps | None:
        exact = self._exact(h)
        return examined_steps(exact) if exact else None

    def velocities(self, job: Job, steps: Sequence[int]) -> Mapping[int, Array] | None:
        local, exact = self._local(job), self._exact(job.h)
        if exact is None or not isinstance(local, LocalSteps) or local.base is not exact:
            return None
        found = {k: contact_velocity(exact, k, local) for k in steps}
        # A step without an answer is nan.
        return found if all(np.isfinite(u).all() for u in found.values()) else None

    def shown(self, named: dict[str, Any], job: Job, run: Run) -> dict[str, Any]:
        found: dict[str, Any] = {"events": event_rows(named, run, self.reference.run)}
        if named["role"] == "run" and (job.subject, job.h) not in self.continued:
            self.continued.add((job.subject, job.h))
            found |= {"diagnostics": verdicts(named, run), "onward": self._onward(named, job, run)}
        return found

    def _onward(self, named: dict[str, Any], job: Job, run: Run) -> Rows:
        """Return the rows of `onward` from exact states in the first window; a remark has the reason for none."""
        exact, window = self._exact(job.h), next(iter(self.windows.values()))
        try:
            return onward_rows(named, exact, run, window) if exact else []
        except Exception as error:
            reason = failed(error).reason
            self.remarks.append(f"From exact states {run.formulation.label} cannot be continued: {reason}")
            return []

    def last_columns(
        self, shown: Mapping[Job, Frames], progress: ProgressCallback | None
    ) -> Mapping[Job, dict[str, float]]:
        """Costs of short runs, which are repeated, and how much a displacement of the start grows at their step."""
        if progress:
            progress("timing short runs", len(self.plan), len(self.plan))
        found = repeated({job: self.runs[job] for job in shown}, self.made_by.make)
        grown = {h: self._growth(h) for h in self.settings.steps}
        return {job: found.get(job, {}) | {"growth": grown[job.h]} for job in shown}

    def _growth(self, h: float) -> float:
        """Return the growth under exact Coulomb friction at a step [s]; a remark has the reason where there is none."""
        exact, window = self._exact(h), next(iter(self.windows.values()))
        if exact is None:
            return np.nan
        try:
            job = replace(self.reference.fine, h=h)
            return growth(exact, lambda case: replace(self.made_by, case=case).make(job), window)
        except Exception as error:
            self.remarks.append(f"From a displaced start there is no run: {failed(error).reason}")
            return np.nan

    def facts(self) -> dict[str, Any]:
        # The bounds of truths are those for time stepping at the reference step.
        stepped = self._exact(self.reference.fine.h)
        return {"case": self.what, "truths": tuple(self.what.truths(stepped)) if stepped else ()}
