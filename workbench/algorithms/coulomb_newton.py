"""Newton's method with sparse factors for friction cones of one law over W: what `stages` asks of such a problem.

A contact is measured in units of its own, rho_i = m / tr W_ii. The matrix of a step has the blocks of W, contacts in
minimum degree order; cost: one sparse LU. Sources: Alart & Curnier 1991; Acary, Bremond & Huber 2018.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from workbench.algorithms import best
from workbench.algorithms.gauss_seidel import FactoredDelassus, own_rows, sweeps_of_bodies
from workbench.algorithms.sparse_contacts import all_contacts, contact_velocity, newton_matrix
from workbench.algorithms.stages import Stages
from workbench.arrays import Array
from workbench.engine.stored import as_stored
from workbench.problems.residual import BlockSets, Iterate, measure
from workbench.problems.sets import ASSOCIATED, COULOMB, contact_of_row

PIVOTING = 1e-6
"""Share of the largest entry of a column that a diagonal pivot must have: small, since pivoting fills the factors."""
SYMMETRIC = {"SymmetricMode": True}


def contact_order(W: sparse.csr_array, r: int, d: int) -> NDArray[np.int64]:
    """The contacts in an order that keeps factors of matrices with the blocks of W sparse."""
    contact = contact_of_row(r, d)
    entries = W.tocoo()
    return minimum_degree(contact[entries.row], contact[entries.col], r)


def minimum_degree(row: NDArray[np.integer], column: NDArray[np.integer], size: int) -> NDArray[np.int64]:
    """An order of elimination (minimum degree) for matrices of this size with entries at (row, column)."""
    graph = sparse.csr_array((np.ones(row.size), (row, column)), shape=(size, size))
    dominant = sparse.csc_array(graph + graph.T + (1 + 2 * row.size) * sparse.eye_array(size))
    return np.argsort(splu(dominant, permc_spec="MMD_AT_PLUS_A", options=SYMMETRIC).perm_c)


def block_rows(W: sparse.csr_array, rows: NDArray[np.int64]) -> sparse.bsr_array:
    """W with its rows and columns in the order `rows` (r, m), as m x m blocks, all diagonal ones stored."""
    r, m = rows.shape
    new = np.empty(r * m, dtype=np.int64)
    new[rows.ravel()] = np.arange(r * m)
    entries = W.tocoo()
    # Zeros that are stored complete the diagonal blocks, which Newton's matrix fills.
    contact, a, b = np.indices((r, m, m)).reshape(3, -1)
    i, j = np.r_[new[entries.row], m * contact + a], np.r_[new[entries.col], m * contact + b]
    full = sparse.coo_array((np.r_[entries.data, np.zeros(r * m * m)], (i, j)), shape=W.shape)
    blocks = sparse.bsr_array(full.tocsr(), blocksize=(m, m))
    blocks.sort_indices()
    return blocks


def by_columns(blocks: sparse.bsr_array) -> tuple[sparse.csc_array, NDArray[np.int64]]:
    """A matrix of the same pattern stored by columns, and the place of every block's entries among its values."""
    numbers = np.arange(1.0, blocks.data.size + 1).reshape(blocks.data.shape)
    matrix = sparse.bsr_array((numbers, blocks.indices, blocks.indptr), shape=blocks.shape).tocsc()
    matrix.sort_indices()
    place = np.empty(matrix.nnz, dtype=np.int64)
    place[matrix.data.astype(np.int64) - 1] = np.arange(matrix.nnz)
    return matrix, place.reshape(blocks.data.shape)


def units(traces: Array, m: int) -> Array:
    """sqrt(rho_i) of every contact, of the traces of W_ii (r,); of the mean one where nothing moves."""
    moving = traces > 0
    mean = traces[moving].mean() if moving.any() else float(m)
    return np.sqrt(m / np.where(moving, traces, mean))


