"""Comparing formulations on a case or a scene: one procedure for both, and the benchmark, which says what differs."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.comparison.columns import DIAGNOSTICS, TIMELINE, TRAJECTORIES, Column, framed
from workbench.comparison.contacts import timeline
from workbench.comparison.curves import curves
from workbench.comparison.decision import RANKED, in_short
from workbench.comparison.failure import Failed, failed
from workbench.comparison.jobs import Job, Settings
from workbench.comparison.measured import MeasuredSteps
from workbench.comparison.metric import Metric, evaluate, framed_runs
from workbench.comparison.motion import DrawnMotion, measured_rows, motion
from workbench.comparison.reference import Reference, reaching
from workbench.comparison.result import Comparison, mathematics
from workbench.comparison.rows import came_to, of_run, rows_before, solver_columns, status_in, steps_in
from workbench.comparison.several import ExaminedSteps, several_solutions, solution_columns
from workbench.language.formulation import Formulation
from workbench.support.arrays import Array
from workbench.support.progress import ProgressCallback, say

Rows = list[dict[str, Any]]
Frames = dict[str, pd.DataFrame]
TABLES = {"trajectories": TRAJECTORIES, "timeline": TIMELINE, "diagnostics": DIAGNOSTICS}
"""Columns of the frames with rows of single runs; those of `Benchmark.tables` are added."""


class Benchmark(ABC):
    """A case or a scene on which formulations are compared, and all that a comparison has to know of which it is.

    The runs of the `plan` have rows, one for each of the `windows`, start and end [s] by name; `runs` are those made so
    far, by their jobs. The `reference` is exact Coulomb friction `until` a time [s]: of a scene both are known when all
    runs are made, with which the reference's own uncertainty is compared. Formulations are printed for `size`.

    A case has more `tables`, since its contacts keep their numbers and its runs their matrices. Its short runs take
    milliseconds, so that they are timed repeatedly; those of a scene take as long as everything else.
    """

    about: ClassVar[frozenset[str]]
    tables: ClassVar[Mapping[str, Sequence[Column]]]
    reference: Reference
    until: float
    windows: Mapping[str, tuple[float, float]]

    def __init__(self, what: Any, size: tuple[int, int, int, int], settings: Settings, plan: Sequence[Job]) -> None:
        self.what, self.size, self.settings, self.plan = what, size, settings, plan
        self.runs: dict[Job, Any] = {}
        self.remarks: list[str] = []

    @abstractmethod
    def beside(self, job: Job) -> tuple[Job, ...]:
        """The jobs whose runs a job's run is measured against, besides the reference's."""

    @abstractmethod
    def made(self, jobs: Sequence[Job], progress: ProgressCallback | None, workers: int) -> Iterable[tuple[Job, Any]]:
        """Yield the runs of those jobs that are not among `runs`, and of what else the reference needs.

        Raises WorkbenchError where nothing can be compared.
        """

    @abstractmethod
    def measured(self, job: Job, run: Any, k: NDArray[np.int64]) -> MeasuredSteps:
        """Return the steps k of a job's run with those of the runs beside it that are there."""

    @abstractmethod
    def examined(self, h: float) -> ExaminedSteps | None:
        """Return the steps of h [s] of exact Coulomb friction whose solutions are counted; None where it has no run."""

    @abstractmethod
    def velocities(self, job: Job, steps: Sequence[int]) -> Mapping[int, Array] | None:
        """Return the contact velocities (n,) [m/s] after single steps of a job's formulation from the states before
        examined steps, by their numbers; None where there are none."""

    @abstractmethod
    def shown(self, named: dict[str, Any], job: Job, run: Any) -> dict[str, Any]:
        """Return the rows of `tables` on a run by the names of the tables; `named` is what they begin with."""

    @abstractmethod
    def last_columns(
        self, shown: Mapping[Job, Frames], progress: ProgressCallback | None
    ) -> Mapping[Job, dict[str, Any]]:
        """Return columns of rows by job that come after all runs, and of what is shown of them."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return what a `Comparison` holds of the case or the scene itself."""

    def before(self, job: Job) -> Rows:
        """Return a job's rows before its run, one for each of the `windows`."""
        return rows_before(self.what, job, self.windows, self.until)

    def without(self, job: Job, why: Failed) -> Rows:
        """Return the rows of a job that comes to nothing."""
        return [row | vars(why) for row in self.before(job)]

    def rows(self, job: Job, metrics: Sequence[Metric]) -> Rows:
        """Return a job's rows of `runs`, without metrics in windows that its run does not finish."""
        run, rows = self.runs[job], self.before(job)
        if isinstance(run, Failed):
            return self.without(job, run)
        examined, solutions = self.examined(job.h), {}
        if examined:
            # A formulation's own springs are not compressed by exact Coulomb friction.
            asked = examined.several and is_rigid(job.subject)
            solutions = solution_columns(examined, self.velocities(job, list(examined.several)) if asked else None)
        for row in rows:
            k, complete = steps_in(row, run)
            row |= came_to(run, k, complete) | solutions
            row |= evaluate(metrics, self.measured(job, run, k)) if complete else {}
        return rows


def is_rigid(subject: Any) -> bool:
    """Return whether it is a formulation without springs of its own."""
    return isinstance(subject, Formulation) and not subject.soft


