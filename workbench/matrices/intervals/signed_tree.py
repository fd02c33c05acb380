"""The tree of principal pivots over signed indices: is every matrix of a box a P-matrix?

Every A with |A - C| <= D is a P-matrix if and only if the matrices A_z = C - diag(z) D diag(z) are, z a vector of signs
(Bialas and Garloff 1984; Rohn and Rex 1996): for x with the signs z, x_i (A x)_i >= x_i (A_z x)_i. A principal minor
of A_z depends on the signs of its own index set alone. So each index i is doubled to (i, +) and (i, -), with entries
C - D for equal signs and C + D for unequal ones, and what has to be positive are the principal minors of this matrix of
order 2 n with at most one index of each pair: about 3^n / 2 in place of 2^(n-1) (2^n - 1).

The tree of `p_property.tree` gets three branches: leave index i out, take it with +, take it with -. Signs count within
a connected component of the uncertain entries only, and up to a common sign there: whoever is taken first in a
component is taken with +. A node is a leaf where all matrices in the hull of its entries over the signs are P-matrices,
because they are H-matrices with a positive diagonal, or since one diagonal W makes all W A + A^T W positive definite.
W is that of the whole box, since what proves a matrix proves its Schur complements and submatrices.

Sources: Bialas and Garloff (Linear Algebra Appl. 58, 1984); Rohn and Rex (SIAM J. Matrix Anal. Appl. 17, 1996);
Tsatsomeros and Li (BIT 40, 2000) for the recursion.
"""

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR
from workbench.matrices.p_property.diagonal_stability import proves
from workbench.matrices.p_property.tree import (
    BRANCH,
    COUNTS,
    CUBE,
    DIAGONAL,
    DONE,
    MINORS,
    PAUSED,
    U,
    child,
    diagonal_signs,
    leaf,
    note,
)

DOMINANT = 3
"""Code of the proof beside those of `p_property.tree`: (DOMINANT, order) with order weights u, (BRANCH, position) has
its children in the order taken with +, taken with - where that is needed, left out."""
SMALLEST_HULL = 3
"""Order from which a node is asked whether its hull proves it."""


@kernel(types.void(MATRIX, MATRIX, types.int64, MATRIX, MATRIX))
def hull(B, R, m, C, D):
    """Centre C and radius D (m, m) of all entries over the signs of a node of m pairs in B (radii R).

    On the diagonal, where larger entries keep a P-matrix, C has the lower end and D zero.
    """
    for i in range(m):
        for j in range(m):
            low, high = np.inf, -np.inf
            for s in range(2):
                for t in range(2):
                    if i == j and s != t:
                        continue
                    a, b = 2 * i + s, 2 * j + t
                    low, high = min(low, B[a, b] - R[a, b]), max(high, B[a, b] + R[a, b])
            if i == j:
                C[i, i], D[i, i] = low - U * abs(low), 0.0
            else:
                C[i, j] = 0.5 * (low + high)
                D[i, j] = max(high - C[i, j], C[i, j] - low) * (1.0 + 4.0 * U) + 4.0 * U * (abs(low) + abs(high))


@kernel(types.boolean(MATRIX, MATRIX, types.int64, MATRIX, VECTOR))
def dominant(C, D, m, K, u):
    """Whether u (m) > 0 makes K u > 0, K the least comparison matrix of the box: C_ii on, -(|C| + D) off the diagonal.

    By elimination without exchanges, which an M-matrix stands, and a bound on the rounding of K u.
    """
    for i in range(m):
        for j in range(m):
            K[i, j] = C[i, i] if i == j else -(abs(C[i, j]) + D[i, j])
        u[i] = K[i, i]
    for p in range(m):
        if not K[p, p] > 0.0:
            return False
        for i in range(p + 1, m):
            f = K[i, p] / K[p, p]
            for j in range(p + 1, m):
                K[i, j] -= f * K[p, j]
            u[i] -= f * u[p]
    for i in range(m - 1, -1, -1):
        for j in range(i + 1, m):
            u[i] -= K[i, j] * u[j]
        u[i] /= K[i, i]
        if not u[i] > 0.0:
            return False
    for i in range(m):
        total, size = 0.0, 0.0
        for j in range(m):
            value = C[i, i] * u[i] if i == j else -(abs(C[i, j]) + D[i, j]) * u[j]
            total, size = total + value, size + abs(value)
        if not total > (m + 4) * 2.0 * U * size:
            return False
    return True


