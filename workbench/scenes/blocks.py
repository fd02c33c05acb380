"""Kernels that put the blocks of contacts and their rows into one `problems.contact_blocks`."""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR
from workbench.engine.stored import STORED
from workbench.problems.block_kernels import BLOCKS
from workbench.scenes.rows import ROWS
from workbench.scenes.single import PLACES

I64 = types.int64


COUNTS = RUBBING, PLAIN, ALL, ENTRIES = range(4)
"""What is counted: contacts with directions that are closed, closed ones without, all blocks, and the numbers of
the rows of contacts in one sparse matrix."""


class ContactLayout(NamedTuple):
    """Of every contact its tangent axes (r, 2), whether it is closed, and how many unknowns and rows it has (r,)."""

    frame: Any
    closed: Any
    unknowns: Any
    rows: Any


class Arrangement(NamedTuple):
    """Where blocks begin: contacts with directions, then for every copy those without and the rows of other kinds.

    order (r,): closed contacts, those with directions first; block (r,) the block of each, target (r,) its first row,
    -1 where it has none, jump (r,) how many rows on its next copy is; row, unknown, begin_L, begin_N (B + 1,) where a
    block's rows, unknowns and numbers of L and N begin; counts (4,) as `COUNTS` says.
    """

    order: Any
    block: Any
    target: Any
    jump: Any
    row: Any
    unknown: Any
    begin_L: Any
    begin_N: Any
    counts: Any


class SingleRowData(NamedTuple):
    """What blocks of one row are made of: b_n, eps_n (r,) of contacts without directions; the rates and compliances of
    bilateral rows; those of dry friction, and its limits."""

    b_n: Any
    eps_n: Any
    c_b: Any
    eps_b: Any
    c_f: Any
    eps_f: Any
    limit: Any


OUTLINE = argument_type(ContactLayout, MATRIX, *(INDICES,) * 3)
ARRANGEMENT = argument_type(Arrangement, *(INDICES,) * 9)
BESIDE = argument_type(SingleRowData, *(VECTOR,) * 7)


@kernel(types.void(MATRIX, INDICES, PLACES, I64, I64, OUTLINE))
def draw(states, members, places, k, m, outline):
    """The outline of contacts of one kind, of k unknowns and m rows, by the numbers of their cores."""
    for j in range(members.shape[0]):
        i = members[j]
        outline.frame[i, 0], outline.frame[i, 1] = states[j, places.frame], states[j, places.frame + 1]
        outline.closed[i], outline.unknowns[i], outline.rows[i] = 0, k, m
        for a in range(places.across):
            if states[j, places.J + a] != 0.0:
                outline.closed[i] = 1


@kernel(types.void(INDICES, INDICES, OUTLINE, I64, I64, ARRANGEMENT))
def arrange(first, start, outline, copies, beside, found):
    """The arrangement of contacts with the rows first[i] : first[i + 1] and the columns start[i] : start[i + 1], and of
    so many rows beside them."""
    order, block, target, jump, row, unknown, begin_L, begin_N, counts = found
    closed, k, m = outline.closed, outline.unknowns, outline.rows
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
    counts[RUBBING], counts[PLAIN], counts[ALL], counts[ENTRIES] = rubbing, plain, B, entries


@kernel(types.void(BESIDE, ARRANGEMENT, I64, BLOCKS))
def place_singles(given, arrangement, copies, blocks):
    """The blocks of one row, behind all others, copy by copy."""
    rubbing, plain = arrangement.counts[RUBBING], arrangement.counts[PLAIN]
    at_L, at_N, at = arrangement.begin_L[rubbing], arrangement.begin_N[rubbing], arrangement.unknown[rubbing]
    for _ in range(copies):
        for j in range(plain + given.c_b.shape[0] + given.c_f.shape[0]):
            b, f = j - plain, j - plain - given.c_b.shape[0]
            if b < 0:
                i = arrangement.order[rubbing + j]
                rate, eps, least, most = given.b_n[i], given.eps_n[i], 0.0, np.inf
            elif f < 0:
                rate, eps, least, most = given.c_b[b], given.eps_b[b], -np.inf, np.inf
            else:
                rate, eps, least, most = given.c_f[f], given.eps_f[f], -given.limit[f], given.limit[f]
            blocks.L[at_L] = blocks.R[at_L] = 1.0
            blocks.N[at_N], blocks.c[at], blocks.lower[at], blocks.upper[at] = eps, rate, least, most
            at_L, at_N, at = at_L + 1, at_N + 1, at + 1


@kernel(types.void(INDICES, MATRIX, I64, I64, ARRANGEMENT, BLOCKS))
def place_blocks(members, B, k, m, arrangement, blocks):
    """The matrices B (count, .) of `assemble.local` of some contacts, of k unknowns and m rows, where they belong."""
    _, _, L, N, R, c, s, lower, upper, _, mu = blocks
    _, block, _, _, row, unknown, begin_L, begin_N, _ = arrangement
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


@kernel(types.void(ROWS, MATRIX, ARRANGEMENT, I64, I64, STORED, STORED, STORED))
def write_rows(rows, frame, arrangement, copies, n, J_b, J_f, J):
    """The rows J of all blocks: contacts, turned to the axes in use, bilateral rows J_b, dry friction J_f."""
    first, start, column, place, value, _, _ = rows
    order, _, target, jump, _, _, _, _, counts = arrangement
    pointer, index, data = J
    rubbing, plain = counts[RUBBING], counts[PLAIN]
    bilateral, dry = J_b.pointer.shape[0] - 1, J_f.pointer.shape[0] - 1
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
            other = J_b if j < bilateral else J_f
            for p in range(other.pointer[own], other.pointer[own + 1]):
                index[at], data[at] = other.column[p] + k * n, other.data[p]
                at += 1
            r += 1
            pointer[r] = at
    for j in range(rubbing + plain):
        i = order[j]
        count, width, co, si = first[i + 1] - first[i], start[i + 1] - start[i], frame[i, 0], frame[i, 1]
        for k in range(copies):
            for a in range(count):
                to, source = pointer[target[i] + k * jump[i] + a], place[i] + a * width
                for p in range(width):
                    index[to + p] = column[start[i] + p] + k * n
                    x = value[source + p]
                    if count > 2 and a == 1:
                        x = co * x + si * value[source + width + p]
                    elif count > 2 and a == 2:
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
