"""The Painlevé-Klein rod: a uniform rod with its tip A sliding on a rough floor, where contact forces may not exist.

Coordinates q = (x, z, theta): the tip A and the angle from the floor, counterclockwise; the centre is
G = A + l (cos theta, sin theta), the inertia about it kappa m l^2. With xi = sgn(x'), the scalar LCP

    0 <= lambda_n  perp  a lambda_n + b >= 0,    b = l sin(theta) theta'^2 - g
    a = (1 + cos(theta) (cos(theta) + mu xi sin(theta)) / kappa) / m

has one solution if a > 0; if a < 0 it has none (b < 0) or two (b > 0). In the latter case mu > W_nn / |W_nt|, and
time stepping returns an impulse where no force exists: it stops the slip within the first step, however small the step.
It tends to p_n = W_nt x' / det W, an impact without collision. Where there are two forces, this impulse is a third
solution.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import Any, ClassVar

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR, set_all
from workbench.mechanics.case import FLOOR, Array, Case, Truth, planar_orientation, quantity, touching
from workbench.mechanics.core import CORE, FILL, advance_by_rates
from workbench.mechanics.functions import cos, radians, sign, sin, sqrt
from workbench.mechanics.sketch import Annotation, Arrow, Disc, Line
from workbench.mechanics.solids import Plane, Solid, rod
from workbench.step.sliding.exact import ExactSliding, exact_rows
from workbench.step.sliding.motion import sliding_motion, steps_sliding
from workbench.step.sliding.rows import SlidingRows
from workbench.step.sliding.system import SlidingSystem, sliding_signs
from workbench.support.errors import DataError

NUMBER = types.float64
FOOT = 1.0
"""`UniformRod.side` where x is the position of the foot."""


@kernel(types.void(VECTOR, VECTOR, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, CORE))
def fill_rod(q, v, m, l, kappa, g, side, core):
    """Fill in mass matrix and forces of a `UniformRod` at (q, v)."""
    c, s = np.cos(q[2]), np.sin(q[2])
    for i in range(2):
        set_all(0.0, core.M[i])
        core.M[i, i] = m
    core.M[0, 2] = core.M[2, 0] = -side * m * l * s
    core.M[1, 2] = core.M[2, 1] = m * l * c
    core.M[2, 2] = (1.0 + kappa) * m * l * l
    core.f[0] = side * m * l * c * v[2] ** 2
    core.f[1] = m * l * s * v[2] ** 2 - m * g
    core.f[2] = -m * g * l * c


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `Rod`."""
    fill_rod(q, v, data[M_], data[L_], data[KAPPA], data[G], FOOT, core)
    set_all(0.0, core.J_n[0])
    set_all(0.0, core.J_t[0])
    core.J_n[0, 1] = core.J_t[0, 0] = 1.0
    core.phi[0] = q[1]
    core.mu[0] = data[MU]
    core.heading[0, 0], core.heading[0, 1] = 1.0, 0.0


def rows(m: Any, l: Any, kappa: Any, g: Any, c: Any, s: Any, w: Any, square: Any = 1) -> tuple[list, list]:
    """Mass matrix and forces of a rod on its foot in numbers of any type, for the rates of x, z and theta / k.

    (c, s) = k (cos theta, sin theta), w = theta'^2 / k, square = k^2: with k = 1/|cos theta| all is rational if
    tan theta is. For a rod whose x is the position of its head, the first row and column change sign.
    """
    M = [[m, 0, -m * l * s], [0, m, m * l * c], [-m * l * s, m * l * c, (1 + kappa) * m * l * l * square]]
    return M, [m * l * c * w, m * (l * s * w - g), -m * g * l * c]


DIRECTIONS: dict[float, tuple[int, int]] = {0: (1, 0), 45: (1, 1), 90: (0, 1), 135: (-1, 1), 180: (-1, 0)}
"""Multiples of (cos, sin) in whole numbers, at the only angles in degrees up to 180 where they exist (Niven)."""
DIGITS = 40
"""Decimals of the rational that replaces an irrational theta'^2 sin(theta): enough to compare it with g."""


def _root(x: Fraction) -> Fraction:
    """sqrt(x), exact where it is rational, otherwise to `DIGITS` decimals."""
    p, q = isqrt(x.numerator), isqrt(x.denominator)
    if (p * p, q * q) == (x.numerator, x.denominator):
        return Fraction(p, q)
    return Fraction(isqrt(x.numerator * x.denominator * 100**DIGITS), x.denominator * 10**DIGITS)


