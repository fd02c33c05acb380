"""Newton steps between sweeps, for packings of spheres: where sweeps alone are slow, or never come to rest.

Sweeps soon set right who opens, slides and sticks among a few grains, and are slow where many move together. Under
Coulomb's law they may go round in circles for ever: a sweep is a small step of a flow whose rest, which is a solution,
need not attract it. A Newton step, on the laws that the sweeps leave, knows neither. In each round one step of
`block_newton`, about the iterate with mobilities W + eps, is tried at the lengths 1, 0.4, 0.1, with sweeps after each
and without, since sweeps may lead away from a solution, until the error falls by a third; eps falls with full steps
that help and rises with others. Where none helps, the sweeps alone go on, and once eps can rise no further the best of
the steps is taken, whatever the error: another neighbourhood may have a better step.

Sweeps before, a line search after a linear correction: Graeser & Kornhuber 2009, for convex energies, of which
Coulomb's law has none. The best iterate is the answer. Cost of a round: one sparse LU over the bodies' velocities and
up to three times `SWEEPS` sweeps.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.algorithms.base import GENERIC, refusal
from workbench.algorithms.block_newton import BlockNewton
from workbench.algorithms.spheres import Packed
from workbench.arrays import Array
from workbench.engine.timing import clock
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.solution import Solution, Status

FIRST, SWEEPS = 4000, 400
"""Sweeps at first, and after a Newton step: together they take about as long as a factorisation."""
LENGTHS, FALL = (1.0, 0.4, 0.1), 0.7
"""Lengths of a step that are tried, and the share of the error below which no other one is."""
FIRST_EPS, LEAST_EPS, MOST_EPS = 1e-3, 1e-9, 1e-3
"""Of eps, in units of mobility."""
EASES, RISES, RISES_ALONE = 0.1, 3.0, 10.0
"""Factors of eps after a full step, after the shortest one, and where no step helps."""
STOP, MOST = 1e-10, 100
"""Residual at which it stops, and Newton steps at most, if nothing else is asked for."""
LARGEST = 12_000
"""Velocities up to which a factorisation takes less than a second; of 30,000 it takes five."""


@dataclass(frozen=True)
class SphereNewton:
    """See the module. `stop` is the residual at which it stops, `most` the number of Newton steps."""

    stop: float = STOP
    most: int = MOST
    name: str = "spheres-newton"
    solves: frozenset[str] = frozenset({ContactBlocks.kind})
    guaranteed_for: str = "no proof; graded by the residual"
    source: str = "Graeser & Kornhuber 2009; Alart & Curnier 1991"
    tolerance: float = GENERIC

    def adjusted(self, tolerance: float | None, max_iterations: int | None) -> "SphereNewton":
        """Another residual at which it stops and up to which it counts as solved, and another number of steps."""
        given = self if tolerance is None else replace(self, stop=tolerance, tolerance=max(tolerance, self.tolerance))
        return replace(given, most=max_iterations or self.most)

    def why_not(self, problem: Any) -> str | None:
        """Contact blocks of so many spheres are taken."""
        found = self._packed(problem)
        return found if isinstance(found, str) else None

    def _packed(self, problem: Any) -> "Packed | str":
        if problem.kind not in self.solves:
            return f"{self.name} solves contact blocks, not {problem.kind}"
        if problem.b.size > LARGEST:
            return f"{self.name}: {problem.b.size} velocities; up to {LARGEST} are possible"
        try:
            return Packed(problem)
        except ValueError as error:
            return f"{self.name}: {error}"

    def solve(self, problem: Any) -> Solution:
        """From zero."""
        return self.solve_from(problem, np.zeros(problem.size))

    def solve_from(self, problem: Any, start: Array) -> Solution:
        """From a start (X,); the iterations are Newton steps."""
        begun = clock()
        packed = self._packed(problem)
        if isinstance(packed, str):
            return refusal(self, problem, packed)
        search = Search(problem, packed, np.where(np.isfinite(start), start, 0.0))
        if search.newton.least > self.stop:
            search.take(search.swept(search.z, FIRST))
        while search.newton.least > self.stop and search.newton.factors < self.most and search.advance():
            pass
        found = search.newton.least
        status = Status.SOLVED if found <= self.tolerance else Status.ITERATION_LIMIT
        reason = "" if status is Status.SOLVED else status.meaning
        steps, elapsed = search.newton.factors, clock() - begun
        return Solution(search.newton.x, status, found, self.tolerance, steps, elapsed, self.name, reason)


class Search:
    """The method on its way: the iterate z (R,), in the scaled rows of `newton`, its error, and eps."""

    def __init__(self, problem: ContactBlocks, packed: Packed, x: Array):
        self.packed, self.newton = packed, BlockNewton(problem, most=np.iinfo(int).max)
        self.z, self.eps = self.newton.begin(x), FIRST_EPS
        self.newton.x, self.newton.least = x, problem.residual(x)
        self.take(self.z)

    def take(self, z: Array) -> None:
        """z is the iterate now."""
        self.z, self.error = z, self.error_of(z)
        self.newton.judged()
        self.newton.show(z)

    def error_of(self, z: Array) -> float:
        """Of the equations that Newton's method solves."""
        return self.newton.start(z, z, 0.0)

    def swept(self, z: Array, count: int) -> Array:
        """z after so many sweeps."""
        P = self.packed.spread(z * self.newton.unit_of_x)
        return self.packed.gathered(self.packed.swept(P, count)) / self.newton.unit_of_x

    def advance(self) -> bool:
        """One round; False where there is no Newton step."""
        self.newton.start(self.z, self.z, self.eps)
        step = self.newton.newton_step(self.eps)
        if step is None:
            return False
        best, least, taken = self.z, np.inf, 0.0
        for length in LENGTHS:
            for sweeps in (0, SWEEPS):
                z = self.z + length * step
                z = self.swept(z, sweeps) if sweeps else z
                error = self.error_of(z)
                if error < least:
                    best, least, taken = z, error, length
            if least < FALL * self.error:
                break
        if not least < self.error:
            if self.eps < MOST_EPS:
                best = self.swept(self.z, SWEEPS)
            factor = RISES_ALONE
        else:
            factor = EASES if taken == LENGTHS[0] else RISES if taken == LENGTHS[-1] else 1.0
        self.eps = min(max(self.eps * factor, LEAST_EPS), MOST_EPS)
        self.take(best)
        return True


SOLVER = SphereNewton()
