"""A row of cubes on the ground that do not touch each other: a case of any size, for the growth of the cost."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numba import njit
from scipy.linalg import block_diag

from benchmarks.towers import tower_problem
from workbench.bodies import GROUND, RigidBodies, place, point_of, put_body, put_contact
from workbench.case import Array, quantity
from workbench.friction_problem import FrictionProblem, normals_first
from workbench.stepping import FILL

MASS, EDGE, DISTANCE, MU = 1.0, 1.0, 2.0, 0.5
INERTIA = MASS * EDGE**2 / 6


@njit(FILL, cache=True)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `Row`."""
    s, x, n, t = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    n[2] = t[0] = 1.0
    half = 0.5 * EDGE
    for k in range(v.shape[0] // 6):
        put_body(core, v, k, MASS, INERTIA, INERTIA, INERTIA, data[1])
        for i in range(4):
            s[0], s[1], s[2] = half if i % 2 else -half, half if i // 2 else -half, -half
            point_of(q, k, s, x)
            put_contact(core, 4 * k + i, q, GROUND, k, x, n, t, x[2], MU)


@dataclass(frozen=True)
class Row(RigidBodies):
    """Cubes side by side, each sliding at a speed of its own."""

    name: ClassVar[str] = "row"
    description: ClassVar[str] = "cubes sliding beside each other"
    source: ClassVar[str] = ""
    duration: ClassVar[float] = 1.0
    windows: ClassVar[dict[str, tuple[float, float]]] = {}
    fill: ClassVar[Any] = staticmethod(fill)

    bodies: float = quantity(1.0, "-", "cubes", "positive")

    @property
    def count(self) -> int:
        return int(self.bodies)

    @property
    def size(self) -> tuple[int, int, int, int]:
        return 6 * self.count, 0, 4 * self.count, 2

    def inertias(self) -> Array:
        return np.tile([MASS, *3 * [INERTIA]], (self.count, 1))

    def start(self) -> tuple[Array, Array]:
        v = np.zeros(6 * self.count)
        v[0::6] = np.linspace(0.5, 1.0, self.count)
        return place(*(((DISTANCE * k, 0.0, 0.5 * EDGE),) for k in range(self.count))), v

    def sketch(self) -> list[Any]:
        return []

    def truths(self, reference: Any) -> list[Any]:
        return []


def row_problem(contacts: int, stack: int) -> FrictionProblem:
    """The friction problem of towers beside each other, `stack` contacts each and together `contacts`."""
    parts = [tower_problem(stack, k) for k in range(contacts // stack)]
    blocks = [p.by_contacts() for p in parts]
    order = normals_first(contacts, 2)
    W = block_diag(*(W.toarray() for W, _ in blocks))[np.ix_(order, order)]
    q = np.concatenate([q for _, q in blocks])[order]
    return FrictionProblem(W, q, np.concatenate([p.mu for p in parts]))
