"""Newton's method with sparse factors for friction cones of one law over W; it implements the methods of `stages`.

A contact is measured in its own units, rho_i = m / tr W_ii. The matrix of a step has the blocks of W, contacts in
minimum degree order; cost: one sparse LU. Sources: Alart & Curnier 1991; Acary, Bremond & Huber 2018.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray
from scipy import sparse

from workbench.algorithms import best
from workbench.algorithms.gauss_seidel import FactoredDelassus, own_rows, sweeps_of_bodies
from workbench.algorithms.law_equations import set_equations
from workbench.algorithms.sparse_factors import factors_in_order, minimum_degree
from workbench.algorithms.stages import Stages
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR
from workbench.engine.stored import as_stored
from workbench.problems.residual import Iterate, measure
from workbench.problems.sets import ASSOCIATED, COULOMB, BlockSets, contact_of_row
from workbench.support.arrays import Array

Indices = NDArray[np.int64]
BLOCKS = types.Array(types.float64, 3, "C")
PLACES = types.Array(types.int64, 3, "C")


class BlockRows(NamedTuple):
    """W of r contacts in (m, m) blocks (p, m, m), one for every two contacts that share a body.

    The blocks of contact i are first[i] : first[i + 1], in the columns column[...]."""

    first: Indices
    column: Indices
    blocks: Array


BLOCK_ROWS = argument_type(BlockRows, INDICES, INDICES, BLOCKS)


@kernel(types.void(BLOCK_ROWS, MATRIX, MATRIX, MATRIX))
def contact_velocity(W, q, z, u):
    """Compute u = W z + q, all (r, m)."""
    r, m = q.shape
    for i in range(r):
        for a in range(m):
            u[i, a] = q[i, a]
        for p in range(W.first[i], W.first[i + 1]):
            j = W.column[p]
            for a in range(m):
                for b in range(m):
                    u[i, a] += W.blocks[p, a, b] * z[j, b]


@kernel(types.void(BLOCK_ROWS, PLACES, BLOCKS, BLOCKS, types.float64, VECTOR))
def newton_matrix(W, place, C, B, eps, values):
    """Fill the entries of C + B (W + eps I): that of block p, row a, column b goes to values[place[p, a, b]]."""
    r, m = C.shape[0], C.shape[1]
    for i in range(r):
        for p in range(W.first[i], W.first[i + 1]):
            for a in range(m):
                for b in range(m):
                    s = C[i, a, b] + eps * B[i, a, b] if W.column[p] == i else 0.0
                    for k in range(m):
                        s += B[i, a, k] * W.blocks[p, k, b]
                    values[place[p, a, b]] = s


def contact_order(W: sparse.csr_array, r: int, d: int) -> Indices:
    """Return the contacts in an order that keeps the factors of matrices with the blocks of W sparse."""
    contact = contact_of_row(r, d)
    entries = W.tocoo()
    return minimum_degree(contact[entries.row], contact[entries.col], r)


def block_rows(W: sparse.csr_array, rows: Indices) -> sparse.bsr_array:
    """Return W with its rows and columns in the order `rows` (r, m), as m x m blocks, all diagonal ones stored."""
    r, m = rows.shape
    new = np.empty(r * m, dtype=np.int64)
    new[rows.ravel()] = np.arange(r * m)
    entries = W.tocoo()
    # Stored zeros complete the diagonal blocks, which Newton's matrix fills.
    contact, a, b = np.indices((r, m, m)).reshape(3, -1)
    i, j = np.r_[new[entries.row], m * contact + a], np.r_[new[entries.col], m * contact + b]
    full = sparse.coo_array((np.r_[entries.data, np.zeros(r * m * m)], (i, j)), shape=W.shape)
    blocks = sparse.bsr_array(full.tocsr(), blocksize=(m, m))
    blocks.sort_indices()
    return blocks


def by_columns(blocks: sparse.bsr_array) -> tuple[sparse.csc_array, Indices]:
    """Return a matrix of the same pattern stored by columns, and the positions of the blocks' entries in its values."""
    numbers = np.arange(1.0, blocks.data.size + 1).reshape(blocks.data.shape)
    matrix = sparse.bsr_array((numbers, blocks.indices, blocks.indptr), shape=blocks.shape).tocsc()
    matrix.sort_indices()
    place = np.empty(matrix.nnz, dtype=np.int64)
    place[matrix.data.astype(np.int64) - 1] = np.arange(matrix.nnz)
    return matrix, place.reshape(blocks.data.shape)