@dataclass(frozen=True)
class UniformRod(Case):
    """A rod in the plane: q = (x, z, theta), the height z of its foot, the angle theta from the floor, and the position
    x of the foot (`side` = 1) or of the head (-1). The centre is l along the rod; subclasses have a parameter
    `gravity`."""

    side: ClassVar[float] = FOOT
    duration: ClassVar[float] = 0.3
    windows: ClassVar[dict[str, tuple[float, float]]] = {"sliding": (0.0, 0.25)}
    aliases: ClassVar[Mapping[str, str]] = {"theta": "angle", "thetadot": "spin", "g": "gravity"}
    advance: ClassVar[Any] = staticmethod(advance_by_rates)

    m: float = quantity(1.0, "kg", "mass", "positive")
    l: float = quantity(1.0, "m", "half length", "positive")
    kappa: float = quantity(1 / 3, "-", "inertia about the centre over m l^2", "positive")

    def centre(self, q: Array) -> Array:
        x = q[..., 0] + self.side * self.l * np.cos(q[..., 2])
        return np.stack([x, np.zeros_like(x), q[..., 1] + self.l * np.sin(q[..., 2])], axis=-1)

    def orientation(self, q: Array) -> Array:
        return planar_orientation(q[..., 2])

    def energy(self, q: Array, v: Array) -> Array:
        x = v[..., 0] - self.side * self.l * np.sin(q[..., 2]) * v[..., 2]
        z = v[..., 1] + self.l * np.cos(q[..., 2]) * v[..., 2]
        height = q[..., 1] + self.l * np.sin(q[..., 2])
        kinetic = 0.5 * (x**2 + z**2 + self.kappa * self.l**2 * v[..., 2] ** 2)
        return self.m * (kinetic + self.gravity * height)  # type: ignore[attr-defined]

    def dimensions(self, foot: Array) -> list[Annotation]:
        """Angle, half length and mass at the start, for the sketch; `foot` (3,) [m] is the rod's lower end."""
        angle = self.start()[0][2]
        turn, along = np.linspace(0.0, angle, 21)[:, None], np.array([np.cos(angle), 0.0, np.sin(angle)])
        arc = foot + 0.6 * self.l * np.hstack([np.cos(turn), 0.0 * turn, np.sin(turn)])
        centre, aside = foot + self.l * along, 0.25 * self.l * np.array([-along[2], 0.0, along[0]])
        return [
            Line(arc, f"{np.degrees(angle):.4g}°"),
            Line([centre + aside, centre + aside + self.l * along], f"{self.l:g} m"),
            Disc(centre, 0.06 * self.l, f"{self.m:g} kg"),
        ]


