"""Runs of a comparison: common settings, and execution, of slow ones in several processes."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, gcd
from typing import Any, Protocol, TypeVar

import numpy as np

from workbench.algorithms import ROUND_OFF
from workbench.algorithms.base import KernelSolver, Solver
from workbench.comparison.failure import NOBODY, failed
from workbench.engine.travel import Parcel
from workbench.mechanics.case import Case
from workbench.mechanics.relaxation import Relaxation
from workbench.step.run import Run
from workbench.step.scheme import SYMPLECTIC, Scheme
from workbench.step.simulation import simulate, whole_steps
from workbench.support.errors import DataError, UnknownNameError
from workbench.support.numbers import must_be_seconds, must_be_whole
from workbench.support.processes import processes, travels
from workbench.support.progress import ProgressCallback

REFERENCE, TICK = 1e-4, 1e-9
"""Default step of the reference, and unit in which steps are compared [s]."""
AUTO, EVENTS, STEPS = REFERENCES = "auto", "events", "steps"
"""Kinds of reference: "events" is the event-driven motion, "steps" time stepping at the reference step, "auto" the
first if a case has it, else the second."""
Report = Callable[[int], None] | None
J = TypeVar("J")


@dataclass(frozen=True)
class Settings:
    """Settings shared by all runs of a comparison: steps [s], duration [s], scheme, normal law, relaxation.

    None stands for the case's own duration, normal law and relaxation; `of_case` puts these in its place. `reference`
    is one of `REFERENCES`; at the reference step an event-driven motion is sampled.
    """

    steps: tuple[float, ...] = (1e-3,)
    reference_step: float = 1e-4
    duration: float | None = None
    scheme: Scheme = SYMPLECTIC
    normal: str | None = None
    relaxation: Relaxation | None = None
    reference: str = AUTO

    def of_case(self, case: Case) -> "Settings":
        """Return the settings with the case's values in place of None."""
        return replace(
            self,
            duration=case.duration if self.duration is None else self.duration,
            normal=self.normal or case.normal,
            relaxation=case.relaxation if self.relaxation is None else self.relaxation,
        )

    def must_fit(self) -> None:
        """Raise DataError if a step is no multiple of the reference step or exceeds the duration, UnknownNameError for
        an unknown reference."""
        if self.reference not in REFERENCES:
            raise UnknownNameError("reference", self.reference, list(REFERENCES))
        for h in (self.reference_step, *self.steps):
            must_be_seconds(h)
        for h in self.steps:
            stride = h / self.reference_step
            if not 1 <= stride < np.inf or abs(stride - round(stride)) > 1e-9 * stride:
                words = f"step {h:g} s is not a whole multiple of the reference step {self.reference_step:g} s"
                raise DataError(
                    f"{words}; {h / max(1, ceil(min(stride, 1e9))):.6g} s divides it; give that as reference step"
                )
            must_be_seconds(h, self.duration)


def reference_of(steps: Sequence[float]) -> float:
    """The largest step [s] up to `REFERENCE` that all steps are whole multiples of; `REFERENCE` where steps share none
    of its size, or are unusable (`must_fit` says so).

    >>> [float(f"{reference_of(x):.3g}") for x in ([1e-3], [1e-3, 5e-4], [2.5e-4], [1.5e-3, 1e-3])]
    [0.0001, 0.0001, 8.33e-05, 0.0001]
    """
    if not all(np.isfinite(h) and TICK <= h < 1e6 for h in steps):
        return REFERENCE
    ticks = gcd(*(round(h / TICK) for h in steps))
    shared = min(steps) if ticks == round(min(steps) / TICK) else ticks * TICK
    if shared < 0.1 * REFERENCE:
        return REFERENCE
    return shared / ceil(shared / REFERENCE - 1e-9)


def is_slow(solver: Solver | None) -> bool:
    """Return True if a solver is slow for a run: neither compiled nor the default of a class of problems."""
    return not isinstance(solver, KernelSolver) and getattr(solver, "name", "") not in ("auto", *ROUND_OFF.values())


