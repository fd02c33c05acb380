"""Kernels of `contact_blocks`: validation, products, the diagonal blocks of W and of L W R + N, and the terms of their
rows."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR
from workbench.engine.layout import Packed
from workbench.engine.stored import STORED
from workbench.problems.islands import READ_INDICES
from workbench.problems.residual import READ_ROW
from workbench.problems.sets import DISC, NO_CONE

I64 = types.int64


class BlockArrays(Packed):
    """The numbers of contact blocks; fields as in `contact_blocks.ContactBlocks`, M and J by rows (`engine.stored`)."""

    sizes = (
        "n", "blocks", "ends", "rows", "unknowns", "flat", "square", "M_ends", "M_entries", "J_ends", "J_entries",
    )  # fmt: skip
    integers = ("row", "unknown", "cone", "M_pointer", "M_column", "J_pointer", "J_column")
    fields: ClassVar[dict[str, tuple]] = {
        "b": ("n",), "row": ("ends",), "unknown": ("ends",), "cone": ("blocks",), "mu": ("blocks",), "L": ("flat",),
        "N": ("square",), "R": ("flat",), "c": ("unknowns",), "lower": ("unknowns",), "upper": ("unknowns",),
        "s": ("rows",), "M_pointer": ("M_ends",), "M_column": ("M_entries",), "M_data": ("M_entries",),
        "J_pointer": ("J_ends",), "J_column": ("J_entries",), "J_data": ("J_entries",),
    }  # fmt: skip

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


BLOCKS = BlockArrays.compiled


@kernel(types.boolean(BLOCKS))
def is_sound(p):
    """Return whether the numbers of blocks are valid, and the diagonal of M positive."""
    wrong, B = 0, p.cone.shape[0]
    if p.row[0] or p.unknown[0]:
        return False
    flat, square = 0, 0
    for i in range(B):
        m, k = p.row[i + 1] - p.row[i], p.unknown[i + 1] - p.unknown[i]
        if m < 0 or k < 0:
            return False
        flat, square = flat + m * k, square + k * k
    if p.L.shape[0] != flat or p.N.shape[0] != square or p.s.shape[0] != p.row[B] or p.c.shape[0] != p.unknown[B]:
        return False
    for k in range(p.J_pointer[p.row[B]]):
        wrong += not np.isfinite(p.J_data[k])
    for i in range(p.b.shape[0]):
        diagonal = 0.0
        for k in range(p.M_pointer[i], p.M_pointer[i + 1]):
            wrong += not np.isfinite(p.M_data[k])
            if p.M_column[k] == i:
                diagonal += p.M_data[k]
        wrong += not diagonal > 0.0
    for x in (p.b, p.L, p.N, p.R, p.c, p.s):
        for k in range(x.shape[0]):
            wrong += not np.isfinite(x[k])
    at = 0
    for i in range(B):
        m, k = p.row[i + 1] - p.row[i], p.unknown[i + 1] - p.unknown[i]
        wrong += not (0 <= p.cone[i] <= DISC and 0.0 <= p.mu[i] < np.inf)
        if p.cone[i] == NO_CONE:
            for a in range(p.unknown[i], p.unknown[i + 1]):
                wrong += not (p.lower[a] <= p.upper[a] and p.lower[a] < np.inf and p.upper[a] > -np.inf)
        else:
            wrong += m != k or k == 0
            for a in range(p.unknown[i], p.unknown[i + 1]):
                # Bounds that are not read may be anything but nan.
                wrong += p.lower[a] != p.lower[a] or p.upper[a] != p.upper[a]
            for a in range(m * k):
                wrong += p.R[at + a] != (1.0 if a % (k + 1) == 0 else 0.0)
            for a in range(p.row[i], p.row[i + 1]):
                wrong += p.s[a] != 0.0
        at += m * k
    return wrong == 0


@kernel(types.void(BLOCKS, STORED, READ_ROW, VECTOR, VECTOR))
def push(blocks, J, x, P, b):
    """Add R x to the impulses P (R,), and then J^T P to b (n,)."""
    row, unknown, R, at = blocks.row, blocks.unknown, blocks.R, 0
    for i in range(row.shape[0] - 1):
        for a in range(row[i], row[i + 1]):
            for p in range(unknown[i], unknown[i + 1]):
                P[a] += R[at] * x[p]
                at += 1
            for k in range(J.pointer[a], J.pointer[a + 1]):
                b[J.column[k]] += J.data[k] * P[a]


@kernel(types.void(BLOCKS, STORED, READ_ROW, READ_ROW, VECTOR, VECTOR))
def pull(blocks, J, v, x, moved, terms):
    """Fill moved (X,) = L J v + N x, and terms (X,) with the sizes of what these are the sums of."""
    row, unknown, L, N, at_L, at_N = blocks.row, blocks.unknown, blocks.L, blocks.N, 0, 0
    for i in range(row.shape[0] - 1):
        first, end, m = unknown[i], unknown[i + 1], row[i + 1] - row[i]
        for p in range(first, end):
            moved[p] = terms[p] = 0.0
        for a in range(m):
            u = size = 0.0
            for k in range(J.pointer[row[i] + a], J.pointer[row[i] + a + 1]):
                term = J.data[k] * v[J.column[k]]
                u, size = u + term, size + abs(term)
            for p in range(first, end):
                f = L[at_L + (p - first) * m + a]
                moved[p], terms[p] = moved[p] + f * u, terms[p] + abs(f) * size
        for p in range(first, end):
            u = size = 0.0
            for q in range(first, end):
                term = N[at_N] * x[q]
                u, size, at_N = u + term, size + abs(term), at_N + 1
            moved[p], terms[p] = moved[p] + u, terms[p] + size
        at_L += m * (end - first)


@kernel(types.void(BLOCKS, READ_ROW, READ_ROW, VECTOR, VECTOR, VECTOR))
def scale_blocks(blocks, of_row, of_unknown, L, N, R):
    """Fill L, N, R, flat, with those of the blocks where rows and unknowns are in other units: u = of_row u', and
    x = x' / of_unknown; of_row (R,), of_unknown (X,)."""
    at_L, at_N = 0, 0
    for i in range(blocks.cone.shape[0]):
        row, first = blocks.row[i], blocks.unknown[i]
        m, k = blocks.row[i + 1] - row, blocks.unknown[i + 1] - first
        for p in range(k):
            for a in range(m):
                share = of_row[row + a] / of_unknown[first + p]
                L[at_L + p * m + a] = blocks.L[at_L + p * m + a] * share
                R[at_L + a * k + p] = blocks.R[at_L + a * k + p] * share
            for q in range(k):
                N[at_N + p * k + q] = blocks.N[at_N + p * k + q] / (of_unknown[first + p] * of_unknown[first + q])
        at_L, at_N = at_L + k * m, at_N + k * k


