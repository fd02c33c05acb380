"""Comparing on a scene: formulations at several steps, and engines, judged against exact Coulomb friction by body.

The reference is exact Coulomb friction at a much smaller step. Two further runs of it, at twice its step, tell how far
it can be trusted: one from the same start, and one from a start that is displaced by 1e-7 m (`horizon`). As in a
comparison on a case, errors are kept apart:

    discretisation   exact Coulomb at this step        -  the reference
    formulation      this row                          -  exact Coulomb at this step

All formulations are solved to round-off. Contacts differ from run to run, so that bodies are compared, where they are
and by the net force and moment of their contacts.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd

from workbench.comparison.columns import DIAGNOSTICS, RUNS, SCENE, TRAJECTORIES, framed
from workbench.comparison.failure import NOBODY, Failed, failed
from workbench.comparison.jobs import Progress, Settings
from workbench.comparison.metric import Metric, evaluate
from workbench.comparison.result import Comparison, chosen_metrics, mathematics
from workbench.comparison.scenes.bodies import BODIES, rows_by_body
from workbench.comparison.scenes.curves import curves
from workbench.comparison.scenes.horizon import PERTURBATION, Horizon, horizon
from workbench.comparison.scenes.measured import MeasuredScene
from workbench.comparison.scenes.motion import motion
from workbench.comparison.scenes.single import Touching, from_exact, from_own
from workbench.comparison.shown import SceneShown
from workbench.errors import DataError, WorkbenchError
from workbench.language.formulation import Formulation
from workbench.problems.solution import Status
from workbench.scenes.run import Stepper, perturbed, run
from workbench.scenes.scene import Scene
from workbench.scenes.track import Track
from workbench.step.simulation import whole_steps

FINER = 6
"""Times that the reference's step is smaller at least: the error of its own step is then a fifth of theirs."""
NUMBERS, MEMORY = 22, 4e9
"""What is kept of a body in a step, and bytes that all runs may take."""
MakeStepper = Callable[[Any, Formulation, float], Stepper]
"""What steps a scene under a formulation at a step [s]; raises WorkbenchError where it cannot."""


class Engine(Protocol):
    """A row that is no formulation: another engine's own steps of the same scene, from its start."""

    @property
    def label(self) -> str: ...
    @property
    def words(self) -> str:
        """What it is, in a sentence."""

    def run(self, h: float, duration: float, progress: Callable[[int], None] | None = None) -> Track: ...


@dataclass(frozen=True, eq=False)
class Row:
    """A row to be: a formulation or an engine at a step [s]."""

    of: Any
    h: float

    @property
    def label(self) -> str:
        return str(self.of.label)


