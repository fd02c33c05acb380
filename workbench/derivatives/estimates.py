"""Adjoints of the estimate p of the normal impulses, p_n of the step without friction (`language.estimate`).

With [v, p_b] = K^-1 [b + J_n^T p, -b_b], its normal velocities are F = J_n v + b_n + eps_n p. Of their adjoint a, with
[u, y] = K^-T [J_n^T a, 0],

    a . dF = a . (dJ_n v + db_n + deps_n p) + u . (db + dJ_n^T p - dM v + dJ_b^T p_b) - y . (db_b + dJ_b v + deps_b p_b)
"""

import numpy as np
from numba import types

from workbench.derivatives.elimination import lu_solve_transposed
from workbench.derivatives.linearised import due_to_regular_law, linearise_there
from workbench.derivatives.sensitivity import sensitivity_of
from workbench.derivatives.sweep import CLEAR, LEAST
from workbench.derivatives.system import SYSTEM, System
from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR, copy, lu_solve, set_all
from workbench.engine.scratch import scratch
from workbench.language.estimate import factorise_inertia, frictionless_problem
from workbench.mechanics.core import CORE, Core
from workbench.problems.classes import LCP


@kernel(types.boolean(CORE, SYSTEM, CORE))
def is_taken_back(core, s, due):
    """Add to the adjoints `due` of a core's numbers what the estimate makes of theirs; return False where its modes do
    not hold clearly, or contacts are redundant. The system has the estimate's LCP."""
    r = core.mu.shape[0]
    found = scratch(4 * r + r * r)
    # Without a frictionless step there is no step either: no friction bears on an estimate of zero.
    frictionless_problem(core, s.A, s.q)
    copy(core.p_bar, s.x)
    set_all(0.0, s.lower)
    set_all(np.inf, s.upper)
    Y, rank, between, margin = linearise_there(s, LEAST)
    if rank < Y or between > 0 or not margin > CLEAR:
        return False
    due_to_regular_law(s, Y, due.p_bar, found)
    take_velocities_back(core, found[:r], due)
    return True


@kernel(types.void(CORE, VECTOR, CORE))
def take_velocities_back(core, a, due):
    """Add to the adjoints `due` of a core's numbers what is due to the adjoint a (r,) of the normal velocities."""
    n, m, r, p = core.v.shape[0], core.g.shape[0], a.shape[0], core.p_bar
    K, pivots = np.empty((n + m, n + m)), np.empty(n + m, dtype=np.int64)
    right, across, w, u = np.zeros(n + m), np.zeros(n + m), np.empty(n + m), np.empty(n + m)
    factorise_inertia(core, K, pivots)
    for j in range(n):
        right[j] = core.b[j]
        for i in range(r):
            right[j] += core.J_n[i, j] * p[i]
            across[j] += core.J_n[i, j] * a[i]
    for i in range(m):
        right[n + i] = -core.b_b[i]
    lu_solve(K, pivots, right, w)
    lu_solve_transposed(K, pivots, across, u)
    for j in range(n):
        due.b[j] += u[j]
        for i in range(n):
            due.M[i, j] -= u[i] * w[j]
        for i in range(r):
            due.J_n[i, j] += a[i] * w[j] + p[i] * u[j]
        for i in range(m):
            due.J_b[i, j] += w[n + i] * u[j] - u[n + i] * w[j]
    for i in range(r):
        due.b_n[i] += a[i]
        due.eps_n[i] += a[i] * p[i]
    for i in range(m):
        due.b_b[i] -= u[n + i]
        due.eps_b[i] -= u[n + i] * w[n + i]


def take_back(core: Core, s: System, due: Core, limiting: bool) -> None:
    """`is_taken_back` for all estimates, one-sided between two modes where `limiting`. Raises DataError where the
    estimate has no gradient."""
    if not due.p_bar.any() or is_taken_back(core, s, due):
        return
    found = sensitivity_of(LCP(s.A.copy(), s.q.copy()), core.p_bar).gradient(due.p_bar, limiting)
    take_velocities_back(core, np.ascontiguousarray(found.q), due)
