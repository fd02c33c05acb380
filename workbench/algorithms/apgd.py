"""Accelerated projected gradient descent (APGD) for the CCP, over bodies: Nesterov's method with adaptive restart.

The CCP is the convex problem min 1/2 x.W x + q.x over the cones. A step goes from the extrapolated point y against the
gradient there, of a length 1 / L that is shortened until the quadratic model with L bounds the energy, and is
projected; the momentum is dropped where it points uphill. Source: Mazhar, Heyn, Negrut & Tasora 2015, algorithm 2
(Nesterov 1983; O'Donoghue & Candes 2015 for the restart). Guarantee: for W symmetric PSD and a problem that has an
answer the energy converges like 1 / k^2 between restarts. Cost of an iteration: one product with W.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from workbench.algorithms.block_sets import project_blocks
from workbench.algorithms.first_order import FirstOrder, ScaledBlocks, gather, scatter
from workbench.arrays import Array
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import VECTOR
from workbench.engine.stored import STORED
from workbench.problems.residual import BLOCK_SETS
from workbench.problems.sets import ASSOCIATED, DISC

AT_ONCE, MOST = 10, 20_000
DOUBLINGS = 60
"""Of L in one iteration, at most."""
LONGER = 0.9
"""What L is multiplied by after every iteration: lengths may grow again."""


@kernel(types.float64(types.float64, VECTOR))
def momentum(uphill, pace):
    """The share of the last step that the next extrapolation adds; pace = [theta, L] goes on, and starts anew where the
    momentum points uphill."""
    theta = pace[0]
    pace[0] = 0.5 * (theta * np.sqrt(theta**2 + 4.0) - theta**2)
    pace[1] *= LONGER
    if uphill > 0.0:
        pace[0] = 1.0
        return 0.0
    return theta * (1.0 - theta) / (theta**2 + pace[0])


class Iterates(NamedTuple):
    """x, y (X,) with u_x = W x + q, u_y = W y + q; pace = [theta, L]; v (n,), new, u (X,), which are lost."""

    x: Array
    u_x: Array
    y: Array
    u_y: Array
    pace: Array
    v: Array
    new: Array
    u: Array


ITERATES = argument_type(Iterates, *(VECTOR,) * 8)


@kernel(types.void(STORED, STORED, VECTOR, BLOCK_SETS, types.int64, ITERATES))
def accelerated(J, V, q, sets, count, on):
    """`count` iterations; J, V, q and sets are those of `first_order.ScaledBlocks`."""
    x, u_x, y, u_y, pace, v, new, u = on
    for _ in range(count):
        for _ in range(DOUBLINGS):
            for k in range(q.shape[0]):
                new[k] = y[k] - u_y[k] / pace[1]
            project_blocks(sets, new)
            scatter(V, new, v)
            gather(J, v, q, u)
            curved = moved = uphill = 0.0
            for k in range(q.shape[0]):
                curved += (new[k] - y[k]) * (u[k] - u_y[k])
                moved += (new[k] - y[k]) ** 2
                uphill += u_y[k] * (new[k] - x[k])
            if curved <= pace[1] * moved:
                break
            pace[1] *= 2.0
        share = momentum(uphill, pace)
        for k in range(q.shape[0]):
            y[k], u_y[k] = new[k] + share * (new[k] - x[k]), u[k] + share * (u[k] - u_x[k])
            x[k], u_x[k] = new[k], u[k]


class Accelerated:
    """The method on its way."""

    def __init__(self, blocks: ScaledBlocks, x: Array):
        v, u = np.empty(blocks.velocities), np.empty(blocks.size)
        blocks.velocity(x, v, u)
        self.blocks, self.x = blocks, x
        self.on = Iterates(x, u, x.copy(), u.copy(), np.ones(2), v, x.copy(), x.copy())

    def advance(self, count: int) -> None:
        b = self.blocks
        accelerated(b.J, b.V, b.q, b.sets, count, self.on)


SOLVER = FirstOrder(
    name="apgd",
    solves=frozenset({"conic QP", "global conic QP", "contact blocks"}),
    guaranteed_for="associated flow, discs, intervals, W symmetric PSD, in the limit: the energy falls like 1 / k^2",
    source="Mazhar, Heyn, Negrut & Tasora 2015",
    laws=frozenset({ASSOCIATED, DISC}),
    begin=Accelerated,
    at_once=AT_ONCE,
    most=MOST,
)
