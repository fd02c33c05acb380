"""A table on four legs on a slowly tilted plane: it holds up to tan(angle) = mu_s, and then slides with mu.

One rigid body with the coordinates and velocities of `bodies`, in the axes of the plane: the plane stays at z = 0
and gravity rotates, g (sin a, 0, -cos a) with a = angle + rate t, where t is the last coordinate. Rate 0 is a plane of
fixed angle. At the angle a the component of gravity along the plane is g sin a, and the sliding acceleration is

    x'' = g (sin a - mu cos a) .

The table tips instead if the moment of friction exceeds that of the lower legs, mu_s > length / (2 height).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from workbench.engine.compiling import kernel
from workbench.mechanics.bodies import RigidBodies, fill_body, fill_feet, place
from workbench.mechanics.case import Array, Truth, quantity
from workbench.mechanics.core import FILL
from workbench.mechanics.sketch import Annotation, Arrow
from workbench.mechanics.solids import Plane, Solid, cuboid

HOLDS = 1e-9
"""Speed [m/s] below which the table counts as held, tolerance of exact values: above round-off, below a step."""


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `Table`."""
    m, a, b, c = data[M_], 0.5 * data[LENGTH], 0.5 * data[WIDTH], data[HEIGHT]
    fill_body(core, v, 0, m, m * b * b / 3, m * a * a / 3, m * (a * a + b * b) / 3, 0.0)
    tilt = np.radians(data[ANGLE] + data[RATE] * q[7])
    core.f[0], core.f[2] = m * data[G] * np.sin(tilt), -m * data[G] * np.cos(tilt)
    fill_feet(core, q, a, b, c, data[MU])
    for i in range(4):
        core.mu_s[i] = data[MU_S]


@dataclass(frozen=True)
class Table(RigidBodies):
    """The threshold between static and kinetic friction, with redundant contacts."""

    name: ClassVar[str] = "table"
    description: ClassVar[str] = "a table on a slowly tilted plane: sticks up to tan(angle) = mu_s, then slides with mu"
    source: ClassVar[str] = "textbook: angle of friction"
    size: ClassVar[tuple[int, int, int, int]] = (6, 0, 4, 2)
    duration: ClassVar[float] = 1.5
    windows: ClassVar[dict[str, tuple[float, float]]] = {"sliding": (1.0, 1.5)}
    fill: ClassVar[Any] = staticmethod(fill)

    v_th: float = quantity(1e-6, "m/s", "speed below which a contact counts as sticking", "positive")
    m: float = quantity(10.0, "kg", "mass, all of it in the top", "positive")
    length: float = quantity(1.2, "m", "distance between the legs down the slope", "positive")
    width: float = quantity(0.8, "m", "distance between the legs across the slope", "positive")
    height: float = quantity(0.7, "m", "height of the top", "positive")
    mu: float = quantity(0.3, "-", "kinetic friction coefficient", "nonnegative")
    mu_s: float = quantity(0.4, "-", "static friction coefficient; not used if below mu", "nonnegative")
    angle: float = quantity(12.0, "deg", "tilt of the plane at the start")
    rate: float = quantity(10.0, "deg/s", "rate of tilting")

    def inertias(self) -> Array:
        x, y = np.square([self.length, self.width])
        return self.m * np.array([[1.0, y / 12, x / 12, (x + y) / 12]])

    def start(self) -> tuple[Array, Array]:
        return np.append(place(((0.0, 0.0, self.height),)), 0.0), np.zeros(6)

    def energy(self, q: Array, v: Array) -> Array:
        tilt = np.radians(self.angle + self.rate * q[..., 7])
        climb = np.cos(tilt) * q[..., 2] - np.sin(tilt) * q[..., 0]
        return self.kinetic_energy(v) + self.m * self.gravity * climb

    def solids(self) -> list[Solid | Plane]:
        a, b, c, thick = 0.5 * self.length, 0.5 * self.width, self.height, 0.03 * self.height
        feet = [(x, y) for x in (-a, a) for y in (-b, b)]
        legs = [cuboid("leg", (thick, thick, 0.5 * (c - thick)), (x, y, -0.5 * (c + thick))) for x, y in feet]
        return [Plane("plane"), cuboid("table", (a + 2 * thick, b + 2 * thick, thick)), *legs]

    def annotations(self) -> list[Annotation]:
        tilt, centre = np.radians(self.angle), np.array([0.0, 0.0, self.height])
        return [Arrow(centre, centre + 0.8 * self.height * np.array([np.sin(tilt), 0.0, -np.cos(tilt)]), "g")]

    def gain(self, start: float, end: float, time: float) -> float:
        """Speed [m/s] gained by sliding in a time [s] while the angle [rad] changes uniformly from start to end."""
        middle, mean = 0.5 * (start + end), np.sinc((end - start) / (2 * np.pi))
        return float(self.gravity * time * mean * (np.sin(middle) - self.mu * np.cos(middle)))

    def truths(self, reference: Any) -> list[Truth]:
        """Time of slip, speed gained by sliding, load of the legs; none if the table tips or tilts back.

        It slips in the first step that begins beyond the threshold, at most one step late. Sliding proper begins where
        the speed exceeds the stick threshold; its gain is the sum of h x'' at the starts of the steps, with an error of
        at most h times the variation of x''.
        """
        most = max(self.mu, self.mu_s)
        h, steps, v = reference.h, reference.steps, reference.states_v[:, 0]
        if most * self.height >= 0.5 * self.length or min(self.rate, self.angle) < 0 or steps == 0:
            return []
        angle = np.radians(self.angle + self.rate * h * np.arange(steps + 1))
        weight, threshold = self.m * self.gravity * np.cos(angle[-2]), np.arctan(most)
        slips, beyond = np.flatnonzero(v > HOLDS), np.append(np.flatnonzero(angle > threshold), steps)
        moves = np.append(np.flatnonzero(v > self.v_th), beyond[0])[0]
        time, ends = h * (steps - moves), (angle[moves], angle[-1])
        bound = h * (self.gain(ends[1], ends[1], 1.0) - self.gain(ends[0], ends[0], 1.0)) + HOLDS
        law, sum_of_forces = "Coulomb's law: tan(angle) = mu_s", "balance of forces across the plane"
        last = angle[max(0, slips[0] - 1)] if slips.size else angle[-1]
        held, expected = (float(np.degrees(x)) for x in (last, np.clip(threshold, angle[0], angle[-1])))
        total, gained = float(reference.p_n[-1].sum() / h), float(v[-1] - v[moves])
        return [
            Truth("angle held", held, expected, self.rate * h + HOLDS, "deg", law),
            Truth("speed gained", gained, self.gain(*ends, time), bound, "m/s", "friction mu on a tilting plane"),
            Truth("normal forces in all", total, weight, 1e-9 * self.m * self.gravity, "N", sum_of_forces),
        ]


# Positions of the parameters in `data`, for the compiled mechanics.
G, M_, LENGTH, WIDTH, HEIGHT, MU, MU_S, ANGLE, RATE = Table.places(
    "gravity", "m", "length", "width", "height", "mu", "mu_s", "angle", "rate"
)
