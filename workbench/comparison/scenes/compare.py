"""Comparing on a scene: formulations at several steps, and engines, judged against exact Coulomb friction by body.

The reference is exact Coulomb friction at a much smaller step. Two further runs of it, at twice its step, tell how far
it can be trusted: one from the same start, and one from a start that is displaced by 1e-7 m (`horizon`). Errors are
kept apart as in a comparison on a case (`cases`), but for the compliance. Contacts differ from run to run, so that
bodies are compared, where they are and by the net force and moment of their contacts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.algorithms.base import Solver
from workbench.algorithms.escalation import default_solver
from workbench.comparison.columns import SCENE
from workbench.comparison.compare import Benchmark, Frames, compare, is_rigid
from workbench.comparison.failure import Failed
from workbench.comparison.jobs import Job, Settings, run_jobs
from workbench.comparison.metric import Metric
from workbench.comparison.reference import Reference, reaching
from workbench.comparison.result import Comparison, chosen_metrics
from workbench.comparison.scenes.bodies import BODIES, rows_by_body
from workbench.comparison.scenes.horizon import PERTURBATION, horizon
from workbench.comparison.scenes.measured import MeasuredScene
from workbench.comparison.scenes.runs import MakeStepper, SceneEngine, SceneRuns
from workbench.comparison.scenes.several import SceneSolutions
from workbench.comparison.scenes.single import ZeroGapScene, from_exact, from_own
from workbench.comparison.several import ExaminedSteps
from workbench.comparison.shown import SceneShown
from workbench.comparison.timeline import first_contact
from workbench.language.formulation import Formulation
from workbench.problems.contact_blocks import ContactBlocks
from workbench.scenes.run import SteppingScheme
from workbench.scenes.scene import Scene
from workbench.scenes.track import Track
from workbench.support.arrays import Array
from workbench.support.errors import DataError, WorkbenchError
from workbench.support.progress import ProgressCallback

FINER = 6
"""Times that the reference's step is smaller at least: the error of its own step is then a fifth of theirs."""
NUMBERS, MEMORY = 30, 4e9
"""Numbers kept for a body with two contacts in a step, and limit of all runs [bytes]."""


def compare_scene(
    scene: Scene, subjects: Sequence[Formulation | SceneEngine], exact: Formulation, stepper: MakeStepper,
    settings: Settings, *, progress: ProgressCallback | None = None, metrics: Iterable[Metric | str] | None = None,
    workers: int = 1, solvers: Sequence[Solver] = (),
) -> Comparison:  # fmt: skip
    """Run every subject, formulations by every solver, at every step size, and hold them against `exact`, exact Coulomb
    friction.

    Without `solvers` all are solved to round-off. Of `settings` the steps, see `must_fit`, and the duration count. With
    `workers` > 1 the runs go to that many processes, unless they are short. Where the reference ends, the comparison
    does. Raises WorkbenchError for unusable settings; else as `compare`.
    """
    must_fit(settings)
    if not scene.bodies:
        raise DataError(f"{scene.name} has no bodies that move; nothing can be compared")
    fine = Job(exact, default_solver(ContactBlocks.kind), settings.reference_step)
    by = dict.fromkeys(solvers or (fine.solver,))
    plan = [
        Job(x, s, h)
        for h in settings.steps for x in subjects
        for s in (by if isinstance(x, Formulation) else (None,))
    ]  # fmt: skip
    found = chosen_metrics(SCENE, metrics)
    return compare(SceneBenchmark(scene, stepper, settings, fine, plan), found, progress, workers)


def must_fit(settings: Settings) -> None:
    """Raise DataError if a step is not an even multiple, at least `FINER`, of the reference step."""
    settings.must_fit()
    for h in settings.steps:
        times = round(h / settings.reference_step)
        if times % 2 or times < FINER:
            raise DataError(
                f"step {h:g} s is {times} times the reference step {settings.reference_step:g} s; an even number of "
                f"times, {FINER} at least, is needed, since the reference is compared with a run at twice its step"
            )
    if len(set(settings.steps)) < len(settings.steps):
        raise DataError("a step is given twice")


def must_be_kept(jobs: Sequence[Job], duration: float, bodies: int, velocities: int) -> None:
    """Raise DataError if the runs, which are kept in memory, take more than `MEMORY`."""
    size = 8 * (NUMBERS * bodies + 3 * velocities) * duration * sum(1 / job.h for job in jobs)
    if size > MEMORY:
        raise DataError(
            f"the runs of {bodies} bodies take {size / 1e9:.3g} GB, more than {MEMORY / 1e9:g}; give a larger "
            "--step, a shorter --duration or fewer formulations"
        )


