"""A drawer on two pins in one straight slot, with its centre of mass and its handle off the slot: it jams.

Coordinates q = (x, z, phi) of the centre of mass in the horizontal plane of the drawer; the pins are the body's
points (+-L/2, -e), the slot is z = 0. The pull F acts along x at the body's point (0, -d). The slot constrains each pin
on both sides, with friction on both: two bilateral contacts with friction, sliding in the same direction, xi = sgn(x').
Let lambda = lambda_1 = -lambda_2 be the couple of the pins and r_g the radius of gyration; friction is 2 mu |lambda|:

    L lambda + d F - 2 e xi mu |lambda| = 0.

M_mu is a P-matrix iff mu < mu_c = L / (2 e), whatever the mass and inertia; beyond, there are two couples or none,
depending on the sign of xi d F. A is positive definite iff mu < 2 r_g / e; its determinant does not depend on mu; and
mu_max_b = min(2 r_g^2, L^2/2) / (L e). Statically, the drawer is self-locking at mu = L / (2 (e - d)).

Time stepping models each pin as a pair of opposing unilateral contacts, as in `cases.rod_in_guide`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from workbench.engine.compiling import kernel
from workbench.engine.kernels import set_all
from workbench.mechanics.case import Array, Case, Truth, planar_orientation, quantity, touching
from workbench.mechanics.core import FILL, advance_by_rates
from workbench.mechanics.sketch import Annotation, Arrow, Disc
from workbench.mechanics.solids import GROUND, Plane, Solid, cuboid, cylinder
from workbench.step.sliding.exact import ExactSliding, exact_rows
from workbench.step.sliding.motion import steps_sliding, unique_multipliers
from workbench.step.sliding.system import Multipliers, SlidingSystem, sliding_signs
from workbench.support.errors import DataError


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `Drawer`."""
    m, half, e = data[M_], 0.5 * data[LENGTH], data[OFFSET]
    c, s = np.cos(q[2]), np.sin(q[2])
    for i in range(3):
        set_all(0.0, core.M[i])
        core.M[i, i] = m
    core.M[2, 2] = m * data[RADIUS] ** 2
    core.f[0], core.f[1], core.f[2] = data[PULL], 0.0, data[PULL] * data[HANDLE] * c
    for i in range(4):
        set_all(0.0, core.J_n[i])
        set_all(0.0, core.J_t[i])
        along, side = (half if i < 2 else -half), (1.0 if i % 2 == 0 else -1.0)
        core.J_n[i, 1], core.J_n[i, 2] = side, side * (along * c + e * s)
        core.J_t[i, 0], core.J_t[i, 2] = 1.0, e * c - along * s
        core.phi[i] = side * (q[1] + along * s - e * c)
        core.mu[i] = data[MU]
        core.eps_n[i], core.eps_t[i] = data[EPS], data[EPS_T]
        core.heading[i, 0], core.heading[i, 1] = 1.0, 0.0


