"""Kernels over contact blocks and bodies: Gauss-Seidel sweeps, and the matrix of Newton's method.

Blocks are of any sizes and laws (`block_laws`), vectors flat, and W = J V^T is not formed.
"""

import numpy as np
from numba import types

from workbench.algorithms.block_laws import LAWS, METRIC, answer
from workbench.algorithms.law_equations import one_block
from workbench.algorithms.one_contact import one_contact
from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR, lu_factor, lu_solve
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix
from workbench.problems.sets import ASSOCIATED

I64, F64 = types.int64, types.float64
STORED = (INDICES, INDICES, VECTOR)


@kernel(types.void(LAWS, METRIC, I64, VECTOR, VECTOR))
def cone_answer(laws, metric, i, q, x):
    """x (X,) at the cone or disc of block i, where F = A x + q; q (m,)."""
    m, first, mu = q.shape[0], laws.unknown[i], laws.mu[i : i + 1]
    A = metric.A[laws.at_A[i] : laws.at_A[i + 1]].reshape(m, m)
    if laws.cone[i] > ASSOCIATED:
        one_block(A, q, mu[0], laws.cone[i], x[first : first + m])
    elif m == 1:
        x[first] = max(0.0, -q[0] / A[0, 0]) if A[0, 0] > 0.0 else 0.0
    elif m <= 3:
        one_contact(A, q, mu, laws.cone[i] == ASSOCIATED, x[first : first + m])
    else:
        one_block(A, q, mu[0], laws.cone[i], x[first : first + m])


@kernel(types.void(LAWS, METRIC, *STORED, *STORED, VECTOR, VECTOR, I64, VECTOR, VECTOR, VECTOR))
def block_sweeps(laws, metric, J_first, J_column, J, V_first, V_column, V, W, free, count, v, P, x):
    """`count` Gauss-Seidel sweeps over P (R,), every block solved with the others held; x (X,) are its answers.

    V = (K^-1 J^T)^T stands like J (R, n); W, flat, holds the diagonal blocks of J V^T; v (n,) = V^T P follows P.
    """
    for _ in range(count):
        for i in range(laws.cone.shape[0]):
            a0, m, at = laws.row[i], laws.row[i + 1] - laws.row[i], laws.at_W[i]
            first, k, at_L = laws.unknown[i], laws.unknown[i + 1] - laws.unknown[i], laws.at_L[i]
            u, q = np.empty(m), np.empty(k)
            for a in range(m):
                u[a] = free[a0 + a]
                for b in range(m):
                    u[a] -= W[at + a * m + b] * P[a0 + b]
                for p in range(J_first[a0 + a], J_first[a0 + a + 1]):
                    u[a] += J[p] * v[J_column[p]]
            for p in range(k):
                q[p] = laws.c[first + p]
                for a in range(m):
                    q[p] += laws.L[at_L + p * m + a] * u[a]
            if laws.cone[i] == 0:
                answer(laws, metric, i, q, x)
            else:
                cone_answer(laws, metric, i, q, x)
            for a in range(m):
                now = 0.0
                for p in range(k):
                    now += laws.R[at_L + a * k + p] * x[first + p]
                change = now - P[a0 + a]
                P[a0 + a] = now
                if change != 0.0:
                    for p in range(V_first[a0 + a], V_first[a0 + a + 1]):
                        v[V_column[p]] += V[p] * change


@kernel(types.boolean(MATRIX, MATRIX, F64, MATRIX, MATRIX))
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


@kernel(types.boolean(LAWS, VECTOR, VECTOR, F64, VECTOR, VECTOR))
def block_inverses(laws, C, B, eps, inverse, D):
    """inverse = (C + eps B)^-1 and D = inverse B of every block, flat; False where there is none."""
    for i in range(laws.cone.shape[0]):
        m, a, b = laws.row[i + 1] - laws.row[i], laws.at_W[i], laws.at_W[i + 1]
        C_i, B_i = C[a:b].reshape(m, m), B[a:b].reshape(m, m)
        if not inverse_block(C_i, B_i, eps, inverse[a:b].reshape(m, m), D[a:b].reshape(m, m)):
            return False
    return True


@kernel(types.void(LAWS, VECTOR, VECTOR, VECTOR))
def times(laws, blocks, P, found):
    """found (R,) = blocks P, block by block."""
    for i in range(laws.cone.shape[0]):
        first, m, at = laws.row[i], laws.row[i + 1] - laws.row[i], laws.at_W[i]
        for a in range(m):
            found[first + a] = 0.0
            for b in range(m):
                found[first + a] += blocks[at + a * m + b] * P[first + b]


@kernel(types.void(LAWS, INDICES, INDICES, VECTOR, VECTOR, INDICES, VECTOR))
def add_blocks(laws, first, start, H, D, place, values):
    """values += the entries of H_i D_i H_i^T, block by block, row by row, in the order of their places.

    The velocities that block i moves are first[i] : first[i + 1]; H_i has m numbers for each, from start[i] on.
    """
    at = 0
    for i in range(laws.cone.shape[0]):
        m, count, own = laws.row[i + 1] - laws.row[i], first[i + 1] - first[i], laws.at_W[i]
        left = np.empty(m)
        for p in range(count):
            for b in range(m):
                left[b] = 0.0
                for a in range(m):
                    left[b] += H[start[i] + p * m + a] * D[own + a * m + b]
            for k in range(count):
                total = 0.0
                for b in range(m):
                    total += left[b] * H[start[i] + k * m + b]
                values[place[at]] += total
                at += 1
