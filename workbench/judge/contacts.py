"""Errors of a contact solution, contact by contact: its distance from Coulomb's law, and the visible symptoms."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.judge.coulomb import misalignment
from workbench.support.arrays import Array

NOTHING = 1e-6
"""Fraction of the scales below which a symptom does not count."""
SYMPTOMS = {
    "pulls": "negative normal impulse (adhesion)",
    "goes in": "the contact keeps closing although its gap is closed",
    "pushes while it opens": "positive normal impulse at an opening contact",
    "beyond the cone": "more friction than mu p_n",
    "slips within the cone": "sliding although friction is below mu p_n: creep",
    "pushes along the slip": "friction accelerates the sliding instead of braking it",
    "misaligned": "friction deviates from the opposite of the sliding velocity by more than a degree",
}
"""The visible symptoms of a wrong solution, and their meaning."""
DEGREES = 1.0


class Contacts(NamedTuple):
    """Values (..., r) per contact: impulses [N s], velocities [m/s], the angle [degrees], NaN where it is undefined."""

    pressure: Array
    friction: Array
    opening: Array
    slip: Array
    beyond: Array
    """|p_t| - mu p_n where that is positive"""
    angle: Array
    symptoms: dict[str, NDArray[np.bool_]]
    """Return the `SYMPTOMS` that occur, per contact."""


def by_contact(p_n: Array, p_t: Array, u_n: Array, u_t: Array, mu: Array, impulse: Array, speed: Array) -> Contacts:
    """Analyse a solution p_n (..., r), p_t (..., r, d) with velocities u_n (..., r), u_t (..., r, d) by contact.

    Values below `NOTHING` of the scales, an impulse and a speed, each (..., r) or a number, count as round-off.
    """
    friction, slip = (np.linalg.norm(x, axis=-1) for x in (p_t, u_t))
    little, slow = NOTHING * np.asarray(impulse), NOTHING * np.asarray(speed)
    beyond = np.maximum(friction - mu * np.maximum(p_n, 0.0), 0.0)
    angle, along = misalignment(p_t, u_t, slow), (p_t * u_t).sum(axis=-1)
    moving, bears = slip > slow, friction > little
    symptoms = {
        "pulls": p_n < -little,
        "goes in": u_n < -slow,
        "pushes while it opens": (p_n > little) & (u_n > slow),
        "beyond the cone": beyond > little,
        "slips within the cone": moving & (p_n > little) & (friction < mu * p_n - little),
        "pushes along the slip": moving & bears & (along > 0),
        "misaligned": moving & bears & (np.where(np.isnan(angle), 0.0, angle) > DEGREES),
    }
    return Contacts(p_n, friction, u_n, slip, beyond, angle, symptoms)
