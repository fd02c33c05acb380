"""The sliding contacts of any case at a state, from its compiled mechanics: the problem of accelerations there.

Bilateral constraints of the case enter without friction, closed contacts as unilateral ones with their sliding
direction e_t, J_t = e_t^T J_t, xi = 1. What the velocities do to a constraint row, d/dt (J v + r) at fixed v, comes
from differences along the motion.

A contact at rest has no sliding direction of its own; where one is given, the problem is that of the instant at which
slip begins in this direction.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.mechanics.case import Array, Case
from workbench.mechanics.core import Core
from workbench.mechanics.second_order import SecondOrder
from workbench.step.sliding.system import SlidingSystem
from workbench.support.errors import DataError

CLOSED = 1e-9
"""Gap [m] and separating speed [m/s] up to which a contact counts as closed."""
UNIT = 1e-6
"""Tolerance on the length of a quaternion."""
UNCERTAINTY = 1e-9
"""Relative uncertainty of a system that was made this way, from the differences."""


class SlidingState(NamedTuple):
    """State at which sliding is examined; None stands for the value at the start of the case.

    Coordinates q and velocities v; `closed`, the contacts that count as closed, where these do not follow from gap and
    rate; `slip` (one for all, or one for each closed contact), angles [deg] from the first tangent axis of the contact
    towards the second, in which the contacts slide instead of along their velocity; in the plane 0 or 180.
    """

    q: Array | None = None
    v: Array | None = None
    closed: tuple[int, ...] | None = None
    slip: tuple[float, ...] | None = None

    @property
    def is_start(self) -> bool:
        return all(x is None for x in self)


START = SlidingState()


def sliding_system(case: Case, state: SlidingState = START) -> SlidingSystem:
    """The sliding contacts at a state: as the case gives them, else from its compiled mechanics.

    Raises DataError where a closed contact does not slide (|u_t| <= v_th) and no slip is given, where no contact is
    closed, and for data that do not fit the case.
    """
    if gives_its_own(case, state):
        q, v = coordinates(case, state)
        system: SlidingSystem = case.sliding_system(q, v)  # type: ignore[attr-defined]
        return system
    return from_mechanics(case, state)


def gives_its_own(case: Case, state: SlidingState = START) -> bool:
    """Return whether the case states the sliding contacts of this state itself."""
    return hasattr(case, "sliding_system") and state.closed is None and state.slip is None


def coordinates(case: Case, state: SlidingState) -> tuple[Array, Array]:
    """q and v of a state; DataError for shapes that are not the case's, or numbers that are not finite."""
    found = []
    for name, start, given in zip("qv", case.start(), (state.q, state.v), strict=True):
        value = np.asarray(start if given is None else given, dtype=float)
        if value.shape != np.shape(start) or not np.isfinite(value).all():
            raise DataError(
                f"{case.name}: {name} = {np.array2string(value, separator=', ', threshold=8)}; "
                f"{len(start)} finite numbers are needed"
            )
        found.append(value)
    off = np.abs(np.linalg.norm(case.orientation(found[0]), axis=-1) - 1)
    if (off > UNIT).any():
        raise DataError(
            f"{case.name}: a quaternion of q is off the unit length by {off.max():.3g}; give unit quaternions"
        )
    return found[0], found[1]


def from_mechanics(case: Case, state: SlidingState = START) -> SlidingSystem:
    """The sliding contacts at a state from the compiled mechanics; DataError as `sliding_system`."""
    c = closed_contacts(case, state)
    J_t = np.einsum("id,idn->in", _directions(case, c, state.slip), c.J_t)
    return SlidingSystem(c.M, c.f, c.J_b, np.zeros_like(c.J_b), 0.0, 1.0, c.w_b, c.J_n, J_t, c.mu, 1.0, c.w_n)


