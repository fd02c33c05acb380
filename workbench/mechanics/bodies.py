"""Rigid bodies in space: mass matrix, gyroscopic forces, contact and joint rows, kinematics.

Body k has coordinates (x, y, z, a, b, c, d), its centre of mass and unit quaternion (scalar first, body to world), and
velocities (x', y', z', omega), omega in its own principal axes (formulary, section 1). Body -1 is the ground. The last
entry of q, after the coordinates of all bodies, is time: motion-controlled obstacles are functions of it and enter a
contact as prescribed rates r_n, r_t.

Contact i lies between a lower body a and an upper body b; its normal points from a to b, its gap is measured along it:

    u_n = n . (x_b' - x_a')      u_t = (t . (x_b' - x_a'), (n x t) . (x_b' - x_a'))       at the contact point

Its heading, the first tangent axis under axes=body, is the first axis of body b (of a if b is the ground) projected on
the tangent plane; see `head`.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import MATRIX, VECTOR, set_all
from workbench.engine.scratch import scratch, scratch_matrix
from workbench.mechanics.case import Array, Case, quantity
from workbench.mechanics.core import ADVANCE, CORE, GAP, Core
from workbench.mechanics.solids import GROUND, rotated

STEEP = 0.5
"""If (n . x)^2 exceeds this, the first body axis x is more than 45 degrees out of the tangent plane and not used."""
I64, F64 = types.int64, types.float64


@kernel(types.void(VECTOR, I64, MATRIX))
def rotation(q, k, R):
    """Fill R (3, 3), which rotates from the axes of body k to those of the world."""
    a, b, c, d = q[7 * k + 3], q[7 * k + 4], q[7 * k + 5], q[7 * k + 6]
    R[0, 0], R[0, 1], R[0, 2] = a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)
    R[1, 0], R[1, 1], R[1, 2] = 2 * (b * c + a * d), a * a - b * b + c * c - d * d, 2 * (c * d - a * b)
    R[2, 0], R[2, 1], R[2, 2] = 2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d


@kernel(types.void(VECTOR, I64, VECTOR, VECTOR))
def point_of(q, k, s, x):
    """Fill x (3,) [m], the point of body k with body coordinates s (3,); for the ground, s itself."""
    for i in range(3):
        x[i] = s[i]
    if k >= 0:
        R = scratch_matrix(3, 3)
        rotation(q, k, R)
        for i in range(3):
            x[i] = q[7 * k + i] + R[i, 0] * s[0] + R[i, 1] * s[1] + R[i, 2] * s[2]


@kernel(types.void(CORE, VECTOR, I64, F64, F64, F64, F64, F64))
def fill_body(core, v, k, m, I_1, I_2, I_3, gravity):
    """Fill mass matrix, weight along -z, gyroscopic force -omega x I omega of body k; m [kg], I [kg m2] principal."""
    first = 6 * k
    for i in range(first, first + 6):
        set_all(0.0, core.M[i])
        core.f[i] = 0.0
    for i in range(3):
        core.M[first + i, first + i] = m
    core.M[first + 3, first + 3], core.M[first + 4, first + 4], core.M[first + 5, first + 5] = I_1, I_2, I_3
    w_1, w_2, w_3 = v[first + 3], v[first + 4], v[first + 5]
    core.f[first + 2] = -m * gravity
    core.f[first + 3] = (I_2 - I_3) * w_2 * w_3
    core.f[first + 4] = (I_3 - I_1) * w_3 * w_1
    core.f[first + 5] = (I_1 - I_2) * w_1 * w_2


@kernel(types.void(MATRIX, I64, VECTOR, I64, MATRIX, VECTOR, VECTOR, F64))
def add_direction(J, row, q, k, R, point, n, sign):
    """Add to J[row] the row of sign n . (velocity of body k, rotated by R, at a point); n, point (3,) in world axes."""
    if k < 0:
        return
    r_1, r_2, r_3 = point[0] - q[7 * k], point[1] - q[7 * k + 1], point[2] - q[7 * k + 2]
    m_1, m_2, m_3 = r_2 * n[2] - r_3 * n[1], r_3 * n[0] - r_1 * n[2], r_1 * n[1] - r_2 * n[0]
    for i in range(3):
        J[row, 6 * k + i] += sign * n[i]
        J[row, 6 * k + 3 + i] += sign * (R[0, i] * m_1 + R[1, i] * m_2 + R[2, i] * m_3)


@kernel(types.void(CORE, I64, MATRIX, VECTOR, VECTOR, VECTOR))
def head(core, i, R, n, t, other):
    """Fill the heading of contact i in its tangents t and n x t (other): the unit projection of the first axis of the
    body with rotation R.

    If that axis is steep (`STEEP`), the projection of the second axis is used as the second tangent axis instead: a
    body that tilts about its second axis keeps its heading (formulary, section 1).
    """
    steep = n[0] * R[0, 0] + n[1] * R[1, 0] + n[2] * R[2, 0]
    axis = 1 if steep * steep > STEEP else 0
    along = t[0] * R[0, axis] + t[1] * R[1, axis] + t[2] * R[2, axis]
    across = other[0] * R[0, axis] + other[1] * R[1, axis] + other[2] * R[2, axis]
    size = np.sqrt(along * along + across * across)
    if axis == 0:
        core.heading[i, 0], core.heading[i, 1] = along / size, across / size
    else:
        core.heading[i, 0], core.heading[i, 1] = across / size, -along / size


@kernel(types.void(CORE, I64, VECTOR, I64, I64, VECTOR, VECTOR, VECTOR, F64, F64))
def fill_contact(core, i, q, a, b, point, n, t, gap, mu):
    """Fill contact i between bodies a and b at a point, with unit normal n from a to b, unit tangent t, n . t = 0."""
    other = scratch(3)
    other[0] = n[1] * t[2] - n[2] * t[1]
    other[1] = n[2] * t[0] - n[0] * t[2]
    other[2] = n[0] * t[1] - n[1] * t[0]
    set_all(0.0, core.J_n[i])
    set_all(0.0, core.J_t[2 * i])
    set_all(0.0, core.J_t[2 * i + 1])
    R = scratch_matrix(3, 3)
    for k, sign in ((a, -1.0), (b, 1.0)):
        if k >= 0:
            rotation(q, k, R)
            add_direction(core.J_n, i, q, k, R, point, n, sign)
            add_direction(core.J_t, 2 * i, q, k, R, point, t, sign)
            add_direction(core.J_t, 2 * i + 1, q, k, R, point, other, sign)
    core.phi[i], core.mu[i] = gap, mu
    # The rotation is that of b, or of a if b is the ground.
    head(core, i, R, n, t, other)


@kernel(types.void(CORE, I64, VECTOR, VECTOR, VECTOR))
def move_obstacle(core, i, n, t, w):
    """Prescribe the velocity w (3,) [m/s], at the contact point, of the motion-controlled lower body of contact i."""
    core.r_n[i] = -(n[0] * w[0] + n[1] * w[1] + n[2] * w[2])
    core.r_t[2 * i] = -(t[0] * w[0] + t[1] * w[1] + t[2] * w[2])
    o_1, o_2, o_3 = n[1] * t[2] - n[2] * t[1], n[2] * t[0] - n[0] * t[2], n[0] * t[1] - n[1] * t[0]
    core.r_t[2 * i + 1] = -(o_1 * w[0] + o_2 * w[1] + o_3 * w[2])


@kernel(types.void(VECTOR, VECTOR), linked=True)
def set_axes(n, t):
    """Set normal and first tangent (3,) of the floor."""
    set_all(0.0, n)
    set_all(0.0, t)
    n[2] = t[0] = 1.0


@kernel(types.void(CORE, VECTOR, F64, F64, F64, F64))
def fill_feet(core, q, a, b, c, mu):
    """Fill contacts 0 to 3: the points (-+a, -+b, -c) of body 0 on the floor z = 0; the first two are those at -b."""
    n, t, s, x = scratch(3), scratch(3), scratch(3), scratch(3)
    set_axes(n, t)
    for i in range(4):
        s[0], s[1], s[2] = a if i % 2 else -a, b if i // 2 else -b, -c
        point_of(q, 0, s, x)
        fill_contact(core, i, q, GROUND, 0, x, n, t, x[2], mu)


@kernel(ADVANCE)
def advance_bodies(q, v, h, data, q_next):
    """Advance centres by their velocities, quaternions by 1/2 q (0, omega) and normalisation, time by h."""
    bodies = v.shape[0] // 6
    for k in range(bodies):
        for i in range(3):
            q_next[7 * k + i] = q[7 * k + i] + h * v[6 * k + i]
        a, b, c, d = q[7 * k + 3], q[7 * k + 4], q[7 * k + 5], q[7 * k + 6]
        x, y, z = 0.5 * h * v[6 * k + 3], 0.5 * h * v[6 * k + 4], 0.5 * h * v[6 * k + 5]
        e_0, e_1 = a - b * x - c * y - d * z, b + a * x - d * y + c * z
        e_2, e_3 = c + d * x + a * y - b * z, d - c * x + b * y + a * z
        length = np.sqrt(e_0 * e_0 + e_1 * e_1 + e_2 * e_2 + e_3 * e_3)
        q_next[7 * k + 3], q_next[7 * k + 4] = e_0 / length, e_1 / length
        q_next[7 * k + 5], q_next[7 * k + 6] = e_2 / length, e_3 / length
    for i in range(7 * bodies, q.shape[0]):
        q_next[i] = q[i] + h


@dataclass(frozen=True)
class RigidBodies(Case):
    """A case of rigid bodies in space; `gravity`, a parameter of every subclass, acts along -z."""

    gravity: float = quantity(9.81, "m/s2", "gravitational acceleration", "nonnegative")

    advance: ClassVar[Any] = staticmethod(advance_bodies)
    velocities: ClassVar[Mapping[str, tuple[str, str]]] = {
        **{f"{x}'": ("m/s", "velocity of the centre of mass") for x in "xyz"},
        **{f"omega_{i}": ("rad/s", "angular velocity about the principal axes") for i in (1, 2, 3)},
    }

    @abstractmethod
    def inertias(self) -> Array:
        """(bodies, 4): mass [kg] and principal moments of inertia [kg m2]."""

    def centre(self, q: Array) -> Array:
        """Common centre of mass."""
        m = self.inertias()[:, 0]
        x = np.stack([q[..., 7 * k : 7 * k + 3] for k in range(m.size)], axis=-1)
        return x @ (m / m.sum())

    def orientation(self, q: Array) -> Array:
        return np.stack([q[..., 7 * k + 3 : 7 * k + 7] for k in range(len(self.inertias()))], axis=-2)

    def poses(self, q: Array) -> tuple[Array, Array]:
        return np.stack([q[..., 7 * k : 7 * k + 3] for k in range(len(self.inertias()))], axis=-2), self.orientation(q)

    def contacts(self, q: Array) -> tuple[Array, Array]:
        """Read the contacts off the rows of the time stepping.

        The rows of an axis a are [a, R^T (s x a)] for a point s from the centre of a body, and the sum of a x (s x a)
        over three axes is 2 s."""
        n, _, r, _ = self.size
        core, data, rest = Core(self.size, 1.0, GAP, self.v_th), self.data(), np.zeros(n)
        rows, body = np.empty((*q.shape[:-1], r, 3, 6)), np.empty((*q.shape[:-1], r, 1), dtype=np.int64)
        for at in np.ndindex(q.shape[:-1]):
            self.fill(q[at], rest, data, core)
            J = np.stack([core.J_n, core.J_t[0::2], core.J_t[1::2]], axis=1).reshape(r, 3, n // 6, 6)
            # The rows of either body serve.
            k = np.abs(J[..., :3]).sum(axis=(1, 3)).argmax(axis=1)
            rows[at], body[at] = J[np.arange(r), :, k], k[:, None]
        centre, orientation = (np.take_along_axis(x, body, axis=-2) for x in self.poses(q))
        a, m = rows[..., :3], rotated(orientation[..., None, :], rows[..., 3:])
        # With the normal n = t x (n x t), the upper body's rows have the sign 1, the lower body's -1.
        sign = np.sum(a[..., 0, :] * np.cross(a[..., 1, :], a[..., 2, :]), axis=-1, keepdims=True).round()[..., None]
        return centre + 0.5 * np.cross(a, m).sum(axis=-2), sign * a

    def in_space(self, q: Array, v: Array, back: bool = False) -> Array:
        w = v.copy()
        for k in range(len(self.inertias())):
            a, u = q[..., 7 * k + 3, None], q[..., 7 * k + 4 : 7 * k + 7]
            if back:
                u = -u
            omega = v[..., 6 * k + 3 : 6 * k + 6]
            w[..., 6 * k + 3 : 6 * k + 6] = omega + 2 * np.cross(u, np.cross(u, omega) + a * omega)
        return w

    def energy(self, q: Array, v: Array) -> Array:
        return self.kinetic_energy(v) + sum(
            m * self.gravity * q[..., 7 * k + 2] for k, m in enumerate(self.inertias()[:, 0])
        )

    def kinetic_energy(self, v: Array) -> Array:
        """Kinetic energy (...) [J]."""
        diagonal = np.concatenate([[m, m, m, *I] for m, *I in self.inertias()])
        return 0.5 * (v**2) @ diagonal

    def momentum(self, v: Array) -> Array:
        """Linear momentum (..., 3) [kg m/s]."""
        total = np.zeros(3)
        for k, m in enumerate(self.inertias()[:, 0]):
            total = total + m * v[..., 6 * k : 6 * k + 3]
        return total

    def angular_momentum(self, q: Array, v: Array) -> Array:
        """Angular momentum about the origin (..., 3) [kg m2/s]."""
        total = np.zeros(3)
        for k, (m, *I) in enumerate(self.inertias()):
            x, linear, omega = q[..., 7 * k : 7 * k + 3], v[..., 6 * k : 6 * k + 3], v[..., 6 * k + 3 : 6 * k + 6]
            total = total + np.cross(x, m * linear) + turned(q, k, np.asarray(I) * omega)
        return total


def turned(q: Array, k: int, s: Array) -> Array:
    """Rotate vectors s (..., 3) of body k to world axes, for coordinates q (..., n_q)."""
    return rotated(q[..., 7 * k + 3 : 7 * k + 7], s)


def place(*centres_and_turns: tuple[Any, ...]) -> Array:
    """Return the coordinates of bodies given as (centre,) or (centre, axis, angle [rad])."""
    q = []
    for centre, *turn in centres_and_turns:
        axis, angle = turn if turn else ((0.0, 0.0, 1.0), 0.0)
        unit = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
        q += [*centre, np.cos(angle / 2), *(np.sin(angle / 2) * unit)]
    return np.array(q, dtype=float)
