"""Islands of contact blocks; small ones are solved by the dense methods of `few_blocks`.

Their matrices A = L W R + N come from sparse products.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from workbench.algorithms.block_newton import BlockNewton
from workbench.algorithms.few_blocks import choose, solve_dense
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.residual import BlockSets
from workbench.support.arrays import Array

SWEEPS_OF_ONE = 2
"""Sweeps over blocks that are islands: the second one refines."""

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Island:
    """An island: its blocks in ascending order, their unknowns, and the method that solves it (`few_blocks`)."""

    blocks: Indices
    unknowns: Indices
    method: int


def ranges(starts: Indices, some: Indices) -> Indices:
    """Return starts[i] : starts[i + 1] for the given i, concatenated."""
    length = np.diff(starts)[some]
    return np.repeat(starts[some] - np.append(0, np.cumsum(length))[:-1], length) + np.arange(length.sum())


def islands(p: ContactBlocks) -> Iterator[Island]:
    """Iterate over all islands of a problem."""
    order = np.argsort(p.part, kind="stable")
    first = np.flatnonzero(np.diff(p.part[order], prepend=-1))
    k = np.diff(p.unknown)
    ordered, at = ranges(p.unknown, order), np.append(0, np.cumsum(k[order]))
    members, size, method = np.empty((3, p.blocks), dtype=np.int64)
    choose(p.arrays, p.part, members, size, method)
    for a, b in pairwise([*first.tolist(), order.size]):
        yield Island(order[a:b], ordered[at[a] : at[b]], int(method[order[a]]))


def _matrix(p: ContactBlocks, some: list[Island]) -> Any:
    """Return L W R + N of all these islands, sparse; None if the problem has the matrix of all blocks."""
    if p.few:
        return None
    unknowns = np.concatenate([island.unknowns for island in some])
    rows = ranges(p.row, np.concatenate([island.blocks for island in some]))
    L, N, R = p.whole
    J, V = p.rows[rows], p.responses[rows]
    return sparse.csr_array(L[unknowns][:, rows] @ (J @ V.T) @ R[rows][:, unknowns] + N[unknowns][:, unknowns])


def solve_islands(p: ContactBlocks, some: list[Island], x: Array) -> int:
    """Solve islands with a method into x (X,), initially guesses; returns the iterations."""
    A = _matrix(p, some)
    q, info, iterations, first = p.free[1], np.zeros(1, dtype=np.int64), 0, 0
    for island in some:
        u, blocks = island.unknowns, island.blocks
        own = p.few.A[np.ix_(u, u)] if A is None else A[first : first + u.size, first : first + u.size].toarray()
        ends, z = np.append(0, np.cumsum(np.diff(p.unknown)[blocks])), x[u]
        sets = BlockSets(ends, p.cone[blocks], p.mu[blocks], p.lower[u], p.upper[u])
        iterations += solve_dense(own, q[u], sets, island.method, z, info)
        if np.isfinite(z).all():
            x[u] = z
        first += u.size
    return iterations


def solve_single(p: ContactBlocks, blocks: Indices, x: Array) -> None:
    """Solve blocks that are islands by themselves into x (X,): a sweep solves them exactly."""
    blocks = np.sort(blocks)
    part = BlockNewton(p.among(blocks))
    unknowns = ranges(p.unknown, blocks)
    z = part.begin(x[unknowns])
    if part.sweep(SWEEPS_OF_ONE, z):
        x[unknowns] = part.x
