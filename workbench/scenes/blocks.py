"""Kernels that put the blocks of contacts and their rows into one `problems.contact_blocks`."""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from workbench.assemble.local import STAMP, stamp_block
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR
from workbench.engine.scratch import scratch
from workbench.engine.stored import STORED
from workbench.problems.block_kernels import BLOCKS, is_sound
from workbench.problems.sets import NO_CONE
from workbench.scenes.rows import ROWS, moved
from workbench.scenes.single import CORES

I64 = types.int64


RUBBING, PLAIN = range(2)
"""Where the counts of an `Arrangement` have the closed contacts with directions, and those without."""


class Arrangement(NamedTuple):
    """Where blocks begin: contacts with directions, then for every copy those without and the rows of other kinds.

    order (r,): closed contacts, those with directions first; block (r,) the block of each, target (r,) its first row,
    -1 where it has none, jump (r,) how many rows on its next copy is; row, unknown, begin_L, begin_N (B + 1,) where a
    block's rows, unknowns and numbers of L and N begin; counts (8,) of closed contacts with directions, of those
    without, of all blocks, of their rows, unknowns, numbers of L and of N, and of the numbers in the rows of contacts.
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
    """What blocks of one row are made of: b_n, eps_n (r,) of contacts without directions; the rows, errors, rates and
    compliances of bilateral rows; those of dry friction, and its limits; the step h [s], and the speed at which errors
    are undone at most."""

    b_n: Any
    eps_n: Any
    J_b: Any
    g: Any
    r_b: Any
    eps_b: Any
    J_f: Any
    r_f: Any
    eps_f: Any
    limit: Any
    h: float
    recovery: float


ARRANGEMENT = argument_type(Arrangement, *(INDICES,) * 9)
BESIDE = argument_type(
    SingleRowData, *(VECTOR,) * 2, STORED, *(VECTOR,) * 3, STORED, *(VECTOR,) * 3, types.float64, types.float64
)


@kernel(types.void(INDICES, INDICES, INDICES, INDICES, INDICES, I64, I64, ARRANGEMENT), checked=False)
def arrange(first, start, closed, k, m, copies, beside, found):
    """The arrangement of contacts with the rows first[i] : first[i + 1], the columns start[i] : start[i + 1], k[i]
    unknowns and m[i] rows where they have directions, and of so many rows beside them."""
    order, block, target, jump, row, unknown, begin_L, begin_N, counts = found
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
    found_counts = rubbing, plain, B, row[B], unknown[B], begin_L[B], begin_N[B], entries
    for k in range(len(found_counts)):
        counts[k] = found_counts[k]


@kernel(types.void(BESIDE, ARRANGEMENT, I64, BLOCKS))
def place_singles(given, arrangement, copies, blocks):
    """The blocks of one row, behind all others, copy by copy."""
    rubbing, plain = arrangement.counts[RUBBING], arrangement.counts[PLAIN]
    at_L, at_N, at = arrangement.begin_L[rubbing], arrangement.begin_N[rubbing], arrangement.unknown[rubbing]
    for _ in range(copies):
        for j in range(plain + given.g.shape[0] + given.limit.shape[0]):
            b, f = j - plain, j - plain - given.g.shape[0]
            if b < 0:
                i = arrangement.order[rubbing + j]
                rate, eps, least, most = given.b_n[i], given.eps_n[i], 0.0, np.inf
            elif f < 0:
                back = min(max(given.g[b] / given.h, -given.recovery), given.recovery)
                rate, eps, least, most = given.r_b[b] + back, given.eps_b[b], -np.inf, np.inf
            else:
                rate, eps, least, most = given.r_f[f], given.eps_f[f], -given.limit[f], given.limit[f]
            blocks.L[at_L] = blocks.R[at_L] = 1.0
            blocks.N[at_N], blocks.c[at], blocks.lower[at], blocks.upper[at] = eps, rate, least, most
            at_L, at_N, at = at_L + 1, at_N + 1, at + 1


@kernel(types.void(CORES, I64, STAMP, ARRANGEMENT, BLOCKS), checked=False)
def place_blocks(cores, theta, stamp, arrangement, blocks):
    """The blocks of some contacts where they belong, stamped from their cores' numbers from `theta` on."""
    k, m = stamp.k, stamp.m
    _, _, L, N, R, c, s, lower, upper, cone, mu = blocks
    _, block, _, _, row, unknown, begin_L, begin_N, _ = arrangement
    width, own = m + k + 1, scratch(stamp.constant.size)
    for j in range(cores.members.shape[0]):
        i = block[cores.members[j]]
        if i < 0:
            continue
        stamp_block(cores.states[j][theta:], stamp, own)
        x, u, at_L, at_N = unknown[i], row[i], begin_L[i], begin_N[i]
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
        cone[i], mu[i] = stamp.cone, own[(3 * k + m + 1) * width - 1]


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


@kernel(types.boolean(BESIDE, ROWS, MATRIX, ARRANGEMENT, I64, VECTOR, VECTOR, BLOCKS, STORED), checked=False)
def complete(given, rows, frame, arrangement, copies, M, b, blocks, J):
    """The blocks of one row, and the rows J of all; whether the problem, with the entries of M, is sound as it is."""
    singles = arrangement.row.shape[0] - 1 - arrangement.counts[RUBBING]
    for i in range(arrangement.counts[RUBBING], arrangement.row.shape[0] - 1):
        blocks.cone[i], blocks.mu[i] = NO_CONE, 0.0
    for k in range(blocks.s.shape[0] - singles, blocks.s.shape[0]):
        blocks.s[k] = 0.0
    place_singles(given, arrangement, copies, blocks)
    write_rows(rows, frame, arrangement, copies, b.shape[0], given.J_b, given.J_f, J)
    return is_sound(blocks, (M, J.data, b))


class Answer(NamedTuple):
    """What an answer means for contacts, in isotropic directions (R,): velocities u in the instant's axes, impulses in
    these and in the axes in use; and P, the impulses in the rows of the instant as they are given."""

    u: Any
    own: Any
    in_use: Any
    P: Any


ANSWER = argument_type(Answer, *(VECTOR,) * 4)


@kernel(types.void(ROWS, MATRIX, INDICES, INDICES, I64, VECTOR, VECTOR, ANSWER), checked=False)
def read_answer(rows, frame, target, jump, main, v, P, found):
    """Of the velocities v (n,) and the impulses P in all rows; contacts without rows have none."""
    u, own, in_use, plain = found
    first = rows.first
    moved(rows, v, u)
    for i in range(first.shape[0] - 1):
        a, at = first[i], target[i] + main * jump[i]
        for k in range(a, first[i + 1]):
            own[k] = in_use[k] = P[at + k - a] if at >= 0 else 0.0
        if first[i + 1] - a > 2:
            x, y = in_use[a + 1], in_use[a + 2]
            own[a + 1], own[a + 2] = frame[i, 0] * x - frame[i, 1] * y, frame[i, 1] * x + frame[i, 0] * y
        for k in range(a, first[i + 1]):
            plain[k] = own[k] * rows.scale[k]
