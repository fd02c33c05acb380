"""Contact blocks that are few, as dense matrices made by compiled code.

Of a robot's step, scipy's sparse matrices took 3 ms to set up what is solved in 0.2 ms.
"""

from math import ldexp
from typing import Any, NamedTuple

import numpy as np
from numba import types

from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR, copy, set_all
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix
from workbench.engine.stored import STORED, as_stored
from workbench.problems.block_kernels import BLOCKS, own_terms
from workbench.problems.islands import parts_over_bodies
from workbench.problems.mass import MASS, solve_mass
from workbench.problems.residual import READ_ROW, Iterate, block_units, growth_exponent, measure, row_product
from workbench.problems.sets import DISC, BlockSets
from workbench.support.arrays import Array

MOST_ROWS, MOST_UNKNOWNS, MOST_VELOCITIES = 200, 400, 400
"""Rows, unknowns and velocities up to which contact blocks are few."""


class Few(NamedTuple):
    """What few blocks are asked for: A = L W R + N (X, X), the diagonal blocks of W and of A, flat, the velocity (n,)
    that M v = b + J^T s has, q (X,) of F = A x + q, the sizes of what q is the sum of, and `part` (B,) as of
    `islands.parts_over_bodies`."""

    A: Any
    own_W: Any
    own_A: Any
    velocity: Any
    q: Any
    sizes: Any
    part: Any


FEW = argument_type(Few, MATRIX, *(VECTOR,) * 5, INDICES)


@kernel(types.void(STORED, MASS, MATRIX))
def forward_rows(J, mass, Y):
    """Y (R, n): the rows of L^-1 J^T, velocities in the order of their groups; W = Y Y^T."""
    group, begin, _, within, at, factor = mass
    for r in range(Y.shape[0]):
        for j in range(Y.shape[1]):
            Y[r, j] = 0.0
        for k in range(J.pointer[r], J.pointer[r + 1]):
            j = J.column[k]
            Y[r, begin[group[j]] + within[j]] += J.data[k]
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


@kernel(types.void(BLOCKS, MATRIX, FEW))
def block_matrix(blocks, W, few):
    """A (X, X) = L W R + N, and the diagonal blocks of W and A, flat."""
    row, unknown, L, N, R = blocks.row, blocks.unknown, blocks.L, blocks.N, blocks.R
    A, own_W, own_A = few.A, few.own_W, few.own_A
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


@kernel(types.void(BLOCKS, STORED, FEW))
def free_rows(blocks, J, few):
    """q (X,) = L J v + c, and the sizes of what it is the sum of."""
    row, unknown, L, c = blocks.row, blocks.unknown, blocks.L, blocks.c
    v, q, sizes, at = few.velocity, few.q, few.sizes, 0
    for i in range(row.shape[0] - 1):
        m = row[i + 1] - row[i]
        for p in range(unknown[i], unknown[i + 1]):
            q[p], sizes[p] = c[p], abs(c[p])
        for a in range(m):
            u, size = 0.0, 0.0
            for k in range(J.pointer[row[i] + a], J.pointer[row[i] + a + 1]):
                term = J.data[k] * v[J.column[k]]
                u, size = u + term, size + abs(term)
            for p in range(unknown[i + 1] - unknown[i]):
                q[unknown[i] + p] += L[at + p * m + a] * u
                sizes[unknown[i] + p] += abs(L[at + p * m + a]) * size
        at += m * (unknown[i + 1] - unknown[i])


@kernel(types.void(BLOCKS, STORED, READ_ROW, VECTOR, VECTOR))
def push(blocks, J, x, P, b):
    """P = R x + s, and b += J^T P."""
    row, unknown, R, s, at = blocks.row, blocks.unknown, blocks.R, blocks.s, 0
    for i in range(row.shape[0] - 1):
        for a in range(row[i], row[i + 1]):
            P[a] = s[a]
            for p in range(unknown[i], unknown[i + 1]):
                P[a] += R[at] * x[p]
                at += 1
            for k in range(J.pointer[a], J.pointer[a + 1]):
                b[J.column[k]] += J.data[k] * P[a]


