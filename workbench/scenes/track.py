"""What a run of a scene leaves behind, by body: states, net contact wrenches, and what symptoms are read off.

Contacts come and go and differ from run to run, so that runs are compared by their bodies. Whoever steps a scene, a
formulation or another engine, tells every step's contacts to `by_body`. Which bodies press on each
other is kept contact by contact.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR
from workbench.mechanics.instant import Places
from workbench.problems.solution import Status
from workbench.support.arrays import Array

PAIRS = types.Array(types.int64, 2, "C")


class ContactsByBody(NamedTuple):
    """What touches in one step, by body (B, ...); forces are means over the step, world axes.

    Zero where a body touches nothing; the gap is NaN there, and so is the place where nothing presses.
    """

    wrench: Array
    """(B, 6) net contact force [N] and moment about the centre of mass [N m]"""
    place: Array
    """(B, 3) where the contacts of a body are [m], the mean by their normal forces"""
    load: Array
    """(B,) sum of the normal forces [N]"""
    gap: Array
    """(B,) the smallest gap of a contact at the start of the step [m]"""
    slide: Array
    """(B, 3) velocity at which a body slides on what it touches [m/s], the mean by normal forces"""
    slip: Array
    """(B,) the same of the speeds [m/s]"""
    held: Array
    """(3,) the sum of the normal forces of what does not move, on all bodies [N]"""


class Pressing(NamedTuple):
    """The contacts between bodies that press in a run, limits of joints not among them, step by step."""

    pair: NDArray[np.int64]
    """(N, 2) the numbers of the two bodies, -1 for what does not move"""
    load: Array
    """(N,) normal force [N], the mean over the step"""
    slip: Array
    """(N,) sliding speed at the end of the step [m/s]"""


@dataclass(frozen=True, eq=False)
class Track:
    """K finished steps of h [s] of a scene with B bodies, n velocities; states are K + 1, the start included.

    `status` is SOLVED where all steps that were wanted are there and verified; else `reason` says why it ended.
    """

    label: str
    solver: str
    h: float
    steps_wanted: int
    """steps that were asked for"""
    q: Array
    """(K + 1, n_q)"""
    v: Array
    """(K + 1, n) [m/s, rad/s]"""
    position: Array
    """(K + 1, B, 3) centres of mass [m]"""
    orientation: Array
    """(K + 1, B, 4) unit quaternions, scalar first, body to world"""
    energy: Array
    """(K + 1,) mechanical energy [J]; NaN where the scene does not know it"""
    touched: ContactsByBody
    """every step's rows, (K, B, ...)"""
    contacts: NDArray[np.int64]
    """(K,) contacts within the look-ahead, limits among them"""
    residuals: Array
    """(K,) the solved problems' own residuals; of an engine NaN"""
    tolerance: float
    """residual up to which a step counts; of an engine NaN"""
    iterations: NDArray[np.int64]
    """(K,)"""
    status: Status
    reason: str
    solve_time: float
    """of all steps; what a run leaves out of it, such as compiling, is not in it"""
    pressing: Pressing
    """every step's contacts that press, one step after the other"""
    pressed: NDArray[np.int64]
    """(K,) how many of them are a step's"""
    others: dict[str, int] = field(default_factory=dict)
    """problems that another method of the solver's chain has solved (`escalation`), by its name"""

    @property
    def steps(self) -> int:
        """K"""
        return len(self.contacts)

    @property
    def t(self) -> Array:
        """(K + 1,) times of the states [s]."""
        return self.h * np.arange(self.steps + 1, dtype=float)

    @property
    def finished(self) -> bool:
        return self.steps == self.steps_wanted


class StepContacts(NamedTuple):
    """The contacts of a step, rows as in `mechanics.instant.Instant`: impulses P (R,) [N s] in it, velocities
    u = J v+ + rate (R,) at its end, gaps phi (r,) [m] at its start, and where they are."""

    first: NDArray[np.int64]
    P: Array
    u: Array
    phi: Array
    places: Places


NOWHERE = StepContacts(np.zeros(1, dtype=np.int64), np.zeros(0), np.zeros(0), np.zeros(0), Places.unset(0, 0))
"""No contact, or contacts at unknown positions, which act on no body."""


class Touch(NamedTuple):
    """The contacts of a step, or of several one after the other, as `add_up` has them."""

    first: Any
    P: Any
    u: Any
    phi: Any
    point: Any
    pair: Any
    acts: Any


CUBE = types.Array(types.float64, 3, "C")
TOUCH = argument_type(Touch, INDICES, VECTOR, VECTOR, VECTOR, MATRIX, PAIRS, MATRIX)
STEP = argument_type(ContactsByBody, MATRIX, MATRIX, VECTOR, VECTOR, MATRIX, VECTOR, VECTOR)
STEPS = argument_type(ContactsByBody, CUBE, CUBE, MATRIX, MATRIX, CUBE, MATRIX, MATRIX)


