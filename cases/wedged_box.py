"""A box pulled along a slot: it tips, hits the roof with a rear corner, and wedges by friction alone.

After the box between two planes of Horak & Trinkle 2019 with its numbers, in the plane: coordinates q = (x, z,
theta), theta anticlockwise, and four contacts, the lower corners on the floor z = 0 and the upper ones under the roof
z = H.

The wedged box touches at two opposite corners, b = sqrt(D^2 - H^2) apart along the slot (D the diagonal) with the
centre half way. Normal forces N_1 (floor), N_2 (roof) and friction T_1, T_2 balance the weight and a pull P if

    N_1 - N_2 = m g      T_1 + T_2 = -P      T_2 - T_1 = (b/H) (N_1 + N_2),

three equations for four forces. The free one is a compression along the line through the corners, which is
unbounded for any mu above b/H. So a pull above mu m g is held if mu >= b/H, and never for mu < b/H. While the box
slides under the roof, T = -mu N at both corners, and the total friction, the grip, is

    mu (N_1 + N_2) = mu^2 m g H/b,

so that a weaker pull leads to rest. Under a stronger one sliding continues, and the wedge is a second solution of
Coulomb's law. Nor are the single impulses unique; with four tangential rows on three velocities a formulation that
eliminates p_t needs constraint relaxation. The box tips if mu > length/height, and otherwise slides flat.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from workbench.engine.compiling import kernel
from workbench.engine.kernels import set_all
from workbench.mechanics.case import FLOOR, Array, Case, Truth, planar_orientation, quantity, touching
from workbench.mechanics.core import FILL, advance_by_rates
from workbench.mechanics.functions import sqrt
from workbench.mechanics.sketch import Annotation, Arrow
from workbench.mechanics.solids import Plane, Solid, cuboid
from workbench.step.sliding.rows import SlidingRows
from workbench.support.errors import DataError

AT_REST = 1e-9
"""Fraction of the speed sqrt(g H) below which the box counts as at rest."""


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `WedgedBox`."""
    m, a, b = data[M_], 0.5 * data[LENGTH], 0.5 * data[HEIGHT]
    for i in range(3):
        set_all(0.0, core.M[i])
    core.M[0, 0] = core.M[1, 1] = m
    core.M[2, 2] = m * (a * a + b * b) / 3.0
    core.f[0], core.f[1], core.f[2] = data[PULL], -m * data[G], 0.0
    c, s = np.cos(q[2]), np.sin(q[2])
    for i in range(4):
        side, up = a if i % 2 else -a, i // 2
        x = c * side - s * (b if up else -b)
        z = s * side + c * (b if up else -b)
        sign = -1.0 if up else 1.0
        core.J_n[i, 0], core.J_n[i, 1], core.J_n[i, 2] = 0.0, sign, sign * x
        core.J_t[i, 0], core.J_t[i, 1], core.J_t[i, 2] = 1.0, 0.0, -z
        core.phi[i] = data[HEIGHT] + data[CLEARANCE] - q[1] - z if up else q[1] + z
        core.mu[i] = data[MU]
        core.heading[i, 0], core.heading[i, 1] = 1.0, 0.0


