"""Solution of many contacts in stages, for any storage of their matrices.

The stages are those of `small_cones`: Gauss-Seidel sweeps, and Newton steps on proximal points (`proximal_points`).
They use a problem, in units in which mobilities are about 1, through `Stages`. Steps that still leave many contacts
with errors are stopped early: cycling usually involves few contacts.

Source: Acary, Bremond & Huber 2018 (around Newton's method).
"""

from dataclasses import dataclass, field

import numpy as np

from workbench.algorithms.base import EXACT
from workbench.algorithms.proximal_points import (
    BURSTS,
    LARGEST_EPS,
    LEAST,
    LEAST_EPS,
    ROUND_OFF,
    SHARE,
    STEPS,
    has_ended,
    next_eps,
    next_length,
)
from workbench.algorithms.small_cones import LAST, SWEEPS
from workbench.support.arrays import Array

ROUNDS = 300
"""Maximum number of proximal points: a tower of 38 boxes took 115."""
ENOUGH, MANY = 1e-11, 100
"""Default residual at which the stages end, once it no longer halves; and Newton steps after which ten times that is
enough."""
FLOORS = (1e-13, 1e-9, 1e-6)
"""Terms added to eps in the matrices of bursts, in turn: redundant contacts make W singular."""
LEAST_FIRST = 1e-6
"""Smallest initial eps for a start that is nearly a solution."""
TRIED, FEW_ROWS, ERRING = 12, 12, 1e-3
"""Steps after which only few rows may have errors; their number, and the share of the largest gap that counts as an
error."""


class Stages:
    """Interface of a problem solved in stages, whose unknowns z are impulses; `gap` is computed by `start`."""

    floors = FLOORS
    gap: Array

    def __init__(self, asked: float = ENOUGH) -> None:
        self.asked, self.swept, self.factors = asked, 0, 0

    @property
    def enough(self) -> float:
        """Residual at which the stages end: the requested one, relaxed after many steps."""
        return self.asked * 10.0 ** min(self.factors // MANY, 2)

    def begin(self, start: Array | None) -> Array:
        """Return the z of a given start, or zero."""
        raise NotImplementedError

    def size(self, z: Array) -> float:
        """Return the unit of errors: a norm of z, or of the impulses required by the free velocities."""
        raise NotImplementedError

    def residual(self, z: Array) -> float:
        """Return the residual that the stages reduce."""
        raise NotImplementedError

    def tidy(self, z: Array) -> None:
        """Correct entries of z that cannot occur in any solution, before the residual is measured."""

    def show(self, z: Array) -> None:
        """Offer z, the best iterate, to watchers."""
        raise NotImplementedError

    def sweep(self, count: int, z: Array) -> bool:
        """Make block Gauss-Seidel sweeps over z, in place; returns False if the problem's storage forbids them."""
        raise NotImplementedError

    def newton_step(self, eps: float) -> Array | None:
        """Return - (C + B (W + eps I))^-1 gap, or None if the matrix is singular."""
        raise NotImplementedError

    def start(self, z: Array, centre: Array, eps: float) -> float:
        """Return the error at z of the proximal problem, u = W z + q + eps (z - centre); updates gap and slopes."""
        raise NotImplementedError


@dataclass
class BestIterate:
    """The best iterate z and its residual; `report` has a line for every stage."""

    problem: Stages
    z: Array
    residual: float
    report: list[str] = field(default_factory=list)

    def offer(self, z: Array) -> float:
        """Return the residual of z, which is kept if it is the best."""
        self.problem.tidy(z)
        residual = self.problem.residual(z)
        if residual < self.residual:
            self.residual, self.z = residual, z.copy()
            self.problem.show(z)
        return residual


def solve_in_stages(p: Stages, start: Array | None = None) -> BestIterate:
    """Run all stages, from zero or from a start; the residual shows how accurate the result is."""
    z = p.begin(start)
    search = BestIterate(p, z.copy(), p.residual(z))
    swept = p.sweep(SWEEPS, z)
    search.offer(z)
    sweeping = f"{SWEEPS} sweeps" if swept else "no sweeps, since too many velocities are coupled"
    search.report.append(f"{sweeping}: {search.residual:.1e}")
    size = p.size(z)
    if search.residual > p.enough:
        eps = LARGEST_EPS if start is None else min(LARGEST_EPS, max(LEAST_FIRST, search.residual))
        rounds = approach(search, size, eps)
        search.report.append(f"{rounds} proximal points, {p.factors} Newton steps: {search.residual:.1e}")
    return search


def approach(search: BestIterate, size: float, eps: float, most: int = ROUNDS) -> int:
    """Compute proximal points from the best iterate, at most `most`, in place; returns their number."""
    p, centre, at_centre, failed, bursts = search.problem, search.z.copy(), search.residual, 0, 0
    last = np.inf
    for k in range(most):
        z, before = centre.copy(), p.factors
        error = p.start(z, centre, eps)
        done = search.residual <= p.enough and search.residual > 0.5 * last
        if done or search.residual <= LAST or (error <= ROUND_OFF * size and search.residual <= EXACT):
            return k
        last = search.residual
        goal = max(SHARE * error, LEAST * size)
        error = irregular_steps(p, z, centre, eps, goal, size)
        residual = search.offer(z)
        eps = next_eps(eps, error <= goal, p.factors - before)
        if error <= goal:
            centre, at_centre, failed = z, residual, 0
            continue
        failed += 1
        if failed % BURSTS == 0:
            ahead, best, bursts = search.z.copy(), search.residual, bursts + 1
            irregular_steps(p, ahead, ahead.copy(), 0.0, 0.1 * LEAST * size, size, p.floors[bursts % len(p.floors)])
            # A burst without gain ends where it began, which may lie behind the centre.
            if search.offer(ahead) < best:
                z, residual = ahead, search.residual
                eps = max(LEAST_EPS, min(eps, residual))
        if residual < at_centre:
            centre, at_centre = z, residual
    return most


def irregular_steps(
    p: Stages, z: Array, centre: Array, eps: float, goal: float, size: float, floor: float = 0.0
) -> float:
    """Make Newton steps on the proximal problem from z, which becomes the best iterate; returns its error.

    `floor` is added to eps in the matrix only.
    """
    before, error = np.inf, p.start(z, centre, eps)
    least, best, length = error, z.copy(), 1.0
    for k in range(STEPS):
        if has_ended(error, before, goal, size):
            break
        if k > TRIED and (abs(p.gap) > ERRING * abs(p.gap).max()).sum() > FEW_ROWS:
            break
        length = next_length(k, length, error, before, p.factors)
        step = p.newton_step(eps + floor)
        if step is None:
            break
        z += length * step
        before, error = error, p.start(z, centre, eps)
        if error < least:
            least = error
            best[:] = z
    z[:] = best
    return least
