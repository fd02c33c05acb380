"""Some contacts in one go: friction cones of any number of directions, discs and intervals, over a small dense W.

Vectors go block by block, contacts with their normals first; block i has the rows first[i] : first[i + 1]. A contact is
measured in units of its own, rho_i = m_i / tr W_ii, a row of an interval in 1 / W_kk, and the whole in units of the
largest free velocity. Stages, each from the
best iterate so far: block Gauss-Seidel sweeps from the start, each contact solved exactly; undamped Newton steps on
their `law_equations`; the proximal point method (Rockafellar 1976), which solves the problem of W + eps I,
u = W z + q + eps (z - centre) for the next centre by such steps. Redundant contacts make W singular, and contacts that
do not quite fit together (one corner of four stands off by a rounding) make it matter: impulses then go far along a
direction in which nothing moves, until a contact opens. eps bounds how far in one step, falls where a subproblem is
solved, and rises where not.

No method is proven to find a solution of Coulomb's problem; the residual says how far this one came. Cost: O(n^2) a
sweep, O(n^3) a Newton step. Sources: Jourdan, Alart & Jean 1998; Alart & Curnier 1991; Acary, Bremond & Huber 2018.
"""

import numpy as np
from numba import types

from workbench.algorithms.block_sets import SETS, worst_block
from workbench.algorithms.law_equations import law_equations, one_block
from workbench.algorithms.one_contact import one_contact
from workbench.engine.compiling import kernel
from workbench.engine.kernels import FAST, INDICES, MATRIX, VECTOR, affine, copy, lu_factor, lu_solve
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix
from workbench.problems.contact_blocks import ASSOCIATED, DISC, NO_CONE
from workbench.problems.residual import coupled_parts, velocities

ENOUGH, VERIFIED = 1e-12, 1e-10
"""Residual at which nothing more is done, and at which only what still gains: a digit in a Newton step, a factor of two
in `PATIENCE` proximal ones."""
PATIENCE = 2
SWEEPS, UNDAMPED, STEPS, ROUNDS = 5, 8, 6, 150
"""Sweeps at the start, Newton steps before the proximal method and in one of its subproblems, proximal steps."""
NEWTON_FIRST = 60
"""Unknowns up to which Newton steps go before the sweeps."""
FLOOR, LEAST_FLOOR, SINGULAR = 1e-9, 1e-13, 1e-12
"""What the undamped steps add to the diagonal of the scaled W, about 1, where their matrix is singular, a pivot being
less than such a share of another: after the sweeps, and before and at the end."""
LARGEST_EPS, LEAST_EPS = 0.1, 1e-12
SHARE, FEWER, MORE = 0.1, 0.2, 5.0
"""Error of a subproblem, beside its first one, at which it is solved; what eps is multiplied by then, or else."""
LOST = 1e6
"""Growth of the error at which the steps on a subproblem end."""

FLAG, NUMBER, COUNT = types.boolean, types.float64, types.int64


@kernel(NUMBER(MATRIX, VECTOR, INDICES, INDICES, VECTOR, MATRIX, VECTOR))
def in_units(W, q, first, cone, D, W_D, q_D):
    """D (n,) = sqrt(rho) of every row, W_D = D W D, q_D = D q over its largest entry; returns that entry, or 1."""
    n, largest = q.shape[0], 0.0
    for i in range(cone.shape[0]):
        trace = 0.0
        for k in range(first[i], first[i + 1]):
            trace += W[k, k]
        for k in range(first[i], first[i + 1]):
            mobility = W[k, k] if cone[i] == NO_CONE else trace / (first[i + 1] - first[i])
            D[k] = 1.0 / np.sqrt(mobility) if mobility > 0.0 else 1.0
            largest = max(largest, abs(D[k] * q[k]))
    largest = largest if 0.0 < largest < np.inf else 1.0
    for i in range(n):
        q_D[i] = D[i] * q[i] / largest
        for j in range(n):
            W_D[i, j] = D[i] * W[i, j] * D[j]
    return largest


