"""Equations of every set's law for Newton's method, and Newton steps on a single block.

Unknowns z and velocities u are in units in which mobilities are about 1. With y = z - u the equations are

    interval     z = the nearest point to y in [lower, upper]
    Coulomb      z_n = max(y_n, 0),   z_t = the projection of y_t on the disc of radius mu max(y_n, 0)
    apart        the same, with separate discs for sliding, torsion and rolling
    disc         z = the projection of y on the disc of its radius
    associated   z = P_K(y)

Alart and Curnier's equations have no De Saxce term, so that fewer of their derivatives are singular; they have the same
solutions. Sources: Alart & Curnier 1991; Tasora & Anitescu 2013, Meccanica 48 (rolling and spinning friction with
separate limits).
"""

import numpy as np
from numba import types

from workbench.algorithms.one_contact import project
from workbench.engine.compiling import kernel
from workbench.engine.kernels import MATRIX, VECTOR, WITHIN, copy, lu_factor, lu_solve
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix
from workbench.problems.residual import BLOCK_SETS, disc_end
from workbench.problems.sets import APART, ASSOCIATED, DISC, NO_CONE

I64, F64 = types.int64, types.float64
LOCAL_STEPS = 15
"""Newton steps on a block without a closed-form solution."""


@kernel(types.void(BLOCK_SETS, I64, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX), **WITHIN)
def interval_equations(sets, i, z, u, gap, C, B):
    """Evaluate block i of intervals: its gap (m,) and C, B (m, m) with d gap = C dz + B du."""
    first = sets.first[i]
    for a in range(gap.shape[0]):
        y = z[a] - u[a]
        nearest = min(max(y, sets.lower[first + a]), sets.upper[first + a])
        inside = nearest == y
        gap[a] = u[a] if inside else z[a] - nearest
        for b in range(gap.shape[0]):
            C[a, b] = 1.0 if b == a and not inside else 0.0
            B[a, b] = 1.0 if b == a and inside else 0.0


@kernel(types.void(VECTOR, VECTOR, F64, VECTOR, MATRIX, MATRIX), **WITHIN)
def cone_equations(z, u, mu, gap, C, B):
    """Evaluate one contact with associated flow (the natural map): gap, C and B as for intervals."""
    m = z.shape[0]
    for a in range(m):
        gap[a] = z[a] - u[a]
    project(gap, mu, B)
    for a in range(m):
        gap[a] = z[a] - gap[a]
        for b in range(m):
            C[a, b] = (1.0 if a == b else 0.0) - B[a, b]


@kernel(types.void(I64, I64, F64, F64, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX), **WITHIN)
def disc_equations(first, end, limit, slope, z, u, gap, C, B):
    """Evaluate rows first : end in a disc of radius `limit`, which grows by `slope` with y_0; C, B enter as zero."""
    radius = 0.0
    for a in range(first, end):
        radius += (z[a] - u[a]) ** 2
    radius = np.sqrt(radius)
    sticks = limit > 0.0 and radius <= limit
    share = limit / radius if radius > 0.0 else 0.0
    for a in range(first, end):
        if sticks:
            gap[a], B[a, a] = u[a], 1.0
            continue
        e_a = (z[a] - u[a]) / radius if radius > 0.0 else 0.0
        gap[a] = z[a] - limit * e_a
        for b in range(first, end):
            e_b = (z[b] - u[b]) / radius if radius > 0.0 else 0.0
            turn = share * ((1.0 if a == b else 0.0) - e_a * e_b)
            C[a, b] = (1.0 if a == b else 0.0) - turn
            B[a, b] = turn
        if slope > 0.0:
            C[a, 0], B[a, 0] = -slope * e_a, slope * e_a


@kernel(types.void(I64, VECTOR, VECTOR, F64, VECTOR, MATRIX, MATRIX), **WITHIN)
def law_equations(cone, z, u, mu, gap, C, B):
    """Evaluate one block with a cone or disc: its gap (m,) and C, B (m, m) with d gap = C dz + B du."""
    if cone == ASSOCIATED:
        cone_equations(z, u, mu, gap, C, B)
        return
    m = z.shape[0]
    for a in range(m):
        for b in range(m):
            C[a, b], B[a, b] = 0.0, 0.0
    if cone == DISC:
        disc_equations(0, m, mu, 0.0, z, u, gap, C, B)
        return
    y_n, first = z[0] - u[0], 1
    closed = y_n > 0.0
    gap[0] = u[0] if closed else z[0]
    C[0, 0], B[0, 0] = (0.0, 1.0) if closed else (1.0, 0.0)
    while first < m:
        end = disc_end(first, m) if cone == APART else m
        disc_equations(first, end, mu * max(y_n, 0.0), mu if closed else 0.0, z, u, gap, C, B)
        first = end


@kernel(F64(BLOCK_SETS, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX))
def set_equations(sets, z, u, gap, C, B):
    """Fill gap (n,) of all blocks at z, u (n,), and C and B block by block, row by row; returns the norm of gap."""
    total = 0.0
    for i in range(sets.mu.shape[0]):
        a, b = sets.first[i], sets.first[i + 1]
        m = b - a
        C_i, B_i = C[i, : m * m].reshape(m, m), B[i, : m * m].reshape(m, m)
        if sets.cone[i] == NO_CONE:
            interval_equations(sets, i, z[a:b], u[a:b], gap[a:b], C_i, B_i)
        else:
            law_equations(sets.cone[i], z[a:b], u[a:b], sets.mu[i], gap[a:b], C_i, B_i)
        for k in range(a, b):
            total += gap[k] ** 2
    return np.sqrt(total)


@kernel(types.void(MATRIX, VECTOR, F64, I64, VECTOR))
def one_block(A, q, mu, cone, x):
    """Make Newton steps on one block with a cone or disc, F = A x + q, from x (m,), which receives the best iterate."""
    m = q.shape[0]
    trace, best = 0.0, np.inf
    F, gap, step, trial = scratch(m), scratch(m), scratch(m), scratch(m)
    C, B, LU, pivots = scratch_matrix(m, m), scratch_matrix(m, m), scratch_matrix(m, m), scratch_indices(m)
    copy(x, trial)
    for a in range(m):
        trace += A[a, a]
    rho = m / trace if trace > 0.0 else 1.0
    for _ in range(LOCAL_STEPS):
        for a in range(m):
            F[a] = rho * q[a]
            for b in range(m):
                F[a] += rho * A[a, b] * trial[b]
        law_equations(cone, trial, F, mu, gap, C, B)
        error = 0.0
        for a in range(m):
            error += gap[a] ** 2
        if error < best:
            best = error
            for a in range(m):
                x[a] = trial[a]
        if not error > 0.0:
            return
        for a in range(m):
            for b in range(m):
                LU[a, b] = C[a, b]
                for c in range(m):
                    LU[a, b] += rho * B[a, c] * A[c, b]
        if lu_factor(LU, pivots) == 0:
            lu_solve(LU, pivots, gap, step)
            for a in range(m):
                trial[a] -= step[a]
        else:
            for a in range(m):
                trial[a] -= gap[a]
