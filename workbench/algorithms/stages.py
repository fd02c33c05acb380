"""From afar to a solution of many contacts, however their matrices are held.

The stages are those of `small_cones`: Gauss-Seidel sweeps, and Newton steps on proximal points (`proximal_points`).
What they ask of a problem, in units in which mobilities are about 1, is `Stages`. Where many contacts are left that do
not agree after some steps, these end: few of them go round in circles.

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
from workbench.arrays import Array

ROUNDS = 300
"""Proximal points at most: a tower of 38 boxes took 115."""
ENOUGH, MANY = 1e-11, 100
"""Residual at which the stages end, once it does not fall by half any more, if nothing else is asked for; Newton steps
after which ten times that is enough."""
FLOORS = (1e-13, 1e-9, 1e-6)
"""Added to eps in the matrices of bursts, in turn: redundant contacts make W singular."""
LEAST_FIRST = 1e-6
"""eps at least at first where a start is nearly a solution."""
TRIED, FEW_ROWS, ERRING = 12, 12, 1e-3
"""Steps after which only few rows may be left; how many, and the share of the largest gap from which one counts."""


class Stages:
    """What the stages ask of a problem, whose unknowns z are impulses; `gap` is what `start` has found."""

    floors = FLOORS
    gap: Array

    def __init__(self, asked: float = ENOUGH) -> None:
        self.asked, self.swept, self.factors = asked, 0, 0

    @property
    def enough(self) -> float:
        """The residual at which the stages end: that asked for, less of it after many steps."""
        return self.asked * 10.0 ** min(self.factors // MANY, 2)

    def begin(self, start: Array | None) -> Array:
        """The z of a start that somebody gives, or zero."""
        raise NotImplementedError

    def size(self, z: Array) -> float:
        """The unit of errors: a norm of z, or of the impulses that free velocities ask for."""
        raise NotImplementedError

    def residual(self, z: Array) -> float:
        """What the stages bring down."""
        raise NotImplementedError

    def tidy(self, z: Array) -> None:
        """What z cannot be in any solution is set right before it is judged."""

    def show(self, z: Array) -> None:
        """To whoever watches: z is the best iterate."""
        raise NotImplementedError

    def sweep(self, count: int, z: Array) -> bool:
        """Block Gauss-Seidel sweeps over z, in place; False where the problem is held in a way that forbids them."""
        raise NotImplementedError

    def newton_step(self, eps: float) -> Array | None:
        """- (C + B (W + eps I))^-1 gap; None where there is none."""
        raise NotImplementedError

    def start(self, z: Array, centre: Array, eps: float) -> float:
        """The error at z of the proximal problem, u = W z + q + eps (z - centre); the gap and its slopes follow z."""
        raise NotImplementedError


@dataclass
class BestIterate:
    """The best iterate z and its residual, as the stages go; `report` has a line for every stage."""

    problem: Stages
    z: Array
    residual: float
    report: list[str] = field(default_factory=list)

    def offer(self, z: Array) -> float:
        """The residual of z, which is kept if it is the best."""
        self.problem.tidy(z)
        residual = self.problem.residual(z)
        if residual < self.residual:
            self.residual, self.z = residual, z.copy()
            self.problem.show(z)
        return residual


def solve_in_stages(p: Stages, start: Array | None = None) -> BestIterate:
    """All stages, from zero or from a start; the residual says how far they came."""
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
    """Proximal points from the best iterate on, `most` of them, in place; how many."""
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
            # A burst that gains nothing ends where it began, which may lie behind the centre.
            if search.offer(ahead) < best:
                z, residual = ahead, search.residual
                eps = max(LEAST_EPS, min(eps, residual))
        if residual < at_centre:
            centre, at_centre = z, residual
    return most


def irregular_steps(
    p: Stages, z: Array, centre: Array, eps: float, goal: float, size: float, floor: float = 0.0
) -> float:
    """Newton steps on the proximal problem from z, which becomes the best iterate; returns its error.

    `floor` is added to eps in the matrix alone.
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
