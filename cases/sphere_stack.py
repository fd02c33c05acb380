"""Three balls on the floor, slightly apart, carry a fourth: a stack that is held by friction alone.

Horak & Trinkle 2019 drop spheres into a box to time solvers; the forces of this arrangement are known in closed form.
Four equal rigid bodies with the coordinates of `bodies`, the carried ball last, and seven contacts: the floor
under each ball (the carried one's is open until the stack has collapsed) and the three between the balls. The lower
balls move apart when anything moves, so they need no contacts among themselves.

With the lower centres on a circle of radius r, the lines to the upper centre have the angle alpha to the vertical,
sin(alpha) = r/(2 R). By symmetry all three lower balls have equal forces: N, T between the balls and N_f, T_f at the
floor.

    3 (N cos(alpha) + T sin(alpha)) = m g       N_f = 4/3 m g
    T = T_f   (moment on a lower ball)          T_f = N sin(alpha) - T cos(alpha)   (force on it along the floor)

are satisfied by N = m g/3 and T = N tan(alpha/2). So the stack stands if and only if

    mu between the balls >= tan(alpha/2)        mu of the floor >= tan(alpha/2)/4.

The contact forces are unique: the rows of the closed contacts are independent.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from workbench.engine.compiling import kernel
from workbench.mechanics.bodies import GROUND, RigidBodies, fill_body, fill_contact, place
from workbench.mechanics.case import Array, Truth, quantity
from workbench.mechanics.core import FILL
from workbench.mechanics.solids import Plane, Solid, ball
from workbench.support.errors import DataError

ROUNDING = 20.0
"""Error of a gap in round-offs of a coordinate: coordinates of three radii, a difference of six, and a root."""


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `SphereStack`."""
    m, R = data[M_], data[R_]
    inertia = 0.4 * m * R * R
    n, t, x = np.empty(3), np.empty(3), np.empty(3)
    for k in range(4):
        fill_body(core, v, k, m, inertia, inertia, inertia, data[G])
        x[0], x[1], x[2] = q[7 * k], q[7 * k + 1], q[7 * k + 2] - R
        n[0], n[1], n[2] = 0.0, 0.0, 1.0
        t[0], t[1], t[2] = 1.0, 0.0, 0.0
        fill_contact(core, k, q, GROUND, k, x, n, t, x[2], data[MU_FLOOR])
    for k in range(3):
        for i in range(3):
            n[i] = q[21 + i] - q[7 * k + i]
        distance = np.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
        for i in range(3):
            n[i] /= distance
            x[i] = q[7 * k + i] + R * n[i]
        # A horizontal tangent, or any tangent where one ball is exactly above the other.
        level = np.sqrt(n[0] * n[0] + n[1] * n[1])
        if level > 1e-6:
            t[0], t[1], t[2] = -n[1] / level, n[0] / level, 0.0
        else:
            t[0], t[1], t[2] = n[2], 0.0, -n[0]
        fill_contact(core, 4 + k, q, k, 3, x, n, t, distance - 2.0 * R, data[MU])


@dataclass(frozen=True)
class SphereStack(RigidBodies):
    """A statically determinate stack with two friction thresholds."""

    name: ClassVar[str] = "sphere-stack"
    description: ClassVar[str] = "three balls on the floor carry a fourth, by friction alone"
    source: ClassVar[str] = "after Horak & Trinkle 2019, IEEE RA-L 4(2), stacking; thresholds by statics"
    size: ClassVar[tuple[int, int, int, int]] = (24, 0, 7, 2)
    duration: ClassVar[float] = 0.2
    windows: ClassVar[dict[str, tuple[float, float]]] = {"standing": (0.0, 0.2)}
    fill: ClassVar[Any] = staticmethod(fill)

    m: float = quantity(0.2, "kg", "mass of a ball", "positive")
    R: float = quantity(0.05, "m", "radius of a ball", "positive")
    space: float = quantity(0.002, "m", "gap between any two of the lower balls", "positive")
    mu: float = quantity(0.4, "-", "friction coefficient between the balls", "nonnegative")
    mu_floor: float = quantity(0.3, "-", "friction coefficient of the floor", "nonnegative")

    def __post_init__(self) -> None:
        super().__post_init__()
        most = 2 * (np.sqrt(3) - 1) * self.R
        if self.space >= most:
            raise DataError(f"{self.name}: space = {self.space:g} m; less than {most:g} m is needed to carry a ball")

    @property
    def alpha(self) -> float:
        """Angle [rad] of the lines of centres from the vertical."""
        return float(np.arcsin((2 * self.R + self.space) / (2 * np.sqrt(3) * self.R)))

    @property
    def thresholds(self) -> tuple[float, float]:
        """Least friction coefficients between the balls and at the floor for the stack to stand."""
        least = float(np.tan(self.alpha / 2))
        return least, least / 4

    def inertias(self) -> Array:
        return np.tile([self.m, *3 * [0.4 * self.m * self.R**2]], (4, 1))

    def start(self) -> tuple[Array, Array]:
        R, alpha, turn = self.R, self.alpha, 2 * np.pi / 3
        r = 2 * R * np.sin(alpha)
        lower = [((r * np.cos(k * turn), r * np.sin(k * turn), R),) for k in range(3)]
        return place(*lower, ((0.0, 0.0, R + 2 * R * np.cos(alpha)),)), np.zeros(24)

    def solids(self) -> list[Solid | Plane]:
        return [Plane("floor"), *(ball("ball", self.R, body=k) for k in range(4))]

    def truths(self, reference: Any) -> list[Truth]:
        """Forces and rest of a standing stack; balance of vertical momentum of floor and weight of any stack.

        Gaps are known up to the rounding of coordinates of size R. The gap law corrects this within a step, by forces
        of `ROUNDING` eps R m / h^2.
        """
        h, steps, weight = reference.h, reference.steps, self.m * self.gravity
        scale, rounding = 1e-10 * weight, ROUNDING * np.finfo(float).eps * self.R * self.m / h**2
        borne = reference.p_n[:, :4].sum() - 4 * weight * h * steps
        rises = float(self.momentum(reference.states_v[-1])[2])
        truths = [Truth("vertical momentum", rises, float(borne), scale * h * steps, "N s", "floor forces less weight")]
        least = self.thresholds
        if self.mu < least[0] or self.mu_floor < least[1]:
            return truths
        N, source = weight / 3, "statics, worst contact and step"
        for name, rows, normal in (("floor", slice(0, 3), 4 * N), ("balls", slice(4, 7), N)):
            found = reference.p_n[:, rows] / h, np.linalg.norm(reference.p_t[:, rows], axis=2) / h
            for word, force, theory in zip(("normal", "friction"), found, (normal, N * least[0]), strict=True):
                worst = float(force.flat[np.abs(force - theory).argmax()])
                truths.append(Truth(f"{word} force, {name}", worst, theory, scale + rounding, "N", source))
        sunk = float(np.abs(reference.states_q - reference.states_q[0]).max())
        return [*truths, Truth("displacement", sunk, 0.0, 1e-9 * self.R, "m", "mu at or above both thresholds")]


# Positions of the parameters in `data`, for the compiled mechanics.
G, M_, R_, MU, MU_FLOOR = SphereStack.places("gravity", "m", "R", "mu", "mu_floor")
