"""Projected Gauss-Seidel stopped after k sweeps: the result of engines that do not iterate to convergence.

A sweep visits the contacts in turn, the friction rows of each first and its normal row last (Box2D's order, so that
non-penetration is satisfied at the end). Each row gets the impulse that satisfies its own law, with all other impulses
fixed: rows later in the order have their impulses p_last from the previous sweep. With U the part of J M^-1 J^T that
belongs to later rows, a row sees the final velocity less the change that they cause, u+ - U (p - p_last). The whole
sweep is one problem with a triangular matrix, hence one solution,

    0 <= p_n  perp  (u+ - U (p - p_last))_n >= 0,       |p_t| <= mu p_n,last,  (u+ - U (p - p_last))_t = 0 between

The normal impulses of the previous sweep bound friction. The first sweep starts from the last step's impulses
(start=last, warm starting) or from zero.

The residual is that of one sweep, hence round-off after any number of sweeps: the comparison with Coulomb's law shows
how far the contacts are from convergence. Bilateral constraints hold exactly in every sweep, like joints in engines
with reduced coordinates; in other engines they are rows of the sweep too. Sweeps that converge give box friction with
iterated bounds. The result of a sweep depends on the order of the contacts, so this formulation is not local to them.
"""

from typing import Annotated, Literal

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import MATRIX, VECTOR, copy, lu_factor, lu_solve, set_all
from workbench.engine.lazy import cvxpy as cp
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import AGAIN, GIVEN, Axes
from workbench.language.modelling import Declaration, Hooks, box, complements, declare, equals, free, nonneg
from workbench.mechanics.core import AXES, CORE, in_axes, turn_axes
from workbench.support.errors import ModellingError

MOST = 50
"""Largest number of sweeps: the number of passes that a step may take unless a run allows more."""


@formulation(
    "gauss-seidel",
    friction="a separate bound for each friction component, by a few Gauss-Seidel sweeps",
    source="Cryer 1971, SIAM J. Control 9; Catto 2005, Iterative dynamics with temporal coherence",
    condition="a few sweeps are enough",
)
def gauss_seidel(
    s: ContactSymbols,
    sweeps: Annotated[int, f"number of sweeps over the contacts, from 1 to {MOST}"] = 10,
    start: Annotated[
        Literal["last", "zero"], "initial guess of the first sweep: the last step's impulses, or zero"
    ] = "last",
    axes: Axes = "fixed",
) -> Declaration:
    if not 1 <= sweeps <= MOST:
        raise ModellingError(f"sweeps={sweeps}; a number from 1 to {MOST} is needed")
    r, t = s.r, s.d * s.r
    U_nn, U_nt = cp.Parameter((r, r), name="U_nn"), cp.Parameter((r, t), name="U_nt")
    U_tn, U_tt = cp.Parameter((t, r), name="U_tn"), cp.Parameter((t, t), name="U_tt")
    c_n, c_t = cp.Parameter(r, name="c_n"), cp.Parameter(t, name="c_t")
    limit = cp.Parameter(t, nonneg=True, name="limit")
    v, p_n, p_t = free("v", s.n), nonneg("p_n", r), box("p_t", t, -limit, limit)
    return declare(
        equals(s.balance(v, p_n, p_t)),
        *s.bilateral(v),
        complements(s.un(v, p_n) - U_nn @ p_n - U_nt @ p_t + c_n, p_n),
        complements(s.ut(v, p_t) - U_tn @ p_n - U_tt @ p_t + c_t, p_t),
        recover=dict(v=v, p_n=p_n, p_t=p_t),
        hooks=Hooks(
            given,
            again,
            own=(U_nn, U_nt, U_tn, U_tt, c_n, c_t, limit),
            numbers=(float(sweeps), float(start == "last"), AXES[axes]),
            memory=r + t + 1,
        ),
    )


@kernel(types.void(CORE, MATRIX))
def delassus(core, W):
    """Compute W (R, R) of all rows [normal; tangent] under the bilateral constraints; NaN where these are singular."""
    n, m, r, R = core.v.shape[0], core.g.shape[0], core.mu.shape[0], W.shape[0]
    K, pivots = scratch_matrix(n + m, n + m), scratch_indices(n + m)
    rhs, x = scratch(n + m), scratch(n + m)
    for i in range(n + m):
        set_all(0.0, K[i])
    for i in range(n):
        for j in range(n):
            K[i, j] = core.M[i, j]
    for i in range(m):
        K[n + i, n + i] = core.eps_b[i]
        for j in range(n):
            K[j, n + i], K[n + i, j] = -core.J_b[i, j], core.J_b[i, j]
    singular = lu_factor(K, pivots)
    for column in range(R):
        set_all(0.0, rhs)
        for j in range(n):
            rhs[j] = core.J_n[column, j] if column < r else core.J_t[column - r, j]
        lu_solve(K, pivots, rhs, x)
        for row in range(R):
            s = 0.0
            for j in range(n):
                s += (core.J_n[row, j] if row < r else core.J_t[row - r, j]) * x[j]
            W[row, column] = np.nan if singular else s


@kernel(types.void(CORE, VECTOR, VECTOR))
def sweep_from(core, last, own):
    """Set own, as `gauss_seidel` lists it, for a sweep that starts from the impulses last = [p_n, p_t]."""
    r, t = core.mu.shape[0], core.b_t.shape[0]
    d, R = t // r, r + t
    W, turn = scratch_matrix(R, R), scratch_indices(R)
    delassus(core, W)
    for i in range(R):
        turn[i] = (1 + d) * i + d if i < r else (1 + d) * ((i - r) // d) + (i - r) % d
    # The four blocks of U are stored one after the other, each row by row, followed by c = U p_last and the bounds.
    start = 0
    set_all(0.0, own)
    for first_row, last_row in ((0, r), (r, R)):
        for first, beyond in ((0, r), (r, R)):
            for i in range(first_row, last_row):
                for j in range(first, beyond):
                    if turn[j] > turn[i]:
                        own[start] = W[i, j]
                        own[R * R + i] += W[i, j] * last[j]
                    start += 1
    for i in range(t):
        own[R * R + R + i] = core.mu[i // d] * last[i // d]


@kernel(GIVEN)
def given(core, memory, own, numbers):
    """Set up the first sweep: numbers = [sweeps, start, axes]; the last entry of the memory counts sweeps."""
    turn_axes(core, numbers[2])
    r, t = core.mu.shape[0], core.b_t.shape[0]
    last = scratch(r + t)
    set_all(0.0, last)
    if numbers[1] == 1.0 and not np.isnan(memory[0]):
        for i in range(r):
            last[i] = memory[i]
        for i in range(t):
            last[r + i] = in_axes(core, i, memory[r : r + t])
    memory[-1] = 0.0
    sweep_from(core, last, own)


@kernel(AGAIN)
def again(core, memory, own, numbers, v, p_n, p_t):
    """Start the next sweep, until the requested number is reached."""
    memory[-1] += 1.0
    if memory[-1] >= numbers[0]:
        return False
    r = p_n.shape[0]
    last = scratch(r + p_t.shape[0])
    copy(p_n, last[:r])
    copy(p_t, last[r:])
    sweep_from(core, last, own)
    return True
