"""A disc in a V groove, spinning until friction stops it: two contacts whose normal forces wedge against each other.

Coordinates q = (x, z, phi): centre above the bottom of the groove, and rotation; velocities their rates. The walls
have the angle alpha to the vertical. While the disc spins, friction is +-mu N at both walls:

    N_1 + N_2 = S = m g / ((1 + mu^2) sin alpha),     N_1 - N_2 = mu tan(alpha) S,     I omega' = -mu R S ,

where the first wall is the one that the spin climbs; with mu tan(alpha) >= 1 the disc rolls up that wall. At rest
three equations determine four forces. N_1 = N_2 = N, the frictions are opposite, and N may be any value from
m g / (2 (sin alpha + mu cos alpha)) to m g / (2 (sin alpha - mu cos alpha)): a self-stress, unbounded for
mu >= tan(alpha). Without friction N = m g / (2 sin alpha).
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
from workbench.mechanics.solids import GROUND, Plane, Solid, Y, cylinder, prism

EXACT = 1e-9
"""Relative tolerance of quantities that the time stepping gives to round-off: constant forces, centre at rest."""


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `VGroove`."""
    R, m, alpha = data[R_], data[M_], np.radians(data[ALPHA])
    for i in range(3):
        set_all(0.0, core.M[i])
        core.M[i, i] = m if i < 2 else 0.5 * m * R * R
    set_all(0.0, core.f)
    core.f[1] = -m * data[G]
    for i in range(2):
        n_x, n_z = np.cos(alpha) if i == 0 else -np.cos(alpha), np.sin(alpha)
        core.J_n[i, 0], core.J_n[i, 1], core.J_n[i, 2] = n_x, n_z, 0.0
        core.J_t[i, 0], core.J_t[i, 1], core.J_t[i, 2] = n_z, -n_x, R
        core.phi[i] = n_x * q[0] + n_z * q[1] - R
        core.mu[i] = data[MU]
        core.heading[i, 0], core.heading[i, 1] = 1.0, 0.0


