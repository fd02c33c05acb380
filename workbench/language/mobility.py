"""Contact mobility: the diagonal blocks of W = J M^-1 J^T, for formulations that scale their compliance by them."""

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import MATRIX, VECTOR, copy, lu_factor, lu_solve, set_all
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix
from workbench.mechanics.core import CORE


@kernel(types.void(CORE, MATRIX))
def mobilities(core, W):
    """Fill W (r, (1 + d)^2) [1/kg]: each contact's diagonal block J_i M^-1 J_i^T row by row, the normal first.

    NaN if M is singular. Bilateral rows are left out, as in engines that treat them as soft.
    """
    n, r = core.v.shape[0], core.mu.shape[0]
    d = core.J_t.shape[0] // r
    LU, pivots, x = scratch_matrix(n, n), scratch_indices(n), scratch(n)
    for i in range(n):
        copy(core.M[i], LU[i])
    if lu_factor(LU, pivots):
        for i in range(r):
            set_all(np.nan, W[i])
        return
    for i in range(r):
        for column in range(1 + d):
            lu_solve(LU, pivots, core.J_n[i] if column == 0 else core.J_t[d * i + column - 1], x)
            for row in range(1 + d):
                s = 0.0
                for j in range(n):
                    s += (core.J_n[i, j] if row == 0 else core.J_t[d * i + row - 1, j]) * x[j]
                W[i, row * (1 + d) + column] = s


@kernel(types.float64(VECTOR))
def mean_mobility(block):
    """Return |W_ii|_F / (1 + d) [1/kg] of a contact's block ((1 + d)^2,): its mean mobility (Drake's w)."""
    squares = 0.0
    for entry in block:
        squares += entry**2
    return np.sqrt(squares) / np.sqrt(block.shape[0])
