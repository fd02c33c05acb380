"""A heavy cube on a light one of the same edge, at rest on the floor.

After Le Lidec et al. 2024. Two rigid bodies with the coordinates of `bodies`, the light one below, and eight
contacts: the lower corners of each cube on the floor or on the top face of the other. Nothing moves, the floor carries
both weights and the light cube the heavy one's. The distribution over four corners is not unique, and a formulation
that eliminates p_t needs constraint relaxation.

The difficulty is numerical. Impulses p whose natural-map residual is epsilon satisfy the contact laws up to velocities
u = epsilon s/rho, about epsilon |p| tr W_ii / 3 (formulary, section 7), where W_ii ~ 1/m is that of the light cube and
p that of the heavy one. The resulting errors are h u in gaps, 2 u below and 4 u above in velocities, and up to
8 (m_1 + m_2) u/h in the forces that correct them: in relative terms, epsilon times the mass ratio.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from workbench.engine.compiling import kernel
from workbench.mechanics.bodies import RigidBodies, fill_body, fill_contact, place, point_of, rotation
from workbench.mechanics.case import Array, Truth, quantity
from workbench.mechanics.core import FILL
from workbench.mechanics.solids import Plane, Solid, cuboid

ROUND_OFF = 8 * float(np.finfo(float).eps)
"""Relative round-off of sums over eight contacts and of coordinates."""


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `StackedCubes`."""
    half = 0.5 * data[EDGE]
    s, x, n, t, R = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros((3, 3))
    n[2] = t[0] = 1.0
    for k in range(2):
        m = data[M_] * (data[RATIO] if k else 1.0)
        inertia = m * data[EDGE] ** 2 / 6.0
        fill_body(core, v, k, m, inertia, inertia, inertia, data[G])
        # The plane below belongs to body k - 1: the floor (the ground is -1), or the top face of the light cube.
        level = 0.0
        if k == 1:
            rotation(q, 0, R)
            level = half
            for j in range(3):
                t[j], n[j] = R[j, 0], R[j, 2]
                level += n[j] * q[j]
        for i in range(4):
            s[0], s[1], s[2] = half if i % 2 else -half, half if i // 2 else -half, -half
            point_of(q, k, s, x)
            gap = n[0] * x[0] + n[1] * x[1] + n[2] * x[2] - level
            fill_contact(core, 4 * k + i, q, k - 1, k, x, n, t, gap, data[MU])


@dataclass(frozen=True)
class StackedCubes(RigidBodies):
    """Redundant contacts and a mass ratio of a million."""

    name: ClassVar[str] = "stacked-cubes"
    description: ClassVar[str] = "a heavy cube at rest on a light one; redundant contacts, ill-conditioned"
    source: ClassVar[str] = "after Le Lidec et al. 2024, Contact models in robotics, IEEE T-RO 40"
    size: ClassVar[tuple[int, int, int, int]] = (12, 0, 8, 2)
    duration: ClassVar[float] = 0.05
    windows: ClassVar[dict[str, tuple[float, float]]] = {"rest": (0.0, 0.05)}
    fill: ClassVar[Any] = staticmethod(fill)

    m: float = quantity(1.0, "kg", "mass of the light cube, below", "positive")
    ratio: float = quantity(1e6, "-", "ratio of the upper cube's mass to the lower one's", "positive")
    edge: float = quantity(0.1, "m", "edge of each cube", "positive")
    mu: float = quantity(0.5, "-", "friction coefficient", "nonnegative")

    def inertias(self) -> Array:
        m = np.array([self.m, self.ratio * self.m])
        return m[:, None] * np.array([1.0, *3 * [self.edge**2 / 6]])

    def start(self) -> tuple[Array, Array]:
        return place(((0.0, 0.0, 0.5 * self.edge),), ((0.0, 0.0, 1.5 * self.edge),)), np.zeros(12)

    def solids(self) -> list[Solid | Plane]:
        half = 3 * (0.5 * self.edge,)
        return [Plane("floor"), cuboid("light cube", half, body=0), cuboid("heavy cube", half, body=1)]

    def truths(self, reference: Any) -> list[Truth]:
        """Forces of each interface in the worst step, and displacement of the cubes; as accurate as the residual."""
        h, source = reference.h, "weight above, worst step"
        upper = self.ratio * self.m * self.gravity
        weight = np.array([self.m * self.gravity + upper, upper])
        forces = reference.p_n.reshape(-1, 2, 4).sum(axis=2) / h
        worst = forces[np.abs(forces - weight).argmax(axis=0), [0, 1]]
        q = reference.states_q.reshape(-1, 2, 7)[:, :, :3]
        moved = float(np.linalg.norm(q - q[0], axis=2).max())
        residual, judged = ROUND_OFF + float(reference.residuals.max()), reference.judged
        impulse = np.hypot(reference.p_n, np.linalg.norm(reference.p_t, axis=2))
        velocity = np.linalg.norm(np.maximum(judged.normaliser, impulse) / judged.rho, axis=1).max()
        u = float(residual * velocity + ROUND_OFF * self.edge / h)
        off = 8 * (1 + self.ratio) * self.m * u / h
        return [
            Truth("force on the floor", float(worst[0]), weight[0], off, "N", source),
            Truth("force between the cubes", float(worst[1]), weight[1], off, "N", source),
            Truth("displacement", moved, 0.0, 2 * u * h * reference.steps, "m", "rest"),
        ]


# Positions of the parameters in `data`, for the compiled mechanics.
G, M_, RATIO, EDGE, MU = StackedCubes.places("gravity", "m", "ratio", "edge", "mu")
