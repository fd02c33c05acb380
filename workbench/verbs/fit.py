"""`fit`: parameters of a case from measurements of its motion, under several formulations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench.builtin.reports.text.fit import sentences
from workbench.comparison.columns import CASE, Column, framed
from workbench.events.simulation import LONGEST
from workbench.mechanics.case import Case
from workbench.support.errors import DataError, WorkbenchError
from workbench.support.numbers import must_be_seconds
from workbench.support.output import provenance
from workbench.support.progress import ProgressCallback
from workbench.verbs.find import find_case, find_formulations, must_differ, names_of
from workbench.verbs.results import Result

if TYPE_CHECKING:
    from workbench.derivatives.fitting import Measurements
    from workbench.language.formulation import Formulation

CLASSICAL = "coulomb", "ccp", "stewart-trinkle", "box", "mujoco"
"""Formulations fitted by default."""
COLUMNS = (
    Column("formulation", "", "the formulation with its options", of=CASE),
    Column("parameter", "", "parameter of the case, or entry of its start", of=CASE),
    Column("value", "", "that fits the measurements best, in the parameter's unit", "where the fit is made", CASE),
    Column("standard_error", "", "of the value, by the linear model at the end and the residuals' own size",
           "where the residuals grow as that model says, and measurements outnumber parameters", CASE),
    Column("low", "", "lowest value of the 95 % interval: the value less some two standard errors; without a standard "
           "error the lowest whose residuals, with the other parameters fitted, are small enough (profile likelihood)",
           "where measurements outnumber parameters", CASE),
    Column("high", "", "highest value of that interval", "where measurements outnumber parameters", CASE),
    Column("residual", "1", "root mean square of all residuals, each relative to the spread of its output", of=CASE),
    Column("runs", "1", "motions that were run", of=CASE),
    Column("rough_steps", "1", "steps at the end with one-sided derivatives only, or whose data jump", of=CASE),
    Column("reason", "", "why the fit is not made, or did not settle", of=CASE),
)  # fmt: skip
"""Columns of a fit: a row per formulation and parameter."""


@dataclass(frozen=True, repr=False, eq=False)
class Fits(Result):
    """`table` has a row for each formulation and parameter, the smallest residual first."""

    case: Case
    settings: dict[str, Any]
    table: pd.DataFrame = field(repr=False)

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"{self.case.name}: {', '.join(self.settings['to'])} fitted to measured {', '.join(self.settings['of'])}"

    @property
    def words(self) -> list[str]:
        return sentences(self.table, self.settings)

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        return {"fits": self.table}

    @property
    def data(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"case": self.case.name, **self.settings, "fits": self.table.to_dict("records")}

    @property
    def facts(self) -> dict[str, Any]:
        return provenance(case=self.case.name, parameters=vars(self.case), **self.settings)


def fit(
    what: str | Case | type[Case], measured: pd.DataFrame | str | Path, formulations: Any = CLASSICAL, *,
    to: str | Sequence[str], step: float = 1e-3, progress: ProgressCallback | None = None,
) -> Fits:  # fmt: skip
    """Fit parameters `to` of a case, or v[i], q[i] at its start, to measurements of its motion, under each formulation,
    by steps of `step` [s].

    `measured` is a frame or a CSV file with a column t [s] and one for each measured output: x, y, z of the centre of
    mass, energy, q[i], v[i]. Gauss-Newton begins at the case's own values and uses the derivatives of the motion
    (`derivatives.fitting`). A formulation that cannot be fitted is a row with its reason. Raises DataError for
    measurements or a step that are none, UnknownNameError for names that are not known.

    >>> import numpy as np, pandas as pd, workbench as wb
    >>> t = np.linspace(0, 0.5, 11)
    >>> speed = 2 - 0.25 * 9.81 * t
    >>> seen = pd.DataFrame({"t": t, "v[0]": speed})
    >>> block = wb.cases.find("block")().with_parameters(direction=0.0)
    >>> found = wb.fit(block, seen, ["coulomb"], to="mu")
    >>> float(found.table["value"].iloc[0].round(8))
    0.25
    """
    from workbench.derivatives.fitting import measurements

    case, chosen, names = find_case(what), find_formulations(formulations), names_of("to", to)
    if not chosen:
        raise WorkbenchError("no formulation is given; name at least one")
    must_differ(chosen)
    must_be_seconds(step)
    given = measurements(measured if isinstance(measured, pd.DataFrame) else _read(measured))
    if given.end > (most := LONGEST * case.duration):
        raise DataError(
            f"measurements up to t = {given.end:g} s; t is in seconds, and at most {most:g} s are simulated"
        )
    rows = [row for f in chosen for row in _rows(case, f, given, names, step, progress)]
    table = framed(sorted(rows, key=lambda row: np.nan_to_num(row["residual"], nan=np.inf)), COLUMNS, CASE)
    count = int(np.isfinite(given.values).sum())
    settings = {"of": list(given.names), "to": names, "step": step, "measurements": count}
    return Fits(case, settings, table)


def _read(path: str | Path) -> pd.DataFrame:
    if not isinstance(path, str | Path):
        raise DataError(f"measurements of type {type(path).__name__}; a frame or a CSV file is needed")
    if not Path(path).exists():
        raise DataError(f"{path} does not exist; give a CSV file with a column t [s] and measured outputs")
    try:
        return pd.read_csv(path)
    except (OSError, ValueError, pd.errors.ParserError) as error:
        raise DataError(f"{path}: not a CSV file with a column t and measured outputs ({error})") from None


def _rows(
    case: Case, formulation: Formulation, given: Measurements, names: list[str], step: float,
    progress: ProgressCallback | None,
) -> list[dict[str, Any]]:  # fmt: skip
    from workbench.derivatives.fitting import fit_parameters as fitted

    base = {"formulation": formulation.label, "residual": np.nan, "runs": 0, "rough_steps": 0}
    try:
        found = fitted(case, formulation, given, names, step, progress)
    except DataError as reason:
        none = dict.fromkeys(("value", "standard_error", "low", "high"), np.nan) | {"reason": str(reason)}
        return [base | {"parameter": name} | none for name in names]
    base |= {
        "residual": found.residual, "runs": found.runs, "rough_steps": found.rough_steps, "reason": found.reason
    }  # fmt: skip
    each = zip(names, found.values, found.errors, found.intervals, strict=True)
    return [
        base | {"parameter": name, "value": value, "standard_error": error, "low": low, "high": high}
        for name, value, error, (low, high) in each
    ]
