"""Kernels over contact blocks and bodies: Gauss-Seidel sweeps, and the matrix of Newton's method.

Blocks may have any size and law (`block_laws`); vectors are flat, and W = J V^T is not formed.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from workbench.algorithms.block_laws import BLOCK_METRIC, LAWS, BlockMetric, Laws, answer
from workbench.algorithms.gauss_seidel import BODIES, cone_answer, read_bodies, sweeps_over, take_bodies
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR, WITHIN, lu_factor, lu_solve
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix
from workbench.problems.sets import NO_CONE
from workbench.support.arrays import Array

I64, F64 = types.int64, types.float64


class LawBlocks(NamedTuple):
    """The laws of blocks as sets for sweeps.

    first (B + 1,) are their rows; x (X,) receives the solutions of F = A x + q; q (X,) is a work array."""

    first: NDArray[np.int64]
    laws: Laws
    metric: BlockMetric
    x: Array
    q: Array


LAW_BLOCKS = argument_type(LawBlocks, INDICES, LAWS, BLOCK_METRIC, VECTOR, VECTOR)


@kernel(types.void(LAW_BLOCKS, I64, VECTOR, VECTOR, VECTOR), **WITHIN)
def law_answer(blocks, i, W, u, P):
    """Solve block i: P (m,) and x (X,), u (m,) being its velocities without its own impulses; the metric is of W."""
    laws, metric, x = blocks.laws, blocks.metric, blocks.x
    m, first, at_L = laws.row[i + 1] - laws.row[i], laws.unknown[i], laws.at_L[i]
    k = laws.unknown[i + 1] - first
    q = blocks.q[first : first + k]
    for p in range(k):
        q[p] = laws.c[first + p]
        for a in range(m):
            q[p] += laws.L[at_L + p * m + a] * u[a]
    if laws.cone[i] == NO_CONE:
        answer(laws, metric, i, q, x)
    else:
        A = metric.A[laws.at_A[i] : laws.at_A[i + 1]].reshape(k, k)
        cone_answer(laws.cone[i], A, q, laws.mu[i], x[first : first + k])
    for a in range(m):
        P[a] = 0.0
        for p in range(k):
            P[a] += laws.R[at_L + a * k + p] * x[first + p]


sweeps_of_laws = sweeps_over(BODIES, LAW_BLOCKS, read_bodies, law_answer, take_bodies)


@kernel(types.boolean(MATRIX, MATRIX, F64, MATRIX, MATRIX))
def inverse_block(C, B, eps, R, D):
    """Compute R = (C + eps B)^-1 and D = R B of one contact, all (m, m); False if the matrix is singular."""
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
    """Compute inverse = (C + eps B)^-1 and D = inverse B of every block, flat; False if a block is singular."""
    for i in range(laws.cone.shape[0]):
        m, a, b = laws.row[i + 1] - laws.row[i], laws.at_W[i], laws.at_W[i + 1]
        C_i, B_i = C[a:b].reshape(m, m), B[a:b].reshape(m, m)
        if not inverse_block(C_i, B_i, eps, inverse[a:b].reshape(m, m), D[a:b].reshape(m, m)):
            return False
    return True


@kernel(types.void(LAWS, VECTOR, VECTOR))
def add_impulses(laws, x, P):
    """Add R x to the impulses P (R,) in scaled rows."""
    for i in range(laws.cone.shape[0]):
        first, k = laws.unknown[i], laws.unknown[i + 1] - laws.unknown[i]
        for a in range(laws.row[i], laws.row[i + 1]):
            at = laws.at_L[i] + (a - laws.row[i]) * k
            for p in range(k):
                P[a] += laws.R[at + p] * x[first + p]


@kernel(types.void(LAWS, VECTOR, VECTOR, VECTOR))
def times(laws, blocks, P, found):
    """Compute found (R,) = blocks P, block by block."""
    for i in range(laws.cone.shape[0]):
        first, m, at = laws.row[i], laws.row[i + 1] - laws.row[i], laws.at_W[i]
        for a in range(m):
            found[first + a] = 0.0
            for b in range(m):
                found[first + a] += blocks[at + a * m + b] * P[first + b]


@kernel(types.void(LAWS, INDICES, INDICES, VECTOR, VECTOR, INDICES, VECTOR))
def add_blocks(laws, first, start, H, D, place, values):
    """Add the entries of H_i D_i H_i^T to values, block by block, row by row, at the positions `place`.

    Block i moves the velocities first[i] : first[i + 1]; H_i has m numbers for each, from start[i] on.
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
