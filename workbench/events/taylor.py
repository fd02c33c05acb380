"""Validated Taylor steps of smooth motions, and roots of functions along them.

A motion x' = f(x) starts in a ball x_0, where T(s) is its Taylor polynomial of order N. A box B contains the motion up
to s = h, with Lagrange's remainder, if to s = h, and the remainder is that of Lagrange, where

    T([0, h]) + x_{N+1}(B) [0, h]^{N+1}  lies in the interior of B.

The motion cannot leave B before h (Corliss & Rihm 1996, Scientific Computing and Validated Numerics). Here B is
T([0, h]) widened by the allowed remainder, and a step is accepted if its remainder over B is smaller. The coefficients
of any smooth function of the motion bound that function and its derivative in the same way.

There is no treatment of wrapping: motions are about ten steps long and start as points in high precision.
Sources: Nedialkov, Jackson & Corliss 1999, Appl. Math. Comput. 105; Tucker 2011, Validated Numerics.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from flint import arb, arb_series, ctx

from workbench.events.balls import Ball, UndecidedError

ORDER = 30
REMAINDER = 1e-20
"""Bound of the remainder of a step [s, m, m/s, rad, rad/s]."""
LARGEST = 1.0
"""Longest step [s], or unit of tau."""
SHORTEST = 1e-12
BOX_PRECISION = 64
"""Precision [bits] that suffices for boxes, which are wide."""
DEEPEST = 60
"""Number of bisections of a step after which a sign counts as unproved."""

Coefficients = list[arb]
"""Coefficients of the powers 0 ... N, followed by that of the remainder."""


class Flow(Protocol):
    """A smooth motion y' = f(y), and functions of y that are followed with it."""

    def slope(self, y: Sequence[Ball]) -> list[Ball]: ...

    def values(self, y: Sequence[Ball]) -> list[Ball]: ...

    def prove(self, box: Sequence[Ball]) -> None:
        """Raise UndecidedError if a condition of the motion is not proved over a box."""


class TaylorStep(NamedTuple):
    """A step of length h: coefficients of y and of the flow's values, and the box that contains it."""

    h: float
    y: list[Coefficients]
    values: list[Coefficients]

    def at(self, s: arb) -> list[arb]:
        """y at s within [0, h]."""
        return [horner(c, s) for c in self.y]


def horner(c: Sequence[arb], s: arb) -> arb:
    """Value of a polynomial with ascending coefficients."""
    total = arb(0)
    for x in reversed(c):
        total = total * s + x
    return total


def enclosing_ball(low: arb, high: arb) -> arb:
    """The smallest ball that contains two."""
    return low.union(high)


def constants(y: Sequence[arb]) -> list[Ball]:
    """Series of order zero."""
    return [Ball(arb_series([x], 1)) for x in y]


def expanded(flow: Flow, start: Sequence[arb], order: int) -> tuple[list[Coefficients], list[Coefficients]]:
    """Taylor coefficients up to an order of the motions that start in balls, and of the flow's values along them."""
    y = [[x] for x in start]
    for k in range(order):
        slope = flow.slope(_series(y, k + 1))
        for c, f in zip(y, slope, strict=True):
            c.append(f.coefficient(k) / (k + 1))
    values = flow.values(_series(y, order + 1))
    return y, [[g.coefficient(k) for k in range(order + 1)] for g in values]


def _series(y: list[Coefficients], known: int) -> list[Ball]:
    return [Ball(arb_series(c, known)) for c in y]


def step(flow: Flow, start: Sequence[arb]) -> TaylorStep:
    """A step from balls, as long as its remainder allows. Raises UndecidedError."""
    ctx.cap = ORDER + 4
    y, values = expanded(flow, start, ORDER)
    h = min(LARGEST, _length(y, ORDER))
    trouble = UndecidedError("the motion is too fast for a step")
    while h >= SHORTEST:
        try:
            with ctx.workprec(BOX_PRECISION):
                span = enclosing_ball(arb(0), arb(h))
                box = [horner(c, span) + arb(0, REMAINDER) for c in y]
                rest, values_rest = expanded(flow, box, ORDER + 1)
                longest = _length(rest, ORDER + 1)
                if h < longest:
                    flow.prove(constants(box))
                    return TaylorStep(
                        h,
                        [[*c, r[-1]] for c, r in zip(y, rest, strict=True)],
                        [[*c, r[-1]] for c, r in zip(values, values_rest, strict=True)],
                    )
            h = max(0.3 * h, 0.9 * longest)
        except UndecidedError as error:
            trouble = error
            h *= 0.5
    raise trouble


def _length(y: list[Coefficients], k: int) -> float:
    """Length of a step up to which the terms of order k are below `REMAINDER`, by some ulps."""
    if not all(c[k].is_finite() for c in y):
        raise UndecidedError("the motion is not bounded over a box")
    largest = max(float(abs(c[k]).upper()) for c in y)
    return 0.999 * (REMAINDER / largest) ** (1 / k) if largest else LARGEST


def first_root(c: Coefficients, end: arb, vanishes: int = 0) -> arb | None:
    """The first root s in (0, end] of a function that is positive before it; None if it is positive throughout.

    c are its coefficients over a step; it vanishes at s = 0 to the order `vanishes`. It decreases at the root, which is
    enclosed by the interval Newton method. Raises UndecidedError where the signs are not proved.
    """
    slopes = [k * x for k, x in enumerate(c)][1:]
    high = end.upper()
    pieces = [(arb(0), high, 0)]
    while pieces:
        a, b, depth = pieces.pop()
        whole = enclosing_ball(a, b)
        if vanishes and a == 0:
            if horner(c[vanishes:], whole) > 0:
                continue
        else:
            middle = whole.mid()
            slope = horner(slopes, whole)
            if horner(c, middle) + slope * (whole - middle) > 0:
                continue
            if slope < 0:
                if horner(c, b) > 0:
                    continue
                if horner(c, a) > 0 and horner(c, b) < 0:
                    return newton(lambda s: horner(c, s), lambda s: horner(slopes, s), whole)
        if depth >= DEEPEST:
            raise UndecidedError("a sign is not proved: a grazing or double root, or one at the step's end")
        middle = ((a + b) / 2).mid()
        pieces += [(middle, b, depth + 1), (a, middle, depth + 1)]
    return None


def newton(f: Callable[[arb], arb], slope: Callable[[arb], arb], x: arb) -> arb:
    """A simple root known to be in the ball x, where the slope does not vanish, by the interval Newton method."""
    while True:
        middle = x.mid()
        smaller = x.intersection(middle - f(middle) / slope(x))
        if not smaller.rad() < 0.9 * x.rad():
            return smaller
        x = smaller


def to_doubles(x: Sequence[arb]) -> tuple[np.ndarray, np.ndarray]:
    """Midpoints and radii of balls (k,) as doubles whose intervals contain the balls."""
    middle = np.array([float(y.mid()) for y in x])
    radius = [float((y - arb(float(m))).abs_upper()) for y, m in zip(x, middle, strict=True)]
    return middle, np.nextafter(radius, np.inf)
