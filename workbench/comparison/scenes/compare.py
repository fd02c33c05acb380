"""Comparing on a scene: formulations at several steps, and engines, judged against exact Coulomb friction by body.

The reference is exact Coulomb friction at a much smaller step. Two further runs of it, at twice its step, tell how far
it can be trusted: one from the same start, and one from a start that is displaced by 1e-7 m (`horizon`). As in a
comparison on a case, errors are kept apart:

    discretisation   exact Coulomb at this step        -  the reference
    formulation      this formulation to round-off     -  exact Coulomb at this step
    solver           this solver's answer              -  this formulation to round-off

Contacts differ from run to run, so that bodies are compared, where they are
and by the net force and moment of their contacts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.algorithms.base import Solver
from workbench.algorithms.escalation import default_solver
from workbench.comparison.beside import reaching
from workbench.comparison.columns import DIAGNOSTICS, SCENE, TRAJECTORIES, framed
from workbench.comparison.contacts import timeline
from workbench.comparison.curves import curves
from workbench.comparison.failure import Failed
from workbench.comparison.in_turn import rows_in_turn
from workbench.comparison.jobs import Job, Settings, run_jobs
from workbench.comparison.metric import Metric, evaluate, framed_runs
from workbench.comparison.motion import measured_rows, motion
from workbench.comparison.result import Comparison, chosen_metrics, mathematics
from workbench.comparison.rows import came_to, labels, of_run, window
from workbench.comparison.scenes.bodies import BODIES, rows_by_body
from workbench.comparison.scenes.horizon import PERTURBATION, Horizon, horizon
from workbench.comparison.scenes.measured import MeasuredScene
from workbench.comparison.scenes.runs import MakeStepper, SceneEngine, SceneRuns
from workbench.comparison.scenes.several import SceneSolutions
from workbench.comparison.scenes.single import ZeroGapScene, from_exact, from_own
from workbench.comparison.several import several_solutions
from workbench.comparison.shown import SceneShown
from workbench.comparison.timeline import TIMELINE, first_contact
from workbench.language.formulation import Formulation
from workbench.problems.contact_blocks import ContactBlocks
from workbench.scenes.run import SteppingScheme
from workbench.scenes.scene import Scene
from workbench.scenes.track import Track
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
    `workers` > 1 the runs go to that many processes, unless they are short. A run that fails is a row with its reason;
    where the reference ends, the comparison does. Raises WorkbenchError for unusable settings, or where nothing can be
    compared.
    """
    must_fit(settings)
    formulations = [x for x in subjects if isinstance(x, Formulation)]
    engines = [x for x in subjects if not isinstance(x, Formulation)]
    to_round_off = default_solver(ContactBlocks.kind)
    by = dict.fromkeys(solvers or (to_round_off,))
    count = len(formulations) * len({*by, to_round_off}) + len(engines)
    must_be_kept(settings, count, len(scene.bodies), scene.start()[1].size)
    chosen, duration = chosen_metrics(SCENE, metrics), float(settings.duration or 0.0)
    fine = Job(exact, to_round_off, settings.reference_step)
    coarse = replace(fine, h=2 * fine.h)
    references = (fine, coarse, replace(coarse, displaced=PERTURBATION))
    plan = [
        job for h in settings.steps
        for job in (*(Job(f, s, h) for f in formulations for s in by), *(Job(x, None, h) for x in engines))
    ]  # fmt: skip
    alike = [Job(f, to_round_off, h) for h in settings.steps for f in (*formulations, exact)]
    made: dict[Job, Track | Failed] = {}
    jobs = list(dict.fromkeys((*references, *plan, *alike)))
    for job, found in run_jobs(SceneRuns(scene, stepper, duration), jobs, progress, workers):
        if job in references and (isinstance(found, Failed) or not found.steps):
            raise WorkbenchError(f"there is no reference run: {found.reason}")
        made[job] = found
    there = {job: x for job in plan if isinstance(x := made[job], Track) and x.steps}
    if not there:
        reasons = dict.fromkeys(made[job].reason for job in plan)
        raise WorkbenchError(f"no row has a single step: {'; '.join(reasons)}")
    reference, twice, displaced = (x for x in map(made.get, references) if isinstance(x, Track))
    end = horizon(reference, twice, displaced, list(there.values()), scene.bodies)
    judged = _Judged(scene, stepper, fine, made, end, duration, chosen)
    rows = rows_in_turn(plan, (), {}, lambda job: True, lambda job: {}, judged.rows, chosen, progress)
    touching, steps = [], []
    for job, run in ((fine, reference), *there.items()):
        is_row = run is not reference
        named = of_run(scene, job.subject, run, "run" if is_row else "reference")
        touching.append(timeline(named, run, reference, scene, end.until))
        steps.append(curves(named, run, reference if is_row else twice, end.until, scene.bodies))
        if is_row:
            begin, between = first_contact(touching[-1])
            rows[job][0] |= {"first_contact": begin if between else np.nan, "first_pair": "; ".join(between)}
    shown = motion(scene, reference, list(there.values()), end.until)
    of_runs = measured_rows([row for job in plan for row in rows[job]], shown)
    return Comparison(
        scene.name, tuple(formulations), chosen, framed_runs(of_runs, chosen, SCENE),
        framed(pd.concat(steps, ignore_index=True), TRAJECTORIES, SCENE), framed([], DIAGNOSTICS, SCENE),
        mathematics(formulations, (scene.start()[1].size, 0, 1, 2)), settings=settings,
        motion=shown, scene=_shown(scene, end, duration, engines),
        bodies=framed(judged.bodies, BODIES, SCENE),
        timeline=framed(pd.concat(touching, ignore_index=True), TIMELINE, SCENE), remarks=judged.remarks(rows),
        truths=tuple(scene.known(reference)) if scene.known and reference.finished else (),
    )  # fmt: skip


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


