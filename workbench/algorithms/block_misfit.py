"""Small islands whose contacts ask for velocities that do not fit together: what does not fit is magnified first.

Redundant contacts that carry ask for more velocities than there are: rows of A x + q = 0 that A makes dependent. Where
q does not fit, by 1e-8 of it, as after a step that rounding or a model's own overlaps have left aslant, some of these
contacts have to open or to slide, if ever so slowly, and which ones is decided by that 1e-8 alone. All methods stop
short of finding out. Contacts that open or slide do so in proportion to what does not fit, and the impulses hardly
depend on it, so that the answer with that magnified is a start from which the given problem is solved.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from workbench.algorithms.block_islands import dense_matrix, islands, solve_islands
from workbench.algorithms.few_blocks import CONES
from workbench.arrays import Array
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.sets import NO_CONE

MAGNIFIED = 1e-4
"""Residual that the misfit is magnified to."""
CARRYING = 1e-9
"""Share of the largest impulse from which on a contact carries."""
STILL = 1e3
"""Velocities up to so many times what the residual stands for count as none."""
SHARE = 0.1
"""Share of the error of the rows that hold still from which on a misfit is taken for its cause."""


def misfit(p: ContactBlocks, x: Array) -> Array:
    """(X,) what does not fit together of the velocities that an almost-answer x (X,) of one small island holds.

    By least squares over the rows of contacts that carry and of intervals between their bounds, as far as these rest;
    zero elsewhere, and everywhere where it is not the cause of the answer's error.
    """
    A, q, residual = dense_matrix(p), p.free[1], p.residual(x)
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
    """x (X,) of one small island with cones (`block_islands`) from an almost-answer, with the iterations; None of
    others, and where nothing is to be magnified."""
    (island,) = islands(p)
    apart: Any = misfit(p, x) if island.method == CONES else np.zeros(1)
    if not apart.any():
        return None
    found = x.copy()
    harder = replace(p, c=p.c + (MAGNIFIED / p.residual(x) - 1.0) * apart)
    iterations = solve_islands(harder, list(islands(harder)), found)
    return found, iterations + solve_islands(p, [island], found)
