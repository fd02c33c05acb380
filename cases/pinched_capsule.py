"""A capsule pressed between two plates: friction alone carries it, and it must not creep.

After Le Lidec et al. 2024, in the plane: coordinates q = (x, z, theta, x_1, x_2) of the capsule, upright at theta = 0
and rotating anticlockwise, and of the plates, which move along x, each pressed inwards by a force F. Four contacts: the
two end spheres at each plate. With the half length l and the radius R

    u_n = +-(x' - s l cos(theta) theta' - x_k'),   u_t = z' - (s l sin(theta) +- R) theta'      s = -1, 1.

Friction can carry 2 mu F: the capsule rests if that is at least m g, and otherwise falls with g - 2 mu F/m. The forces
on each plate add up to F and the friction forces to m g; their distribution over the ends is not unique, and with four
tangential rows on two velocities a formulation that eliminates p_t needs constraint relaxation. With relaxed or
regularised friction the capsule sags, or creeps for ever where friction is viscous.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numba import float64

from workbench.engine.compiling import kernel
from workbench.engine.kernels import set_all
from workbench.mechanics.case import UNTURNED, Array, Case, Truth, planar_orientation, quantity, touching
from workbench.mechanics.core import FILL, advance_by_rates
from workbench.mechanics.sketch import Annotation, Arrow
from workbench.mechanics.solids import Plane, Solid, capsule, cuboid


@kernel(float64(float64, float64, float64))
def inertia(m, R, half):
    """Moment of inertia [kg m2] of a homogeneous capsule about a transverse axis: a cylinder and two half spheres."""
    cylinder = m * half / (half + 2.0 * R / 3.0)
    balls = m - cylinder
    return cylinder * (R * R / 4.0 + half * half / 3.0) + balls * (0.4 * R * R + half * half + 0.75 * half * R)


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `PinchedCapsule`."""
    m, R = data[M_], data[R_]
    for i in range(5):
        set_all(0.0, core.M[i])
    core.M[0, 0] = core.M[1, 1] = m
    core.M[2, 2] = inertia(m, R, data[HALF])
    core.M[3, 3] = core.M[4, 4] = data[PLATE]
    core.f[0], core.f[1], core.f[2] = 0.0, -m * data[G], 0.0
    core.f[3], core.f[4] = data[SQUEEZE], -data[SQUEEZE]
    for i in range(4):
        plate, end = i // 2, data[HALF] if i % 2 else -data[HALF]
        side = 2.0 * plate - 1.0
        set_all(0.0, core.J_n[i])
        set_all(0.0, core.J_t[i])
        core.J_n[i, 0], core.J_n[i, 2], core.J_n[i, 3 + plate] = -side, side * end * np.cos(q[2]), side
        core.J_t[i, 1], core.J_t[i, 2] = 1.0, side * R - end * np.sin(q[2])
        core.phi[i] = side * (q[3 + plate] - q[0] + end * np.sin(q[2])) - R
        core.mu[i] = data[MU]
        core.heading[i, 0], core.heading[i, 1] = 1.0, 0.0


