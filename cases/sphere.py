"""A homogeneous sphere thrown along the floor without spin: it slides until friction makes it roll.

Coordinates q = (x, y, z, a, b, c, d): centre and unit quaternion, scalar first; velocities (x', y', z', omega) with the
angular velocity in world axes. All moments of inertia are I = 2/5 m R^2, so there is no gyroscopic term. The contact
point lies R below the centre:

    u_n = z'      u_t = (x' - R omega_y, y' + R omega_x)      (a, b, c, d)' = 1/2 (0, omega) (a, b, c, d)

Friction takes mu g from the speed of the centre and 7/2 mu g from that of the contact point. The angular momentum
about a point of the floor is conserved, |v| + 2/5 R |omega| = v_0: the sphere rolls at 5/7 v_0, whatever mu is. Time
stepping conserves this momentum too and gives the exact speeds at the ends of its steps.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR, set_all
from workbench.mechanics.case import FLOOR, Array, Case, Truth, quantity, touching
from workbench.mechanics.core import ADVANCE, CORE, FILL
from workbench.mechanics.sketch import Annotation, Arrow
from workbench.mechanics.solids import Plane, Solid, ball

ROLLS = 1e-9
"""Fraction of the initial speed below which sliding counts as over: above round-off, far below one step's loss."""


