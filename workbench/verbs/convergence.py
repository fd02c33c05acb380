"""`convergence`: errors over the step size, for formulations and schemes, against the event-driven motion of a case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.builtin.reports.text.convergence import sentences
from workbench.step.scheme import KINDS, find_scheme
from workbench.support.errors import DataError
from workbench.support.output import provenance, write_json
from workbench.support.progress import ProgressCallback
from workbench.verbs.find import find_case, find_formulation, find_formulations, must_differ, several
from workbench.verbs.results import Result

if TYPE_CHECKING:
    import pandas as pd

STEPS = (2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4, 6.25e-5)
"""Default steps [s]."""


@dataclass(frozen=True, repr=False, eq=False)
class Convergence(Result):
    """`rows`, one per formulation, scheme, step and phase of the motion; `orders`, the fitted orders and limits."""

    rows: pd.DataFrame = field(repr=False)
    settings: dict[str, Any] = field(repr=False)

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"{self.settings['case']}: errors against the step, relative to the event-driven motion"

    @cached_property
    def orders(self) -> pd.DataFrame:
        """One row per formulation, scheme, phase and error: order and limit with 95 % intervals (through impacts the
        least C with e <= C h), the error at the smallest step, and the uncertainty of the event-driven motion."""
        from workbench.studies.refinement import orders

        return orders(self.rows)

    @property
    def words(self) -> Sequence[str]:
        return sentences(self.orders, self.rows)

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"orders": self.orders, "rows": self.rows}

    @property
    def facts(self) -> dict[str, Any]:
        return provenance(**self.settings)

    def html(self, facts: dict[str, Any] | None = None) -> str:
        """The page of a study, with a panel for each phase."""
        from workbench.builtin.reports.pages.study import render
        from workbench.studies.refinement import ERRORS, IMPACTS

        rows = self.rows
        drawn = rows.assign(case=rows["case"] + ", " + rows["phase"], window="all", impacts=rows["phase"] == IMPACTS)
        drawn.insert(0, "point", 0)
        return render(self.title, self.words, drawn, ERRORS, facts or self.facts, [m.column.name for m in ERRORS])

    def write(self, folder: Path, facts: dict[str, Any] | None = None) -> None:
        """Write orders.csv, rows.csv and rows.parquet, the page and provenance.json into an existing folder."""
        facts = facts or self.facts
        for name, frame in self.frames.items():
            frame.to_csv(folder / f"{name}.csv", index=False)
        self.rows.to_parquet(folder / "rows.parquet", index=False)
        (folder / "report.html").write_bytes(self.html(facts).encode())
        write_json(folder / "provenance.json", facts)


def convergence(
    what: Any, formulations: Any = "coulomb", steps: Any = STEPS, schemes: Any = tuple(KINDS), *,
    duration: float | None = None, progress: ProgressCallback | None = None,
) -> Convergence:  # fmt: skip
    """Simulate a case at several `steps` [s] with formulations and schemes, and fit the order of convergence of errors
    against its event-driven motion, and their limit: the error of the formulation's law, independent of the step.

    `formulations` are names or objects, None for all bundled ones; `schemes` names such as "midpoint" or
    "moreau-jean:theta=0.7" (`workbench.step.scheme`); `duration` [s] is the case's own by default. Errors are given by
    phase of the motion: up to its first event, through stick-slip events, and through impacts, where an order has no
    meaning and e <= C h is fitted. A run that fails is a row with its reason. Raises WorkbenchError for a case without
    an event-driven motion, for fewer than two or invalid steps, or a duration without a phase that holds some steps.

    >>> import workbench as wb
    >>> found = wb.convergence("rod", schemes=["symplectic", "midpoint"], duration=0.1)
    >>> found.orders.query("error == 'position_error'")["order"].round(1).tolist()
    [1.0, 2.0]
    """
    from workbench.studies.refinement import motions, refined

    case, chosen, exact = find_case(what), find_formulations(formulations), find_formulation("coulomb")
    must_differ(chosen)
    found = list(dict.fromkeys(find_scheme(x) for x in several(schemes)))
    sizes = sorted({float(h) for h in several(steps)}, reverse=True)
    if len(sizes) < 2 or not all(0 < h < float("inf") for h in sizes):
        raise DataError(
            f"steps {', '.join(f'{h:g}' for h in sizes)} s; at least two different positive steps are needed"
        )
    if not found:
        raise DataError(f"no scheme is given; known: {', '.join(KINDS)}")
    if progress:
        progress("computing the event-driven motion", 0, 1)
    rows = refined(case, chosen, found, sizes, motions(case, exact, duration), progress)
    own = {
        "case": case.name, "parameters": vars(case), "formulations": [f.label for f in chosen], "steps": sizes,
        "schemes": [str(x) for x in found], "duration": case.duration if duration is None else duration,
    }  # fmt: skip
    return Convergence(rows, own)
