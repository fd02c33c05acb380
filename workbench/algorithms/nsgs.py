"""Nonsmooth block Gauss-Seidel (NSGS) for friction cones and intervals, over bodies.

Each block in turn is solved with the others held: a cone exactly (`one_contact`), an interval row by row. Source:
Jourdan, Alart & Jean 1998; Acary, Bremond & Huber 2018. Guarantee: sweeps converge for associated flow with a symmetric
positive definite W, as a block coordinate descent of a strictly convex energy does; linearly, at a rate that falls with
the number of contacts that stand on one another. For Coulomb's law there is no proof, and sweeps may stall.
"""

import numpy as np
from numba import types

from workbench.algorithms.block_sets import SETS
from workbench.algorithms.first_order import STORED, Blocks, FirstOrder
from workbench.algorithms.one_contact import one_contact
from workbench.arrays import Array
from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR
from workbench.engine.scratch import scratch
from workbench.problems.sets import ASSOCIATED, COULOMB, NO_CONE

AT_ONCE, MOST = 5, 10_000


@kernel(types.void(*STORED, *STORED, VECTOR, VECTOR, *SETS, types.int64, VECTOR, VECTOR))
def sweep_blocks(J_first, J_column, J, V_first, V_column, V, own, q, first, cone, mu, lower, upper, count, v, x):
    """`count` sweeps over x (X,); v (n,) = V^T x follows it. Arguments as `first_order.Blocks` has them."""
    widest = 1
    for i in range(cone.shape[0]):
        widest = max(widest, first[i + 1] - first[i])
    blocks, frees, nows = scratch(widest * widest), scratch(widest), scratch(widest)
    for _ in range(count):
        at = 0
        for i in range(cone.shape[0]):
            top, k = first[i], first[i + 1] - first[i]
            for a in range(k):
                free = q[top + a]
                for p in range(J_first[top + a], J_first[top + a + 1]):
                    free += J[p] * v[J_column[p]]
                for b in range(k):
                    blocks[a * k + b] = own[at + a * k + b]
                    free -= own[at + a * k + b] * x[top + b]
                frees[a], nows[a] = free, x[top + a]
            at += k * k
            if cone[i] != NO_CONE:
                one_contact(blocks[: k * k].reshape(k, k), frees[:k], mu[i : i + 1], cone[i] == ASSOCIATED, nows[:k])
            else:
                for a in range(k):
                    u = frees[a]
                    for b in range(k):
                        u += blocks[a * k + b] * nows[b]
                    diagonal = blocks[a * k + a]
                    step = u / diagonal if diagonal > 0.0 else np.copysign(np.inf, u) if u != 0.0 else 0.0
                    nows[a] = min(max(nows[a] - step, lower[top + a]), upper[top + a])
            for a in range(k):
                change = nows[a] - x[top + a]
                if change != 0.0:
                    for p in range(V_first[top + a], V_first[top + a + 1]):
                        v[V_column[p]] += V[p] * change
                x[top + a] = nows[a]


class Sweeps:
    """The method on its way."""

    def __init__(self, blocks: Blocks, x: Array):
        self.blocks, self.x = blocks, x
        self.v, u = np.empty(blocks.velocities), np.empty(blocks.size)
        blocks.velocity(x, self.v, u)

    def advance(self, count: int) -> None:
        b = self.blocks
        sweep_blocks(*b.J, *b.V, b.own, b.q, *b.sets, count, self.v, self.x)


SOLVER = FirstOrder(
    name="nsgs",
    solves=frozenset({"conic QP", "global conic QP", "Coulomb NCP", "global Coulomb NCP", "contact blocks"}),
    guaranteed_for="associated flow and intervals with W symmetric positive definite; Coulomb's law: no proof",
    source="Jourdan, Alart & Jean 1998",
    laws=frozenset({COULOMB, ASSOCIATED}),
    begin=Sweeps,
    at_once=AT_ONCE,
    most=MOST,
)
