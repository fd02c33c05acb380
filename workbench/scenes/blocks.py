"""Kernels that put the blocks of contacts and their rows into one `problems.contact_blocks`, and read its answer."""

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, VECTOR
from workbench.engine.stored import Stored
from workbench.language.assemble.local import STAMP, stamp_block
from workbench.mechanics.instant import INSTANT
from workbench.problems.block_kernels import BLOCKS, is_sound
from workbench.problems.mass import MASS
from workbench.problems.residual import READ_ROW
from workbench.problems.sets import NO_CONE
from workbench.problems.small_blocks import FEW, move, set_up
from workbench.scenes.rows import ROWS, velocities
from workbench.scenes.single import CORES

I64 = types.int64

RUBBING, PLAIN = range(2)
"""Where the counts of `ContactRows` have the closed contacts with directions, and those without."""


@kernel(types.void(INSTANT, ROWS, I64, INDICES, INDICES), checked=False)
def arrange(s, rows, copies, k, m):
    """Where the blocks begin, contact i having k[i] unknowns and m[i] rows where it has directions."""
    first, start, closed, order, block = s.first, rows.start, rows.closed, rows.order, rows.block
    target, jump, row, unknown, counts = rows.target, rows.jump, rows.row, rows.unknown, rows.counts
    begin_L, begin_N = rows.begin_L, rows.begin_N
    r = first.shape[0] - 1
    rubbing, plain, entries = 0, 0, 0
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
    single = plain + s.g.shape[0] + s.limit.shape[0]
    B = rubbing + copies * single
    for j in range(B):
        count, unknowns = 1, 1
        if j < rubbing:
            i = order[j]
            count, unknowns = m[i], k[i]
            block[i], target[i], jump[i] = j, row[j], first[i + 1] - first[i]
            entries += copies * jump[i] * (start[i + 1] - start[i])
        row[j + 1], unknown[j + 1] = row[j] + count, unknown[j] + unknowns
        begin_L[j + 1], begin_N[j + 1] = begin_L[j] + count * unknowns, begin_N[j] + unknowns * unknowns
    for j in range(plain):
        i = order[rubbing + j]
        target[i], jump[i] = row[rubbing] + j, single
        entries += copies * (start[i + 1] - start[i])
    beside = s.J_b_pointer[s.g.shape[0]] + s.J_f_pointer[s.limit.shape[0]]
    counts[0], counts[1], counts[2], counts[3], counts[4] = rubbing, plain, B, row[B], unknown[B]
    counts[5], counts[6], counts[7] = begin_L[B], begin_N[B], entries + copies * beside
    counts[8] = copies * s.M_pointer[s.v.shape[0]]


@kernel(types.void(INSTANT, ROWS, I64, types.float64, BLOCKS))
def place_singles(s, rows, copies, recovery, blocks):
    """The blocks of one row, behind all others, copy by copy; errors are undone at `recovery` at most."""
    rubbing, plain, m, k = rows.counts[RUBBING], rows.counts[PLAIN], s.g.shape[0], s.limit.shape[0]
    at_L, at_N, at = rows.begin_L[rubbing], rows.begin_N[rubbing], rows.unknown[rubbing]
    L, N, R, lower, upper = blocks.L, blocks.N, blocks.R, blocks.lower, blocks.upper
    for _ in range(copies):
        for j in range(plain + m + k):
            b, f = j - plain, j - plain - m
            if b < 0:
                i = rows.order[rubbing + j]
                rate, eps, least, most = rows.b_n[i], rows.eps_n[i], 0.0, np.inf
            elif f < 0:
                back = min(max(s.g[b] / s.h, -recovery), recovery)
                rate, eps, least, most = s.r_b[b] + back, s.eps_b[b], -np.inf, np.inf
            else:
                rate, eps, least, most = s.r_f[f], s.eps_f[f], -s.limit[f], s.limit[f]
            L[at_L] = R[at_L] = 1.0
            N[at_N], blocks.c[at], lower[at], upper[at] = eps, rate, least, most
            at_L, at_N, at = at_L + 1, at_N + 1, at + 1


