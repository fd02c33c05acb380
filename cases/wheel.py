"""The sliding wheel of IDETC2016-60064, Table 1: a thin disc with one contact, thrown, sliding until it rolls.

Coordinates q = (x, y, z, psi, theta, phi), velocities their rates, R = Rz(psi) Rx(theta) Ry(phi): psi is the yaw,
theta the tilt, phi the rotation about the wheel's axis. With s = sin theta, c = cos theta the contact point is, in the
yaw frame, at R (0, s, -c) from the centre, and

    omega = (theta', phi' c, psi' + phi' s)       2 T = m |v|^2 + I_t theta'^2 + I_a (phi' + psi' s)^2 + I_t (psi' c)^2
    u_n = z' + R s theta'                         u_t = Rz(psi) [-R (phi' + s psi'), R c theta'] + (x', y')
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from workbench.engine.compiling import kernel
from workbench.engine.kernels import set_all
from workbench.mechanics.case import FLOOR, Array, Case, Truth, quantity, touching
from workbench.mechanics.core import FILL, advance_by_rates
from workbench.mechanics.sketch import Annotation, Arrow
from workbench.mechanics.solids import Plane, Solid, Y, cylinder, lathe


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `Wheel`."""
    R, m, I_a, I_t = data[R_], data[M_], data[IA], data[IT]
    c, s = np.cos(q[4]), np.sin(q[4])
    cp, sp = np.cos(q[3]), np.sin(q[3])
    dpsi, dtheta, dphi = v[3], v[4], v[5]
    M, f = core.M, core.f
    for i in range(6):
        set_all(0.0, M[i])
    M[0, 0] = M[1, 1] = M[2, 2] = m
    M[3, 3] = I_a * s * s + I_t * c * c
    M[3, 5] = M[5, 3] = I_a * s
    M[4, 4] = I_t
    M[5, 5] = I_a
    # Applied minus Coriolis forces, from Lagrange's equations of the kinetic energy above.
    set_all(0.0, f)
    f[2] = -m * data[G]
    f[3] = -dtheta * c * (I_a * (2.0 * s * dpsi + dphi) - 2.0 * I_t * s * dpsi)
    f[4] = dpsi * c * (I_a * (dphi + dpsi * s) - I_t * dpsi * s)
    f[5] = -I_a * dpsi * c * dtheta
    J_n, J_t = core.J_n, core.J_t
    set_all(0.0, J_n[0])
    J_n[0, 2], J_n[0, 4] = 1.0, R * s
    set_all(0.0, J_t[0])
    set_all(0.0, J_t[1])
    J_t[0, 0] = J_t[1, 1] = 1.0
    J_t[0, 3], J_t[1, 3] = -R * s * cp, -R * s * sp
    J_t[0, 4], J_t[1, 4] = -R * c * sp, R * c * cp
    J_t[0, 5], J_t[1, 5] = -R * cp, -R * sp
    core.phi[0] = q[2] - R * c
    core.mu[0] = data[MU]
    core.heading[0, 0], core.heading[0, 1] = cp, sp


