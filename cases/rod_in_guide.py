"""A uniform rod with its foot A in a horizontal guide and its head B against a wall: a ladder with a guided foot.

Coordinates q = (x, z, theta): x of B (the wall is x = 0), z of A (the guide is z = 0) and the angle from the guide, so
A = (x - 2 l cos theta, z) and B = (x, z + 2 l sin theta). Both normal directions are coordinates, so that no bias
accelerations arise. The guide constrains the foot on both sides, with friction on both: a bilateral contact with
friction. If the rod rises (spin > 0) with enough friction it jams: sliding forces cease to exist or to be unique.

Time stepping models the guide as a pair of opposing unilateral contacts with zero gap. A rigid pair could carry any
preload, with friction from it; a very small compliance of both sides, u_n + eps p_n >= 0, leaves at most one of them
loaded. The two friction rows are equal too; compliance eps_t separates them without any effect on the sliding forces.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from workbench.builtin.cases.rod import UniformRod, fill_rod, rows
from workbench.engine.compiling import kernel
from workbench.engine.kernels import set_all
from workbench.mechanics.case import Array, Truth, quantity, touching
from workbench.mechanics.core import FILL
from workbench.mechanics.functions import cos, radians, sign, sin
from workbench.mechanics.sketch import Annotation, Arrow
from workbench.mechanics.solids import GROUND, Plane, Solid, cuboid, rod
from workbench.step.sliding.motion import sliding_motion, steps_sliding, unique_multipliers
from workbench.step.sliding.rows import SlidingRows
from workbench.step.sliding.system import Multipliers, SlidingSystem, sliding_signs
from workbench.support.errors import DataError

ABOVE, BELOW, WALL = range(3)
HEAD = -1.0
"""`UniformRod.side` where x is the position of the head."""


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `RodInGuide`."""
    fill_rod(q, v, data[M_], data[L_], data[KAPPA], data[G], HEAD, core)
    l, c, s = data[L_], np.cos(q[2]), np.sin(q[2])
    for i in range(3):
        set_all(0.0, core.J_n[i])
        set_all(0.0, core.J_t[i])
        core.mu[i] = data[MU_WALL] if i == WALL else data[MU_GUIDE]
        core.heading[i, 0], core.heading[i, 1] = 1.0, 0.0
    core.J_n[ABOVE, 1], core.J_n[BELOW, 1], core.J_n[WALL, 0] = 1.0, -1.0, -1.0
    core.phi[ABOVE], core.phi[BELOW], core.phi[WALL] = q[1], -q[1], -q[0]
    for i in (ABOVE, BELOW):
        core.J_t[i, 0], core.J_t[i, 2] = 1.0, 2.0 * l * s
        core.eps_n[i], core.eps_t[i] = data[EPS], data[EPS_T]
    core.J_t[WALL, 1], core.J_t[WALL, 2] = 1.0, 2.0 * l * c


def guided(m: Any, l: Any, kappa: Any, g: Any, c: Any, s: Any, w: Any) -> tuple[list, list, list, list]:
    """M, f, J_n and J_t (guide, wall) in numbers of any kind, of the angle's cosine, sine and squared rate."""
    M, f = rows(m, l, kappa, g, c, s, w)
    M[0][2], M[2][0], f[0] = -M[0][2], -M[2][0], -f[0]
    return M, f, [[0, 1, 0], [-1, 0, 0]], [[1, 0, 2 * l * s], [0, 1, 2 * l * c]]


