"""Dense method for friction cones of any number of directions, discs and intervals, over a small W.

Vectors go block by block, contacts with their normals first; block i has the rows first[i] : first[i + 1]. A contact is
measured in its own units, rho_i = m_i / tr W_ii, a row of an interval in 1 / W_kk, and the whole in units of the
largest free velocity. Stages, each from the best iterate so far: Gauss-Seidel sweeps, each contact solved exactly;
Newton steps on the blocks' `law_equations`, for few contacts before the sweeps, too; and proximal points
(`proximal_points`), each by such steps. If consecutive subproblems fail nevertheless, damped steps on the problem
itself start from another point, after more sweeps.

No method is proven to find a solution of Coulomb's problem; the residual shows how accurate the result is. Cost:
O(n^2) a sweep, O(n^3) a Newton step. Sources: Jourdan, Alart & Jean 1998; Alart & Curnier 1991; Acary, Bremond & Huber
2018.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from workbench.algorithms.gauss_seidel import sweeps_of_dense
from workbench.algorithms.law_equations import set_equations
from workbench.algorithms.one_contact import one_contact
from workbench.algorithms.proximal_points import (
    BURSTS,
    LARGEST_EPS,
    LEAST,
    LEAST_EPS,
    SHARE,
    STEPS,
    has_ended,
    next_eps,
    next_length,
)
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import FAST, INDICES, MATRIX, VECTOR, affine, copy, lu_factor, lu_solve, set_all
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix
from workbench.problems.islands import coupled_parts
from workbench.problems.residual import BLOCK_SETS, Iterate, length, measure, row_product
from workbench.problems.sets import ASSOCIATED, COULOMB, DISC, NO_CONE, BlockSets
from workbench.support.arrays import Array

ENOUGH, VERIFIED, LAST = 1e-12, 1e-10, 1e-13
"""Residual below which no other method starts; below which only methods that still gain continue (a digit per Newton
step, a factor of two per proximal one); and at which Newton steps end."""
SWEEPS, UNDAMPED, ROUNDS = 5, 8, 60
"""Sweeps at the start, Newton steps before the proximal method, and the maximum number of proximal points."""
STARTS = 3
"""Number of restarts of the stages, each from the previous result, until the residual is below `VERIFIED`."""
NEWTON_FIRST = 60
"""Largest number of unknowns for which Newton steps precede the sweeps: a dozen then take a tenth of the time."""
FLOOR, SINGULAR = 1e-9, 1e-10
"""Term added to the diagonal of the scaled W, about 1, if Newton's matrix is singular, and the ratio of two pivots
below which it is."""
LAST_EPS = 1e-4
"""eps of the last step."""
HALVINGS, SLIGHT = 8, 1e-3
"""Halvings of a damped step; the error must fall by at least this share of the step length."""

FLAG, NUMBER, COUNT = types.boolean, types.float64, types.int64


class Dense(NamedTuple):
    """Blocks over a dense W (n, n): q (n,), their sets, `part` (B,) as in `coupled_parts`, the most rows of a block."""

    W: Array
    q: Array
    sets: BlockSets
    part: NDArray[np.int64]
    widest: int


DENSE = argument_type(Dense, MATRIX, VECTOR, BLOCK_SETS, INDICES, COUNT)


@kernel(NUMBER(MATRIX, VECTOR, INDICES, INDICES, VECTOR, MATRIX, VECTOR))
def in_units(W, q, first, cone, D, W_D, q_D):
    """Compute D (n,) = sqrt(rho), W_D = D W D, q_D = D q over its largest entry; returns that entry, or 1."""
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


@kernel(FLAG(MATRIX))
def is_nearly_singular(LU):
    """Return whether a pivot is round-off relative to another one."""
    least, largest = np.inf, 0.0
    for i in range(LU.shape[0]):
        least, largest = min(least, abs(LU[i, i])), max(largest, abs(LU[i, i]))
    return least < SINGULAR * largest


@kernel(FLAG(MATRIX, INDICES, VECTOR, MATRIX, MATRIX, NUMBER, VECTOR, VECTOR), **FAST)
def newton_step(W, first, gap, C, B, eps, space, step):
    """Compute step = -(C + B (W + eps I))^-1 gap; returns False if the matrix is singular, or nearly so with eps = 0.

    space has room for n^2 numbers. Impulses that the law gives directly, such as those of open contacts, are eliminated
    first.
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


