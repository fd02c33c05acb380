"""The runs of a comparison: what they share, and running them, the slow ones in several processes."""

import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import ceil, gcd
from multiprocessing import active_children, get_all_start_methods, get_context
from typing import Any

import numpy as np

from workbench.algorithms import ROUND_OFF
from workbench.algorithms.base import KernelSolver, Solver
from workbench.assemble.find import compiled
from workbench.comparison.failure import NOBODY, Failed, failed
from workbench.engine.travel import Parcel
from workbench.errors import DataError, UnknownNameError
from workbench.language.formulation import Formulation
from workbench.lifetime import serve_forks, worker
from workbench.mechanics.case import Case
from workbench.mechanics.relaxation import Relaxation
from workbench.progress import ProgressCallback
from workbench.step.run import Run
from workbench.step.scheme import SYMPLECTIC, Scheme
from workbench.step.simulation import simulate, whole_steps

REFERENCE, TICK = 1e-4, 1e-9
"""The reference's step unless another is asked for, and the unit in which steps are compared [s]."""
AUTO, EVENTS, STEPS = REFERENCES = "auto", "events", "steps"
"""What a reference may be: the event-driven motion, time stepping at the reference step, or the first where a case has
it, else the second."""


@dataclass(frozen=True)
class Settings:
    """What all runs of a comparison share: steps [s], duration [s], scheme, normal law, relaxation.

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
        """The same settings with the case's own in place of None."""
        return replace(
            self,
            duration=case.duration if self.duration is None else self.duration,
            normal=self.normal or case.normal,
            relaxation=case.relaxation if self.relaxation is None else self.relaxation,
        )

    def must_fit(self) -> None:
        """Raises DataError where a step is no whole multiple of the reference's, UnknownNameError for a reference."""
        if self.reference not in REFERENCES:
            raise UnknownNameError("reference", self.reference, list(REFERENCES))
        for h in (self.reference_step, *self.steps):
            if not (np.isfinite(h) and h > 0):
                raise DataError(f"step {h:g} s; a positive number of seconds is needed")
        for h in self.steps:
            stride = h / self.reference_step
            if not 1 <= stride < np.inf or abs(stride - round(stride)) > 1e-9 * stride:
                raise DataError(f"step {h:g} s is no whole multiple of the reference step {self.reference_step:g} s")


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
    """Whether a solver takes long for a run: neither compiled nor what takes a class of problems to round-off."""
    return not isinstance(solver, KernelSolver) and getattr(solver, "name", "") not in ("auto", *ROUND_OFF.values())


@dataclass(frozen=True)
class Job:
    """One run of a comparison: formulation, solver, step [s], compliance.

    None stands for a solver that is not reached and for the compliance of the settings.
    """

    formulation: Formulation
    solver: Solver | None
    h: float
    relaxation: Relaxation | None = None

    @property
    def solver_name(self) -> str:
        return self.solver.name if self.solver else NOBODY

    def __str__(self) -> str:
        return f"{self.formulation.label}, {self.solver_name}, {self.h:g} s"

    def __reduce__(self) -> tuple:
        return Job, (self.formulation, Parcel(self.solver), self.h, self.relaxation)


def run_jobs(
    case: Case, jobs: Sequence[Job], settings: Settings, progress: ProgressCallback | None = None, workers: int = 1
) -> Iterator[tuple[Job, Run | Failed]]:
    """What became of every job, one after the other, those last whose solvers are not compiled: these go to `workers`
    processes."""
    steps = {job: whole_steps(settings.duration or case.duration, job.h) for job in jobs}
    total, before = sum(steps.values()), 0
    slow = [job for job in jobs if is_slow(job.solver) and travels(case, job)]
    if workers == 1 or len(slow) < 2:
        slow = []
    with processes(min(workers, max(len(slow), 1))) as pool:
        waiting = {pool.submit(_remote, case, job, settings): job for job in slow}
        for job in [j for j in jobs if j not in slow]:
            try:
                found: Run | Failed = simulated(case, job, settings, _from(progress, job, before, total))
            except Exception as error:
                found = failed(error)
            before += steps[job]
            yield job, found
        if progress and waiting:
            progress("optimisers in other processes", before, total)
        for future in as_completed(waiting):
            job = waiting[future]
            try:
                found = replace(future.result(), compiled=compiled(job.formulation, *case.size))
            except Exception as error:
                found = failed(error)
            before += steps[job]
            if progress:
                progress(str(job), before, total)
            yield job, found


@contextmanager
def processes(workers: int, imported: Sequence[str] = ()) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes, started when work comes; they end with the block, at once where it fails.

    Where the system can they are forked from one that has imported nothing but these modules: pools that are started
    again and again then cost no imports. The first names given in a program hold for all of it.
    """
    forked = "forkserver" in get_all_start_methods()
    context = get_context("forkserver" if forked else "spawn")
    if forked:
        context.set_forkserver_preload(["workbench.fork_server", *imported])
    others = active_children()
    pool = (_ForkedPool if forked else ProcessPoolExecutor)(workers, context, worker)
    try:
        yield pool
    except BaseException:
        # Interrupted or failed: the workers must not work on, and one that compiles would let SIGTERM wait.
        for process in set(active_children()).difference(others):
            process.kill()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class _ForkedPool(ProcessPoolExecutor):
    def submit(self, *call: Any, **named: Any) -> Future:
        serve_forks()
        return super().submit(*call, **named)


def travels(*things: object) -> bool:
    """Whether these can be sent to another process; what cannot arrive there would take the whole pool down."""
    try:
        pickle.loads(pickle.dumps(things))
    except Exception:
        return False
    return True


def _from(progress: ProgressCallback | None, job: Job, before: int, total: int) -> Callable[[int], None] | None:
    return None if progress is None else lambda k: progress(str(job), before + k, total)


def simulated(case: Case, job: Job, settings: Settings, progress: Callable[[int], None] | None = None) -> Run:
    """The run of a job."""
    assert job.solver
    return simulate(
        case, job.formulation, job.solver, job.h, settings.duration, scheme=settings.scheme,
        normal=settings.normal,
        relaxation=settings.relaxation if job.relaxation is None else job.relaxation, progress=progress,
    )  # fmt: skip


def _remote(case: Case, job: Job, settings: Settings) -> Run:
    # The compiled declaration holds CVXPY objects, which stay in their process.
    return replace(simulated(case, job, settings), compiled=None)