@dataclass(frozen=True)
class Wheel(Case):
    """IDETC2016-60064, Table 1. No physical disc has I_a > m R^2; the paper uses this value."""

    name: ClassVar[str] = "wheel"
    description: ClassVar[str] = "a tilted wheel thrown along the floor, sliding for two seconds, then rolling"
    source: ClassVar[str] = "Peiret, Gholami, Kövecses & Font-Llagunes, IDETC2016-60064, Table 1"
    size: ClassVar[tuple[int, int, int, int]] = (6, 0, 1, 2)
    velocities: ClassVar[Mapping[str, tuple[str, str]]] = {
        "x'": ("m/s", "velocity of the centre"),
        "y'": ("m/s", "velocity of the centre"),
        "z'": ("m/s", "velocity of the centre"),
        "psi'": ("rad/s", "rate of the yaw"),
        "theta'": ("rad/s", "rate of the tilt"),
        "phi'": ("rad/s", "rate of the rotation about the axis"),
    }
    duration: ClassVar[float] = 2.2
    windows: ClassVar[dict[str, tuple[float, float]]] = {"sliding": (0.0, 1.98)}
    fill: ClassVar[Any] = staticmethod(fill)
    advance: ClassVar[Any] = staticmethod(advance_by_rates)

    R: float = quantity(0.5, "m", "radius", "positive")
    m: float = quantity(1.0, "kg", "mass", "positive")
    I_a: float = quantity(0.6, "kg m2", "axial moment of inertia", "positive")
    I_t: float = quantity(0.3, "kg m2", "transversal moment of inertia", "positive")
    mu: float = quantity(0.3, "-", "friction coefficient", "nonnegative")
    gravity: float = quantity(9.81, "m/s2", "gravitational acceleration")
    gap: float = quantity(0.0, "m", "initial gap")
    tilt: float = quantity(20.0, "deg", "initial theta")
    speed: float = quantity(6.0, "m/s", "initial xdot of the centre")
    yaw_rate: float = quantity(-2.0, "rad/s", "initial psidot")

    def start(self) -> tuple[Array, Array]:
        theta = np.radians(self.tilt)
        q = np.array([0.0, 0.0, self.R * np.cos(theta) + self.gap, 0.0, theta, 0.0])
        return q, np.array([self.speed, 0.0, 0.0, self.yaw_rate, 0.0, 0.0])

    def centre(self, q: Array) -> Array:
        return q[..., :3]

    def orientation(self, q: Array) -> Array:
        (a, A), (b, B), (c, C) = ((np.cos(x), np.sin(x)) for x in np.moveaxis(0.5 * q[..., 3:], -1, 0))
        # The quaternion of Rz(psi) Rx(theta) Ry(phi).
        parts = a * b * c - A * B * C, a * B * c - A * b * C, a * b * C + A * B * c, A * b * c + a * B * C
        return np.stack(parts, axis=-1)[..., None, :]

    def solids(self) -> list[Solid | Plane]:
        """A disc with a sharp rim, where it touches, and an axle that shows its rotation."""
        R, hub = self.R, 0.06 * self.R
        disc = lathe("wheel", [(0.0, -hub), (R, 0.0), (0.0, hub)], axis=Y)
        return [Plane("floor"), disc, cylinder("axle", hub, 0.5 * R, axis=Y)]

    def contacts(self, q: Array) -> tuple[Array, Array]:
        (c, C), (s, S) = ((np.cos(x), np.sin(x)) for x in (q[..., 3], q[..., 4]))
        down = np.stack([-C * S, c * S, -s], axis=-1)
        return touching((q[..., :3] + self.R * down)[..., None, :], FLOOR)

    def energy(self, q: Array, v: Array) -> Array:
        s, c = np.sin(q[..., 4]), np.cos(q[..., 4])
        spin = self.I_a * (v[..., 5] + v[..., 3] * s) ** 2 + self.I_t * (v[..., 4] ** 2 + (v[..., 3] * c) ** 2)
        return 0.5 * (self.m * (v[..., :3] ** 2).sum(axis=-1) + spin) + self.m * self.gravity * q[..., 2]

    def annotations(self) -> list[Annotation]:
        centre = self.start()[0][:3]
        return [Arrow(centre, centre + np.array([2.5 * self.R, 0.0, 0.0]), "v₀")]

    def truths(self, reference: Any) -> list[Truth]:
        """Adaptive Runge-Kutta solution of the sliding phase (formulary, section 8); the error is first order in h."""
        if self != Wheel():
            return []
        h, t = reference.h, reference.t
        source = "adaptive Runge-Kutta solution of the sliding phase"
        truths = []
        slip = np.linalg.norm(reference.u_t[:, 0], axis=-1)
        if (slip < 1e-3).any():
            # The end of the first step in which sliding is slower than 1 mm/s.
            stop = t[np.argmax(slip < 1e-3)] + h
            truths.append(Truth("end of sliding", float(stop), 2.006823, max(2e-3, 20 * h), "s", source))
        k = round(1.0 / h)
        if k < len(reference.states_q) and abs(k * h - 1.0) < 1e-9:
            where = self.centre(reference.states_q[k])
            gap = float(np.linalg.norm(where - np.array([4.580594, -0.047405, 0.301374])))
            truths.append(Truth("distance of the centre from theory at t = 1 s", gap, 0.0, 7 * h, "m", source))
            energy = float(self.energy(reference.states_q[k], reference.states_v[k]))
            truths.append(Truth("energy at t = 1 s", energy, 8.972373, 20 * h, "J", source))
        return truths


# Positions of the parameters in `data`, for the compiled mechanics.
R_, M_, IA, IT, MU, G = Wheel.places("R", "m", "I_a", "I_t", "mu", "gravity")
