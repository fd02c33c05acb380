"""The woodpecker toy: a bird on a spring, with a sleeve that jams on a pole, slides down it, and jams again.

After Glocker & Studer 2005, with their linear kinematics and numbers. Coordinates q = (y, phi_M, phi_S): height
of the sleeve, angles of sleeve and bird, anticlockwise; the pole is upright at x = 0, the bird to its right. Contacts
are the beak and the lower and upper edge of the sleeve's bore, all on the pole's right side,

    g_1 = l_M + l_G - l_S - r_O - h_S phi_S,   g_2 = r_M - r_O + h_M phi_M,   g_3 = r_M - r_O - h_M phi_M

    u_1 = y' + l_M phi_M' + (l_G - l_S) phi_S',   u_2 = u_3 = y' + r_M phi_M'.

The beak rebounds, the sleeve does not. In a cycle the lower edge slides, sticks, slides and lifts off, the upper
edge and the beak strike, and the sleeve returns to its lower edge. M, J and the stiffness are constant, so that while
the lower edge slides alone, the angle theta = phi_S - phi_M of the spring satisfies

    theta'' = a + b theta,

with a and b from the equations of y and phi_S and the balance of the sleeve, which gives lambda_n. Friction grows
with the load of the spring, so b is positive for these numbers: the bird does not oscillate while the sleeve slides.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from workbench.engine.compiling import kernel
from workbench.engine.kernels import set_all
from workbench.mechanics.case import Array, Case, Truth, planar_orientation, quantity, touching
from workbench.mechanics.core import FILL, advance_by_rates
from workbench.mechanics.sketch import Annotation, Arrow
from workbench.mechanics.solids import GROUND, Solid, cuboid, cylinder, prism

BEAK, LOWER, UPPER = range(3)


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `Woodpecker`."""
    m, whole, l, b = data[M_S], data[M_S] + data[M_M], data[L_M], data[L_G]
    core.M[0, 0] = whole
    core.M[0, 1] = core.M[1, 0] = m * l
    core.M[0, 2] = core.M[2, 0] = m * b
    core.M[1, 1] = data[J_M] + m * l * l
    core.M[1, 2] = core.M[2, 1] = m * l * b
    core.M[2, 2] = data[J_S] + m * b * b
    turning = data[C_] * (q[2] - q[1])
    core.f[0], core.f[1] = -whole * data[G], turning - m * data[G] * l
    core.f[2] = -turning - m * data[G] * b
    for i in range(3):
        set_all(0.0, core.J_n[i])
        set_all(0.0, core.J_t[i])
        core.J_t[i, 0] = 1.0
        core.mu[i], core.e[i] = data[MU], data[E] if i == BEAK else 0.0
        core.heading[i, 0], core.heading[i, 1] = 1.0, 0.0
    core.J_n[BEAK, 2] = -data[H_S]
    core.J_t[BEAK, 1], core.J_t[BEAK, 2] = l, b - data[L_S]
    core.phi[BEAK] = l + b - data[L_S] - data[R_O] - data[H_S] * q[2]
    for i in (LOWER, UPPER):
        side = 1.0 if i == LOWER else -1.0
        core.J_n[i, 1], core.J_t[i, 1] = side * data[H_M], data[R_M]
        core.phi[i] = data[R_M] - data[R_O] + side * data[H_M] * q[1]