class SceneBenchmark(Benchmark):
    """A scene, compared up to where the reference, `fine`, is known; `stepper` makes its steps."""

    about, tables = SCENE, {"bodies": BODIES}

    def __init__(self, scene: Scene, stepper: MakeStepper, settings: Settings, fine: Job, plan: Sequence[Job]) -> None:
        super().__init__(scene, (scene.start()[1].size, 0, 1, 2), settings, plan)
        self.stepper, self.fine, self.duration = stepper, fine, float(settings.duration or 0.0)
        self.from_exact, self.solved = cache(self._from_exact), cache(self._solved)
        self.zero_gap = cache(lambda h: self._stepper(fine.subject, h, ZeroGapScene(scene)))

    def beside(self, job: Job) -> tuple[Job, ...]:
        """Exact Coulomb friction at the job's step, and the job's formulation to round-off, which may be itself."""
        solver = self.fine.solver
        same = job.solver in (None, solver, getattr(solver, "first", solver))
        return replace(self.fine, h=job.h), job if same else replace(job, solver=solver)

    def made(self, jobs: Sequence[Job], progress: ProgressCallback | None, workers: int) -> Iterable[tuple[Job, Any]]:
        """Nothing one by one: all runs tell how long the reference is known well enough to compare them with it."""
        coarse = replace(self.fine, h=2 * self.fine.h)
        references = (self.fine, coarse, replace(coarse, displaced=PERTURBATION))
        needed = list(dict.fromkeys((*references, *jobs)))
        must_be_kept(needed, self.duration, len(self.what.bodies), self.size[0])
        for job, found in run_jobs(SceneRuns(self.what, self.stepper, self.duration), needed, progress, workers):
            if job in references and (isinstance(found, Failed) or not found.steps):
                raise WorkbenchError(f"there is no reference run: {found.reason}")
            self.runs[job] = found
        rows = [x for job in self.plan if isinstance(x := self.runs[job], Track) and x.steps]
        if not rows:
            reasons = dict.fromkeys(self.runs[job].reason for job in self.plan)
            raise WorkbenchError(f"no row has a single step: {'; '.join(reasons)}")
        exact, twice, displaced = (self.runs[x] for x in references)
        self.reference = Reference(self.fine, exact, twice)
        self.end = horizon(exact, twice, displaced, rows, self.what.bodies)
        self.until = self.end.until
        self.windows = {"compared": (0.0, max(self.duration, self.until))}
        return ()

    def measured(self, job: Job, run: Track, k: NDArray[np.int64]) -> MeasuredScene:
        exact, round_off = (reaching(self.runs[x], run, k) for x in self.beside(job))
        known = self.reference
        return MeasuredScene(
            run, known.run, exact, round_off, k, known.second, self.what.v_th, lambda m: self._single(job, m)
        )

    def _single(self, job: Job, m: MeasuredScene) -> float:
        """Return the error of single steps; raises WorkbenchError if Coulomb's law has no verified solution in one."""
        if is_rigid(job.subject):
            return self.from_exact(job.subject, job.h)
        return from_own(self.zero_gap(job.h), m.run, m.steps)

    def _from_exact(self, f: Formulation, h: float) -> float:
        found = self.solved(h)
        return from_exact(self._stepper(f, h), found.exact, found.steps) if found else np.nan

    def _stepper(self, f: Formulation, h: float, scene: Any = None) -> SteppingScheme:
        """A formulation's steps of h [s] to round-off, of this scene by default."""
        assert self.fine.solver
        return self.stepper(scene or self.what, f, h, self.fine.solver)

    def _solved(self, h: float) -> SceneSolutions | None:
        """Steps of h [s] of exact Coulomb friction; None if its run ends before the comparison."""
        exact, k = self.runs[replace(self.fine, h=h)], np.arange(round(self.until / h))
        reaches = isinstance(exact, Track) and exact.steps >= k.size
        return SceneSolutions(self._stepper(self.fine.subject, h), exact, k) if reaches else None

    def examined(self, h: float) -> ExaminedSteps | None:
        found = self.solved(h)
        return found.examined if found else None

    def velocities(self, job: Job, steps: Sequence[int]) -> Mapping[int, Array] | None:
        found = self.solved(job.h)
        try:
            return found.velocities(self._stepper(job.subject, job.h), steps) if found else None
        except WorkbenchError:
            return None

    def shown(self, named: dict[str, Any], job: Job, run: Track) -> dict[str, Any]:
        """A row for each body of a run that is whole."""
        k = np.arange(round(self.until / run.h))
        if named["role"] != "run" or run.steps < k.size:
            return {}
        values = rows_by_body(self.measured(job, run, k)) | {"growth": self.end.growth}
        return {"bodies": pd.DataFrame(named | {"body": self.what.bodies} | values)}

    def last_columns(
        self, shown: Mapping[Job, Frames], progress: ProgressCallback | None
    ) -> Mapping[Job, dict[str, Any]]:
        """The first contact."""
        found = {}
        for job in self.plan:
            begin, between = first_contact(shown[job]["timeline"]) if job in shown else (np.nan, [])
            found[job] = {"first_contact": begin if between else np.nan, "first_pair": "; ".join(between)}
        return found

    def facts(self) -> dict[str, Any]:
        scene, end, reference = self.what, self.end, self.reference.run
        facts = dict(scene.facts())
        left_out = tuple(map(str, facts.pop("left_out", ())))
        engines = dict.fromkeys(job.subject for job in self.plan if not isinstance(job.subject, Formulation))
        shown = SceneShown(
            scene.name, tuple(scene.bodies), scene.v_th, self.size[0], self.duration, end.until, end.why,
            tuple(map(float, end.growth)), tuple(map(float, end.uncertainty)),
            {key: str(value) for key, value in facts.items()}, left_out, {x.label: x.words for x in engines},
        )  # fmt: skip
        known = scene.known and reference.finished
        return {"scene": shown, "truths": tuple(scene.known(reference)) if known else ()}
