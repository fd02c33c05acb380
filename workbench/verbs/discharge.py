"""`discharge`: the discharge rate of grains from a hopper over its opening, and a fit of Beverloo's law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.builtin.cases.hopper import Hopper
from workbench.builtin.reports.text.discharge import sentences
from workbench.comparison.scenes.discharge import Discharge
from workbench.comparison.scenes.discharge import discharge as all_runs
from workbench.language.formulation import Formulation
from workbench.support.errors import WorkbenchError
from workbench.support.output import provenance
from workbench.support.progress import ProgressCallback
from workbench.verbs.flow import ROUGHNESS, SEEDS, TOLERANCE, planned
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd

OPENINGS = (0.04, 0.05, 0.06)
"""Diameters [m] of the hole: four to six grain diameters. Grains jam below four."""
GRAINS, DURATION = 400, 0.452
"""Grains of a filling as high as the bin is wide, and time [s] in which half of it leaves the widest hole."""


@dataclass(frozen=True, repr=False, eq=False)
class DischargeResult(Result):
    """`rows`, one per run; `laws`, C and k of Beverloo's law by formulation, friction coefficient and step."""

    runs: Discharge = field(repr=False)
    settings: Mapping[str, Any] = field(repr=False)
    title = "hopper: discharge over the opening"

    @property
    def rows(self) -> pd.DataFrame:
        """One row per opening, formulation, friction coefficient, step and start."""
        return self.runs.rows

    @property
    def laws(self) -> pd.DataFrame:
        """C and k with their intervals; see `workbench.comparison.scenes.discharge.BeverlooFit`."""
        return self.runs.laws

    @property
    def words(self) -> list[str]:
        return sentences(self.runs)

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"laws": self.laws, "discharge": self.rows, "truths": self.runs.truths}

    @property
    def facts(self) -> dict[str, Any]:
        return provenance(case=self.runs.case.name, parameters=vars(self.runs.case), **self.settings)

    def html(self, facts: dict[str, Any] | None = None) -> str:
        from workbench.builtin.reports.pages.discharge import render

        return render(self.title, self.words, self.runs, facts or self.facts)


def discharge(
    openings: Sequence[float] = OPENINGS, formulations: Sequence[str | Formulation] = ("coulomb", "ccp"), *,
    values: Mapping[str, float] | None = None, mu: Sequence[float] = (0.5,), steps: Sequence[float] = (4e-3,),
    seeds: int = SEEDS, duration: float = DURATION, tolerance: float = TOLERANCE,
    progress: ProgressCallback | None = None,
) -> DischargeResult:  # fmt: skip
    """Run the hopper with several openings [m], and fit Beverloo's law to its discharge, with intervals of C and k.

    `values` are parameters of the hopper, which has 400 grains by default; the others are those of `flow`. Raises
    WorkbenchError for unusable input.

    >>> import workbench as wb
    >>> found = wb.discharge([0.04, 0.05], ["ccp"], values={"N": 9, "opens": 0}, steps=[5e-3], seeds=1, duration=0.02)
    >>> found.rows[["opening", "steps", "finished"]].values.tolist()
    [[0.04, 4, True], [0.05, 4, True]]
    """
    if len(set(openings)) < 2:
        raise WorkbenchError(
            f"{len(set(openings))} openings; a fit of Beverloo's law needs at least two, and a test at least three"
        )
    plan = planned(Hopper, formulations, {"N": GRAINS} | dict(values or {}), mu, steps, seeds, tolerance)
    cases = [plan.case.with_parameters(opening=D) for D in sorted(set(openings))]
    for case in cases:
        case.scene()
    made = all_runs(
        cases, plan.formulations, plan.mu, plan.steps, duration, ROUGHNESS, int(seeds), plan.stepper, progress
    )
    return DischargeResult(made, {"duration": duration, "seeds": int(seeds), "tolerance": tolerance})
