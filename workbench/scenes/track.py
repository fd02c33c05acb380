"""What a run of a scene leaves behind, by body: states, net contact wrenches, and what symptoms are read off.

Contacts come and go and differ from run to run, so that runs are compared by their bodies. Whoever steps a scene, a
formulation or another engine, tells every step's contacts to `by_body` and stacks the rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import Array
from workbench.mechanics.instant import Places
from workbench.problems.solution import Status


class Step(NamedTuple):
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


@dataclass(frozen=True, eq=False)
class Track:
    """K finished steps of h [s] of a scene with B bodies, n velocities; states are K + 1, the start included.

    `status` is SOLVED where all steps that were wanted are there and verified; else `reason` says why it ended.
    """

    label: str
    solver: str
    h: float
    wanted: int
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
    steps: Step
    """every step's rows, (K, B, ...)"""
    contacts: NDArray[np.int64]
    """(K,) contacts within the look-ahead, limits among them"""
    residual: Array
    """(K,) the solved problems' own residuals; of an engine NaN"""
    tolerance: float
    """residual up to which a step counts; of an engine NaN"""
    iterations: NDArray[np.int64]
    """(K,)"""
    status: Status
    reason: str
    seconds: float
    """of all steps; what a run leaves out of it, such as compiling, is not in it"""
    others: dict[str, int] = field(default_factory=dict)
    """problems that another method of the solver's chain has solved (`escalation`), by its name"""

    @property
    def t(self) -> Array:
        """(K + 1,) times of the states [s]."""
        return self.h * np.arange(len(self.q), dtype=float)

    @property
    def finished(self) -> bool:
        return len(self.contacts) == self.wanted


def by_body(
    bodies: int, centre: Array, places: Places, first: NDArray[np.int64], P: Array, u: Array, phi: Array, h: float
) -> Step:
    """The contacts of a step by body: `centre` of mass (B, 3) [m] at its start, impulses P (R,) [N s] in it, velocities
    u = J v+ (R,) at its end, gaps phi (r,) [m], and where the contacts are; rows as in `mechanics.instant.Instant`.
    """
    force_of_row = P[:, None] * places.acts / h
    starts = first[:-1]
    if not len(starts):
        return _nothing(bodies)
    on_contact = np.add.reduceat(force_of_row, starts)
    velocity = u[:, None] * places.acts[:, :3]
    velocity[starts] = 0.0
    # Directions of torsion and rolling push nothing along: what is left are the sliding directions.
    sliding = np.add.reduceat(velocity, starts)
    p_n = np.maximum(P[starts], 0.0) / h
    wrench, place, slide = (np.zeros((bodies, k)) for k in (6, 3, 3))
    load, slip, gap = np.zeros(bodies), np.zeros(bodies), np.full(bodies, np.inf)
    for side, sign in ((0, -1.0), (1, 1.0)):
        there = places.pair[:, side] >= 0
        body, force = places.pair[there, side], on_contact[there, :3]
        moment = on_contact[there, 3:] + np.cross(places.point[there] - centre[body], force)
        np.add.at(wrench, body, sign * np.concatenate([force, moment], axis=1))
        np.add.at(load, body, p_n[there])
        np.add.at(place, body, (p_n[:, None] * places.point)[there])
        np.add.at(slide, body, sign * (p_n[:, None] * sliding)[there])
        np.add.at(slip, body, (p_n * np.linalg.norm(sliding, axis=1))[there])
        np.minimum.at(gap, body, phi[there])
    normal = p_n[:, None] * places.acts[starts, :3]
    held = normal[places.pair[:, 0] < 0].sum(axis=0) - normal[places.pair[:, 1] < 0].sum(axis=0)
    share = np.where(load > 0, load, 1.0)
    place = np.where(load[:, None] > 0, place / share[:, None], np.nan)
    return Step(wrench, place, load, np.where(np.isinf(gap), np.nan, gap), slide / share[:, None], slip / share, held)


def stacked(rows: Sequence[Step], bodies: int) -> Step:
    """The rows of K steps as one, (K, B, ...)."""
    if rows:
        return Step(*(np.stack(x) for x in zip(*rows, strict=True)))
    return Step(*(np.zeros((0, *x.shape)) for x in _nothing(bodies)))


def _nothing(bodies: int) -> Step:
    """The rows of a step in which nothing touches."""
    none = np.zeros((bodies, 3))
    return Step(np.zeros((bodies, 6)), none + np.nan, none[:, 0], none[:, 0] + np.nan, none, none[:, 0], np.zeros(3))
