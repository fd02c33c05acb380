"""`compare`: compare formulations on a case, or on a problem from a file, with Coulomb's law."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from workbench.comparison.cases import compare_case
from workbench.comparison.files import compare_problem
from workbench.comparison.jobs import AUTO, Settings, reference_of
from workbench.comparison.result import Comparison
from workbench.comparison.scenes.compare import compare_scene
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.mechanics.relaxation import Relaxation
from workbench.problems.classes import LCP, MLCP
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem
from workbench.readers.files import ENDINGS, read_problem_file
from workbench.step.scheme import Scheme, find_scheme
from workbench.support.errors import WorkbenchError
from workbench.support.output import page_path, provenance, replaced
from workbench.support.progress import ProgressCallback
from workbench.verbs.find import (
    find_case,
    find_formulation,
    find_formulations,
    find_relaxation,
    find_solver,
    must_be_known,
    must_differ,
    several,
    steps_of,
)
from workbench.verbs.results import Result
from workbench.verbs.scene import compared_scene, is_scene

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False, eq=False)
class Compared(Result):
    """A comparison as tidy frames: `runs`, `trajectories`, `diagnostics`, `timeline`; for a case also `onward` and
    `events`, for a scene `bodies`. `comparison` holds all results."""

    comparison: Comparison = field(repr=False)
    settings: dict[str, Any] = field(repr=False)

    @property
    def title(self) -> str:  # type: ignore[override]
        c = self.comparison
        return f"{len(c.formulations)} formulations on {c.name}"

    @property
    def runs(self) -> pd.DataFrame:
        """One row per formulation and solver, for a case also per step and window; units in `attrs["columns"]`."""
        return self.comparison.runs

    @property
    def trajectories(self) -> pd.DataFrame:
        """One row per run, step and contact."""
        return self.comparison.trajectories

    @property
    def diagnostics(self) -> pd.DataFrame:
        """Rank, P-property and sliding matrix of a case's formulations."""
        return self.comparison.diagnostics

    @property
    def onward(self) -> pd.DataFrame:
        """Errors of formulations started from exact states of a case after 1 to 100 steps; transients and drifts."""
        return self.comparison.onward

    @property
    def bodies(self) -> pd.DataFrame:
        """For a scene: one row per run and body."""
        return self.comparison.bodies

    @property
    def timeline(self) -> pd.DataFrame:
        """Times at which the contacts of a case, or the bodies of a scene, are loaded in the reference and in every
        run, and stick or slide."""
        return self.comparison.timeline

    @property
    def events(self) -> pd.DataFrame:
        """For a case: events of the reference, and those that each run misses or adds."""
        return self.comparison.events

    @property
    def words(self) -> Sequence[str]:
        from workbench.builtin.reports.text.headline import findings, headline

        return [*headline(self.comparison).sentences, *findings(self.comparison)]

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        of_scene = {"bodies": self.bodies, "timeline": self.timeline}
        last = of_scene if self.comparison.scene else {"diagnostics": self.diagnostics}
        of_case = {"onward": self.onward, "timeline": self.timeline, "events": self.events}
        last |= {name: x for name, x in of_case.items() if len(x.columns)} if self.comparison.case else {}
        return {"runs": self.runs, "trajectories": self.trajectories, **last}

    @property
    def facts(self) -> dict[str, Any]:
        c = self.comparison
        return provenance(
            **self.settings, formulations=[f.label for f in c.formulations],
            solvers=list(dict.fromkeys(self.runs["solver"])), metrics=[m.name for m in c.metrics],
        )  # fmt: skip

    def html(self, facts: dict[str, Any] | None = None) -> str:
        from workbench.builtin.reports.pages.comparison import render

        return render(self.comparison, facts or self.facts)

    def slides(self, path: str | Path) -> Path:
        """Write the page's figures and formulas, one per slide, whole or not at all; the arrow keys turn slides."""
        from workbench.builtin.reports.pages.slides import render

        with replaced(page_path(path)) as stage:
            stage.write_bytes(render(self.comparison).encode())
        return Path(path)

    def write(self, folder: Path, figures: Any = None, facts: dict[str, Any] | None = None) -> None:
        """Write page, frames and provenance.json into an existing folder; figures as "pdf", "svg" or "png"."""
        from workbench.builtin.reports.pages.comparison import save

        save(self.comparison, folder, facts or self.facts, figures)


