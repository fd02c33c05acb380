"""Two fingers squeeze a ball with given forces and lift it off the floor.

After the gripper of Horak & Trinkle 2019 with its numbers, in the plane and without the stop at the end of the lift.
Coordinates q = (x, z, theta, x_1, z_1, x_2, z_2, z_c): the ball, theta anticlockwise; the fingers; the carriage, which
moves vertically and guides the fingers by two prismatic joints, the bilateral constraints

    g = (z_1 - z_c, z_2 - z_c) = 0.

A force F presses each finger inwards, L lifts the carriage; the weight of the gripper, of total mass M, is balanced.
Contacts are at both fingers and at the floor, where the gap opens. If the grip holds, ball and gripper rise together at

    a = (L - m g)/(M + m)      if 2 mu F >= m (g + a);

otherwise the ball rises with 2 mu F/m - g (or stays on the floor) and the gripper slides off it with (L - 2 mu F)/M.
The constraints are linear: with stabilisation their error remains at round-off.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from workbench.engine.compiling import kernel
from workbench.engine.kernels import set_all
from workbench.mechanics.case import FLOOR, UNTURNED, Array, Case, Truth, planar_orientation, quantity, touching
from workbench.mechanics.core import FILL, advance_by_rates
from workbench.mechanics.sketch import Annotation, Arrow
from workbench.mechanics.solids import Plane, Solid, ball, cuboid

X, Z, TURN, X_1, Z_1, X_2, Z_2, Z_C = range(8)


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `Gripper`."""
    m, R = data[M_], data[R_]
    for J in (core.M, core.J_b, core.J_n, core.J_t):
        for i in range(J.shape[0]):
            set_all(0.0, J[i])
    core.M[X, X] = core.M[Z, Z] = m
    core.M[TURN, TURN] = 0.4 * m * R * R
    for i in range(X_1, Z_C):
        core.M[i, i] = data[FINGER]
    core.M[Z_C, Z_C] = data[CARRIAGE]
    set_all(0.0, core.f)
    core.f[Z], core.f[X_1], core.f[X_2], core.f[Z_C] = -m * data[G], data[SQUEEZE], -data[SQUEEZE], data[LIFT]
    for i, finger in enumerate((Z_1, Z_2)):
        core.J_b[i, finger], core.J_b[i, Z_C] = 1.0, -1.0
        core.g[i] = q[finger] - q[Z_C]
        # The ball's point on this side moves with z' +- R theta', the finger with its own rate.
        side = 2.0 * i - 1.0
        core.J_n[i, X], core.J_n[i, finger - 1] = -side, side
        core.J_t[i, Z], core.J_t[i, TURN], core.J_t[i, finger] = 1.0, side * R, -1.0
        core.phi[i] = side * (q[finger - 1] - q[X]) - R
    core.J_n[2, Z] = core.J_t[2, X] = 1.0
    core.J_t[2, TURN] = R
    core.phi[2] = q[Z] - R
    for i in range(3):
        core.mu[i] = data[MU]
        core.heading[i, 0], core.heading[i, 1] = 1.0, 0.0


