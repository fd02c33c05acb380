"""The formulations, one file each. Adding one is a file and a line in `FORMULATIONS` (time steps that stand for
Coulomb's law), `OTHER_LAWS` (time steps of other laws) or `SLIDING`."""

from typing import Any

from workbench.registry import Registry


def _is_formulation(thing: Any) -> bool:
    from workbench.language.formulation import Formulation

    return isinstance(thing, Formulation)


def _line(f: Any) -> str:
    return f.friction + (f"  [{f.listed_options}]" if f.options else "")


FORMULATIONS = Registry("formulation", "workbench.builtin.formulations", {
    "frictionless": "frictionless.frictionless",
    "stewart-trinkle": "stewart_trinkle.stewart_trinkle",
    "anitescu-potra": "anitescu_potra.anitescu_potra",
    "discrete-velocity": "discrete_velocity.discrete_velocity",
    "phantom-inertia": "phantom_inertia.phantom_inertia",
    "box": "box.box_friction",
    "hybrid": "hybrid.hybrid",
    "ccp": "ccp.ccp",
    "mujoco": "mujoco.mujoco",
    "mujoco-pyramid": "mujoco_pyramid.mujoco_pyramid",
    "mujoco-noslip": "mujoco_noslip.mujoco_noslip",
    "genesis": "genesis.genesis",
    "sap": "sap.sap",
    "comfree": "comfree.comfree",
    "gauss-seidel": "gauss_seidel.gauss_seidel",
    "hunt-crossley": "hunt_crossley.hunt_crossley",
    "ipc": "ipc.ipc",
    "staggered": "staggered.staggered",
    "coulomb": "coulomb.coulomb",
}, _is_formulation, _line, "workbench.formulations")  # fmt: skip
"""Name of the formulation: module and object below this package. In this order they are listed and compared."""

OTHER_LAWS = Registry("formulation", "workbench.builtin.formulations", {
    "elliptic": "elliptic.elliptic",
    "rolling": "rolling.rolling",
    "cohesive": "cohesive.cohesive",
}, _is_formulation, _line)  # fmt: skip
"""Formulations of laws other than Coulomb's: they are compared where somebody asks for them by name."""

SLIDING = Registry(
    "formulation", "workbench.builtin.formulations", {"sliding-lcp": "sliding_lcp.sliding_lcp"}, _is_formulation, _line
)
"""Formulations of one instant, at acceleration level: they make no time steps."""

REGISTRIES = FORMULATIONS, OTHER_LAWS, SLIDING
"""All of them; a name is in one."""
