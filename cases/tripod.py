"""A tripod that slides on its three feet: one direction of sliding is safe, and another jams at the same friction.

One rigid body with the coordinates and velocities of `bodies`. The feet stand on a circle of radius R around the axis,
at 90, 210 and 330 degrees, h below the centre of mass. In pure translation in a direction d = (c, s) contact j adds to
the normal acceleration of contact i, for each newton,

    D_ij = 1/m + y_i (y_j - mu h s) / I + x_i (x_j - mu h c) / I,

I the inertia about both horizontal axes. The accelerations are unique for every load while all principal minors of D
are positive, which ends at a friction coefficient that depends on the direction. Below it the normal forces are

    N_i = m g / 3 (1 + 2 mu h (e_i . d) / R),    e_i the direction of foot i,

all positive while 2 mu h < R whatever the direction, friction has no moment about the vertical, and the tripod slows
down by mu g without turning.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from workbench.engine.compiling import kernel
from workbench.mechanics.bodies import RigidBodies, fill_body, fill_contact, place, point_of
from workbench.mechanics.case import Array, Truth, quantity
from workbench.mechanics.core import FILL
from workbench.mechanics.functions import cos, radians, sign, sin, sqrt
from workbench.mechanics.sketch import Annotation, Arrow
from workbench.mechanics.solids import GROUND, Plane, Solid, cuboid
from workbench.step.sliding.rows import SlidingRows

X = (0.0, -np.sqrt(0.75), np.sqrt(0.75))
Y = (1.0, -0.5, -0.5)
"""Directions of the feet at 90, 210 and 330 degrees."""


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `Tripod`."""
    fill_body(core, v, 0, data[M_], data[INERTIA], data[INERTIA], data[INERTIA_Z], data[G])
    n, t, s, x = np.zeros(3), np.zeros(3), np.empty(3), np.empty(3)
    n[2] = t[0] = 1.0
    for i in range(3):
        s[0], s[1], s[2] = data[RADIUS] * X[i], data[RADIUS] * Y[i], -data[HEIGHT]
        point_of(q, 0, s, x)
        fill_contact(core, i, q, GROUND, 0, x, n, t, x[2], data[MU])


@dataclass(frozen=True)
class Tripod(RigidBodies):
    """Three coupled contacts in space."""

    name: ClassVar[str] = "tripod"
    description: ClassVar[str] = "a body on three feet that slides: uniqueness depends on the direction of sliding"
    source: ClassVar[str] = "textbook: balance of forces and moments of a sliding body"
    size: ClassVar[tuple[int, int, int, int]] = (6, 0, 3, 2)
    duration: ClassVar[float] = 0.6
    windows: ClassVar[dict[str, tuple[float, float]]] = {"sliding": (0.0, 0.5)}
    aliases: ClassVar[Mapping[str, str]] = {"R": "radius", "h": "height", "I": "inertia", "g": "gravity"}
    fill: ClassVar[Any] = staticmethod(fill)

    m: float = quantity(1.0, "kg", "mass", "positive")
    radius: float = quantity(0.3, "m", "distance of the feet from the axis", "positive")
    height: float = quantity(0.6, "m", "height of the centre of mass", "positive")
    inertia: float = quantity(0.02, "kg m2", "moment of inertia about the horizontal axes", "positive")
    inertia_z: float = quantity(0.02, "kg m2", "moment of inertia about the vertical axis", "positive")
    mu: float = quantity(0.2, "-", "friction coefficient", "nonnegative")
    direction: float = quantity(0.0, "deg", "initial direction of sliding; the feet are at 90, 210 and 330 deg")
    speed: float = quantity(1.5, "m/s", "initial speed", "nonnegative")

    def inertias(self) -> Array:
        return np.array([[self.m, self.inertia, self.inertia, self.inertia_z]])

    def start(self) -> tuple[Array, Array]:
        v, angle = np.zeros(6), np.radians(self.direction)
        v[0], v[1] = self.speed * np.cos(angle), self.speed * np.sin(angle)
        return np.append(place(((0.0, 0.0, self.height),)), 0.0), v

    def energy(self, q: Array, v: Array) -> Array:
        return self.kinetic_energy(v) + self.m * self.gravity * q[..., 2]

    def sliding_rows(self, p: Mapping[str, Any]) -> SlidingRows:
        """The feet at the start, over parameters p of any kind."""
        m, I, R, h = p["m"], p["inertia"], p["radius"], p["height"]
        c, s = cos(radians(p["direction"])), sin(radians(p["direction"]))
        xi, root = sign(p["speed"]), sqrt(R * R * 3) / 2
        feet = [(0, R), (-root, -R / 2), (root, -R / 2)]
        M = [[(m, m, m, I, I, p["inertia_z"])[i] if i == j else 0 for j in range(6)] for i in range(6)]
        J_n = [[0, 0, 1, y, 0 if x == 0 else -x, 0] for x, y in feet]
        J_t = [[c, s, 0, h * s, -h * c, x * s - y * c] for x, y in feet]
        return SlidingRows(M, [0, 0, -m * p["gravity"], 0, 0, 0], J_n, J_t, [p["mu"]] * 3, [xi] * 3)

    def feet(self) -> Array:
        """Body coordinates (3, 3) of the feet."""
        return np.column_stack([self.radius * np.array(X), self.radius * np.array(Y), np.full(3, -self.height)])

    def solids(self) -> list[Solid | Plane]:
        thick = 0.04 * self.height
        legs = [cuboid("leg", (thick, thick, 0.5 * self.height), (x, y, 0.5 * z)) for x, y, z in self.feet()]
        top = cuboid("tripod", (self.radius + thick, self.radius + thick, thick))
        return [Plane("floor"), top, *legs]

    def annotations(self) -> list[Annotation]:
        q, v = self.start()
        centre = q[:3]
        return [Arrow(centre, centre + 0.6 * self.height * v[:3] / max(self.speed, 1e-12), "v")]

    def truths(self, reference: Any) -> list[Truth]:
        """Speed, and the weight on the feet; none for a tripod that might tip."""
        if 2 * self.mu * self.height >= self.radius:
            return []
        h, end = reference.h, reference.h * reference.steps
        speed = float(np.hypot(*reference.states_v[-1, :2]))
        slowed, weight = max(0.0, self.speed - self.mu * self.gravity * end), self.m * self.gravity
        scale = 1e-9 * (self.speed + self.gravity * end)
        total = float(reference.p_n[-1].sum() / h)
        return [
            Truth("speed", speed, slowed, scale, "m/s", "friction mu m g"),
            Truth("normal forces in all", total, weight, 1e-9 * weight, "N", "balance of forces"),
        ]


# Where the compiled mechanics find the parameters in `data`.
G, M_, RADIUS, HEIGHT, INERTIA, INERTIA_Z, MU = Tripod.places(
    "gravity", "m", "radius", "height", "inertia", "inertia_z", "mu"
)
