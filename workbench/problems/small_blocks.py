"""Contact blocks that are few, as dense matrices made by compiled code.

Of a robot's step, scipy's sparse matrices took 3 ms to set up what is solved in 0.2 ms.
"""

from typing import Any

import numpy as np
from numba import types

from workbench.arrays import Array
from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR
from workbench.problems.islands import READ_INDICES, parts_over_bodies
from workbench.problems.mass import mass_of, solve_mass
from workbench.problems.residual import READ_ROW

MOST_ROWS, MOST_UNKNOWNS, MOST_VELOCITIES = 200, 400, 400
"""Rows, unknowns and velocities up to which contact blocks are few."""
STORED = READ_INDICES, READ_INDICES, READ_ROW
"""pointer, index, data of a sparse matrix."""


@kernel(types.void(*STORED, INDICES, INDICES, INDICES, INDICES, VECTOR, MATRIX))
def forward_rows(pointer, index, data, group, begin, within, at, factor, Y):
    """Y (R, n): the rows of L^-1 J^T, velocities in the order of their groups; W = Y Y^T."""
    for r in range(Y.shape[0]):
        for j in range(Y.shape[1]):
            Y[r, j] = 0.0
        for k in range(pointer[r], pointer[r + 1]):
            j = index[k]
            Y[r, begin[group[j]] + within[j]] += data[k]
        for g in range(begin.shape[0] - 1):
            a, size, first = begin[g], begin[g + 1] - begin[g], at[g]
            front = 0
            while front < size and Y[r, a + front] == 0.0:
                front += 1
            for i in range(front, size):
                s = Y[r, a + i]
                for k in range(front, i):
                    s -= factor[first + i * size + k] * Y[r, a + k]
                Y[r, a + i] = s / factor[first + i * size + i]


@kernel(types.void(MATRIX, MATRIX))
def gram(Y, W):
    """W = Y Y^T."""
    for a in range(Y.shape[0]):
        for b in range(a + 1):
            s = 0.0
            for j in range(Y.shape[1]):
                s += Y[a, j] * Y[b, j]
            W[a, b] = W[b, a] = s


@kernel(types.void(READ_INDICES, READ_INDICES, READ_ROW, READ_ROW, READ_ROW, MATRIX, MATRIX, VECTOR, VECTOR))
def block_matrix(row, unknown, L, N, R, W, A, own_W, own_A):
    """A (X, X) = L W R + N, and the diagonal blocks of W and A, flat."""
    at_i, W_i, N_i = 0, 0, 0
    for i in range(row.shape[0] - 1):
        m, k = row[i + 1] - row[i], unknown[i + 1] - unknown[i]
        at_j = 0
        for j in range(row.shape[0] - 1):
            width, count = row[j + 1] - row[j], unknown[j + 1] - unknown[j]
            for p in range(k):
                for q in range(count):
                    A[unknown[i] + p, unknown[j] + q] = N[N_i + p * k + q] if i == j else 0.0
                for b in range(width):
                    left = 0.0
                    for a in range(m):
                        left += L[at_i + p * m + a] * W[row[i] + a, row[j] + b]
                    if left != 0.0:
                        for q in range(count):
                            A[unknown[i] + p, unknown[j] + q] += left * R[at_j + b * count + q]
            at_j += width * count
        for a in range(m):
            for b in range(m):
                own_W[W_i + a * m + b] = W[row[i] + a, row[i] + b]
        for p in range(k):
            for q in range(k):
                own_A[N_i + p * k + q] = A[unknown[i] + p, unknown[i] + q]
        at_i, W_i, N_i = at_i + k * m, W_i + m * m, N_i + k * k


@kernel(types.void(READ_INDICES, READ_INDICES, READ_ROW, *STORED, READ_ROW, READ_ROW, VECTOR, VECTOR))
def free_rows(row, unknown, L, pointer, index, data, v, c, q, sizes):
    """q (X,) = L J v + c, and the sizes of what it is the sum of."""
    at = 0
    for i in range(row.shape[0] - 1):
        m = row[i + 1] - row[i]
        for p in range(unknown[i], unknown[i + 1]):
            q[p], sizes[p] = c[p], abs(c[p])
        for a in range(m):
            u, size = 0.0, 0.0
            for k in range(pointer[row[i] + a], pointer[row[i] + a + 1]):
                u, size = u + data[k] * v[index[k]], size + abs(data[k] * v[index[k]])
            for p in range(unknown[i + 1] - unknown[i]):
                q[unknown[i] + p] += L[at + p * m + a] * u
                sizes[unknown[i] + p] += abs(L[at + p * m + a]) * size
        at += m * (unknown[i + 1] - unknown[i])


@kernel(types.void(READ_INDICES, READ_INDICES, READ_ROW, READ_ROW, READ_ROW, *STORED, VECTOR, VECTOR))
def push(row, unknown, R, s, x, pointer, index, data, P, b):
    """P = R x + s, and b += J^T P."""
    at = 0
    for i in range(row.shape[0] - 1):
        for a in range(row[i], row[i + 1]):
            P[a] = s[a]
            for p in range(unknown[i], unknown[i + 1]):
                P[a] += R[at] * x[p]
                at += 1
            for k in range(pointer[a], pointer[a + 1]):
                b[index[k]] += data[k] * P[a]


class SmallBlocks:
    """The matrices of few contact blocks; raises DataError where the mass matrix is not positive definite."""

    def __init__(self, p: Any) -> None:
        R, X, n = p.s.size, p.size, p.b.size
        self.problem, self.mass = p, mass_of(p.M)
        self.J = p.J.indptr.astype(np.int64), p.J.indices.astype(np.int64), p.J.data
        group, begin, _, within, at, factor = self.mass
        Y, W, self.A = np.empty((R, n)), np.empty((R, R)), np.empty((X, X))
        m, k = np.diff(p.row), np.diff(p.unknown)
        self.own = np.empty(int((m * m).sum())), np.empty(int((k * k).sum()))
        forward_rows(*self.J, group, begin, within, at, factor, Y)
        gram(Y, W)
        block_matrix(p.row, p.unknown, p.L, p.N, p.R, W, self.A, *self.own)
        self.free_velocity = self._answered(np.zeros(X), np.empty(R))
        self.q, self.sizes = np.empty(X), np.empty(X)
        free_rows(p.row, p.unknown, p.L, *self.J, self.free_velocity, p.c, self.q, self.sizes)
        part = np.empty(p.blocks + begin.size - 1, dtype=np.int64)
        parts_over_bodies(p.row, *self.J, group, part)
        self.part = part[: p.blocks]

    def impulses(self, x: Array) -> Array:
        """P (R,) of x (X,)."""
        p, P = self.problem, np.empty(self.problem.s.size)
        push(p.row, p.unknown, p.R, p.s, x, *self.J, P, np.empty(p.b.size))
        return P

    def velocities(self, x: Array) -> Array:
        """v+ (n,) of x (X,)."""
        return self._answered(x, np.empty(self.problem.s.size))

    def _answered(self, x: Array, P: Array) -> Array:
        p, v, m = self.problem, self.problem.b.copy(), self.mass
        push(p.row, p.unknown, p.R, p.s, x, *self.J, P, v)
        solve_mass(m.begin, m.member, m.at, m.factor, v, np.empty(v.size))
        return v