@kernel(types.void(MATRIX, MATRIX, types.int64, types.int64, types.int64, MATRIX, MATRIX))
def without_pair(B, R, m, i, sign, B_new, R_new):
    """The node B (radii R) of m pairs without pair i: pivoted on its index of this sign, 0 for + and 1 for -, or left
    out where sign is -1."""
    B_half, R_half = np.empty((2 * m - 1, 2 * m - 1)), np.empty((2 * m - 1, 2 * m - 1))
    child(B, R, 2 * m, 2 * i + max(sign, 0), sign >= 0, B_half, R_half)
    # The partner has moved to 2 i, or stays there.
    child(B_half, R_half, 2 * m - 1, 2 * i, False, B_new, R_new)


@kernel(types.void(CUBE, CUBE, COUNTS, INDICES, INDICES, types.int64, types.int64, types.boolean))
def branch_off(B, R, index, order, pivoted, s, i, both):
    """Put the children of node s in its place on the stack: the one taken with + on top, below it that with - if
    `both`, below that the one without pair i."""
    n, m = index.shape[1] // 2, order[s] // 2
    signs = 2 if both else 1
    for t in range(signs):
        without_pair(B[s], R[s], m, i, t, B[s + signs - t], R[s + signs - t])
    without_pair(B[s], R[s], m, i, -1, B[s], R[s])
    for t in range(signs):
        slot, position = s + signs - t, 0
        for k in range(2 * m):
            if k // 2 != i:
                index[slot, position] = index[s, k]
                position += 1
        for k in range(pivoted[s]):
            index[slot, n + k] = index[s, n + k]
        index[slot, n + pivoted[s]] = index[s, 2 * i + t]
        order[slot], pivoted[slot] = 2 * m - 2, pivoted[s] + 1
    for k in range(2 * i, 2 * m - 2):
        index[s, k] = index[s, k + 2]
    order[s] = 2 * m - 2


@kernel(types.boolean(INDICES, types.int64, types.int64, INDICES))
def signs_matter(index, pivoted, i, component):
    """Whether the pair i of doubled indices has to be taken with both signs: one of its component is pivoted."""
    n = index.shape[0] // 2
    found = False
    for k in range(pivoted):
        found |= component[index[n + k] // 2] == component[i]
    return found


@kernel(
    types.int64(
        CUBE, CUBE, COUNTS, INDICES, INDICES, COUNTS, INDICES, types.int64, INDICES, VECTOR, INDICES, VECTOR, INDICES,
    ),
)  # fmt: skip
def search(B, R, index, order, pivoted, tries, state, budget, log, weights, failure, W, component):
    """`p_property.tree.search` over signed indices: pair i of the box are the doubled indices 2 i (+) and 2 i + 1 (-).

    A node has three children, and is proved by its hull instead of its own diagonal or minors. W (n) is the diagonal
    that is tried on every hull, W[0] = 0 where there is none; component (n) numbers the connected components of the
    uncertain entries. tries (2 n + 1, 2) counts by order what was asked of hulls.
    """
    n = component.shape[0]
    u = np.empty(n)
    while state[0] > 0:
        if budget <= 0:
            return PAUSED
        s = state[0] - 1
        m = order[s] // 2
        state[3] += 1
        result = diagonal_signs(B[s], R[s], order[s], index[s], pivoted[s], failure)
        if result != DONE:
            return result
        if m == 1:
            note(log, state, MINORS, 1)
            budget -= 1
            state[0] -= 1
            continue
        branch = m - 1
        budget -= 4 * m * m
        if m >= SMALLEST_HULL:
            C, D, K = np.empty((m, m)), np.empty((m, m)), np.empty((m, m))
            hull(B[s], R[s], m, C, D)
            # Worth a try where the subtree it may save costs more than the try.
            if (tries[m, 1] + 1.0) / (tries[m, 0] + 1.0) * 3.0**m > 2.0 * m:
                tries[m, 0] += 1
                budget -= m**3
                code = DOMINANT if dominant(C, D, m, K, u) else -1
                if code < 0 and W[0] > 0.0:
                    for i in range(m):
                        u[i] = W[index[s, 2 * i] // 2]
                    code = DIAGONAL if proves(C, D, u[:m], np.empty((m, m)), K) else -1
                if code >= 0:
                    leaf(tries, state, log, weights, code, m, u)
                    continue
            # The index whose row and column are the largest beside the diagonal.
            largest = -1.0
            for i in range(m):
                size = 0.0
                for j in range(m):
                    if j != i:
                        size += (abs(C[i, j]) + D[i, j]) * (abs(C[j, i]) + D[j, i]) / (C[i, i] * C[j, j])
                if size > largest:
                    largest, branch = size, i
        both = signs_matter(index[s], pivoted[s], index[s, 2 * branch] // 2, component)
        note(log, state, BRANCH, branch)
        branch_off(B, R, index, order, pivoted, s, branch, both)
        state[0] += 2 if both else 1
    return DONE
