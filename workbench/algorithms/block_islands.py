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
from workbench.algorithms.coulomb_exact import CCP as CCP_EXACT
from workbench.algorithms.coulomb_exact import COULOMB as COULOMB_EXACT
from workbench.algorithms.coulomb_exact import ccp_kernel, coulomb_kernel
from workbench.algorithms.lemke.method import lemke_kernel
from workbench.algorithms.proximal import proximal_kernel
from workbench.arrays import Array
from workbench.problems.contact_blocks import COULOMB, NO_CONE, ContactBlocks
from workbench.problems.dense_blocks import normals_first
from workbench.problems.friction_problem import GlobalFrictionProblem
from workbench.problems.global_problem import GlobalConicQP, GlobalCoulombNCP

MOST_INTERVALS, MOST_CONES = 1200, 60
"""Unknowns up to which an island of intervals, and one of cones, goes to the dense methods."""
MOST_FALLBACK = 300
"""Blocks up to which an island of cones that is left unsolved goes to the solvers of friction problems, whose time on
what is hard for both is without limit."""
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


def solve_cones(p: ContactBlocks) -> Array | None:
    """x (X,) of an island of plain cones, by the exact solvers of friction problems over bodies; None of others."""
    if p.blocks > MOST_FALLBACK:
        return None
    laws, d = set(p.cone.tolist()), p.size // p.blocks - 1
    one_size = bool((np.diff(p.unknown) == 1 + d).all())
    if NO_CONE in laws or len(laws) > 1 or not one_size or d not in (1, 2) or p.N.any():
        return None
    if (p.whole[0] != sparse.eye_array(p.size)).nnz:
        return None
    order = normals_first(p)
    data = GlobalFrictionProblem(p.M, p.J.T[:, order], p.b, p.c[order], p.mu, d=d)
    problem: Any = GlobalCoulombNCP(data) if laws == {COULOMB} else GlobalConicQP(data)
    found = (COULOMB_EXACT if laws == {COULOMB} else CCP_EXACT).solve(problem)
    x = np.empty(p.size)
    x[order] = found.z
    return x


def solve_single(p: ContactBlocks, blocks: Indices, x: Array) -> None:
    """The answers of blocks that are islands by themselves into x (X,): a sweep solves them exactly."""
    blocks = np.sort(blocks)
    part = BlockNewton(p.among(blocks))
    unknowns = ranges(p.unknown, blocks)
    z = part.begin(x[unknowns])
    if part.sweep(SWEEPS_OF_ONE, z):
        x[unknowns] = part.x
