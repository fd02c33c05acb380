"""Proximal points (Rockafellar 1976) for friction problems: the rules for eps and for the length of Newton steps.

A proximal point solves the problem of W + eps I about a centre, u = W z + q + eps (z - centre), and is the next centre.
Redundant contacts make W singular, and small inconsistencies (one corner of four off by round-off) make that matter:
impulses then grow along a direction in which nothing moves, until a contact opens. eps limits the growth per step: if a
few Newton steps solve a subproblem, eps is divided by ten, so that the last steps are on the problem itself, and if
none do, it rises. Steps have full length: they work like an active set method, whose error may rise considerably before
it falls. If they cycle, as a few contacts alternating between two sliding directions do, irregular step lengths break
the cycle.

The loops are in `small_cones`, compiled and over a dense W, and in `stages`, for many contacts and any storage of W.
"""

import numpy as np
from numba import types

from workbench.engine.compiling import kernel

LARGEST_EPS, LEAST_EPS = 0.1, 1e-10
"""Initial and smallest eps."""
EASY, FAIR, FALLS, RISES = 3, 7, (0.1, 0.3, 0.7), 5.0
"""Newton steps up to which eps is divided by ten, and by about three; its factors, and the factor if a subproblem
fails."""
BURSTS = 2
"""Consecutive failed subproblems between bursts of steps on the problem itself."""
STEPS = 50
"""Maximum number of Newton steps on one subproblem."""
SHARE, LEAST, ROUND_OFF = 0.1, 1e-16, 4e-15
"""Share of its initial error at which a subproblem counts as solved; in units of z, the error below which no
improvement is possible, and that below which steps continue only while each gains a digit."""
RISE = 10.0
"""Error, in units of z, at which the steps on a subproblem are stopped."""
FULL, SHORTEST, GOLDEN = 4, 0.1, 0.5 * (np.sqrt(5.0) - 1.0)
"""Number of Newton steps of full length; the shortest irregular one; lengths are fractional parts of multiples of the
golden ratio."""

FLAG, NUMBER, COUNT = types.boolean, types.float64, types.int64


@kernel(NUMBER(NUMBER, FLAG, COUNT))
def next_eps(eps, solved, steps):
    """Return eps of the next proximal point after one that was solved, or not, in `steps` Newton steps."""
    if solved:
        return max(LEAST_EPS, eps * FALLS[int(steps > EASY) + int(steps > FAIR)])
    return min(1.0, RISES * eps)


@kernel(FLAG(NUMBER, NUMBER, NUMBER, NUMBER))
def has_ended(error, before, goal, size):
    """Return whether the Newton steps on a subproblem end, for the error now and before the last step."""
    return not goal < error < RISE * size or (before < ROUND_OFF * size and error > 0.1 * before)


@kernel(NUMBER(COUNT, NUMBER, NUMBER, NUMBER, COUNT))
def next_length(k, length, error, before, count):
    """Return the length of Newton step k on a subproblem.

    Full at first and after a step that reduced the error as its length promises, otherwise irregular; `count` is the
    number of all steps so far."""
    lags = k > FULL and error > (1.0 - 0.5 * length) * before
    return SHORTEST + (1.0 - SHORTEST) * (GOLDEN * count % 1.0) if lags else 1.0
