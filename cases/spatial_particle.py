"""The particle of the planar case in space, thrown over a rough plane at an angle to the axes.

Coordinates q = (x, y, z), velocities their rates, so V = 1 (see the notes); u_n = z', u_t = (x', y'). Coulomb's disc
has no preferred direction: within the vertical plane of the throw the motion is that of the planar case, and the
particle never leaves this plane. A friction polygon with n_d vertices has preferred directions, and the path shows it.
Let phi = 2 pi / n_d, and let the particle slide at u > 0 along the axis opposite to the nearest vertex d_j, and at
w >= 0 across it:

    w < u tan(phi/2)    alpha_j = mu f_n alone, opposite to u only: it turns away from the vertex until w = u tan(phi/2)
    w = u tan(phi/2)    alpha_j = alpha_(j+1) = mu f_n / 2, straight on with friction mu f_n cos(phi/2)

It stops after (u + w tan(phi/2)) / (mu g); under Coulomb's law after sqrt(u^2 + w^2) / (mu g).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from workbench.builtin.cases.particle import M_, MU, G, Particle
from workbench.engine.compiling import kernel
from workbench.engine.kernels import set_all
from workbench.mechanics.case import Array, Truth, quantity
from workbench.mechanics.core import FILL


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `SpatialParticle`."""
    m = data[M_]
    for i in range(3):
        set_all(0.0, core.M[i])
        core.M[i, i] = m
    core.f[0], core.f[1], core.f[2] = 0.0, 0.0, -m * data[G]
    set_all(0.0, core.J_n[0])
    core.J_n[0, 2] = 1.0
    for i in range(2):
        set_all(0.0, core.J_t[i])
        core.J_t[i, i] = 1.0
    core.phi[0] = q[2]
    core.mu[0] = data[MU]
    core.heading[0, 0], core.heading[0, 1] = 1.0, 0.0


@dataclass(frozen=True)
class SpatialParticle(Particle):
    """Isotropic friction: a straight path in every direction."""

    name: ClassVar[str] = "spatial-particle"
    description: ClassVar[str] = "a particle thrown onto a rough plane at an angle to the axes: impact, sliding, rest"
    source: ClassVar[str] = "Trinkle, lecture notes “Add Coulomb friction”, 2018, p. 5, 6"
    size: ClassVar[tuple[int, int, int, int]] = (3, 0, 1, 2)
    velocities: ClassVar[Mapping[str, tuple[str, str]]] = {
        "x'": ("m/s", "velocity of the particle"),
        "y'": ("m/s", "velocity of the particle"),
        "z'": ("m/s", "velocity of the particle"),
    }
    fill: ClassVar[Any] = staticmethod(fill)

    direction: float = quantity(10.0, "deg", "direction of the throw, from the x axis")

    @property
    def axes(self) -> Array:
        """(2, 2): unit vectors along the throw and across it."""
        c, s = np.cos(np.radians(self.direction)), np.sin(np.radians(self.direction))
        return np.array([[c, s], [-s, c]])

    def along(self, x: Array) -> Array:
        return x[..., :2] @ self.axes[0]

    def start(self) -> tuple[Array, Array]:
        return np.array([0.0, 0.0, self.height]), np.array([*(self.speed * self.axes[0]), self.climb])

    def centre(self, q: Array) -> Array:
        return q[..., :3]

    def polygon_stop(self, directions: int) -> float:
        """Time [s] from impact to rest for a polygon with an even number of vertices, where it slides after impact.

        The impact takes mu |u_n-| in the same way as sliding takes mu g t, so the time counts from its start.
        """
        phi = 2 * np.pi / directions
        turned = abs((np.radians(self.direction) + phi / 2) % phi - phi / 2)
        _, approach, _ = self.impact()
        u, w = abs(self.speed) * np.cos(turned), abs(self.speed) * np.sin(turned)
        return float((u + w * np.tan(phi / 2) - self.mu * approach) / (self.mu * self.gravity))

    def truths(self, reference: Any) -> list[Truth]:
        """The truths of the planar case, and that the particle never leaves the plane of its throw."""
        aside = float(np.abs(reference.states_q[:, :2] @ self.axes[1]).max())
        reach = abs(self.speed) * reference.h * reference.steps
        straight = Truth("distance from a straight path", aside, 0.0, 1e-9 * reach, "m", "isotropy of Coulomb's disc")
        found = super().truths(reference)
        return [*found, straight] if found and reach > 0 else found