def units(traces: Array, m: int) -> Array:
    """Return sqrt(rho_i) of every contact from the traces of W_ii (r,); the mean one is used for immobile contacts."""
    moving = traces > 0
    mean = traces[moving].mean() if moving.any() else float(m)
    return np.sqrt(m / np.where(moving, traces, mean))


class ContactStages(Stages):
    """Contacts one by one in their units: z, u, q (r, m), normal first; subclasses decide how W is stored.

    rows (r, m): positions of the unknowns of every contact in the problem's vectors; D (r, 1) their units; diagonal (r,
    m) that of W.
    """

    def __init__(self, rows: Indices, diagonal: Array, D: Array, q: Array, mu: Array, associated: bool):
        super().__init__()
        r, m = rows.shape
        self.rows, self.D, self.q, self.mu = rows, D, D * q[rows], np.array(mu)
        self.diagonal = diagonal.ravel()
        law, none = np.full(r, ASSOCIATED if associated else COULOMB), np.zeros(0)
        self.sets = BlockSets(m * np.arange(r + 1), law, self.mu, none, none)
        self.part = np.zeros(r, dtype=np.int64)
        self.gap = np.empty((r, m))
        self.C, self.B = np.empty((r, m, m)), np.empty((r, m, m))

    def velocity(self, z: Array) -> Array:
        """Return u = W z + q."""
        raise NotImplementedError

    def terms(self, z: Array) -> Array:
        """Return |W| |z|."""
        raise NotImplementedError

    def begin(self, start: Array | None) -> Array:
        return np.zeros(self.q.shape) if start is None else start[self.rows] / self.D

    def plain(self, z: Array) -> Array:
        """Return z (r, m) as (n,), in the problem's order."""
        x = np.empty(z.size)
        x[self.rows] = self.D * z
        return x

    def size(self, z: Array) -> float:
        return max(float(np.linalg.norm(z)), float(np.linalg.norm(self.q)))

    def residual(self, z: Array) -> float:
        """Return the residual of the worst contact, all contacts being one part."""
        q = self.q.ravel()
        rows = Iterate(z.ravel(), self.velocity(z).ravel(), q, q, self.terms(z).ravel(), self.diagonal)
        return measure(self.sets, self.part, self.part, rows, np.empty(self.part.size))

    def tidy(self, z: Array) -> None:
        """Set tangential impulses of contacts without friction to zero."""
        z[self.mu == 0, 1:] = 0.0

    def show(self, z: Array) -> None:
        if best.watched(z.size):
            best.offer(self.plain(z))

    def start(self, z: Array, centre: Array, eps: float) -> float:
        u = self.velocity(z)
        u += eps * (z - centre)
        r = len(z)
        C, B = self.C.reshape(r, -1), self.B.reshape(r, -1)
        return set_equations(self.sets, z.reshape(-1), u.reshape(-1), self.gap.reshape(-1), C, B)


class BlockProblem(ContactStages):
    """Contacts over W (n, n), dense or sparse, in blocks; the pattern of Newton's matrix is computed once."""

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
        self.W = BlockRows(first, column, np.ascontiguousarray(self.blocks.data))
        self.matrix, self.place = by_columns(self.blocks)

    def velocity(self, z: Array) -> Array:
        u = np.empty_like(z)
        contact_velocity(self.W, self.q, z, u)
        return u

    def terms(self, z: Array) -> Array:
        found = np.empty_like(z)
        contact_velocity(self.W._replace(blocks=abs(self.W.blocks)), np.zeros_like(z), abs(z), found)
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
        newton_matrix(self.W, self.place, self.C, self.B, eps, self.matrix.data)
        factors = factors_in_order(self.matrix)
        if factors is None:
            return None
        self.factors += 1
        step = factors.solve(-self.gap.ravel()).reshape(self.gap.shape)
        return step if np.isfinite(step).all() else None
