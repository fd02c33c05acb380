"""The equations of a block's law that Newton's method solves, whatever the law, and such steps on one block alone.

With y = z - rho u they are, for cones with torsion and rolling bounded apart and for discs of given radius,

    apart   z_n = max(y_n, 0),   sliding, torsion, rolling: the projection of each y on the disc of mu max(y_n, 0)
    disc    z = the projection of y on the disc of its radius

as Alart and Curnier's equations are for one disc; those of other cones are in `sparse_contacts`. Sources: Alart &
Curnier 1991; Tasora & Anitescu 2013, Meccanica 48 (rolling and spinning friction, each with a limit of its own).
"""

import numpy as np
from numba import types

from workbench.algorithms.sparse_contacts import alart_curnier, natural_blocks
from workbench.engine.compiling import kernel
from workbench.engine.kernels import MATRIX, VECTOR, copy, lu_factor, lu_solve
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix
from workbench.problems.residual import disc_end
from workbench.problems.sets import APART, ASSOCIATED, DISC

I64, F64 = types.int64, types.float64
LOCAL_STEPS = 15
"""Newton steps on a block that is not solved in closed form."""


@kernel(types.void(I64, I64, F64, F64, VECTOR, VECTOR, F64, VECTOR, MATRIX, MATRIX))
def disc_equations(first, end, limit, slope, z, u, rho, gap, C, B):
    """The rows first : end in a disc of radius `limit`, which grows by `slope` with y_0; C, B hold zeros so far."""
    radius = 0.0
    for a in range(first, end):
        radius += (z[a] - rho * u[a]) ** 2
    radius = np.sqrt(radius)
    sticks = limit > 0.0 and radius <= limit
    share = limit / radius if radius > 0.0 else 0.0
    for a in range(first, end):
        if sticks:
            gap[a], B[a, a] = rho * u[a], rho
            continue
        e_a = (z[a] - rho * u[a]) / radius if radius > 0.0 else 0.0
        gap[a] = z[a] - limit * e_a
        for b in range(first, end):
            e_b = (z[b] - rho * u[b]) / radius if radius > 0.0 else 0.0
            turn = share * ((1.0 if a == b else 0.0) - e_a * e_b)
            C[a, b] = (1.0 if a == b else 0.0) - turn
            B[a, b] = rho * turn
        if slope > 0.0:
            C[a, 0], B[a, 0] = -slope * e_a, slope * rho * e_a


@kernel(types.void(VECTOR, VECTOR, F64, F64, VECTOR, MATRIX, MATRIX))
def apart_equations(z, u, mu, rho, gap, C, B):
    """One contact, m rows, normal first; C, B hold zeros so far."""
    y_n, first = z[0] - rho * u[0], 1
    closed = y_n > 0.0
    gap[0] = rho * u[0] if closed else z[0]
    C[0, 0], B[0, 0] = (0.0, rho) if closed else (1.0, 0.0)
    while first < z.shape[0]:
        end = disc_end(first, z.shape[0])
        disc_equations(first, end, mu * max(y_n, 0.0), mu if closed else 0.0, z, u, rho, gap, C, B)
        first = end


@kernel(types.void(I64, VECTOR, VECTOR, F64, F64, VECTOR, MATRIX, MATRIX))
def law_equations(cone, z, u, mu, rho, gap, C, B):
    """One block with a cone or disc: the gap (m,) and C, B (m, m) with d gap = C dz + B du."""
    if cone == ASSOCIATED:
        natural_blocks(z, u, mu, rho, gap, C, B)
        return
    if cone not in (APART, DISC):
        alart_curnier(z, u, mu, rho, gap, C, B)
        return
    for a in range(z.shape[0]):
        for b in range(z.shape[0]):
            C[a, b], B[a, b] = 0.0, 0.0
    if cone == APART:
        apart_equations(z, u, mu, rho, gap, C, B)
    else:
        disc_equations(0, z.shape[0], mu, 0.0, z, u, rho, gap, C, B)


@kernel(types.void(MATRIX, VECTOR, F64, I64, VECTOR))
def one_block(A, q, mu, cone, x):
    """Newton steps on one block with a cone or disc, F = A x + q, from x (m,); the best of them stays in x."""
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
            F[a] = q[a]
            for b in range(m):
                F[a] += A[a, b] * trial[b]
        law_equations(cone, trial, F, mu, rho, gap, C, B)
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
                    LU[a, b] += B[a, c] * A[c, b]
        if lu_factor(LU, pivots) == 0:
            lu_solve(LU, pivots, gap, step)
            for a in range(m):
                trial[a] -= step[a]
        else:
            for a in range(m):
                trial[a] -= gap[a]
