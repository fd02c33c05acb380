"""Contact blocks that are few, as dense matrices made by compiled code.

Of a robot's step, scipy's sparse matrices took 3 ms to set up what is solved in 0.2 ms.
"""

from math import ldexp
from typing import Any

import numpy as np
from numba import types

from workbench.arrays import Array
from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR, set_all
from workbench.engine.scratch import scratch, scratch_matrix
from workbench.engine.stored import as_stored
from workbench.problems.block_kernels import own_terms
from workbench.problems.islands import READ_INDICES, parts_over_bodies
from workbench.problems.mass import mass_of, solve_mass
from workbench.problems.residual import (
    BLOCK_SETS,
    READ_ROW,
    BlockSets,
    Iterate,
    block_units,
    lift,
    measure,
    row_product,
)
from workbench.problems.sets import DISC

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


@kernel(types.void(BLOCK_SETS, INDICES, MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR))
def few_residuals(sets, part, A, own, q, sizes, x, found):
    """`residual.by_sets` of A (X, X), found (B,); own are the diagonal blocks of A, flat."""
    first, cone = sets.first, sets.cone
    B, X = cone.shape[0], x.shape[0]
    D, diagonal, y, w, terms = scratch(X), scratch(X), scratch(X), scratch(X), scratch(X)
    free, given, low, high, mu = scratch(X), scratch(X), scratch(X), scratch(X), scratch(B)
    for k in range(X):
        if not np.isfinite(x[k]):
            for i in range(B):
                found[i] = np.inf
            return
    block_units(first, cone, own, q, x, D, diagonal)
    up = lift(D, x, q)
    for k in range(X):
        y[k] = ldexp(x[k], up)
    for k in range(X):
        total, size = row_product(A, k, y)
        w[k], terms[k] = total, size
    own_terms(first, cone, own, w, y, terms)
    for i in range(B):
        mu[i] = ldexp(sets.mu[i], up) / D[first[i]] if cone[i] == DISC else sets.mu[i]
    for k in range(X):
        raised = ldexp(q[k], up)
        w[k], terms[k] = D[k] * (w[k] + raised), D[k] * terms[k]
        free[k], given[k], y[k] = D[k] * raised, D[k] * ldexp(sizes[k], up), y[k] / D[k]
        low[k], high[k] = ldexp(sets.lower[k], up) / D[k], ldexp(sets.upper[k], up) / D[k]
    measure(BlockSets(first, cone, mu, low, high), part, part, Iterate(y, w, free, given, terms, diagonal), found)


@kernel(
    types.void(
        READ_INDICES, READ_INDICES, *(READ_ROW,) * 6, *STORED, *(INDICES,) * 5, VECTOR, MATRIX, *(VECTOR,) * 5,
        INDICES,
    )
)  # fmt: skip
def set_up(
    row, unknown, L, N, R, s, c, b, pointer, index, data, group, begin, member, within, at, factor, A, own_W, own_A,
    velocity, q, sizes, part,
):  # fmt: skip
    """All that few blocks are asked for, from the factors of their mass matrix."""
    rows, n = s.shape[0], b.shape[0]
    Y, W, P, y, x = scratch_matrix(rows, n), scratch_matrix(rows, rows), scratch(rows), scratch(n), scratch(c.shape[0])
    forward_rows(pointer, index, data, group, begin, within, at, factor, Y)
    gram(Y, W)
    block_matrix(row, unknown, L, N, R, W, A, own_W, own_A)
    velocity[:] = b
    set_all(0.0, x)
    push(row, unknown, R, s, x, pointer, index, data, P, velocity)
    solve_mass(begin, member, at, factor, velocity, y)
    free_rows(row, unknown, L, pointer, index, data, velocity, c, q, sizes)
    parts_over_bodies(row, pointer, index, data, group, part)


class SmallBlocks:
    """The matrices of few contact blocks; raises DataError where the mass matrix is not positive definite."""

    def __init__(self, p: Any) -> None:
        X, n = p.size, p.b.size
        self.problem, self.mass = p, mass_of(p.M)
        self.J = as_stored(p.J)
        group, begin, member, within, at, factor = self.mass
        m, k = np.diff(p.row), np.diff(p.unknown)
        self.A, self.own = np.empty((X, X)), (np.empty(int(m @ m)), np.empty(int(k @ k)))
        self.free_velocity, self.q, self.sizes = np.empty(n), np.empty(X), np.empty(X)
        part = np.empty(p.blocks + begin.size - 1, dtype=np.int64)
        set_up(
            p.row, p.unknown, p.L, p.N, p.R, p.s, p.c, p.b, *self.J, group, begin, member, within, at, factor, self.A,
            *self.own, self.free_velocity, self.q, self.sizes, part,
        )  # fmt: skip
        self.part = part[: p.blocks]
        self.sets = BlockSets(*(np.require(y, requirements="W") for y in (p.unknown, p.cone, p.mu, p.lower, p.upper)))

    def residuals(self, x: Array) -> Array:
        """Of every block (B,) at x (X,)."""
        found = np.empty(self.part.size)
        few_residuals(self.sets, self.part, self.A, self.own[1], self.q, self.sizes, x, found)
        return found

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
