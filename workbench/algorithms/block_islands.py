"""Islands of contact blocks that are small: each as the dense problem F = A x + q that it is, A = L W R + N.

Those of unknowns that are not negative go to Lemke's method, symmetric ones with other bounds to that for MLCPs; those
with friction cones, and rows of limits, boxes or bilateral constraints beside them, to the solver of some contacts in
one go.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from workbench.algorithms.block_newton import BlockNewton
from workbench.algorithms.lemke.method import lemke_kernel
from workbench.algorithms.proximal import proximal_kernel
from workbench.algorithms.small_cones import VERIFIED, solve_small
from workbench.arrays import Array
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.residual import BlockSets
from workbench.problems.sets import NO_CONE

MOST_INTERVALS, MOST_CONES = 1200, 150
"""Unknowns up to which an island of intervals, and one with cones, goes to the dense methods."""
STARTS = 3
"""Times that the solver of small islands with cones begins, from where it ended, until it comes to `VERIFIED`."""
SWEEPS_OF_ONE = 2
"""Sweeps over blocks that are islands: the second one refines."""

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Island:
    """Blocks in ascending order, their unknowns, and the compiled method that takes the island; None where none does.

    The method is a `kernels.SOLVE` for intervals, `solve_small` with cones among them.
    """

    blocks: Indices
    unknowns: Indices
    method: Callable | None


def ranges(starts: Indices, some: Indices) -> Indices:
    """starts[i] : starts[i + 1] of some i, one after another."""
    length = np.diff(starts)[some]
    return np.repeat(starts[some] - np.append(0, np.cumsum(length))[:-1], length) + np.arange(length.sum())


def islands(p: ContactBlocks) -> Iterator[Island]:
    """All islands of a problem."""
    order = np.argsort(p.part, kind="stable")
    first = np.flatnonzero(np.diff(p.part[order], prepend=-1))
    k = np.diff(p.unknown)
    ordered, at = ranges(p.unknown, order), np.append(0, np.cumsum(k[order]))
    plain = np.ones(p.blocks, dtype=bool)
    plain[p.block_of_unknown[(p.lower != 0) | (p.upper != np.inf)]] = False
    symmetric = None
    for a, b in pairwise([*first.tolist(), order.size]):
        blocks, unknowns = order[a:b], ordered[at[a] : at[b]]
        method: Any = None
        if (p.cone[blocks] != NO_CONE).any():
            method = solve_small if unknowns.size <= MOST_CONES else None
        elif unknowns.size <= MOST_INTERVALS and plain[blocks].all():
            method = lemke_kernel
        elif unknowns.size <= MOST_INTERVALS and blocks.size > 1:
            symmetric = _symmetric(p) if symmetric is None else symmetric
            method = proximal_kernel if symmetric[blocks].all() else None
        yield Island(blocks, unknowns, method)


def _symmetric(p: ContactBlocks) -> NDArray[np.bool_]:
    """Which blocks (B,) have R = L^T and a symmetric N; to ask takes longer than to solve a robot's contacts."""
    found = np.ones(p.blocks, dtype=bool)
    L, N, R = p.whole
    for apart in (L - R.T, N - N.T):
        found[p.block_of_unknown[apart.tocoo().row[apart.data != 0]]] = False
    return found


def _matrix(p: ContactBlocks, some: list[Island]) -> Any:
    """L W R + N of all these islands, sparse; None where the problem has the matrix of all blocks."""
    if p.small:
        return None
    unknowns = np.concatenate([island.unknowns for island in some])
    rows = ranges(p.row, np.concatenate([island.blocks for island in some]))
    L, N, R = p.whole
    J, V = p.rows[rows], p.responses[rows]
    return sparse.csr_array(L[unknowns][:, rows] @ (J @ V.T) @ R[rows][:, unknowns] + N[unknowns][:, unknowns])


def dense_matrix(p: ContactBlocks) -> Array:
    """L W R + N (X, X) of a small island."""
    A = _matrix(p, list(islands(p)))
    return p.small.A if A is None else A.toarray()


def solve_dense(p: ContactBlocks, some: list[Island], x: Array) -> int:
    """The answers of islands with a method into x (X,), guesses at first; returns the iterations."""
    A = _matrix(p, some)
    q, info, iterations, first = p.free[1], np.zeros(1, dtype=np.int64), 0, 0
    for island in some:
        u, blocks = island.unknowns, island.blocks
        own = p.small.A[np.ix_(u, u)] if A is None else A[first : first + u.size, first : first + u.size].toarray()
        z = x[u]
        method = island.method
        assert method is not None
        if method is solve_small:
            ends = np.append(0, np.cumsum(np.diff(p.unknown)[blocks]))
            sets = BlockSets(ends, p.cone[blocks], p.mu[blocks], p.lower[u], p.upper[u])
            steps = 0
            for _ in range(STARTS):
                residual = solve_small(own, q[u], sets, z, z, info)
                steps += int(info[0])
                if not VERIFIED < residual < np.inf:
                    break
            info[0] = steps
        else:
            method(own, q[u], p.lower[u], p.upper[u], p.mu[blocks], 0, z, info)
        if np.isfinite(z).all():
            x[u] = z
        iterations, first = iterations + int(info[0]), first + u.size
    return iterations


def solve_single(p: ContactBlocks, blocks: Indices, x: Array) -> None:
    """The answers of blocks that are islands by themselves into x (X,): a sweep solves them exactly."""
    blocks = np.sort(blocks)
    part = BlockNewton(p.among(blocks))
    unknowns = ranges(p.unknown, blocks)
    z = part.begin(x[unknowns])
    if part.sweep(SWEEPS_OF_ONE, z):
        x[unknowns] = part.x