def compare(
    scene: Scene, formulations: Sequence[Formulation], exact: Formulation, stepper: MakeStepper, settings: Settings,
    engines: Sequence[Engine] = (), progress: Progress | None = None, metrics: Iterable[Metric | str] | None = None,
) -> Comparison:  # fmt: skip
    """Run every formulation and engine at every step size, and hold them against `exact`, exact Coulomb friction.

    Of `settings` the steps, see `must_fit`, and the duration count. A run that fails is a row
    with its reason; where the reference ends, the comparison does. Raises WorkbenchError for unusable settings, or
    where nothing can be compared.
    """
    must_fit(settings)
    must_be_kept(settings, len(formulations) + len(engines), len(scene.bodies), scene.start()[1].size)
    chosen, duration = chosen_metrics(SCENE, metrics), float(settings.duration or 0.0)
    runs = _Runs(scene, stepper, duration, progress, settings, len(formulations) + len(engines))
    fine, coarse = (runs.needed(exact, m * settings.reference_step) for m in (1, 2))
    displaced = runs.needed(exact, 2 * settings.reference_step, perturbed(scene, PERTURBATION))
    plan = [Row(of, h) for h in settings.steps for of in (*formulations, *engines)]
    found = {row: runs.made(row) for row in plan}
    alike = {h: runs.made(Row(exact, h)) for h in settings.steps}
    there = [x for x in found.values() if isinstance(x, Track) and x.contacts.size]
    if not there:
        reasons = dict.fromkeys(x.reason for x in found.values())
        raise WorkbenchError(f"no row has a single step: {'; '.join(reasons)}")
    end = horizon(fine, coarse, displaced, there, scene.bodies)
    judged = _Judged(scene, stepper, exact, fine, coarse, alike, end, duration)
    rows = []
    for i, row in enumerate(plan):
        if progress:
            progress(f"single steps of {row.label}", i, len(plan))
        rows.append(judged.row(row, found[row], chosen))
    bodies = [x for row in plan for x in judged.bodies(row, found[row])]
    moving = [x for x in found.values() if isinstance(x, Track) and x.contacts.size]
    steps = [curves(scene, fine, coarse, end.until, "reference")]
    steps += [curves(scene, x, fine, end.until, "run") for x in moving]
    return Comparison(
        scene.name, tuple(formulations), chosen,
        framed(rows, [*RUNS, *(c for m in chosen for c in m.columns)], SCENE),
        framed(pd.concat(steps, ignore_index=True), TRAJECTORIES, SCENE), framed([], DIAGNOSTICS, SCENE),
        mathematics(formulations, (scene.start()[1].size, 0, 1, 2)), settings=settings,
        motion=motion(scene, fine, moving, end.until), scene=_shown(scene, end, duration, engines),
        bodies=framed(bodies, BODIES, SCENE),
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


class _Runs:
    """The runs of a comparison, each made once."""

    def __init__(
        self, scene: Scene, stepper: MakeStepper, duration: float, progress: Progress | None, settings: Settings,
        rows: int,
    ) -> None:  # fmt: skip
        self.scene, self.stepper, self.duration, self.progress = scene, stepper, duration, progress
        self.kept: dict[tuple[str, float], Track | Failed] = {}
        of_rows = rows * sum(self._steps(h) for h in settings.steps)
        self.done, self.total = 0, 2 * self._steps(settings.reference_step) + of_rows

    def _steps(self, h: float) -> int:
        return whole_steps(self.duration, h)

    def needed(self, exact: Formulation, h: float, start: Any = None) -> Track:
        """A run of exact Coulomb friction that nothing can be compared without."""
        found = self._run(self.stepper(self.scene, exact, h), h, start)
        if not found.contacts.size:
            raise WorkbenchError(f"there is no reference run: {found.reason}")
        return found

    def made(self, row: Row) -> Track | Failed:
        """The run of a row, or why there is none."""
        key = row.label, row.h
        if key not in self.kept:
            try:
                self.kept[key] = self._made(row)
            except Exception as error:
                self.kept[key] = failed(error)
        return self.kept[key]

    def _made(self, row: Row) -> Track:
        if isinstance(row.of, Formulation):
            return self._run(self.stepper(self.scene, row.of, row.h), row.h)
        return self._counted(row.label, row.h, lambda told: row.of.run(row.h, self.duration, told))

    def _run(self, stepper: Stepper, h: float, start: Any = None) -> Track:
        steps = self._steps(h)
        return self._counted(stepper.label, h, lambda told: run(self.scene, stepper, steps, start, told))

    def _counted(self, label: str, h: float, go: Callable[[Callable[[int], None] | None], Track]) -> Track:
        before = self.done

        def told(k: int) -> None:
            assert self.progress
            self.progress(f"{label}, {h:g} s", before + k, max(self.total, before + k))

        found = go(told if self.progress else None)
        self.done = before + self._steps(h)
        return found


class _Judged:
    """Rows beside the reference, up to the end of what is compared."""

    def __init__(
        self, scene: Scene, stepper: MakeStepper, exact: Formulation, fine: Track, coarse: Track,
        alike: dict[float, Track | Failed], end: Horizon, duration: float,
    ) -> None:  # fmt: skip
        self.scene, self.stepper, self.exact, self.fine, self.coarse = scene, stepper, exact, fine, coarse
        self.alike, self.end, self.duration = alike, end, duration
        self.own: dict[float, Stepper] = {}

    def measured(self, row: Row, found: Track | Failed) -> MeasuredScene | None:
        """What metrics see of a row; None where it does not come to the end of what is compared."""
        k = round(self.end.until / row.h)
        if isinstance(found, Failed) or len(found.contacts) < k:
            return None
        exact = self.alike[row.h]
        reaches = isinstance(exact, Track) and len(exact.contacts) >= k
        return MeasuredScene(
            found, self.fine, exact if isinstance(exact, Track) and reaches else None, found, np.arange(k),
            self.coarse, self.scene.v_th,
        )  # fmt: skip

    def row(self, row: Row, found: Track | Failed, metrics: Sequence[Metric]) -> dict[str, Any]:
        """The row of `runs`."""
        f, end = row.of, self.end.until
        base: dict[str, Any] = {
            "scene": self.scene.name, "formulation": f.name if isinstance(f, Formulation) else f.label,
            "label": f.label, "options": f.listed_options if isinstance(f, Formulation) else "", "axes": "",
            "solver": NOBODY, "problem_class": "", "step": row.h, "window": "compared", "window_start": 0.0,
            "window_end": end, "clipped": end < self.duration - 1e-9, "steps": 0, "sampled": False, "verified": False,
            "iterations": 0, "notes": "",
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
            "solve_time": found.seconds,
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
        if isinstance(f, Formulation) and not soft(f):
            return np.nan if m.exact is None else from_exact(self.stepper(self.scene, f, row.h), m.exact, m.steps)
        if row.h not in self.own:
            self.own[row.h] = self.stepper(Touching(self.scene), self.exact, row.h)
        return from_own(self.own[row.h], m.run, m.steps)

    def bodies(self, row: Row, found: Track | Failed) -> list[dict[str, Any]]:
        """The rows of `bodies`."""
        m = self.measured(row, found)
        if m is None:
            return []
        values = rows_by_body(m) | {"growth": self.end.growth}
        name = row.of.name if isinstance(row.of, Formulation) else row.label
        base = {"scene": self.scene.name, "formulation": name, "label": row.label, "step": row.h}
        return [
            base | {"body": body} | {column: x[i] for column, x in values.items()}
            for i, body in enumerate(self.scene.bodies)
        ]


def soft(f: Formulation) -> bool:
    """Whether contacts of a formulation answer how far they have gone in: it has a time constant of its own."""
    return "timeconst" in f.options


def _shown(scene: Scene, end: Horizon, duration: float, engines: Sequence[Engine]) -> SceneShown:
    facts = dict(scene.facts())
    left_out = tuple(map(str, facts.pop("left_out", ())))
    return SceneShown(
        scene.name, tuple(scene.bodies), scene.v_th, scene.start()[1].size, duration, end.until, end.why,
        tuple(map(float, end.growth)), tuple(map(float, end.uncertainty)),
        {key: str(value) for key, value in facts.items()}, left_out, {x.label: x.words for x in engines},
    )  # fmt: skip
