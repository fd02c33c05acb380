"""Kernels that put the blocks of contacts and their rows into one `problems.contact_blocks`."""

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR

I64 = types.int64


COUNTS = RUBBING, PLAIN, BLOCKS, ENTRIES = range(4)
"""What `lay_out` counts: contacts with directions that are closed, closed ones without, all blocks, and the numbers of
the rows of contacts in one sparse matrix."""


@kernel(types.void(MATRIX, INDICES, I64, I64, I64, I64, I64, MATRIX, INDICES, INDICES, INDICES))
def outline(states, members, frame_at, J_at, across, k, m, frame, closed, unknowns, rows):
    """Of contacts of one kind, by the numbers of their cores: tangent axes, which are not open, and their sizes."""
    for j in range(members.shape[0]):
        i = members[j]
        frame[i, 0], frame[i, 1] = states[j, frame_at], states[j, frame_at + 1]
        closed[i], unknowns[i], rows[i] = 0, k, m
        for a in range(across):
            if states[j, J_at + a] != 0.0:
                closed[i] = 1


@kernel(
    types.void(
        INDICES, INDICES, INDICES, INDICES, INDICES, I64, I64, INDICES, INDICES, INDICES, INDICES, INDICES, INDICES,
        INDICES, INDICES, INDICES,
    )
)  # fmt: skip
def lay_out(
    first, start, closed, k, m, copies, beside, order, block, target, jump, row, unknown, begin_L, begin_N, counts
):  # fmt: skip
    """Where blocks begin: contacts with directions, then for every copy those without and `beside` rows of other kinds.

    order (r,) receives the closed contacts, those with directions first; block (r,) the block of each, target (r,) its
    first row, -1 where it has none, jump (r,) how many rows on its next copy is; row, unknown, begin_L, begin_N
    (B + 1,) where a block's rows, unknowns and numbers of L and N begin; counts (4,) as `COUNTS` says.
    """
    r = first.shape[0] - 1
    rubbing, plain, B, entries = 0, 0, 0, 0
    for i in range(r):
        block[i], target[i], jump[i] = -1, -1, 0
        if closed[i] and first[i + 1] - first[i] > 1:
            order[rubbing] = i
            rubbing += 1
    for i in range(r):
        if closed[i] and first[i + 1] - first[i] == 1:
            order[rubbing + plain] = i
            plain += 1
    row[0] = unknown[0] = begin_L[0] = begin_N[0] = 0
    single = plain + beside
    for j in range(rubbing + copies * single):
        rows, unknowns = 1, 1
        if j < rubbing:
            i = order[j]
            rows, unknowns = m[i], k[i]
            block[i], target[i], jump[i] = j, row[j], first[i + 1] - first[i]
            entries += copies * jump[i] * (start[i + 1] - start[i])
        row[j + 1], unknown[j + 1] = row[j] + rows, unknown[j] + unknowns
        begin_L[j + 1], begin_N[j + 1] = begin_L[j] + rows * unknowns, begin_N[j] + unknowns * unknowns
        B += 1
    for j in range(plain):
        i = order[rubbing + j]
        target[i], jump[i] = row[rubbing] + j, single
        entries += copies * (start[i + 1] - start[i])
    counts[RUBBING], counts[PLAIN], counts[BLOCKS], counts[ENTRIES] = rubbing, plain, B, entries


@kernel(types.void(INDICES, *(VECTOR,) * 7, I64, I64, *(VECTOR,) * 6))
def place_singles(plain, b_n, eps_n, c_b, eps_b, c_f, eps_f, limit, copies, at_N, L, N, R, c, lower, upper):
    """The blocks of one row, behind all others, whose L, R, c and bounds are given from there on: contacts without
    directions, bilateral rows, dry friction, copy by copy. b_n, eps_n (r,); at_N is where their N begins."""
    at, infinite = 0, np.inf
    for _ in range(copies):
        for j in range(plain.shape[0]):
            i = plain[j]
            N[at_N + at], c[at], lower[at], upper[at] = eps_n[i], b_n[i], 0.0, infinite
            at += 1
        for j in range(c_b.shape[0]):
            N[at_N + at], c[at], lower[at], upper[at] = eps_b[j], c_b[j], -infinite, infinite
            at += 1
        for j in range(c_f.shape[0]):
            N[at_N + at], c[at], lower[at], upper[at] = eps_f[j], c_f[j], -limit[j], limit[j]
            at += 1
    for j in range(at):
        L[j] = R[j] = 1.0


@kernel(
    types.void(
        INDICES, MATRIX, I64, I64, INDICES, INDICES, INDICES, INDICES, INDICES,
        VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR,
    )
)  # fmt: skip
def place_blocks(members, B, k, m, block, row, unknown, begin_L, begin_N, L, N, R, c, s, lower, upper, mu):
    """The matrices B (count, .) of `assemble.local` of some contacts, where they belong.

    block (r,) is the block of every contact, -1 where it has none; the others as `lay_out` has them.
    """
    width = m + k + 1
    for j in range(members.shape[0]):
        i = block[members[j]]
        if i < 0:
            continue
        own, x, u, at_L, at_N = B[j], unknown[i], row[i], begin_L[i], begin_N[i]
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


STORED = INDICES, INDICES, VECTOR
"""pointer, index, data of a sparse matrix."""


@kernel(
    types.void(
        INDICES, INDICES, INDICES, INDICES, VECTOR, MATRIX, INDICES, INDICES, INDICES, INDICES, I64, I64, *STORED,
        *STORED, *STORED,
    )
)  # fmt: skip
def write_rows(
    first, start, column, place, value, frame, order, target, jump, counts, copies, n, pointer_b, index_b, data_b,
    pointer_f, index_f, data_f, pointer, index, data,
):  # fmt: skip
    """The rows of all blocks as those of a sparse matrix: contacts, turned to the axes in use, bilateral rows, dry
    friction.

    Contact i stands in the rows from target[i] on, and in the k-th copy of the system from target[i] + k jump[i] on.
    """
    rubbing, plain = counts[RUBBING], counts[PLAIN]
    bilateral, dry = pointer_b.shape[0] - 1, pointer_f.shape[0] - 1
    r, at = 0, 0
    pointer[0] = 0
    for j in range(rubbing):
        i = order[j]
        for _ in range(copies * jump[i]):
            at += start[i + 1] - start[i]
            r += 1
            pointer[r] = at
    for k in range(copies):
        for j in range(plain):
            i = order[rubbing + j]
            at += start[i + 1] - start[i]
            r += 1
            pointer[r] = at
        for j in range(bilateral + dry):
            own = j if j < bilateral else j - bilateral
            a = pointer_b[own] if j < bilateral else pointer_f[own]
            b = pointer_b[own + 1] if j < bilateral else pointer_f[own + 1]
            for p in range(a, b):
                index[at] = (index_b[p] if j < bilateral else index_f[p]) + k * n
                data[at] = data_b[p] if j < bilateral else data_f[p]
                at += 1
            r += 1
            pointer[r] = at
    for j in range(rubbing + plain):
        i = order[j]
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