def must_be_kept(settings: Settings, rows: int, bodies: int, velocities: int) -> None:
    """Raise DataError if the runs, which are kept in memory, take more than `MEMORY`."""
    steps = [2 / settings.reference_step, *((rows + 1) / h for h in settings.steps)]
    size = 8 * (NUMBERS * bodies + 3 * velocities) * float(settings.duration or 0.0) * sum(steps)
    if size > MEMORY:
        raise DataError(
            f"the runs of {bodies} bodies take {size / 1e9:.3g} GB, more than {MEMORY / 1e9:g}; give a larger "
            "--step, a shorter --duration or fewer formulations"
        )


@dataclass(frozen=True, eq=False)
class _Judged:
    """Rows compared with the reference, which is `fine` among the runs `made`, up to the end of the comparison."""

    scene: Scene
    stepper: MakeStepper
    fine: Job
    made: Mapping[Job, Track | Failed]
    end: Horizon
    duration: float
    metrics: Sequence[Metric]
    bodies: list[dict[str, Any]] = field(default_factory=list)
    """The rows of `bodies`."""
    own: dict[float, SteppingScheme] = field(default_factory=dict)
    rigid: dict[tuple[Any, float], float] = field(default_factory=dict)
    solutions: dict[float, SceneSolutions] = field(default_factory=dict)
    """Examined steps of exact Coulomb friction, by their size [s]."""

    def rows(self, job: Job) -> list[dict[str, Any]]:
        """Return the row of `runs`, and append the rows of `bodies`."""
        found, until = self.made[job], self.end.until
        base = window(self.scene, job, "compared", (0.0, max(self.duration, until)), until) | {"first_pair": ""}
        if isinstance(found, Failed):
            return [base | vars(found)]
        k = np.arange(round(until / job.h))
        whole = found.steps >= k.size
        base |= came_to(found, k[: found.steps], whole)
        if not whole:
            return [base]
        m = self._measured(job, found, k)
        values = rows_by_body(m) | {"growth": self.end.growth}
        named = labels(self.scene, job.subject) | {"solver": found.solver, "step": job.h}
        self.bodies.extend(
            named | {"body": body} | {column: x[i] for column, x in values.items()}
            for i, body in enumerate(self.scene.bodies)
        )
        return [base | evaluate(self.metrics, m) | self._solutions(job, m)]

    def remarks(self, rows: Mapping[Job, list[dict[str, Any]]]) -> tuple[str, ...]:
        """Return remarks on steps at which Coulomb's law has several solutions."""
        found = []
        for h, x in self.solutions.items():
            found.append(several_solutions(x.examined, {job.label: rows[job][0] for job in rows if job.h == h}))
        return tuple(filter(None, found))

    def _solutions(self, job: Job, m: MeasuredScene) -> dict[str, float]:
        """Return the columns on several solutions of Coulomb's law."""
        f, h, solver = job.subject, job.h, self.fine.solver
        if m.exact is None:
            return {}
        assert solver
        if h not in self.solutions:
            self.solutions[h] = SceneSolutions(self.stepper(self.scene, self.fine.subject, h, solver), m.exact, m.steps)
        rigid = isinstance(f, Formulation) and not f.soft and self.solutions[h].examined.several
        return self.solutions[h].columns(self.stepper(self.scene, f, h, solver) if rigid else None)

    def _measured(self, job: Job, found: Track, k: NDArray[np.int64]) -> MeasuredScene:
        alike, solver = replace(self.fine, h=job.h), self.fine.solver
        same = job.solver in (None, solver, getattr(solver, "first", solver))
        round_off = found if same else reaching(self.made[replace(alike, subject=job.subject)], found, k)
        reference, coarse = (self.made[replace(self.fine, h=n * self.fine.h)] for n in (1, 2))
        assert isinstance(reference, Track)
        assert isinstance(coarse, Track)
        return MeasuredScene(
            found, reference, reaching(self.made[alike], found, k), round_off, k, coarse, self.scene.v_th,
            lambda m: self._single(job, m),
        )  # fmt: skip

    def _single(self, job: Job, m: MeasuredScene) -> float:
        """Return the error of single steps; raises WorkbenchError if Coulomb's law has no verified solution in one."""
        f, h, solver = job.subject, job.h, self.fine.solver
        assert solver
        if isinstance(f, Formulation) and not f.soft:
            if m.exact is None:
                return np.nan
            if (f, h) not in self.rigid:
                self.rigid[f, h] = from_exact(self.stepper(self.scene, f, h, solver), m.exact, m.steps)
            return self.rigid[f, h]
        if h not in self.own:
            self.own[h] = self.stepper(ZeroGapScene(self.scene), self.fine.subject, h, solver)
        return from_own(self.own[h], m.run, m.steps)


def _shown(scene: Scene, end: Horizon, duration: float, engines: Sequence[SceneEngine]) -> SceneShown:
    facts = dict(scene.facts())
    left_out = tuple(map(str, facts.pop("left_out", ())))
    return SceneShown(
        scene.name, tuple(scene.bodies), scene.v_th, scene.start()[1].size, duration, end.until, end.why,
        tuple(map(float, end.growth)), tuple(map(float, end.uncertainty)),
        {key: str(value) for key, value in facts.items()}, left_out, {x.label: x.words for x in engines},
    )  # fmt: skip
