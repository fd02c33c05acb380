"""Colour and dash of each formulation, and colour and marker of its family: the same on every page."""

import re
from collections.abc import Sequence
from zlib import crc32

from workbench.comparison.families import BARE, BOX, CONE, ENGINE, EXACT, OTHER, POLYGON, SOFT

INK = "currentColor"
"""Black on paper, and on a dark page its light ink; files have black."""

FAMILIES = {
    EXACT: (INK, "cross"),
    BOX: ("#E8590C", "square"),
    POLYGON: ("#1558D6", "diamond"),
    CONE: ("#8A4A6E", "triangle-down"),
    SOFT: ("#0F9A74", "circle"),
    BARE: ("#74849c", "M-1,-.7L-.7,-1L0,-.3L.7,-1L1,-.7L.3,0L1,.7L.7,1L0,.3L-.7,1L-1,.7L-.3,0Z"),
    ENGINE: ("#57606A", "triangle-left"),
    OTHER: ("#57606A", "triangle-right"),
}
"""Colour and marker of each family of formulations, in the order of legends."""
OF_FORMULATIONS = {
    "coulomb": (INK, [1, 0]),
    "frictionless": ("#74849c", [1, 5]),
    "stewart-trinkle": ("#1558D6", [14, 4]),
    "anitescu-potra": ("#1526ff", [8, 10]),
    "staggered": ("#7d7cee", [3, 6]),
    "discrete-velocity": ("#9b99f2", [16, 4]),
    "phantom-inertia": ("#3576fb", [8, 4, 2, 4]),
    "box": ("#E8590C", [10, 5]),
    "hybrid": ("#c69535", [4, 8]),
    "gauss-seidel": ("#e59c13", [1, 3]),
    "ccp": ("#8A4A6E", [12, 3, 3, 3]),
    "mujoco": ("#0F9A74", [2, 2]),
    "mujoco-pyramid": ("#66b7b1", [2, 2, 6, 2]),
    "mujoco-noslip": ("#6eb07d", [2, 2, 12, 2]),
    "genesis": ("#4b7a55", [9, 2, 1, 2]),
    "sap": ("#345b3e", [7, 2]),
    "comfree": ("#2a8140", [3, 3]),
    "hunt-crossley": ("#076521", [10, 2, 2, 2, 2, 2]),
    "ipc": ("#39c26d", [5, 2, 1, 2]),
    "uncertainty of the reference": ("#8a8f98", [20, 1]),
}
"""Colour and dash. Exact Coulomb friction has the ink of the page; colours of two families are at least 18
apart in CIELAB to any colour vision, those of one family, which are of one hue, at least 10, and that without
friction is 12 from all."""
OTHERS = ["#1f77b4", "#17becf", "#a0a118", "#e377c2", "#8c96c6", "#66a061", "#d6616b", "#9467bd", "#b5651d", "#6b6ecf"]
"""Colours of other names and of further variants, by the name's digest, the next one where that is taken."""
OTHER_DASHES = [[6, 3], [2, 4], [9, 3, 2, 3], [5, 5], [11, 6]]


MODE_COLOURS = {"open": "#b0b0b0", "sliding": "#c8553d", "sticking": "#4c6a92"}
"""Colours of contact modes."""


def _style(label: str) -> tuple[str, list[int]]:
    return OF_FORMULATIONS.get(label) or OF_FORMULATIONS.get(re.split("[: ]", label)[0], ("", []))


def palette(labels: Sequence[str]) -> list[str]:
    """A colour for each label: a formulation's own for its first variant, for others one that their name leads to."""
    found: dict[str, str] = {}
    for label in labels:
        own, _ = _style(label)
        if own and own not in found.values():
            found[label] = own
    for label in labels:
        place = crc32(label.encode())
        free = [OTHERS[(place + i) % len(OTHERS)] for i in range(len(OTHERS))]
        found.setdefault(label, next((x for x in free if x not in found.values()), free[0]))
    return [found[label] for label in labels]


def dashes(labels: Sequence[str]) -> list[list[int]]:
    """A dash for each label: a formulation's own where it has the colour, for others one that their name leads to."""
    own = dict(OF_FORMULATIONS.values())
    pairs = zip(labels, palette(labels), strict=True)
    return [own.get(colour) or OTHER_DASHES[crc32(label.encode()) % len(OTHER_DASHES)] for label, colour in pairs]
