"""Sets of blocks whose rows are their own unknowns: projection, and how far an iterate is from the law, compiled.

Block i has the unknowns first[i] : first[i + 1], within a friction cone, normal first, a disc or [lower, upper].
"""

import numpy as np
from numba import types
from numpy.typing import NDArray

from workbench.arrays import Array
from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, VECTOR, set_all
from workbench.engine.scratch import scratch
from workbench.problems.block_kernels import disc_end, law_gap
from workbench.problems.residual import FAINT, FAR, length
from workbench.problems.sets import APART, DISC, NO_CONE

NUMBER = types.float64
SETS = (INDICES, INDICES, VECTOR, VECTOR, VECTOR)
"""first (B + 1,), cone (B,), mu (B,), lower, upper (X,)."""


def own_mobilities(own: Array, first: NDArray[np.int64], cone: NDArray[np.int64]) -> Array:
    """(R,) what a row does to itself, its mean over the rows of a cone.

    own: the diagonal blocks of W, flat, block after block, each row by row; first (B + 1,), cone (B,).
    """
    m = np.diff(first)
    block = np.repeat(np.arange(cone.size), m)
    within, at = np.arange(block.size) - first[block], np.cumsum(m * m) - m * m
    w: Array = own[at[block] + within * (m[block] + 1)]
    mean = np.bincount(block, w, cone.size)[block] / m[block]
    return np.where(cone[block] == NO_CONE, w, mean)


@kernel(types.void(types.int64, types.int64, NUMBER, VECTOR))
def project_disc(first, end, limit, y):
    """y[first : end] becomes the nearest point of the disc of radius `limit`."""
    radius = length(y, first, end)
    for k in range(first, end):
        y[k] *= limit / radius if radius > limit else 1.0


@kernel(types.void(*SETS, VECTOR))
def project_blocks(first, cone, mu, lower, upper, y):
    """y (X,) becomes the nearest point of the sets; in cones of several discs, of the discs for its own y_n >= 0."""
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


@kernel(NUMBER(*SETS, INDICES, VECTOR, VECTOR, VECTOR, VECTOR))
def worst_block(first, cone, mu, lower, upper, part, q, u, x, terms):
    """The residual at x with u = W x + q, terms (X,) = |W| |x|, which is lost; part (B,) as of `coupled_parts`.

    A cone's scale is that of `problems.residual.cone_residual`; an interval's is made likewise, of what its free
    velocity asks of it.
    """
    found, motion = 0.0, scratch(cone.shape[0])
    set_all(0.0, motion)
    for i in range(cone.shape[0]):
        size = ahead = free = moved = 0.0
        for k in range(first[i], first[i + 1]):
            size, ahead, free, moved = size + x[k] ** 2, ahead + u[k] ** 2, free + q[k] ** 2, moved + (u[k] - q[k]) ** 2
        here = max(ahead, free) if size > 0.0 else min(moved, free)
        motion[part[i]] = max(motion[part[i]], here)
    for i in range(cone.shape[0]):
        size = free = moved = made = gap = asked = 0.0
        for k in range(first[i], first[i + 1]):
            size, free, moved = size + x[k] ** 2, free + q[k] ** 2, moved + (u[k] - q[k]) ** 2
            made += terms[k] ** 2
            if cone[i] == NO_CONE:
                gap = np.hypot(gap, min(max(u[k], x[k] - upper[k]), x[k] - lower[k]))
                asked = max(asked, max(min(-q[k], max(upper[k], 0.0)), min(q[k], max(-lower[k], 0.0))))
            elif k == first[i]:
                asked = -q[k]
            terms[k] = u[k]
        if cone[i] != NO_CONE:
            gap = law_gap(cone[i], x[first[i] : first[i + 1]], terms[first[i] : first[i + 1]], mu[i])
        if cone[i] == DISC:
            asked = min(np.sqrt(free), mu[i])
        size = np.sqrt(size)
        scale = max(np.sqrt(moved), max(asked, FAINT * np.sqrt(free)))
        scale = max(scale, min(max(size, FAINT * np.sqrt(made)), FAR * np.sqrt(motion[part[i]])))
        if not np.isfinite(gap + scale):
            return np.inf
        if gap > 0.0:
            found = max(found, gap / scale if scale > 0.0 else np.inf)
    return found
