"""Newton's method over contact blocks of any sets, in scaled impulses; it implements the methods of `stages`.

Every block's law is an equation between its impulses P = R x and velocities u (`block_laws`), with C dP + B du = - gap,
and the dynamics are M dv = J^T dP. The blocks are eliminated, and the factored matrix is

    M + J^T D J,   D = (C + eps B)^-1 B,

with a block for every two bodies in contact, whereas W has one for every two contacts of a body. A sticking contact
enters like a penalty 1 / eps, which costs digits; refinement on the equations before elimination, with the same eps,
recovers them.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from workbench.algorithms import best
from workbench.algorithms.base import EXACT
from workbench.algorithms.block_laws import FREE, FROM_LOWER, FROM_UPPER, TWO_SIDED, BlockMetric, Laws, all_laws, lay
from workbench.algorithms.block_sets import own_mobilities
from workbench.algorithms.block_sweeps import (
    LawBlocks,
    add_blocks,
    add_impulses,
    block_inverses,
    sweeps_of_laws,
    times,
)
from workbench.algorithms.gauss_seidel import FactoredDelassus, own_rows
from workbench.algorithms.sparse_factors import factors_in_order, minimum_degree
from workbench.algorithms.stages import Stages, solve_in_stages
from workbench.engine.stored import add_product, add_transposed, as_stored
from workbench.problems.block_kernels import own_matrices, scale_blocks
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.problem import block_places
from workbench.problems.sets import DISC, NO_CONE
from workbench.support.arrays import Array

REFINEMENTS = 2
"""Refinements of every Newton step."""
FLOORS = (1e-10, 1e-8, 1e-6)
"""As in `stages`, but no eps is below the first: round-off is amplified by 1 / eps here."""
STILL = 1e-12
"""Share of the largest mobility below which a row's mobility counts as zero."""
RAY = 1e6
"""Impulses, in units of the free velocities, above which they are on a ray along which nothing moves."""
FEW = 40
"""Newton steps to make before giving up."""

Indices = NDArray[np.int64]


def offsets(sizes: Indices) -> Indices:
    return np.append(0, np.cumsum(sizes))


def mobilities(p: ContactBlocks) -> Array:
    """(R,) `own_mobilities`; the mean of all for rows that do not move."""
    w = own_mobilities(p.own[0], p.row, p.cone)
    moving = w > STILL * w.max(initial=0.0)
    return np.where(moving, w, w[moving].mean() if moving.any() else 1.0)


def scaled_laws(p: ContactBlocks, w: Array) -> tuple[Laws, Array]:
    """Return the laws of all blocks in rows scaled by the mobilities w (R,), and the units of the unknowns (X,)."""
    m, k = np.diff(p.row), np.diff(p.unknown)
    root, cones = np.sqrt(w), p.cone != NO_CONE
    # A cone's unknowns are scaled with its rows.
    unit = np.ones(p.size)
    unit[cones[p.block_of_unknown]] = root[cones[p.block_of_row]]
    L, N, R = np.empty_like(p.L), np.empty_like(p.N), np.empty_like(p.R)
    scale_blocks(p.arrays, root, unit, L, N, R)
    low, high = np.isfinite(p.lower), np.isfinite(p.upper)
    role = np.select([low & high, low, high], [TWO_SIDED, FROM_LOWER, FROM_UPPER], FREE)
    role = np.where(cones[p.block_of_unknown], FREE, role).astype(np.int64)
    own = np.choose(role, [1, 1, 2, 0])
    K = np.bincount(p.block_of_unknown, own, minlength=p.blocks).astype(np.int64)
    most = int(K.max(initial=0))
    # The radius of a disc is an impulse, unlike a friction coefficient.
    discs, mu = p.cone == DISC, p.mu.copy()
    mu[discs] *= root[p.row[:-1][discs]]
    return Laws(
        p.row, p.unknown, offsets(m * k), offsets(k * k), offsets(m * m), p.cone, mu, L, N, R,
        p.c / unit, p.lower, p.upper, role, offsets(K), offsets(K * K), np.zeros(most), np.full(most, np.inf),
    ), 1.0 / unit  # fmt: skip


