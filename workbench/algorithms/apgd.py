"""Accelerated projected gradient descent (APGD) for the CCP, over bodies: Nesterov's method with adaptive restart.

The CCP is the convex problem min 1/2 x.W x + q.x over the cones. A step goes from the extrapolated point y along the
negative gradient and is projected; its length 1 / L is reduced until the quadratic model with L bounds the energy. The
momentum is reset if it points uphill. Source: Mazhar, Heyn, Negrut & Tasora 2015, algorithm 2 (Nesterov 1983;
O'Donoghue & Candes 2015 for the restart). Guarantee: for W symmetric PSD and a solvable problem the energy converges
like 1 / k^2 between restarts. Cost of an iteration: one product with W. The iteration is in `accelerated`, for any
storage of W; sphere contacts have their own form (`sphere_gradient`).
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from workbench.algorithms.accelerated import accelerated_over, beginning
from workbench.algorithms.block_sets import project_blocks
from workbench.algorithms.first_order import FirstOrder, ScaledBlocks, gather, scatter
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import VECTOR
from workbench.engine.stored import STORED, Stored
from workbench.problems.residual import BLOCK_SETS
from workbench.problems.sets import ASSOCIATED, DISC, BlockSets
from workbench.support.arrays import Array

AT_ONCE, MOST = 10, 20_000


class ScaledBodies(NamedTuple):
    """J, V, q and sets as in `first_order.ScaledBlocks`; v (n,) is a work array."""

    J: Stored
    V: Stored
    q: Array
    sets: BlockSets
    v: Array


OVER_BODIES = argument_type(ScaledBodies, STORED, STORED, VECTOR, BLOCK_SETS, VECTOR)


@kernel(types.void(OVER_BODIES, VECTOR))
def project_on_sets(W, x):
    """Project onto the sets of blocks."""
    project_blocks(W.sets, x)


@kernel(types.void(OVER_BODIES, VECTOR, VECTOR))
def velocity_over_bodies(W, x, u):
    """Compute the velocity u = W x + q of blocks."""
    scatter(W.V, x, W.v)
    gather(W.J, W.v, W.q, u)


accelerated_blocks = accelerated_over(OVER_BODIES, project_on_sets, velocity_over_bodies)


class Accelerated:
    """State of the method."""

    def __init__(self, blocks: ScaledBlocks, x: Array):
        self.x, u = x, np.empty(blocks.size)
        self.W = ScaledBodies(blocks.J, blocks.V, blocks.q, blocks.sets, np.empty(blocks.velocities))
        velocity_over_bodies(self.W, x, u)
        self.on = beginning(x, u, np.ones(x.size))

    def advance(self, count: int) -> None:
        accelerated_blocks(self.W, count, self.on)


def _of_spheres() -> Any:
    from workbench.algorithms.sphere_gradient import SOLVER

    return SOLVER


SOLVER = FirstOrder(
    name="apgd",
    solves=frozenset({"conic QP", "global conic QP", "contact blocks"}),
    guaranteed_for="associated flow, discs, intervals, W symmetric PSD, in the limit: the energy falls like 1 / k^2",
    source="Mazhar, Heyn, Negrut & Tasora 2015",
    laws=frozenset({ASSOCIATED, DISC}),
    begin=Accelerated,
    at_once=AT_ONCE,
    most=MOST,
    of_spheres=_of_spheres,
)
