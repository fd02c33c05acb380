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

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from workbench.algorithms.base import Solver
from workbench.comparison.columns import DIAGNOSTICS, RUNS, SCENE, TRAJECTORIES, framed
from workbench.comparison.cost import costs
from workbench.comparison.decision import in_short
from workbench.comparison.failure import NOBODY, Failed
from workbench.comparison.jobs import Settings
from workbench.comparison.metric import Metric, evaluate
from workbench.comparison.result import Comparison, chosen_metrics, mathematics
from workbench.comparison.rows import listed
from workbench.comparison.scenes.bodies import BODIES, rows_by_body
from workbench.comparison.scenes.curves import curves
from workbench.comparison.scenes.horizon import PERTURBATION, Horizon, horizon
from workbench.comparison.scenes.measured import MeasuredScene
from workbench.comparison.scenes.motion import motion
from workbench.comparison.scenes.runs import MakeStepper, Row, Runs, SceneEngine
from workbench.comparison.scenes.single import ZeroGapScene, from_exact, from_own
from workbench.comparison.scenes.timeline import first_contact, timeline
from workbench.comparison.shown import SceneShown
from workbench.comparison.timeline import TIMELINE
from workbench.errors import DataError, WorkbenchError
from workbench.escalation import Chain, default_solver
from workbench.language.formulation import Formulation
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.solution import Status
from workbench.progress import ProgressCallback, say
from workbench.scenes.run import SteppingScheme, perturbed
from workbench.scenes.scene import Scene
from workbench.scenes.track import Track

FINER = 6
"""Times that the reference's step is smaller at least: the error of its own step is then a fifth of theirs."""
NUMBERS, MEMORY = 30, 4e9
"""What is kept of a body and two contacts in a step, and bytes that all runs may take."""


def compare(
    scene: Scene, formulations: Sequence[Formulation], exact: Formulation, stepper: MakeStepper, settings: Settings,
    engines: Sequence[SceneEngine] = (), progress: ProgressCallback | None = None,
    metrics: Iterable[Metric | str] | None = None, workers: int = 1, solvers: Sequence[Solver] = (),
) -> Comparison:  # fmt: skip
    """Run every formulation by every solver, and every engine, at every step size, and hold them against `exact`, exact
    Coulomb friction.

    Without `solvers` all are solved to round-off. Of `settings` the steps, see `must_fit`, and the duration count. With
    `workers` > 1 the runs go to that many processes, unless they are short. A run that fails is a row with its reason;
    where the reference ends, the comparison does. Raises WorkbenchError for unusable settings, or where nothing can be
    compared.
    """
    must_fit(settings)
    to_round_off = default_solver(ContactBlocks.kind)
    by = dict.fromkeys(solvers or (to_round_off,))
    count = len(formulations) * len({*by, to_round_off}) + len(engines)
    must_be_kept(settings, count, len(scene.bodies), scene.start()[1].size)
    chosen, duration = chosen_metrics(SCENE, metrics), float(settings.duration or 0.0)
    runs, finest = Runs(scene, stepper, duration), settings.reference_step
    displacement = perturbed(scene, PERTURBATION)
    references = [Row(exact, h, to_round_off) for h in (finest, 2 * finest)]
    references.append(Row(exact, 2 * finest, to_round_off, displacement))
    plan = [
        row for h in settings.steps
        for row in (*(Row(f, h, s) for f in formulations for s in by), *(Row(x, h) for x in engines))
    ]  # fmt: skip
    own = {(f.label, h): Row(f, h, to_round_off) for h in settings.steps for f in (*formulations, exact)}
    made = runs.made(references, [*plan, *own.values()], progress, workers)
    fine, coarse, displaced = (x for x in map(made.get, references) if isinstance(x, Track))
    found, alike = {row: made[row] for row in plan}, {key: made[row] for key, row in own.items()}
    there = [x for x in found.values() if isinstance(x, Track) and x.contacts.size]
    if not there:
        reasons = dict.fromkeys(x.reason for x in found.values())
        raise WorkbenchError(f"no row has a single step: {'; '.join(reasons)}")
    end = horizon(fine, coarse, displaced, there, scene.bodies)
    judged = _Judged(scene, stepper, exact, to_round_off, fine, coarse, alike, end, duration)
    rows = []
    for i, row in enumerate(plan):
        if progress:
            progress(f"single steps of {row.label}", i, len(plan))
        rows.append(judged.row(row, found[row], chosen))
        if told := in_short(rows[-1], chosen):
            say(progress, told)
    bodies = [x for row in plan for x in judged.bodies(row, found[row])]
    moving = [x for x in found.values() if isinstance(x, Track) and x.contacts.size]
    touching = {row: timeline(scene, x, fine, end.until, "run") for row, x in found.items() if isinstance(x, Track)}
    for row, values in zip(plan, rows, strict=True):
        begin, between = first_contact(touching[row]) if row in touching else (np.inf, [])
        values |= {"first_contact": begin if between else np.nan, "first_pair": "; ".join(between)}
    touched = [timeline(scene, fine, fine, end.until, "reference"), *touching.values()]
    steps = [curves(scene, fine, coarse, end.until, "reference")]
    steps += [curves(scene, x, fine, end.until, "run") for x in moving]
    return Comparison(
        scene.name, tuple(formulations), chosen,
        framed(rows, [*RUNS, *(c for m in chosen for c in m.columns)], SCENE),
        framed(pd.concat(steps, ignore_index=True), TRAJECTORIES, SCENE), framed([], DIAGNOSTICS, SCENE),
        mathematics(formulations, (scene.start()[1].size, 0, 1, 2)), settings=settings,
        motion=motion(scene, fine, moving, end.until), scene=_shown(scene, end, duration, engines),
        bodies=framed(bodies, BODIES, SCENE), timeline=framed(pd.concat(touched, ignore_index=True), TIMELINE, SCENE),
        truths=tuple(scene.known(fine)) if scene.known and fine.finished else (),
    )  # fmt: skip


