"""A ball thrown onto a rough floor with restitution: its bounce heights, and the effect of friction on its spin.

One rigid body with the coordinates and velocities of `bodies`, under Moreau's normal law. The impact impulse is
p_n = (1 + e) m |u_n-|. At the contact point a solid sphere has the effective mass 2 m / 7 along the floor, so that
Coulomb's law for impulses gives

    p_t = -u_t- min(2 m / 7, mu p_n / |u_t-|),     v_x+ = v_x- + p_t / m,     R omega_y+ = R omega_y- - 5 p_t / (2 m):

the ball leaves rolling if 2 |u_t-| / 7 <= mu (1 + e) |u_n-| and sliding otherwise. Bounce k reaches e^2k of the height.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from workbench.engine.compiling import kernel
from workbench.mechanics.bodies import GROUND, RigidBodies, fill_body, fill_contact, place
from workbench.mechanics.case import Array, Truth, quantity
from workbench.mechanics.core import FILL
from workbench.mechanics.sketch import Annotation, Arrow
from workbench.mechanics.solids import Plane, Solid, ball


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `BouncingBall`."""
    m, R = data[M_], data[R_]
    inertia = 0.4 * m * R * R
    fill_body(core, v, 0, m, inertia, inertia, inertia, data[G])
    n, t, x = np.zeros(3), np.zeros(3), np.empty(3)
    n[2] = t[0] = 1.0
    x[0], x[1], x[2] = q[0], q[1], q[2] - R
    fill_contact(core, 0, q, GROUND, 0, x, n, t, x[2], data[MU])
    core.e[0] = data[E]


@dataclass(frozen=True)
class BouncingBall(RigidBodies):
    """Restitution, and an oblique impact with a closed form."""

    name: ClassVar[str] = "bouncing-ball"
    description: ClassVar[str] = "a ball thrown obliquely onto a rough floor with restitution: heights, speed, spin"
    source: ClassVar[str] = "textbook; Newton's restitution, Coulomb's law for impulses"
    size: ClassVar[tuple[int, int, int, int]] = (6, 0, 1, 2)
    duration: ClassVar[float] = 2.0
    windows: ClassVar[dict[str, tuple[float, float]]] = {"bounces": (0.0, 2.0)}
    normal: ClassVar[str] = "moreau"
    fill: ClassVar[Any] = staticmethod(fill)

    m: float = quantity(0.5, "kg", "mass", "positive")
    R: float = quantity(0.1, "m", "radius", "positive")
    mu: float = quantity(0.2, "-", "friction coefficient", "nonnegative")
    e: float = quantity(0.8, "-", "restitution, at most 1", "nonnegative")
    height: float = quantity(1.0, "m", "initial height of the lowest point", "positive")
    speed: float = quantity(2.0, "m/s", "initial xdot of the centre")
    spin: float = quantity(-20.0, "rad/s", "initial angular velocity about y; forward rolling is positive")

    def inertias(self) -> Array:
        return np.array([[self.m, *3 * [0.4 * self.m * self.R**2]]])

    def start(self) -> tuple[Array, Array]:
        q = place(((0.0, 0.0, self.R + self.height),))
        return q, np.array([self.speed, 0.0, 0.0, 0.0, self.spin, 0.0])

    def approach(self) -> float:
        """|u_n-| [m/s] of the first impact."""
        return float(np.sqrt(2 * self.gravity * self.height))

    def after_impact(self) -> tuple[float, float]:
        """Speed xdot [m/s] and spin [rad/s] after the first impact."""
        slip = self.speed - self.R * self.spin
        most = self.mu * (1 + self.e) * self.approach()
        change = -np.clip(2 * slip / 7, -most, most)
        return float(self.speed + change), float(self.spin - 2.5 * change / self.R)

    def solids(self) -> list[Solid | Plane]:
        return [Plane("floor"), ball("ball", self.R)]

    def annotations(self) -> list[Annotation]:
        x = self.start()[0][:3]
        return [Arrow(x, x + np.array([0.15 * self.speed, 0.0, 0.0]), "v₀")]

    def truths(self, reference: Any) -> list[Truth]:
        """Speed and spin after the first impact, and the heights of the bounces that occur during the run.

        The tolerances are bounds, up to second-order terms: the symplectic update conserves u^2/2 + g z - g h u/2, and
        the impact is detected up to h |u_n-| below the floor, so that the error of |u_n-| is g h/2 and that of each
        height h |u_n-| (1 - e^2); the impulse of the impact's step also contains the weight.
        """
        h, g, u = reference.h, self.gravity, self.approach()
        p_n, v, z = reference.p_n[:, 0], reference.states_v, reference.states_q[:, 2] - self.R
        # Where the ball stays on the floor, weight alone acts: p_n = m g h.
        impacts = np.flatnonzero(p_n > 2 * self.m * g * h)
        if not impacts.size or h * u > 0.1 * self.height:
            return []
        law = "Coulomb's law for impulses"
        speed, spin = self.after_impact()
        loss = self.mu * g * h * (0.6 * (1 + self.e) + 1)
        after = v[impacts[0] + 1]
        truths = [
            Truth("speed after impact", float(after[0]), speed, loss + 1e-12 * u, "m/s", law),
            Truth("spin after impact", float(after[4]), spin, 2.5 * loss / self.R + 1e-12 * u / self.R, "rad/s", law),
        ]
        for k, (first, last) in enumerate(pairwise(impacts), start=1):
            e = self.e**k
            if e * u < 20 * g * h:
                break
            top, late = float(z[first + 1 : last + 1].max()), h * u * k * self.e ** (k - 1) * (1 - self.e**2)
            bound = late + 2 * k * g * h**2
            truths.append(Truth(f"height of bounce {k}", top, e**2 * self.height, bound, "m", "Newton's restitution"))
        return truths


# Positions of the parameters in `data`, for the compiled mechanics.
G, M_, R_, MU, E = BouncingBall.places("gravity", "m", "R", "mu", "e")
