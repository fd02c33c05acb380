"""Accelerated projected gradients for any storage of W, in one kernel.

Nesterov's method with the backtracking and the adaptive restart of `apgd`, which lists the sources.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import VECTOR
from workbench.support.arrays import Array

DOUBLINGS = 60
"""Maximum number of doublings of L in one iteration."""
LONGER = 0.9
"""Factor of L after every iteration, so that step lengths may grow again."""


@kernel(types.float64(types.float64, VECTOR))
def momentum(uphill, pace):
    """Return the momentum: the share of the last step that the next extrapolation adds.

    pace = [theta, L] is updated, and restarted if the momentum points uphill."""
    theta = pace[0]
    pace[0] = 0.5 * (theta * np.sqrt(theta**2 + 4.0) - theta**2)
    pace[1] *= LONGER
    if uphill > 0.0:
        pace[0] = 1.0
        return 0.0
    return theta * (1.0 - theta) / (theta**2 + pace[0])


class Iterates(NamedTuple):
    """State of the iteration.

    x, y (X,) with u_x = W x + q, u_y = W y + q; pace = [theta, L], L being in the metric `weight` (X,); new, u (X,) are
    work arrays."""

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
    """Start without momentum from x (X,), where W x + q = u."""
    return Iterates(x, u, x.copy(), u.copy(), np.ones(2), weight, np.empty_like(x), np.empty_like(x))


def accelerated_over(operator: Any, project: Any, velocity: Any) -> Any:
    """Return the kernel accelerated(W, count, on) for one type of W: `count` iterations on the iterates `on`.

    project(W, x) replaces x (X,) by the nearest point of the sets; velocity(W, x, u) computes u = W x + q.
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
