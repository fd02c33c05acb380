"""Compiled projection on the sets of blocks whose rows are their own unknowns.

Block i has the unknowns first[i] : first[i + 1], within a friction cone, normal first, a disc or [lower, upper].
"""

import numpy as np
from numba import types
from numpy.typing import NDArray

from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR
from workbench.problems.residual import BLOCK_SETS, disc_end, length
from workbench.problems.sets import APART, DISC, NO_CONE
from workbench.support.arrays import Array

NUMBER = types.float64


def own_diagonal(own: Array, first: NDArray[np.int64]) -> Array:
    """(R,) diagonal of W, from its diagonal blocks, flat, block after block, each row by row; first (B + 1,)."""
    m = np.diff(first)
    block = np.repeat(np.arange(m.size), m)
    within, at = np.arange(block.size) - first[block], np.cumsum(m * m) - m * m
    found: Array = own[at[block] + within * (m[block] + 1)]
    return found


def own_mobilities(own: Array, first: NDArray[np.int64], cone: NDArray[np.int64]) -> Array:
    """(R,) diagonal of W, averaged over the rows of a cone; own, first as in `own_diagonal`, cone (B,)."""
    m, w = np.diff(first), own_diagonal(own, first)
    block = np.repeat(np.arange(cone.size), m)
    mean = np.bincount(block, w, cone.size)[block] / m[block]
    return np.where(cone[block] == NO_CONE, w, mean)


@kernel(types.void(types.int64, types.int64, NUMBER, VECTOR))
def project_disc(first, end, limit, y):
    """Project y[first : end] onto the disc of radius `limit`."""
    radius = length(y, first, end)
    for k in range(first, end):
        y[k] *= limit / radius if radius > limit else 1.0


@kernel(types.void(BLOCK_SETS, VECTOR))
def project_blocks(sets, y):
    """Project y (X,) onto the sets; in cones of several discs, onto the discs for its own y_n >= 0."""
    first, cone, mu, lower, upper = sets
    for i in range(cone.shape[0]):
        n, end = first[i], first[i + 1]
        if cone[i] == NO_CONE:
            for k in range(n, end):
                y[k] = min(max(y[k], lower[k]), upper[k])
            continue
        if cone[i] == DISC:
            project_disc(n, end, mu[i], y)
            continue
        if cone[i] == APART:
            y[n], k = max(y[n], 0.0), 1
            while k < end - n:
                last = disc_end(k, end - n)
                project_disc(n + k, n + last, mu[i] * y[n], y)
                k = last
            continue
        radius = 0.0
        for k in range(n + 1, end):
            radius += y[k] ** 2
        radius = np.sqrt(radius)
        outside = radius - mu[i] * y[n]
        if mu[i] * radius <= -y[n]:
            for k in range(n, end):
                y[k] = 0.0
        elif outside > 0.0:
            p_n = y[n] + mu[i] * outside / (1.0 + mu[i] ** 2)
            for k in range(n + 1, end):
                y[k] *= mu[i] * p_n / radius
            y[n] = p_n