@kernel(types.void(MATRIX, VECTOR, *SETS, COUNT, VECTOR))
def sweep_contacts(W, q, first, cone, mu, lower, upper, widest, z):
    """One block Gauss-Seidel sweep: z (n,), every contact, of at most `widest` rows, solved with the others held."""
    blocks, frees, owns = scratch(widest * widest), scratch(widest), scratch(widest)
    for i in range(mu.shape[0]):
        top, m = first[i], first[i + 1] - first[i]
        if cone[i] == NO_CONE:
            for k in range(top, top + m):
                u, row = q[k], W[k]
                for j in range(q.shape[0]):
                    u += row[j] * z[j]
                step = u / row[k] if row[k] > 0.0 else 0.0
                z[k] = min(max(z[k] - step, lower[k]), upper[k])
            continue
        block, free, own = blocks[: m * m].reshape(m, m), frees[:m], owns[:m]
        for a in range(m):
            row, s = W[top + a], q[top + a]
            for j in range(q.shape[0]):
                s += row[j] * z[j]
            for b in range(m):
                block[a, b] = row[top + b]
                s -= row[top + b] * z[top + b]
            free[a] = s
        if cone[i] > ASSOCIATED:
            copy(z[top : top + m], own)
            one_block(block, free, mu[i], cone[i], own)
        else:
            one_contact(block, free, mu[i : i + 1], cone[i] == ASSOCIATED, own)
        for a in range(m):
            z[top + a] = own[a]


@kernel(types.void(COUNT, COUNT, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX))
def interval_blocks(a, b, z, u, lower, upper, gap, C, B):
    """The rows a : b of intervals: gap z - P(z - u), and C, B (m, m) with d gap = C dz + B du."""
    for k in range(a, b):
        nearest = min(max(z[k] - u[k], lower[k]), upper[k])
        inside = nearest == z[k] - u[k]
        gap[k] = u[k] if inside else z[k] - nearest
        for j in range(b - a):
            C[k - a, j] = 1.0 if j == k - a and not inside else 0.0
            B[k - a, j] = 1.0 if j == k - a and inside else 0.0


@kernel(NUMBER(VECTOR, VECTOR, *SETS, COUNT, VECTOR, MATRIX, MATRIX))
def linearise(z, u, first, cone, mu, lower, upper, widest, gap, C, B):
    """gap (n,) of the equations at z, u and its norm; row i of C and B (r, widest^2) holds block i's derivatives."""
    total = 0.0
    for i in range(mu.shape[0]):
        a, b = first[i], first[i + 1]
        m = b - a
        C_i, B_i = C[i, : m * m].reshape(m, m), B[i, : m * m].reshape(m, m)
        if cone[i] == NO_CONE:
            interval_blocks(a, b, z, u, lower, upper, gap, C_i, B_i)
        else:
            law_equations(cone[i], z[a:b], u[a:b], mu[i], 1.0, gap[a:b], C_i, B_i)
        for k in range(a, b):
            total += gap[k] ** 2
    return np.sqrt(total)


@kernel(FLAG(MATRIX))
def is_nearly_singular(LU):
    """Whether a pivot is rounding beside another one."""
    least, largest = np.inf, 0.0
    for i in range(LU.shape[0]):
        least, largest = min(least, abs(LU[i, i])), max(largest, abs(LU[i, i]))
    return least < SINGULAR * largest