@kernel(types.void(ROWS, CORES, I64, STAMP, BLOCKS), checked=False, _nrt=False)
def place_blocks(rows, cores, theta, stamp, blocks):
    """The blocks of some contacts where they belong, stamped from their cores' numbers from `theta` on."""
    k, m = stamp.k, stamp.m
    L, N, R, c, s, lower, upper = blocks.L, blocks.N, blocks.R, blocks.c, blocks.s, blocks.lower, blocks.upper
    width, own = m + k + 1, cores.block
    for j in range(cores.members.shape[0]):
        i = rows.block[cores.members[j]]
        if i < 0:
            continue
        stamp_block(cores.states[j][theta:], stamp, own)
        x, u, at_L, at_N = rows.unknown[i], rows.row[i], rows.begin_L[i], rows.begin_N[i]
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
        blocks.cone[i], blocks.mu[i] = stamp.cone, own[(3 * k + m + 1) * width - 1]


@kernel(types.void(INSTANT, ROWS, I64, BLOCKS))
def write_rows(s, rows, copies, blocks):
    """The rows J of all blocks: contacts, turned to the axes in use, bilateral rows J_b, dry friction J_f."""
    first, start, column, place, value = s.first, rows.start, rows.column, rows.place, rows.value
    order, target, jump, frame, n = rows.order, rows.target, rows.jump, rows.frame, s.v.shape[0]
    pointer, index, data = blocks.J_pointer, blocks.J_column, blocks.J_data
    J_b, J_f = Stored(s.J_b_pointer, s.J_b_column, s.J_b_data), Stored(s.J_f_pointer, s.J_f_column, s.J_f_data)
    rubbing, plain, bilateral, dry = rows.counts[RUBBING], rows.counts[PLAIN], s.g.shape[0], s.limit.shape[0]
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


@kernel(types.void(INSTANT, ROWS, I64, BLOCKS))
def write_bodies(s, rows, copies, blocks):
    """M and b, copy by copy."""
    n, at = rows.b.shape[0], 0
    blocks.M_pointer[0] = 0
    for c in range(copies):
        for i in range(n):
            blocks.b[c * n + i] = rows.b[i]
            for k in range(s.M_pointer[i], s.M_pointer[i + 1]):
                blocks.M_column[at], blocks.M_data[at] = s.M_column[k] + c * n, s.M_data[k]
                at += 1
            blocks.M_pointer[c * n + i + 1] = at


@kernel(types.boolean(INSTANT, ROWS, I64, types.float64, BLOCKS, MASS, FEW), checked=False)
def complete(s, rows, copies, recovery, blocks, mass, few):
    """All but the blocks of contacts with directions; whether the problem is sound as it is.

    Where there is room in `few`, it receives what few blocks are asked for, by the factors of M.
    """
    rubbing = rows.counts[RUBBING]
    for i in range(blocks.row.shape[0]):
        blocks.row[i], blocks.unknown[i] = rows.row[i], rows.unknown[i]
    for i in range(rubbing, blocks.cone.shape[0]):
        blocks.cone[i], blocks.mu[i] = NO_CONE, 0.0
    for k in range(rows.row[rubbing], blocks.s.shape[0]):
        blocks.s[k] = 0.0
    write_bodies(s, rows, copies, blocks)
    place_singles(s, rows, copies, recovery, blocks)
    write_rows(s, rows, copies, blocks)
    sound = is_sound(blocks)
    if sound and few.velocity.shape[0] > 0:
        set_up(blocks, mass, few)
    return sound


@kernel(types.void(INSTANT, ROWS, I64, VECTOR, VECTOR), checked=False)
def read_answer(s, rows, main, v, P):
    """What velocities v (n,) and impulses P in all rows, of the copy `main`, are for contacts; those without rows have
    none."""
    first, frame, target, jump = s.first, rows.frame, rows.target, rows.jump
    own, in_use = rows.own, rows.in_use
    velocities(s, rows, v, rows.moved)
    for i in range(first.shape[0] - 1):
        a, at = first[i], target[i] + main * jump[i]
        for k in range(a, first[i + 1]):
            own[k] = in_use[k] = P[at + k - a] if target[i] >= 0 else 0.0
        if first[i + 1] - a > 2:
            x, y = in_use[a + 1], in_use[a + 2]
            own[a + 1], own[a + 2] = frame[i, 0] * x - frame[i, 1] * y, frame[i, 1] * x + frame[i, 0] * y
        for k in range(a, first[i + 1]):
            rows.P[k] = own[k] * rows.scale[k]


@kernel(types.void(INSTANT, ROWS, BLOCKS, MASS, READ_ROW, VECTOR, VECTOR), checked=False)
def read_few(s, rows, blocks, mass, x, v, P):
    """The same of an answer x (X,) to few blocks of a single copy; v (n,) and P (R,) receive what it means for them."""
    move(blocks, x, mass, v, P)
    read_answer(s, rows, 0, v, P)