class ClosedContacts(NamedTuple):
    """The closed contacts of a state, with all their tangential directions, sliding or not.

    `which` of the case's contacts; M (n, n), f (n,); J_b (m, n), w_b (m,) of bilateral constraints; J_n (r, n), w_n
    (r,); J_t (r, d, n), w_t (r, d); u_t (r, d) [m/s]; mu (r,). Rows w are the bias accelerations Jdot v.
    """

    which: NDArray[np.int64]
    M: Array
    f: Array
    J_b: Array
    w_b: Array
    J_n: Array
    w_n: Array
    J_t: Array
    w_t: Array
    u_t: Array
    mu: Array


def closed_contacts(case: Case, state: SlidingState = START) -> ClosedContacts:
    """The contacts that are closed at a state and do not separate; DataError where there are none."""
    q, v = coordinates(case, state)
    _, _, r, d = case.size
    core = contact_data(case, q, v)
    which = np.flatnonzero((core.phi <= CLOSED) & (core.J_n @ v + core.r_n <= CLOSED))
    if state.closed is not None:
        which = np.array(state.closed, dtype=np.int64)
    if not len(which):
        raise DataError(
            f"{case.name}: no contact is closed at this state, and nothing slides; give coordinates q and velocities "
            "v at which one is (--set q=... --set v=...), or a moment of the run (--at T)"
        )
    x = SecondOrder(case).at(q, v)
    u_t = (core.J_t @ v + core.r_t).reshape(r, d)
    found = ClosedContacts(
        which, core.M, core.f, core.J_b, x.c_b, core.J_n[which], x.c_n[which],
        core.J_t.reshape(r, d, -1)[which], x.c_t[which], u_t[which], core.mu[which],
    )  # fmt: skip
    for name, value in found._asdict().items():
        if not np.isfinite(value).all():
            raise DataError(f"{case.name}: {name} of this state is not finite; give smaller coordinates and velocities")
    return found


def _directions(case: Case, c: ClosedContacts, slip: tuple[float, ...] | None) -> Array:
    """The unit direction (r, d) in which each closed contact slides."""
    if slip is not None:
        return slip_directions(slip, *c.u_t.shape)
    speed = np.linalg.norm(c.u_t, axis=1)
    for i, u in zip(c.which, speed, strict=True):
        if u <= case.v_th:
            raise DataError(
                f"{case.name}: contact {i} is closed and does not slide, |u_t| = {u:g} m/s <= v_th = {case.v_th:g} "
                "m/s; give the direction in which slip begins (--slip ANGLE), velocities (--set v=...), or a moment of "
                "the run (--at T)"
            )
    return np.asarray(c.u_t / speed[:, None])


def slip_directions(slip: tuple[float, ...], contacts: int, d: int) -> Array:
    """Unit directions (contacts, d) of angles [deg], one for all or one for each; DataError for others."""
    if len(slip) not in (1, contacts):
        raise DataError(
            f"slip has {len(slip)} angles; one is needed, or one for each of the {contacts} closed contacts"
        )
    if not np.isfinite(slip).all():
        raise DataError(f"slip = {', '.join(map(str, slip))}; finite angles in degrees are needed")
    angles = np.broadcast_to(np.array(slip, dtype=float), contacts)
    # By quarter turns, so that the directions of the axes are exact.
    quarters, rest = np.divmod(angles, 90.0)
    c, s = np.cos(np.radians(rest)), np.sin(np.radians(rest))
    turned = np.select([(quarters % 4 == k)[:, None] for k in range(4)], [np.stack(x, axis=1) for x in (
        (c, s), (-s, c), (-c, -s), (s, -c))])  # fmt: skip
    if d == 1 and turned[:, 1].any():
        raise DataError(f"slip = {', '.join(f'{x:g}' for x in slip)}; in the plane it is 0 or 180 degrees")
    return np.asarray(turned[:, :d]) + 0.0


def contact_data(case: Case, q: Array, v: Array) -> Core:
    """The contact data at (q, v)."""
    core = Core(case.size, 1.0, 0.0, case.v_th)
    core.v[:] = v
    case.fill(np.asarray(q, dtype=float), np.asarray(v, dtype=float), case.data(), core)
    return core
