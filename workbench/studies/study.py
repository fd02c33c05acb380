"""A study: a plan of rows, the rows in the journals, and the computation of the others."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.comparison.columns import CASE, DRAWN, REPEATED
from workbench.comparison.failure import Failed, failed
from workbench.comparison.jobs import Job
from workbench.comparison.metric import Metric, framed_runs
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.studies.executors import ATTEMPTS, done
from workbench.studies.journal import Journal, Kept, read_journals
from workbench.studies.long_table import LongTable
from workbench.studies.plan import Point
from workbench.studies.pools import Pool
from workbench.studies.work import OtherVersionError, Unit, lost, packed, run_unit
from workbench.support.output import replaced
from workbench.support.signals import uninterrupted
from workbench.support.sources import digest_of

PLAN = "plan.parquet"
"""The file that lists the runs of a study."""


@dataclass(frozen=True)
class Progress:
    """Progress of a study, in rows of one run each: `kept` existed at the start, `made` are new, of `total`."""

    kept: int
    made: int
    total: int
    seconds: float
    where: str = ""
    under_way: tuple[tuple[str, float], ...] = ()
    """Current unit of each worker, and since when [s of `time.monotonic`]; units are taken in the order of the plan."""

    @property
    def rate(self) -> float:
        """Rows per second."""
        return self.made / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float:
        """Remaining seconds, infinite if nothing has been made yet."""
        missing = self.total - self.kept - self.made
        return missing / self.rate if self.rate else float("inf") if missing else 0.0


@dataclass(frozen=True)
class Study:
    """The points of a study in order, of which this process makes `shard`, (i, n): every n-th point from the i-th."""

    points: tuple[Point, ...]
    exact: Formulation
    metrics: tuple[Metric, ...]
    columns: dict[str, dict[str, str]]
    shard: tuple[int, int] = (1, 1)

    def __reduce__(self) -> tuple:
        return Study, (self.points, self.exact, packed(self.metrics), self.columns, self.shard)

    @property
    def own(self) -> list[tuple[int, Point]]:
        """The points of this process, with their numbers."""
        i, n = self.shard
        return [(number, point) for number, point in enumerate(self.points) if number % n == i - 1]

    def run(
        self, folder: Path, pool: Pool, retry_failed: bool = False, progress: Callable[[Progress], None] | None = None
    ) -> Kept:
        """Make the rows that are not in the journals of the folder; existing rows are read, reported and used.

        With `retry_failed`, rows without a result are made again. Raises WorkbenchError if nothing can be written.
        """
        before = self.begin(folder).done(retry_failed)
        wanted = {key for _, point in self.own for key in point.keys}
        there, made, start = len(wanted & before), 0, time.monotonic()
        workers = Workers(pool.workers)

        def report(where: str = "") -> None:
            if progress:
                seconds, under_way = time.monotonic() - start, workers.under_way()
                progress(Progress(there, made, len(wanted), seconds, where, under_way))

        report()
        i, n = self.shard
        name = "journal.jsonl" if n == 1 else f"journal-{i}-of-{n}.jsonl"
        units = workers.given(self._units(before), report)
        with Journal(folder / name) as journal, closing(done(pool, run_unit, units)) as results:
            for unit, found in results:
                workers.finished(unit)
                if isinstance(found, OtherVersionError):
                    raise found
                records = lost(unit, _crashed(found)) if isinstance(found, Exception) else found
                # The report of an interrupted study must match its journal.
                with uninterrupted():
                    journal.append(records)
                    made += len(records)
                    report(where(unit.point))
        return read_journals(folder)

    def begin(self, folder: Path) -> Kept:
        """Write the plan, and return the contents of the journals."""
        with replaced(folder / PLAN) as stage:
            self.plan().write(stage)
        return read_journals(folder)

    def part(self, i: int, n: int) -> "Study":
        """Return the i-th of n shards of the same study, counted from 1."""
        return replace(self, shard=(i, n))

    def _units(self, before: set[str]) -> Iterator[Unit]:
        begun = before.copy()
        for number, point in self.own:
            missing = frozenset(point.keys) - begun
            begun |= missing
            if missing:
                yield Unit(number, point, self.exact, self.metrics, missing, digest_of())

    def plan(self) -> LongTable:
        """Return a row for each run of the plan: its key and description."""
        columns = ["key", "point", *self.columns, "case", "label", "solver", "step"]
        return LongTable(self._planned, {name: {} for name in columns})

    def _planned(self) -> Iterator[dict[str, Any]]:
        for key, given, case, job in self._runs():
            about = {"case": case.name, "label": job.subject.label, "solver": job.solver_name, "step": job.h}
            yield {"key": key, **given, **about}

    def _runs(self) -> Iterator[tuple[str, dict[str, Any], Case, Job]]:
        """Yield every run once: its key, the varied values that concern it, its case and job."""
        names, known = {job.subject.name for point in self.points for job in point.jobs}, set[str]()
        for number, point in enumerate(self.points):
            for key, job in zip(point.keys, point.jobs, strict=True):
                # Options of other formulations do not distinguish runs.
                others = names - {job.subject.name}
                given = {k: v for k, v in point.given.items() if k.partition(".")[0] not in others}
                if key not in known:
                    known.add(key)
                    yield key, {"point": number, **given}, point.case, job

    def table(self, found: Kept) -> LongTable:
        """Return the available rows of the plan, in its order, with the columns of varied quantities in front."""
        measured = framed_runs([], self.metrics, CASE).attrs["columns"]
        # No motions are kept that these could be read from, and none is made again.
        measured = {name: said for name, said in measured.items() if said["defined"] not in (DRAWN, REPEATED)}
        number_of_point = {"point": {"unit": "1", "meaning": "number of the point of the study, from 0", "defined": ""}}
        return LongTable(lambda: self._rows(found), number_of_point | self.columns | measured)

    def _rows(self, found: Kept) -> Iterator[dict[str, Any]]:
        for key, given, _, _ in self._runs():
            if key in found.records:
                yield from (given | row for row in found.records[key].rows)


class Workers:
    """Units in progress, as far as known from outside: a worker takes the next one when it has finished."""

    def __init__(self, count: int) -> None:
        self.busy: list[tuple[Unit, float] | None] = [None] * count
        self.next: deque[Unit] = deque()

    def given(self, units: Iterator[Unit], report: Callable[[], None]) -> Iterator[Unit]:
        """Yield these units as they are handed out; `report` is called whenever one begins at once."""
        for unit in units:
            self.next.append(unit)
            yield unit
            if self._begin():
                report()

    def finished(self, unit: Unit) -> None:
        """Mark this unit as finished."""
        self.next = deque(other for other in self.next if other.number != unit.number)
        self.busy = [None if at and at[0].number == unit.number else at for at in self.busy]
        self._begin()

    def under_way(self) -> tuple[tuple[str, float], ...]:
        """Return the units in progress in words, and since when [s of `time.monotonic`]."""
        return tuple((where(at[0].point), at[1]) for at in self.busy if at)

    def _begin(self) -> bool:
        before = len(self.next)
        self.busy = [at or ((self.next.popleft(), time.monotonic()) if self.next else None) for at in self.busy]
        return len(self.next) < before


def where(point: Point) -> str:
    """Describe the varied values at a point in words."""
    return ", ".join(f"{k} = {v:.6g}" if isinstance(v, float) else f"{k} = {v}" for k, v in point.given.items())


def _crashed(error: Exception) -> Failed:
    if isinstance(error, BrokenExecutor):
        return Failed("CRASHED", f"its process has died, {ATTEMPTS} times")
    return failed(error)
