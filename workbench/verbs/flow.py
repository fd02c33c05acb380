"""`flow`: compare formulations on granular flow, over friction coefficient and step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from workbench.algorithms.in_turn import InTurn
from workbench.algorithms.sphere_newton import SOLVER as NEWTON
from workbench.algorithms.spheres import SOLVER as SWEEPS
from workbench.builtin.cases import SCENES
from workbench.builtin.reports.text.flow import sentences
from workbench.comparison.scenes.flow import FlowPlan, GranularFlow
from workbench.comparison.scenes.flow import flow_runs as all_runs
from workbench.language.formulation import Formulation
from workbench.scenes.case import SceneCase
from workbench.scenes.grains.scene import Grains
from workbench.scenes.run import SteppingScheme
from workbench.scenes.stepper import SceneStepper
from workbench.support.errors import WorkbenchError
from workbench.support.output import provenance
from workbench.support.progress import ProgressCallback
from workbench.verbs.find import find_formulations, find_solver
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd

ROUGHNESS = 1e-3
"""Default roughness of a grain relative to its radius: ground glass beads have 1e-4 to 1e-2."""
SEEDS = 3
"""Number of starts of every run: two give a spread, and each further one narrows the means."""
MOST_SEEDS = 1000
TOLERANCE = 1e-3
"""Residual of the solved steps: the worst contact's relative error. Statistics are much less sensitive."""
MOST, SLACK = 4000, 10.0
"""Largest number of sweeps per step, and the allowed residual, in tolerances, where they do not suffice."""
AFTER: dict[Any, int] = {"admm": 1000, NEWTON: 40, "blocks-exact": 500}
"""Solvers of the steps for which sweeps do not suffice, and their largest numbers of iterations."""


@dataclass(frozen=True, repr=False, eq=False)
class FlowResult(Result):
    """`rows`, one per run; `differences` between formulations; `forces`, the distribution of contact forces."""

    flow: GranularFlow = field(repr=False)
    settings: Mapping[str, Any] = field(repr=False)

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"{self.flow.case.name}: formulations on granular flow"

    @property
    def rows(self) -> pd.DataFrame:
        """One row per formulation, friction coefficient, step and start; units and meanings in `attrs["columns"]`."""
        return self.flow.rows

    @property
    def differences(self) -> pd.DataFrame:
        """One row per measure, formulation, friction coefficient and step: its difference from Coulomb's law."""
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


class FlowSettings(TypedDict, total=False):
    """The runs of granular flow, as people give them: arguments of `planned` by name."""

    values: Mapping[str, float] | None
    mu: Sequence[float]
    steps: Sequence[float]
    seeds: int
    duration: float | None
    roughness: float
    tolerance: float


def flow(
    what: str | SceneCase | type[SceneCase], formulations: Sequence[str | Formulation] = ("coulomb", "ccp"), *,
    progress: ProgressCallback | None = None, **settings: Unpack[FlowSettings],
) -> FlowResult:  # fmt: skip
    """Run a scene of grains under formulations, over friction coefficients and steps [s], and compare statistics.

    Settings: `values` are parameters of the scene; `mu`, 0.1 and 0.5 by default; `steps` [s], 4, 2 and 1 ms by default;
    `duration` [s]. Every run is made from `seeds` starts, three by default; their spread shows which differences are
    significant. `roughness` is that of a grain relative to its radius, 1e-3 by default, with which the artefact of
    associated flow is compared; `tolerance` is the residual of the solved steps, 1e-3 by default, of which up to
    `SLACK` times is accepted. Raises WorkbenchError for unusable input.

    >>> import workbench as wb
    >>> found = wb.flow("packing", ["ccp"], values={"N": 8}, mu=[0.5], steps=[1e-3], seeds=1, duration=4e-3)
    >>> found.rows[["formulation", "steps", "finished"]].values.tolist()
    [['ccp', 4, True]]
    """
    plan = planned(what, formulations, **settings)
    own = {"duration": plan.duration, "seeds": plan.seeds, "roughness": plan.roughness}
    return FlowResult(all_runs(plan, progress), own | {"tolerance": settings.get("tolerance", TOLERANCE)})


def planned(
    what: str | SceneCase | type[SceneCase], formulations: Sequence[str | Formulation], *,
    values: Mapping[str, float] | None = None, mu: Sequence[float] = (0.1, 0.5),
    steps: Sequence[float] = (4e-3, 2e-3, 1e-3), seeds: int = SEEDS, duration: float | None = None,
    roughness: float = ROUGHNESS, tolerance: float = TOLERANCE,
) -> FlowPlan:  # fmt: skip
    """The scene with its parameters, the runs, the largest step first, and their solvers. Raises WorkbenchError for
    input without runs."""
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
    if not 0 < roughness < 1:
        raise WorkbenchError(f"roughness = {roughness:g}; a number between 0 and 1 is needed")
    accepted = SLACK * tolerance
    others = [find_solver(name).adjusted(accepted, most) for name, most in AFTER.items()]  # type: ignore[attr-defined]
    solver = InTurn([replace(SWEEPS, stop=tolerance, tolerance=accepted, most=MOST), *others], accepted)

    def stepper(scene: Grains, f: Formulation, h: float) -> SteppingScheme:
        return SceneStepper(scene, f, h, solver=solver if f.name in ("coulomb", "ccp") else None)

    case = case.with_parameters(**(values or {}))
    return FlowPlan(
        case, find_formulations(list(formulations)), list(mu), sorted(steps, reverse=True), int(seeds),
        duration or case.duration, roughness, stepper,
    )  # fmt: skip
