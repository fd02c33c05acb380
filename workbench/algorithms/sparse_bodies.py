"""Kernels for contacts between bodies, W = H^T K^-1 H not formed.

Vectors go contact by contact, normal first: z, u (r, 1 + d). H stands contact by contact: the rows of contact i that
are not zero are row[first[i] : first[i + 1]], with values H[...], (1 + d,) each.
"""

import numpy as np
from numba import types

from workbench.algorithms.one_contact import one_contact
from workbench.algorithms.sparse_contacts import BLOCKS, COUNT, FLAG, NUMBER
from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR, lu_factor, lu_solve
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix


@kernel(
    types.void(INDICES, INDICES, MATRIX, INDICES, INDICES, MATRIX, BLOCKS, MATRIX, VECTOR, FLAG, COUNT, VECTOR, MATRIX),
)
def body_sweeps(first, row, H, first_V, row_V, V, own, q, mu, associated, count, v, z):
    """`count` block Gauss-Seidel sweeps over z (r, 1 + d), every contact solved exactly with the others held.

    V = K^-1 H stands like H; own (r, 1 + d, 1 + d) holds the diagonal blocks of W, and v (n,) = V z follows z.
    """
    r, m = q.shape
    now, free = np.empty(m), np.empty(m)
    for _ in range(count):
        for i in range(r):
            for a in range(m):
                free[a] = q[i, a]
                for b in range(m):
                    free[a] -= own[i, a, b] * z[i, b]
            for p in range(first[i], first[i + 1]):
                for a in range(m):
                    free[a] += H[p, a] * v[row[p]]
            one_contact(own[i], free, mu[i : i + 1], associated, now)
            for p in range(first_V[i], first_V[i + 1]):
                for a in range(m):
                    v[row_V[p]] += V[p, a] * (now[a] - z[i, a])
            for a in range(m):
                z[i, a] = now[a]


@kernel(FLAG(MATRIX, MATRIX, NUMBER, MATRIX, MATRIX))
def inverse_block(C, B, eps, R, D):
    """R = (C + eps B)^-1 and D = R B of one contact, all (m, m); False where there is none."""
    m = C.shape[0]
    A, rhs, x, pivots = scratch_matrix(m, m), scratch(m), scratch(m), scratch_indices(m)
    for a in range(m):
        for b in range(m):
            A[a, b] = C[a, b] + eps * B[a, b]
    if lu_factor(A, pivots) != 0:
        return False
    for b in range(m):
        for a in range(m):
            rhs[a] = 1.0 if a == b else 0.0
        lu_solve(A, pivots, rhs, x)
        for a in range(m):
            R[a, b] = x[a]
            rhs[a] = B[a, b]
        lu_solve(A, pivots, rhs, x)
        for a in range(m):
            D[a, b] = x[a]
    return True


@kernel(FLAG(BLOCKS, BLOCKS, NUMBER, BLOCKS, BLOCKS))
def contact_inverses(C, B, eps, R, D):
    """R = (C + eps B)^-1 and D = R B of every contact, all (r, 1 + d, 1 + d); False where there is none."""
    found = True
    for i in range(C.shape[0]):
        found = found and inverse_block(C[i], B[i], eps, R[i], D[i])
    return found


@kernel(types.void(INDICES, MATRIX, BLOCKS, INDICES, VECTOR))
def add_contacts(first, H, D, place, values):
    """values += the entries of H D H^T: contact by contact, row by row, in the order of their places."""
    r, m = D.shape[0], D.shape[1]
    left = np.empty(m)
    at = 0
    for i in range(r):
        for p in range(first[i], first[i + 1]):
            for b in range(m):
                left[b] = 0.0
                for a in range(m):
                    left[b] += H[p, a] * D[i, a, b]
            for k in range(first[i], first[i + 1]):
                s = 0.0
                for b in range(m):
                    s += left[b] * H[k, b]
                values[place[at]] += s
                at += 1