@kernel(NUMBER(DENSE, VECTOR, VECTOR, NUMBER, VECTOR))
def keep_better(p, trial, u, best, z):
    """Return the residual of a trial (n,), and copy it to z if it is below `best`; u = W trial + q."""
    n = p.q.shape[0]
    terms, diagonal = scratch(n), scratch(n)
    for k in range(n):
        total, size = row_product(p.W, k, trial)
        u[k], terms[k], diagonal[k] = total + p.q[k], size, p.W[k, k]
    residual = measure(p.sets, p.part, p.part, Iterate(trial, u, p.q, p.q, terms, diagonal), scratch(p.part.shape[0]))
    if residual < best:
        copy(trial, z)
    return residual


@kernel(NUMBER(DENSE, NUMBER, VECTOR, INDICES))
def active_set(p, best, z, info):
    """Make full Newton steps from z, of residual `best`; z receives the best iterate; returns its residual."""
    n, B = p.q.shape[0], p.sets.mu.shape[0]
    C_i, B_i, space = scratch_matrix(B, p.widest * p.widest), scratch_matrix(B, p.widest * p.widest), scratch(n * n)
    trial, u, gap, step = scratch(n), scratch(n), scratch(n), scratch(n)
    copy(z, trial)
    affine(p.W, p.q, trial, u)
    for _ in range(UNDAMPED):
        if best <= LAST:
            break
        set_equations(p.sets, trial, u, gap, C_i, B_i)
        if not newton_step(p.W, p.sets.first, gap, C_i, B_i, 0.0, space, step) and not newton_step(
            p.W, p.sets.first, gap, C_i, B_i, FLOOR, space, step
        ):
            break
        info[0] += 1
        for k in range(n):
            trial[k] += step[k]
        residual = keep_better(p, trial, u, best, z)
        gained = residual < 0.1 * best
        best = min(best, residual)
        if residual == np.inf or (best <= VERIFIED and not gained):
            break
    return best


@kernel(FLAG(DENSE, VECTOR, NUMBER, NUMBER, NUMBER, NUMBER, VECTOR, INDICES))
def irregular_steps(p, centre, eps, floor, share, size, z, info):
    """Make Newton steps on the proximal problem from z, which becomes the best iterate.

    Returns whether its error is at most the `share` of the first one. `floor` is added to eps in the matrix only."""
    n, B = p.q.shape[0], p.sets.mu.shape[0]
    C_i, B_i, space = scratch_matrix(B, p.widest * p.widest), scratch_matrix(B, p.widest * p.widest), scratch(n * n)
    trial, u, gap, step = scratch(n), scratch(n), scratch(n), scratch(n)
    copy(z, trial)
    goal, least, length, error = 0.0, np.inf, 1.0, np.inf
    for k in range(1 + STEPS):
        affine(p.W, p.q, trial, u)
        for i in range(n):
            u[i] += eps * (trial[i] - centre[i])
        before, error = error, set_equations(p.sets, trial, u, gap, C_i, B_i)
        if k == 0:
            goal = max(share * error, LEAST * size)
        if error < least:
            least = error
            copy(trial, z)
        if has_ended(error, before, goal, size):
            break
        length = next_length(k, length, error, before, info[0])
        if not newton_step(p.W, p.sets.first, gap, C_i, B_i, eps + floor, space, step):
            break
        info[0] += 1
        for i in range(n):
            trial[i] += length * step[i]
    return least <= goal


@kernel(types.void(DENSE, VECTOR, INDICES))
def damped_steps(p, z, info):
    """Make Newton steps from z, in place, each halved until the equations' error decreases, as long as it does."""
    n, B = p.q.shape[0], p.sets.mu.shape[0]
    C_i, B_i, space = scratch_matrix(B, p.widest * p.widest), scratch_matrix(B, p.widest * p.widest), scratch(n * n)
    u, gap, step = scratch(n), scratch(n), scratch(n)
    affine(p.W, p.q, z, u)
    error = set_equations(p.sets, z, u, gap, C_i, B_i)
    for _ in range(STEPS):
        if not newton_step(p.W, p.sets.first, gap, C_i, B_i, FLOOR, space, step):
            return
        info[0] += 1
        length, before = 2.0, error
        for k in range(n):
            z[k] += 2.0 * step[k]
        for _ in range(HALVINGS):
            length *= 0.5
            for k in range(n):
                z[k] -= length * step[k]
            affine(p.W, p.q, z, u)
            error = set_equations(p.sets, z, u, gap, C_i, B_i)
            if error < (1.0 - SLIGHT * length) * before:
                break
        if not error < (1.0 - SLIGHT * length) * before:
            return