def compare(
    on: Benchmark, metrics: tuple[Metric, ...], progress: ProgressCallback | None = None, workers: int = 1
) -> Comparison:
    """Make the planned runs of a benchmark, judge each of them against its reference, and show what they do.

    `progress(label, done, total)` hears of finished steps, and then of judged runs. Raises WorkbenchError where nothing
    can be compared; a run that fails, or cannot be shown, is a row with its reason.
    """
    rows, exact = judged(on, metrics, progress, workers), on.reference
    compared = np.arange(min(exact.run.steps, round(on.until / exact.run.h)))
    reference = _shown(on, exact.fine, exact.run, "reference", reaching(exact.second, exact.run, compared))
    frames: dict[Job, Frames] = {}
    for k, job in enumerate(on.plan):
        if progress:
            progress(f"judging {job}, step by step", k, len(on.plan))
        run = on.runs.get(job)
        # A sample of steps is no run.
        if run is None or isinstance(run, Failed) or not run.steps:
            continue
        try:
            frames[job] = _shown(on, job, run, "run", exact.run)
        except Exception as error:
            rows[job] = on.without(job, failed(error))
    for job, found in on.last_columns(frames, progress).items():
        rows[job] = [row | found for row in rows[job]]
    several, drawn = _several(on, rows), _motion(on, list(frames))
    formulations = tuple(dict.fromkeys(job.subject for job in on.plan if isinstance(job.subject, Formulation)))
    return Comparison(
        on.what.name, formulations, metrics,
        framed_runs(measured_rows([row for job in on.plan for row in rows[job]], drawn), metrics, on.about),
        mathematics=mathematics(formulations, on.size), settings=on.settings, remarks=(*several, *on.remarks),
        motion=drawn, **_tables(on, (reference, *frames.values())), **on.facts(),
    )  # fmt: skip


def judged(
    on: Benchmark, metrics: Sequence[Metric], progress: ProgressCallback | None = None, workers: int = 1
) -> dict[Job, Rows]:
    """Return the rows of every planned run, each computed as soon as the runs that it is measured against are there.

    The error that ranks is reported as soon as a run is made: the rest of its row may come much later. Runs that are
    not made, or not yielded one by one, are judged last.
    """
    needed = {job: (job, *on.beside(job)) for job in on.plan if not isinstance(on.runs.get(job), Failed)}
    rows: dict[Job, Rows] = {}
    told: set[Job] = set()

    def tell(job: Job, row: dict[str, Any]) -> None:
        words = in_short(row, metrics)
        if words and job not in told:
            told.add(job)
            say(progress, words)

    def judge(job: Job) -> None:
        try:
            rows[job] = on.rows(job, metrics)
        except Exception as error:
            rows[job] = on.without(job, failed(error))
        if rows[job]:
            tell(job, rows[job][0])

    for one, run in on.made(list(dict.fromkeys(chain(*needed.values()))), progress, workers):
        on.runs[one] = run
        if one in on.plan:
            tell(one, _first(on, one, metrics))
        # The last runs may come much later.
        for job in [job for job in on.plan if job not in rows and all(x in on.runs for x in needed.get(job, ()))]:
            judge(job)
    left = [job for job in on.plan if job not in rows]
    for k, job in enumerate(left):
        if progress:
            progress(f"judging {job}", k, len(left))
        judge(job)
    return {job: rows[job] for job in on.plan}


def _first(on: Benchmark, job: Job, metrics: Sequence[Metric]) -> dict[str, Any]:
    """Return the row of a run in the first window with the error that ranks alone."""
    run, row = on.runs[job], on.before(job)[0]
    if isinstance(run, Failed):
        return row
    k, complete = steps_in(row, run)
    if not complete:
        return row
    ranking = [x for x in metrics if x.column.name in RANKED]
    return row | solver_columns(run, k, True, status_in(run, True)) | evaluate(ranking, on.measured(job, run, k))


def _shown(on: Benchmark, job: Job, run: Any, role: str, other: Any) -> Frames:
    """Return the rows of `TABLES` and `Benchmark.tables` of a run; its errors are distances from the `other` run."""
    named = of_run(on.what, job.subject, run, role)
    found = {
        "trajectories": curves(named, run, other, on.what, on.until),
        "timeline": timeline(named, run, on.reference.run, on.what, on.until),
    }
    return found | {name: pd.DataFrame(rows) for name, rows in on.shown(named, job, run).items()}


def _tables(on: Benchmark, frames: Sequence[Frames]) -> dict[str, Any]:
    """Return the rows of all runs by table."""
    found = {}
    for name, columns in {**TABLES, **on.tables}.items():
        some = [x[name] for x in frames if name in x and len(x[name].columns)]
        rows = pd.concat(some, ignore_index=True) if some else pd.DataFrame()
        # Some columns are those of bodies, or contacts, in space.
        there = [c for c in columns if name != "trajectories" or c.name in rows]
        found[name] = framed(rows, there, on.about)
    return found


def _several(on: Benchmark, rows: Mapping[Job, Rows]) -> list[str]:
    """Return remarks on what Coulomb's law does not determine at each step size."""
    found = []
    for h in on.settings.steps:
        if examined := on.examined(h):
            first: dict[str, dict[str, Any]] = {}
            for job, some in rows.items():
                if job.h == h and some:
                    first.setdefault(job.label, some[0])
            found.append(several_solutions(examined, first))
    return list(filter(None, found))


def _motion(on: Benchmark, jobs: Sequence[Job]) -> DrawnMotion | None:
    """Return the motion; where user-defined shapes give none, a remark has the reason."""
    try:
        return motion(on.what, on.reference.run, [on.runs[job] for job in jobs], on.until)
    except Exception as error:
        on.remarks.append(f"The motion is not shown: {failed(error).reason}")
        return None