def must_fit(settings: Settings) -> None:
    """Raises DataError where a step is no even multiple of the reference's, of `FINER` at least, or longer than the
    duration."""
    settings.must_fit()
    for h in settings.steps:
        times = round(h / settings.reference_step)
        if times % 2 or times < FINER:
            raise DataError(
                f"step {h:g} s is {times} times the reference step {settings.reference_step:g} s; an even number of "
                f"times, {FINER} at least, is needed, since the reference is held against a run at twice its step"
            )
        if not (settings.duration and settings.duration >= h):
            raise DataError(f"duration {settings.duration or 0:g} s; at least one step of {h:g} s is needed")
    if len(set(settings.steps)) < len(settings.steps):
        raise DataError("a step is given twice; each step makes rows of its own")


def must_be_kept(settings: Settings, rows: int, bodies: int, velocities: int) -> None:
    """Raises DataError where the runs, which are kept, take more than `MEMORY`."""
    steps = [2 / settings.reference_step, *((rows + 1) / h for h in settings.steps)]
    size = 8 * (NUMBERS * bodies + 3 * velocities) * float(settings.duration or 0.0) * sum(steps)
    if size > MEMORY:
        raise DataError(
            f"the runs of {bodies} bodies take {size / 1e9:.3g} GB, more than {MEMORY / 1e9:g}; give a larger "
            "--step, a shorter --duration or fewer formulations"
        )


