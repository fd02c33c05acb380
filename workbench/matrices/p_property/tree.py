"""The tree of principal pivots: M is a P-matrix if and only if, for any index i, m_ii > 0 and both M without row and
column i and the Schur complement M/m_ii are P-matrices.

A node holds the Schur complement of a pivoted index set on a remaining one, in floating point with an error bound on
every entry. A diagonally stable node (`diagonal_stability`) is a leaf; a small one is decided by computing all its
minors. Signs that rounding leaves open are decided in exact arithmetic, so that no verdict depends on it.

Sources: Tsatsomeros and Li (BIT 40, 2000) for the recursion; Rump (Linear Algebra Appl. 363, 2003) on its necessity.
"""

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR
from workbench.matrices.p_property.diagonal_stability import FOUND, find_diagonal, proves

DONE, PAUSED, NOT_POSITIVE, OPEN = 0, 1, 2, 3
"""Results of `search`: all proved; budget spent; a proved minor <= 0; a sign that rounding leaves open."""
SMALL = 11
"""Largest order for which a node's minors are computed without testing diagonal stability first."""
STEPS = 40
"""Largest number of Newton steps of one node."""
U = 1.2e-16
"""Just above the unit roundoff."""
BRANCH, DIAGONAL, MINORS = 0, 1, 2
"""Codes of the proof, in preorder: (BRANCH, position), (DIAGONAL, order) with order weights, (MINORS, order)."""
CUBE = types.Array(types.float64, 3, "C")
COUNTS = types.Array(types.int64, 2, "C")


@kernel(types.void(MATRIX, MATRIX, types.int64, types.int64, types.boolean, MATRIX, MATRIX))
def child(B, R, m, p, pivot, B_new, R_new):
    """The leading m x m of B (radii R) without position p: unchanged, or the Schur complement on that position.

    |a b / c - a' b' / c'| with |a - a'| <= r_a and so on is at most ((|a| + r_a)(|b| + r_b) / (|c| - r_c) - |a b| /
    |c|) plus rounding; here in a form without cancellation.
    """
    factor, c, r_c = 0.0, B[p, p], R[p, p]
    if pivot:
        factor = 1.0 / (c - r_c)
    i_new = 0
    for i in range(m):
        if i == p:
            continue
        a, r_a = abs(B[i, p]), R[i, p]
        ratio = B[i, p] / c
        j_new = 0
        for j in range(m):
            if j == p:
                continue
            if pivot:
                b, r_b = abs(B[p, j]), R[p, j]
                product = ratio * B[p, j]
                value = B[i, j] - product
                spread = (a * r_b + b * r_a + r_a * r_b + a * b * r_c / c) * factor
                B_new[i_new, j_new] = value
                R_new[i_new, j_new] = (R[i, j] + spread) * (1.0 + 8.0 * U) + U * (4.0 * abs(product) + abs(value))
            else:
                B_new[i_new, j_new] = B[i, j]
                R_new[i_new, j_new] = R[i, j]
            j_new += 1
        i_new += 1


