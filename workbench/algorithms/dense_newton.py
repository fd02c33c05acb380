"""Semismooth Newton with dense factors on the natural map of the Coulomb NCP and the CCP, damped where it must be.

Sources: Acary, Bremond & Huber 2018; Levenberg-Marquardt damping where redundant contacts make the matrix singular.
"""

import numpy as np
from numba import types

from workbench.algorithms.one_contact import natural_map, project
from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR, affine, copy, lu_factor, lu_solve, set_all
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix

ENOUGH = 2e-15
"""Relative size of the natural map at which Newton's method stops: below it there is only round-off to gain."""
NEWTON_STEPS = 20


@kernel(types.void(MATRIX, VECTOR, VECTOR, types.int64, types.boolean, VECTOR, MATRIX))
def natural_map_jacobian(W, q, mu, d, associated, z, A):
    """An element A (n, n) of the generalised Jacobian of the natural map at z: I - DP (I - rho D(u + shift))."""
    n, r = q.shape[0], mu.shape[0]
    u = scratch(n)
    affine(W, q, z, u)
    trace = 0.0
    for i in range(n):
        trace += W[i, i]
    rho = n / trace if trace > 0.0 else 1.0
    # A first takes I - rho D(u + shift), then, block row by block row, I - DP A.
    for i in range(n):
        for j in range(n):
            A[i, j] = -rho * W[i, j]
        A[i, i] += 1.0
    y, P, old = scratch(1 + d), scratch_matrix(1 + d, 1 + d), scratch(1 + d)
    for i in range(r):
        first = r + d * i
        slip = 0.0
        for k in range(d):
            slip += u[first + k] ** 2
        slip = np.sqrt(slip)
        u_n = u[i]
        if not associated and slip > 0.0:
            u_n += mu[i] * slip
            for k in range(d):
                for j in range(n):
                    A[i, j] -= rho * mu[i] * u[first + k] / slip * W[first + k, j]
        y[0] = z[i] - rho * u_n
        for k in range(d):
            y[1 + k] = z[first + k] - rho * u[first + k]
        project(y, mu[i], P)
        for j in range(n):
            old[0] = A[i, j]
            for k in range(d):
                old[1 + k] = A[first + k, j]
            for k in range(1 + d):
                s = 0.0
                for m in range(1 + d):
                    s -= P[k, m] * old[m]
                A[i if k == 0 else first + k - 1, j] = s
    for i in range(n):
        A[i, i] += 1.0


@kernel(types.boolean(MATRIX, VECTOR, types.float64, VECTOR))
def _newton_direction(A, gap, damping, step):
    """step = -A^-1 gap, or with damping > 0 the Levenberg-Marquardt step; False where A is singular."""
    n = gap.shape[0]
    pivots, rhs = scratch_indices(n), scratch(n)
    LU = scratch_matrix(n, n)
    if damping == 0.0:
        for i in range(n):
            copy(A[i], LU[i])
            rhs[i] = -gap[i]
    else:
        for i in range(n):
            set_all(0.0, LU[i])
            rhs[i] = 0.0
            for k in range(n):
                rhs[i] -= A[k, i] * gap[k]
        for k in range(n):
            for i in range(n):
                if A[k, i] != 0.0:
                    for j in range(n):
                        LU[i, j] += A[k, i] * A[k, j]
        for i in range(n):
            LU[i, i] += damping
    if lu_factor(LU, pivots) != 0:
        return False
    lu_solve(LU, pivots, rhs, step)
    return True


@kernel(types.float64(VECTOR))
def norm(x):
    """|x|_2 of x (n,)."""
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] ** 2
    return np.sqrt(s)


@kernel(types.float64(MATRIX, VECTOR, VECTOR, types.int64, types.boolean, VECTOR, INDICES))
def newton(W, q, mu, d, associated, z, info):
    """Semismooth Newton with backtracking on |gap|_2 from z, in place, until it no longer falls. Returns the residual.

    A pure step is tried first. Where A is singular or its step useless, the damping ~ |gap|^2 of Levenberg-Marquardt
    keeps the convergence fast although the solutions of redundant contacts are not isolated; a strong one comes last.
    """
    n = q.shape[0]
    A = scratch_matrix(n, n)
    gap, ahead, step, trial = scratch(n), scratch(n), scratch(n), scratch(n)
    residual = natural_map(W, q, mu, d, associated, z, gap)
    for _ in range(NEWTON_STEPS):
        if residual <= ENOUGH:
            break
        natural_map_jacobian(W, q, mu, d, associated, z, A)
        info[0] += 1
        error = norm(gap)
        found = False
        for damping in (0.0, 1e-13 + 1e-3 * min(residual, 1.0) ** 2, 1e-12 + min(residual, 1.0)):
            if not _newton_direction(A, gap, damping, step):
                continue
            length = 1.0
            for _ in range(12):
                for i in range(n):
                    trial[i] = z[i] + length * step[i]
                reached = natural_map(W, q, mu, d, associated, trial, ahead)
                found = norm(ahead) < (1.0 - 1e-3 * length) * error
                if found:
                    break
                length *= 0.5
            if found:
                break
        if not found:
            break
        residual = reached
        copy(trial, z)
        copy(ahead, gap)
    return residual
