"""The cube of DETC2017-67988, Table 1: thrown along the floor while it turns about the vertical, until it rests.

One rigid body with the coordinates and velocities of `workbench.bodies`, and four contacts at the vertices that start
at the bottom. Four normal forces hold three degrees of freedom, eight friction components another three: the contact
forces are not determined, and the constraint rows are relaxed with the stiffnesses of Table 1. The resultant is: while
all four vertices slide, each carries friction mu p_n against its own velocity.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numba import njit

from workbench.bodies import GROUND, RigidBodies, corners, place, point_of, put_body, put_contact
from workbench.case import Array, Truth, quantity
from workbench.relaxation import Relaxation
from workbench.sketch import Arrow, Shape, cuboid, floor, seen
from workbench.stepping import FILL

# Positions in `Cube.data()`; the stick threshold comes first.
G, M_, L_, MU = range(1, 5)


@njit(FILL, cache=True)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `Cube`."""
    m, half = data[M_], 0.5 * data[L_]
    inertia = m * data[L_] ** 2 / 6.0
    put_body(core, v, 0, m, inertia, inertia, inertia, data[G])
    n, t, s, x = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    n[2] = t[0] = 1.0
    for i in range(4):
        s[0], s[1], s[2] = half if i % 2 else -half, half if i // 2 else -half, -half
        point_of(q, 0, s, x)
        put_contact(core, i, q, GROUND, 0, x, n, t, x[2], data[MU])


@dataclass(frozen=True)
class Cube(RigidBodies):
    """DETC2017-67988, Table 1."""

    name: ClassVar[str] = "cube"
    description: ClassVar[str] = "a cube sliding and turning on four vertices until it rests; redundant contacts"
    source: ClassVar[str] = "Peiret, Kövecses & Font-Llagunes, DETC2017-67988, Table 1"
    size: ClassVar[tuple[int, int, int, int]] = (6, 0, 4, 2)
    duration: ClassVar[float] = 0.8
    windows: ClassVar[dict[str, tuple[float, float]]] = {"sliding": (0.0, 0.5)}
    fill: ClassVar[Any] = staticmethod(fill)

    v_th: float = quantity(0.001, "m/s", "speed below which a contact counts as sticking", "positive")
    m: float = quantity(1.0, "kg", "mass", "positive")
    edge: float = quantity(1.0, "m", "edge", "positive")
    mu: float = quantity(1.0, "-", "friction coefficient", "nonnegative")
    speed: float = quantity(5.0, "m/s", "initial ydot of the centre")
    spin: float = quantity(2 * np.pi, "rad/s", "initial angular velocity about the vertical")
    k_n: float = quantity(1e10, "N/m", "normal stiffness", "positive")
    b_n: float = quantity(1e8, "N s/m", "normal damping", "nonnegative")
    k_t: float = quantity(1e8, "N/m", "friction stiffness", "positive")
    b_t: float = quantity(1e5, "N s/m", "friction damping", "nonnegative")

    @property
    def relaxation(self) -> Relaxation:
        return Relaxation(k_n=self.k_n, b_n=self.b_n, k_t=self.k_t, b_t=self.b_t)

    def inertias(self) -> Array:
        return np.array([[self.m, *3 * [self.m * self.edge**2 / 6]]])

    def start(self) -> tuple[Array, Array]:
        return place(((0.0, 0.0, 0.5 * self.edge),)), np.array([0.0, self.speed, 0.0, 0.0, 0.0, self.spin])

    def sketch(self) -> list[Shape]:
        q, a = self.start()[0], self.edge
        head = np.array([0.0, 3.0 * a, 0.5 * a])
        return [floor((-1.5 * a, 3 * a)), *cuboid(corners(q, 0, 3 * (0.5 * a,))), Arrow(seen(q[:3]), seen(head), "v₀")]

    def truths(self, reference: Any) -> list[Truth]:
        """Weight carried, momentum lost to friction; no vertex leaves the floor by more than the compliance asks."""
        return []
