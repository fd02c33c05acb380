"""A box on four corners, pushed along a rough floor: it sticks, slides or tips.

One rigid body with the coordinates and velocities of `bodies`. The force F acts along x on a line at height
z_F of its rear face. Floor friction is T = min(F, mu m g), and the moment balance about the centre gives
    N_front - N_rear = 2 (F (z_F - height/2) + T height/2) / length,     N_front + N_rear = m g .

The box tips where one of the pairs would have to pull. Twelve contact forces hold six degrees of freedom: these
resultants are unique; the force of a single corner and the lateral forces are not.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from workbench.engine.compiling import kernel
from workbench.engine.scratch import scratch_matrix
from workbench.mechanics.bodies import RigidBodies, add_direction, fill_body, fill_feet, place, point_of, rotation
from workbench.mechanics.case import Array, Truth, quantity
from workbench.mechanics.core import FILL
from workbench.mechanics.sketch import Annotation, Arrow
from workbench.mechanics.solids import Plane, Solid, cuboid

EXACT = 1e-9
"""Relative tolerance of quantities that the time stepping gives to round-off: uniform motion, constant forces."""


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `PushedBox`."""
    m, a, b, c = data[M_], 0.5 * data[LENGTH], 0.5 * data[WIDTH], 0.5 * data[HEIGHT]
    fill_body(core, v, 0, m, m * (b * b + c * c) / 3, m * (a * a + c * c) / 3, m * (a * a + b * b) / 3, data[G])
    fill_feet(core, q, a, b, c, data[MU])
    s, x, along, load = np.zeros(3), np.empty(3), np.zeros(3), np.zeros((1, 6))
    s[0], s[2], along[0] = -a, data[LINE] - c, 1.0
    point_of(q, 0, s, x)
    R = scratch_matrix(3, 3)
    rotation(q, 0, R)
    add_direction(load, 0, q, 0, R, x, along, data[FORCE])
    for i in range(6):
        core.f[i] += load[0, i]


@dataclass(frozen=True)
class PushedBox(RigidBodies):
    """The simplest redundant contact: resultants that statics determines, and forces that it does not."""

    name: ClassVar[str] = "pushed-box"
    description: ClassVar[str] = "a box on four corners pushed along the floor: sticks, slides or tips; redundant"
    source: ClassVar[str] = "textbook statics; Coulomb's law"
    size: ClassVar[tuple[int, int, int, int]] = (6, 0, 4, 2)
    duration: ClassVar[float] = 0.5
    windows: ClassVar[dict[str, tuple[float, float]]] = {"sliding": (0.0, 0.5)}
    fill: ClassVar[Any] = staticmethod(fill)

    v_th: float = quantity(0.001, "m/s", "speed below which a contact counts as sticking", "positive")
    m: float = quantity(10.0, "kg", "mass", "positive")
    length: float = quantity(0.6, "m", "edge along the push", "positive")
    width: float = quantity(0.4, "m", "edge across the push", "positive")
    height: float = quantity(0.5, "m", "height", "positive")
    mu: float = quantity(0.4, "-", "friction coefficient", "nonnegative")
    force: float = quantity(50.0, "N", "push along x")
    line: float = quantity(0.3, "m", "height of the push above the floor", "nonnegative")

    def inertias(self) -> Array:
        x, y, z = np.square([self.length, self.width, self.height])
        return self.m * np.array([[1.0, (y + z) / 12, (x + z) / 12, (x + y) / 12]])

    def start(self) -> tuple[Array, Array]:
        return place(((0.0, 0.0, 0.5 * self.height),)), np.zeros(6)

    def friction(self) -> float:
        """T [N], the friction of the floor against the push."""
        limit = self.mu * self.m * self.gravity
        return float(np.clip(self.force, -limit, limit))

    def front(self) -> float:
        """N_front [N], the normal force on the two corners at the front; outside [0, m g] the box tips."""
        moment = self.force * (self.line - 0.5 * self.height) + self.friction() * 0.5 * self.height
        return 0.5 * self.m * self.gravity + moment / self.length

    def solids(self) -> list[Solid | Plane]:
        return [Plane("floor"), cuboid("box", (0.5 * self.length, 0.5 * self.width, 0.5 * self.height))]

    def annotations(self) -> list[Annotation]:
        a, b = 0.5 * self.length, 0.5 * self.width
        return [Arrow((-2.2 * a, -b, self.line), (-a, -b, self.line), "F")]

    def truths(self, reference: Any) -> list[Truth]:
        """Speed and resultants of a box that sticks or slides; none where it tips (no closed form)."""
        T, N, weight, h = self.friction(), self.front(), self.m * self.gravity, reference.h
        if not (0 < N < weight and reference.steps):
            return []
        time, (p_n, p_t) = h * reference.steps, (reference.p_n[-1] / h, reference.p_t[-1] / h)
        gain, statics = (self.force - T) / self.m, "balance of forces and moments, Coulomb's law"
        tolerance = EXACT * (weight + abs(self.force))
        return [
            Truth("speed", float(reference.states_v[-1, 0]), gain * time, tolerance * time / self.m, "m/s", statics),
            Truth("normal forces in all", float(p_n.sum()), weight, tolerance, "N", statics),
            Truth("normal forces in front", float(p_n[1::2].sum()), N, tolerance, "N", statics),
            Truth("friction in all", float(p_t[:, 0].sum()), -T, tolerance, "N", statics),
        ]


# Positions of the parameters in `data`, for the compiled mechanics.
G, M_, LENGTH, WIDTH, HEIGHT, MU, FORCE, LINE = PushedBox.places(
    "gravity", "m", "length", "width", "height", "mu", "force", "line"
)
