"""Contacts of spheres with associated flow: accelerated projected gradients (APGD), over bodies and in world axes.

The method of `apgd` for what `spheres` takes: eleven numbers a contact in place of the rows of J, and an iteration is
one pass over the contacts that moves the bodies and one that reads them. Impulses of a contact are measured in units of
its own mobility, 3 / tr W_cc, in which all are about as stiff; the cones stay round. Source: Mazhar, Heyn, Negrut &
Tasora 2015, algorithm 2; adaptive restart: O'Donoghue & Candes 2015. Guarantee: as that of `apgd`.
"""

import numpy as np
from numba import types

from workbench.algorithms import best
from workbench.algorithms.sphere_kernels import ARM_A, ARM_B, FRICTION, INERTIA, MASS, OFFSET, PAIRS
from workbench.algorithms.spheres import OfSpheres, Packed
from workbench.arrays import Array
from workbench.engine.compiling import kernel
from workbench.engine.kernels import FAST, MATRIX, VECTOR
from workbench.problems.contact_blocks import ContactBlocks

STOP, MOST = 1e-7, 20_000
"""Residual at which it stops, and iterations at most, if nothing else is asked for."""
FIRST_LOOK, LAST_LOOK = 20, 400
"""Iterations between measurements, at first and later: one takes as long as some twenty iterations."""
DOUBLINGS = 60
"""Of L in one iteration, at most."""
LONGER = 0.9
"""What L is multiplied by after every iteration: lengths may grow again."""


@kernel(types.void(PAIRS, MATRIX, VECTOR, types.float64, MATRIX, MATRIX, MATRIX, MATRIX), **FAST)
def projected_step(pair, contact, unit, L, y, u, body, new):
    """new (B, 3) = y - unit u / L, projected on the cones, and `body` moved by it; world axes."""
    for i in range(pair.shape[0]):
        a, b, length = pair[i, 0], pair[i, 1], unit[i] / L
        n_x, n_y, n_z = contact[i, 0], contact[i, 1], contact[i, 2]
        x, z, w = y[i, 0] - length * u[i, 0], y[i, 1] - length * u[i, 1], y[i, 2] - length * u[i, 2]
        n, mu = x * n_x + z * n_y + w * n_z, contact[i, FRICTION]
        t_x, t_y, t_z = x - n * n_x, z - n * n_y, w - n * n_z
        radius = np.sqrt(t_x * t_x + t_y * t_y + t_z * t_z)
        n = max(0.0, max(n, (n + mu * radius) / (1.0 + mu * mu)) if radius > mu * n else n)
        share = min(1.0, mu * n / (radius + 1e-300))
        p_x, p_y, p_z = n * n_x + share * t_x, n * n_y + share * t_y, n * n_z + share * t_z
        new[i, 0], new[i, 1], new[i, 2] = p_x, p_y, p_z
        m_a, m_b = body[a, MASS], body[b, MASS]
        body[a, 0] += m_a * p_x
        body[a, 1] += m_a * p_y
        body[a, 2] += m_a * p_z
        body[b, 0] -= m_b * p_x
        body[b, 1] -= m_b * p_y
        body[b, 2] -= m_b * p_z
        c_x, c_y, c_z = n_y * p_z - n_z * p_y, n_z * p_x - n_x * p_z, n_x * p_y - n_y * p_x
        m_a, m_b = contact[i, ARM_A] * body[a, INERTIA], contact[i, ARM_B] * body[b, INERTIA]
        body[a, 3] += m_a * c_x
        body[a, 4] += m_a * c_y
        body[a, 5] += m_a * c_z
        body[b, 3] += m_b * c_x
        body[b, 4] += m_b * c_y
        body[b, 5] += m_b * c_z


