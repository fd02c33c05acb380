"""Colour and dash of each formulation: the same on every page, whatever stands beside it."""

import re
from collections.abc import Sequence
from zlib import crc32

INK = "currentColor"
"""Black on paper, and on a dark page its light ink; files have black."""

OF_FORMULATIONS = {
    "coulomb": (INK, [1, 0]),
    "frictionless": ("#6c979e", [1, 5]),
    "stewart-trinkle": ("#ca9428", [14, 4]),
    "anitescu-potra": ("#fc6f6f", [8, 10]),
    "staggered": ("#9e4066", [3, 6]),
    "discrete-velocity": ("#d25ac8", [16, 4]),
    "phantom-inertia": ("#397701", [8, 4, 2, 4]),
    "box": ("#2653c9", [10, 5]),
    "hybrid": ("#29a7f9", [4, 8]),
    "ccp": ("#595489", [12, 3, 3, 3]),
    "mujoco": ("#725836", [2, 2]),
    "mujoco-pyramid": ("#cf9ddc", [2, 2, 6, 2]),
    "mujoco-noslip": ("#be14e6", [2, 2, 12, 2]),
    "genesis": ("#b8af53", [9, 2, 1, 2]),
    "sap": ("#810dff", [7, 2]),
    "comfree": ("#1cc687", [3, 3]),
    "gauss-seidel": ("#4678ff", [1, 3]),
    "hunt-crossley": ("#e0004b", [10, 2, 2, 2, 2, 2]),
    "ipc": ("#73399f", [5, 2, 1, 2]),
    "uncertainty of the reference": ("#8a8f98", [20, 1]),
}
"""Exact Coulomb friction has the ink of the page; no two others come nearer than 14 in CIELAB to any colour vision."""
OTHERS = ["#1f77b4", "#17becf", "#a0a118", "#e377c2", "#8c96c6", "#66a061", "#d6616b", "#9467bd", "#b5651d", "#6b6ecf"]
"""Colours of other names and of further variants, by the name's digest, the next one where that is taken."""
OTHER_DASHES = [[6, 3], [2, 4], [9, 3, 2, 3], [5, 5], [11, 6]]


def palette(labels: Sequence[str]) -> list[str]:
    """A colour for each label: a formulation's own for its first variant, for others one that their name leads to."""
    found: dict[str, str] = {}
    for label in labels:
        own, _ = OF_FORMULATIONS.get(label) or OF_FORMULATIONS.get(re.split("[: ]", label)[0], ("", []))
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