@kernel(types.int64(types.float64, MATRIX, TOUCH, STEP, MATRIX))
def add_up(h, centre, touch, found, pressing):
    """The rows of `ContactsByBody`, all zero and the gap inf at first, and of contacts that press; returns how many do.

    `pressing` (r, 4) is one array, since whoever calls a kernel pays for each: the pair, the load, the slip.
    """
    first, P, u, phi, point, pair, acts = touch
    wrench, place, load, gap, slide, slip, held = found
    count = 0
    on_contact, sliding, arm, moment = np.zeros(6), np.zeros(3), np.zeros(3), np.zeros(3)
    for i in range(phi.shape[0]):
        a = first[i]
        on_contact[:] = sliding[:] = 0.0
        for k in range(a, first[i + 1]):
            for c in range(6):
                on_contact[c] += P[k] * acts[k, c] / h
            # Directions of torsion and rolling push nothing along: what is left are the sliding directions.
            if k > a:
                for c in range(3):
                    sliding[c] += u[k] * acts[k, c]
        p_n = max(P[a], 0.0) / h
        speed = np.sqrt(sliding[0] ** 2 + sliding[1] ** 2 + sliding[2] ** 2)
        if p_n > 0.0 and max(pair[i, 0], pair[i, 1]) >= 0:
            pressing[count, 0], pressing[count, 1] = pair[i, 0], pair[i, 1]
            pressing[count, 2], pressing[count, 3] = p_n, speed
            count += 1
        for side in range(2):
            body, sign = pair[i, side], 2.0 * side - 1.0
            if body < 0:
                for c in range(3):
                    held[c] -= sign * p_n * acts[a, c]
                continue
            for c in range(3):
                arm[c] = point[i, c] - centre[body, c]
            for c in range(3):
                one, two = (c + 1) % 3, (c + 2) % 3
                moment[c] = on_contact[3 + c] + arm[one] * on_contact[two] - arm[two] * on_contact[one]
            for c in range(3):
                wrench[body, c] += sign * on_contact[c]
                wrench[body, 3 + c] += sign * moment[c]
                place[body, c] += p_n * point[i, c]
                slide[body, c] += sign * p_n * sliding[c]
            load[body] += p_n
            gap[body] = min(gap[body], phi[i])
            slip[body] += p_n * speed
    for body in range(centre.shape[0]):
        share = load[body] if load[body] > 0.0 else 1.0
        slip[body] /= share
        for c in range(3):
            place[body, c] = place[body, c] / share if load[body] > 0.0 else np.nan
            slide[body, c] /= share
        if gap[body] == np.inf:
            gap[body] = np.nan
    return count


@kernel(types.void(types.float64, CUBE, INDICES, TOUCH, STEPS, MATRIX, INDICES), checked=False)
def add_up_steps(h, centre, ends, touch, found, pressing, pressed):
    """The same of K steps, of which step k has the contacts ends[k] : ends[k + 1]; `pressed` (K,) counts."""
    first, P, u, phi, point, pair, acts = touch
    total = 0
    for k in range(centre.shape[0]):
        a, b = ends[k], ends[k + 1]
        contacts = Touch(first[a + k : b + k + 1], P, u, phi[a:b], point[a:b], pair[a:b], acts)
        step = ContactsByBody(
            found.wrench[k], found.place[k], found.load[k], found.gap[k], found.slide[k], found.slip[k], found.held[k]
        )
        pressed[k] = add_up(h, centre[k], contacts, step, pressing[total:])
        total += pressed[k]


def by_body(centre: Array, steps: Sequence[StepContacts], h: float) -> tuple[ContactsByBody, Array, NDArray[np.int64]]:
    """The contacts of K steps of h [s] by body (K, B, ...), those that press, for `in_a_row`, and how many do (K,).

    `centre` (K, B, 3) [m] are the centres of mass at their starts.
    """
    K, bodies = centre.shape[:2]
    if all(x is NOWHERE for x in steps):
        return _nothing(K, bodies), np.empty((0, 4)), np.zeros(K, dtype=np.int64)
    r, R = np.array([(x.phi.size, x.P.size) for x in steps]).T
    ends, rows = (np.append(0, np.cumsum(x)) for x in (r, R))
    first = np.concatenate([x.first + begin for x, begin in zip(steps, rows.tolist(), strict=False)])
    numbers = [(x.P, x.u, x.phi, x.places.point, x.places.pair, x.places.acts) for x in steps]
    P, u, phi, point, pair, acts = (np.concatenate(x) for x in zip(*numbers, strict=True))
    P, u, phi, point, acts = (np.ascontiguousarray(x, dtype=float) for x in (P, u, phi, point, acts))
    touch = Touch(first.astype(np.int64), P, u, phi, point, np.ascontiguousarray(pair, dtype=np.int64), acts)
    found, pressing, pressed = _nothing(K, bodies), np.empty((phi.size, 4)), np.empty(K, dtype=np.int64)
    found.place[:], found.gap[:] = 0.0, np.inf
    add_up_steps(h, np.ascontiguousarray(centre, dtype=float), ends, touch, found, pressing, pressed)
    return found, pressing[: pressed.sum()].copy(), pressed


def stacked(rows: Sequence[ContactsByBody], bodies: int) -> ContactsByBody:
    """The rows of steps one after the other, (K, B, ...)."""
    return ContactsByBody(*(np.concatenate(x) for x in zip(_nothing(0, bodies), *rows, strict=True)))


def in_a_row(steps: Sequence[Array]) -> Pressing:
    """The contacts that press, one step after the other."""
    rows = np.concatenate(steps) if steps else np.empty((0, 4))
    return Pressing(rows[:, :2].astype(np.int64), rows[:, 2].copy(), rows[:, 3].copy())


def _nothing(K: int, bodies: int) -> ContactsByBody:
    """The rows of K steps in which nothing touches."""
    load, slip = np.zeros((2, K, bodies))
    nowhere, gap = np.full((K, bodies, 3), np.nan), np.full((K, bodies), np.nan)
    return ContactsByBody(
        np.zeros((K, bodies, 6)), nowhere, load, gap, np.zeros((K, bodies, 3)), slip, np.zeros((K, 3))
    )