@kernel(types.void(PAIRS, MATRIX, MATRIX, MATRIX), **FAST)
def contact_velocities(pair, contact, body, u):
    """u (B, 3) of the contacts, in world axes."""
    for i in range(pair.shape[0]):
        a, b, arm_a, arm_b = pair[i, 0], pair[i, 1], contact[i, ARM_A], contact[i, ARM_B]
        n_x, n_y, n_z = contact[i, 0], contact[i, 1], contact[i, 2]
        w_x = arm_a * body[a, 3] + arm_b * body[b, 3]
        w_y = arm_a * body[a, 4] + arm_b * body[b, 4]
        w_z = arm_a * body[a, 5] + arm_b * body[b, 5]
        u[i, 0] = body[a, 0] - body[b, 0] + w_y * n_z - w_z * n_y + contact[i, OFFSET]
        u[i, 1] = body[a, 1] - body[b, 1] + w_z * n_x - w_x * n_z + contact[i, OFFSET + 1]
        u[i, 2] = body[a, 2] - body[b, 2] + w_x * n_y - w_y * n_x + contact[i, OFFSET + 2]


@kernel(types.void(PAIRS, MATRIX, MATRIX, VECTOR, types.int64, *(MATRIX,) * 7, VECTOR))
def accelerated_spheres(pair, contact, free, unit, count, x, u_x, y, u_y, new, u, body, pace):
    """`count` iterations; x, y (B, 3) with the velocities u_x, u_y. new, u, body are lost; pace = [theta, L]."""
    for _ in range(count):
        for _ in range(DOUBLINGS):
            body[:] = free
            projected_step(pair, contact, unit, pace[1], y, u_y, body, new)
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
        theta = pace[0]
        pace[0] = 0.5 * (theta * np.sqrt(theta**2 + 4.0) - theta**2)
        share = theta * (1.0 - theta) / (theta**2 + pace[0])
        if uphill > 0.0:
            share, pace[0] = 0.0, 1.0
        for i in range(unit.shape[0]):
            for c in range(3):
                y[i, c] = new[i, c] + share * (new[i, c] - x[i, c])
                u_y[i, c] = u[i, c] + share * (u[i, c] - u_x[i, c])
                x[i, c], u_x[i, c] = new[i, c], u[i, c]
        pace[1] *= LONGER


class SphereGradient(OfSpheres):
    """See the module."""

    def search(self, problem: ContactBlocks, packed: Packed, x: Array) -> tuple[Array, float, int]:
        z = packed.spread(x)
        body, unit = packed.velocity(z), 1.0 / mobility(packed)
        u = np.empty_like(z)
        contact_velocities(packed.pair, packed.contact, body, u)
        state = [z.copy(), u.copy(), z.copy(), u, np.empty_like(z), np.empty_like(z), np.empty_like(body), np.ones(2)]
        found, iterations, look = problem.residual(x), 0, FIRST_LOOK
        while found > self.stop and iterations < self.most:
            look = min(look, self.most - iterations)
            accelerated_spheres(packed.pair, packed.contact, packed.body, unit, look, *state)
            iterations, look = iterations + look, min(2 * look, LAST_LOOK)
            reached = packed.gathered(state[0])
            residual = problem.residual(reached)
            if residual < found:
                found, x = residual, reached
                if best.watched(x.size):
                    best.offer(x)
        return x, found, iterations


def mobility(packed: Packed) -> Array:
    """tr W_cc / 3 of every contact (B,); its normal's alone where it has no friction."""
    light, easy = packed.body[packed.pair, MASS].sum(axis=1), packed.body[packed.pair, INERTIA]
    arms = packed.contact[:, [ARM_A, ARM_B]]
    found: Array = light + 2.0 / 3.0 * (arms**2 * easy).sum(axis=1)
    return found


SOLVER = SphereGradient(
    STOP, MOST, "spheres-gradient", "contacts of spheres with associated flow, in the limit: energy falls like 1 / k^2",
    "Mazhar, Heyn, Negrut & Tasora 2015; O'Donoghue & Candes 2015", associated=True,
)  # fmt: skip
