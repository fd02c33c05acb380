"""The metrics, one file each, or one for parts of one idea. Adding one is a file and a line in `METRICS`."""

from typing import Any

from workbench.registry import Registry


def _is_metric(thing: Any) -> bool:
    from workbench.comparison.metric import Metric

    return isinstance(thing, Metric)


def _line(m: Any) -> str:
    defined = f"; defined {m.column.defined}" if m.column.defined else ""
    return f"[{m.column.unit}] {m.column.meaning}{defined}"


METRICS = Registry("metric", "workbench.comparison.metrics", {
    "friction-rmsd": "friction.friction_rmsd",
    "velocity-error": "velocity.velocity_error",
    "discretisation-error": "error_budget.discretisation_error",
    "formulation-error": "error_budget.formulation_error",
    "solver-error": "error_budget.solver_error",
    "impulse-error": "impulses.impulse_error",
    "misalignment-rms": "misalignment.misalignment_rms",
    "position-error": "position.position_error",
    "energy-error": "energy.energy_error",
    "other-mode": "modes.other_mode",
    "impulse-formulation-error": "impulses.impulse_formulation_error",
    "impulse-solver-error": "impulses.impulse_solver_error",
    "signorini": "coulomb_law.signorini",
    "cone": "coulomb_law.cone",
    "dissipation": "coulomb_law.dissipation",
    "natural-map": "coulomb_law.natural_map",
    "open": "modes.open_contacts",
    "sliding": "modes.sliding_contacts",
    "sticking": "modes.sticking_contacts",
}, _is_metric, _line, "workbench.metrics")  # fmt: skip
"""Name of the metric: module and object below this package. In this order they are columns; a narrow terminal leaves
out the last ones."""
