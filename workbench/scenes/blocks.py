"""Kernels that put the blocks of contacts and their rows into one `problems.contact_blocks`."""

from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR

I64 = types.int64


@kernel(
    types.void(
        INDICES, MATRIX, I64, I64, INDICES, INDICES, INDICES, INDICES,
        VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR,
    )
)  # fmt: skip
def place_blocks(members, B, k, m, block, row, unknown, flat, L, N, R, c, s, lower, upper, mu):
    """The matrices B (count, .) of `assemble.local` of some contacts, where they belong.

    block (r,) is the block of every contact, -1 where it has none; flat (2 r,) where its numbers begin in L and N.
    """
    width = m + k + 1
    for j in range(members.shape[0]):
        i = block[members[j]]
        if i < 0:
            continue
        own, x, u, at_L, at_N = B[j], unknown[i], row[i], flat[2 * i], flat[2 * i + 1]
        for a in range(k):
            line = a * width
            for b in range(m):
                L[at_L + a * m + b] = own[line + b]
                R[at_L + b * k + a] = own[(k + b) * width + m + a]
            for b in range(k):
                N[at_N + a * k + b] = own[line + m + b]
            c[x + a] = own[line + m + k]
            lower[x + a] = own[(k + m + a + 1) * width - 1]
            upper[x + a] = own[(2 * k + m + a + 1) * width - 1]
        for b in range(m):
            s[u + b] = own[(k + b + 1) * width - 1]
        mu[i] = own[(3 * k + m + 1) * width - 1]


@kernel(
    types.void(INDICES, INDICES, INDICES, INDICES, VECTOR, MATRIX, INDICES, INDICES, I64, I64, INDICES, INDICES, VECTOR)
)
def write_rows(first, start, column, place, value, frame, target, jump, copies, n, pointer, index, data):
    """The contact rows, turned to the axes in use, as rows of a sparse matrix whose `pointer` is known.

    Contact i stands in the rows from target[i] on, not at all where that is negative, and in the k-th copy of the
    system from target[i] + k jump[i] on.
    """
    for i in range(first.shape[0] - 1):
        if target[i] < 0:
            continue
        rows, width, co, si = first[i + 1] - first[i], start[i + 1] - start[i], frame[i, 0], frame[i, 1]
        for k in range(copies):
            for a in range(rows):
                to, source = pointer[target[i] + k * jump[i] + a], place[i] + a * width
                for p in range(width):
                    index[to + p] = column[start[i] + p] + k * n
                    x = value[source + p]
                    if rows > 2 and a == 1:
                        x = co * x + si * value[source + width + p]
                    elif rows > 2 and a == 2:
                        x = co * x - si * value[source - width + p]
                    data[to + p] = x


@kernel(types.void(INDICES, MATRIX, INDICES, VECTOR, VECTOR))
def own_axes(first, frame, target, P, found):
    """Impulses (R,) of the contacts, zero where target is negative, in the axes that `frame` (r, 2) was turned from."""
    for i in range(first.shape[0] - 1):
        for a in range(first[i], first[i + 1]):
            found[a] = P[target[i] + a - first[i]] if target[i] >= 0 else 0.0
        if first[i + 1] - first[i] > 2:
            a = first[i] + 1
            x, y = found[a], found[a + 1]
            found[a], found[a + 1] = frame[i, 0] * x - frame[i, 1] * y, frame[i, 1] * x + frame[i, 0] * y
