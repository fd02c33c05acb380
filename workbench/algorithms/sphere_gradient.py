"""Sphere contacts with associated flow: accelerated projected gradients (APGD), over bodies and in world axes.

The method of `apgd` for the problems of `spheres`: eleven numbers a contact instead of the rows of J. An iteration is
two passes over the contacts that make the step and move the bodies, and one that reads the velocities. Impulses of a
contact are in units of its own mobility, 3 / tr W_cc, in which all are about equally stiff; the cones stay round.
Source: Mazhar, Heyn, Negrut & Tasora 2015, algorithm 2; adaptive restart: O'Donoghue & Candes 2015. Guarantee: that of
`apgd`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import types

from workbench.algorithms.accelerated import accelerated_over, beginning
from workbench.algorithms.sphere_kernels import (
    ARM_A,
    ARM_B,
    FRICTION,
    INERTIA,
    MASS,
    PACKING,
    SphereSystem,
    add_impulses,
    contact_velocities,
)
from workbench.algorithms.spheres import InLooks, SpherePacking
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import FAST, MATRIX, VECTOR
from workbench.support.arrays import Array

STOP, MOST = 1e-7, 20_000
"""Default residual at which it stops, and iteration limit."""


class MovedSpheres(NamedTuple):
    """W of a packing in world axes; body (N + 1, BODY) is a work array."""

    packing: SphereSystem
    body: Array


MOVED_SPHERES = argument_type(MovedSpheres, PACKING, MATRIX)


@kernel(types.void(MOVED_SPHERES, VECTOR), **FAST)
def project_on_cones(W, x):
    """Project impulses x (3 B,) in world axes on the cones."""
    contact = W.packing.contact
    for i in range(contact.shape[0]):
        P, mu, n = x[3 * i : 3 * i + 3], contact[i, FRICTION], 0.0
        for c in range(3):
            n += P[c] * contact[i, c]
        square = 0.0
        for c in range(3):
            P[c] -= n * contact[i, c]
            square += P[c] ** 2
        radius = np.sqrt(square)
        if radius > mu * n:
            n = max(0.0, n, (n + mu * radius) / (1.0 + mu * mu))
        share = min(1.0, mu * n / (radius + 1e-300))
        for c in range(3):
            P[c] = n * contact[i, c] + share * P[c]


@kernel(types.void(MOVED_SPHERES, VECTOR, VECTOR))
def velocity_of_contacts(W, x, u):
    """Compute contact velocities for impulses x (3 B,) in world axes."""
    B = W.packing.contact.shape[0]
    for i in range(W.body.shape[0]):
        for c in range(W.body.shape[1]):
            W.body[i, c] = W.packing.free[i, c]
    add_impulses(W.packing, x.reshape(B, 3), W.body)
    contact_velocities(W.packing, W.body, u.reshape(B, 3))


accelerated_spheres = accelerated_over(MOVED_SPHERES, project_on_cones, velocity_of_contacts)


class SphereGradient(InLooks):
    """Solver of sphere contacts under associated flow (see the module)."""

    def begin(self, packed: SpherePacking, z: Array) -> Callable[[int], Array]:
        W, x, u = MovedSpheres(packed.arrays, np.empty_like(packed.body)), z.ravel(), np.empty(z.size)
        velocity_of_contacts(W, x, u)
        on = beginning(x, u, np.repeat(mobility(packed), 3))

        def advance(count: int) -> Array:
            accelerated_spheres(W, count, on)
            return z

        return advance


def mobility(packed: SpherePacking) -> Array:
    """Return tr W_cc / 3 of every contact (B,); that of its normal alone if it has no friction."""
    light, easy = packed.body[packed.pair, MASS].sum(axis=1), packed.body[packed.pair, INERTIA]
    arms = packed.contact[:, [ARM_A, ARM_B]]
    found: Array = light + 2.0 / 3.0 * (arms**2 * easy).sum(axis=1)
    return found


SOLVER = SphereGradient(
    STOP, MOST, "spheres-gradient", "contacts of spheres with associated flow, in the limit: energy falls like 1 / k^2",
    "Mazhar, Heyn, Negrut & Tasora 2015; O'Donoghue & Candes 2015", associated=True,
)  # fmt: skip