@dataclass(frozen=True)
class Rod(UniformRod):
    """One contact, one friction coefficient, and zero, one or two forces.

    Parameters may also be set by the names theta, thetadot, g; by `tan_theta`; by xi = +-1, the sign of `speed`; and by
    b [m/s2], the constant of the scalar LCP, which sets the spin.
    """

    name: ClassVar[str] = "rod"
    description: ClassVar[str] = "the Painlevé-Klein rod: its tip slides on a rough floor"
    source: ClassVar[str] = "Painlevé 1895; Génot & Brogliato 1999, Eur. J. Mech. A 18"
    size: ClassVar[tuple[int, int, int, int]] = (3, 0, 1, 1)
    velocities: ClassVar[Mapping[str, tuple[str, str]]] = {
        "x'": ("m/s", "velocity of the tip"),
        "z'": ("m/s", "velocity of the tip"),
        "theta'": ("rad/s", "rate of the angle from the floor"),
    }
    fill: ClassVar[Any] = staticmethod(fill)

    mu: float = quantity(0.5, "-", "friction coefficient", "nonnegative")
    gravity: float = quantity(9.81, "m/s2", "gravitational acceleration", "positive")
    angle: float = quantity(60.0, "deg", "initial angle of the rod from the floor")
    spin: float = quantity(0.0, "rad/s", "initial rate of the angle")
    speed: float = quantity(-4.0, "m/s", "initial sliding velocity of the tip; negative: away from under the centre")

    def start(self) -> tuple[Array, Array]:
        return np.array([0.0, 0.0, np.radians(self.angle)]), np.array([self.speed, 0.0, self.spin])

    def sliding_system(self, q: Array, v: Array) -> SlidingSystem:
        """The sliding system of the tip, v[0] != 0, written without the time stepping's compiled mechanics."""
        M, f = rows(self.m, self.l, self.kappa, self.gravity, np.cos(q[2]), np.sin(q[2]), v[2] ** 2)
        normal, tangent = np.array([[0.0, 1.0, 0.0]]), np.array([[1.0, 0.0, 0.0]])
        return SlidingSystem(
            np.array(M), np.array(f), J_nu=normal, J_tu=tangent, mu_u=self.mu, xi_u=sliding_signs(v[:1])
        )

    def with_parameters(self, **values: float) -> "Rod":
        """The same rod with other parameters, also tan_theta, xi and b; DataError where they are impossible."""
        values = {self.aliases.get(key, key): value for key, value in values.items()}
        derived = {key: values.pop(key) for key in ("tan_theta", "xi", "b") if key in values}
        for key, own in (("tan_theta", "angle"), ("xi", "speed"), ("b", "spin")):
            if key in derived and own in values and key != "xi":
                raise DataError(f"rod: {key} and {own} are both given; {key} sets {own}")
        if "tan_theta" in derived:
            values["angle"] = float(np.degrees(np.arctan(derived["tan_theta"])))
        if "xi" in derived:
            if abs(derived["xi"]) != 1:
                raise DataError(f"rod: xi = {derived['xi']:g}; the sign of the sliding velocity is +1 or -1")
            values["speed"] = derived["xi"] * abs(values.get("speed", self.speed))
        changed = super().with_parameters(**values)
        assert isinstance(changed, Rod)
        if "b" in derived:
            return replace(changed, spin=float(np.sqrt(changed.centrifugal(derived["b"]))))
        return changed

    def centrifugal(self, b: float) -> float:
        """theta'^2 [1/s2] for which the constant of the scalar LCP is b [m/s2]; DataError where there is none."""
        lever = self.l * np.sin(np.radians(self.angle))
        if lever == 0 or (b + self.gravity) / lever < 0:
            raise DataError(f"rod: b = {b:g}; l sin(theta) thetadot^2 - g takes no such value at this angle")
        return float((b + self.gravity) / lever)

    def sliding_rows(self, p: Mapping[str, Any]) -> SlidingRows:
        """The tip at the start, over parameters p of any kind; also by tan_theta, xi and b."""
        if "tan_theta" in p:
            c = 1 / sqrt(1 + p["tan_theta"] * p["tan_theta"])
            s = p["tan_theta"] * c
        else:
            c, s = cos(radians(p["angle"])), sin(radians(p["angle"]))
        w = (p["b"] + p["gravity"]) / (p["l"] * s) if "b" in p else p["spin"] * p["spin"]
        M, f = rows(p["m"], p["l"], p["kappa"], p["gravity"], c, s, w)
        return SlidingRows(M, f, [[0, 1, 0]], [[1, 0, 0]], [p["mu"]], [sign(p["xi" if "xi" in p else "speed"])])

    def exact_sliding(self, given: Mapping[str, Fraction]) -> ExactSliding | None:
        """The sliding system of the tip at the start in rational numbers; None where tan theta is irrational."""
        p = self.rationals(given)
        c, s = (1, p["tan_theta"]) if "tan_theta" in p else DIRECTIONS.get(self.angle % 360, (0, 0))
        if c == s == 0:
            return None
        w = p["spin"] ** 2 / _root(Fraction(c * c + s * s))
        if "b" in p:
            # It exists: this was checked when b set the spin.
            w = (p["b"] + p["gravity"]) / (p["l"] * s)
        M, f = rows(p["m"], p["l"], p["kappa"], p["gravity"], c, s, w, c * c + s * s)
        return exact_rows(M, f, [[0, 1, 0]], [[1, 0, 0]], [p["mu"]], [int(np.sign(self.speed))], 0)

    def scalar_lcp(self, q: Array, v: Array) -> tuple[float, float]:
        """Closed form of (a, b) of the scalar LCP [1/kg, m/s2]."""
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

    def solids(self) -> list[Solid | Plane]:
        return [Plane("floor"), rod("rod", (-self.l, 0.0, 0.0), (self.l, 0.0, 0.0), 0.03 * self.l)]

    def contacts(self, q: Array) -> tuple[Array, Array]:
        return touching(self.points(q, [[-self.l, 0.0, 0.0]]), FLOOR[:2])

    def annotations(self) -> list[Annotation]:
        sense = np.sign(self.speed) * np.array([0.7 * self.l, 0.0, 0.0])
        return [Arrow(np.zeros(3), sense, "v"), *self.dimensions(np.zeros(3))]

    def truths(self, reference: Any) -> list[Truth]:
        """The first step's impulse in every regime, and the angle while the tip slides; none for a tip at rest.

        The first step uses the data at the start, where the normal row is constant: its force is that of the scalar LCP
        to round-off at any h. The tolerance of the angle is its change in two steps, an estimate and not a bound.
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


# Positions of the parameters in `data`, for the compiled mechanics.
M_, L_, KAPPA, MU, G = Rod.places("m", "l", "kappa", "mu", "gravity")
