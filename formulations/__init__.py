"""The formulations, one file each. To add one, write a file and a line in a registry: `FORMULATIONS` (time steps
that approximate Coulomb's law), `OTHER_LAWS` (time steps with other friction laws) or `SLIDING`."""

from typing import Any

from workbench.support.registry import Registry


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
"""Time steps that approximate Coulomb's law, in the order in which they are listed and compared: name, then module and
object below this package."""

OTHER_LAWS = Registry("formulation", "workbench.builtin.formulations", {
    "elliptic": "elliptic.elliptic",
    "rolling": "rolling.rolling",
    "cohesive": "cohesive.cohesive",
}, _is_formulation, _line)  # fmt: skip
"""Time steps with friction laws other than Coulomb's. They are compared only when requested by name."""

SLIDING = Registry(
    "formulation", "workbench.builtin.formulations", {"sliding-lcp": "sliding_lcp.sliding_lcp"}, _is_formulation, _line
)
"""Formulations of one instant, at acceleration level; they make no time steps."""

REGISTRIES = FORMULATIONS, OTHER_LAWS, SLIDING
"""All formulation registries. A name occurs in one only."""
