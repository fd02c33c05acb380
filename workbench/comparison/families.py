"""Families of formulations by the shape of their friction: the one word that sentences, tables and legends have."""

import re

EXACT, BOX, POLYGON, CONE, SOFT, BARE, ENGINE, OTHER = (
    "exact Coulomb", "box", "polygon", "cone", "soft", "no friction", "engine", "other",
)  # fmt: skip
MEMBERS = {
    EXACT: ("coulomb", "uncertainty of the reference"),
    BOX: ("box", "hybrid", "gauss-seidel"),
    POLYGON: ("stewart-trinkle", "anitescu-potra", "staggered", "discrete-velocity", "phantom-inertia"),
    CONE: ("ccp",),
    SOFT: ("mujoco", "mujoco-pyramid", "mujoco-noslip", "genesis", "sap", "comfree", "hunt-crossley", "ipc"),
    BARE: ("frictionless",),
    ENGINE: ("engine",),
    OTHER: (),
}
"""The formulations of each family, in the order of legends."""
OF_NAMES = {name: family for family, names in MEMBERS.items() for name in names}


def family(label: str) -> str:
    """Return the family of a formulation, given its name or its label with options."""
    return OF_NAMES.get(label) or OF_NAMES.get(re.split("[: ]", label)[0], OTHER)