@kernel(types.void(CORE, VECTOR))
def head(core, q):
    """Yaw: the rotation about the vertical, since no axis of a rolling sphere stays horizontal.

    The attitude is decomposed into a rotation about the vertical, (a, d) normalised, and a tilt about a level axis.
    """
    a, d = q[3], q[6]
    size = a * a + d * d
    core.heading[0, 0], core.heading[0, 1] = 1.0, 0.0
    if size > 0.0:
        core.heading[0, 0], core.heading[0, 1] = (a * a - d * d) / size, 2.0 * a * d / size


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `Sphere`."""
    R, m = data[R_], data[M_]
    for i in range(6):
        set_all(0.0, core.M[i])
        core.M[i, i] = m if i < 3 else 0.4 * m * R * R
    set_all(0.0, core.f)
    core.f[2] = -m * data[G]
    set_all(0.0, core.J_n[0])
    core.J_n[0, 2] = 1.0
    set_all(0.0, core.J_t[0])
    set_all(0.0, core.J_t[1])
    core.J_t[0, 0], core.J_t[0, 4] = 1.0, -R
    core.J_t[1, 1], core.J_t[1, 3] = 1.0, R
    core.phi[0] = q[2] - R
    core.mu[0] = data[MU]
    head(core, q)


@kernel(ADVANCE)
def advance(q, v, h, data, q_next):
    """Compute q + h Gamma(q) v, with the quaternion normalised."""
    for i in range(3):
        q_next[i] = q[i] + h * v[i]
    a, b, c, d = q[3], q[4], q[5], q[6]
    x, y, z = 0.5 * h * v[3], 0.5 * h * v[4], 0.5 * h * v[5]
    q_next[3] = a - x * b - y * c - z * d
    q_next[4] = b + x * a + y * d - z * c
    q_next[5] = c + y * a + z * b - x * d
    q_next[6] = d + z * a + x * c - y * b
    size = np.sqrt(q_next[3] ** 2 + q_next[4] ** 2 + q_next[5] ** 2 + q_next[6] ** 2)
    for i in range(3, 7):
        q_next[i] /= size


@dataclass(frozen=True)
class Sphere(Case):
    """From sliding to rolling, at a final speed that depends on neither friction nor step size."""

    name: ClassVar[str] = "sphere"
    description: ClassVar[str] = "a sphere thrown along the floor without spin, sliding until it rolls"
    source: ClassVar[str] = "textbook; Coriolis 1835, the billiard ball"
    size: ClassVar[tuple[int, int, int, int]] = (6, 0, 1, 2)
    velocities: ClassVar[Mapping[str, tuple[str, str]]] = {
        "x'": ("m/s", "velocity of the centre"),
        "y'": ("m/s", "velocity of the centre"),
        "z'": ("m/s", "velocity of the centre"),
        "omega_x": ("rad/s", "angular velocity"),
        "omega_y": ("rad/s", "angular velocity"),
        "omega_z": ("rad/s", "angular velocity"),
    }
    duration: ClassVar[float] = 1.0
    windows: ClassVar[dict[str, tuple[float, float]]] = {"sliding": (0.0, 0.72)}
    fill: ClassVar[Any] = staticmethod(fill)
    advance: ClassVar[Any] = staticmethod(advance)

    R: float = quantity(0.1, "m", "radius", "positive")
    m: float = quantity(1.0, "kg", "mass", "positive")
    mu: float = quantity(0.2, "-", "friction coefficient", "nonnegative")
    gravity: float = quantity(9.81, "m/s2", "gravitational acceleration", "positive")
    speed: float = quantity(5.0, "m/s", "initial speed of the centre", "positive")
    direction: float = quantity(30.0, "deg", "direction of the initial velocity, from the x axis")

    def start(self) -> tuple[Array, Array]:
        angle = np.radians(self.direction)
        q = np.array([0.0, 0.0, self.R, 1.0, 0.0, 0.0, 0.0])
        return q, self.speed * np.array([np.cos(angle), np.sin(angle), 0.0, 0.0, 0.0, 0.0])

    def centre(self, q: Array) -> Array:
        return q[..., :3]

    def orientation(self, q: Array) -> Array:
        return q[..., None, 3:]

    def energy(self, q: Array, v: Array) -> Array:
        kinetic = (v[..., :3] ** 2).sum(axis=-1) + 0.4 * self.R**2 * (v[..., 3:] ** 2).sum(axis=-1)
        return self.m * (0.5 * kinetic + self.gravity * q[..., 2])

    def solids(self) -> list[Solid | Plane]:
        return [Plane("floor"), ball("sphere", self.R)]

    def contacts(self, q: Array) -> tuple[Array, Array]:
        return touching(q[..., None, :3] - [0.0, 0.0, self.R], FLOOR)

    def annotations(self) -> list[Annotation]:
        x, v = (y[:3] for y in self.start())
        return [Arrow(x, x + 3.5 * self.R * v / self.speed, "v₀")]

    def truths(self, reference: Any) -> list[Truth]:
        """Time and speed of rolling, its energy loss, and the distance of the centre; none where it does not come to
        roll.

        Speed and energy of rolling are independent of the step size. The other tolerances are bounds: sliding ends
        within a step, and the time stepping integrates the speed by a rectangle rule, whose error with one kink is at
        most h (v_0 - 5/7 v_0)/2 + mu g h^2/8.
        """
        rolls = np.linalg.norm(reference.u_t[:, 0], axis=-1) <= ROLLS * self.speed
        if self.mu == 0 or not rolls.any():
            return []
        h, v_0, slowing = reference.h, self.speed, self.mu * self.gravity
        q, v = reference.states_q, reference.states_v
        energy = self.energy(q[[0, -1]], v[[0, -1]])
        change = h * (np.argmax(rolls) + 1)
        slid = 2 * v_0 / (7 * slowing)
        distance = 6 / 7 * v_0 * slid + 5 / 7 * v_0 * (h * reference.steps - slid)
        travelled, speed = (float(np.linalg.norm(x)) for x in (q[-1, :3] - q[0, :3], v[-1, :3]))
        momentum, sliding = "angular momentum about a point of the floor", "uniform deceleration mu g while it slides"
        return [
            Truth("end of sliding", float(change), slid, h, "s", sliding),
            Truth("final speed of the centre", speed, 5 / 7 * v_0, 1e-11 * v_0, "m/s", momentum),
            Truth("energy lost", float(energy[0] - energy[1]), self.m * v_0**2 / 7, 1e-11 * energy[0], "J", momentum),
            Truth("distance", travelled, distance, h * v_0 / 7 + slowing * h**2 / 8, "m", sliding),
        ]


# Positions of the parameters in `data`, for the compiled mechanics.
R_, M_, MU, G = Sphere.places("R", "m", "mu", "gravity")