@dataclass(frozen=True)
class Gripper(Case):
    """Bilateral constraints and frictional contacts in one system."""

    name: ClassVar[str] = "gripper"
    description: ClassVar[str] = "two fingers on prismatic joints squeeze a ball and lift it from the floor"
    source: ClassVar[str] = "after Horak & Trinkle 2019, IEEE RA-L 4(2), grasping"
    size: ClassVar[tuple[int, int, int, int]] = (8, 2, 3, 1)
    velocities: ClassVar[Mapping[str, tuple[str, str]]] = {
        "x'": ("m/s", "velocity of the ball"),
        "z'": ("m/s", "velocity of the ball"),
        "theta'": ("rad/s", "rate of the ball's rotation, anticlockwise"),
        "x_1'": ("m/s", "velocity of finger 1"),
        "z_1'": ("m/s", "velocity of finger 1"),
        "x_2'": ("m/s", "velocity of finger 2"),
        "z_2'": ("m/s", "velocity of finger 2"),
        "z_c'": ("m/s", "velocity of the carriage"),
    }
    duration: ClassVar[float] = 0.5
    windows: ClassVar[dict[str, tuple[float, float]]] = {"lifting": (0.0, 0.5)}
    fill: ClassVar[Any] = staticmethod(fill)
    advance: ClassVar[Any] = staticmethod(advance_by_rates)

    m: float = quantity(0.2, "kg", "mass of the ball", "positive")
    R: float = quantity(0.05, "m", "radius of the ball", "positive")
    m_finger: float = quantity(2.0, "kg", "mass of each finger", "positive")
    m_carriage: float = quantity(2.0, "kg", "mass of the carriage", "positive")
    mu: float = quantity(0.3, "-", "friction coefficient", "nonnegative")
    squeeze: float = quantity(14.0, "N", "force F on each finger", "nonnegative")
    lift: float = quantity(10.0, "N", "force L on the carriage", "nonnegative")
    gravity: float = quantity(9.81, "m/s2", "gravitational acceleration", "positive")

    @property
    def grip(self) -> float:
        """Largest force [N] that friction at both fingers can carry."""
        return 2 * self.mu * self.squeeze

    @property
    def accelerations(self) -> tuple[float, float]:
        """Accelerations of ball and gripper [m/s2], upwards."""
        M, weight = self.m_carriage + 2 * self.m_finger, self.m * self.gravity
        together = max(0.0, (self.lift - weight) / (M + self.m))
        if self.grip >= min(self.lift, weight + self.m * together):
            return together, together
        return max(0.0, (self.grip - weight) / self.m), (self.lift - self.grip) / M

    def start(self) -> tuple[Array, Array]:
        R = self.R
        return np.array([0.0, R, 0.0, -R, R, R, R, R]), np.zeros(8)

    def centre(self, q: Array) -> Array:
        """Centre of the ball."""
        return np.stack([q[..., X], np.zeros_like(q[..., X]), q[..., Z]], axis=-1)

    def orientation(self, q: Array) -> Array:
        return planar_orientation(q[..., 2])

    def energy(self, q: Array, v: Array) -> Array:
        ball = v[..., X] ** 2 + v[..., Z] ** 2 + 0.4 * (self.R * v[..., TURN]) ** 2
        gripper = self.m_finger * (v[..., X_1:Z_C] ** 2).sum(axis=-1) + self.m_carriage * v[..., Z_C] ** 2
        return 0.5 * (self.m * ball + gripper) + self.m * self.gravity * q[..., Z]

    def solids(self) -> list[Solid | Plane]:
        R = self.R
        fingers = [
            cuboid("finger", (0.15 * R, 0.5 * R, 1.35 * R), (0.15 * side * R, 0.0, 0.65 * R), body)
            for body, side in ((1, -1.0), (2, 1.0))
        ]
        carriage = cuboid("carriage", (2 * R, 0.5 * R, 0.1 * R), (0.0, 0.0, 2.1 * R), 3)
        return [Plane("floor"), ball("ball", R), *fingers, carriage]

    def poses(self, q: Array) -> tuple[Array, Array]:
        """Poses of ball, fingers and carriage."""
        still = np.zeros_like(q[..., X])
        x, z = np.stack([q[..., X], q[..., X_1], q[..., X_2], still], axis=-1), q[..., [Z, Z_1, Z_2, Z_C]]
        turned = self.orientation(q)
        return np.stack([x, 0 * x, z], axis=-1), np.concatenate([turned, *3 * [0 * turned + UNTURNED]], axis=-2)

    def contacts(self, q: Array) -> tuple[Array, Array]:
        """Contacts of the ball with each finger and with the floor."""
        arms = self.R * np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
        upright = [0.0, 0.0, 1.0]
        return touching(
            self.centre(q)[..., None, :] + arms, [[-arms[0] / self.R, upright], [-arms[1] / self.R, upright], FLOOR[:2]]
        )

    def annotations(self) -> list[Annotation]:
        R = self.R
        arrows = [Arrow((2.6 * s * R, 0.0, R), (1.4 * s * R, 0.0, R), "F") for s in (-1.0, 1.0)]
        return [*arrows, Arrow((0.0, 0.0, 3.2 * R), (0.0, 0.0, 4.2 * R), "L")]

    def truths(self, reference: Any) -> list[Truth]:
        """Speeds of ball and gripper, and the error of the joints; all independent of the step size."""
        time, (ball, gripper) = reference.h * reference.steps, self.accelerations
        q, v = reference.states_q, reference.states_v[-1]
        error = float(np.abs(q[:, [Z_1, Z_2]] - q[:, [Z_C]]).max())
        scale = 1e-10 * (self.gravity + self.squeeze / self.m + self.lift / self.m) * time
        statics = "both fingers carry up to 2 mu F"
        return [
            Truth("speed of the ball", float(v[Z]), ball * time, scale, "m/s", statics),
            Truth("speed of the gripper", float(v[Z_C]), gripper * time, scale, "m/s", statics),
            Truth("error of the joints", error, 0.0, 1e-12 * (self.R + scale), "m", "stabilised linear constraints"),
        ]


# Positions of the parameters in `data`, for the compiled mechanics.
M_, R_, FINGER, CARRIAGE, MU, SQUEEZE, LIFT, G = Gripper.places(
    "m", "R", "m_finger", "m_carriage", "mu", "squeeze", "lift", "gravity"
)
