"""Newton steps between sweeps, for packings of spheres: where sweeps alone are slow, or never come to rest.

Sweeps soon set right who opens, slides and sticks among a few grains, and are slow where many move together. Under
Coulomb's law they may go round in circles for ever: a sweep is a small step of a flow whose rest, which is a solution,
need not attract it. A Newton step, on the laws that the sweeps leave, knows neither. In each round one step of
`block_newton`, about the iterate with mobilities W + eps, is tried at the lengths 1, 0.4, 0.1, with sweeps after each
and without, since sweeps may lead away from a solution, until the error falls by a third; eps falls with full steps
that help and rises with others. Where none helps, the sweeps alone go on, and once eps can rise no further the best of
the steps is taken, whatever the error: another neighbourhood may have a better step.

Sweeps before, a line search after a linear correction: Graeser & Kornhuber 2009, for convex energies, of which
Coulomb's law has none. The best iterate is the answer. Cost of a round: one LU over the bodies' velocities (`fronts`)
and up to three times `SWEEPS` sweeps.
"""

from functools import cached_property
from typing import Any

import numpy as np

from workbench.algorithms.block_newton import BlockNewton
from workbench.algorithms.fronts import FrontalMatrix
from workbench.algorithms.spheres import OfSpheres, Packed
from workbench.arrays import Array
from workbench.problems.contact_blocks import ContactBlocks

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
LARGEST = 40_000
"""Velocities up to which a factorisation takes a few seconds, and half a gigabyte."""


class SphereNewton(OfSpheres):
    """See the module; the iterations are Newton steps."""

    def search(self, problem: ContactBlocks, packed: Packed, x: Array) -> tuple[Array, float, int]:
        on = Search(problem, packed, x)
        if on.newton.least > self.stop:
            on.take(on.swept(on.z, FIRST))
        while on.newton.least > self.stop and on.newton.factors < self.most and on.advance():
            pass
        return on.newton.x, on.newton.least, on.newton.factors


class PackedNewton(BlockNewton):
    """Newton's method over the blocks of a packing, with a matrix that is factored front by front."""

    def __init__(self, problem: ContactBlocks, packed: Packed):
        super().__init__(problem, most=np.iinfo(int).max)
        self.packed = packed

    @cached_property
    def matrix(self) -> Any:
        return FrontalMatrix(self.problem, self.J, self.packed)


class Search:
    """The method on its way: the iterate z (R,), in the scaled rows of `newton`, its error, and eps."""

    def __init__(self, problem: ContactBlocks, packed: Packed, x: Array):
        self.packed, self.newton = packed, PackedNewton(problem, packed)
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


SOLVER = SphereNewton(
    STOP, MOST, "spheres-newton", "no proof; graded by the residual",
    "Graeser & Kornhuber 2009; Alart & Curnier 1991", largest=LARGEST,
)  # fmt: skip
