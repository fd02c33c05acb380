"""Tracks and contacts that are made up, of which everything that is measured is known."""

from typing import Any

import numpy as np

from workbench.mechanics.instant import Places
from workbench.problems.solution import Status
from workbench.scenes.track import ContactsByBody, StepContacts, Track, by_body, in_a_row


def track(count: int, h: float, bodies: int = 1, position: Any = None, wanted: int = 0, **rows: Any) -> Track:
    """A run of `count` steps of bodies at rest, with rows of `ContactsByBody` (count, bodies, ...) changed.

    `position` (count + 1, bodies, 3); where more steps were `wanted`, it has ended before.
    """
    found = (np.zeros((count, bodies, *x)) for x in ((6,), (3,), (), (), (3,), ()))
    steps = ContactsByBody(*found, held=np.zeros((count, bodies, 3)))._replace(**rows)
    turn, state = np.tile([1.0, 0, 0, 0], (count + 1, bodies, 1)), np.zeros((count + 1, 0))
    position, none = np.zeros((count + 1, bodies, 3)) if position is None else position, np.zeros(count)
    wanted, whole = max(wanted, count), none.astype(int)
    reason = "" if count == wanted else f"at {h * count:g} s: it ended"
    return Track(
        "run", "solver", h, wanted, state, state, position, turn, np.zeros(count + 1), steps, whole, none, 1e-9, whole,
        Status.SOLVED, reason, 0.0, in_a_row(()), whole,
    )  # fmt: skip


def step_by_body(
    P: Any, pair: tuple[int, int], acts: Any, *, rate: Any = 0.0, gap: float = 0.0, h: float = 0.5, point: Any = 0.0,
    centre: Any = ((0.0, 0.0, 0.0),) * 2,
) -> ContactsByBody:  # fmt: skip
    """What one contact at a `point`, of which each row acts by a force and a moment, does to each body in a step."""
    places = Places(np.zeros((1, 3)) + point, np.array([pair]), acts)
    contacts = StepContacts(np.array([0, len(P)]), np.array(P), np.zeros(len(P)) + rate, np.array([gap]), places)
    return ContactsByBody(*(x[0] for x in by_body(np.array(centre)[None], [contacts], h)[0]))
