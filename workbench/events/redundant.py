"""Redundant contacts: forces that are not unique in a unique motion, and whether admissible forces exist."""

import numpy as np

from workbench.engine.lazy import optimize
from workbench.events.answers import solution_to_round_off
from workbench.events.decision import resting_problem
from workbench.events.modes import Mode, Modes, Rates, kept_rows, sticking
from workbench.mechanics.case import Array
from workbench.mechanics.second_order import Dynamics

BEARS = 1e-12
"""Fraction of the forces, or accelerations, up to which they count as balanced."""
ROUNDED = 64 * float(np.finfo(float).eps)
"""Relative round-off allowed in a row, as a fraction of its terms."""


def bears(x: Dynamics, modes: Modes, e: Array, r: Rates, sticks: Array) -> bool:
    """Return whether some forces within their cones give the acceleration of a mode whose forces are not unique.

    If all closed contacts slide, this is a nonnegative least-squares problem for normal forces >= 0; if some stick, a
    contact problem at rest whose solution must have nonnegative normal forces at the sliding contacts.
    """
    stuck, m = list(map(int, sticking(modes))), len(x.J_b)
    needed = x.M @ r.a - x.f
    sliding = tuple(Mode.OPEN if mode == Mode.STICK else mode for mode in modes)
    F = kept_rows(x, sliding, e).F
    if not stuck:
        # Multipliers of joints have either sign.
        _, off = optimize.nnls(np.column_stack([F, -F[:, :m]]), needed)
        return bool(off <= BEARS * np.linalg.norm(needed))
    problem = resting_problem(x, sliding, e, stuck, sticks)
    found = solution_to_round_off(problem)
    if found is None:
        return False
    left = np.abs(problem.M @ found.z + problem.q).max()
    J = np.concatenate([x.J_n[stuck], x.J_t[stuck].reshape(-1, len(x.M))])
    pressed = np.linalg.lstsq(F, needed - J.T @ found.z)[0][m:] if F.size else np.zeros(0)
    noise = ROUNDED * (np.abs(problem.M) @ np.abs(found.z)).max()
    balanced = left <= BEARS * np.abs(problem.q).max() + noise
    return bool(balanced and (pressed >= -BEARS * np.linalg.norm(needed)).all())