@kernel(FLAG(MATRIX, INDICES, VECTOR, MATRIX, MATRIX, NUMBER, VECTOR, VECTOR), **FAST)
def newton_step(W, first, gap, C, B, eps, space, step):
    """step = -(C + B (W + eps I))^-1 gap, with room for n^2 numbers in space; False where there is none, or where with
    eps = 0 rounding would decide about it.

    Impulses that the law gives outright, such as those of open contacts, are eliminated first.
    """
    n = gap.shape[0]
    kept, rhs, x, pivots = scratch_indices(n), scratch(n), scratch(n), scratch_indices(n)
    count = 0
    for i in range(first.shape[0] - 1):
        m = first[i + 1] - first[i]
        for a in range(m):
            given = True
            for b in range(m):
                given &= B[i, a * m + b] == 0.0 and C[i, a * m + b] == (1.0 if a == b else 0.0)
            step[first[i] + a] = -gap[first[i] + a] if given else 0.0
            if not given:
                kept[count] = first[i] + a
                count += 1
    A = space[: count * count].reshape(count, count)
    at = 0
    for i in range(first.shape[0] - 1):
        top, m = first[i], first[i + 1] - first[i]
        start = at
        while at < count and kept[at] < first[i + 1]:
            a, row = kept[at] - top, A[at]
            for j in range(count):
                row[j] = 0.0
            rhs[at] = -gap[kept[at]]
            for b in range(m):
                share, given = B[i, a * m + b], W[top + b]
                if share != 0.0:
                    moved = eps * step[top + b]
                    for j in range(n):
                        moved += given[j] * step[j]
                    rhs[at] -= share * moved
                    for j in range(count):
                        row[j] += share * given[kept[j]]
                rhs[at] -= C[i, a * m + b] * step[top + b]
            for j in range(start, count):
                if kept[j] >= first[i + 1]:
                    break
                b = kept[j] - top
                row[j] += C[i, a * m + b] + eps * B[i, a * m + b]
            at += 1
    if lu_factor(A, pivots) != 0 or (eps == 0.0 and is_nearly_singular(A)):
        return False
    lu_solve(A, pivots, rhs[:count], x[:count])
    for j in range(count):
        step[kept[j]] = x[j]
    return True


@kernel(NUMBER(MATRIX, VECTOR, *SETS, INDICES, VECTOR, VECTOR, NUMBER, VECTOR))
def keep_better(W, q, first, cone, mu, lower, upper, part, trial, u, best, z):
    """The residual of a trial (n,), of which z becomes a copy where that is below `best`; u = W trial + q."""
    terms = scratch(q.shape[0])
    velocities(W, q, trial, u, terms)
    residual = worst_block(first, cone, mu, lower, upper, part, q, u, trial, terms)
    if residual < best:
        copy(trial, z)
    return residual


@kernel(NUMBER(MATRIX, VECTOR, *SETS, INDICES, COUNT, NUMBER, NUMBER, VECTOR, INDICES))
def active_set(W, q, first, cone, mu, lower, upper, part, widest, floor, best, z, info):
    """Undamped Newton steps from z, of residual `best`; z takes the best iterate, whose residual is returned.

    `floor` is added to the diagonal of the scaled W, about 1, in their matrix."""
    n, r = q.shape[0], mu.shape[0]
    C, B, space = scratch_matrix(r, widest * widest), scratch_matrix(r, widest * widest), scratch(n * n)
    trial, u, gap, step = scratch(n), scratch(n), scratch(n), scratch(n)
    copy(z, trial)
    affine(W, q, trial, u)
    for _ in range(UNDAMPED):
        if best <= ENOUGH:
            break
        linearise(trial, u, first, cone, mu, lower, upper, widest, gap, C, B)
        if not newton_step(W, first, gap, C, B, 0.0, space, step) and not newton_step(
            W, first, gap, C, B, floor, space, step
        ):
            break
        info[0] += 1
        for k in range(n):
            trial[k] += step[k]
        residual = keep_better(W, q, first, cone, mu, lower, upper, part, trial, u, best, z)
        gained = residual < 0.1 * best
        best = min(best, residual)
        if residual == np.inf or (best <= VERIFIED and not gained):
            break
    return best


