"""The registries: what there is by name, without importing the objects themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.algorithms import SOLVERS
from workbench.builtin.cases import CASES, SCENES
from workbench.builtin.formulations import REGISTRIES
from workbench.comparison.metrics import METRICS
from workbench.support.registry import Registry

if TYPE_CHECKING:
    from workbench.algorithms.table import Cell
    from workbench.mechanics.case import Case

BY_KIND: dict[str, tuple[Registry, ...]] = {
    "cases": (CASES,), "scenes": (SCENES,), "formulations": tuple(REGISTRIES), "solvers": (SOLVERS,),
    "metrics": (METRICS,),
}  # fmt: skip
"""The registries of each kind; the first one also finds user-defined objects."""


def find_metrics(wanted: Sequence[str]) -> list[Any]:
    """Find metrics by name or by place in user-defined code. Raises UnknownNameError, which lists the known names."""
    return [METRICS.find(name) for name in wanted]


def derivative_metrics(case: Case, wanted: Sequence[Sequence[str]]) -> list[Any]:
    """Return the metrics for errors of derivatives, each of an output by a parameter of the case. Raises
    UnknownNameError or DataError for those that the case does not have."""
    from workbench.comparison.derivative_error import derivative_error
    from workbench.derivatives.motion import output_of
    from workbench.derivatives.parameters import place_at_start

    for output, parameter in wanted:
        output_of(case, output)
        place_at_start(case, parameter)
    return [derivative_error(*names) for names in wanted]


def solver_cells(name: str = "") -> list[Cell]:
    """Return the table of the bundled solvers, or the row of one: a cell for each solver and kind of problem."""
    from workbench.algorithms import find_solver
    from workbench.algorithms.table import cells
    from workbench.engine.interpreted import SMALL, interpreting

    # The examples are small.
    with interpreting(SMALL):
        return list(cells([find_solver(solver) for solver in SOLVERS.names if name in ("", solver)]))