@kernel(types.void(READ_INDICES, I64, STORED, STORED, I64, VECTOR))
def row_products(row, first, J, V, n, W):
    """Fill W, flat: the products of rows a of J (R, n) and `first` + b of V for all a, b of the same block."""
    spread, at = np.zeros(n), 0
    for i in range(row.shape[0] - 1):
        m = row[i + 1] - row[i]
        for a in range(row[i], row[i + 1]):
            for p in range(J.pointer[a], J.pointer[a + 1]):
                spread[J.column[p]] = J.data[p]
            for b in range(row[i], row[i + 1]):
                if first <= b < first + V.pointer.shape[0] - 1:
                    total = 0.0
                    for p in range(V.pointer[b - first], V.pointer[b - first + 1]):
                        total += spread[V.column[p]] * V.data[p]
                    W[at + (a - row[i]) * m + b - row[i]] = total
            for p in range(J.pointer[a], J.pointer[a + 1]):
                spread[J.column[p]] = 0.0
        at += m * m


@kernel(types.void(READ_INDICES, READ_INDICES, READ_ROW, READ_ROW, READ_ROW, READ_ROW, VECTOR))
def own_matrices(row, unknown, L, N, R, W, A):
    """Fill A = L W R + N block by block, flat as N; W flat, m_i m_i numbers for block i."""
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
    """Fill the terms (X,) of intervals: those of their own block one by one, and the sum over all other blocks.

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
