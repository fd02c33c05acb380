"""The metrics, a file for each idea. Adding one is a function and a line in `METRICS`."""

from typing import Any

from workbench.support.registry import Registry


def _is_metric(thing: Any) -> bool:
    from workbench.comparison.metric import Metric

    return isinstance(thing, Metric)


def _line(m: Any) -> str:
    defined = f"; defined {m.column.defined}" if m.column.defined else ""
    return f"[{m.column.unit}] {m.column.meaning}{defined}"


METRICS = Registry("metric", "workbench.comparison.metrics", {
    "path-error": "motion_errors.path_error",
    "friction-error": "force_errors.friction_error",
    "wrench-error": "force_errors.wrench_error",
    "local-velocity-error": "local_error.local_velocity_error",
    "velocity-error": "motion_errors.velocity_error",
    "impulse-error": "force_errors.impulse_error",
    "position-error": "motion_errors.position_error",
    "orientation-error": "motion_errors.orientation_error",
    "energy-error": "motion_errors.energy_error",
    "creep": "creep.creep",
    "lift": "gaps.lift",
    "penetration": "gaps.penetration",
    "slip": "creep.slip",
    "rebound": "rebound.rebound",
    "rest-time": "rest.rest_time",
    "rest-place": "rest.rest_place",
    "spin-down": "rest.spin_down",
    "mode-time": "modes.mode_time",
    "missed-events": "modes.missed_events",
    "spurious-events": "modes.spurious_events",
    "energy-gained": "balance.energy_gained",
    "yaw-spread": "isotropy.yaw_spread",
    "momentum-error": "balance.momentum_error",
    "bilateral-error": "balance.bilateral_error",
    "misalignment-rms": "misalignment.misalignment_rms",
    "friction-rmsd": "force_errors.friction_rmsd",
    "free-directions": "determinacy.free_directions",
    "determined": "determinacy.determined",
    "other-mode": "modes.other_mode",
    "signorini": "coulomb_law.signorini",
    "cone": "coulomb_law.cone",
    "dissipation": "coulomb_law.dissipation",
    "natural-map": "coulomb_law.natural_map",
    "law-natural-map": "coulomb_law.law_natural_map",
    "law-misalignment": "misalignment.law_misalignment",
    "open": "modes.open_contacts",
    "sliding": "modes.sliding_contacts",
    "sticking": "modes.sticking_contacts",
    "body-position-error": "bodies.position_error",
    "body-orientation-error": "bodies.orientation_error",
    "body-force-error": "bodies.force_error",
    "body-moment-error": "bodies.moment_error",
    "scene-energy-error": "bodies.energy_error",
    "one-step-error": "bodies.one_step_error",
    "body-creep": "bodies.creep",
    "body-drift": "bodies.drift",
    "body-slip": "bodies.slip",
    "body-lift": "bodies.lift",
    "body-penetration": "bodies.penetration",
}, _is_metric, _line, "workbench.metrics")  # fmt: skip
"""Name of the metric: module and object below this package. In this order they are columns; a narrow terminal leaves
out the last ones."""