@dataclass(frozen=True)
class Job:
    """One run of a comparison: a formulation by a solver, or an engine, which has none, at a step [s].

    relaxation  compliance of a case's rows, None for that of the settings
    displaced   how far the start of a scene is displaced [m]
    A solver is None, too, where it is not reached.
    """

    subject: Any
    solver: Solver | None
    h: float
    relaxation: Relaxation | None = None
    displaced: float = 0.0

    @property
    def label(self) -> str:
        return str(self.subject.label)

    @property
    def solver_name(self) -> str:
        return self.solver.name if self.solver else NOBODY

    def __str__(self) -> str:
        by = f", {self.solver.name}" if self.solver else ""
        return f"{self.label}{by}, {self.h:g} s"

    def __reduce__(self) -> tuple:
        return Job, (self.subject, Parcel(self.solver), self.h, self.relaxation, self.displaced)


class Runs(Protocol[J]):
    """Protocol that runs the jobs of a comparison; other processes get a copy."""

    def steps(self, job: J) -> int:
        """Return the number of steps of a job."""
        ...

    def make(self, job: J, report: Report = None) -> Any:
        """Compute a job's run, a `Run` of a case or a `Track` of a scene; `report` is called with finished steps."""
        ...

    def worth_sharing(self, jobs: Sequence[J]) -> Sequence[J]:
        """Return the jobs that take longer than starting another process."""
        ...


@dataclass(frozen=True)
class CaseRuns:
    """Runs of a case with the settings that all of them share (`Settings.of_case`)."""

    case: Case
    settings: Settings

    def steps(self, job: Job) -> int:
        return whole_steps(self.settings.duration or self.case.duration, job.h)

    def make(self, job: Job, report: Report = None) -> Run:
        assert job.solver
        s = self.settings
        return simulate(
            self.case, job.subject, job.solver, job.h, s.duration, scheme=s.scheme, normal=s.normal,
            relaxation=s.relaxation if job.relaxation is None else job.relaxation, progress=report,
        )  # fmt: skip

    def worth_sharing(self, jobs: Sequence[Job]) -> Sequence[Job]:
        return [job for job in jobs if is_slow(job.solver)]


def run_jobs(
    runs: Runs[J], jobs: Sequence[J], progress: ProgressCallback | None = None, workers: int = 1
) -> Iterator[tuple[J, Any]]:
    """Yield the outcome of every job, a run or `Failed`; jobs worth sharing among `workers` processes come last, in
    order of completion. Raises WorkbenchError for workers that are no number of processes."""
    must_be_whole("workers", workers)
    steps = {job: runs.steps(job) for job in jobs}
    total, before = sum(steps.values()), 0
    shared = [job for job in runs.worth_sharing(jobs) if travels(runs, job)] if workers > 1 else []
    # The longest first; one alone is made here.
    shared = sorted(shared, key=lambda job: -steps[job]) if len(shared) > 1 else []
    here = [job for job in steps if job not in shared]
    # No pool without need: a worker that is killed does not remove the semaphores of its own.
    with processes(min(workers, len(shared))) if shared else nullcontext() as pool:
        waiting = {pool.submit(runs.make, job): job for job in shared} if pool else {}
        for job in here:
            found = _caught(partial(runs.make, job, _from(progress, job, before, total)))
            before += steps[job]
            yield job, found
        if progress and waiting and here:
            progress("runs in other processes", before, total)
        for future in as_completed(waiting):
            job = waiting[future]
            before += steps[job]
            if progress:
                progress(str(job), before, total)
            yield job, _caught(future.result)


def _caught(make: Callable[[], Any]) -> Any:
    """A run, or why there is none."""
    try:
        return make()
    except Exception as error:
        return failed(error)


def _from(progress: ProgressCallback | None, job: object, before: int, total: int) -> Report:
    return None if progress is None else lambda k: progress(str(job), before + k, total)
