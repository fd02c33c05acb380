"""Block principal pivoting for LCPs and MLCPs with bounds.

All infeasible unknowns are exchanged at once, as long as this lowers the number of infeasibilities; after `PATIENCE`
block exchanges without a new minimum the method takes Murty's single exchanges of least index until there is one.
Bounds may be infinite; free unknowns are basic throughout, unknowns with equal bounds never.

Source: J. J. Júdice and F. M. Pires, Basic-set algorithm for a generalized linear complementarity problem, JOTA 74
(1992), and A block principal pivoting algorithm for large-scale strictly monotone linear complementarity problems,
Computers & Operations Research 21 (1994). Guarantee: finite for every q when M is a P-matrix. Outside that class a
block exchange into a singular basis is undone and single exchanges are tried instead. Cost: one LU factorisation of the
basic block per exchange, typically five to twenty whatever n.
"""

import numpy as np
from numba import types

from workbench.algorithms.base import KernelSolver
from workbench.algorithms.bases import SIGN_TOLERANCE, basis_of, clip, exchange, first_basis, infeasibilities, usable
from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, SOLVE, VECTOR, set_all, solve_on_basis
from workbench.engine.scratch import scratch, scratch_indices
from workbench.problems.solution import Status

SOLVED = int(Status.SOLVED)
ITERATION_LIMIT = int(Status.ITERATION_LIMIT)
SINGULAR = int(Status.SINGULAR)
NOT_FINITE = int(Status.NOT_FINITE)

PATIENCE = 10
"""Block exchanges allowed without a new minimum of the number of infeasibilities."""


@kernel(types.int64(MATRIX, VECTOR, VECTOR, VECTOR, types.float64, types.int64, types.boolean, VECTOR, INDICES))
def by_pivots(M, q, lower, upper, tolerance, most, warm, z, info):
    """Solve by exchanges, block or single (see the module), at most `most`; returns a Status. info[0] counts them.

    `tolerance` is the share of a row's activity up to which a wrong sign counts as round-off; `warm` starts from the
    basis of z (n,). The data must be `usable`.
    """
    n = M.shape[0]
    limit = info[0] + most
    active, side = scratch_indices(n), scratch_indices(n)
    last_z, last_active = scratch(n), scratch_indices(n)
    if warm:
        basis_of(lower, upper, z, active)
    else:
        first_basis(lower, upper, z, active)
    if solve_on_basis(M, q, z, active, True):
        return SINGULAR
    fewest, patience = n + 1, PATIENCE
    count = infeasibilities(M, q, lower, upper, tolerance, z, active, side)
    while count > 0:
        if info[0] >= limit:
            return ITERATION_LIMIT
        if count < fewest:
            fewest, patience = count, PATIENCE
        else:
            patience -= 1
        for i in range(n):
            last_z[i], last_active[i] = z[i], active[i]
        block = patience > 0
        for i in range(n):
            if side[i] != 0:
                exchange(lower, upper, z, active, side, i)
                if not block:
                    break
        info[0] += 1
        if solve_on_basis(M, q, z, active, True):
            if not block:
                return SINGULAR
            # With no patience left, the next pass is a single exchange from the last regular basis.
            for i in range(n):
                z[i], active[i] = last_z[i], last_active[i]
            patience = 0
        else:
            count = infeasibilities(M, q, lower, upper, tolerance, z, active, side)
    clip(lower, upper, z)
    return SOLVED


@kernel(SOLVE)
def judice_pires_kernel(M, q, lower, upper, mu, d, z, info):
    """Call `by_pivots` with the default tolerance, at most 1000 + 20 n exchanges."""
    info[0] = 0
    set_all(np.nan, z)
    if not usable(M, q, lower, upper):
        return NOT_FINITE
    return by_pivots(M, q, lower, upper, SIGN_TOLERANCE, 1000 + 20 * M.shape[0], False, z, info)


SOLVER = KernelSolver(
    name="judice-pires",
    kernel=judice_pires_kernel,
    solves=frozenset({"LCP", "MLCP"}),
    guaranteed_for="P-matrices",
    source="Júdice & Pires 1992, 1994",
)
