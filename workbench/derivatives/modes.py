"""The modes of a solution: where its unknowns stand in their sets, and by how much each mode holds.

A contact is open, sticks or slides where an inequality holds strictly, the margin; where none does it stands between
modes: on the cone's edge without sliding, touching without force, or with neither force nor velocity. So does a row of
an LCP whose unknown and velocity are both zero. Margins are relative to a set's own impulse and velocity, in the units
of the residual, in which both are the root of an energy.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from workbench.arrays import Array
from workbench.errors import DataError
from workbench.problems.problem import Problem, SetBySet
from workbench.problems.sets import APART, ASSOCIATED, DISC, NO_CONE


class Mode(StrEnum):
    """Of rows in an interval, of contacts and discs."""

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


BETWEEN = frozenset({Mode.LEAVES_LOWER, Mode.LEAVES_UPPER, Mode.LOOSE, Mode.EDGE, Mode.TOUCHES, Mode.NOTHING})
"""Modes in which no inequality holds strictly: the solution stands between two modes."""
ROUNDING = 1e-13
"""Share of the largest free velocity or impulse of a part that is rounding in all of its sets."""


@dataclass(frozen=True, eq=False)
class Place:
    """The mode of a row or of a whole set, the unknowns first : end of it, and its margin, relative; 0 between modes.

    e (end - first - 1,) or, of a disc, (end - first,) is the direction of sliding, or on the edge the one opposite to
    the friction; without meaning in other modes. speed is |u_t| in the problem's units.
    """

    mode: Mode
    first: int
    end: int
    law: int
    margin: float
    e: Array
    speed: float = 0.0

    @property
    def between(self) -> bool:
        """Whether it stands between two modes."""
        return self.mode in BETWEEN


def one_by_one(problem: Problem) -> SetBySet:
    """The problem set by set; raises DataError for what has no sensitivity here, a batch and laws apart."""
    if problem.is_batch:
        raise DataError("one problem at a time has a sensitivity, not a batch")
    if (problem.laws == APART).any():
        raise DataError("torsion and rolling apart are not taken: their discs grow with the normal impulse one by one")
    return problem.by_set


def places(p: SetBySet, x: Array, least: float) -> list[Place]:
    """The place of every row of intervals and of every cone and disc, at a solution x (X,).

    A margin of at most `least` is none.
    """
    from workbench.problems.residual import block_units

    first, cone, mu, lower, upper = p.sets
    F, D = p.velocity(x), np.empty(x.size)
    own = p.operator.own if (cone == NO_CONE).any() else np.zeros(0)
    block_units(first, cone, np.require(p.operator.diagonal, requirements="W"), own, p.q, x, D)
    y, w, loud = x / D, D * F, np.zeros(cone.size)
    np.maximum.at(loud, p.part[p.set_of], np.maximum(np.abs(D * p.q), np.abs(y)))
    found = []
    for i in range(cone.size):
        a, b = int(first[i]), int(first[i + 1])
        floor = ROUNDING * float(loud[p.part[i]])
        if cone[i] == NO_CONE:
            found += [_in_interval(k, y[k], w[k], lower[k] / D[k], upper[k] / D[k], least, floor) for k in range(a, b)]
        elif cone[i] == DISC:
            found.append(_in_disc(a, b, y[a:b], w[a:b], mu[i] / D[a], F[a:b], least, floor))
        else:
            found.append(_in_cone(a, b, int(cone[i]), y[a:b], w[a:b], mu[i], F[a:b], least, floor))
    return found


NO_DIRECTION = np.zeros(0)


def _in_interval(k: int, y: float, w: float, low: float, high: float, least: float, floor: float) -> Place:
    size = max(abs(y), abs(w))
    none = max(least * size, floor)

    def place(mode: Mode, margin: float) -> Place:
        return Place(mode, k, k + 1, NO_CONE, margin / size if size > 0 else 0.0, NO_DIRECTION)

    if low == high:
        return place(Mode.FIXED, abs(w)) if abs(w) > none else place(Mode.LOOSE, 0.0)
    sides = (low, Mode.AT_LOWER, Mode.LEAVES_LOWER, w), (high, Mode.AT_UPPER, Mode.LEAVES_UPPER, -w)
    for bound, there, leaves, pushed in sides:
        if np.isfinite(bound) and abs(y - bound) <= max(least * max(size, abs(bound)), floor):
            return place(there, pushed) if pushed > none else place(leaves, 0.0)
    return place(Mode.INSIDE, min(y - low, high - y))


def _length(x: Array) -> float:
    return float(np.linalg.norm(x))


def _direction(x: Array) -> Array:
    size = _length(x)
    return x / size if size > 0 else np.zeros(x.size)


def _in_disc(a: int, b: int, y: Array, w: Array, radius: float, F: Array, least: float, floor: float) -> Place:
    size = max(_length(y), _length(w), radius)
    none, speed, room = max(least * size, floor), _length(w), radius - _length(y)
    if speed > none:
        return Place(Mode.SLIDES, a, b, DISC, speed / size, _direction(F), _length(F))
    if room > none:
        return Place(Mode.STICKS, a, b, DISC, room / size, NO_DIRECTION)
    return Place(Mode.EDGE if radius > none else Mode.NOTHING, a, b, DISC, 0.0, -_direction(y))


def _in_cone(a: int, b: int, law: int, y: Array, w: Array, mu: float, F: Array, least: float, floor: float) -> Place:
    size = max(_length(y), _length(w))
    none, speed = max(least * size, floor), _length(w[1:])
    ahead = float(w[0]) - (mu * speed if law == ASSOCIATED else 0.0)
    if y[0] <= none:
        if ahead > none:
            return Place(Mode.OPEN, a, b, law, ahead / size, NO_DIRECTION)
        turns = mu > 0 and b - a > 1
        mode = Mode.NOTHING if turns and speed <= none else Mode.TOUCHES
        return Place(mode, a, b, law, 0.0, _direction(F[1:]), _length(F[1:]))
    room = mu * float(y[0]) - _length(y[1:])
    if mu == 0 or b - a == 1 or speed > none:
        margin = min(float(y[0]), speed) if mu > 0 and b - a > 1 else float(y[0])
        return Place(Mode.SLIDES, a, b, law, margin / size, _direction(F[1:]), _length(F[1:]))
    if room > none:
        return Place(Mode.STICKS, a, b, law, room / size, NO_DIRECTION)
    return Place(Mode.EDGE, a, b, law, 0.0, -_direction(y[1:]))
