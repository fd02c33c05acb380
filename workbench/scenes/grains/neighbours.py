"""Pairs of spheres that are close: grids by size, so that a large sphere does not widen the search of the small."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR
from workbench.support.arrays import Array
from workbench.support.errors import DataError

MOST_PAIRS = 60
"""Candidates a sphere, on average. Contacts of spheres that do not overlap are below 8 + 4 sqrt 3 = 14.9 a sphere,
whatever their sizes (Kuperberg & Schramm 1994): more than this are no packing, or are too fast for the step."""
ROUNDING = 1e-12
"""Share by which distances may be larger, so that rounding loses no pair."""

I64 = types.int64
PAIRS = types.Array(I64, 2, "C")


@kernel(I64(I64, I64, I64, I64), linked=True)
def bucket(a, b, c, count):
    """Number of the bucket, of a power of two, that the cell (a, b, c) is in."""
    return ((a * 73856093) ^ (b * 19349663) ^ (c * 83492791)) & (count - 1)


@kernel(I64(MATRIX, VECTOR, INDICES, VECTOR, PAIRS))
def find_pairs(x, reach, level, side, pairs):
    """Fill pairs (., 2) with all that are close, as far as there is room; returns their number, or one that is larger
    than the room.

    A sphere stands in the grid of its level, in which cells are as wide as two of its largest spheres reach together:
    what is close to it, and of its level or above, stands in its cell of that grid or in one next to that.
    """
    N, room, buckets, count = reach.shape[0], pairs.shape[0], 1, 0
    while buckets < 2 * N:
        buckets *= 2
    head, following, cell = np.full(buckets, -1), np.empty(N, np.int64), np.empty((N, 3), np.int64)
    own = np.empty(3, np.int64)
    for i in range(N):
        for c in range(3):
            cell[i, c] = np.int64(np.floor(x[i, c] / side[level[i]]))
        k = bucket(cell[i, 0], cell[i, 1], cell[i, 2], buckets)
        following[i], head[k] = head[k], i
    for i in range(N):
        for up in range(level[i], side.shape[0]):
            for c in range(3):
                own[c] = np.int64(np.floor(x[i, c] / side[up]))
            # Cell 13 is that of the sphere; those behind it look at this one.
            alike = up == level[i]
            for near in range(14 if alike else 27):
                a, b, c = own[0] + near // 9 - 1, own[1] + near // 3 % 3 - 1, own[2] + near % 3 - 1
                j = head[bucket(a, b, c, buckets)]
                while j >= 0:
                    there = level[j] == up and cell[j, 0] == a and cell[j, 1] == b and cell[j, 2] == c
                    if there and not (alike and near == 13 and j <= i):
                        far = (x[i, 0] - x[j, 0]) ** 2 + (x[i, 1] - x[j, 1]) ** 2 + (x[i, 2] - x[j, 2]) ** 2
                        if far <= (1.0 + ROUNDING) * (reach[i] + reach[j]) ** 2:
                            if count == room:
                                return room + 1
                            pairs[count, 0], pairs[count, 1] = min(i, j), max(i, j)
                            count += 1
                    j = following[j]
    return count


def close_pairs(x: Array, reach: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All i < j with |x_i - x_j| <= reach_i + reach_j, in rising order; x (N, 3), reach (N,) > 0 [m].

    Levels of reach, each twice the one before, have a grid each. Raises DataError where there are more than
    `MOST_PAIRS` N pairs, without looking for more of them.
    """
    N = len(reach)
    level = np.floor(np.log2(reach / reach.min())).astype(np.int64)
    largest = np.zeros(int(level.max()) + 1)
    np.maximum.at(largest, level, reach)
    # Memory that is not written is not taken.
    pairs = np.empty((MOST_PAIRS * N, 2), dtype=np.int64)
    count = find_pairs(x, reach, level, 2.0 * (1.0 + ROUNDING) * np.maximum.accumulate(largest), pairs)
    if count > len(pairs):
        raise DataError(
            f"more than {MOST_PAIRS} pairs of spheres a sphere are close to each other; spheres that do not "
            "overlap have fewer: smaller radii, lower speeds or a smaller step are needed"
        )
    i, j = pairs[:count].T
    order = np.argsort(i * N + j)
    return i[order], j[order]
