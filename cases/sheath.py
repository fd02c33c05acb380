"""A bead pulled through a sheath: two parallel planes whose distance is slightly larger than its diameter.

After the sphere of fixed orientation between two planes of Horak & Trinkle 2019 (their companion code), with its
numbers. Coordinates q = (x, y, z), the centre; velocities their rates. The lower face is at z = 0, the upper one at
2 R + c with the clearance c; both have friction. The bead rests on the lower face and is pulled along x:

    u_n = z', -z'      u_t = (x', y') at either face      x'' = P/m - mu g, z = R

The upper face never carries a load. It does in a model that couples sliding to separation: the cone
complementarity problem requires u_n + phi/h >= mu |u_t| at both faces, so that the bead climbs as it speeds up and jams
permanently at

    |u_t| = c / (2 mu h).

Both faces have the same tangential rows, so a formulation that eliminates p_t needs constraint relaxation.
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
from workbench.mechanics.solids import Plane, Solid, ball


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `Sheath`."""
    m = data[M_]
    for i in range(3):
        set_all(0.0, core.M[i])
        core.M[i, i] = m
    core.f[0], core.f[1], core.f[2] = data[PULL], 0.0, -m * data[G]
    for i in range(2):
        set_all(0.0, core.J_n[i])
        set_all(0.0, core.J_t[2 * i])
        set_all(0.0, core.J_t[2 * i + 1])
        core.J_t[2 * i, 0] = core.J_t[2 * i + 1, 1] = 1.0
        core.mu[i] = data[MU]
        core.heading[i, 0], core.heading[i, 1] = 1.0, 0.0
    core.J_n[0, 2], core.J_n[1, 2] = 1.0, -1.0
    core.phi[0], core.phi[1] = q[2] - data[R_], data[R_] + data[CLEARANCE] - q[2]


@dataclass(frozen=True)
class Sheath(Case):
    """A bead that must not lift off while it slides."""

    name: ClassVar[str] = "sheath"
    description: ClassVar[str] = "a bead pulled between two planes: sliding must not lift it to the upper one"
    source: ClassVar[str] = "after Horak & Trinkle 2019, IEEE RA-L 4(2), sliding between two planes"
    size: ClassVar[tuple[int, int, int, int]] = (3, 0, 2, 2)
    velocities: ClassVar[Mapping[str, tuple[str, str]]] = {
        "x'": ("m/s", "velocity of the centre"),
        "y'": ("m/s", "velocity of the centre"),
        "z'": ("m/s", "velocity of the centre"),
    }
    duration: ClassVar[float] = 0.5
    windows: ClassVar[dict[str, tuple[float, float]]] = {"sliding": (0.0, 0.5)}
    fill: ClassVar[Any] = staticmethod(fill)
    advance: ClassVar[Any] = staticmethod(advance_by_rates)

    m: float = quantity(0.2, "kg", "mass", "positive")
    R: float = quantity(0.05, "m", "radius", "positive")
    clearance: float = quantity(0.002, "m", "gap at the upper face at the start", "positive")
    mu: float = quantity(0.3, "-", "friction coefficient of both faces", "nonnegative")
    pull: float = quantity(1.0, "N", "force along x", "nonnegative")
    gravity: float = quantity(9.81, "m/s2", "gravitational acceleration", "positive")

    @property
    def acceleration(self) -> float:
        """Acceleration [m/s2] along x; zero where friction holds the pull."""
        return max(0.0, self.pull / self.m - self.mu * self.gravity)

    def start(self) -> tuple[Array, Array]:
        return np.array([0.0, 0.0, self.R]), np.zeros(3)

    def centre(self, q: Array) -> Array:
        return q

    def energy(self, q: Array, v: Array) -> Array:
        return self.m * (0.5 * (v**2).sum(axis=-1) + self.gravity * q[..., 2])

    def solids(self) -> list[Solid | Plane]:
        roof = Plane("upper face", (0.0, 0.0, -1.0), (0.0, 0.0, 2 * self.R + self.clearance))
        return [Plane("lower face"), roof, ball("bead", self.R)]

    def contacts(self, q: Array) -> tuple[Array, Array]:
        out = np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]])
        return touching(q[..., None, :] + self.R * out, [[-x, *FLOOR[1:]] for x in out])

    def annotations(self) -> list[Annotation]:
        x = self.start()[0]
        return [Arrow(x, x + np.array([3 * self.R, 0.0, 0.0]), "P")]

    def truths(self, reference: Any) -> list[Truth]:
        """Speed from pull less friction, no height gain, no load on the upper face; independent of the step size."""
        time, source = reference.h * reference.steps, "friction mu m g of the lower face alone"
        speed, slid = self.acceleration * time, self.pull / self.m * time
        climbed = float(np.abs(reference.states_q[:, 2] - self.R).max())
        return [
            Truth("final speed", float(reference.states_v[-1, 0]), speed, 1e-11 * (slid + speed), "m/s", source),
            Truth("height gained", climbed, 0.0, 1e-12 * self.R, "m", "Signorini's law does not depend on sliding"),
            Truth("impulse at the upper face", float(reference.p_n[:, 1].sum()), 0.0, 1e-12 * self.m, "N s", source),
        ]


# Positions of the parameters in `data`, for the compiled mechanics.
M_, R_, CLEARANCE, MU, PULL, G = Sheath.places("m", "R", "clearance", "mu", "pull", "gravity")
