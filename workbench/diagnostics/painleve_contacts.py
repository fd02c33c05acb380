"""Alternatives to the present sliding of closed contacts: motions of contacts at rest, impacts without collision, and
the friction up to which they may slide in any direction."""

from dataclasses import dataclass

import numpy as np

from workbench.diagnostics.contact_exact import exact_contacts
from workbench.diagnostics.slip_directions import AnyDirection, any_direction, redundant
from workbench.diagnostics.slip_modes import Motions, impacts, motions
from workbench.diagnostics.slip_modes_space import impacts_in_space, motions_in_space
from workbench.mechanics.case import Case
from workbench.step.sliding.state import START, UNCERTAINTY, ClosedContacts, SlidingState, closed_contacts

DEPENDENT = "the normal rows are dependent, and the forces not determined"
MANY = "several contacts in space; motions are known of one in space, and of several in the plane"


@dataclass(frozen=True, eq=False)
class Alternatives:
    """`at_rest`, the contacts of the case that are closed and do not slide; `motions`, the possible motions of all
    contacts (None where none is at rest); `impacts`, possible impacts without collision (None where nothing slides)."""

    contacts: ClosedContacts
    at_rest: tuple[int, ...]
    motions: Motions | None
    impacts: Motions | None
    any_direction: AnyDirection


def alternatives(case: Case, state: SlidingState = START, seconds: float = 10.0) -> Alternatives:
    """Analyse the closed contacts of a state. Raises DataError where none is closed."""
    c = closed_contacts(case, state)
    e = exact_contacts(c)
    still = np.linalg.norm(c.u_t, axis=1) <= case.v_th
    reason = DEPENDENT if redundant(e) else MANY if e.d == 2 and e.r > 1 else ""
    moving = stopped = Motions([], reason)
    if not reason and still.any():
        moving = motions(e, UNCERTAINTY, case.v_th) if e.d == 1 else motions_in_space(e, UNCERTAINTY)
    if not reason and not still.all():
        stopped = impacts(e, UNCERTAINTY) if e.d == 1 else impacts_in_space(e, UNCERTAINTY)
    return Alternatives(
        c, tuple(map(int, c.which[still])), moving if still.any() else None, None if still.all() else stopped,
        any_direction(e, seconds),
    )  # fmt: skip
