"""The Painlevé-Klein rod: a uniform rod whose tip A slides on a rough floor, and the forces that do not exist.

Coordinates q = (x, z, theta): the tip A and the angle from the floor, counterclockwise; the centre is
G = A + l (cos theta, sin theta), the inertia about it kappa m l^2. With xi = sgn(x'), the scalar LCP

    0 <= lambda_n  perp  a lambda_n + b >= 0,    b = l sin(theta) theta'^2 - g
    a = (1 + cos(theta) (cos(theta) + mu xi sin(theta)) / kappa) / m

has one solution where a > 0; where a < 0 it has none (b < 0) or two (b > 0). Then mu > W_nn / |W_nt|, and the time
stepping does what no force can: one impulse stops the slip within the first step, however small the step. It tends to
p_n = W_nt x' / det W, an impact without collision. Where there are two forces, this impulse is a third answer.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numba import njit

from workbench.case import Array, Case, Truth, quantity
from workbench.errors import DataError
from workbench.kernels import spread
from workbench.sketch import Arrow, Disc, Line, Shape, floor
from workbench.sliding import SlidingSystem, sliding_signs
from workbench.sliding_motion import sliding_motion, steps_sliding
from workbench.stepping import FILL, advance_by_rates

# Positions in `Rod.data()`; the stick threshold comes first.
M_, L_, KAPPA, MU, G = range(1, 6)


@njit(FILL, cache=True)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `Rod`."""
    m, l = data[M_], data[L_]
    c, s = np.cos(q[2]), np.sin(q[2])
    for i in range(2):
        spread(0.0, core.M[i])
        core.M[i, i] = m
    core.M[0, 2] = core.M[2, 0] = -m * l * s
    core.M[1, 2] = core.M[2, 1] = m * l * c
    core.M[2, 2] = (1.0 + data[KAPPA]) * m * l * l
    core.f[0] = m * l * c * v[2] ** 2
    core.f[1] = m * l * s * v[2] ** 2 - m * data[G]
    core.f[2] = -m * data[G] * l * c
    spread(0.0, core.J_n[0])
    spread(0.0, core.J_t[0])
    core.J_n[0, 1] = core.J_t[0, 0] = 1.0
    core.phi[0] = q[1]
    core.mu[0] = data[MU]
    core.heading[0, 0], core.heading[0, 1] = 1.0, 0.0


