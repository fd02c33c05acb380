"""Nested dissection of a packing: an elimination order of its bodies that keeps the factors small.

A set of bodies is bisected across its longest side. The smallest set of bodies that covers all contacts between the
halves (Koenig's theorem, from a maximum matching) is eliminated last, and the halves before it, recursively in the same
way. George 1973; a cube of N bodies has factors of N^(4/3) numbers and takes N^2 operations.

Positions are computed from the contacts: the normal of two spheres is the line through their centres, and the arms add
up to the distance.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from workbench.problems.contact_blocks import Indices
from workbench.support.arrays import Array

FEW = 24
"""Largest set of bodies that is not cut further."""


@dataclass(frozen=True)
class Front:
    """Bodies eliminated together, the later bodies coupled to them, and the fronts directly before this one."""

    pivots: Indices
    rest: Indices
    before: tuple[int, ...]


def neighbours(pair: Indices, N: int) -> tuple[Any, Indices]:
    """Return the contact graph of N bodies (N, N), sparse, and one contact for every edge, from `pair` (B, 2)."""
    inner = np.flatnonzero((pair < N).all(axis=1))
    ends = np.sort(pair[inner], axis=1)
    _, first = np.unique(ends[:, 0] * N + ends[:, 1], return_index=True)
    kept = inner[first]
    a, b = pair[kept].T
    ones = np.ones(2 * kept.size)
    return sparse.csr_array((ones, (np.r_[a, b], np.r_[b, a])), shape=(N, N)), kept


def places(pair: Indices, step: Array, graph: Any) -> Array:
    """Return centres (N, 3) relative to one body of every island; step (B, 3) goes from pair[:, 1] to pair[:, 0]."""
    N = graph.shape[0]
    # An extra body connected to one of every island joins all of them.
    _, island = csgraph.connected_components(graph, directed=False)
    roots = np.unique(island, return_index=True)[1]
    a, b = np.r_[pair[:, 0], np.full(roots.size, N)], np.r_[pair[:, 1], roots]
    number = np.arange(1.0, a.size + 1)
    whole = sparse.csr_array((np.r_[number, -number], (np.r_[a, b], np.r_[b, a])), shape=(N + 1, N + 1))
    order, before = csgraph.breadth_first_order(whole, N)
    steps = np.vstack([step, np.zeros((roots.size, 3))])
    x = np.zeros((N + 1, 3))
    edge = np.asarray(whole[before[order[1:]], order[1:]]).ravel().astype(int)
    step_to = -np.sign(edge)[:, None] * steps[abs(edge) - 1]
    for i, away in zip(order[1:], step_to, strict=True):
        x[i] = x[before[i]] + away
    return x[:N]


def cover(cut: Any) -> tuple[Any, Any]:
    """Return the smallest set of rows and columns (bool each) that covers all entries of `cut`, sparse."""
    match = csgraph.maximum_bipartite_matching(cut, perm_type="column")
    partner = np.full(cut.shape[1], -1)
    partner[match[match >= 0]] = np.flatnonzero(match >= 0)
    filled = np.diff(cut.indptr) > 0
    rows, columns = (match < 0) & filled, np.zeros(cut.shape[1], dtype=bool)
    reached = rows
    while reached.any():
        columns |= reached @ abs(cut) > 0
        found = partner[columns]
        reached = np.zeros_like(rows)
        reached[found[found >= 0]] = True
        reached &= ~rows
        rows = rows | reached
    return filled & ~rows, columns


def dissected(x: Array, graph: Any) -> list[Front]:
    """Return the fronts of all bodies at x (N, 3), in the order of elimination."""
    cuts: list[tuple[Indices, tuple[int, ...]]] = []
    _cut(x, graph, np.arange(x.shape[0]), cuts)
    rank = np.empty(x.shape[0], dtype=np.int64)
    rank[np.concatenate([pivots for pivots, _ in cuts])] = np.arange(rank.size)
    fronts: list[Front] = []
    for pivots, before in cuts:
        near = np.unique(np.concatenate([graph[pivots].indices, *(fronts[k].rest for k in before)]))
        fronts.append(Front(pivots, near[rank[near] > rank[pivots].max()], before))
    return fronts


def _cut(x: Array, graph: Any, bodies: Indices, cuts: list[tuple[Indices, tuple[int, ...]]]) -> tuple[int, ...]:
    """Append the cuts of `bodies`, and return the indices of the last ones, which no other cut follows."""
    if not bodies.size:
        return ()
    if bodies.size <= FEW:
        cuts.append((bodies, ()))
        return (len(cuts) - 1,)
    axis = np.argmax(np.ptp(x[bodies], axis=0))
    ordered = bodies[np.argsort(x[bodies, axis], kind="stable")]
    low, high = ordered[: bodies.size // 2], ordered[bodies.size // 2 :]
    of_low, of_high = cover(sparse.csr_array(graph[low][:, high]))
    last = _cut(x, graph, low[~of_low], cuts) + _cut(x, graph, high[~of_high], cuts)
    between = np.r_[low[of_low], high[of_high]]
    if not between.size:
        return last
    cuts.append((between, last))
    return (len(cuts) - 1,)
