"""Kernels of `contact_blocks`: the diagonal blocks of W and of L W R + N, and what the terms of a row are there."""

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, VECTOR
from workbench.problems.islands import READ_INDICES
from workbench.problems.residual import READ_ROW
from workbench.problems.sets import NO_CONE

I64 = types.int64
STORED = (INDICES, INDICES, VECTOR)
"""first, column, values of a sparse matrix."""


@kernel(types.void(READ_INDICES, I64, *STORED, *STORED, I64, VECTOR))
def row_products(row, first, J_first, J_column, J, V_first, V_column, V, n, W):
    """W, flat: the products of rows a of J (R, n) and `first` + b of V for all a, b of the same block."""
    spread, at = np.zeros(n), 0
    for i in range(row.shape[0] - 1):
        m = row[i + 1] - row[i]
        for a in range(row[i], row[i + 1]):
            for p in range(J_first[a], J_first[a + 1]):
                spread[J_column[p]] = J[p]
            for b in range(row[i], row[i + 1]):
                if first <= b < first + V_first.shape[0] - 1:
                    total = 0.0
                    for p in range(V_first[b - first], V_first[b - first + 1]):
                        total += spread[V_column[p]] * V[p]
                    W[at + (a - row[i]) * m + b - row[i]] = total
            for p in range(J_first[a], J_first[a + 1]):
                spread[J_column[p]] = 0.0
        at += m * m


@kernel(types.void(READ_INDICES, READ_INDICES, READ_ROW, READ_ROW, READ_ROW, READ_ROW, VECTOR))
def own_matrices(row, unknown, L, N, R, W, A):
    """A = L W R + N block by block, flat as N; W flat, m_i m_i numbers for block i."""
    at_L, at_N, at_W = 0, 0, 0
    for i in range(row.shape[0] - 1):
        m, k = row[i + 1] - row[i], unknown[i + 1] - unknown[i]
        for p in range(k):
            for q in range(k):
                A[at_N + p * k + q] = N[at_N + p * k + q]
            for b in range(m):
                left = 0.0
                for a in range(m):
                    left += L[at_L + p * m + a] * W[at_W + a * m + b]
                for q in range(k):
                    A[at_N + p * k + q] += left * R[at_L + b * k + q]
        at_L, at_N, at_W = at_L + k * m, at_N + k * k, at_W + m * m


@kernel(types.void(READ_INDICES, READ_INDICES, READ_ROW, READ_ROW, READ_ROW, VECTOR))
def own_terms(first, cone, A, moved, x, terms):
    """The terms (X,) of intervals: those of their own block one by one, and what all others make of the row together.

    moved (X,) is the row of the whole matrix times x, A its diagonal blocks, flat.
    """
    at = 0
    for i in range(cone.shape[0]):
        k = first[i + 1] - first[i]
        if cone[i] == NO_CONE:
            for a in range(k):
                size, others = 0.0, moved[first[i] + a]
                for b in range(k):
                    term = A[at + a * k + b] * x[first[i] + b]
                    size, others = size + abs(term), others - term
                terms[first[i] + a] = size + abs(others)
        at += k * k