@dataclass(frozen=True)
class RodInGuide(UniformRod):
    """One bilateral and one unilateral contact, both with friction: the smallest system of hal-01224915."""

    name: ClassVar[str] = "rod-in-guide"
    description: ClassVar[str] = "a rod with its foot in a rough guide and its head on a rough wall"
    source: ClassVar[str] = "after Blumentals, Brogliato & Bertails-Descoubes 2015, hal-01224915"
    size: ClassVar[tuple[int, int, int, int]] = (3, 0, 3, 1)
    velocities: ClassVar[Mapping[str, tuple[str, str]]] = {
        "x'": ("m/s", "velocity of the head along x"),
        "z'": ("m/s", "velocity of the foot along z"),
        "theta'": ("rad/s", "rate of the angle from the guide"),
    }
    side: ClassVar[float] = HEAD
    fill: ClassVar[Any] = staticmethod(fill)

    mu_guide: float = quantity(0.2, "-", "friction coefficient of the guide", "nonnegative")
    mu_wall: float = quantity(0.2, "-", "friction coefficient of the wall", "nonnegative")
    gravity: float = quantity(9.81, "m/s2", "gravitational acceleration", "positive")
    eps: float = quantity(1e-6, "1/kg", "compliance of the guide's two sides, without preload", "positive")
    eps_t: float = quantity(1e-2, "1/kg", "compliance of the guide's two friction rows", "nonnegative")
    angle: float = quantity(60.0, "deg", "initial angle of the rod from the guide")
    spin: float = quantity(-1.0, "rad/s", "initial rate of the angle; negative: the rod comes down")

    def start(self) -> tuple[Array, Array]:
        return np.array([0.0, 0.0, np.radians(self.angle)]), np.array([0.0, 0.0, self.spin])

    def sliding_system(self, q: Array, v: Array) -> SlidingSystem:
        """Sliding system of guide and wall while both slide, written without the time stepping's compiled mechanics."""
        M, f, J_n, J_t = guided(self.m, self.l, self.kappa, self.gravity, np.cos(q[2]), np.sin(q[2]), v[2] ** 2)
        normal, tangent = np.array(J_n, dtype=float), np.array(J_t)
        xi = sliding_signs(tangent @ v)
        return SlidingSystem(
            np.array(M), np.array(f), normal[:1], tangent[:1], self.mu_guide, xi[:1], 0.0,
            normal[1:], tangent[1:], self.mu_wall, xi[1:], 0.0,
        )  # fmt: skip

    def sliding_rows(self, p: Mapping[str, Any]) -> SlidingRows:
        """Guide and wall at the start, over parameters p of any kind."""
        c, s = cos(radians(p["angle"])), sin(radians(p["angle"]))
        data = guided(p["m"], p["l"], p["kappa"], p["gravity"], c, s, p["spin"] * p["spin"])
        # With l > 0 and the foot at rest in x and z, ends slide by 2 l sin(theta) theta' and 2 l cos(theta) theta'.
        return SlidingRows(
            *data, [p["mu_guide"], p["mu_wall"]], [sign(s) * sign(p["spin"]), sign(c) * sign(p["spin"])], 1
        )

    def yielding(self, s: SlidingSystem, lam: Multipliers) -> Array:
        """Change (2,) [N] of the multipliers (guide, wall) by the guide's compliance, to first order in eps."""
        b, pushes = s.blocks, lam.lambda_nb[0] >= 0
        column = (b.A, b.C) if pushes else (b.Abar, b.Cbar)
        if lam.lambda_nu[0] == 0:
            return np.array([-self.eps * lam.lambda_nb[0] / column[0][0, 0], 0.0])
        K = np.block([[column[0], b.B], [column[1], b.D]])
        return np.linalg.solve(K, [-self.eps * lam.lambda_nb[0], 0.0])

    def solids(self) -> list[Solid | Plane]:
        """The guide is the floor and two strips above it beside the foot, which is a point."""
        l, high = self.l, 0.06 * self.l
        strips = [
            cuboid("guide", (1.1 * l, 0.05 * l, 0.25 * high), (-1.2 * l, y, high), GROUND) for y in (-0.1 * l, 0.1 * l)
        ]
        wall = Plane("wall", (-1.0, 0.0, 0.0))
        return [Plane("guide"), wall, *strips, rod("rod", (-l, 0.0, 0.0), (l, 0.0, 0.0), 0.03 * l)]

    def contacts(self, q: Array) -> tuple[Array, Array]:
        """The foot on the guide's lower and upper side, the head on the wall."""
        ends = self.points(q, [[-self.l, 0.0, 0.0], [-self.l, 0.0, 0.0], [self.l, 0.0, 0.0]])
        x, z = [1.0, 0.0, 0.0], np.array([0.0, 0.0, 1.0])
        return touching(ends, [[z, x], [-z, x], [[-1.0, 0.0, 0.0], z]])

    def annotations(self) -> list[Annotation]:
        q = self.start()[0]
        foot, head = self.points(q, [[-self.l, 0.0, 0.0], [self.l, 0.0, 0.0]])
        sense = np.sign(self.spin) * np.array([0.0, 0.0, 0.5 * self.l])
        return [Arrow(head, head + sense, "v"), *self.dimensions(foot)]

    def truths(self, reference: Any) -> list[Truth]:
        """The first step's forces compared with the sliding LCP, where it has one solution, and the angle during
        sliding.

        The forces agree at any h up to the effect of the guide's compliance; the tolerance is twice that. The tolerance
        of the angle is its change in two steps, an estimate and not a bound. No truths where a contact stops sliding.
        """
        steps = steps_sliding(reference, [WALL])
        if self.spin == 0 or not steps:
            return []
        h, (q, v) = reference.h, self.start()
        try:
            system = self.sliding_system(q, v)
            lam = unique_multipliers(system)
            end, rate = sliding_motion(self.sliding_system, q, v, h * steps)
        except DataError:
            return []
        force = reference.p_n[0] / h
        off = 2 * np.abs(self.yielding(system, lam)) + 1e-8 * self.m * self.gravity
        guide, source = float(force[ABOVE] - force[BELOW]), "sliding LCP"
        angle, turned = float(reference.states_q[steps, 2]), h * float(abs(v[2]) + abs(rate[2])) + 1e-9
        return [
            Truth("force of the guide, first step", guide, float(lam.lambda_nb[0]), float(off[0]), "N", source),
            Truth(
                "force of the wall, first step", float(force[WALL]), float(lam.lambda_nu[0]), float(off[1]), "N", source
            ),
            Truth("angle at the end of sliding", angle, float(end[2]), turned, "rad", "sliding motion"),
        ]


# Positions of the parameters in `data`, for the compiled mechanics.
M_, L_, KAPPA, MU_GUIDE, MU_WALL, G, EPS, EPS_T = RodInGuide.places(
    "m", "l", "kappa", "mu_guide", "mu_wall", "gravity", "eps", "eps_t"
)
