"""Contacts of spheres with associated flow: accelerated projected gradients (APGD), over bodies and in world axes.

The method of `apgd` for what `spheres` takes: eleven numbers a contact in place of the rows of J, and an iteration is
two passes over the contacts that take the step and move the bodies, and one that reads these. Impulses of a contact are
measured in units of its own mobility, 3 / tr W_cc, in which all are about as stiff; the cones stay round. Source:
Mazhar, Heyn, Negrut & Tasora 2015, algorithm 2; adaptive restart: O'Donoghue & Candes 2015. Guarantee: as that of
`apgd`.
"""

from collections.abc import Callable

import numpy as np
from numba import types

from workbench.algorithms.apgd import DOUBLINGS, momentum
from workbench.algorithms.sphere_kernels import (
    ARM_A,
    ARM_B,
    FRICTION,
    INERTIA,
    MASS,
    PAIRS,
    add_impulses,
    contact_velocities,
)
from workbench.algorithms.spheres import InLooks, SpherePacking
from workbench.arrays import Array
from workbench.engine.compiling import kernel
from workbench.engine.kernels import FAST, MATRIX, VECTOR

STOP, MOST = 1e-7, 20_000
"""Residual at which it stops, and iterations at most, if nothing else is asked for."""


@kernel(types.void(MATRIX, VECTOR, types.float64, MATRIX, MATRIX, MATRIX), **FAST)
def projected_step(contact, unit, L, y, u, new):
    """new (B, 3) = y - unit u / L, projected on the cones; world axes."""
    for i in range(unit.shape[0]):
        length, mu, n = unit[i] / L, contact[i, FRICTION], 0.0
        for c in range(3):
            new[i, c] = y[i, c] - length * u[i, c]
            n += new[i, c] * contact[i, c]
        square = 0.0
        for c in range(3):
            new[i, c] -= n * contact[i, c]
            square += new[i, c] ** 2
        radius = np.sqrt(square)
        if radius > mu * n:
            n = max(0.0, n, (n + mu * radius) / (1.0 + mu * mu))
        share = min(1.0, mu * n / (radius + 1e-300))
        for c in range(3):
            new[i, c] = n * contact[i, c] + share * new[i, c]


@kernel(types.void(PAIRS, MATRIX, MATRIX, VECTOR, types.int64, *(MATRIX,) * 7, VECTOR))
def accelerated_spheres(pair, contact, free, unit, count, x, u_x, y, u_y, new, u, body, pace):
    """`count` iterations; x, y (B, 3) with the velocities u_x, u_y. new, u, body are lost; pace = [theta, L]."""
    for _ in range(count):
        for _ in range(DOUBLINGS):
            body[:] = free
            projected_step(contact, unit, pace[1], y, u_y, new)
            add_impulses(pair, contact, new, body)
            contact_velocities(pair, contact, body, u)
            curved = moved = uphill = 0.0
            for i in range(unit.shape[0]):
                for c in range(3):
                    change = new[i, c] - y[i, c]
                    curved += change * (u[i, c] - u_y[i, c])
                    moved += change * change / unit[i]
                    uphill += u_y[i, c] * (new[i, c] - x[i, c])
            if curved <= pace[1] * moved:
                break
            pace[1] *= 2.0
        share = momentum(uphill, pace)
        for i in range(unit.shape[0]):
            for c in range(3):
                y[i, c] = new[i, c] + share * (new[i, c] - x[i, c])
                u_y[i, c] = u[i, c] + share * (u[i, c] - u_x[i, c])
                x[i, c], u_x[i, c] = new[i, c], u[i, c]


class SphereGradient(InLooks):
    """See the module."""

    def begin(self, packed: SpherePacking, z: Array) -> Callable[[int], Array]:
        body, unit, u = packed.velocity(z), 1.0 / mobility(packed), np.empty_like(z)
        contact_velocities(packed.pair, packed.contact, body, u)
        x, lost = z.copy(), (np.empty_like(z), np.empty_like(z), np.empty_like(body))
        state = (x, u.copy(), z, u, *lost, np.ones(2))

        def advance(count: int) -> Array:
            accelerated_spheres(packed.pair, packed.contact, packed.body, unit, count, *state)
            return x

        return advance


def mobility(packed: SpherePacking) -> Array:
    """tr W_cc / 3 of every contact (B,); its normal's alone where it has no friction."""
    light, easy = packed.body[packed.pair, MASS].sum(axis=1), packed.body[packed.pair, INERTIA]
    arms = packed.contact[:, [ARM_A, ARM_B]]
    found: Array = light + 2.0 / 3.0 * (arms**2 * easy).sum(axis=1)
    return found


SOLVER = SphereGradient(
    STOP, MOST, "spheres-gradient", "contacts of spheres with associated flow, in the limit: energy falls like 1 / k^2",
    "Mazhar, Heyn, Negrut & Tasora 2015; O'Donoghue & Candes 2015", associated=True,
)  # fmt: skip