class ComparisonSettings(TypedDict, total=False):
    """What all runs of a comparison or a study share, as people give it: `Settings` by name, None for a default."""

    steps: Any
    reference_step: float | None
    duration: float | None
    scheme: Scheme | str | None
    normal: str | None
    relaxation: Relaxation | str | None
    reference: str


OF_CASES = ComparisonSettings.__annotations__.keys()
OF_SCENES = "steps", "reference_step", "duration"
"""The names of the settings, and those that scenes have too."""


def compare(
    what: Any, formulations: Any = None, *, solvers: Any = (), metrics: Any = None, seconds: float | None = None,
    progress: ProgressCallback | None = None, workers: int = 1, **settings: Unpack[ComparisonSettings],
) -> Compared:  # fmt: skip
    """Simulate a case or scene, or solve a friction problem, with several formulations, and compare with Coulomb's law.

    `what` is a case or its name, a friction problem or the path of a file with one, a scene (`wb.scene`), its name or
    the path of a model, .xml or .urdf. `formulations`, `solvers` and `metrics` are names, places in user-defined code,
    or objects; the defaults are all bundled formulations, each with the tangent axes of its publication, solver "auto",
    and all metrics.

    Settings for a case: `steps` [s], default 1e-3; `reference_step`, default 1e-4 or a little less; `duration` [s];
    `scheme` ("symplectic", "explicit", "moreau-jean", "moreau-jean:theta=0.7", "midpoint"); `normal` (normal law);
    `relaxation`, where None is the case's own and "rigid" is allowed; and `reference`: "events", the event-driven
    motion, "steps" of `reference_step`, or "auto", events if the case has them. For a scene: `solvers` for contact
    blocks, directly or over bridges; `steps`, default its own; `reference_step`, default a tenth of the smallest
    step; `duration`; and among `formulations` also "engine:mujoco", the engine's own steps, with options as in
    "engine:mujoco,timeconst=0.002". For a problem: `seconds` for each row, which is then computed in another
    process.

    `workers` processes share the runs of a scene, and those of a case whose solvers are not compiled. A script that
    uses other processes begins with `if __name__ == "__main__":`. Raises WorkbenchError for unusable settings or an
    unverified reference; a formulation, solver or metric that fails is a row or a cell with its reason.

    >>> import workbench as wb
    >>> found = wb.compare("wheel", ["box", "coulomb"], duration=0.02)
    >>> found.runs.groupby("label")["verified"].all().to_dict()
    {'box': True, 'coulomb': True}
    >>> found.runs.attrs["columns"]["position_error"]["unit"]
    '1'
    """
    if is_scene(what):
        if seconds is not None:
            raise WorkbenchError("seconds is for files; leave it out here")
        return _scene(what, formulations, solvers, metrics, settings, progress, workers)
    chosen, coulomb = None if formulations is None else find_formulations(formulations), find_formulation("coulomb")
    if chosen is not None and not chosen:
        raise WorkbenchError("no formulation is given; name at least one, or leave the argument out for all")
    must_differ(chosen or ())
    solvers, metrics = several(solvers), None if metrics is None else several(metrics)
    if isinstance(what, FrictionProblem | GlobalFrictionProblem) or (not isinstance(what, Case) and is_file(what)):
        name, problem = (
            (Path(what).name, read_problem_file(what)) if isinstance(what, str | Path) else ("problem", what)
        )
        must_apply(settings, set())
        if isinstance(problem, MLCP):
            raise WorkbenchError(
                f"{name} holds: {problem.kind}; formulations of friction are compared on friction problems "
                "(see: workbench solve, workbench check)"
            )
        c = compare_problem(
            name, problem, chosen or find_formulations(None), coulomb, solvers, seconds, progress, metrics
        )
        return Compared(c, {"file": str(what) if isinstance(what, str | Path) else name, "problem": c.facts,
                            "known": c.known, "settings": {"time_limit": seconds}})  # fmt: skip
    must_be_known(what)
    case = find_case(what)
    own = settings_of(settings).of_case(case)
    c = compare_case(case, chosen or find_formulations(None), coulomb, solvers, own, progress, workers, metrics)
    return Compared(c, {"case": case.name, "parameters": vars(case), "settings": written(own)})


