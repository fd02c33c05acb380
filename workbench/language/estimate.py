"""Estimates of a step's normal impulses, for formulations that bound friction by an estimate."""

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, SOLVE_T, VECTOR, copy, lu_factor, lu_solve, set_all
from workbench.mechanics.core import CORE
from workbench.problems.solution import Status

SINGULAR, SOLVED = int(Status.SINGULAR), int(Status.SOLVED)

NEGLIGIBLE = 1e-12
"""A contact whose impulse is below this share of the momentum M v + h f counts as open."""
UNIT_ROUND_OFF = 2.0**-52
"""Unit round-off of double precision."""


@kernel(types.boolean(CORE, MATRIX, INDICES))
def factorise_inertia(core, K, pivots):
    """Factorise K = [[M, -J_b^T], [J_b, eps_b]]; return whether it is singular."""
    n, m = core.v.shape[0], core.g.shape[0]
    for i in range(n):
        copy(core.M[i], K[i, :n])
    for i in range(m):
        set_all(0.0, K[n + i])
        K[n + i, n + i] = core.eps_b[i]
        for j in range(n):
            K[j, n + i], K[n + i, j] = -core.J_b[i, j], core.J_b[i, j]
    return lu_factor(K, pivots) != 0


@kernel(types.boolean(CORE, MATRIX, VECTOR))
def frictionless_problem(core, N, q):
    """Compute the LCP N p_n + q (r,) of the step without friction; return whether bilateral rows are redundant."""
    n, m, r = core.v.shape[0], core.g.shape[0], q.shape[0]
    K, pivots, rhs, x = np.empty((n + m, n + m)), np.empty(n + m, dtype=np.int64), np.zeros(n + m), np.empty(n + m)
    if factorise_inertia(core, K, pivots):
        return True
    for column in range(r + 1):
        free = column == r
        for j in range(n):
            rhs[j] = core.b[j] if free else core.J_n[column, j]
        for j in range(m):
            rhs[n + j] = -core.b_b[j] if free else 0.0
        lu_solve(K, pivots, rhs, x)
        for i in range(r):
            s = core.b_n[i] if free else core.eps_n[i] if i == column else 0.0
            for j in range(n):
                s += core.J_n[i, j] * x[j]
            if free:
                q[i] = s
            else:
                N[i, column] = s
    return False


@kernel(types.int64(CORE, SOLVE_T, VECTOR))
def frictionless_impulses(core, lcp, p_n):
    """Compute p_n (r,) [N s] of the step without friction, the estimate for new contacts; returns a Status."""
    r = p_n.shape[0]
    N, q = np.empty((r, r)), np.empty(r)
    if frictionless_problem(core, N, q):
        return SINGULAR
    lower, upper = np.zeros(r), np.full(r, np.inf)
    return lcp(N, q, lower, upper, np.empty(0), 2, p_n, np.zeros(1, dtype=np.int64))


@kernel(types.float64(CORE))
def momentum(core):
    """Return the largest entry of M v + h f [N s, N m s]."""
    largest = core.b_beyond
    for j in range(core.b.shape[0]):
        largest = max(largest, abs(core.b[j]))
    return largest


@kernel(types.boolean(CORE, VECTOR, types.boolean, types.float64, types.int64))
def is_new(core, memory, start, nothing, i):
    """Return whether contact i has no previous step, or was open in it and now closes faster than the stick threshold.

    A closed contact that carries no load is not new: its estimate is its zero impulse. If the estimate only starts an
    iteration (`start`), such a contact counts as new, because an iteration that starts without its friction may stay
    there.
    """
    if memory[i] > nothing:
        return False
    if start or np.isnan(memory[i]):
        return True
    approach = core.r_n[i]
    for j in range(core.v.shape[0]):
        approach += core.J_n[i, j] * core.v[j]
    return approach < -core.v_th


@kernel(types.void(CORE, VECTOR, types.boolean, SOLVE_T))
def normal_estimate(core, memory, start, lcp):
    """Fill core.p_bar (r,) [N s]: the last step's p_n, or the frictionless p_n where a contact is new (`is_new`)."""
    p_bar = core.p_bar
    r = p_bar.shape[0]
    nothing = NEGLIGIBLE * momentum(core)
    fresh = False
    for i in range(r):
        p_bar[i] = memory[i]
        fresh = fresh or is_new(core, memory, start, nothing, i)
    if fresh:
        estimate = np.zeros(r)
        # A body pinched between two others may have no frictionless step; new contacts then start from zero.
        if frictionless_impulses(core, lcp, estimate) != SOLVED:
            set_all(0.0, estimate)
        for i in range(r):
            if is_new(core, memory, start, nothing, i):
                p_bar[i] = estimate[i]


@kernel(types.boolean(CORE, types.float64, types.float64, types.float64))
def has_settled(core, change, size, settled):
    """Return whether the impulses, at most `size` [N s], have settled: they change by `change` between passes.

    If these contacts are a part of a larger system, the largest impulse of the whole system counts (`Core.p_beyond`).

    The change is allowed to be the share `settled` of the largest impulse, or the effect of round-off. Redundant
    contacts with a compliance share a load by W + eps, in which eps keeps eps_ii / W_ii of its digits; W = J_n M^-1
    J_n^T is computed with the diagonal of M.
    """
    lost = 0.0
    for i in range(core.eps_n.shape[0]):
        if core.eps_n[i] > 0.0:
            W = 0.0
            for j in range(core.v.shape[0]):
                W += core.J_n[i, j] ** 2 / core.M[j, j]
            lost = max(lost, W / core.eps_n[i])
    return change <= max(settled, UNIT_ROUND_OFF * lost) * max(size, core.p_beyond)


@kernel(types.boolean(VECTOR, VECTOR))
def are_equal(one, other):
    """Return whether all entries are the same: a pass repeats the one before."""
    same = True
    for i in range(one.shape[0]):
        same = same and one[i] == other[i]
    return same