@dataclass(frozen=True)
class PinchedCapsule(Case):
    """Stiction over a long time."""

    name: ClassVar[str] = "pinched-capsule"
    description: ClassVar[str] = "a capsule pinched between two plates must not creep; impulses not unique"
    source: ClassVar[str] = "after Le Lidec et al. 2024, Contact models in robotics, IEEE T-RO 40"
    size: ClassVar[tuple[int, int, int, int]] = (5, 0, 4, 1)
    velocities: ClassVar[Mapping[str, tuple[str, str]]] = {
        "x'": ("m/s", "velocity of the capsule"),
        "z'": ("m/s", "velocity of the capsule"),
        "theta'": ("rad/s", "rate of the capsule's rotation, anticlockwise"),
        "x_1'": ("m/s", "velocities of the plates"),
        "x_2'": ("m/s", "velocities of the plates"),
    }
    duration: ClassVar[float] = 1.0
    windows: ClassVar[dict[str, tuple[float, float]]] = {"held": (0.0, 1.0)}
    fill: ClassVar[Any] = staticmethod(fill)
    advance: ClassVar[Any] = staticmethod(advance_by_rates)

    m: float = quantity(0.5, "kg", "mass of the capsule", "positive")
    R: float = quantity(0.03, "m", "radius", "positive")
    half: float = quantity(0.05, "m", "half the distance between the centres of the end spheres", "positive")
    m_plate: float = quantity(1.0, "kg", "mass of each plate", "positive")
    mu: float = quantity(0.4, "-", "friction coefficient", "nonnegative")
    squeeze: float = quantity(10.0, "N", "force F on each plate", "nonnegative")
    gravity: float = quantity(9.81, "m/s2", "gravitational acceleration", "nonnegative")

    @property
    def fall(self) -> float:
        """Downward acceleration [m/s2] of the capsule."""
        return max(0.0, self.gravity - 2 * self.mu * self.squeeze / self.m)

    def start(self) -> tuple[Array, Array]:
        return np.array([0.0, self.half + self.R, 0.0, -self.R, self.R]), np.zeros(5)

    def centre(self, q: Array) -> Array:
        """Centre of the capsule."""
        return np.stack([q[..., 0], np.zeros_like(q[..., 0]), q[..., 1]], axis=-1)

    def orientation(self, q: Array) -> Array:
        return planar_orientation(q[..., 2])

    def energy(self, q: Array, v: Array) -> Array:
        m = self.m
        diagonal = np.array([m, m, inertia(m, self.R, self.half), self.m_plate, self.m_plate])
        return 0.5 * (v**2) @ diagonal + m * self.gravity * q[..., 1]

    def solids(self) -> list[Solid | Plane]:
        R, height = self.R, self.half + self.R
        plates = [
            cuboid("plate", (0.15 * R, R, height), (0.15 * side * R, 0.0, 0.0), body)
            for body, side in ((1, -1.0), (2, 1.0))
        ]
        return [capsule("capsule", R, self.half), *plates]

    def poses(self, q: Array) -> tuple[Array, Array]:
        """Poses of capsule and plates; the plates stay at their height."""
        x, height = q[..., [0, 3, 4]], np.full_like(q[..., :2], self.half + self.R)
        z, turned = np.concatenate([q[..., 1:2], height], axis=-1), self.orientation(q)
        return np.stack([x, 0 * x, z], axis=-1), np.concatenate([turned, *2 * [0 * turned + UNTURNED]], axis=-2)

    def contacts(self, q: Array) -> tuple[Array, Array]:
        """Contacts of the capsule's ends, the lower one first, with the left and the right plate."""
        ends = self.points(q, [[0.0, 0.0, -self.half], [0.0, 0.0, self.half]])
        out = np.array([-1.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0])
        axes = [[-x, [0.0, 0.0, 1.0]] for x in out for _ in range(2)]
        return touching(np.concatenate([ends + self.R * x for x in out], axis=-2), axes)

    def annotations(self) -> list[Annotation]:
        R, z = self.R, self.half + self.R
        return [Arrow((3.5 * s * R, 0.0, z), (1.4 * s * R, 0.0, z), "F") for s in (-1.0, 1.0)]

    def truths(self, reference: Any) -> list[Truth]:
        """Creep, and the forces that are unique; where friction does not hold the capsule, the speed of the fall."""
        h, K, source = reference.h, reference.steps, "both plates carry up to 2 mu F"
        plates = np.abs(reference.p_n.reshape(-1, 2, 2).sum(axis=2) / h - self.squeeze)
        carried = self.m * (self.gravity - self.fall)
        friction = reference.p_t.sum(axis=(1, 2)) / h - carried
        scale = 1e-10 * (self.squeeze + self.m * self.gravity)
        speed, creep = -float(reference.states_v[-1, 1]), np.ptp(reference.states_q[:, 1])
        truths = [
            Truth("speed", speed, self.fall * h * K, scale / self.m * h * K, "m/s", source),
            Truth("plates' normal forces", float(plates.max()), 0.0, scale, "N", "F at either plate: deviation"),
            Truth("friction", float(np.abs(friction).max()), 0.0, scale, "N", f"{carried:.4g} N in all: deviation"),
        ]
        if self.fall > 0:
            return truths
        return [Truth("creep", float(creep), 0.0, 1e-12 * self.R, "m", "Coulomb's law sticks"), *truths]


# Positions of the parameters in `data`, for the compiled mechanics.
M_, R_, HALF, PLATE, MU, SQUEEZE, G = PinchedCapsule.places("m", "R", "half", "m_plate", "mu", "squeeze", "gravity")
