"""A metric on request: the error of a derivative of the end of a motion by a parameter of the case."""

from functools import lru_cache

import numpy as np

from workbench.comparison.derivatives import EVENT_DRIVEN, derivatives_of
from workbench.comparison.measured import MeasuredRun
from workbench.comparison.metric import Metric, metric
from workbench.derivatives.motion import output_of
from workbench.derivatives.parameters import place_at_start
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.step.scheme import SYMPLECTIC
from workbench.support.errors import DataError


def derivative_error(output: str, parameter: str) -> Metric:
    """Return the metric of the error of d(output)/d(parameter), in the column "d{output}_d{parameter}_error" of `runs`.

    Output and parameter are those of `sensitivity`, and so is the error: relative to the derivative of the event-driven
    motion or, if it cannot be followed, of exact Coulomb friction with the same steps. It is defined for windows that
    are the whole run. Under another scheme, normal law or compliance than the symplectic one and those of the case, for
    names that the case does not have, and where a run has no derivative, the column `notes` says so.

    >>> import workbench as wb
    >>> error = wb.derivative_error("v[0]", "mu")
    >>> found = wb.compare("block", ["coulomb", "stewart-trinkle"], metrics=[error], duration=0.1)
    >>> [f"{abs(x):.1%}" for x in found.runs.drop_duplicates("label")["dv[0]_dmu_error"]]
    ['0.0%', '15.5%']
    """

    @metric(
        f"d{output}-d{parameter}-error", unit="1",
        meaning=f"error of the derivative of {output} at the end by {parameter}, relative to that of the event-driven "
        "motion, else of exact Coulomb friction at this step",
        defined="where the window is the whole run and there is a derivative",
        heading=f"d{output}/d{parameter} error", shown="percent",
    )  # fmt: skip
    def error(m: MeasuredRun) -> float:
        run = m.run
        if m.steps.size < run.steps:
            return np.nan
        if (run.scheme, run.normal, run.relaxation) != (SYMPLECTIC, m.case.normal, m.case.relaxation):
            raise DataError("derivatives are those of the symplectic scheme with the case's normal law and compliance")
        exact = run.formulation if m.exact is None else m.exact.formulation
        return _error(m.case, exact, run.formulation, output, parameter, run.h, run.h * run.steps)

    return error


@lru_cache(maxsize=256)
def _error(
    case: Case, exact: Formulation, formulation: Formulation, output: str, parameter: str, h: float, duration: float
) -> float:
    """The error in the table of `derivatives_of`. Rows of one run that differ by solver or window share it."""
    output_of(case, output)
    place_at_start(case, parameter)
    chosen = [exact] if formulation.label == exact.label else [exact, formulation]
    row = derivatives_of(case, chosen, [output], [parameter], h, duration).iloc[-1]
    assert row["formulation"] != EVENT_DRIVEN
    if row["reason"]:
        raise DataError(row["reason"])
    return float(row["error"])
