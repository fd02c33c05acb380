"""The dense methods of islands of contact blocks; and blocks that are few in one compiled call, with all residuals.

Each island is the dense problem F = A x + q, A = L W R + N. Unknowns that are not negative go to Lemke's method,
symmetric blocks with other bounds to that for MLCPs. Blocks with friction cones, with limits, boxes or bilateral rows
beside them, and those of bounds that are not symmetric, go to the solver of some contacts in one go. What is larger is
left to others (`block_newton`, `block_sweeps`).
"""

import numpy as np
from numba import types

from workbench.algorithms.lemke.method import lemke_kernel
from workbench.algorithms.proximal import proximal_kernel
from workbench.algorithms.small_cones import solve_anew
from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix
from workbench.problems.block_kernels import BLOCKS
from workbench.problems.residual import BLOCK_SETS, READ_ROW
from workbench.problems.sets import NO_CONE, BlockSets
from workbench.problems.small_blocks import FEW, few_residuals

MOST_INTERVALS, MOST_CONES = 1200, 150
"""Unknowns up to which an island of intervals, and one with cones, goes to the dense methods."""
NO_METHOD, NOT_NEGATIVE, BOUNDED, MIXED, CONES = range(5)
"""Which method an island goes to."""
FINAL = NOT_NEGATIVE, CONES
"""The methods that come as far as rounding lets them: to a vertex, or until they have begun anew for nothing."""

I64 = types.int64


@kernel(types.void(BLOCKS, INDICES, INDICES, INDICES, INDICES))
def choose(blocks, part, members, size, method):
    """Of every island, at its least block: how many blocks and unknowns it has, and its method; all (B,).

    Blocks are symmetric where R = L^T and N is.
    """
    row, first, cone, lower, upper = blocks.row, blocks.unknown, blocks.cone, blocks.lower, blocks.upper
    L, N, R, B = blocks.L, blocks.N, blocks.R, blocks.cone.shape[0]
    for i in range(B):
        members[i], size[i], method[i] = 0, 0, NOT_NEGATIVE
    for i in range(B):
        p = part[i]
        members[p] += 1
        size[p] += first[i + 1] - first[i]
        if cone[i] != NO_CONE:
            method[p] = CONES
        elif method[p] == NOT_NEGATIVE:
            for k in range(first[i], first[i + 1]):
                if lower[k] != 0.0 or upper[k] != np.inf:
                    method[p] = BOUNDED
    for i in range(B):
        if part[i] == i and size[i] > (MOST_CONES if method[i] == CONES else MOST_INTERVALS):
            method[i] = NO_METHOD
    at_L, at_N = 0, 0
    for i in range(B):
        m, k = row[i + 1] - row[i], first[i + 1] - first[i]
        if method[part[i]] == BOUNDED:
            apart = 0
            for p in range(k):
                for a in range(m):
                    apart += L[at_L + p * m + a] != R[at_L + a * k + p]
                for q in range(p):
                    apart += N[at_N + p * k + q] != N[at_N + q * k + p]
            if apart:
                method[part[i]] = MIXED if size[part[i]] <= MOST_CONES else NO_METHOD
        at_L, at_N = at_L + k * m, at_N + k * k


@kernel(I64(MATRIX, VECTOR, BLOCK_SETS, I64, VECTOR, INDICES))
def solve_dense(A, q, sets, method, z, info):
    """One island as a dense problem, from z (n,), which takes the answer; returns the iterations."""
    _, _, mu, lower, upper = sets
    if method == NOT_NEGATIVE:
        lemke_kernel(A, q, lower, upper, mu, 0, z, info)
        return info[0]
    if method == BOUNDED:
        proximal_kernel(A, q, lower, upper, mu, 0, z, info)
        return info[0]
    solve_anew(A, q, sets, z, info)
    return info[0]


@kernel(I64(BLOCKS, FEW, I64, I64, I64, I64, VECTOR, INDICES))
def solve_one(blocks, few, island, members, unknowns, method, x, info):
    """An island of all blocks by a method, from x (X,), which takes the answer where it is finite; the iterations."""
    first, cone, mu, lower, upper = blocks.unknown, blocks.cone, blocks.mu, blocks.lower, blocks.upper
    A, q, part = few.A, few.q, few.part
    place, ends = scratch_indices(unknowns), scratch_indices(members + 1)
    kinds, coefficient = scratch_indices(members), scratch(members)
    own, free, z = scratch_matrix(unknowns, unknowns), scratch(unknowns), scratch(unknowns)
    low, high = scratch(unknowns), scratch(unknowns)
    count, at = 0, 0
    ends[0] = 0
    for i in range(part.shape[0]):
        if part[i] == island:
            for k in range(first[i], first[i + 1]):
                place[at] = k
                at += 1
            kinds[count], coefficient[count], ends[count + 1] = cone[i], mu[i], at
            count += 1
    for a in range(unknowns):
        k = place[a]
        free[a], z[a], low[a], high[a] = q[k], x[k], lower[k], upper[k]
        for b in range(unknowns):
            own[a, b] = A[k, place[b]]
    steps = solve_dense(own, free, BlockSets(ends, kinds, coefficient, low, high), method, z, info)
    finite = True
    for a in range(unknowns):
        finite = finite and np.isfinite(z[a])
    if finite:
        for a in range(unknowns):
            x[place[a]] = z[a]
    return steps


@kernel(types.boolean(BLOCKS, FEW, types.float64, types.float64, READ_ROW, VECTOR, VECTOR, VECTOR), checked=False)
def solve_few(blocks, few, enough, at_last, guess, x, residuals, found_out):
    """The islands whose residuals are more than `enough`; whether all come to that, or by `FINAL` methods to `at_last`.

    From a guess (X,), where it is finite, x (X,) receives an answer, replaced island by island where a better one is
    found, residuals (B,) what its are; `found_out` (3,) the largest of these, iterations, and islands that went to a
    method.
    """
    first, part, B, X = blocks.unknown, few.part, residuals.shape[0], x.shape[0]
    trial, found, worst, method = scratch(X), scratch(B), scratch(B), scratch_indices(B)
    size, members, one = scratch_indices(B), scratch_indices(B), scratch_indices(1)
    for k in range(X):
        x[k] = trial[k] = guess[k] if np.isfinite(guess[k]) else 0.0
    few_residuals(blocks, few, x, residuals)
    choose(blocks, part, members, size, method)
    for i in range(B):
        worst[i] = 0.0
    for i in range(B):
        worst[part[i]] = max(worst[part[i]], residuals[i])
    iterations, solved = 0, 0
    for p in range(B):
        # What is not at `enough` is left at `at_last` only after its method has tried.
        if part[p] == p and worst[p] > enough and method[p] != NO_METHOD:
            iterations += solve_one(blocks, few, p, members[p], size[p], method[p], trial, one)
            solved += 1
    if solved:
        few_residuals(blocks, few, trial, found)
        for p in range(B):
            if part[p] == p:
                largest = 0.0
                for i in range(p, B):
                    if part[i] == p:
                        largest = max(largest, found[i])
                if largest < worst[p]:
                    worst[p] = largest
                    for i in range(p, B):
                        if part[i] == p:
                            residuals[i] = found[i]
                            for k in range(first[i], first[i + 1]):
                                x[k] = trial[k]
    left, largest = 0, 0.0
    for p in range(B):
        left += part[p] == p and not worst[p] <= (at_last if method[p] in FINAL else enough)
        largest = max(largest, residuals[p])
    found_out[0], found_out[1], found_out[2] = largest, iterations, solved
    return left == 0