@kernel(NUMBER(DENSE, NUMBER, VECTOR, INDICES))
def proximal(p, best, z, info):
    """Run the proximal point method from z, of residual `best`; z receives the best iterate; returns its residual."""
    n, size = p.q.shape[0], max(length(z, 0, z.shape[0]), length(p.q, 0, z.shape[0]))
    trial, u, centre, swept = scratch(n), scratch(n), scratch(n), scratch(n)
    copy(z, centre)
    set_all(0.0, swept)
    eps, at_centre, failed, before = LARGEST_EPS, best, 0, np.inf
    for _ in range(ROUNDS):
        if best <= ENOUGH or (best <= VERIFIED and best > 0.5 * before):
            break
        before = best
        copy(centre, trial)
        steps = info[0]
        solved = irregular_steps(p, centre, eps, 0.0, SHARE, size, trial, info)
        eps = next_eps(eps, solved, info[0] - steps)
        residual = keep_better(p, trial, u, best, z)
        best = min(best, residual)
        if solved:
            failed = 0
        else:
            failed += 1
            if failed % BURSTS == 0:
                sweeps_of_dense(p.W, p.q, p.sets, SWEEPS, swept)
                info[0] += SWEEPS
                copy(swept, trial)
                damped_steps(p, trial, info)
                residual = keep_better(p, trial, u, best, z)
                best = min(best, residual)
                eps = max(LEAST_EPS, min(eps, residual))
        if solved or residual < at_centre:
            copy(trial, centre)
            at_centre = residual
    return best


@kernel(NUMBER(MATRIX, VECTOR, BLOCK_SETS, VECTOR, VECTOR, INDICES))
def solve_small(W, q, sets, start, z, info):
    """Solve blocks of friction cones and intervals over W (n, n), q (n,); z (n,) receives the best iterate.

    A cone has the normal first[i] followed by the friction directions, a disc only the latter. `start` (n,) may be
    zero, or z. Returns the residual, inf if the data are not finite; `info[0]` is set to the number of sweeps and
    Newton steps.
    """
    first, cone, mu, lower, upper = sets
    n, B, widest = q.shape[0], mu.shape[0], 1
    if B == 1 and (cone[0] == COULOMB or cone[0] == ASSOCIATED):
        info[0] = 1
        residual = one_contact(W, q, mu[0], cone[0] == ASSOCIATED, z)
        if residual <= VERIFIED:
            return residual
    for i in range(B):
        widest = max(widest, first[i + 1] - first[i])
    D, q_D, u, trial, best_z, centre = scratch(n), scratch(n), scratch(n), scratch(n), scratch(n), scratch(n)
    low, high, W_D, limit = scratch(n), scratch(n), scratch_matrix(n, n), scratch(B)
    owner, part = scratch_indices(n), scratch_indices(B)
    unit = in_units(W, q, first, cone, D, W_D, q_D)
    for i in range(B):
        # The radius of a disc is an impulse, unlike a friction coefficient.
        limit[i] = mu[i] / D[first[i]] / unit if cone[i] == DISC else mu[i]
        for k in range(first[i], first[i + 1]):
            owner[k] = i
            trial[k], low[k], high[k] = start[k] / D[k] / unit, lower[k] / D[k] / unit, upper[k] / D[k] / unit
    coupled_parts(W_D, owner, part)
    p = Dense(W_D, q_D, BlockSets(first, cone, limit, low, high), part, widest)
    info[0] = 0
    copy(trial, best_z)
    best, enough = keep_better(p, trial, u, np.inf, best_z), ENOUGH
    # A single block is solved by a sweep, if it is none of those in closed form.
    if B > 1 and n <= NEWTON_FIRST and ENOUGH < best < np.inf:
        best, enough = active_set(p, best, best_z, info), VERIFIED
    for _ in range(SWEEPS):
        if best <= enough or best == np.inf:
            break
        sweeps_of_dense(p.W, p.q, p.sets, 1, trial)
        info[0] += 1
        best = min(best, keep_better(p, trial, u, best, best_z))
    if enough < best < np.inf:
        best = active_set(p, best, best_z, info)
    if ENOUGH < best < np.inf:
        best = proximal(p, best, best_z, info)
    if LAST < best <= VERIFIED:
        # Redundant contacts admit many impulses: choose the nearest ones with less round-off.
        copy(best_z, trial)
        copy(best_z, centre)
        irregular_steps(p, centre, LAST_EPS, 0.0, 0.0, length(best_z, 0, n), trial, info)
        best = min(best, keep_better(p, trial, u, best, best_z))
    for k in range(n):
        z[k] = D[k] * best_z[k] * unit
    return best


@kernel(NUMBER(MATRIX, VECTOR, BLOCK_SETS, VECTOR, INDICES))
def solve_anew(W, q, sets, z, info):
    """Call `solve_small` from z (n,), again from its result until that is verified; info[0] counts all steps."""
    residual, steps = np.inf, 0
    for _ in range(STARTS):
        residual = solve_small(W, q, sets, z, z, info)
        steps += info[0]
        if not VERIFIED < residual < np.inf:
            break
    info[0] = steps
    return residual
