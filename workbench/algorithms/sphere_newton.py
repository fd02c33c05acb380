"""Newton steps between sweeps, for packings of spheres for which sweeps alone are slow or do not converge.

Sweeps quickly find which of a few grains open, slide and stick, and are slow if many move together. Under Coulomb's law
they may cycle forever: a sweep is a small step of a flow whose rest point, a solution, need not be attracting. A Newton
step has neither problem. Each round tries one step of `block_newton` about the iterate with mobilities W + eps; if it
does not halve the error, the few contacts that prevent this are solved nonlinearly, the others by the laws of the step
(`sphere_elimination`); a few sweeps follow. eps decreases after successful steps and increases after others. The
iterate follows the steps even if the error increases: another neighbourhood may have a better step.

The best iterate is returned. Cost of a round: one LU over the bodies' velocities (`fronts`), and three solves for every
eliminated contact.
"""

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from workbench.algorithms.block_newton import BlockNewton
from workbench.algorithms.fronts import FrontalMatrix
from workbench.algorithms.sphere_elimination import Elimination
from workbench.algorithms.spheres import SOLVER as SWEEPS_ALONE
from workbench.algorithms.spheres import OfSpheres, SpherePacking
from workbench.problems.contact_blocks import ContactBlocks
from workbench.support.arrays import Array

FIRST, SWEEPS = 8000, 100
"""Maximum number of initial sweeps, which leave fewer contacts to be eliminated, and of sweeps after a Newton step."""
FALL, RISE = 0.5, 3.0
"""Error as a share of that before the step: below the first the step is a success, above the second a failure."""
FIRST_EPS, LEAST_EPS, MOST_EPS = 1e-4, 1e-10, 3e-3
"""Initial value and range of eps, in units of mobility."""
EASES, EASES_LESS, RISES = 0.1, 0.5, 3.0
"""Factors of eps after a successful full step, after another successful one, and after failed steps or with eliminated
contacts unsolved."""
STOP, MOST = 1e-10, 100
"""Default residual at which it stops, and limit of Newton steps."""
LARGEST = 40_000
"""Number of velocities up to which a factorisation takes a few seconds and half a gigabyte."""


class SphereNewton(OfSpheres):
    """Solver of sphere packings (see the module); its iterations are Newton steps."""

    def search(self, problem: ContactBlocks, packed: SpherePacking, x: Array) -> tuple[Array, float, int]:
        x, *_ = replace(SWEEPS_ALONE, stop=self.stop, most=FIRST).search(problem, packed, x)
        on = NewtonIteration(problem, packed, x)
        while on.newton.least > self.stop and on.newton.factors < self.most and on.advance():
            pass
        return on.newton.x, on.newton.least, on.newton.factors


class PackedNewton(BlockNewton):
    """Newton's method over the blocks of a packing, with a matrix factored front by front."""

    def __init__(self, problem: ContactBlocks, packed: SpherePacking):
        super().__init__(problem, most=np.iinfo(int).max)
        self.packed = packed

    @cached_property
    def matrix(self) -> Any:
        return FrontalMatrix(self.problem, self.J, self.packed)


class NewtonIteration:
    """State of the method: the iterate z (R,), in the scaled rows of `newton`, its error, and eps."""

    def __init__(self, problem: ContactBlocks, packed: SpherePacking, x: Array):
        self.packed, self.newton = packed, PackedNewton(problem, packed)
        self.z, self.eps = self.newton.begin(x), FIRST_EPS
        self.newton.x, self.newton.least = x, problem.residual(x)
        self.error = self.error_of(self.z)

    def error_of(self, z: Array) -> float:
        """Return the error of Newton's equations at z; the solution for z is kept if it is the best."""
        error = self.newton.start(z, z, 0.0)
        self.newton.judged()
        self.newton.show(z)
        return error

    def sweep(self, count: int) -> None:
        """Make sweeps from z, and keep the result if its error is smaller."""
        P = self.packed.spread(self.z * self.newton.unit_of_x)
        self.offer(self.packed.gathered(self.packed.swept(P, count)) / self.newton.unit_of_x)

    def offer(self, z: Array) -> None:
        """Set the iterate to z if its error is smaller."""
        error = self.error_of(z)
        if error < self.error:
            self.z, self.error = z, error

    def advance(self) -> bool:
        """Make one round; returns False if there is no Newton step."""
        newton = self.newton
        before = newton.start(self.z, self.z, self.eps)
        step = newton.newton_step(self.eps)
        if step is None:
            return False
        on = Elimination(newton, self.z, self.eps, step)
        full = on.error <= FALL * before
        while not full and on.advance(before):
            pass
        self.z, self.error = on.best, self.error_of(on.best)
        self.sweep(SWEEPS)
        if on.least < FALL * before:
            self.eps = max(self.eps * (EASES if full else EASES_LESS), LEAST_EPS)
        elif on.unsolved or on.least > RISE * before:
            self.eps = min(self.eps * RISES, MOST_EPS)
        return True


SOLVER = SphereNewton(
    STOP, MOST, "spheres-newton", "nothing; the residual decides",
    "Alart & Curnier 1991; Lanzkron, Rose & Wilkes 1996", largest=LARGEST,
)  # fmt: skip
