"""The runs of a comparison on a scene, in this process or shared out to several."""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import as_completed
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from workbench.algorithms.base import Solver
from workbench.arrays import Array
from workbench.comparison.failure import Failed, failed
from workbench.comparison.jobs import processes, travels
from workbench.engine.travel import Parcel
from workbench.errors import WorkbenchError
from workbench.language.formulation import Formulation
from workbench.progress import ProgressCallback
from workbench.scenes.run import SteppingScheme, run
from workbench.scenes.scene import Scene
from workbench.scenes.track import Track
from workbench.step.simulation import whole_steps

FEW = 2000
"""Steps of all runs up to which they stay in one process: others take a second to start."""
MakeStepper = Callable[[Any, Formulation, float, Solver], SteppingScheme]
"""What steps a scene under a formulation at a step [s] by a solver; raises WorkbenchError where it cannot."""
Report = Callable[[int], None] | None
MakeRun = Callable[[], Track]


class SceneEngine(Protocol):
    """A row that is no formulation: another engine's own steps of the same scene, from its start."""

    @property
    def label(self) -> str: ...
    @property
    def words(self) -> str:
        """What it is, in a sentence."""

    def run(self, h: float, duration: float, progress: Report = None) -> Track: ...


@dataclass(frozen=True, eq=False)
class Row:
    """A run to be made: of a formulation by a solver or of an engine, which has none, at a step [s]; from another start
    if given."""

    of: Any
    h: float
    solver: Solver | None = None
    start: tuple[Array, Array] | None = None

    @property
    def label(self) -> str:
        return str(self.of.label)

    @property
    def key(self) -> tuple[str, float, Solver | None, bool]:
        """What it shares with rows whose run is the same."""
        return self.label, self.h, self.solver, self.start is None

    def __str__(self) -> str:
        by = f", {self.solver.name}" if self.solver else ""
        return f"{self.label}{by}, {self.h:g} s"

    def __reduce__(self) -> tuple:
        return Row, (self.of, self.h, Parcel(self.solver), self.start)


@dataclass(frozen=True, eq=False)
class Runs:
    """What all runs of a comparison share."""

    scene: Scene
    stepper: MakeStepper
    duration: float

    def __reduce__(self) -> tuple:
        return Runs, (Parcel(self.scene), self.stepper, self.duration)

    def steps(self, row: Row) -> int:
        return whole_steps(self.duration, row.h)

    def made(
        self, needed: Sequence[Row], wanted: Sequence[Row], progress: ProgressCallback | None = None, workers: int = 1
    ) -> dict[Row, Track | Failed]:
        """The run of every row, or why there is none; the same run is made once.

        Raises WorkbenchError where one that is needed has not a single step.
        """
        every: dict[tuple, Row] = {}
        for row in (*needed, *wanted):
            every.setdefault(row.key, row)
        plan = list(every.values())
        shared = workers > 1 and sum(map(self.steps, plan)) > FEW and travels(self, plan)
        found: dict[tuple, Track | Failed] = {}
        with closing(self._shared(plan, progress, workers) if shared else self._here(plan, progress)) as runs:
            for row, make in runs:
                found[row.key] = _begun(make()) if row in needed else _caught(make)
        return {row: found[row.key] for row in (*needed, *wanted)}

    def make(self, row: Row, report: Report = None) -> Track:
        """One run, step by step; raises WorkbenchError where there is none."""
        if isinstance(row.of, Formulation):
            assert row.solver
            stepper = self.stepper(self.scene, row.of, row.h, row.solver)
            return run(self.scene, stepper, self.steps(row), row.start, report)
        engine: SceneEngine = row.of
        return engine.run(row.h, self.duration, report)

    def _here(self, plan: Sequence[Row], progress: ProgressCallback | None) -> Generator[tuple[Row, MakeRun]]:
        done, total = 0, sum(map(self.steps, plan))
        for row in plan:

            def report(k: int, row: Row = row, before: int = done) -> None:
                assert progress
                progress(str(row), before + k, total)

            yield row, partial(self.make, row, report if progress else None)
            done += self.steps(row)

    def _shared(
        self, plan: Sequence[Row], progress: ProgressCallback | None, workers: int
    ) -> Generator[tuple[Row, MakeRun]]:
        done, total = 0, sum(map(self.steps, plan))
        with processes(min(workers, len(plan))) as pool:
            # The longest first.
            waiting = {pool.submit(self.make, row): row for row in sorted(plan, key=self.steps, reverse=True)}
            for future in as_completed(waiting):
                row = waiting[future]
                done += self.steps(row)
                if progress:
                    progress(str(row), done, total)
                yield row, future.result


def _begun(reference: Track) -> Track:
    if not reference.contacts.size:
        raise WorkbenchError(f"there is no reference run: {reference.reason}")
    return reference


def _caught(make: MakeRun) -> Track | Failed:
    try:
        return make()
    except Exception as error:
        return failed(error)
