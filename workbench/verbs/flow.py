"""`flow`: what a formulation does to a flow of grains, over friction coefficient and step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from workbench.algorithms.in_turn import InTurn
from workbench.algorithms.spheres import SOLVER
from workbench.builtin.cases import SCENES
from workbench.builtin.reports.text.flow import sentences
from workbench.comparison.scenes.flow import Flow, Progress
from workbench.comparison.scenes.flow import flow as all_runs
from workbench.errors import WorkbenchError
from workbench.language.formulation import Formulation
from workbench.output import provenance
from workbench.scenes.case import SceneCase
from workbench.scenes.grains.scene import Grains
from workbench.scenes.run import Stepper
from workbench.scenes.stepper import SceneStepper
from workbench.verbs.find import find_formulations, find_solver
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd

ROUGHNESS = 1e-3
"""Of a grain beside its radius, unless somebody knows better: ground glass beads have 1e-4 to 1e-2."""
TOLERANCE = 1e-3
"""Residual of every step: the worst contact's error beside what it does. Statistics are far less sensitive."""
MOST = 2000
"""Sweeps of a step at most."""
AFTER = {"spheres-newton": 40, "blocks-exact": 500}
"""Solvers of the steps for which sweeps do not suffice, and their iterations at most."""


@dataclass(frozen=True, repr=False, eq=False)
class FlowResult(Result):
    """`rows`, a run each, and `forces`, how the contact forces are distributed in each."""

    flow: Flow = field(repr=False)
    settings: Mapping[str, Any] = field(repr=False)

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"{self.flow.case.name}: what formulations do to the flow"

    @property
    def rows(self) -> pd.DataFrame:
        """A row per formulation, friction coefficient and step; units and meanings in `attrs["columns"]`."""
        return self.flow.rows

    @property
    def words(self) -> list[str]:
        return sentences(self.flow)

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"flow": self.flow.rows, "forces": self.flow.forces}

    @property
    def facts(self) -> dict[str, Any]:
        return provenance(case=self.flow.case.name, parameters=vars(self.flow.case), **self.settings)

    def html(self, facts: dict[str, Any] | None = None) -> str:
        from workbench.builtin.reports.pages.flow import render

        return render(self.title, self.words, self.flow, facts or self.facts)


def flow(
    what: str | SceneCase | type[SceneCase], formulations: Sequence[str | Formulation] = ("coulomb", "ccp"), *,
    values: Mapping[str, float] | None = None, mu: Sequence[float] = (0.1, 0.3, 0.5),
    steps: Sequence[float] = (4e-3, 2e-3, 1e-3), duration: float | None = None, roughness: float = ROUGHNESS,
    tolerance: float = TOLERANCE, progress: Progress | None = None,
) -> FlowResult:  # fmt: skip
    """Run a scene of grains under formulations, over friction coefficients and steps [s], and compare statistics.

    `values` are parameters of the scene; `roughness` is that of a grain beside its radius, with which the artefact of
    associated flow is compared; `tolerance` the residual that every step is solved to. Raises WorkbenchError where
    something cannot be used.

    >>> import workbench as wb
    >>> found = wb.flow("packing", ["ccp"], values={"N": 8}, mu=[0.5], steps=[1e-3], duration=4e-3)
    >>> found.rows[["formulation", "steps", "finished"]].values.tolist()
    [['ccp', 4, True]]
    """
    found = SCENES.find(what) if isinstance(what, str) else what
    case = found() if isinstance(found, type) else found
    if not isinstance(case, SceneCase):
        raise WorkbenchError(f"a scene or its name is needed; {type(what).__name__} was given")
    if not (mu and steps and formulations):
        raise WorkbenchError("at least one formulation, one friction coefficient and one step are needed")
    for name, value in (("roughness", roughness), ("tolerance", tolerance)):
        if not 0 < value < 1:
            raise WorkbenchError(f"{name} = {value:g}; a number between 0 and 1 is needed")
    others = [find_solver(name).adjusted(tolerance, most) for name, most in AFTER.items()]  # type: ignore[attr-defined]
    solver = InTurn([replace(SOLVER, stop=tolerance, tolerance=tolerance, most=MOST), *others], tolerance)

    def stepper(scene: Grains, f: Formulation, h: float) -> Stepper:
        return SceneStepper(scene, f, h, solver=solver if f.name in ("coulomb", "ccp") else None)

    case = case.with_parameters(**(values or {}))
    runs = case, find_formulations(list(formulations)), list(mu), sorted(steps, reverse=True)
    duration = duration or case.duration
    made = all_runs(*runs, duration, roughness, stepper, progress)
    return FlowResult(made, {"duration": duration, "roughness": roughness, "tolerance": tolerance})