def must_apply(given: ComparisonSettings, those: Collection[str]) -> None:
    """Raise WorkbenchError if a setting is given that is not among those that apply, TypeError for an unknown name."""
    for name, value in given.items():
        if name not in OF_CASES:
            raise TypeError(f"'{name}' is no setting of a comparison; known: {', '.join(OF_CASES)}")
        if name not in those and value is not None and (name, value) != ("reference", AUTO):
            kind = "cases and scenes" if name in OF_SCENES else "cases"
            raise WorkbenchError(f"{name} is for {kind}; leave it out here")


def settings_of(
    given: ComparisonSettings, those: Collection[str] = OF_CASES,
    finest: Callable[[Sequence[float]], float] = reference_of, **defaults: Any,
) -> Settings:  # fmt: skip
    """Return the settings; `finest` gives the reference step [s] for steps. Raises as `must_apply`, and WorkbenchError
    where there are no steps."""
    must_apply(given, those)
    found: dict[str, Any] = defaults | {name: value for name, value in given.items() if value is not None}
    steps = steps_of(found.get("steps", Settings.steps))
    return Settings(**{"reference_step": finest(steps)} | found | {
        "steps": steps, "scheme": find_scheme(found.get("scheme")),
        "relaxation": find_relaxation(found.get("relaxation")),
    })  # fmt: skip


def written(settings: Settings) -> dict[str, Any]:
    """Return settings as a page or a file names them."""
    return vars(settings) | {"relaxation": str(settings.relaxation), "scheme": str(settings.scheme)}


def _scene(
    what: Any, formulations: Any, solvers: Any, metrics: Any, given: ComparisonSettings,
    progress: ProgressCallback | None, workers: int,
) -> Compared:  # fmt: skip
    """The comparison of a scene; by default with all bundled formulations that are local to their contacts, and the
    scene's engines."""
    from workbench.scenes.stepper import SceneStepper

    found, duration, chosen, engines = compared_scene(what, formulations)
    settings = settings_of(given, OF_SCENES, lambda steps: min(steps) / 10, steps=found.step, duration=duration)
    measured = None if metrics is None else several(metrics)
    c = compare_scene(
        found, [*chosen, *engines], find_formulation("coulomb"), SceneStepper, settings, progress=progress,
        metrics=measured, workers=workers, solvers=[find_solver(x) for x in several(solvers)],
    )  # fmt: skip
    own = {name: getattr(settings, name) for name in OF_SCENES}
    return Compared(c, {"scene": str(what) if isinstance(what, str | Path) else found.name, "settings": own,
                        "rows": [x.label for x in engines]})  # fmt: skip


def steps_are_compiled() -> bool:
    """Return whether the time steps of cases need no compiling: they are in the cache, or interpreted."""
    from workbench.step.local_steps import remember_each

    # Interpreted kernels have no machine code.
    return not hasattr(remember_each, "is_ready") or remember_each.is_ready()


def compile_last(case: Case, formulations: Sequence[Formulation]) -> None:
    """Compile what a comparison of a case needs before its first row, the last first, and then single steps.

    The declarations come first: they are needed as soon as there is a reference. The first row is that of a run without
    friction.
    """
    from workbench.comparison.result import refusals

    refusals(formulations, case.size)
    from workbench.algorithms.escalation import default_solver
    from workbench.language.assemble.assembly import carry_back, eliminate
    from workbench.mechanics.core import friction_coefficient
    from workbench.step.local_steps import remember_each
    from workbench.step.loops import run_each
    from workbench.step.stepping import begin_step, discretise, end_step, run, solve_passes

    end_step.ready()
    carry_back.ready()
    default_solver(LCP.kind).solve(LCP(np.eye(1), -np.ones(1)))
    for part in (solve_passes, begin_step, run, eliminate, friction_coefficient, discretise, run_each, remember_each):
        part.ready()


def is_file(what: Any) -> bool:
    """Return whether a path or name is a problem file, not a case: by its folder, its extension, or its existence."""
    if isinstance(what, Path):
        return True
    if not isinstance(what, str):
        return False
    path = Path(what)
    if ".py" in (path.suffix, Path(what.rpartition(":")[0]).suffix):
        return False
    return path.suffix.lower() in ENDINGS or len(path.parts) > 1 or path.is_file()
