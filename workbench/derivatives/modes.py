"""The modes of a solution: the position of its unknowns in their sets, and the margin with which each mode holds.

A contact is open, sticks or slides if an inequality holds strictly, with a margin; otherwise it is between modes: on
the cone's edge without sliding, touching without force, or with neither force nor velocity. So is a row of an LCP whose
unknown and velocity are both zero. Margins are relative to a set's own impulse and velocity, in the units of the
residual, in which both are the square root of an energy.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numba import types

from workbench.derivatives.system import SYSTEM, System
from workbench.engine.compiling import kernel
from workbench.engine.kernels import FAST
from workbench.engine.scratch import VECTOR, scratch, scratch_indices
from workbench.problems.islands import coupled_parts
from workbench.problems.residual import block_units, length
from workbench.problems.sets import ASSOCIATED, COULOMB, DISC, NO_CONE
from workbench.support.arrays import Array


class SetMode(StrEnum):
    """Modes of rows in an interval, of contacts and of discs."""

    INSIDE = "between its bounds"
    AT_LOWER = "at its lower bound"
    AT_UPPER = "at its upper bound"
    FIXED = "fixed by equal bounds"
    LEAVES_LOWER = "at its lower bound without velocity"
    LEAVES_UPPER = "at its upper bound without velocity"
    LOOSE = "fixed by equal bounds without velocity"
    OPEN = "open"
    STICKS = "sticks"
    SLIDES = "slides"
    EDGE = "sticks on the edge of its cone"
    TOUCHES = "touches without force"
    NOTHING = "has neither force nor velocity"


MODES = tuple(SetMode)
"""The modes in the order of the numbers that follow."""
INSIDE, AT_LOWER, AT_UPPER, FIXED, LEAVES_LOWER, LEAVES_UPPER, LOOSE = range(7)
OPEN, STICKS, SLIDES, EDGE, TOUCHES, NOTHING = range(7, 13)
SIDE = {
    LEAVES_LOWER: AT_LOWER, LEAVES_UPPER: AT_UPPER, LOOSE: FIXED, EDGE: STICKS, TOUCHES: OPEN, NOTHING: OPEN
}  # fmt: skip
"""Of each place between two modes the one of them that a limiting Jacobian takes: nothing begins to move or to bear."""
BEARING = SIDE | {LEAVES_LOWER: INSIDE, LEAVES_UPPER: INSIDE, TOUCHES: SLIDES, NOTHING: STICKS}
"""The same, on the side on which all of them may bear."""
NO_PLACE = -1
"""For unknowns after the first of a cone or disc, which has one mode."""
ROUNDING = 1e-13
"""Fraction of the largest free velocity or impulse of a part that counts as round-off in all of its sets."""
ROUNDED_AWAY = 1e-14
"""The same of the whole problem: what has no velocity at all, such as across the sliding direction, is a part too."""

I64, F64 = types.int64, types.float64


@kernel(types.boolean(I64), linked=True)
def is_between(mode):
    """Whether no inequality holds strictly: the solution is between two modes."""
    return LEAVES_LOWER <= mode <= LOOSE or mode >= EDGE


@dataclass(frozen=True, eq=False)
class Place:
    """The mode of a row or of a whole set, its unknowns first : end, and its relative margin; 0 between modes.

    e (end - first - 1,), or for a disc (end - first,), is the direction of sliding, or on the edge the direction
    opposite to friction; undefined in other modes. speed is |u_t| in the problem's units.
    """

    mode: SetMode
    first: int
    end: int
    law: int
    margin: float
    e: Array
    speed: float = 0.0

    @property
    def between(self) -> bool:
        """Whether it is between two modes."""
        return bool(is_between(MODES.index(self.mode)))


def places(s: System) -> list[Place]:
    """The place of every interval row and of every cone and disc, after `find_modes`."""
    found = []
    for k in np.flatnonzero(s.mode != NO_PLACE):
        law = int(s.cone[s.set_of[k]])
        end = int(k + 1 if law == NO_CONE else s.first[s.set_of[k] + 1])
        e = s.e[k + (law != DISC) : end].copy() if law != NO_CONE else np.zeros(0)
        place = Place(MODES[s.mode[k]], int(k), end, law, float(s.margin[k]), e, float(s.speed[k]))
        found.append(place)
    return found


@kernel(types.void(SYSTEM, F64), **FAST)
def find_modes(s, least):
    """Compute F, and mode, margin, direction and speed of every place, at x. A margin up to `least` counts as zero."""
    X, B, at = s.x.shape[0], s.cone.shape[0], 0
    D, y, w, loud, diagonal = scratch(X), scratch(X), scratch(X), scratch(B), scratch(X)
    for i in range(B):
        at += (s.first[i + 1] - s.first[i]) ** 2
    own, part = scratch(at), scratch_indices(B)
    at = 0
    for i in range(B):
        loud[i] = 0.0
        for a in range(s.first[i], s.first[i + 1]):
            diagonal[a] = s.A[a, a]
            for b in range(s.first[i], s.first[i + 1]):
                if s.cone[i] == NO_CONE:
                    own[at] = s.A[a, b]
                at += 1
    block_units(s.first, s.cone, diagonal, own, s.q, s.x, D)
    coupled_parts(s.A, s.set_of, part)
    A, x, F = s.A, s.x, s.F
    for k in range(X):
        total = s.q[k]
        for j in range(X):
            total += A[k, j] * x[j]
        F[k], y[k], w[k], s.mode[k] = total, x[k] / D[k], D[k] * total, NO_PLACE
        p = part[s.set_of[k]]
        loud[p] = max(loud[p], max(abs(D[k] * s.q[k]), abs(y[k])))
        s.margin[k], s.e[k], s.speed[k] = np.inf, 0.0, 0.0
    loudest = 0.0
    for i in range(B):
        loudest = max(loudest, loud[i])
    for i in range(B):
        a, b = s.first[i], s.first[i + 1]
        floor = max(ROUNDING * loud[part[i]], ROUNDED_AWAY * loudest)
        if s.cone[i] == NO_CONE:
            for k in range(a, b):
                s.mode[k], s.margin[k] = in_interval(y[k], w[k], s.lower[k] / D[k], s.upper[k] / D[k], least, floor)
        elif s.cone[i] == DISC:
            s.mode[a], s.margin[a] = in_disc(y, w, a, b, s.mu[i] / D[a], least, floor)
            find_direction(s, a, a, b)
        else:
            s.mode[a], s.margin[a] = in_cone(y, w, a, b, s.cone[i] == ASSOCIATED, s.mu[i], least, floor)
            find_direction(s, a, a + 1, b)
    for i in range(B):
        if s.cone[i] == COULOMB and s.mode[s.first[i]] in (TOUCHES, NOTHING) and stays_without_force(s, s.first[i]):
            s.mode[s.first[i]], s.margin[s.first[i]] = OPEN, np.inf


@kernel(types.boolean(SYSTEM, I64))
def stays_without_force(s, k):
    """Whether a contact under Coulomb's law without force, at k, has none nearby either: no data reach its normal row,
    in which nothing moves but its own normal impulse.

    An impulse that copies that of another contact is zero as long as the other one is open, while its own velocity,
    the difference of both, is always zero.
    """
    if s.still[k] == 0 or not s.A[k, k] > 0.0:
        return False
    for j in range(s.x.shape[0]):
        if j == k or s.A[k, j] == 0.0:
            continue
        is_row = s.cone[s.set_of[j]] == NO_CONE
        mode = s.mode[j] if is_row else s.mode[s.first[s.set_of[j]]]
        if not ((is_row and s.still[j] != 0 and mode in (AT_LOWER, AT_UPPER)) or (not is_row and mode == OPEN)):
            return False
    return True


@kernel(types.void(SYSTEM, I64, I64, I64))
def find_direction(s, place, first, end):
    """Speed of the rows first : end and their direction: of sliding, or on the edge opposite to friction."""
    s.speed[place] = length(s.F, first, end)
    on_edge = s.mode[place] == EDGE or s.mode[place] == NOTHING
    size = length(s.x, first, end) if on_edge else s.speed[place]
    for k in range(first, end):
        s.e[k] = 0.0 if size == 0.0 else -s.x[k] / size if on_edge else s.F[k] / size


PLACE = types.Tuple((I64, F64))


@kernel(PLACE(F64, F64, F64, F64, F64, F64))
def in_interval(y, w, low, high, least, floor):
    """Mode and margin of a row."""
    size = max(abs(y), abs(w))
    none = max(least * size, floor)
    if low == high:
        return (FIXED, abs(w) / size) if abs(w) > none else (LOOSE, 0.0)
    if np.isfinite(low) and abs(y - low) <= max(least * max(size, abs(low)), floor):
        return (AT_LOWER, w / size) if w > none else (LEAVES_LOWER, 0.0)
    if np.isfinite(high) and abs(y - high) <= max(least * max(size, abs(high)), floor):
        return (AT_UPPER, -w / size) if -w > none else (LEAVES_UPPER, 0.0)
    return INSIDE, min(y - low, high - y) / size if size > 0.0 else np.inf


@kernel(PLACE(VECTOR, VECTOR, I64, I64, F64, F64, F64))
def in_disc(y, w, a, b, radius, least, floor):
    """Mode and margin of a disc of the rows a : b."""
    bears, speed = length(y, a, b), length(w, a, b)
    size = max(bears, max(speed, radius))
    none, room = max(least * size, floor), radius - bears
    if speed > none:
        return SLIDES, speed / size
    if room > none:
        return STICKS, room / size
    return EDGE if radius > none else NOTHING, 0.0


@kernel(PLACE(VECTOR, VECTOR, I64, I64, types.boolean, F64, F64, F64))
def in_cone(y, w, a, b, associated, mu, least, floor):
    """Mode and margin of a contact of the rows a : b."""
    size = max(length(y, a, b), length(w, a, b))
    none, speed, turns = max(least * size, floor), length(w, a + 1, b), mu > 0.0 and b - a > 1
    ahead = w[a] - (mu * speed if associated else 0.0)
    if y[a] <= none:
        if ahead > none:
            return OPEN, ahead / size
        return NOTHING if turns and speed <= none else TOUCHES, 0.0
    if not turns or speed > none:
        return SLIDES, (min(y[a], speed) if turns else y[a]) / size
    room = mu * y[a] - length(y, a + 1, b)
    return (STICKS, room / size) if room > none else (EDGE, 0.0)
