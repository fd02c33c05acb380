"""Compiled geometry of spheres that touch: gaps, which contacts a step may close, and their rows of J.

Contact k lies between bodies a[k] < b[k], a[k] = -1 for a wall or a grain that is fixed; its normal points from a to b.
Both bodies are pushed at one point, the arms (from the centres, along the normal) reach it: angular momentum is kept
exactly, whatever the gap. Body k has the velocities v[k] (6,), linear [m/s] and angular [rad/s], both in world axes.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR
from workbench.mechanics.instant import INSTANT, PLACES, are_finite, is_sound
from workbench.support.arrays import Array

F64 = types.float64


class SphereContacts(NamedTuple):
    """r contacts: bodies a, b (a = -1 for what does not move), friction, gap, normal and arms; `moved` (r, 3) is the
    velocity of what has no number [m/s]."""

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    key: NDArray[np.int64]
    mu: Array
    phi: Array
    normal: Array
    arm_a: Array
    arm_b: Array
    moved: Array

    def where(self, chosen: NDArray[np.bool_]) -> "SphereContacts":
        parts: Any = (x[chosen] for x in self)
        return SphereContacts(*parts)


CONTACTS = argument_type(SphereContacts, *(INDICES,) * 3, VECTOR, VECTOR, MATRIX, VECTOR, VECTOR, MATRIX)


@kernel(types.void(MATRIX, VECTOR, INDICES, INDICES, VECTOR, MATRIX))
def gaps(x, radius, i, j, phi, normal):
    """Gaps phi (C,) and unit normals (C, 3), from sphere i[k] to sphere j[k]; upwards for one centre."""
    for k in range(i.shape[0]):
        d_x, d_y, d_z = (x[j[k], 0] - x[i[k], 0], x[j[k], 1] - x[i[k], 1], x[j[k], 2] - x[i[k], 2])
        far = np.sqrt(d_x * d_x + d_y * d_y + d_z * d_z)
        phi[k] = far - radius[i[k]] - radius[j[k]]
        if far > 0.0:
            normal[k, 0], normal[k, 1], normal[k, 2] = d_x / far, d_y / far, d_z / far
        else:
            normal[k, 0], normal[k, 1], normal[k, 2] = 0.0, 0.0, 1.0


@kernel(types.void(INDICES, INDICES, MATRIX, VECTOR, VECTOR, MATRIX, MATRIX, VECTOR))
def sliding_speeds(a, b, normal, arm_a, arm_b, moved, v, speed):
    """Sizes (C,) of the relative velocities at the contacts; moved (C, 3) the velocity of what has no number."""
    u = np.empty(3)
    for k in range(a.shape[0]):
        for c in range(3):
            p, q = (c + 1) % 3, (c + 2) % 3
            i, j = a[k], b[k]
            u[c] = v[j, c] - arm_b[k] * (v[j, 3 + p] * normal[k, q] - v[j, 3 + q] * normal[k, p]) - moved[k, c]
            if i >= 0:
                u[c] -= v[i, c] + arm_a[k] * (v[i, 3 + p] * normal[k, q] - v[i, 3 + q] * normal[k, p])
        speed[k] = np.sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])


@kernel(types.boolean(CONTACTS, MATRIX, INSTANT, PLACES))
def write(found, q, s, places):
    """The contacts of an instant whose bodies and `first` are set, and where they are; whether it is sound.

    q (N, 7) are the grains' coordinates. Contact k has the rows first[k]:first[k + 1], three, or one without friction,
    with six entries a body.
    """
    a, b, normal, acts, rate = found.a, found.b, found.normal, places.acts, s.rate
    first, values, columns, starts = s.first, s.J_data, s.J_column, s.J_pointer
    e, m = np.empty((3, 3)), np.empty((3, 3))
    at = 0
    for k in range(a.shape[0]):
        _axes(normal, k, e, m)
        s.phi[k], s.key[k], places.pair[k, 0], places.pair[k, 1] = found.phi[k], found.key[k], a[k], b[k]
        for x in range(3):
            places.point[k, x] = q[b[k], x] - found.arm_b[k] * normal[k, x]
        for row in range(first[k], first[k + 1]):
            c = row - first[k]
            s.mu[row] = found.mu[k] if c else 1.0
            for side in range(2):
                body = a[k] if side == 0 else b[k]
                if body < 0:
                    continue
                # The velocity of the point is that of the centre + omega x arm n, and (omega x n) . e = omega . n x e.
                sign = -1.0 if side == 0 else 1.0
                arm = -found.arm_a[k] if side == 0 else -found.arm_b[k]
                for x in range(3):
                    values[at + x], columns[at + x] = sign * e[c, x], 6 * body + x
                    values[at + 3 + x], columns[at + 3 + x] = arm * m[c, x], 6 * body + 3 + x
                at += 6
            for x in range(3):
                acts[row, x], acts[row, 3 + x] = e[c, x], 0.0
                rate[row] -= e[c, x] * found.moved[k, x]
            starts[row + 1] = at
    return is_sound(s) and are_finite(places)


@kernel(types.void(MATRIX, types.int64, MATRIX, MATRIX))
def _axes(normal, k, e, m):
    """e (3, 3) the normal and two tangents of contact k, right-handed, and m (3, 3) the normal times each."""
    least = 0
    for c in range(3):
        e[0, c] = normal[k, c]
        if abs(normal[k, c]) < abs(normal[k, least]):
            least = c
    p, q = (least + 1) % 3, (least + 2) % 3
    size = np.sqrt(e[0, p] * e[0, p] + e[0, q] * e[0, q])
    e[1, least], e[1, p], e[1, q] = 0.0, e[0, q] / size, -e[0, p] / size
    for c in range(3):
        p, q = (c + 1) % 3, (c + 2) % 3
        e[2, c] = e[0, p] * e[1, q] - e[0, q] * e[1, p]
        m[0, c], m[1, c] = 0.0, e[2, c]
    for c in range(3):
        m[2, c] = -e[1, c]


@kernel(types.void(VECTOR, VECTOR, F64, VECTOR))
def advance(q, v, h, q_next):
    """Centres and orientations after h [s] of constant velocities, exactly: the turn exp(h omega / 2) from the left."""
    for k in range(v.shape[0] // 6):
        for c in range(3):
            q_next[7 * k + c] = q[7 * k + c] + h * v[6 * k + c]
        w_x, w_y, w_z = v[6 * k + 3], v[6 * k + 4], v[6 * k + 5]
        rate = np.sqrt(w_x * w_x + w_y * w_y + w_z * w_z)
        half = 0.5 * h * rate
        cosine, share = np.cos(half), np.sin(half) / rate if rate > 0.0 else 0.0
        x, y, z = share * w_x, share * w_y, share * w_z
        a, b, c, d = q[7 * k + 3], q[7 * k + 4], q[7 * k + 5], q[7 * k + 6]
        e_0, e_1 = cosine * a - x * b - y * c - z * d, cosine * b + x * a + y * d - z * c
        e_2, e_3 = cosine * c + y * a + z * b - x * d, cosine * d + z * a + x * c - y * b
        # Rounding would add up over many steps.
        length = np.sqrt(e_0 * e_0 + e_1 * e_1 + e_2 * e_2 + e_3 * e_3)
        q_next[7 * k + 3], q_next[7 * k + 4] = e_0 / length, e_1 / length
        q_next[7 * k + 5], q_next[7 * k + 6] = e_2 / length, e_3 / length
