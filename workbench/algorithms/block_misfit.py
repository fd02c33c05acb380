"""Small islands whose contacts require slightly inconsistent velocities: the inconsistency is magnified first.

Redundant load-carrying contacts prescribe more velocities than are independent: A makes the rows A x + q = 0 dependent.
If q is inconsistent by 1e-8 (after round-off in a step, or overlaps in a model), some of these contacts must open or
slide very slowly, and which ones depends on that 1e-8 alone. No method resolves this by itself. The velocities of
opening or sliding are proportional to the inconsistency, and the impulses hardly depend on it, so that the solution
with a magnified inconsistency is a good start for the given problem.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from workbench.algorithms.block_islands import islands, solve_islands
from workbench.algorithms.few_blocks import CONES
from workbench.problems.bridges.dense import numbers
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.sets import NO_CONE
from workbench.support.arrays import Array

MAGNIFIED = 1e-4
"""Residual to which the inconsistency is magnified."""
CARRYING = 1e-9
"""Share of the largest impulse above which a contact carries load."""
STILL = 1e3
"""Velocities up to so many times the size given by the residual count as none."""
SHARE = 0.1
"""Smallest share of the error of the rows at rest for which an inconsistency counts as its cause."""


def misfit(p: ContactBlocks, x: Array) -> Array:
    """Return the inconsistent part (X,) of the velocities prescribed at an almost-solution x (X,) of one small island.

    By least squares over the rows at rest of load-carrying contacts and of intervals between their bounds. It is zero
    elsewhere, and zero everywhere if it is not the cause of the solution's error.
    """
    given, residual = numbers(p), p.residual(x)
    A, q = given["M"], given["q"]
    F, found, block = A @ x + q, np.zeros(p.size), p.block_of_unknown
    carries = x[p.unknown[:-1]] > CARRYING * abs(x).max(initial=0.0)
    held = np.where(p.cone[block] == NO_CONE, (p.lower < x) & (x < p.upper), carries[block])
    held &= abs(F) <= STILL * residual * abs(q).max(initial=0.0)
    if held.any():
        y, *_ = np.linalg.lstsq(A[held], -q[held], rcond=None)
        left = A[held] @ y + q[held]
        if abs(left).max() >= SHARE * abs(F[held]).max():
            found[held] = left
    return found


def solve_magnified(p: ContactBlocks, x: Array) -> tuple[Array, int] | None:
    """Solve one small island with cones (`block_islands`) by magnifying the inconsistency of an almost-solution x (X,).

    Returns x and the iterations; None for other islands, and if there is nothing to magnify.
    """
    (island,) = islands(p)
    apart: Any = misfit(p, x) if island.method == CONES else np.zeros(1)
    if not apart.any():
        return None
    found = x.copy()
    harder = replace(p, c=p.c + (MAGNIFIED / p.residual(x) - 1.0) * apart)
    iterations = solve_islands(harder, list(islands(harder)), found)
    return found, iterations + solve_islands(p, [island], found)
