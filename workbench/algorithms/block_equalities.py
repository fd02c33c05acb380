"""Islands with equalities only, such as flexes and closed chains: one linear system, possibly with redundant rows.

    M v = b + J^T (R x + s),     L u + N x + c = 0,     u = J v

DAMPING w x is added to the second line, w being the mobilities of the rows without coupling of velocities, so that
redundant rows can be factored; refinement on the undamped system removes its effect up to round-off.
"""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.sets import NO_CONE
from workbench.support.arrays import Array

DAMPING = 1e-13
"""Share of the mobilities, well above the round-off of a double."""
REFINEMENTS = 4
"""Number of solutions of the damped system in turn; the one with the least residual is returned."""


def solve_equalities(p: ContactBlocks) -> Array | None:
    """Return the best x (X,) by the blocks' residuals; None if an unknown is bounded or the system is singular."""
    if (p.cone != NO_CONE).any() or np.isfinite(p.lower).any() or np.isfinite(p.upper).any():
        return None
    n, (L, N, R) = p.b.size, p.whole
    W_diagonal = (L @ p.J).multiply((p.J.T @ R).T) @ (1.0 / p.M.diagonal()) + N.diagonal()
    K: Any = sparse.block_array([[p.M, -p.J.T @ R], [L @ p.J, N]], format="csc")
    damped = K + sparse.diags_array(np.append(np.zeros(n), DAMPING * np.abs(W_diagonal)))
    rhs = np.append(p.b + p.J.T @ p.s, -p.c)
    try:
        factors = splu(sparse.csc_array(damped))
    except RuntimeError:
        return None
    z, best, least = np.zeros(rhs.size), None, np.inf
    for _ in range(REFINEMENTS):
        z = z + factors.solve(rhs - K @ z)
        residual = p.block_residuals(z[n:]).max(initial=0.0)
        if residual < least:
            best, least = z[n:].copy(), residual
    return best
