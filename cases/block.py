"""A rigid block that slides on a rough floor and comes to rest; it translates and does not rotate.

Coordinates q = (x, y, z) of the centre, velocities their rates; the block rests where z is half its height. Friction
decelerates it by mu g, so that |v| = max(0, v_0 - mu g t). Time stepping gives these speeds exactly at the ends of its
steps. Its sliding distance is their sum: the first-order error is h v_0/2, and the sum is known to round-off.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from workbench.engine.compiling import kernel
from workbench.engine.kernels import set_all
from workbench.mechanics.case import FLOOR, Array, Case, Truth, quantity, touching
from workbench.mechanics.core import FILL, advance_by_rates
from workbench.mechanics.sketch import Annotation, Arrow
from workbench.mechanics.solids import Plane, Solid, cuboid

AT_REST = 1e-9
"""Fraction of the initial speed below which a body counts as stopped: above round-off, far below one step's loss."""


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `Block`."""
    m = data[M_]
    for i in range(3):
        set_all(0.0, core.M[i])
        core.M[i, i] = m
    set_all(0.0, core.f)
    core.f[2] = -m * data[G]
    set_all(0.0, core.J_n[0])
    set_all(0.0, core.J_t[0])
    set_all(0.0, core.J_t[1])
    core.J_n[0, 2] = core.J_t[0, 0] = core.J_t[1, 1] = 1.0
    core.phi[0] = q[2] - 0.5 * data[HEIGHT]
    core.mu[0] = data[MU]
    core.heading[0, 0], core.heading[0, 1] = 1.0, 0.0


@dataclass(frozen=True)
class Block(Case):
    """The simplest sliding motion: one contact, one direction, one constant force."""

    name: ClassVar[str] = "block"
    description: ClassVar[str] = "a block sliding on a rough floor until it rests"
    source: ClassVar[str] = "textbook: uniform deceleration mu g"
    size: ClassVar[tuple[int, int, int, int]] = (3, 0, 1, 2)
    velocities: ClassVar[Mapping[str, tuple[str, str]]] = {
        "x'": ("m/s", "velocity of the centre"),
        "y'": ("m/s", "velocity of the centre"),
        "z'": ("m/s", "velocity of the centre"),
    }
    duration: ClassVar[float] = 0.8
    windows: ClassVar[dict[str, tuple[float, float]]] = {"sliding": (0.0, 0.67)}
    fill: ClassVar[Any] = staticmethod(fill)
    advance: ClassVar[Any] = staticmethod(advance_by_rates)

    m: float = quantity(1.0, "kg", "mass", "positive")
    height: float = quantity(0.2, "m", "height of the block", "positive")
    mu: float = quantity(0.3, "-", "friction coefficient", "nonnegative")
    gravity: float = quantity(9.81, "m/s2", "gravitational acceleration", "positive")
    speed: float = quantity(2.0, "m/s", "initial speed", "positive")
    direction: float = quantity(30.0, "deg", "direction of the initial velocity, from the x axis")

    def start(self) -> tuple[Array, Array]:
        angle = np.radians(self.direction)
        v = self.speed * np.array([np.cos(angle), np.sin(angle), 0.0])
        return np.array([0.0, 0.0, 0.5 * self.height]), v

    def centre(self, q: Array) -> Array:
        return q

    def energy(self, q: Array, v: Array) -> Array:
        return 0.5 * self.m * (v**2).sum(axis=-1) + self.m * self.gravity * q[..., 2]

    def solids(self) -> list[Solid | Plane]:
        return [Plane("floor"), cuboid("block", (self.height, 0.7 * self.height, 0.5 * self.height))]

    def contacts(self, q: Array) -> tuple[Array, Array]:
        return touching(self.points(q, [[0.0, 0.0, -0.5 * self.height]]), FLOOR)

    def annotations(self) -> list[Annotation]:
        x, v = self.start()
        return [Arrow(x, x + 2.5 * self.height * v / self.speed, "v₀")]

    def truths(self, reference: Any) -> list[Truth]:
        """Stopping time and distance, and the distance of the time stepping itself; none where it does not stop.

        The tolerances are bounds: sliding ends within a step, and the time stepping integrates the speed by a rectangle
        rule, whose error with one kink is at most h v_0/2 + mu g h^2/8.
        """
        stopped = np.linalg.norm(reference.u_t[:, 0], axis=-1) <= AT_REST * self.speed
        if self.mu == 0 or not stopped.any():
            return []
        h, slowing, source = reference.h, self.mu * self.gravity, "uniform deceleration mu g"
        stop = h * (np.argmax(stopped) + 1)
        travelled = float(np.linalg.norm(reference.states_q[-1] - reference.states_q[0]))
        stopping, distance = self.speed / slowing, self.speed**2 / (2 * slowing)
        bound = 0.5 * h * self.speed + slowing * h**2 / 8
        found = [
            Truth("stopping time", float(stop), stopping, h, "s", source),
            Truth("stopping distance", travelled, distance, bound, "m", source),
        ]
        if reference.scheme.name not in ("symplectic", "explicit"):
            return found
        stepped = self.stepped_distance(h, reference.scheme.name == "explicit")
        return [
            *found,
            Truth(
                "stopping distance at this step", travelled, stepped, 1e-11 * (distance + bound), "m",
                "sum of the speeds at the ends (explicit update: starts) of the steps",
            ),
        ]  # fmt: skip

    def stepped_distance(self, h: float, explicit: bool) -> float:
        """Distance [m] in which time stepping with step h [s] stops the block, free of round-off; needs mu > 0.

        The block slides through all of the steps k = 1 ... K, K = floor(v_0 / (mu g h)), which end at v_0 - k mu g h;
        the next step ends at rest. The symplectic update moves the block by its speed at the end of each step, the
        explicit one by that at its start, which adds h v_0.
        """
        slowing = self.mu * self.gravity
        K = np.floor(self.speed / (slowing * h))
        return float(h * self.speed * (K + explicit) - 0.5 * slowing * h**2 * K * (K + 1))


# Positions of the parameters in `data`, for the compiled mechanics.
M_, HEIGHT, MU, G = Block.places("m", "height", "mu", "gravity")