class _Judged:
    """Rows beside the reference, up to the end of what is compared."""

    def __init__(
        self, scene: Scene, stepper: MakeStepper, exact: Formulation, solver: Chain, fine: Track, coarse: Track,
        alike: dict[tuple[str, float], Track | Failed], end: Horizon, duration: float,
    ) -> None:  # fmt: skip
        self.scene, self.stepper, self.exact, self.solver = scene, stepper, exact, solver
        self.fine, self.coarse, self.alike, self.end, self.duration = fine, coarse, alike, end, duration
        self.own: dict[float, SteppingScheme] = {}
        self.rigid: dict[tuple[str, float], float] = {}

    def measured(self, row: Row, found: Track | Failed) -> MeasuredScene | None:
        """What metrics see of a row; None where it does not come to the end of what is compared."""
        k = round(self.end.until / row.h)
        if isinstance(found, Failed) or len(found.contacts) < k:
            return None

        def reaching(label: str) -> Track | None:
            x = self.alike.get((label, row.h))
            return x if isinstance(x, Track) and len(x.contacts) >= k else None

        to_round_off = row.solver in (None, self.solver, self.solver.first)
        round_off = found if to_round_off else reaching(row.label)
        return MeasuredScene(
            found, self.fine, reaching(self.exact.label), round_off, np.arange(k), self.coarse, self.scene.v_th
        )

    def row(self, row: Row, found: Track | Failed, metrics: Sequence[Metric]) -> dict[str, Any]:
        """The row of `runs`."""
        f, end = row.of, self.end.until
        base: dict[str, Any] = {
            "scene": self.scene.name, "formulation": f.name if isinstance(f, Formulation) else f.label,
            "label": f.label, "options": f.listed_options if isinstance(f, Formulation) else "", "axes": "",
            "condition": f.condition(2) if isinstance(f, Formulation) else "",
            "solver": row.solver.name if row.solver else NOBODY, "problem_class": "", "step": row.h,
            "window": "compared", "window_start": 0.0, "window_end": end, "clipped": end < self.duration - 1e-9,
            "steps": 0, "sampled": False, "verified": False, "iterations": 0, "taken_over": "", "notes": "",
        }  # fmt: skip
        if isinstance(found, Failed):
            return base | vars(found)
        k = round(end / row.h)
        whole = len(found.contacts) >= k
        base |= {
            "solver": found.solver, "steps": min(k, len(found.contacts)), "verified": whole,
            "claimed": (Status.SOLVED if whole else found.status).name, "tolerance": found.tolerance,
            "residual": found.residual[:k].max(initial=0.0) if whole else np.nan,
            "reason": "" if whole else found.reason, "iterations": int(found.iterations[:k].sum()),
            "solve_time": found.seconds, **costs([found.seconds], max(1, len(found.contacts))),
            "taken_over": listed(found.others),
        }  # fmt: skip
        m = self.measured(row, found)
        return base if m is None else base | self._metrics(row, m, metrics)

    def _metrics(self, row: Row, m: MeasuredScene, metrics: Sequence[Metric]) -> dict[str, Any]:
        notes = []
        try:
            error = self._one_step(row, m) if any(x.name == "one-step-error" for x in metrics) else np.nan
        except WorkbenchError as reason:
            error = np.nan
            notes = [f"one-step-error: {reason}"]
        found = evaluate(metrics, MeasuredScene(**vars(m) | {"one_step": error}))
        return found | {"notes": "; ".join(filter(None, [*notes, found["notes"]]))}

    def _one_step(self, row: Row, m: MeasuredScene) -> float:
        f = row.of
        if isinstance(f, Formulation) and not f.soft:
            if m.exact is None:
                return np.nan
            if (key := (f.label, row.h)) not in self.rigid:
                self.rigid[key] = from_exact(self.stepper(self.scene, f, row.h, self.solver), m.exact, m.steps)
            return self.rigid[key]
        if row.h not in self.own:
            self.own[row.h] = self.stepper(ZeroGapScene(self.scene), self.exact, row.h, self.solver)
        return from_own(self.own[row.h], m.run, m.steps)

    def bodies(self, row: Row, found: Track | Failed) -> list[dict[str, Any]]:
        """The rows of `bodies`."""
        m = self.measured(row, found)
        if m is None:
            return []
        values = rows_by_body(m) | {"growth": self.end.growth}
        name = row.of.name if isinstance(row.of, Formulation) else row.label
        assert isinstance(found, Track)
        base = {
            "scene": self.scene.name, "formulation": name, "label": row.label, "solver": found.solver, "step": row.h
        }  # fmt: skip
        return [
            base | {"body": body} | {column: x[i] for column, x in values.items()}
            for i, body in enumerate(self.scene.bodies)
        ]


def _shown(scene: Scene, end: Horizon, duration: float, engines: Sequence[SceneEngine]) -> SceneShown:
    facts = dict(scene.facts())
    left_out = tuple(map(str, facts.pop("left_out", ())))
    return SceneShown(
        scene.name, tuple(scene.bodies), scene.v_th, scene.start()[1].size, duration, end.until, end.why,
        tuple(map(float, end.growth)), tuple(map(float, end.uncertainty)),
        {key: str(value) for key, value in facts.items()}, left_out, {x.label: x.words for x in engines},
    )  # fmt: skip
