"""Search for a principal minor that is not positive: a walk of principal pivots.

The principal pivot transform B of A on an index set a has det B_tt = det A_(a sym. diff. t) / det A_aa, so that its
diagonal and its 2 x 2 minors give all minors at distance one and two from a. The walk descends to small minors,
with a memory that prevents reversals. The result is a candidate, to be confirmed in exact arithmetic.

Indices may exclude one another: then only sets without such a pair are visited and reported.

Source: Tucker (Proc. Symp. Appl. Math. 10, 1960) for the transform; Tsatsomeros (Linear Algebra Appl. 307, 2000).
"""

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX

REFRESH = 40
"""Number of pivots after which the transform is recomputed, before rounding errors accumulate."""
SUSPECT = 1e-9
"""Ratio of minors below which exact arithmetic is worthwhile."""


@kernel(types.void(MATRIX, types.int64))
def transform(B, i):
    """The principal pivot transform on index i, in place."""
    n, p = B.shape[0], 1.0 / B[i, i]
    for j in range(n):
        if j != i:
            f = B[j, i] * p
            for k in range(n):
                if k != i:
                    B[j, k] -= f * B[i, k]
            B[j, i] = f
    for k in range(n):
        B[i, k] = -B[i, k] * p
    B[i, i] = p


@kernel(types.boolean(INDICES, INDICES, types.int64))
def excluded(member, partner, i):
    """Whether adding index i would put it in a set with its partner."""
    return member[i] == 0 and partner[i] >= 0 and member[partner[i]] == 1


@kernel(types.int64(MATRIX, INDICES, INDICES, types.int64, types.int64))
def walk(A, partner, member, seed, steps):
    """Walk `steps` pivots from the empty set; 1 with a suspect index set in `member` (0 or 1 each), else 0.

    A (n, n) has ones on its diagonal, so that its minors are relative ones. partner (n) is the index that each index
    excludes, -1 for none.
    """
    n = A.shape[0]
    B, free_at = A.copy(), np.zeros(n, dtype=np.int64)
    for i in range(n):
        member[i] = 0
    for step in range(steps):
        if step % REFRESH == REFRESH - 1:
            for i in range(n):
                for j in range(n):
                    B[i, j] = A[i, j]
            for i in range(n):
                if member[i]:
                    if abs(B[i, i]) < 1e-300:
                        return 0
                    transform(B, i)
        best, chosen = np.inf, -1
        for i in range(n):
            if excluded(member, partner, i):
                continue
            if B[i, i] < SUSPECT:
                member[i] = 1 - member[i]
                return 1
            if free_at[i] <= step and B[i, i] < best:
                best, chosen = B[i, i], i
            for j in range(i):
                if j == partner[i] or excluded(member, partner, j):
                    continue
                if B[i, i] * B[j, j] - B[i, j] * B[j, i] < SUSPECT * B[i, i] * B[j, j]:
                    member[i], member[j] = 1 - member[i], 1 - member[j]
                    return 1
        if chosen < 0:
            seed = (1103515245 * seed + 12345) % 2147483648
            chosen = seed // 65536 % n
            if excluded(member, partner, chosen):
                chosen = partner[chosen]
        transform(B, chosen)
        member[chosen] = 1 - member[chosen]
        seed = (1103515245 * seed + 12345) % 2147483648
        free_at[chosen] = step + 3 + seed // 65536 % (2 + n // 3)
    return 0
