"""Proximal points (Rockafellar 1976) of friction problems: how eps goes on, and how long Newton steps are.

A proximal point solves the problem of W + eps I about a centre, u = W z + q + eps (z - centre), and is the next centre.
Redundant contacts make W singular, and contacts that do not quite fit together (one corner of four stands off by a
rounding) make it matter: impulses then go far along a direction in which nothing moves, until a contact opens. eps
bounds how far in one step: where a few Newton steps solve a subproblem it falls to a tenth, so that the last ones are
steps on the problem itself, and where none do it rises. Steps have full length: they work like an active set method,
whose error may rise a long way before it falls. Where they go round in circles, as a few contacts that slide one way or
the other do, their lengths become irregular, which ends that.

The loops stand in `small_cones`, compiled and over a dense W, and in `stages`, for many contacts, however W is held.
"""

import numpy as np
from numba import types

from workbench.engine.compiling import kernel

LARGEST_EPS, LEAST_EPS = 0.1, 1e-10
"""eps at first, and at least."""
EASY, FAIR, FALLS, RISES = 3, 7, (0.1, 0.3, 0.7), 5.0
"""Newton steps up to which eps falls to a tenth and to a third; its factors, and that where a problem is not solved."""
BURSTS = 2
"""Problems in a row that are not solved between bursts of steps on the problem itself."""
STEPS = 50
"""Newton steps at most on one problem."""
SHARE, LEAST, ROUND_OFF = 0.1, 1e-16, 4e-15
"""Error of a subproblem beside its first one at which it is solved; in units of z, the error below which there is
nothing to gain, and that from which on steps go on only while they gain a digit."""
RISE = 10.0
"""The error, in units of z, that ends the steps on a subproblem."""
FULL, SHORTEST, GOLDEN = 4, 0.1, 0.5 * (np.sqrt(5.0) - 1.0)
"""Newton steps of full length; the shortest irregular one; lengths are multiples of the golden ratio, without their
integer parts."""

FLAG, NUMBER, COUNT = types.boolean, types.float64, types.int64


@kernel(NUMBER(NUMBER, FLAG, COUNT))
def next_eps(eps, solved, steps):
    """eps of the next proximal point, after one that was solved, or not, in so many Newton steps."""
    if solved:
        return max(LEAST_EPS, eps * FALLS[int(steps > EASY) + int(steps > FAIR)])
    return min(1.0, RISES * eps)


@kernel(FLAG(NUMBER, NUMBER, NUMBER, NUMBER))
def has_ended(error, before, goal, size):
    """Whether there are no more Newton steps on a subproblem, of the error now and before the last step."""
    return not goal < error < RISE * size or (before < ROUND_OFF * size and error > 0.1 * before)


@kernel(NUMBER(COUNT, NUMBER, NUMBER, NUMBER, COUNT))
def next_length(k, length, error, before, count):
    """Of Newton step k on a subproblem: full at first and after one that brought what its length promises, else
    irregular; `count` is the number of all steps so far."""
    lags = k > FULL and error > (1.0 - 0.5 * length) * before
    return SHORTEST + (1.0 - SHORTEST) * (GOLDEN * count % 1.0) if lags else 1.0
