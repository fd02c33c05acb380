"""A tippe top: a ball with its centre of mass below its geometric centre; spun fast, it may turn over and rise.

One axisymmetric rigid body with the coordinates and velocities of `bodies`; its axis e_3 points from the centre of
mass to the geometric centre at the distance eps. The contact point is r = eps e_3 - R e_z from the centre of mass, and

    J = -L . r = R L_z - eps L_3,     J' = -(r x F) . r - eps L . (omega x e_3) = 0

for any force F at the contact point: Jellett's invariant. Friction has to lower the energy at this J; the least
energy at an inclination is J^2 / (2 r . I r) + m g z. With I_1 < I_3 < I_1 / (1 - eps/R) it decreases monotonically
from the upright to the inverted top, where the centre of mass is highest, if J is large enough:

    J^2 > m g R^2 eps I_3 (1 + eps/R)^4 / (1 + eps/R - I_1/I_3) .

The inverted top is the final state if sliding continues. Dry friction at a point may stop sliding before: from the
default start the top slides for 0.05 s and then rolls, in steady precession at a small inclination, which dissipates no
energy. Steps of 1 ms do invert it, since the Euler step of the attitude excites the nutation, at a rate proportional to
h: the contact slips again within 1 s at 1 ms, after 6 s at 0.1 ms, and later than 8 s at 0.05 ms.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from workbench.engine.compiling import kernel
from workbench.mechanics.bodies import GROUND, RigidBodies, fill_body, fill_contact, place, rotation, turned
from workbench.mechanics.case import Array, Truth, quantity
from workbench.mechanics.core import FILL
from workbench.mechanics.sketch import Annotation, Arrow, Disc
from workbench.mechanics.solids import Plane, Solid, ball, cylinder

DRIFT = 20.0
"""Relative drift of Jellett's invariant over the step [1/s]: first order, from the Euler step of the attitude."""


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `TippeTop`."""
    fill_body(core, v, 0, data[M_], data[I_1], data[I_1], data[I_3], data[G])
    R, n, t, x = np.empty((3, 3)), np.zeros(3), np.zeros(3), np.empty(3)
    rotation(q, 0, R)
    for i in range(3):
        x[i] = q[i] + data[EPS] * R[i, 2]
    x[2] -= data[R_]
    n[2] = t[0] = 1.0
    fill_contact(core, 0, q, GROUND, 0, x, n, t, x[2], data[MU])


@dataclass(frozen=True)
class TippeTop(RigidBodies):
    """An invariant of all friction laws, and a motion that depends on the step size."""

    name: ClassVar[str] = "tippe-top"
    description: ClassVar[str] = (
        "a tippe top: Jellett's invariant holds under any friction; from this start the top comes to roll under "
        "Coulomb's law, and steps of 1 ms turn it over by their own error"
    )
    source: ClassVar[str] = "Jellett 1872; Cohen 1977, Am. J. Phys. 45; Rauch-Wojciechowski & Rutstam 2014, SIGMA 10"
    size: ClassVar[tuple[int, int, int, int]] = (6, 0, 1, 2)
    duration: ClassVar[float] = 4.0
    windows: ClassVar[dict[str, tuple[float, float]]] = {"rolling": (1.0, 3.0)}
    fill: ClassVar[Any] = staticmethod(fill)

    v_th: float = quantity(0.001, "m/s", "speed below which the contact counts as sticking", "positive")
    m: float = quantity(0.02, "kg", "mass", "positive")
    R: float = quantity(0.02, "m", "radius", "positive")
    eps: float = quantity(0.006, "m", "distance of the centre of mass below the geometric centre", "positive")
    I_1: float = quantity(131 / 350 * 8e-6, "kg m2", "moment of inertia across the axis", "positive")
    I_3: float = quantity(0.4 * 8e-6, "kg m2", "moment of inertia about the axis", "positive")
    mu: float = quantity(0.3, "-", "friction coefficient", "nonnegative")
    tilt: float = quantity(0.1, "rad", "initial inclination of the axis")
    spin: float = quantity(155.0, "rad/s", "initial angular velocity about the axis")

    def inertias(self) -> Array:
        return np.array([[self.m, self.I_1, self.I_1, self.I_3]])

    def start(self) -> tuple[Array, Array]:
        z = self.R - self.eps * np.cos(self.tilt)
        return place(((0.0, 0.0, z), (0.0, 1.0, 0.0), self.tilt)), np.array([0.0, 0.0, 0.0, 0.0, 0.0, self.spin])

    def jellett(self, q: Array, v: Array) -> Array:
        """J (...) [kg m3/s], R L_z - eps L_3."""
        L = self.inertias()[0, 1:] * v[..., 3:]
        return self.R * turned(q, 0, L)[..., 2] - self.eps * L[..., 2]

    def threshold(self) -> float:
        """Least |J| [kg m3/s] for which the inverted top has the least energy."""
        a, ratio = self.eps / self.R, self.I_1 / self.I_3
        return float(np.sqrt(self.m * self.gravity * self.R**3 * a * self.I_3 / (1 + a - ratio)) * (1 + a) ** 2)

    def solids(self) -> list[Solid | Plane]:
        R, eps = self.R, self.eps
        stem = cylinder("stem", 0.12 * R, 0.6 * R, (0.0, 0.0, eps + 1.2 * R))
        return [Plane("floor"), ball("top", R, (0.0, 0.0, eps)), stem]

    def annotations(self) -> list[Annotation]:
        q, (low, high) = self.start()[0], (self.eps + 1.6 * self.R, self.eps + 2.5 * self.R)
        tail, head = self.points(q, [[0.0, 0.0, low], [0.0, 0.0, high]])
        return [Disc(q[:3], 0.05 * self.R), Arrow(tail, head, "ω₀")]

    def truths(self, reference: Any) -> list[Truth]:
        """Jellett's invariant. There is no closed form for whether the top inverts: it may roll before."""
        q, v = reference.states_q, reference.states_v
        J = self.jellett(q[[0, -1]], v[[0, -1]])
        bound = DRIFT * reference.h * abs(J[0])
        return [Truth("Jellett's invariant", float(J[1]), float(J[0]), bound, "kg m3/s", "no moment about r")]


# Positions of the parameters in `data`, for the compiled mechanics.
G, M_, R_, EPS, I_1, I_3, MU = TippeTop.places("gravity", "m", "R", "eps", "I_1", "I_3", "mu")