@dataclass(frozen=True)
class Drawer(Case):
    """Two bilateral contacts with friction: textbook jamming, and Painlevé's paradox beyond it."""

    name: ClassVar[str] = "drawer"
    description: ClassVar[str] = "a drawer on two pins in a rough slot, pulled off its centre: it jams"
    source: ClassVar[str] = "textbook: self-locking at mu = L / (2 e)"
    size: ClassVar[tuple[int, int, int, int]] = (3, 0, 4, 1)
    velocities: ClassVar[Mapping[str, tuple[str, str]]] = {
        "x'": ("m/s", "velocity of the centre of mass"),
        "z'": ("m/s", "velocity of the centre of mass"),
        "phi'": ("rad/s", "rate of the rotation"),
    }
    duration: ClassVar[float] = 0.3
    windows: ClassVar[dict[str, tuple[float, float]]] = {"sliding": (0.0, 0.25)}
    aliases: ClassVar[Mapping[str, str]] = {"L": "length", "e": "offset", "d": "handle", "F": "pull"}
    fill: ClassVar[Any] = staticmethod(fill)
    advance: ClassVar[Any] = staticmethod(advance_by_rates)

    m: float = quantity(2.0, "kg", "mass", "positive")
    radius: float = quantity(0.15, "m", "radius of gyration about the centre of mass", "positive")
    length: float = quantity(0.4, "m", "distance L of the pins", "positive")
    offset: float = quantity(0.3, "m", "distance e of the centre of mass from the slot", "nonnegative")
    mu: float = quantity(0.2, "-", "friction coefficient of both pins", "nonnegative")
    pull: float = quantity(10.0, "N", "force F along the slot")
    handle: float = quantity(-0.1, "m", "offset d of the pull from the centre towards the slot")
    eps: float = quantity(1e-6, "1/kg", "compliance of a pin's two sides, without preload", "positive")
    eps_t: float = quantity(1e-2, "1/kg", "compliance of a pin's two friction rows", "nonnegative")
    speed: float = quantity(0.5, "m/s", "initial speed")

    def start(self) -> tuple[Array, Array]:
        return np.array([0.0, self.offset, 0.0]), np.array([self.speed, 0.0, 0.0])

    def centre(self, q: Array) -> Array:
        return np.stack([q[..., 0], q[..., 1], np.zeros_like(q[..., 0])], axis=-1)

    def orientation(self, q: Array) -> Array:
        return planar_orientation(q[..., 2], (0.0, 0.0, 1.0))

    def energy(self, q: Array, v: Array) -> Array:
        kinetic = 0.5 * self.m * (v[..., 0] ** 2 + v[..., 1] ** 2 + self.radius**2 * v[..., 2] ** 2)
        return kinetic - self.pull * (q[..., 0] + self.handle * np.sin(q[..., 2]))

    @property
    def critical(self) -> float:
        """mu_c = L / (2 e); inf if the centre of mass lies on the slot."""
        return 0.5 * self.length / self.offset if self.offset else np.inf

    def sliding_system(self, q: Array, v: Array) -> SlidingSystem:
        """The sliding system of the pins where both slide, written without the time stepping's compiled mechanics."""
        c, s, e = np.cos(q[2]), np.sin(q[2]), self.offset
        along = 0.5 * self.length * np.array([1.0, -1.0])
        zero, one = np.zeros(2), np.ones(2)
        normal = np.column_stack([zero, one, along * c + e * s])
        tangent = np.column_stack([one, zero, e * c - along * s])
        bias = v[2] ** 2 * (e * c - along * s)
        M = np.diag([self.m, self.m, self.m * self.radius**2])
        f = self.pull * np.array([1.0, 0.0, self.handle * c])
        return SlidingSystem(M, f, normal, tangent, self.mu, sliding_signs(tangent @ v), bias)

    def exact_sliding(self, given: Mapping[str, Fraction]) -> ExactSliding:
        """The sliding system of the pins at the start, in rational numbers."""
        p = self.rationals(given)
        inertia, half, e = p["m"] * p["radius"] ** 2, p["length"] / 2, p["offset"]
        M = [[p["m"], 0, 0], [0, p["m"], 0], [0, 0, inertia]]
        xi = int(sliding_signs(np.array([self.speed]))[0])
        normal, tangent = [[0, 1, half], [0, 1, -half]], [[1, 0, e]] * 2
        return exact_rows(M, [p["pull"], 0, p["pull"] * p["handle"]], normal, tangent, [p["mu"]] * 2, [xi] * 2, 2)

    def yielding(self, s: SlidingSystem, lam: Multipliers) -> Array:
        """Change (2,) [N] of the pins' forces by their compliance, to first order in eps."""
        K = np.where(lam.lambda_nb >= 0, s.blocks.A, s.blocks.Abar)
        return np.asarray(np.linalg.solve(K, -self.eps * lam.lambda_nb), dtype=float)

    def solids(self) -> list[Solid | Plane]:
        """A plate over the slot and its two pins, from above. The pins, points in theory, are drawn with a radius."""
        a, e, r = 0.5 * self.length, self.offset, 0.06 * self.length
        top = max(e, e - self.handle) + 0.3 * self.length
        plate = cuboid("drawer", (1.3 * a, 0.5 * top - 0.75 * r, r), (0.0, 0.5 * top + 0.75 * r - e, 1.5 * r))
        legs = [cuboid("leg", (0.3 * r, 0.75 * r, 0.5 * r), (x, 0.75 * r - e, r)) for x in (a, -a)]
        pins = [cylinder("pin", r, 3.5 * r, (x, -e, 0.0)) for x in (a, -a)]
        rails = [cuboid("slot", (2.5 * a, r, r), (0.5 * a, y, -r), GROUND) for y in (-2 * r, 2 * r)]
        return [*rails, plate, *legs, *pins]

    def contacts(self, q: Array) -> tuple[Array, Array]:
        """The front pin on the slot's lower and upper side, then the rear pin."""
        a, e = 0.5 * self.length, self.offset
        axes = [[[0.0, side, 0.0], [1.0, 0.0, 0.0]] for side in (1.0, -1.0, 1.0, -1.0)]
        return touching(self.points(q, [[x, -e, 0.0] for x in (a, a, -a, -a)]), axes)

    def annotations(self) -> list[Annotation]:
        y, r = self.offset - self.handle, 0.06 * self.length
        sense = 0.6 * self.length * (np.sign(self.pull) or 1.0)
        return [Disc((0.0, self.offset, 0.0), 0.6 * r), Arrow((0.0, y, 0.0), (sense, y, 0.0), "F")]

    def truths(self, reference: Any) -> list[Truth]:
        """Pin forces in the first step compared with the sliding LCP, and the speed while the drawer slides.

        The tolerance of the forces is twice the effect of the pins' compliance. No truths where sliding does not
        continue.
        """
        steps = steps_sliding(reference, [])
        if self.speed == 0 or not steps:
            return []
        try:
            s = self.sliding_system(*self.start())
            lam = unique_multipliers(s)
        except DataError:
            return []
        h, off = reference.h, 2 * np.abs(self.yielding(s, lam)) + 1e-8 * abs(self.pull)
        force = (reference.p_n[0, 0::2] - reference.p_n[0, 1::2]) / h
        found, source = lam.lambda_nb, "sliding LCP"
        t, slowed = h * steps, self.mu * float(off.sum()) / self.m
        speed = self.speed + t * float(s.acceleration(lam)[0])
        computed = float(reference.states_v[steps, 0])
        return [
            Truth("force of the front pin, first step", float(force[0]), float(found[0]), float(off[0]), "N", source),
            Truth("force of the rear pin, first step", float(force[1]), float(found[1]), float(off[1]), "N", source),
            Truth("speed at the end of sliding", computed, speed, t * slowed + 1e-9 * abs(speed), "m/s", source),
        ]


# Positions of the parameters in `data`, for the compiled mechanics.
M_, RADIUS, LENGTH, OFFSET, MU, PULL, HANDLE, EPS, EPS_T = Drawer.places(
    "m", "radius", "length", "offset", "mu", "pull", "handle", "eps", "eps_t"
)