@kernel(NUMBER(MATRIX, VECTOR, *SETS, INDICES, COUNT, NUMBER, VECTOR, INDICES))
def proximal(W, q, first, cone, mu, lower, upper, part, widest, best, z, info):
    """The proximal point method from z, of residual `best`; z takes the best iterate, whose residual is returned."""
    n, r = q.shape[0], mu.shape[0]
    C, B, space = scratch_matrix(r, widest * widest), scratch_matrix(r, widest * widest), scratch(n * n)
    trial, u, gap, step, centre = scratch(n), scratch(n), scratch(n), scratch(n), scratch(n)
    copy(z, centre)
    eps, idle, before = min(LARGEST_EPS, best), 0, best
    for _ in range(ROUNDS):
        idle, before = (idle + 1, before) if best > 0.5 * before else (0, best)
        if best <= ENOUGH or (best <= VERIFIED and idle > PATIENCE):
            break
        copy(centre, trial)
        affine(W, q, trial, u)
        begun = error = linearise(trial, u, first, cone, mu, lower, upper, widest, gap, C, B)
        for _ in range(STEPS):
            if error <= SHARE * begun or not error < LOST * begun:
                break
            if not newton_step(W, first, gap, C, B, eps, space, step):
                error = np.inf
                break
            info[0] += 1
            for k in range(n):
                trial[k] += step[k]
            best = min(best, keep_better(W, q, first, cone, mu, lower, upper, part, trial, u, best, z))
            for k in range(n):
                u[k] += eps * (trial[k] - centre[k])
            error = linearise(trial, u, first, cone, mu, lower, upper, widest, gap, C, B)
        if error <= SHARE * begun:
            eps = max(LEAST_EPS, FEWER * eps)
            copy(trial, centre)
        else:
            eps = min(1.0, MORE * eps)
    return best


@kernel(NUMBER(MATRIX, VECTOR, *SETS, VECTOR, VECTOR, INDICES))
def solve_small(W, q, first, cone, mu, lower, upper, start, z, info):
    """Blocks of friction cones and intervals over W (n, n); z (n,) takes the best iterate.

    q, start, lower, upper (n,), first (r + 1,) from 0 to n, cone (r,) as in `ContactBlocks`, mu (r,): a cone has the
    normal first[i] and the friction directions after it, a disc the latter alone, and neither has bounds. `start` may
    be zero, or z. Returns the residual (`worst_block`), inf where the data are not finite; `info[0]` becomes the number
    of sweeps and Newton steps.
    """
    n, widest = q.shape[0], 1
    for i in range(mu.shape[0]):
        widest = max(widest, first[i + 1] - first[i])
    D, q_D, u, trial, best_z = scratch(n), scratch(n), scratch(n), scratch(n), scratch(n)
    low, high, W_D, limit = scratch(n), scratch(n), scratch_matrix(n, n), scratch(mu.shape[0])
    unit = in_units(W, q, first, cone, D, W_D, q_D)
    owner, part = scratch_indices(n), scratch_indices(mu.shape[0])
    for i in range(mu.shape[0]):
        for k in range(first[i], first[i + 1]):
            owner[k] = i
    coupled_parts(W_D, owner, part)
    # The radius of a disc is an impulse, which a friction coefficient is not.
    for i in range(mu.shape[0]):
        limit[i] = mu[i] / D[first[i]] / unit if cone[i] == DISC else mu[i]
    for k in range(n):
        trial[k], low[k], high[k] = start[k] / D[k] / unit, lower[k] / D[k] / unit, upper[k] / D[k] / unit
    info[0] = 0
    copy(trial, best_z)
    best = keep_better(W_D, q_D, first, cone, limit, low, high, part, trial, u, np.inf, best_z)
    enough = ENOUGH
    if mu.shape[0] > 1 and n <= NEWTON_FIRST and ENOUGH < best < np.inf:
        enough = VERIFIED
        best = active_set(W_D, q_D, first, cone, limit, low, high, part, widest, LEAST_FLOOR, best, best_z, info)
    for _ in range(SWEEPS):
        if best <= enough or best == np.inf:
            break
        sweep_contacts(W_D, q_D, first, cone, limit, low, high, widest, trial)
        info[0] += 1
        best = min(best, keep_better(W_D, q_D, first, cone, limit, low, high, part, trial, u, best, best_z))
    if enough < best < np.inf:
        best = active_set(W_D, q_D, first, cone, limit, low, high, part, widest, FLOOR, best, best_z, info)
    if ENOUGH < best < np.inf:
        best = proximal(W_D, q_D, first, cone, limit, low, high, part, widest, best, best_z, info)
        # What is left is quickly done.
        best = active_set(W_D, q_D, first, cone, limit, low, high, part, widest, LEAST_FLOOR, best, best_z, info)
    for k in range(n):
        z[k] = D[k] * best_z[k] * unit
    return best
