"""Accelerated projected gradient descent (APGD) for the CCP, over bodies: Nesterov's method with adaptive restart.

The CCP is the convex problem min 1/2 x.W x + q.x over the cones. A step goes from the extrapolated point y against the
gradient there, of a length 1 / L that is shortened until the quadratic model with L bounds the energy, and is
projected; the momentum is dropped where it points uphill. Source: Mazhar, Heyn, Negrut & Tasora 2015, algorithm 2
(Nesterov 1983; O'Donoghue & Candes 2015 for the restart). Guarantee: for W symmetric PSD and a problem that has an
answer the energy converges like 1 / k^2 between restarts. Cost of an iteration: one product with W. It is written once:
`accelerated_over` makes of it the kernel for W however it is held, and for contacts of spheres (`sphere_gradient`).
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from workbench.algorithms.block_sets import project_blocks
from workbench.algorithms.first_order import FirstOrder, ScaledBlocks, gather, scatter
from workbench.arrays import Array
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import VECTOR
from workbench.engine.stored import STORED, Stored
from workbench.problems.residual import BLOCK_SETS
from workbench.problems.sets import ASSOCIATED, DISC, BlockSets

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
    """x, y (X,) with u_x = W x + q, u_y = W y + q; pace = [theta, L], L being in the metric `weight` (X,); new, u (X,),
    which are lost."""

    x: Array
    u_x: Array
    y: Array
    u_y: Array
    pace: Array
    weight: Array
    new: Array
    u: Array


ITERATES = argument_type(Iterates, *(VECTOR,) * 8)


def beginning(x: Array, u: Array, weight: Array) -> Iterates:
    """Without momentum, from x (X,), where W x + q = u."""
    return Iterates(x, u, x.copy(), u.copy(), np.ones(2), weight, np.empty_like(x), np.empty_like(x))


def accelerated_over(operator: Any, project: Any, velocity: Any) -> Any:
    """The kernel accelerated(W, count, on) for W of one type: `count` iterations of the iterates `on`.

    project(W, x): x (X,) becomes the nearest point of the sets; velocity(W, x, u): u = W x + q.
    """

    @kernel(types.void(operator, types.int64, ITERATES))
    def accelerated(W, count, on):
        x, u_x, y, u_y, pace, weight, new, u = on
        for _ in range(count):
            for _ in range(DOUBLINGS):
                for k in range(x.shape[0]):
                    new[k] = y[k] - u_y[k] / (pace[1] * weight[k])
                project(W, new)
                velocity(W, new, u)
                curved = moved = uphill = 0.0
                for k in range(x.shape[0]):
                    change = new[k] - y[k]
                    curved += change * (u[k] - u_y[k])
                    moved += change * change * weight[k]
                    uphill += u_y[k] * (new[k] - x[k])
                if curved <= pace[1] * moved:
                    break
                pace[1] *= 2.0
            share = momentum(uphill, pace)
            for k in range(x.shape[0]):
                y[k], u_y[k] = new[k] + share * (new[k] - x[k]), u[k] + share * (u[k] - u_x[k])
                x[k], u_x[k] = new[k], u[k]

    return accelerated


class OverBodies(NamedTuple):
    """J, V, q and sets as in `first_order.ScaledBlocks`; v (n,), which is lost."""

    J: Stored
    V: Stored
    q: Array
    sets: BlockSets
    v: Array


OVER_BODIES = argument_type(OverBodies, STORED, STORED, VECTOR, BLOCK_SETS, VECTOR)


@kernel(types.void(OVER_BODIES, VECTOR))
def project_on_sets(W, x):
    """`project` of blocks."""
    project_blocks(W.sets, x)


@kernel(types.void(OVER_BODIES, VECTOR, VECTOR))
def velocity_over_bodies(W, x, u):
    """`velocity` of blocks."""
    scatter(W.V, x, W.v)
    gather(W.J, W.v, W.q, u)


accelerated_blocks = accelerated_over(OVER_BODIES, project_on_sets, velocity_over_bodies)


class Accelerated:
    """The method on its way."""

    def __init__(self, blocks: ScaledBlocks, x: Array):
        self.x, u = x, np.empty(blocks.size)
        self.W = OverBodies(blocks.J, blocks.V, blocks.q, blocks.sets, np.empty(blocks.velocities))
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