@dataclass(frozen=True)
class VGroove(Case):
    """Self-stress in its simplest form: unique forces while the disc spins, an interval at rest."""

    name: ClassVar[str] = "v-groove"
    description: ClassVar[str] = "a spinning disc braked by both walls of a V groove; at rest the forces are not unique"
    source: ClassVar[str] = "textbook statics; Coulomb's law at two walls"
    size: ClassVar[tuple[int, int, int, int]] = (3, 0, 2, 1)
    velocities: ClassVar[Mapping[str, tuple[str, str]]] = {
        "x'": ("m/s", "velocity of the centre"),
        "z'": ("m/s", "velocity of the centre"),
        "phi'": ("rad/s", "rate of the rotation"),
    }
    duration: ClassVar[float] = 0.5
    windows: ClassVar[dict[str, tuple[float, float]]] = {"sliding": (0.0, 0.36)}
    fill: ClassVar[Any] = staticmethod(fill)
    advance: ClassVar[Any] = staticmethod(advance_by_rates)

    R: float = quantity(0.1, "m", "radius", "positive")
    m: float = quantity(1.0, "kg", "mass", "positive")
    alpha: float = quantity(30.0, "deg", "angle of the walls with the vertical", "positive")
    mu: float = quantity(0.3, "-", "friction coefficient", "nonnegative")
    gravity: float = quantity(9.81, "m/s2", "gravitational acceleration", "positive")
    spin: float = quantity(40.0, "rad/s", "initial angular velocity, anticlockwise")

    def start(self) -> tuple[Array, Array]:
        return np.array([0.0, self.R / np.sin(np.radians(self.alpha)), 0.0]), np.array([0.0, 0.0, self.spin])

    def centre(self, q: Array) -> Array:
        return np.stack([q[..., 0], np.zeros_like(q[..., 0]), q[..., 1]], axis=-1)

    def orientation(self, q: Array) -> Array:
        return planar_orientation(q[..., 2])

    def energy(self, q: Array, v: Array) -> Array:
        kinetic = (v[..., :2] ** 2).sum(axis=-1) + 0.5 * self.R**2 * v[..., 2] ** 2
        return self.m * (0.5 * kinetic + self.gravity * q[..., 1])

    def spinning(self) -> tuple[float, float, float]:
        """N [N] at the left and the right wall, and omega' [rad/s2], during the initial spin."""
        alpha, turn = np.radians(self.alpha), np.sign(self.spin)
        total = self.m * self.gravity / ((1 + self.mu**2) * np.sin(alpha))
        difference = turn * self.mu * np.tan(alpha) * total
        return (total + difference) / 2, (total - difference) / 2, -2 * turn * self.mu * total / (self.m * self.R)

    def at_rest(self) -> tuple[float, float]:
        """Least and largest N [N] of a disc at rest; the largest is infinite where the groove wedges."""
        sin, friction = np.sin(np.radians(self.alpha)), self.mu * np.cos(np.radians(self.alpha))
        half = 0.5 * self.m * self.gravity
        return half / (sin + friction), half / (sin - friction) if sin > friction else np.inf

    def solids(self) -> list[Solid | Plane]:
        alpha, R = np.radians(self.alpha), self.R
        along = 2 * R / np.tan(alpha) + 0.5 * R
        w, z = along * np.sin(alpha), along * np.cos(alpha)
        left, right = [(0.0, 0.0), (-w, z), (-w, 0.0)], [(0.0, 0.0), (w, 0.0), (w, z)]
        walls = [prism("groove", outline, 1.6 * R, body=GROUND) for outline in (left, right)]
        return [*walls, cylinder("disc", R, 0.8 * R, axis=Y)]

    def contacts(self, q: Array) -> tuple[Array, Array]:
        """Contacts with the left and the right wall."""
        x, z = np.cos(np.radians(self.alpha)), np.sin(np.radians(self.alpha))
        axes = np.array([[[x, 0.0, z], [z, 0.0, -x]], [[-x, 0.0, z], [z, 0.0, x]]])
        return touching(self.centre(q)[..., None, :] - self.R * axes[:, 0], axes)

    def annotations(self) -> list[Annotation]:
        x, z = 0.6 * self.R, self.start()[0][1]
        return [Arrow((x, 0.0, z - 0.3 * self.R), (x, 0.0, z + 0.4 * self.R), "ω₀")]

    def truths(self, reference: Any) -> list[Truth]:
        """Forces and deceleration of the spinning disc, its stopping time, and that the forces at rest are in the
        interval.

        None for a disc that climbs a wall, since it leaves the position that these formulas assume.
        """
        climbs = self.spin != 0 and self.mu * np.tan(np.radians(self.alpha)) >= 1
        if climbs or not reference.steps:
            return []
        h, weight = reference.h, self.m * self.gravity
        p_n, omega = reference.p_n / h, reference.states_v[:, 2]
        rests = np.flatnonzero(np.abs(omega[1:]) <= EXACT * (abs(self.spin) + h * self.gravity / self.R))
        truths = []
        if self.spin != 0 and (not rests.size or rests[0] > 0):
            left, right, slowing = self.spinning()
            source = "Coulomb's law at both walls"
            change, inertia = float(omega[1] - omega[0]) / h, 0.5 * self.m * self.R**2
            truths += [
                Truth("normal force on the left, spinning", float(p_n[0, 0]), left, EXACT * weight, "N", source),
                Truth("normal force on the right, spinning", float(p_n[0, 1]), right, EXACT * weight, "N", source),
                Truth("friction moment", inertia * change, inertia * slowing, EXACT * self.R * weight, "N m", source),
            ]
        if rests.size and self.spin != 0:
            stop = h * float(rests[0] + 1)
            truths.append(Truth("end of spinning", stop, self.spin / -self.spinning()[2], h, "s", "uniform braking"))
        if rests.size and np.isfinite(self.at_rest()[1]):
            low, high = self.at_rest()
            for side, N in zip(("left", "right"), p_n[-1], strict=True):
                interval = Truth(f"normal force on the {side}, at rest", float(N), (low + high) / 2, (high - low) / 2 +
                                 EXACT * weight, "N", "interval of self-stress under Coulomb's law")  # fmt: skip
                truths.append(interval)
        return truths


# Positions of the parameters in `data`, for the compiled mechanics.
R_, M_, ALPHA, MU, G = VGroove.places("R", "m", "alpha", "mu", "gravity")
