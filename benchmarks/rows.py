"""A row of stacks of cubes that do not touch each other: a case of any size, for the growth of the cost."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import block_diag

from benchmarks.towers import tower_problem
from workbench.engine.compiling import kernel
from workbench.mechanics.bodies import RigidBodies, fill_body, fill_contact, place, point_of, rotation
from workbench.mechanics.case import Array, quantity
from workbench.mechanics.core import FILL
from workbench.problems.friction_problem import FrictionProblem
from workbench.problems.sets import normals_first

MASS, EDGE, DISTANCE = 1.0, 1.0, 2.0
ON_GROUND, BETWEEN = 0.5, 0.8
"""Friction coefficients; stacks slide on the ground and hold together."""
VARIETY = 8
"""Speeds that take turns along a row, so that long rows are as hard as short ones."""
INERTIA = MASS * EDGE**2 / 6
# Positions in `Row.data()`; gravity and the stick threshold come first.
G, HEIGHT = 1, 3


@kernel(FILL)
def fill(q, v, data, core):
    """Mass matrix, forces and Jacobians at (q, v); data in the order of the fields of `Row`."""
    s, x, n, t, R = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros((3, 3))
    half, height = 0.5 * EDGE, int(data[HEIGHT])
    for k in range(v.shape[0] // 6):
        fill_body(core, v, k, MASS, INERTIA, INERTIA, INERTIA, data[G])
        # What the cube stands on: the ground, which is body -1, or the top face of the cube below.
        below, level = -1, 0.0
        n[0] = n[1] = t[1] = t[2] = 0.0
        n[2] = t[0] = 1.0
        if k % height:
            below, level = k - 1, half
            rotation(q, below, R)
            for j in range(3):
                t[j], n[j] = R[j, 0], R[j, 2]
                level += n[j] * q[7 * below + j]
        for i in range(4):
            s[0], s[1], s[2] = half if i % 2 else -half, half if i // 2 else -half, -half
            point_of(q, k, s, x)
            gap = n[0] * x[0] + n[1] * x[1] + n[2] * x[2] - level
            fill_contact(core, 4 * k + i, q, below, k, x, n, t, gap, BETWEEN if k % height else ON_GROUND)


@dataclass(frozen=True)
class Row(RigidBodies):
    """Stacks side by side, sliding at speeds that differ from one to the next."""

    name: ClassVar[str] = "row"
    description: ClassVar[str] = "stacks of cubes sliding beside each other"
    source: ClassVar[str] = ""
    duration: ClassVar[float] = 1.0
    windows: ClassVar[dict[str, tuple[float, float]]] = {}
    fill: ClassVar[Any] = staticmethod(fill)

    stacks: float = quantity(1.0, "-", "stacks in the row", "positive")
    height: float = quantity(1.0, "-", "cubes of a stack", "positive")
    begin: float = quantity(0.0, "m", "place of the first stack")
    slowest: float = quantity(0.5, "m/s", "lowest speed, of the first stack")
    fastest: float = quantity(1.0, "m/s", "highest speed")

    @property
    def count(self) -> int:
        return int(self.stacks * self.height)

    @property
    def size(self) -> tuple[int, int, int, int]:
        return 6 * self.count, 0, 4 * self.count, 2

    def inertias(self) -> Array:
        return np.tile([MASS, *3 * [INERTIA]], (self.count, 1))

    @property
    def speeds(self) -> Array:
        return np.resize(np.linspace(self.slowest, self.fastest, VARIETY), int(self.stacks))

    @property
    def parts(self) -> "tuple[Row, ...]":
        """Its stacks."""
        if self.stacks == 1:
            return ()
        return tuple(
            replace(self, stacks=1.0, begin=self.begin + DISTANCE * k, slowest=speed, fastest=speed)
            for k, speed in enumerate(self.speeds)
        )

    def start(self) -> tuple[Array, Array]:
        v = np.zeros(6 * self.count)
        v[0::6] = np.repeat(self.speeds, int(self.height))
        levels = EDGE * (0.5 + np.arange(self.height))
        where = self.begin + DISTANCE * np.arange(self.stacks)
        return place(*(((x, 0.0, z),) for x in where for z in levels)), v

    def sketch(self) -> list[Any]:
        return []

    def truths(self, reference: Any) -> list[Any]:
        return []


@dataclass(frozen=True)
class Whole(Row):
    """The same row taken as one system."""

    parts: ClassVar[tuple] = ()  # type: ignore[assignment]


def row_problem(contacts: int, stack: int) -> FrictionProblem:
    """The friction problem of towers beside each other, `stack` contacts each and together `contacts`."""
    parts = [tower_problem(stack, k) for k in range(contacts // stack)]
    blocks = [p.by_contacts() for p in parts]
    order = normals_first(contacts, 2)
    W = block_diag(*(W.toarray() for W, _ in blocks))[np.ix_(order, order)]
    q = np.concatenate([q for _, q in blocks])[order]
    return FrictionProblem(W, q, np.concatenate([p.mu for p in parts]))