class ContactStages(Stages):
    """Contact by contact, in their units: z, u, q (r, m), normal first; how W is held is up to those derived from this.

    rows (r, m): where the unknowns of every contact stand in the problem's vectors, D (r, 1) their units; diagonal
    (r, m) that of W.
    """

    def __init__(self, rows: NDArray[np.int64], diagonal: Array, D: Array, q: Array, mu: Array, associated: bool):
        super().__init__()
        r, m = rows.shape
        self.rows, self.D, self.q, self.mu, self.associated = rows, D, D * q[rows], np.array(mu), associated
        self.diagonal = diagonal.ravel()
        law, none = np.full(r, ASSOCIATED if associated else COULOMB), np.zeros(0)
        self.sets = BlockSets(m * np.arange(r + 1), law, self.mu, none, none)
        self.part = np.zeros(r, dtype=np.int64)
        self.gap = np.empty((r, m))
        self.C, self.B = np.empty((r, m, m)), np.empty((r, m, m))

    def velocity(self, z: Array) -> Array:
        """u = W z + q."""
        raise NotImplementedError

    def terms(self, z: Array) -> Array:
        """|W| |z|"""
        raise NotImplementedError

    def begin(self, start: Array | None) -> Array:
        return np.zeros(self.q.shape) if start is None else start[self.rows] / self.D

    def plain(self, z: Array) -> Array:
        """z (r, m) as (n,), as the problem has it."""
        x = np.empty(z.size)
        x[self.rows] = self.D * z
        return x

    def size(self, z: Array) -> float:
        return max(float(np.linalg.norm(z)), float(np.linalg.norm(self.q)))

    def residual(self, z: Array) -> float:
        """The worst contact's, all contacts one part."""
        q = self.q.ravel()
        rows = Iterate(z.ravel(), self.velocity(z).ravel(), q, q, self.terms(z).ravel(), self.diagonal)
        return measure(self.sets, self.part, self.part, rows, np.empty(self.part.size))

    def tidy(self, z: Array) -> None:
        """Contacts without friction have no tangential impulses."""
        z[self.mu == 0, 1:] = 0.0

    def show(self, z: Array) -> None:
        if best.watched(z.size):
            best.offer(self.plain(z))

    def start(self, z: Array, centre: Array, eps: float) -> float:
        u = self.velocity(z)
        u += eps * (z - centre)
        return all_contacts(self.mu, self.associated, z, u, self.gap, self.C, self.B)


class BlockProblem(ContactStages):
    """Over W (n, n) dense or sparse, in blocks; the pattern of Newton's matrix is worked out once."""

    def __init__(self, W: Array | sparse.sparray, q: Array, mu: Array, d: int, associated: bool):
        r = mu.size
        W = sparse.csr_array(W)
        order = contact_order(W, r, d)
        rows = np.column_stack([order, r + d * order[:, None] + np.arange(d)])
        diagonal = W.diagonal()[rows]
        D = units(diagonal.sum(axis=1), 1 + d)
        super().__init__(rows, diagonal, D[:, None], q, mu[order], associated)
        self.blocks = block_rows(W, rows)
        first, column = self.blocks.indptr.astype(np.int64), self.blocks.indices.astype(np.int64)
        self.blocks.data *= (np.repeat(D, np.diff(first)) * D[column])[:, None, None]
        self.W = first, column, np.ascontiguousarray(self.blocks.data)
        self.matrix, self.place = by_columns(self.blocks)

    def velocity(self, z: Array) -> Array:
        u = np.empty_like(z)
        contact_velocity(*self.W, self.q, z, u)
        return u

    def terms(self, z: Array) -> Array:
        first, column, blocks = self.W
        found = np.empty_like(z)
        contact_velocity(first, column, abs(blocks), np.zeros_like(z), abs(z), found)
        return found

    def sweep(self, count: int, z: Array) -> bool:
        first, column, blocks = self.W
        J, sets, x = self.blocks.tocsr(), self.sets, z.reshape(-1)
        rows = as_stored(J)
        own = blocks[column == np.repeat(np.arange(self.mu.size), np.diff(first))].ravel()
        nothing = np.zeros(x.size + 1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
        W = FactoredDelassus(*rows, *nothing, own_rows(sets.first), own, x)
        sweeps_of_bodies(W, self.q.ravel(), sets, count, x)
        self.swept += count
        return True

    def newton_step(self, eps: float) -> Array | None:
        newton_matrix(*self.W, self.place, self.C, self.B, eps, self.matrix.data)
        try:
            factors = splu(self.matrix, permc_spec="NATURAL", diag_pivot_thresh=PIVOTING, options=SYMMETRIC)
        except RuntimeError:
            return None
        self.factors += 1
        step = factors.solve(-self.gap.ravel()).reshape(self.gap.shape)
        return step if np.isfinite(step).all() else None
