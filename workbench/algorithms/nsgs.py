"""Nonsmooth block Gauss-Seidel (NSGS) for friction cones, discs and intervals, over bodies.

Each block in turn is solved with the others held fixed (`gauss_seidel`): a cone exactly, a disc or a cone with separate
torsion and rolling by Newton steps, an interval row by row. Sphere contacts have their own sweeps (`spheres`).

Sources: Jourdan, Alart & Jean 1998; Acary, Bremond & Huber 2018. Guarantee: sweeps converge for associated flow with a
symmetric positive definite W, as block coordinate descent of a strictly convex energy; linearly, at a rate that falls
with the number of contacts stacked on one another. For Coulomb's law there is no proof, and sweeps may stall.
"""

from typing import Any

import numpy as np

from workbench.algorithms.first_order import FirstOrder, ScaledBlocks
from workbench.algorithms.gauss_seidel import FactoredDelassus, own_rows, sweeps_of_bodies
from workbench.problems.sets import APART, ASSOCIATED, COULOMB, DISC
from workbench.support.arrays import Array

AT_ONCE, MOST = 5, 10_000


class Sweeps:
    """State of the method."""

    def __init__(self, blocks: ScaledBlocks, x: Array):
        v = np.empty(blocks.velocities)
        blocks.velocity(x, v, np.empty(blocks.size))
        self.x, self.q, self.sets = x, blocks.q, blocks.sets
        self.W = FactoredDelassus(*blocks.J, *blocks.V, own_rows(self.sets.first), blocks.own, v)

    def advance(self, count: int) -> None:
        sweeps_of_bodies(self.W, self.q, self.sets, count, self.x)


def _of_spheres() -> Any:
    from workbench.algorithms.spheres import SOLVER

    return SOLVER


SOLVER = FirstOrder(
    name="nsgs",
    solves=frozenset({"conic QP", "global conic QP", "Coulomb NCP", "global Coulomb NCP", "contact blocks"}),
    guaranteed_for="associated flow, discs and intervals with W symmetric positive definite; Coulomb's law: no proof",
    source="Jourdan, Alart & Jean 1998",
    laws=frozenset({COULOMB, ASSOCIATED, APART, DISC}),
    begin=Sweeps,
    at_once=AT_ONCE,
    most=MOST,
    of_spheres=_of_spheres,
)