def scaled_blocks(p: ContactBlocks, w: Array) -> Array:
    """Diagonal blocks of W in scaled rows, flat."""
    m = np.diff(p.row)
    row, width = np.repeat(p.row[:-1], m * m), np.repeat(m, m * m)
    within = np.arange(row.size) - np.repeat(offsets(m * m)[:-1], m * m)
    return p.own[0] / np.sqrt(w[row + within // width] * w[row + within % width])


def metric(laws: Laws, Z: Array) -> BlockMetric:
    """The metric of mobilities Z, flat."""
    A = np.empty(laws.N.size)
    own_matrices(laws.row, laws.unknown, laws.L, laws.N, laws.R, Z, A)
    B = laws.cone.size
    found = BlockMetric(
        A, np.zeros(A.size), np.zeros(laws.at_M[-1]), np.zeros(B, dtype=np.int64), np.zeros(laws.place[-1])
    )  # fmt: skip
    lay(laws, found)
    return found


class OverVelocities:
    """Products with K, sparse by columns, and J by rows, in one order of the n velocities."""

    def __init__(self, K: Any, J: Any):
        self.n, self.K, self.J = K.shape[0], as_stored(K), as_stored(J)

    def rows(self, v: Array) -> Array:
        """Return J v (R,)."""
        u = np.zeros(self.J.pointer.size - 1)
        add_product(self.J, v, u)
        return u

    def pushed(self, z: Array) -> Array:
        """Return J^T z (n,)."""
        b = np.zeros(self.n)
        add_transposed(self.J, z, b)
        return b

    def inertial(self, v: Array) -> Array:
        """Return K v (n,)."""
        b = np.zeros(self.n)
        add_transposed(self.K, v, b)
        return b


class BlockNewton(Stages):
    """Contact blocks in scaled rows: their impulses z (R,) and velocities u (R,); `x` (X,) is the best solution.

    `last` are the factors of the last step's matrix.
    """

    floors = FLOORS

    def __init__(self, problem: ContactBlocks, enough: float = 0.0, most: int = 0):
        super().__init__(enough)
        self.most, self.on_ray = most, False
        p = self.problem = problem
        w = mobilities(p)
        self.laws, self.unit_of_x = scaled_laws(p, w)
        self.J = sparse.csr_array(sparse.diags_array(1.0 / np.sqrt(w)) @ p.rows)
        self.over = OverVelocities(p.inertia.K, self.J)
        self.metric = metric(self.laws, np.equal(*block_places(p.row)).astype(float))
        self.free = self.over.rows(p.free[0])
        self.gap, self.now = np.empty(p.s.size), np.zeros(p.size)
        self.C, self.B, self.D, self.inverse = (np.empty(self.laws.at_W[-1]) for _ in range(4))
        self.least, self.x = np.inf, np.zeros(p.size)
        self.last: Any = None

    @cached_property
    def W(self) -> Array:
        """Diagonal blocks of W in scaled rows, flat."""
        return scaled_blocks(self.problem, mobilities(self.problem))

    @property
    def enough(self) -> float:
        """The target of `Stages`; any residual suffices after the allowed number of steps, or on a ray."""
        over = self.factors >= self.most or (self.on_ray and self.factors >= FEW)
        return np.inf if over else super().enough

    @cached_property
    def responses(self) -> Any:
        """V (R, n) and the metric of sweeps; None if the responses to impulses need too much memory."""
        V = self.problem.responses
        if V is None:
            return None
        size = sparse.diags_array(1.0 / np.sqrt(mobilities(self.problem)))
        V = sparse.csr_array(size @ V)
        return V, metric(self.laws, self.W)

    @cached_property
    def matrix(self) -> Any:
        """Newton's matrix, a `NewtonMatrix` unless a subclass has another; its pattern is computed once."""
        return NewtonMatrix(self.problem, self.J)

    def begin(self, start: Array | None) -> Array:
        z = np.zeros(self.gap.size)
        if start is not None:
            add_impulses(self.laws, start / self.unit_of_x, z)
        return z

    def size(self, z: Array) -> float:
        return max(float(np.linalg.norm(z)), float(np.linalg.norm(self.free)))

    def start(self, z: Array, centre: Array, eps: float) -> float:
        u = self.free + self.over.rows(self.problem.inertia.response(self.over.pushed(z)))
        u += eps * (z - centre)
        return all_laws(self.laws, self.metric, z, u, self.now, self.gap, self.C, self.B)

    def residual(self, z: Array) -> float:
        """Return the problem's own residual at the solution x for z."""
        self.start(z, z, 0.0)
        return self.judged()

    def judged(self) -> float:
        """Return the residual of the current x, and keep x if it is the best."""
        x = self.now * self.unit_of_x
        residual = self.problem.residual(x)
        if residual < self.least:
            self.least, self.x = residual, x
        return residual

    def show(self, z: Array) -> None:
        # If residuals fall because impulses grow without limit, no solution is near.
        self.on_ray = bool(np.linalg.norm(z) > RAY * np.linalg.norm(self.free))
        if best.watched(self.problem.size):
            best.offer(self.x)

    def sweep(self, count: int, z: Array) -> bool:
        if self.responses is None:
            return False
        V, own = self.responses
        W = FactoredDelassus(*as_stored(self.J), *as_stored(V), own_rows(self.laws.row), self.W, V.T @ z)
        blocks = LawBlocks(self.laws.row, self.laws, own, self.now, np.empty_like(self.now))
        sweeps_of_laws(W, self.free, blocks, count, z)
        self.judged()
        self.swept += count
        return True

    def newton_step(self, eps: float) -> Array | None:
        eps = max(eps, FLOORS[0])
        if self.factors >= self.most or not block_inverses(self.laws, self.C, self.B, eps, self.inverse, self.D):
            return None
        # Free the factors of the step before first.
        self.last = None
        self.last = factors = self.matrix.factored(self.laws, self.D)
        if factors is None:
            return None
        self.factors += 1
        over = self.matrix.over
        v, z = np.zeros(over.n), np.zeros_like(self.gap)
        for _ in range(1 + REFINEMENTS):
            left = -self.gap - self.each(self.C, z) - self.each(self.B, over.rows(v) + eps * z)
            dz = self.each(self.inverse, left)
            dv = factors.solve(over.pushed(z + dz) - over.inertial(v))
            dz -= self.each(self.D, over.rows(dv))
            v += dv
            z += dz
        return z if np.isfinite(z).all() else None

    def each(self, blocks: Array, z: Array) -> Array:
        """Return blocks[i] z[i] for every block i."""
        found = np.empty_like(z)
        times(self.laws, blocks, z, found)
        return found


def solve_island(p: ContactBlocks, guess: Array, enough: float, most: int) -> tuple[Array, int, tuple[str, ...]]:
    """Return the best x (X,) of all stages from a guess, and then from zero if that fails; iterations, stages."""
    found, least, iterations = guess, np.inf, 0
    stages: tuple[str, ...] = ()
    for start in [guess, None] if guess.any() else [None]:
        # A good start converges soon.
        blocks = BlockNewton(p, enough, most if start is None else -(-most // 4))
        search = solve_in_stages(blocks, start)
        iterations, stages = iterations + blocks.swept + blocks.factors, (*stages, *search.report)
        if blocks.least < least:
            found, least = blocks.x, blocks.least
        if least <= max(enough, EXACT):
            break
    return found, iterations, stages


def pairs(first: Indices, row: Indices) -> tuple[Indices, Indices]:
    """Return row and column of every entry of H_i D_i H_i^T, contact by contact, row by row."""
    counts = np.diff(first)
    of_entry = np.repeat(np.arange(counts.size), counts**2)
    within = np.arange(of_entry.size) - np.repeat(np.cumsum(counts**2) - counts**2, counts**2)
    a, b = np.divmod(within, counts[of_entry])
    return row[first[of_entry] + a], row[first[of_entry] + b]


def with_pairs(K: sparse.csc_array, i: Indices, j: Indices) -> tuple[sparse.csc_array, Indices]:
    """Return K with zeros stored at missing entries (i, j), and the positions of all (i, j) among its values."""
    size, entries = K.shape[0], K.tocoo()
    keys = np.concatenate([entries.col.astype(np.int64), j]) * size + np.concatenate([entries.row, i])
    key, place = np.unique(keys, return_inverse=True)
    data = np.zeros(key.size)
    data[place[: entries.nnz]] = entries.data
    first = np.searchsorted(key, np.arange(size + 1) * size)
    return sparse.csc_array((data, key % size, first), shape=K.shape), place[entries.nnz :]


class NewtonMatrix:
    """M + J^T D J over velocities in a minimum-degree order; K is M, and `over` has M and J, in that order."""

    def __init__(self, problem: ContactBlocks, J: Any):
        p, n, m = problem, problem.b.size, np.diff(problem.row)
        entries = J.tocoo()
        block = p.block_of_row[entries.row]
        key, place = np.unique(block * n + entries.col, return_inverse=True)
        of_block, velocity = key // n, key % n
        self.first = np.searchsorted(of_block, np.arange(p.blocks + 1))
        self.start = offsets(np.diff(self.first) * m)
        at = self.start[of_block] + (np.arange(key.size) - self.first[of_block]) * m[of_block]
        self.H = np.zeros(self.start[-1])
        self.H[at[place] + entries.row - p.row[block]] = entries.data
        i, j = pairs(self.first, velocity)
        inside = p.inertia.K.tocoo()
        order = minimum_degree(np.concatenate([inside.row, i]), np.concatenate([inside.col, j]), n)
        new = np.empty(n, dtype=np.int64)
        new[order] = np.arange(n)
        self.K = sparse.csc_array(p.inertia.K[order][:, order])
        self.over = OverVelocities(self.K, sparse.csr_array(J[:, order]))
        self.values, self.place = with_pairs(self.K, new[i], new[j])
        self.base = self.values.data.copy()

    def factored(self, laws: Laws, D: Array) -> Any:
        """Return factors with the blocks D; None if the matrix is singular."""
        np.copyto(self.values.data, self.base)
        add_blocks(laws, self.first, self.start, self.H, D, self.place, self.values.data)
        return factors_in_order(self.values)