@kernel(types.void(BLOCKS, FEW, VECTOR, VECTOR), checked=False)
def few_residuals(blocks, few, x, found):
    """`residual.by_sets` of the blocks at x (X,), found (B,)."""
    first, cone, A, own, q, part = blocks.unknown, blocks.cone, few.A, few.own_A, few.q, few.part
    B, X = cone.shape[0], x.shape[0]
    D, diagonal, y, w, terms = scratch(X), scratch(X), scratch(X), scratch(X), scratch(X)
    free, given, low, high, mu = scratch(X), scratch(X), scratch(X), scratch(X), scratch(B)
    for k in range(X):
        if not np.isfinite(x[k]):
            for i in range(B):
                found[i] = np.inf
            return
    for k in range(X):
        diagonal[k] = A[k, k]
    block_units(first, cone, diagonal, own, q, x, D)
    up = growth_exponent(D, x, q)
    for k in range(X):
        y[k] = ldexp(x[k], up)
    for k in range(X):
        total, size = row_product(A, k, y)
        w[k], terms[k] = total, size
    own_terms(first, cone, own, w, y, terms)
    for i in range(B):
        mu[i] = ldexp(blocks.mu[i], up) / D[first[i]] if cone[i] == DISC else blocks.mu[i]
    for k in range(X):
        raised = ldexp(q[k], up)
        w[k], terms[k] = D[k] * (w[k] + raised), D[k] * terms[k]
        free[k], given[k], y[k] = D[k] * raised, D[k] * ldexp(few.sizes[k], up), y[k] / D[k]
        low[k], high[k] = ldexp(blocks.lower[k], up) / D[k], ldexp(blocks.upper[k], up) / D[k]
    measure(BlockSets(first, cone, mu, low, high), part, part, Iterate(y, w, free, given, terms, diagonal), found)


@kernel(types.void(BLOCKS, STORED, VECTOR, MASS, FEW), checked=False)
def set_up(blocks, J, b, mass, few):
    """All that few blocks are asked for, over the momentum b (n,)."""
    rows, n, B = blocks.s.shape[0], b.shape[0], blocks.cone.shape[0]
    part = scratch_indices(B + mass.begin.shape[0] - 1)
    Y, W, P, x = scratch_matrix(rows, n), scratch_matrix(rows, rows), scratch(rows), scratch(blocks.c.shape[0])
    forward_rows(J, mass, Y)
    gram(Y, W)
    block_matrix(blocks, W, few)
    copy(b, few.velocity)
    set_all(0.0, x)
    push(blocks, J, x, P, few.velocity)
    solve_mass(mass, few.velocity)
    free_rows(blocks, J, few)
    parts_over_bodies(blocks.row, J, mass.group, part)
    for i in range(B):
        few.part[i] = part[i]


@kernel(types.void(BLOCKS, STORED, READ_ROW, VECTOR, MASS, VECTOR, VECTOR), checked=False)
def move(blocks, J, x, b, mass, v, P):
    """v (n,) and P (R,) of x (X,), over the momentum b (n,)."""
    copy(b, v)
    push(blocks, J, x, P, v)
    solve_mass(mass, v)


class SmallBlocks:
    """The matrices of few contact blocks; raises DataError where the mass matrix is not positive definite."""

    def __init__(self, p: Any) -> None:
        # Not the problem itself: that has these, and two that have each other are freed late.
        self.blocks, self.mass, self.J, self.b = (
            p.arrays,
            p.mass,
            as_stored(p.J),
            p.b if p.b.flags.writeable else p.b.copy(),
        )
        X, m = p.size, p.row[1:] - p.row[:-1]
        self.few = Few(
            np.empty((X, X)), np.empty(m @ m), np.empty(p.N.size), np.empty(p.b.size), np.empty(X), np.empty(X),
            np.empty(p.blocks, dtype=np.int64),
        )  # fmt: skip
        set_up(self.blocks, self.J, self.b, self.mass, self.few)

    def residuals(self, x: Array) -> Array:
        """Of every block (B,) at x (X,)."""
        found = np.empty(self.few.part.size)
        few_residuals(self.blocks, self.few, x if x.flags.carray else np.require(x, float, ["C", "W"]), found)
        return found

    def motion(self, x: Array) -> tuple[Array, Array]:
        """v+ (n,) and P (R,) of x (X,)."""
        v, P = np.empty(self.b.size), np.empty(self.blocks.s.size)
        move(self.blocks, self.J, x, self.b, self.mass, v, P)
        return v, P