@kernel(types.int64(CUBE, CUBE, types.int64, INDICES))
def run_through(B, R, m, choice):
    """All minors of the m x m matrix in level m of B, R (radii): DONE, NOT_POSITIVE or OPEN.

    Level k works on position k - 1; choice[k - 1] is 1 where it was pivoted, so that with another result the index
    set of the minor consists of the positions pivoted and the position returned in choice[-1].
    """
    # choice: 0 not started, 1 pivoted, 2 removed.
    top = m
    for k in range(m):
        choice[k] = 0
    while top <= m:
        if choice[top - 1] == 0:
            # Every diagonal entry is a ratio of minors; the last one is the pivot.
            for i in range(top):
                if not B[top, i, i] - R[top, i, i] > 0.0:
                    for k in range(top):
                        choice[k] = 0
                    choice[-1] = i
                    return NOT_POSITIVE if B[top, i, i] + R[top, i, i] <= 0.0 else OPEN
            if top == 1:
                top += 1
                continue
            if top == 2:
                product = B[2, 0, 1] * B[2, 1, 0] / B[2, 1, 1]
                a, b, c = abs(B[2, 0, 1]), abs(B[2, 1, 0]), B[2, 1, 1]
                r_a, r_b, r_c = R[2, 0, 1], R[2, 1, 0], R[2, 1, 1]
                spread = (a * r_b + b * r_a + r_a * r_b + a * b * r_c / c) / (c - r_c) + R[2, 0, 0]
                spread = spread * (1.0 + 8.0 * U) + U * (4.0 * abs(product) + abs(B[2, 0, 0] - product))
                if not B[2, 0, 0] - product - spread > 0.0:
                    choice[0], choice[1], choice[-1] = 0, 1, 0
                    return NOT_POSITIVE if B[2, 0, 0] - product + spread <= 0.0 else OPEN
                top += 1
                continue
            choice[top - 1] = 1
            child(B[top], R[top], top, top - 1, True, B[top - 1], R[top - 1])
            top -= 1
            choice[top - 1] = 0
        elif choice[top - 1] == 1:
            choice[top - 1] = 2
            child(B[top], R[top], top, top - 1, False, B[top - 1], R[top - 1])
            top -= 1
            choice[top - 1] = 0
        else:
            top += 1
    return DONE


@kernel(types.boolean(INDICES, INDICES, types.int64, types.int64))
def note(log, state, code, value):
    """Append a line of the proof; False if there is no more room, in which case no proof is stored."""
    if state[1] < 0 or state[1] + 2 > log.shape[0]:
        state[1] = -1
        return False
    log[state[1]], log[state[1] + 1] = code, value
    state[1] += 2
    return True


@kernel(types.void(COUNTS, INDICES, INDICES, VECTOR, types.int64, types.int64, VECTOR))
def leaf(tries, state, log, weights, code, m, w):
    """Take a node of order m off the stack, proved by weights w (m) in the way of the code."""
    tries[m, 1] += 1
    state[4] += 1
    if note(log, state, code, m):
        for i in range(m):
            weights[state[2] + i] = w[i]
        state[2] += m
    state[0] -= 1


@kernel(types.int64(MATRIX, MATRIX, types.int64, INDICES, types.int64, INDICES))
def diagonal_signs(B, R, m, index, pivoted, failure):
    """DONE if all m diagonal entries of a node are proved positive; else NOT_POSITIVE or OPEN, and the failure."""
    n = index.shape[0] // 2
    for i in range(m):
        if not B[i, i] - R[i, i] > 0.0:
            for k in range(pivoted):
                failure[k] = index[n + k]
            failure[pivoted] = index[i]
            failure[-1] = pivoted + 1
            return NOT_POSITIVE if B[i, i] + R[i, i] <= 0.0 else OPEN
    return DONE


@kernel(types.int64(MATRIX, MATRIX, types.int64, INDICES, types.int64, CUBE, CUBE, INDICES, INDICES))
def small_node(B, R, m, index, pivoted, levels_B, levels_R, choice, failure):
    """`run_through` on a node of order m, in the workspace `levels_B`, `levels_R`, `choice`, and its failure."""
    n = index.shape[0] // 2
    for i in range(m):
        for j in range(m):
            levels_B[m, i, j], levels_R[m, i, j] = B[i, j], R[i, j]
    result = run_through(levels_B, levels_R, m, choice)
    if result != DONE:
        k = pivoted
        for i in range(k):
            failure[i] = index[n + i]
        for i in range(m):
            if choice[i] == 1:
                failure[k] = index[i]
                k += 1
        failure[k] = index[choice[-1]]
        failure[-1] = k + 1
    return result