@dataclass(frozen=True)
class Rod(Case):
    """One contact, one coefficient, and none, one or two forces."""

    name: ClassVar[str] = "rod"
    description: ClassVar[str] = "the Painlevé-Klein rod: its tip slides on a rough floor"
    source: ClassVar[str] = "Painlevé 1895; Génot & Brogliato 1999, Eur. J. Mech. A 18"
    size: ClassVar[tuple[int, int, int, int]] = (3, 0, 1, 1)
    duration: ClassVar[float] = 0.3
    windows: ClassVar[dict[str, tuple[float, float]]] = {"sliding": (0.0, 0.25)}
    fill: ClassVar[Any] = staticmethod(fill)
    advance: ClassVar[Any] = staticmethod(advance_by_rates)

    m: float = quantity(1.0, "kg", "mass", "positive")
    l: float = quantity(1.0, "m", "half length", "positive")
    kappa: float = quantity(1 / 3, "-", "inertia about the centre over m l^2", "positive")
    mu: float = quantity(0.5, "-", "friction coefficient", "nonnegative")
    gravity: float = quantity(9.81, "m/s2", "gravitational acceleration", "positive")
    angle: float = quantity(60.0, "deg", "initial angle of the rod from the floor")
    spin: float = quantity(0.0, "rad/s", "initial rate of the angle")
    speed: float = quantity(-4.0, "m/s", "initial sliding velocity of the tip; negative: away from under the centre")

    def start(self) -> tuple[Array, Array]:
        return np.array([0.0, 0.0, np.radians(self.angle)]), np.array([self.speed, 0.0, self.spin])

    def centre(self, q: Array) -> Array:
        x = q[..., 0] + self.l * np.cos(q[..., 2])
        return np.stack([x, np.zeros_like(x), q[..., 1] + self.l * np.sin(q[..., 2])], axis=-1)

    def energy(self, q: Array, v: Array) -> Array:
        x = v[..., 0] - self.l * np.sin(q[..., 2]) * v[..., 2]
        z = v[..., 1] + self.l * np.cos(q[..., 2]) * v[..., 2]
        height = q[..., 1] + self.l * np.sin(q[..., 2])
        kinetic = 0.5 * (x**2 + z**2 + self.kappa * self.l**2 * v[..., 2] ** 2)
        return self.m * (kinetic + self.gravity * height)

    def sliding_system(self, q: Array, v: Array) -> SlidingSystem:
        """The tip at a state in which it slides, v[0] != 0, written without the time stepping's compiled mechanics."""
        m, l, c, s = self.m, self.l, np.cos(q[2]), np.sin(q[2])
        M = m * np.array([[1, 0, -l * s], [0, 1, l * c], [-l * s, l * c, (1 + self.kappa) * l**2]])
        f = m * np.array([l * c * v[2] ** 2, l * s * v[2] ** 2 - self.gravity, -self.gravity * l * c])
        normal, tangent = np.array([[0.0, 1.0, 0.0]]), np.array([[1.0, 0.0, 0.0]])
        return SlidingSystem(M, f, J_nu=normal, J_tu=tangent, mu_u=self.mu, xi_u=sliding_signs(v[:1]))

    def scalar_lcp(self, q: Array, v: Array) -> tuple[float, float]:
        """(a, b) of the scalar LCP [1/kg, m/s2], in closed form."""
        c, s = np.cos(q[2]), np.sin(q[2])
        a = (1 + c * (c + self.mu * np.sign(v[0]) * s) / self.kappa) / self.m
        return float(a), float(self.l * s * v[2] ** 2 - self.gravity)

    def impulse(self, h: float) -> float:
        """p_n [N s] that brings the tip to rest at the end of a first step of h seconds; h = 0: without the forces."""
        q, v = self.start()
        s = self.sliding_system(q, v)
        J = np.vstack([s.J_nu, s.J_tu])
        free = J @ (v + h * np.linalg.solve(s.M, s.f))
        return float(-np.linalg.solve(J @ np.linalg.solve(s.M, J.T), free)[0])

    def sketch(self) -> list[Shape]:
        tip, top = np.zeros(2), 2 * self.l * np.array([np.cos(np.radians(self.angle)), np.sin(np.radians(self.angle))])
        sense = np.sign(self.speed) * np.array([0.7 * self.l, 0.0])
        ground, centre = floor((-1.5 * self.l, 2 * self.l)), Disc(0.5 * top, 0.04 * self.l)
        return [ground, Line([tip, top]), centre, Arrow(tip, sense, "v")]

    def truths(self, reference: Any) -> list[Truth]:
        """The first step's impulse in every regime, and the angle while the tip slides; none for a tip at rest.

        The first step takes its data at the start, where the normal row is constant: its force is the scalar LCP's to
        round-off at any h. The tolerance of the angle is what it changes in two steps, a measure and no bound.
        """
        if self.speed == 0:
            return []
        q, v = self.start()
        h, (a, b) = reference.h, self.scalar_lcp(q, v)
        force, impact, scalar = reference.p_n[0, 0] / h, "impact without collision", "scalar LCP"
        if a < 0:
            stop, limit = self.impulse(h), self.impulse(0.0)
            if b < 0:
                off = 1.01 * abs(stop - limit) + 1e-9 * abs(limit)
                return [Truth("impulse of the first step", h * force, limit, off, "N s", impact)]
            answers = np.array([0.0, -h * b / a, stop])
            nearest = answers[np.argmin(np.abs(answers - h * force))]
            name = "impulse of the first step, nearest of three"
            return [Truth(name, h * force, float(nearest), 1e-9 * abs(stop), "N s", f"{scalar}, {impact}")]
        steps = steps_sliding(reference, [0])
        if not steps and b < 0:
            return []
        tolerance = 1e-9 * self.m * self.gravity
        first = Truth("normal force in the first step", force, max(0.0, -b / a), tolerance, "N", scalar)
        try:
            end, rate = sliding_motion(self.sliding_system, q, v, h * steps)
        except DataError:
            return [first]
        computed, turned = float(reference.states_q[steps, 2]), h * float(abs(v[2]) + abs(rate[2])) + 1e-9
        return [first, Truth("angle at the end of sliding", computed, float(end[2]), turned, "rad", "sliding motion")]
