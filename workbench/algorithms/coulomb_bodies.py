"""Newton's method over (M, H): the stages of `coulomb_newton` with W = H^T M^-1 H never formed.

The same step dz comes out of the augmented equations in velocities, bilateral impulses and contact impulses,

    M dv - G dp_b - H dz = 0,   G^T dv = 0,   B H^T dv + (C + eps B) dz = - gap.

C + eps B has blocks of one contact each; these are eliminated first, and what is factored is

    M + H D H^T,   D = (C + eps B)^-1 B,

with a block for every two bodies in contact, where W has one for every two contacts of a body. (Factored as they stand
the augmented equations cost two to ten times as much: a contact that holds has next to no diagonal.) Such a contact
enters M + H D H^T like a penalty 1 / eps, which costs digits; refinement on the augmented equations, in which eps
stands as it is, gives them back.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from workbench.algorithms.coulomb_newton import PIVOTING, SYMMETRIC, BlockProblem, NewtonProblem, minimum_degree
from workbench.algorithms.sparse_bodies import add_contacts, body_sweeps, contact_inverses
from workbench.problems.classes import Array, ConeProblem, Cones
from workbench.problems.global_problem import GlobalConeProblem

REFINEMENTS = 2
"""Of every Newton step."""

FLOORS = (1e-10, 1e-8, 1e-6)
"""As in `coulomb_newton`, but no eps is smaller than the first: round-off counts 1 / eps times here."""

Indices = NDArray[np.int64]
Rows = tuple[Indices, Indices, Array]
"""first (r + 1,), row, values (., m): the rows of every contact's columns that are not zero."""


def rows_of_contacts(H: sparse.sparray, m: int) -> Rows:
    """Columns of H (n, r m), contact by contact."""
    blocks = sparse.bsr_array(H.T, blocksize=(m, 1))
    blocks.sort_indices()
    values = np.ascontiguousarray(blocks.data[:, :, 0])
    return blocks.indptr.astype(np.int64), blocks.indices.astype(np.int64), values


def pairs(first: Indices, row: Indices) -> tuple[Indices, Indices]:
    """Row and column of every entry of H_i D_i H_i^T, contact by contact, row by row."""
    counts = np.diff(first)
    of_entry = np.repeat(np.arange(counts.size), counts**2)
    within = np.arange(of_entry.size) - np.repeat(np.cumsum(counts**2) - counts**2, counts**2)
    a, b = np.divmod(within, counts[of_entry])
    return row[first[of_entry] + a], row[first[of_entry] + b]


def with_pairs(K: sparse.csc_array, i: Indices, j: Indices) -> tuple[sparse.csc_array, Indices]:
    """K with zeros stored at the (i, j) it has no entries at, and the places of all (i, j) among its values."""
    size, entries = K.shape[0], K.tocoo()
    keys = np.concatenate([entries.col.astype(np.int64), j]) * size + np.concatenate([entries.row, i])
    key, place = np.unique(keys, return_inverse=True)
    data = np.zeros(key.size)
    data[place[: entries.nnz]] = entries.data
    first = np.searchsorted(key, np.arange(size + 1) * size)
    return sparse.csc_array((data, key % size, first), shape=K.shape), place[entries.nnz :]


def elimination_order(K: sparse.csc_array, H: sparse.csr_array, m: int) -> Indices:
    """Velocities by minimum degree, constraints after the last velocity they hold: before, they have no diagonal."""
    n, (first, row, _) = H.shape[0], rows_of_contacts(H, m)
    i, j = pairs(first, row)
    inside, G = K[:n, :n].tocoo(), K[:n, n:].tocsr()
    joined = (abs(G) @ abs(G).T).tocoo()
    row, column = np.concatenate([inside.row, joined.row, i]), np.concatenate([inside.col, joined.col, j])
    order = minimum_degree(row, column, n)
    position = np.zeros(K.shape[0])
    position[order] = np.arange(n)
    held = G.tocoo()
    np.maximum.at(position, n + held.col, position[held.row] + 0.5)
    return np.argsort(position, kind="stable")


