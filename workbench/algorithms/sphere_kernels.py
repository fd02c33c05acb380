"""Kernels for sphere contacts: the contact data from J, and Gauss-Seidel sweeps over bodies in world axes.

The impulse of a contact of two spheres acts at one point on the line through both centres: with the arms a and b along
its normal n, its velocity is v_a - v_b + (a omega_a + b omega_b) x n, and an impulse P rotates both bodies along n x P.
That is eleven numbers a contact and one cache line a body; the tangent frame is not needed in sweeps.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import FAST, INDICES, MATRIX, VECTOR, lu_factor, lu_solve
from workbench.support.arrays import Array

NUMBER, COUNT, FLAG = types.float64, types.int64, types.boolean
BLOCKS = types.Array(types.float64, 3, "C")
PAIRS = types.Array(types.int32, 2, "C")
FLAGS = types.Array(types.boolean, 1, "C")
NORMAL, ARM_A, ARM_B, FRICTION, SHARE_N, SHARE_T, RATIO, OFFSET = 0, 3, 4, 5, 6, 7, 8, 9
"""Columns of a contact: n (3), a, b, mu, 1 / w_n, 1 / w_t (0 without tangents), w_t / w_n, the velocity of c (3)."""
CONTACT = 12
MASS, INERTIA, BODY = 6, 7, 8
"""Columns of a body after its six velocities, 1 / m and 1 / I, and their total number."""
PARTS = 8
"""Parts of the list of contacts that a sweep alternates between: 4 to 16 are equally fast, 1 is 1.4 times slower."""
INNER, MEMORY = 4, 10
"""Sweeps between accelerations, and differences used by an acceleration."""
SMALL = 1e-12
"""Term added to the normal equations of an acceleration, relative to their trace."""


class SphereSystem(NamedTuple):
    """B contacts of N spheres.

    pair (B, 2) of bodies, contact (B, CONTACT), the mask of associated flow, and free (N + 1, BODY), the bodies without
    impulses.
    """

    pair: NDArray[np.int32]
    contact: Array
    associated: NDArray[np.bool_]
    free: Array


class Differences(NamedTuple):
    """State of Anderson's acceleration of z+ = G(z).

    The last result (B, 3) = G(z) and its change (3 B,), in units of `weight` (B,); differences of both, answers and
    changes (MEMORY, 3 B), and the products of the latter, gram; kept = [their number, the position of the next one]."""

    weight: Array
    answer: Array
    change: Array
    answers: Array
    changes: Array
    gram: Array
    kept: NDArray[np.int64]


PACKING = argument_type(SphereSystem, PAIRS, MATRIX, FLAGS, MATRIX)
DIFFERENCES = argument_type(Differences, VECTOR, MATRIX, VECTOR, *(MATRIX,) * 3, INDICES)


@kernel(FLAG(INDICES, INDICES, INDICES, VECTOR, COUNT, PAIRS, BLOCKS))
def read_pairs(row, first, column, J, bodies, pair, found):
    """Read the rows of every block by body: pair (B, 2), `bodies` if there is only one, found (B, 6, 6).

    found[i, 3 s + a] are the six numbers of row a and body s. False if there are more than three rows or two bodies.
    """
    for i in range(row.shape[0] - 1):
        pair[i, 0] = pair[i, 1] = bodies
        if row[i + 1] - row[i] > 3:
            return False
        for a in range(row[i], row[i + 1]):
            for p in range(first[a], first[a + 1]):
                body, side = column[p] // 6, 0
                if pair[i, 0] == bodies:
                    pair[i, 0] = body
                elif pair[i, 0] != body:
                    side = 1
                    if pair[i, 1] == bodies:
                        pair[i, 1] = body
                    elif pair[i, 1] != body:
                        return False
                found[i, 3 * side + a - row[i], column[p] - 6 * body] += J[p]
    return True


@kernel(types.void(PACKING, MATRIX, MATRIX))
def add_impulses(packing, P, body):
    """Add the velocities of impulses P (B, 3) to body (N + 1, BODY)."""
    pair, contact = packing.pair, packing.contact
    for i in range(pair.shape[0]):
        a, b = pair[i, 0], pair[i, 1]
        for c in range(3):
            d, e = (c + 1) % 3, (c + 2) % 3
            turn = contact[i, d] * P[i, e] - contact[i, e] * P[i, d]
            body[a, c] += body[a, MASS] * P[i, c]
            body[b, c] -= body[b, MASS] * P[i, c]
            body[a, 3 + c] += contact[i, ARM_A] * body[a, INERTIA] * turn
            body[b, 3 + c] += contact[i, ARM_B] * body[b, INERTIA] * turn


@kernel(types.void(PACKING, MATRIX, MATRIX), **FAST)
def contact_velocities(packing, body, u):
    """Compute u (B, 3) of the contacts in world axes, from the velocities of body (N + 1, BODY)."""
    pair, contact = packing.pair, packing.contact
    for i in range(pair.shape[0]):
        a, b, arm_a, arm_b = pair[i, 0], pair[i, 1], contact[i, ARM_A], contact[i, ARM_B]
        for c in range(3):
            d, e = (c + 1) % 3, (c + 2) % 3
            turn_d = arm_a * body[a, 3 + d] + arm_b * body[b, 3 + d]
            turn_e = arm_a * body[a, 3 + e] + arm_b * body[b, 3 + e]
            u[i, c] = body[a, c] - body[b, c] + turn_d * contact[i, e] - turn_e * contact[i, d] + contact[i, OFFSET + c]


@kernel(types.void(PACKING, NUMBER, COUNT, MATRIX, MATRIX), **FAST)
def sphere_sweeps(packing, over, count, body, P):
    """Make `count` sweeps over P (B, 3), world axes; body (N + 1, BODY) is updated. `over` is for Coulomb's law only.

    No branches except for the law: with contacts sliding, sticking and opening at random, branch prediction would fail.
    Contacts are taken from `PARTS` parts of the list in turn: neighbours in it usually share a body, and the second
    would wait for the first.
    """
    pair, contact, associated = packing.pair, packing.contact, packing.associated
    apart = -(-pair.shape[0] // PARTS)
    for turn in range(count * apart):
        for i in range(turn % apart, pair.shape[0], apart):
            a, b = pair[i, 0], pair[i, 1]
            n_x, n_y, n_z, arm_a, arm_b = contact[i, 0], contact[i, 1], contact[i, 2], contact[i, 3], contact[i, 4]
            mu, step_n, step_t = contact[i, FRICTION], contact[i, SHARE_N], contact[i, SHARE_T]
            if not associated[i]:
                step_n, step_t = over * step_n, over * step_t
            w_x = arm_a * body[a, 3] + arm_b * body[b, 3]
            w_y = arm_a * body[a, 4] + arm_b * body[b, 4]
            w_z = arm_a * body[a, 5] + arm_b * body[b, 5]
            u_x = body[a, 0] - body[b, 0] + w_y * n_z - w_z * n_y + contact[i, OFFSET]
            u_y = body[a, 1] - body[b, 1] + w_z * n_x - w_x * n_z + contact[i, OFFSET + 1]
            u_z = body[a, 2] - body[b, 2] + w_x * n_y - w_y * n_x + contact[i, OFFSET + 2]
            u_n = u_x * n_x + u_y * n_y + u_z * n_z
            x, y, z = P[i, 0], P[i, 1], P[i, 2]
            n = x * n_x + y * n_y + z * n_z
            off = n - step_t * u_n
            n -= step_n * u_n
            t_x = x - step_t * u_x - off * n_x
            t_y = y - step_t * u_y - off * n_y
            t_z = z - step_t * u_z - off * n_z
            radius = np.sqrt(t_x * t_x + t_y * t_y + t_z * t_z)
            if associated[i]:
                # In units in which W is 1, the cone has the slope mu (w_t / w_n)^1/2.
                ratio = contact[i, RATIO]
                n = max(n, (n + mu * ratio * radius) / (1.0 + mu * mu * ratio))
            n = max(n, 0.0)
            share = min(1.0, mu * n / (radius + 1e-300))
            d_x, d_y, d_z = n * n_x + share * t_x - x, n * n_y + share * t_y - y, n * n_z + share * t_z - z
            P[i, 0], P[i, 1], P[i, 2] = x + d_x, y + d_y, z + d_z
            m_a, m_b = body[a, MASS], body[b, MASS]
            body[a, 0] += m_a * d_x
            body[a, 1] += m_a * d_y
            body[a, 2] += m_a * d_z
            body[b, 0] -= m_b * d_x
            body[b, 1] -= m_b * d_y
            body[b, 2] -= m_b * d_z
            c_x, c_y, c_z = n_y * d_z - n_z * d_y, n_z * d_x - n_x * d_z, n_x * d_y - n_y * d_x
            m_a, m_b = arm_a * body[a, INERTIA], arm_b * body[b, INERTIA]
            body[a, 3] += m_a * c_x
            body[a, 4] += m_a * c_y
            body[a, 5] += m_a * c_z
            body[b, 3] += m_b * c_x
            body[b, 4] += m_b * c_y
            body[b, 5] += m_b * c_z


@kernel(types.void(PACKING, VECTOR, MATRIX, MATRIX, VECTOR), **FAST)
def inner_sweeps(packing, weight, z, answer, change):
    """Compute answer (B, 3) = G(z), `INNER` sweeps, and change (3 B,) = weight (G(z) - z)."""
    for i in range(z.shape[0]):
        for c in range(3):
            answer[i, c] = z[i, c]
    body = packing.free.copy()
    add_impulses(packing, answer, body)
    sphere_sweeps(packing, 1.0, INNER, body, answer)
    for i in range(z.shape[0]):
        for c in range(3):
            change[3 * i + c] = weight[i] * (answer[i, c] - z[i, c])


@kernel(NUMBER(VECTOR, VECTOR), **FAST)
def product(x, y):
    """Return x . y."""
    found = 0.0
    for i in range(x.shape[0]):
        found += x[i] * y[i]
    return found


@kernel(types.void(MATRIX, VECTOR, MATRIX, MATRIX, MATRIX, COUNT, MATRIX), **FAST)
def guess(answer, change, answers, changes, gram, known, z):
    """Compute z (B, 3) at which linear changes would vanish, by least squares over `known` differences."""
    A, along, share = np.empty((known, known)), np.empty(known), np.zeros(known)
    pivots, trace = np.empty(known, dtype=np.int64), 0.0
    for j in range(known):
        trace += gram[j, j]
    for j in range(known):
        along[j] = product(changes[j], change)
        for k in range(known):
            A[j, k] = gram[j, k]
        A[j, j] += SMALL * trace
    if lu_factor(A, pivots) == 0:
        lu_solve(A, pivots, along, share)
    for i in range(z.shape[0]):
        for c in range(3):
            z[i, c] = answer[i, c]
    for j in range(known):
        for i in range(z.shape[0]):
            for c in range(3):
                z[i, c] -= share[j] * answers[j, 3 * i + c]


@kernel(types.void(PACKING, COUNT, DIFFERENCES), **FAST)
def accelerated_sweeps(packing, count, on):
    """Make `count` steps of Anderson's acceleration of z+ = G(z).

    A step that increases the change is rejected in favour of plain sweeps, and the differences are discarded.
    """
    weight, answer, change, answers, changes, gram, kept = on
    z, new, new_change = np.empty_like(answer), np.empty_like(answer), np.empty_like(change)
    for _ in range(count):
        guess(answer, change, answers, changes, gram, kept[0], z)
        inner_sweeps(packing, weight, z, new, new_change)
        if kept[0] > 0 and product(new_change, new_change) > product(change, change):
            kept[0] = kept[1] = 0
            inner_sweeps(packing, weight, answer, new, new_change)
        else:
            k = kept[1]
            for i in range(answer.shape[0]):
                for c in range(3):
                    answers[k, 3 * i + c] = new[i, c] - answer[i, c]
            for x in range(change.shape[0]):
                changes[k, x] = new_change[x] - change[x]
            kept[0], kept[1] = max(kept[0], k + 1), (k + 1) % MEMORY
            for j in range(kept[0]):
                gram[k, j] = gram[j, k] = product(changes[j], changes[k])
        for i in range(answer.shape[0]):
            for c in range(3):
                answer[i, c] = new[i, c]
        for x in range(change.shape[0]):
            change[x] = new_change[x]
