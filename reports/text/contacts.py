"""Possible modes of closed contacts other than continued sliding, as data, text and sentences."""

import math
from typing import Any

import numpy as np

from workbench.diagnostics.painleve_contacts import Alternatives
from workbench.diagnostics.slip_directions import HIGHEST, AnyDirection
from workbench.diagnostics.slip_modes import ContactMotion, Motions

MOST = 8
"""Motions that are listed."""
COUNTS = ("no motion", "one motion", "two motions", "three motions", "four motions", "five motions")


def as_data(a: Alternatives) -> dict[str, Any]:
    """Return the alternatives as data for JSON."""
    return {
        "closed": a.contacts.which, "at_rest": a.at_rest, "motions": _motions(a.motions),
        "impacts": _motions(a.impacts), "any_direction": vars(a.any_direction),
    }  # fmt: skip


def _motions(m: Motions | None) -> dict[str, Any] | None:
    return None if m is None else {"name": m.name, "reason": m.open or None, "found": [vars(x) for x in m.found]}


def in_words(a: Alternatives) -> list[str]:
    """Sentences made from the findings."""
    words = []
    if a.motions is not None:
        words.append(f"{_named(a.at_rest)} at rest. {_motion_words(a.motions)}")
    if a.impacts is not None and not a.impacts.open and a.impacts.found:
        ends = "; ".join(f"{described(x)}, impulses {rows(x.forces)} N s" for x in a.impacts.found)
        words.append(f"An impulse without collision may stop the slip: {ends}.")
    return [*words, any_direction_words(a)]


def _named(which: tuple[int, ...]) -> str:
    names = ", ".join(map(str, which))
    return f"Contact {names} is" if len(which) == 1 else f"Contacts {names} are"


def _motion_words(m: Motions) -> str:
    names = "; ".join(map(described, m.found[:MOST])) + ("; ..." if len(m.found) > MOST else "")
    count = COUNTS[len(m.found)] if len(m.found) < len(COUNTS) else f"{len(m.found)} motions"
    if m.open:
        found = f" The stored numbers admit {count}: {names}." if m.found else ""
        return f"Which motions Coulomb's law admits is undecided: {m.open}.{found}"
    if not m.found:
        return "Inconsistent: Coulomb's law admits no motion under forces."
    return f"{'Indeterminate: ' if len(m.found) > 1 else ''}Coulomb's law admits {count}: {names}."


def described(m: ContactMotion) -> str:
    """Return the modes of the contacts, with the direction of slip in space."""
    angles = m.angle or (None,) * len(m.modes)
    return ", ".join(
        mode if angle is None else f"{mode} at {angle:.6g}°" for mode, angle in zip(m.modes, angles, strict=True)
    )


def rows(values: list[list[float]]) -> str:
    """Normal and tangential components, contact by contact."""
    return ", ".join("(" + ", ".join(f"{x:.6g}" for x in row) + ")" for row in values)


def any_direction_words(a: Alternatives) -> str:
    """The critical friction over all directions of slip."""
    found, mu = a.any_direction, a.contacts.mu
    if found.lo is None or found.hi is None:
        return f"Critical friction over all directions of slip: unknown, {found.reason}."
    if math.isinf(found.lo):
        return "M_μ is a P-matrix for every direction of slip and all friction coefficients."
    what, scale = ("μ", float(mu[0])) if len(mu) == 1 else ("all coefficients times s, s", 1.0)
    if math.isinf(found.hi):
        return f"M_μ is a P-matrix for every direction of slip up to {what} = {scale * found.lo:.6g}."
    worst = ", ".join(f"{np.remainder(x, 360):.4g}" for x in found.worst)
    return (
        f"M_μ is a P-matrix for every direction of slip up to {what} = {between(found, scale)}; critical slip "
        f"direction: {worst}°."
    )


def between(found: AnyDirection, scale: float) -> str:
    """The enclosure in as many digits as it has."""
    if found.lo is None or found.hi is None:
        return "–"
    if math.isinf(found.lo):
        return "∞"
    if math.isinf(found.hi):
        return f"more than {scale * min(found.lo, HIGHEST):.4g}"
    lo, hi = scale * found.lo, scale * found.hi
    return f"{lo:.8g}" if hi - lo < 1e-8 * hi else f"a value in [{lo:.8g}, {hi:.8g}]"


def to_text(a: Alternatives) -> list[str]:
    """Lines for a terminal."""
    lines = []
    for title, unit, m in (("motions", "N", a.motions), ("impacts", "N s", a.impacts)):
        if m is None:
            continue
        lines.append(f"{title:<13} {m.name if m.found or m.open else 'none'}")
        lines += [f"  {described(x)}: {rows(x.forces)} {unit}" for x in m.found[:MOST]]
    return lines