class BodyProblem(NewtonProblem):
    """Over M, H and G, in the scaled velocities of `Inertia`; the pattern of Newton's matrix is worked out once."""

    floors = FLOORS

    def __init__(self, problem: GlobalConeProblem):
        r, d = problem.mu.size, problem.d
        rows = np.column_stack([np.arange(r), r + d * np.arange(r)[:, None] + np.arange(d)])
        super().__init__(rows, problem.q, problem.mu, problem.diagonal, problem.associated)
        self.inertia, K = problem.data.inertia, problem.data.inertia.K
        self.H = problem.H[:, rows.ravel()]
        none = sparse.csr_array((K.shape[0] - self.inertia.n, self.H.shape[1]))
        order = elimination_order(K, self.H, 1 + d)
        self.K_ordered = K[order][:, order]
        self.H_ordered = sparse.vstack([self.H, none], format="csr")[order]
        self.first, row, self.values = rows_of_contacts(self.H_ordered, 1 + d)
        self.matrix, self.place = with_pairs(self.K_ordered, *pairs(self.first, row))
        self.base = self.matrix.data.copy()
        self.R, self.D = np.empty_like(self.C), np.empty_like(self.C)

    def velocity(self, z: Array) -> Array:
        return self.q + (self.H.T @ self.inertia.response(self.H @ z.ravel())).reshape(z.shape)

    def sweep(self, count: int, z: Array) -> bool:
        if self.inertia.inverse is None:
            return False
        m, H = z.shape[1], self.H
        V = sparse.csr_array(self.inertia.inverse @ H)
        H_T, V_T = H.T.tocsr(), V.T.tocsr()
        own = np.stack([[(H_T[a::m] * V_T[b::m]).sum(axis=1) for b in range(m)] for a in range(m)])
        law = np.ascontiguousarray(own.transpose(2, 0, 1)), self.q, self.mu, self.associated
        body_sweeps(*rows_of_contacts(H, m), *rows_of_contacts(V, m), *law, count, V @ z.ravel(), z)
        self.swept += count
        return True

    def newton_step(self, eps: float) -> Array | None:
        eps = max(eps, self.unit * FLOORS[0])
        if not contact_inverses(self.C, self.B, eps, self.R, self.D):
            return None
        np.copyto(self.matrix.data, self.base)
        add_contacts(self.first, self.values, self.D, self.place, self.matrix.data)
        try:
            factors = splu(self.matrix, permc_spec="NATURAL", diag_pivot_thresh=PIVOTING, options=SYMMETRIC)
        except RuntimeError:
            return None
        self.factors += 1
        K, H = self.K_ordered, self.H_ordered
        v, z = np.zeros(K.shape[0]), np.zeros_like(self.gap)
        for _ in range(1 + REFINEMENTS):
            moved = (H.T @ v).reshape(z.shape) + eps * z
            left = -self.gap - _each(self.C, z) - _each(self.B, moved)
            dz = _each(self.R, left)
            dv = factors.solve(H @ (z + dz).ravel() - K @ v)
            dz -= _each(self.D, (H.T @ dv).reshape(z.shape))
            v += dv
            z += dz
        return z if np.isfinite(z).all() else None


def _each(blocks: Array, z: Array) -> Array:
    """blocks[i] z[i] for every contact i."""
    return (blocks @ z[:, :, None])[:, :, 0]


def in_blocks(problem: Cones) -> NewtonProblem:
    """A problem over W or over (M, H) as Newton's method takes it."""
    if isinstance(problem, GlobalConeProblem):
        return BodyProblem(problem)
    assert isinstance(problem, ConeProblem)
    return BlockProblem(problem.M, problem.q, problem.mu, problem.d, problem.associated)
