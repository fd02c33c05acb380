"""The cube of DETC2017-67988, Table 1: it is thrown along the floor with a spin about the vertical, and comes to rest.

One rigid body with the coordinates and velocities of `bodies`, and four contacts at the vertices that are at the bottom
at the start. Four normal forces hold three degrees of freedom, eight friction components another three: the contact
forces are not unique, and the constraint rows are relaxed with the stiffnesses of Table 1. Vertices of equal stiffness
on a rigid body share the load as max(0, c + a . r), r from the centre, whatever the stiffness. Floor friction tilts the
cube by up to mu m g l / 2, which moves the load forward by up to mu l / 2: with mu = 1 the rearmost vertex carries no
load most of the time, and lifts by nanometres.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from workbench.engine.compiling import kernel
from workbench.engine.scratch import scratch
from workbench.mechanics.bodies import GROUND, RigidBodies, fill_body, fill_contact, place, point_of, set_axes
from workbench.mechanics.case import Array, Truth, quantity
from workbench.mechanics.core import FILL
from workbench.mechanics.relaxation import Relaxation
from workbench.mechanics.sketch import Annotation, Arrow
from workbench.mechanics.solids import Plane, Solid, cuboid


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `Cube`."""
    m, half = data[M_], 0.5 * data[L_]
    inertia = m * data[L_] ** 2 / 6.0
    fill_body(core, v, 0, m, inertia, inertia, inertia, data[G])
    n, t, s, x = scratch(3), scratch(3), scratch(3), scratch(3)
    set_axes(n, t)
    for i in range(4):
        s[0], s[1], s[2] = half if i % 2 else -half, half if i // 2 else -half, -half
        point_of(q, 0, s, x)
        fill_contact(core, i, q, GROUND, 0, x, n, t, x[2], data[MU])


@dataclass(frozen=True)
class Cube(RigidBodies):
    """DETC2017-67988, Table 1."""

    name: ClassVar[str] = "cube"
    description: ClassVar[str] = "a cube sliding and rotating on four vertices until it rests; redundant contacts"
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

    def solids(self) -> list[Solid | Plane]:
        return [Plane("floor"), cuboid("cube", 3 * (0.5 * self.edge,))]

    def annotations(self) -> list[Annotation]:
        x = self.start()[0][:3]
        return [Arrow(x, x + np.array([0.0, 2.5 * self.edge, 0.0]), "v₀")]

    def truths(self, reference: Any) -> list[Truth]:
        """The balances of momentum and energy; for the defaults, where and when an independent solution comes to rest.

        That solution integrates the planar sliding motion with the normal forces max(0, c + a . r) of vertices of equal
        compliance (tests/test_cube.py) and friction opposite to the velocity. The bristle's damping b_t shifts the
        direction of friction by the velocity's change over b_t/k_t, here 1 ms, whatever h: 0.6 mm at the end.
        """
        h, v = reference.h, reference.states_v
        inertia = np.concatenate([[m, m, m, *I] for m, *I in self.inertias()])
        weight = np.array([0.0, 0.0, -self.m * self.gravity, 0.0, 0.0, 0.0])
        rows = reference.record.J.shape[1]
        impulses = (
            np.einsum("kij,ki->j", reference.record.J, reference.record.p[:, :rows]) + reference.steps * h * weight
        )
        error = float(np.abs(inertia * (v[-1] - v[0]) - impulses).max())
        size = self.m * (self.speed + self.gravity * h * reference.steps)
        truths = [
            Truth(
                "momentum gained beyond the impulses",
                error,
                0.0,
                1e-10 * size,
                "N s",
                "M (v_K - v_0) = sum of J^T p + h f",
            )
        ]
        work = -float((reference.p_t * reference.u_t).sum())
        energy = self.energy(reference.states_q, v)
        # The step also dissipates |v+ - v|_M^2 / 2; forces of at most mu m g limit this to 2 m (mu g h)^2.
        lost = 2 * self.m * (self.mu * self.gravity) ** 2 * h * (h * reference.steps)
        truths.append(
            Truth("work done against friction", work, float(energy[0] - energy[-1]), lost + 1e-6, "J", "energy lost")
        )
        slip = np.linalg.norm(reference.u_t, axis=-1).max(axis=-1)
        at_rest = slip < self.v_th
        if self != Cube() or not at_rest.any() or np.isinf(reference.relaxation.k_n):
            return truths
        source = "adaptive Runge-Kutta solution of the sliding phase"
        stop, end = float(h * (np.argmax(at_rest) + 1)), reference.states_q[-1]
        gap = float(np.linalg.norm(self.centre(end)[:2] - np.array([0.440646, 1.583968])))
        yaw = float(2 * np.arctan2(end[6], end[3]))
        return [
            *truths,
            Truth("end of sliding", stop, 0.661241, 2 * h + 2e-3, "s", source),
            Truth("distance of the centre from theory at rest", gap, 0.0, 3 * h + 1e-3, "m", source),
            Truth("yaw at rest", yaw, 1.953472, 3 * h + 1.5e-3, "rad", source),
        ]


# Positions of the parameters in `data`, for the compiled mechanics.
G, M_, L_, MU = Cube.places("gravity", "m", "edge", "mu")