@dataclass(frozen=True)
class WedgedBox(Case):
    """Friction that holds more than mu times the weight."""

    name: ClassVar[str] = "wedged-box"
    description: ClassVar[str] = "a box pulled along a slot, tipping until it wedges; impulses not unique"
    source: ClassVar[str] = "after Horak & Trinkle 2019, IEEE RA-L 4(2), wedging"
    size: ClassVar[tuple[int, int, int, int]] = (3, 0, 4, 1)
    velocities: ClassVar[Mapping[str, tuple[str, str]]] = {
        "x'": ("m/s", "velocity of the centre"),
        "z'": ("m/s", "velocity of the centre"),
        "theta'": ("rad/s", "rate of the rotation, anticlockwise"),
    }
    duration: ClassVar[float] = 0.3
    windows: ClassVar[dict[str, tuple[float, float]]] = {"wedged": (0.2, 0.3)}
    sliding_rows_at: ClassVar[str] = "of the wedged box, which slides forward,"
    fill: ClassVar[Any] = staticmethod(fill)
    advance: ClassVar[Any] = staticmethod(advance_by_rates)

    m: float = quantity(0.2, "kg", "mass", "positive")
    length: float = quantity(0.02, "m", "edge along the slot", "positive")
    height: float = quantity(0.04, "m", "edge across the slot", "positive")
    clearance: float = quantity(0.002, "m", "gap under the roof at the start", "positive")
    mu: float = quantity(0.9, "-", "friction coefficient", "nonnegative")
    pull: float = quantity(2.0, "N", "force along the slot, at the centre", "nonnegative")
    gravity: float = quantity(9.81, "m/s2", "gravitational acceleration", "positive")

    def __post_init__(self) -> None:
        super().__post_init__()
        H, D = self.height + self.clearance, np.hypot(self.length, self.height)
        if H >= D:
            raise DataError(f"{self.name}: slot {H:g} m high; less than the diagonal {D:g} m of the box is needed")

    @property
    def across(self) -> tuple[float, float]:
        """Vector from floor contact to roof contact of the wedged box, (H, b) [m]: across and along the slot."""
        H = self.height + self.clearance
        return H, float(np.sqrt(self.length**2 + self.height**2 - H**2))

    @property
    def grip(self) -> float:
        """Friction [N] on the box while it slides under the roof."""
        H, b = self.across
        return self.mu**2 * self.m * self.gravity * H / b

    @property
    def tilt(self) -> float:
        """Angle [rad] of the wedged box."""
        H, b = self.across
        return float(np.arctan2(b, H) - np.arctan2(self.length, self.height))

    def start(self) -> tuple[Array, Array]:
        return np.array([0.0, 0.5 * self.height, 0.0]), np.zeros(3)

    def centre(self, q: Array) -> Array:
        return np.stack([q[..., 0], np.zeros_like(q[..., 0]), q[..., 1]], axis=-1)

    def orientation(self, q: Array) -> Array:
        return planar_orientation(q[..., 2])

    def energy(self, q: Array, v: Array) -> Array:
        inertia = (self.length**2 + self.height**2) / 12
        kinetic = v[..., 0] ** 2 + v[..., 1] ** 2 + inertia * v[..., 2] ** 2
        return self.m * (0.5 * kinetic + self.gravity * q[..., 1])

    def sliding_rows(self, p: Mapping[str, Any]) -> SlidingRows:
        """The wedged box where it slides forward, over parameters p of any kind: its lower corner in front on the
        floor, its upper corner at the rear under the roof."""
        H = p["height"] + p["clearance"]
        diagonal = p["length"] * p["length"] + p["height"] * p["height"]
        b = sqrt(diagonal - H * H)
        M = [[p["m"], 0, 0], [0, p["m"], 0], [0, 0, p["m"] * diagonal / 12]]
        J_n, J_t = [[0, 1, b / 2], [0, -1, b / 2]], [[1, 0, H / 2], [1, 0, -H / 2]]
        load = [p["pull"], -p["m"] * p["gravity"], 0]
        return SlidingRows(M, load, J_n, J_t, [p["mu"], p["mu"]], [1, 1], locking=p["mu"] * H - b)

    def solids(self) -> list[Solid | Plane]:
        a, b = 0.5 * self.length, 0.5 * self.height
        roof = Plane("roof", (0.0, 0.0, -1.0), (0.0, 0.0, self.height + self.clearance))
        return [Plane("floor"), roof, cuboid("box", (a, a, b))]

    def contacts(self, q: Array) -> tuple[Array, Array]:
        """The lower corners on the floor, then the upper ones under the roof, each time the rear one first."""
        a, b = 0.5 * self.length, 0.5 * self.height
        corners = [[x, 0.0, z] for z in (-b, b) for x in (-a, a)]
        return touching(self.points(q, corners), [FLOOR[:2] * [[-np.sign(z)], [1.0]] for *_, z in corners])

    def annotations(self) -> list[Annotation]:
        a, z = 0.5 * self.length, 0.5 * self.height
        return [Arrow((a, 0.0, z), (4 * a, 0.0, z), "P")]

    def truths(self, reference: Any) -> list[Truth]:
        """Speed of a box that slides flat; tilt, unique forces, and rest of a wedged one, where rest is the only
        outcome: the pull is weaker than the grip, and there was time enough to stop."""
        (H, b), h, weight = self.across, reference.h, self.m * self.gravity
        q, v, touches = reference.states_q[-1], reference.states_v, reference.p_n[:, 2] > 1e-9 * weight * h
        if not touches.any() and self.mu <= self.length / self.height:
            end, pushed = h * reference.steps, self.pull / self.m
            flat, scale = max(0.0, pushed - self.mu * self.gravity), 1e-11 * (pushed + self.gravity)
            return [Truth("speed", float(v[-1, 0]), flat * end, scale * end, "m/s", "friction mu m g, no tipping")]
        if not touches.any() or not touches[-1] or self.mu < b / H:
            return []
        floor_n, roof_n = reference.p_n[-1].reshape(2, 2).sum(axis=1) / h
        floor_t, roof_t = reference.p_t[-1, :, 0].reshape(2, 2).sum(axis=1) / h
        scale, statics = 1e-9 * float(floor_n + roof_n + self.pull), "forces on a body touched at two corners"
        moment = float(H * (roof_t - floor_t) - b * (floor_n + roof_n))
        truths = [
            Truth("tilt", float(q[2]), self.tilt, 1e-9, "rad", "the diagonal across the slot"),
            Truth("normal forces", float(floor_n - roof_n), weight, scale, "N", statics),
            Truth("moment about the centre", moment, 0.0, scale * H, "N m", statics),
        ]
        first = int(np.argmax(touches))
        slowing, sliding = (self.grip - self.pull) / self.m, float(np.abs(v[first:, 0]).max())
        if slowing <= 0 or sliding + 3 * slowing * h > slowing * h * (reference.steps - first):
            return truths
        speed, bound = float(np.abs(v[-1] * [1, 1, H]).max()), AT_REST * float(np.sqrt(self.gravity * H))
        return [
            *truths,
            Truth("speed", speed, 0.0, bound, "m/s", "wedged: mu >= b/H, pull below the grip"),
            Truth("friction", float(floor_t + roof_t), -self.pull, scale, "N", statics),
        ]


# Positions of the parameters in `data`, for the compiled mechanics.
M_, LENGTH, HEIGHT, CLEARANCE, MU, PULL, G = WedgedBox.places(
    "m", "length", "height", "clearance", "mu", "pull", "gravity"
)