@kernel(types.boolean(MATRIX, MATRIX, types.int64, VECTOR, VECTOR))
def diagonally_stable(B, R, m, w, score):
    """Whether a diagonal W, returned in w, proves the leading m x m of B (radii R); score shows where it is hardest.

    The matrix scaled to D B D with unit diagonal has the same W as B: the congruence by D does not change it.
    """
    A, A_R, scale = np.empty((m, m)), np.empty((m, m)), np.empty(m)
    for i in range(m):
        scale[i] = 1.0 / np.sqrt(B[i, i])
    for i in range(m):
        for j in range(m):
            A[i, j] = B[i, j] * scale[i] * scale[j]
            A_R[i, j] = R[i, j] * scale[i] * scale[j] + 8.0 * U * abs(A[i, j])
        A[i, i] = 1.0
    if find_diagonal(A, w[:m], score[:m], STEPS) != FOUND:
        return False
    return proves(A, A_R, w[:m], np.empty((m, m)), np.empty((m, m)))


@kernel(types.void(CUBE, CUBE, COUNTS, INDICES, INDICES, types.int64, types.int64))
def branch_off(B, R, index, order, pivoted, s, branch):
    """Replace node s, on top of the stack, by its two children. The pivoted one is processed first: it goes on
    top, and the node's own slot takes the other one."""
    n, m, t = index.shape[1] // 2, order[s], s + 1
    child(B[s], R[s], m, branch, True, B[t], R[t])
    child(B[s], R[s], m, branch, False, B[t + 1], R[t + 1])
    position = 0
    chosen = index[s, branch]
    for i in range(m):
        if i != branch:
            index[t, position] = index[s, i]
            position += 1
    for k in range(pivoted[s]):
        index[t, n + k] = index[s, n + k]
    index[t, n + pivoted[s]] = chosen
    order[t], pivoted[t] = m - 1, pivoted[s] + 1
    for i in range(m - 1):
        index[s, i] = index[t, i]
        for j in range(m - 1):
            B[s, i, j], R[s, i, j] = B[t + 1, i, j], R[t + 1, i, j]
    order[s] = m - 1


@kernel(
    types.int64(
        CUBE, CUBE, COUNTS, INDICES, INDICES, COUNTS, INDICES, types.int64, INDICES, VECTOR, INDICES
    ),
)  # fmt: skip
def search(B, R, index, order, pivoted, tries, state, budget, log, weights, failure):
    """Process the stack of nodes until it is empty, `budget` units of work are spent, or a sign is not positive.

    Node s: order[s] remaining indices index[s, :order[s]], matrix B[s], radii R[s] and index[s, n:] the pivoted
    indices, pivoted[s] of them. state = [nodes on the stack, length of log (-1 once it is full), length of weights,
    nodes visited, diagonal leaves]. tries (n + 1, 2) counts attempts and successes of diagonal stability by order.
    With NOT_POSITIVE or OPEN, failure holds the minor's index set, its length in failure[-1], the index of its
    diagonal entry last; the node stays on the stack.
    """
    n = index.shape[1] // 2
    levels_B, levels_R = np.empty((SMALL + 1, SMALL, SMALL)), np.empty((SMALL + 1, SMALL, SMALL))
    choice = np.empty(SMALL + 1, dtype=np.int64)
    w, score = np.empty(n), np.empty(n)
    while state[0] > 0:
        if budget <= 0:
            return PAUSED
        s = state[0] - 1
        m = order[s]
        state[3] += 1
        result = diagonal_signs(B[s], R[s], m, index[s], pivoted[s], failure)
        if result == DONE and m <= SMALL:
            result = small_node(B[s], R[s], m, index[s], pivoted[s], levels_B, levels_R, choice, failure)
        if result != DONE:
            return result
        if m <= SMALL:
            budget -= 1 << m
            note(log, state, MINORS, m)
            state[0] -= 1
            continue
        branch = m - 1
        # Worth trying if the subtree that it may save costs more than the attempt.
        if (tries[m, 1] + 1.0) / (tries[m, 0] + 1.0) * 2.0**m > 2.0 * m**3:
            tries[m, 0] += 1
            budget -= 2 * m**3
            if diagonally_stable(B[s], R[s], m, w, score):
                leaf(tries, state, log, weights, DIAGONAL, m, w)
                continue
            for i in range(m):
                if score[i] > score[branch]:
                    branch = i
        note(log, state, BRANCH, branch)
        budget -= m * m
        branch_off(B, R, index, order, pivoted, s, branch)
        state[0] += 1
    return DONE
