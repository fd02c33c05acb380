"""From afar to a solution of contact blocks: proximal points whose eps falls as fast as their problems are easy.

The problem of mobility W + eps and a centre z_k is regular however redundant the contacts. Where a few Newton steps
solve it, its answer is the next centre and eps falls to a tenth, so that the last ones are Newton steps on the problem
itself; where they do not, eps rises. Steps are not damped: they work like an active set method, whose error may rise a
long way before it falls. Where such steps go round in circles, as a few contacts that slide one way or the other do,
their lengths become irregular, which ends that. What remains unsolved goes through the proximal stage of
`coulomb_newton`.

Sources: Rockafellar 1976 (proximal points); Acary, Bremond & Huber 2018 (around Newton's method).
"""

import numpy as np

from workbench.algorithms.base import EXACT
from workbench.algorithms.coulomb_newton import RISE, SHARE, SWEEPS, Search, Stages, proximal
from workbench.arrays import Array

FIRST_EPS, LEAST_EPS, LEAST_FIRST = 0.1, 1e-10, 1e-6
"""eps at first, at least, and at least at first where a start is nearly a solution; in units of mobility."""
EASY, FAIR, FALLS, RISES = 3, 7, (0.1, 0.3, 0.7), 5.0
"""Newton steps up to which eps falls to a tenth and to a third; its factors, and that where a problem is not solved."""
FULL, TRIED, MOST = 4, 12, 50
"""Newton steps of full length; those after which only few rows may be left; steps on one problem."""
FEW_ROWS, ERRING = 12, 1e-3
"""Rows that may be left, and the share of the largest gap from which a row counts."""
SHORTEST, GOLDEN = 0.1, 0.5 * (np.sqrt(5.0) - 1.0)
"""The shortest irregular length; lengths are multiples of the golden ratio, without their integer parts."""
ROUNDS, BURSTS = 60, 2
"""Proximal points at most; failures in a row between bursts of steps on the problem itself."""
ROUND_OFF = 4e-15
"""Error in units of z at which nothing more is to be gained."""


def solve_in_stages(p: Stages, start: Array | None = None) -> Search:
    """All stages, from zero or from a start; the residual says how far they came."""
    z = p.begin(start)
    search = Search(p, z.copy(), p.residual(z))
    swept = p.sweep(SWEEPS, z)
    search.offer(z)
    sweeping = f"{SWEEPS} sweeps" if swept else "no sweeps, since too many velocities are coupled"
    search.report.append(f"{sweeping}: {search.residual:.1e}")
    size = p.size(z)
    if search.residual > p.enough:
        eps = FIRST_EPS if start is None else min(FIRST_EPS, max(LEAST_FIRST, search.residual))
        rounds = approach(search, size, eps)
        search.report.append(f"{rounds} proximal points, {p.factors} Newton steps: {search.residual:.1e}")
    if search.residual > max(p.enough, EXACT):
        rounds = proximal(search, size)
        search.report.append(f"{rounds} proximal steps, {p.factors} Newton steps: {search.residual:.1e}")
    return search


def approach(search: Search, size: float, eps: float, most: int = ROUNDS) -> int:
    """Proximal points from the best iterate on, `most` of them, in place; how many."""
    p, centre, at_centre, failed, bursts = search.problem, search.z.copy(), search.residual, 0, 0
    for k in range(most):
        z, before = centre.copy(), p.factors
        error = p.start(z, centre, eps)
        if search.residual <= p.enough or (error <= ROUND_OFF * size and search.residual <= EXACT):
            return k
        goal = max(SHARE * error, 1e-16 * size)
        error = irregular_steps(p, z, centre, eps, goal, size)
        steps = p.factors - before
        residual = search.offer(z)
        if error <= goal:
            centre, at_centre, failed = z, residual, 0
            eps = max(eps * FALLS[(steps > EASY) + (steps > FAIR)], LEAST_EPS)
            continue
        eps, failed = min(RISES * eps, 1.0), failed + 1
        if failed % BURSTS == 0:
            z, bursts = search.z.copy(), bursts + 1
            irregular_steps(p, z, z.copy(), 0.0, 1e-17 * size, size, p.floors[bursts % len(p.floors)])
            residual = search.offer(z)
            eps = max(LEAST_EPS, min(eps, residual))
        if residual < at_centre:
            centre, at_centre = z, residual
    return most


def irregular_steps(
    p: Stages, z: Array, centre: Array, eps: float, goal: float, size: float, floor: float = 0.0
) -> float:
    """Newton steps on the proximal problem from z, which becomes the best iterate; returns its error.

    The first ones have full length, and those after one that brought what its length promises. `floor` is added to eps
    in the matrix alone.
    """
    error = p.start(z, centre, eps)
    least, best, length = error, z.copy(), 1.0
    for k in range(MOST):
        if not goal < error < RISE * size:
            break
        step = p.newton_step(eps + floor)
        if step is None:
            break
        z += length * step
        before, error = error, p.start(z, centre, eps)
        if error < least:
            least = error
            best[:] = z
        if before < ROUND_OFF * size and error > 0.1 * before:
            break
        if k >= TRIED and (abs(p.gap) > ERRING * abs(p.gap).max()).sum() > FEW_ROWS:
            break
        full = k < FULL or error <= (1.0 - 0.5 * length) * before
        length = 1.0 if full else SHORTEST + (1.0 - SHORTEST) * (GOLDEN * p.factors % 1.0)
    z[:] = best
    return least
