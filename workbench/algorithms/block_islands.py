"""Islands of contact blocks that are small: each as the dense problem F = A x + q that it is, A = L W R + N.

Those of unknowns that are not negative go to Lemke's method, symmetric ones with other bounds to that for MLCPs, and
those of friction cones of one law and one number of directions to the exact solvers of friction problems.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from workbench.algorithms.block_newton import BlockNewton
from workbench.algorithms.coulomb_exact import ccp_kernel, coulomb_kernel
from workbench.algorithms.lemke.method import lemke_kernel
from workbench.algorithms.proximal import proximal_kernel
from workbench.arrays import Array
from workbench.problems.contact_blocks import COULOMB, NO_CONE, ContactBlocks

MOST_INTERVALS, MOST_CONES = 1200, 60
"""Unknowns up to which an island of intervals, and one of cones, goes to the dense methods."""
SWEEPS_OF_ONE = 2
"""Sweeps over blocks that are islands: the second one refines."""

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Island:
    """Blocks in ascending order, their unknowns, and the compiled method that takes the island; None where none does.

    A method for cones has its unknowns in the order [n (r), t (d r)].
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
    plain, symmetric = np.ones(p.blocks, dtype=bool), np.ones(p.blocks, dtype=bool)
    plain[p.block_of_unknown[(p.lower != 0) | (p.upper != np.inf)]] = False
    L, N, R = p.whole
    for apart in (L - R.T, N - N.T):
        symmetric[p.block_of_unknown[apart.tocoo().row[apart.data != 0]]] = False
    for a, b in pairwise([*first.tolist(), order.size]):
        blocks, unknowns = order[a:b], ordered[at[a] : at[b]]
        laws, sizes = set(p.cone[blocks].tolist()), set(k[blocks].tolist())
        method: Any = None
        if laws == {NO_CONE} and unknowns.size <= MOST_INTERVALS:
            if plain[blocks].all():
                method = lemke_kernel
            elif symmetric[blocks].all():
                method = proximal_kernel
        elif NO_CONE not in laws and len(laws) == len(sizes) == 1 and sizes <= {2, 3} and unknowns.size <= MOST_CONES:
            method = coulomb_kernel if laws == {COULOMB} else ccp_kernel
            grouped = unknowns.reshape(blocks.size, -1)
            unknowns = np.concatenate([grouped[:, 0], grouped[:, 1:].ravel()])
        yield Island(blocks, unknowns, method)


def solve_dense(p: ContactBlocks, some: list[Island], x: Array) -> int:
    """The answers of islands with a method into x (X,), guesses at first; returns the iterations."""
    unknowns = np.concatenate([island.unknowns for island in some])
    rows = ranges(p.row, np.concatenate([island.blocks for island in some]))
    L, N, R = p.whole
    J, V = p.rows[rows], p.responses[rows]
    A = sparse.csr_array(L[unknowns][:, rows] @ (J @ V.T) @ R[rows][:, unknowns] + N[unknowns][:, unknowns])
    q, info, iterations, first = p.free[1], np.zeros(1, dtype=np.int64), 0, 0
    for island in some:
        u, r = island.unknowns, island.blocks.size
        own = A[first : first + u.size, first : first + u.size].toarray()
        z = x[u]
        assert island.method is not None
        island.method(own, q[u], p.lower[u], p.upper[u], p.mu[island.blocks], u.size // r - 1, z, info)
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
