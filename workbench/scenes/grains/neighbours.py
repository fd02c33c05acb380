"""Pairs of spheres that are close: k-d trees by size, so that a large sphere does not widen the search of the small."""

import numpy as np
from numpy.typing import NDArray

from workbench.engine.lazy import spatial
from workbench.support.arrays import Array
from workbench.support.errors import DataError

MOST_PAIRS = 60
"""Candidates a sphere, on average. Contacts of spheres that do not overlap are below 8 + 4 sqrt 3 = 14.9 a sphere,
whatever their sizes (Kuperberg & Schramm 1994): more than this are no packing, or are too fast for the step."""


def close_pairs(x: Array, reach: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All i < j with |x_i - x_j| <= reach_i + reach_j, and some more, in rising order; x (N, 3), reach (N,) > 0 [m].

    Classes of reach, each twice the one before, have a tree each. Raises DataError where there are more than
    `MOST_PAIRS` N pairs, before any of them is listed.
    """
    N = len(reach)
    classes = np.floor(np.log2(reach / reach.min())).astype(np.int64)
    members = [np.flatnonzero(classes == c) for c in np.unique(classes)]
    trees = [spatial.cKDTree(x[own], balanced_tree=False, compact_nodes=False) for own in members]
    within = [float(reach[own].max()) for own in members]
    left, found = MOST_PAIRS * N, []
    for a, small in enumerate(members):
        for b in range(a, len(members)):
            radius = within[a] + within[b]
            count = trees[a].count_neighbors(trees[b], radius)
            left -= (count - len(small)) // 2 if a == b else count
            if left < 0:
                raise DataError(
                    f"more than {MOST_PAIRS} pairs of spheres a sphere are close to each other; spheres that do not "
                    "overlap have fewer: smaller radii, lower speeds or a smaller step are needed"
                )
            if a == b:
                pairs = trees[a].query_pairs(radius, output_type="ndarray")
                found.append(small[pairs])
            elif count:
                near = trees[a].sparse_distance_matrix(trees[b], radius, output_type="ndarray")
                found.append(np.stack([small[near["i"]], members[b][near["j"]]], axis=-1))
    pairs = np.concatenate(found)
    i, j = pairs.min(axis=1), pairs.max(axis=1)
    order = np.argsort(i * N + j)
    return i[order], j[order]
