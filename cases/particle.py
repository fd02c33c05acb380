"""A particle thrown onto a rough plane: free flight, impact without rebound, sliding, rest. The planar case (d = 1).

Coordinates q = (x, z), velocities their rates; u_n = z', u_t = x'. The impact removes the approach speed |u_n-| and, by
Coulomb's law for impulses, mu |u_n-| of the sliding speed, or all of it if it is smaller.

The gap law spreads the impact over two steps: the first ends on the plane, the second at rest on it. The normal
impulses up to any later time then add up to those of the fall and the weight, so that from there on the time stepping
gives the sliding speeds of the continuous motion exactly. The velocity-level law treats every contact as closed, which
keeps a particle in flight from falling, so it does not suit this case. Nor does the explicit position update with the
gap law: it moves on at the old velocity and rebounds from its own penetration.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from workbench.engine.compiling import kernel
from workbench.engine.kernels import set_all
from workbench.mechanics.case import FLOOR, Array, Case, Truth, quantity, touching
from workbench.mechanics.core import FILL, advance_by_rates
from workbench.mechanics.sketch import Annotation, Arrow, Line
from workbench.mechanics.solids import Plane, Solid, ball

AT_REST = 1e-9
"""Fraction of the initial speed below which the particle counts as stopped: above round-off, below a step's loss."""


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `Particle`."""
    m = data[M_]
    for i in range(2):
        set_all(0.0, core.M[i])
        core.M[i, i] = m
    core.f[0], core.f[1] = 0.0, -m * data[G]
    core.J_n[0, 0], core.J_n[0, 1] = 0.0, 1.0
    core.J_t[0, 0], core.J_t[0, 1] = 1.0, 0.0
    core.phi[0] = q[1]
    core.mu[0] = data[MU]
    core.heading[0, 0], core.heading[0, 1] = 1.0, 0.0


@dataclass(frozen=True)
class Particle(Case):
    """A frictional impact with a closed form."""

    name: ClassVar[str] = "particle"
    description: ClassVar[str] = "a particle thrown onto a rough plane: flight, impact, sliding, rest"
    source: ClassVar[str] = "textbook; Moreau 1988, inelastic impact under Coulomb's law for impulses"
    size: ClassVar[tuple[int, int, int, int]] = (2, 0, 1, 1)
    velocities: ClassVar[Mapping[str, tuple[str, str]]] = {
        "x'": ("m/s", "velocity of the particle"),
        "z'": ("m/s", "velocity of the particle"),
    }
    duration: ClassVar[float] = 1.3
    windows: ClassVar[dict[str, tuple[float, float]]] = {"sliding": (0.45, 1.11)}
    fill: ClassVar[Any] = staticmethod(fill)
    advance: ClassVar[Any] = staticmethod(advance_by_rates)

    m: float = quantity(1.0, "kg", "mass", "positive")
    mu: float = quantity(0.3, "-", "friction coefficient", "nonnegative")
    gravity: float = quantity(9.81, "m/s2", "gravitational acceleration", "positive")
    height: float = quantity(0.5, "m", "initial height", "positive")
    speed: float = quantity(3.0, "m/s", "initial xdot")
    climb: float = quantity(1.0, "m/s", "initial zdot")

    def start(self) -> tuple[Array, Array]:
        return np.array([0.0, self.height]), np.array([self.speed, self.climb])

    def centre(self, q: Array) -> Array:
        return np.stack([q[..., 0], np.zeros_like(q[..., 0]), q[..., 1]], axis=-1)

    def energy(self, q: Array, v: Array) -> Array:
        return self.m * (0.5 * (v**2).sum(axis=-1) + self.gravity * q[..., -1])

    def along(self, x: Array) -> Array:
        """The component along the throw (...) of coordinates or sliding velocities (..., at least d)."""
        return x[..., 0]

    def impact(self) -> tuple[float, float, float]:
        """Time [s] of the impact, approach speed |u_n-| and sliding velocity u_t+ after it [m/s]."""
        approach = np.sqrt(self.climb**2 + 2 * self.gravity * self.height)
        after = np.sign(self.speed) * max(0.0, abs(self.speed) - self.mu * approach)
        return float((self.climb + approach) / self.gravity), float(approach), float(after)

    def solids(self) -> list[Solid | Plane]:
        """The particle as a ball above the contact point."""
        radius = 0.04 * self.height
        return [Plane("plane"), ball("particle", radius, (0.0, 0.0, radius))]

    def contacts(self, q: Array) -> tuple[Array, Array]:
        return touching(self.centre(q)[..., None, :], FLOOR[: 1 + self.size[3]])

    def annotations(self) -> list[Annotation]:
        q, v = self.start()
        x, change = self.centre(np.array([q, q + 0.1 * self.height * v]))
        return [Line([x, x * [1.0, 1.0, 0.0]]), Arrow(x, change, "v₀")]

    def truths(self, reference: Any) -> list[Truth]:
        """The impact, the velocity after it, and where sliding ends; only what the run reaches and what mu > 0 defines.

        The tolerances are bounds for the symplectic update and the gap law: its parabola reaches the plane less than a
        step before the true one, the impact lasts until the end of the next step, and the rest is a rectangle rule.
        """
        closed = np.flatnonzero(reference.p_n[:, 0] > 0)
        if not closed.size or closed[0] + 1 >= reference.steps:
            return []
        first, h, slowing = closed[0], reference.h, self.mu * self.gravity
        time, _, after = self.impact()
        impulsive, sliding = "Coulomb's law for impulses, no rebound", "uniform deceleration mu g"
        slip, x = self.along(reference.u_t[:, 0]), self.along(reference.states_q)
        found, bound = float(slip[first + 1]), 2 * h * slowing + 1e-11 * abs(self.speed)
        truths = [
            Truth("time of impact", float(h * (first + 1)), time, h, "s", "parabola"),
            Truth("sliding velocity after impact", found, after, bound, "m/s", impulsive),
        ]
        rests = np.abs(slip[first:]) <= AT_REST * abs(self.speed)
        if slowing == 0 or after == 0 or not rests.any():
            return truths
        stop = h * (first + np.argmax(rests) + 1)
        slid = float(abs(x[-1] - x[first + 1]))
        distance, bound = after**2 / (2 * slowing), 1.5 * h * abs(after) + 1.2 * slowing * h**2
        return [
            *truths,
            Truth("end of sliding", float(stop), time + abs(after) / slowing, 2 * h, "s", sliding),
            Truth("sliding distance", slid, distance, bound, "m", sliding),
        ]


# Positions of the parameters in `data`, for the compiled mechanics.
M_, MU, G = Particle.places("m", "mu", "gravity")
