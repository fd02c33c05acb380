"""Islands of nothing but equalities, as flexes and closed chains are: one linear system, redundant rows among it.

    M v = b + J^T (R x + s),     L u + N x + c = 0,     u = J v

The second line gets DAMPING w x more, w the mobilities of its rows as if velocities were not coupled, so that redundant
rows have factors; refinement on the system without it takes that back, as far as rounding lets it.
"""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from workbench.arrays import Array
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.sets import NO_CONE

DAMPING = 1e-13
"""Share of the mobilities, well above the rounding of a double."""
REFINEMENTS = 4
"""Solutions of the damped system in turn; the one with the least residual is the answer."""


def solve_equalities(p: ContactBlocks) -> Array | None:
    """The best x (X,) by the blocks' residuals; None where an unknown is bounded, or there are no factors."""
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
