"""`flow`: what a formulation does to a flow of grains, over friction coefficient and step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.algorithms.in_turn import InTurn
from workbench.algorithms.sphere_newton import SOLVER as NEWTON
from workbench.algorithms.spheres import SOLVER as SWEEPS
from workbench.builtin.cases import SCENES
from workbench.builtin.reports.text.flow import sentences
from workbench.comparison.scenes.flow import Flow, MakeStepper
from workbench.comparison.scenes.flow import flow as all_runs
from workbench.errors import WorkbenchError
from workbench.language.formulation import Formulation
from workbench.output import provenance
from workbench.progress import ProgressCallback
from workbench.scenes.case import SceneCase
from workbench.scenes.grains.scene import Grains
from workbench.scenes.run import SteppingScheme
from workbench.scenes.stepper import SceneStepper
from workbench.verbs.find import find_formulations, find_solver
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd

ROUGHNESS = 1e-3
"""Of a grain beside its radius, unless somebody knows better: ground glass beads have 1e-4 to 1e-2."""
SEEDS = 3
"""Starts of every run: two tell a spread, and each more narrows the means."""
MOST_SEEDS = 1000
TOLERANCE = 1e-3
"""Residual that steps are solved to: the worst contact's error beside what it does. Statistics feel far less."""
MOST, SLACK = 4000, 10.0
"""Sweeps of a step at most, and how many times the tolerance its residual may be where they do not suffice."""
AFTER: dict[Any, int] = {"admm": 1000, NEWTON: 40, "blocks-exact": 500}
"""Solvers of the steps for which sweeps do not suffice, and their iterations at most."""


@dataclass(frozen=True, repr=False, eq=False)
class FlowResult(Result):
    """`rows`, a run each; `differences`, what formulations change; `forces`, how contact forces are distributed."""

    flow: Flow = field(repr=False)
    settings: Mapping[str, Any] = field(repr=False)

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"{self.flow.case.name}: what formulations do to the flow"

    @property
    def rows(self) -> pd.DataFrame:
        """A row per formulation, friction coefficient, step and start; units and meanings in `attrs["columns"]`."""
        return self.flow.rows

    @property
    def differences(self) -> pd.DataFrame:
        """A row per measure, formulation, friction coefficient and step: by how much it differs from Coulomb's law."""
        return self.flow.differences

    @property
    def words(self) -> list[str]:
        return sentences(self.flow)

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {
            "flow": self.rows,
            "differences": self.differences,
            "forces": self.flow.forces,
            "truths": self.flow.truths,
        }

    @property
    def facts(self) -> dict[str, Any]:
        return provenance(case=self.flow.case.name, parameters=vars(self.flow.case), **self.settings)

    def html(self, facts: dict[str, Any] | None = None) -> str:
        from workbench.builtin.reports.pages.flow import render

        return render(self.title, self.words, self.flow, facts or self.facts)


def flow(
    what: str | SceneCase | type[SceneCase], formulations: Sequence[str | Formulation] = ("coulomb", "ccp"), *,
    values: Mapping[str, float] | None = None, mu: Sequence[float] = (0.1, 0.5),
    steps: Sequence[float] = (4e-3, 2e-3, 1e-3), seeds: int = SEEDS, duration: float | None = None,
    roughness: float = ROUGHNESS, tolerance: float = TOLERANCE, progress: ProgressCallback | None = None,
) -> FlowResult:  # fmt: skip
    """Run a scene of grains under formulations, over friction coefficients and steps [s], and compare statistics.

    `values` are parameters of the scene. Every run is made from `seeds` starts, whose spread tells which differences
    are more than chance. `roughness` is that of a grain beside its radius, with which the artefact of
    associated flow is compared; `tolerance` the residual that steps are solved to, up to `SLACK` times of which
    counts. Raises WorkbenchError where
    something cannot be used.

    >>> import workbench as wb
    >>> found = wb.flow("packing", ["ccp"], values={"N": 8}, mu=[0.5], steps=[1e-3], seeds=1, duration=4e-3)
    >>> found.rows[["formulation", "steps", "finished"]].values.tolist()
    [['ccp', 4, True]]
    """
    plan = planned(what, formulations, values, mu, steps, seeds, tolerance)
    if not 0 < roughness < 1:
        raise WorkbenchError(f"roughness = {roughness:g}; a number between 0 and 1 is needed")
    duration = duration or plan.case.duration
    made = all_runs(
        plan.case, plan.formulations, plan.mu, plan.steps, duration, roughness, int(seeds), plan.stepper, progress
    )
    return FlowResult(made, {"duration": duration, "seeds": int(seeds), "roughness": roughness, "tolerance": tolerance})


class FlowPlan(NamedTuple):
    """What runs are made of, checked: the largest step first."""

    case: SceneCase
    formulations: Sequence[Formulation]
    mu: list[float]
    steps: list[float]
    stepper: MakeStepper


def planned(
    what: str | SceneCase | type[SceneCase], formulations: Sequence[str | Formulation],
    values: Mapping[str, float] | None, mu: Sequence[float], steps: Sequence[float], seeds: int, tolerance: float,
) -> FlowPlan:  # fmt: skip
    """The scene with its parameters, what is run, and what steps it; raises WorkbenchError for what makes no runs."""
    found = SCENES.find(what) if isinstance(what, str) else what
    case = found() if isinstance(found, type) else found
    if not isinstance(case, SceneCase):
        raise WorkbenchError(f"a scene or its name is needed; {type(what).__name__} was given")
    if not (mu and steps and formulations):
        raise WorkbenchError("at least one formulation, one friction coefficient and one step are needed")
    if not 0 < tolerance < 1:
        raise WorkbenchError(f"tolerance = {tolerance:g}; a number between 0 and 1 is needed")
    if not (1 <= seeds <= MOST_SEEDS and seeds == int(seeds)):
        raise WorkbenchError(f"seeds = {seeds:g}; a whole number from 1 to {MOST_SEEDS} is needed")
    accepted = SLACK * tolerance
    others = [find_solver(name).adjusted(accepted, most) for name, most in AFTER.items()]  # type: ignore[attr-defined]
    solver = InTurn([replace(SWEEPS, stop=tolerance, tolerance=accepted, most=MOST), *others], accepted)

    def stepper(scene: Grains, f: Formulation, h: float) -> SteppingScheme:
        return SceneStepper(scene, f, h, solver=solver if f.name in ("coulomb", "ccp") else None)

    case = case.with_parameters(**(values or {}))
    return FlowPlan(case, find_formulations(list(formulations)), list(mu), sorted(steps, reverse=True), stepper)
