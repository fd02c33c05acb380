"""`discharge`: the discharge rate of grains from a hopper over its opening, and a fit of Beverloo's law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

from workbench.builtin.cases.hopper import Hopper
from workbench.builtin.reports.text.discharge import sentences
from workbench.comparison.scenes.discharge import Discharge
from workbench.comparison.scenes.discharge import discharge_runs as all_runs
from workbench.language.formulation import Formulation
from workbench.support.errors import WorkbenchError
from workbench.support.output import provenance
from workbench.support.progress import ProgressCallback
from workbench.verbs.flow import TOLERANCE, FlowSettings, planned
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd

OPENINGS = (0.04, 0.05, 0.06)
"""Diameters [m] of the hole: four to six grain diameters. Grains jam below four."""
GRAINS = 400
"""Grains of a filling as high as the bin is wide."""
DEFAULTS = FlowSettings(mu=(0.5,), steps=(4e-3,), duration=0.452)
"""Half of such a filling leaves the widest hole in this time [s]."""


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
    progress: ProgressCallback | None = None, **settings: Unpack[FlowSettings],
) -> DischargeResult:  # fmt: skip
    """Run the hopper with several openings [m], and fit Beverloo's law to its discharge, with intervals of C and k.

    Settings are those of `flow`, by default 400 grains of mu = 0.5 in steps of 4 ms for 0.452 s. Raises WorkbenchError
    for unusable input.

    >>> import workbench as wb
    >>> found = wb.discharge([0.04, 0.05], ["ccp"], values={"N": 9, "opens": 0}, steps=[5e-3], seeds=1, duration=0.02)
    >>> found.rows[["opening", "steps", "finished"]].values.tolist()
    [[0.04, 4, True], [0.05, 4, True]]
    """
    if len(set(openings)) < 2:
        raise WorkbenchError(
            f"{len(set(openings))} openings; a fit of Beverloo's law needs at least two, and a test at least three"
        )
    values = {"N": GRAINS} | dict(settings.get("values") or {})
    plan = planned(Hopper, formulations, **DEFAULTS | settings | {"values": values})
    cases = [plan.case.with_parameters(opening=D) for D in sorted(set(openings))]
    for case in cases:
        case.scene()
    own = {"duration": plan.duration, "seeds": plan.seeds, "tolerance": settings.get("tolerance", TOLERANCE)}
    return DischargeResult(all_runs(cases, plan, progress), own)
