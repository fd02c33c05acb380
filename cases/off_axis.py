"""A particle pulled along a rough plane in a direction between the vertices of a friction polygon.

After the tool tip of Horak & Trinkle 2019 (their companion code), with its numbers. Coordinates q = (x, y, z),
velocities their rates; u_n = z', u_t = (x', y'). A pull P from rest causes a straight motion in its own direction, at
the acceleration |P|/m - mu g: Coulomb's disc has no axes. A friction polygon or box has axes, and the path deviates.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from workbench.engine.compiling import kernel
from workbench.engine.kernels import set_all
from workbench.mechanics.case import FLOOR, Array, Case, Truth, quantity, touching
from workbench.mechanics.core import FILL, advance_by_rates
from workbench.mechanics.sketch import Annotation, Arrow, Line
from workbench.mechanics.solids import Plane, Solid, ball


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `OffAxis`."""
    m, angle = data[M_], np.pi / 180.0 * data[DIRECTION]
    for i in range(3):
        set_all(0.0, core.M[i])
        core.M[i, i] = m
    core.f[0], core.f[1], core.f[2] = data[PULL] * np.cos(angle), data[PULL] * np.sin(angle), -m * data[G]
    set_all(0.0, core.J_n[0])
    set_all(0.0, core.J_t[0])
    set_all(0.0, core.J_t[1])
    core.J_n[0, 2] = core.J_t[0, 0] = core.J_t[1, 1] = 1.0
    core.phi[0] = q[2]
    core.mu[0] = data[MU]
    core.heading[0, 0], core.heading[0, 1] = 1.0, 0.0


@dataclass(frozen=True)
class OffAxis(Case):
    """Isotropy of friction in isolation."""

    name: ClassVar[str] = "off-axis"
    description: ClassVar[str] = "a particle pulled along a rough plane at an angle to the axes; its path is straight"
    source: ClassVar[str] = "after Horak & Trinkle 2019, IEEE RA-L 4(2), friction off the axes"
    size: ClassVar[tuple[int, int, int, int]] = (3, 0, 1, 2)
    velocities: ClassVar[Mapping[str, tuple[str, str]]] = {
        "x'": ("m/s", "velocity of the tool tip"),
        "y'": ("m/s", "velocity of the tool tip"),
        "z'": ("m/s", "velocity of the tool tip"),
    }
    duration: ClassVar[float] = 0.5
    windows: ClassVar[dict[str, tuple[float, float]]] = {"sliding": (0.0, 0.5)}
    fill: ClassVar[Any] = staticmethod(fill)
    advance: ClassVar[Any] = staticmethod(advance_by_rates)

    m: float = quantity(0.2, "kg", "mass", "positive")
    mu: float = quantity(0.3, "-", "friction coefficient", "nonnegative")
    pull: float = quantity(float(np.hypot(1.0, 0.8)), "N", "force along the plane", "positive")
    direction: float = quantity(float(np.degrees(np.arctan2(0.8, -1.0))), "deg", "pull direction, from the x axis")
    gravity: float = quantity(9.81, "m/s2", "gravitational acceleration", "positive")

    def start(self) -> tuple[Array, Array]:
        return np.zeros(3), np.zeros(3)

    def centre(self, q: Array) -> Array:
        return q

    def energy(self, q: Array, v: Array) -> Array:
        return self.m * (0.5 * (v**2).sum(axis=-1) + self.gravity * q[..., 2])

    def drift(self, x: Array) -> float:
        """Angle [deg] from the pull to a displacement or velocity x (2,), in (-180, 180]."""
        angle = np.arctan2(x[1], x[0]) - np.radians(self.direction)
        return float(np.degrees(np.angle(np.exp(1j * angle))))

    def solids(self) -> list[Solid | Plane]:
        """The particle as a ball above the contact point."""
        return [Plane("plane"), ball("particle", 0.03, (0.0, 0.0, 0.03))]

    def contacts(self, q: Array) -> tuple[Array, Array]:
        return touching(q[..., None, :], FLOOR)

    def annotations(self) -> list[Annotation]:
        angle, unit = np.radians(self.direction), 0.5 * np.eye(3)
        axes: list[Annotation] = [Line([-x, x]) for x in unit[:2]]
        names = [Arrow(0.8 * x, x, name) for x, name in zip(unit, "xy", strict=False)]
        return [*axes, *names, Arrow(np.zeros(3), 0.5 * np.array([np.cos(angle), np.sin(angle), 0.0]), "P")]

    def truths(self, reference: Any) -> list[Truth]:
        """Direction, speed and the distance of the time stepping itself; none where friction holds the pull.

        The speeds at the ends of the steps are exact. The distance after K steps is their sum, a h^2 K (K +- 1)/2 for
        the symplectic (explicit) update and a h^2 K (K + 2 theta - 1)/2 for Moreau and Jean's.
        """
        a, h, K = self.pull / self.m - self.mu * self.gravity, reference.h, reference.steps
        path, velocity = reference.states_q[-1, :2], reference.states_v[-1, :2]
        scheme = reference.scheme
        distance = 0.5 * a * h**2 * K * (K - 1 if scheme.name == "explicit" else K + 2 * scheme.theta - 1)
        if a <= 0 or distance == 0:
            return []
        source = "isotropic friction mu m g against the sliding velocity"
        scale = self.pull / self.m * h * K
        found = float(np.linalg.norm(velocity)), float(np.linalg.norm(path))
        truths = [
            Truth("drift of the path", self.drift(path), 0.0, 1e-9 * scale / (a * h * K), "deg", source),
            Truth("final speed", found[0], a * h * K, 1e-11 * scale, "m/s", source),
            Truth("distance at this step", found[1], distance, 1e-11 * scale * h * K, "m", source),
        ]
        return truths[:2] if scheme.name == "midpoint" else truths


# Positions of the parameters in `data`, for the compiled mechanics.
M_, MU, PULL, DIRECTION, G = OffAxis.places("m", "mu", "pull", "direction", "gravity")