@dataclass(frozen=True)
class Woodpecker(Case):
    """Three contacts that stick, slide, collide and open in turn."""

    name: ClassVar[str] = "woodpecker"
    description: ClassVar[str] = (
        "the woodpecker toy in its limit cycle: a bird on a spring whose sleeve jams and slides on a pole"
    )
    source: ClassVar[str] = "Glocker & Studer 2005, Multibody Syst. Dyn. 13; also an example of Siconos"
    size: ClassVar[tuple[int, int, int, int]] = (3, 0, 3, 1)
    velocities: ClassVar[Mapping[str, tuple[str, str]]] = {
        "y'": ("m/s", "velocity of the sleeve"),
        "phi_M'": ("rad/s", "rate of the sleeve's angle"),
        "phi_S'": ("rad/s", "rate of the bird's angle"),
    }
    duration: ClassVar[float] = 0.3
    windows: ClassVar[dict[str, tuple[float, float]]] = {"sliding": (0.0, 0.02)}
    normal: ClassVar[str] = "moreau"
    fill: ClassVar[Any] = staticmethod(fill)
    advance: ClassVar[Any] = staticmethod(advance_by_rates)

    m_M: float = quantity(0.0003, "kg", "mass of the sleeve", "positive")
    m_S: float = quantity(0.0045, "kg", "mass of the bird", "positive")
    J_M: float = quantity(5.0e-9, "kg m2", "inertia of the sleeve", "positive")
    J_S: float = quantity(7.0e-7, "kg m2", "inertia of the bird", "positive")
    r_O: float = quantity(0.0025, "m", "radius of the pole", "positive")
    r_M: float = quantity(0.0031, "m", "inner radius of the sleeve", "positive")
    h_M: float = quantity(0.0058, "m", "half height of the sleeve", "positive")
    l_M: float = quantity(0.010, "m", "distance of the spring from the pole's axis", "positive")
    l_G: float = quantity(0.015, "m", "distance of the bird's centre from the spring", "positive")
    h_S: float = quantity(0.020, "m", "height of the beak above the bird's centre", "positive")
    l_S: float = quantity(0.0201, "m", "reach of the beak", "positive")
    c: float = quantity(0.0056, "N m/rad", "stiffness of the spring", "positive")
    mu: float = quantity(0.3, "-", "friction coefficient", "nonnegative")
    e: float = quantity(0.5, "-", "restitution of the beak, at most 1", "nonnegative")
    gravity: float = quantity(9.81, "m/s2", "gravitational acceleration", "positive")
    speed: float = quantity(-0.3411, "m/s", "initial velocity of the sleeve, whose lower edge touches the pole")
    lean: float = quantity(-0.2788, "rad", "initial angle of the bird")
    spin: float = quantity(-7.4583, "rad/s", "initial rate of that angle")

    @property
    def tilt(self) -> float:
        """Angle [rad] at which the sleeve touches with its lower edge."""
        return -(self.r_M - self.r_O) / self.h_M

    def start(self) -> tuple[Array, Array]:
        return np.array([0.0, self.tilt, self.lean]), np.array([self.speed, 0.0, self.spin])

    def centre(self, q: Array) -> Array:
        """Centre of the bird."""
        z = q[..., 0] + self.l_M * q[..., 1] + self.l_G * q[..., 2]
        return np.stack([np.full_like(z, self.l_M + self.l_G), np.zeros_like(z), z], axis=-1)

    def orientation(self, q: Array) -> Array:
        """Orientations of sleeve and bird."""
        return np.concatenate([planar_orientation(q[..., 1]), planar_orientation(q[..., 2])], axis=-2)

    def energy(self, q: Array, v: Array) -> Array:
        """Kinetic energy, potential energy (zero at y = 0), and energy of the spring."""
        sleeve = self.m_M * v[..., 0] ** 2 + self.J_M * v[..., 1] ** 2
        rise = v[..., 0] + self.l_M * v[..., 1] + self.l_G * v[..., 2]
        bird = self.m_S * rise**2 + self.J_S * v[..., 2] ** 2
        weights = self.m_M * q[..., 0] + self.m_S * self.centre(q)[..., 2]
        return 0.5 * (sleeve + bird + self.c * (q[..., 2] - q[..., 1]) ** 2) + self.gravity * weights

    def solids(self) -> list[Solid]:
        """The sleeve as its right wall with an arm to the spring, and the bird as its beak and body."""
        wide, reach = 0.3 * self.r_M, self.l_S
        wall = cuboid("sleeve", (0.5 * wide, self.r_M, self.h_M), (self.r_M + 0.5 * wide, 0.0, 0.0))
        bird = prism(
            "bird", [(-reach, self.h_S), (-0.4 * reach, -1.2 * self.h_S), (0.4 * reach, -1.2 * self.h_S),
                     (0.3 * reach, 1.3 * self.h_S)], 2 * self.r_M, body=1,
        )  # fmt: skip
        high = 4 * (self.h_S + self.h_M)
        return [cylinder("pole", self.r_O, high, (0.0, 0.0, -0.1 * high), body=GROUND), wall, bird]

    def poses(self, q: Array) -> tuple[Array, Array]:
        """Poses of sleeve and bird."""
        zero = np.zeros_like(q[..., 0])
        sleeve = np.stack([zero, zero, q[..., 0]], axis=-1)
        return np.stack([sleeve, self.centre(q)], axis=-2), self.orientation(q)

    def contacts(self, q: Array) -> tuple[Array, Array]:
        """Beak, lower and upper edge at small angles, for which the kinematics hold."""
        beak = self.poses(q)[0][..., 1:, :] + [[-self.l_S, 0.0, self.h_S]]
        edges = self.poses(q)[0][..., :1, :] + [[self.r_M, 0.0, -self.h_M], [self.r_M, 0.0, self.h_M]]
        return touching(np.concatenate([beak, edges], axis=-2), [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])

    def annotations(self) -> list[Annotation]:
        z = self.l_M * self.tilt + self.l_G * self.lean
        x = self.l_M + self.l_G + 0.6 * self.l_S
        return [Arrow((x, 0.0, z), (x, 0.0, z + 1.2 * np.sign(self.speed) * self.h_S), "v")]

    def sliding(self, t: float) -> tuple[float, float]:
        """Angle [rad] and rate [rad/s] of the bird after t [s] of uninterrupted sliding on the lower edge."""
        sense, m = -np.sign(self.speed), self.m_S
        # Accelerations of y and phi_S and the normal force: their values at theta = 0 and their slopes in theta.
        A = np.array([
            [m + self.m_M, m * self.l_G, -sense * self.mu],
            [m * self.l_M, m * self.l_M * self.l_G, -self.h_M - sense * self.mu * self.r_M],
            [m * self.l_G, self.J_S + m * self.l_G**2, 0.0],
        ])  # fmt: skip
        weights = -self.gravity * np.array([m + self.m_M, m * self.l_M, m * self.l_G])
        (_, still, _), (_, slope, _) = np.linalg.solve(A, np.column_stack([weights, [0.0, self.c, -self.c]])).T
        middle, root = -still / slope, np.sqrt(complex(slope))
        off, c, s = self.lean - self.tilt - middle, np.cosh(root * t), np.sinh(root * t)
        angle, rate = self.tilt + middle + off * c + self.spin / root * s, self.spin * c + root * off * s
        return float(angle.real), float(rate.real)

    def truths(self, reference: Any) -> list[Truth]:
        """Momentum from weight and friction, and the bird's angle while only the lower edge slides.

        The tolerance of the angle is its change in two steps, an estimate and not a bound.
        """
        h, v = reference.h, reference.states_v[[0, -1]]
        m, weight = self.m_S + self.m_M, (self.m_S + self.m_M) * self.gravity
        momentum = v @ [m, self.m_S * self.l_M, self.m_S * self.l_G]
        rubbed, fallen = float(reference.p_t.sum()), weight * h * reference.steps
        scale = 1e-9 * (fallen + float(np.abs(reference.p_t).sum()))
        left = float(momentum[1] - momentum[0])
        truths = [Truth("momentum", left, rubbed - fallen, scale, "N s", "weight and friction along the pole")]
        pressed, down = reference.p_n > 1e-9 * weight * h, np.sign(self.speed) * reference.u_t[:, LOWER, 0] > self.v_th
        alone = pressed[:, LOWER] & down & ~pressed[:, BEAK] & ~pressed[:, UPPER]
        steps = int(np.argmin(alone)) if not alone.all() else reference.steps
        if not steps:
            return truths
        (angle, rate), computed = self.sliding(h * steps), float(reference.states_q[steps, 2])
        turned = h * (abs(self.spin) + abs(rate)) + 1e-9
        return [*truths, Truth("angle at the end of sliding", computed, angle, turned, "rad", "linear while sliding")]


# Positions of the parameters in `data`, for the compiled mechanics.
M_M, M_S, J_M, J_S, R_O, R_M, H_M, L_M, L_G, H_S, L_S, C_, MU, E, G = Woodpecker.places(
    "m_M", "m_S", "J_M", "J_S", "r_O", "r_M", "h_M", "l_M", "l_G", "h_S", "l_S", "c", "mu", "e", "gravity"
)
