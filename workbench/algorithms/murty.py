"""Single principal pivoting by least index (Murty; Bard-type), for LCPs and their version with bounds.

Every unknown is basic (its row holds as an equation) or at one of its bounds. While some unknown is infeasible, the one
of least index is exchanged: a basic one outside its bounds goes to the bound it crossed, one at a bound with w of the
wrong sign becomes basic; free unknowns are always basic.

Source: K. G. Murty, Note on a Bard-type scheme for solving the complementarity problem, Opsearch 11 (1974); bounds: J.
J. Júdice and F. M. Pires, Basic-set algorithm for a generalized linear complementarity problem, JOTA 74 (1992).
Guarantee: finite for every q when M is a P-matrix; the number of pivots can reach 2^n - 1 (Murty 1978). Cost: one LU
factorisation of the basic block per pivot, so that no error is carried from basis to basis.
"""

import numpy as np

from workbench.algorithms.base import KernelSolver
from workbench.algorithms.bases import SIGN_TOLERANCE, clip, exchange, first_basis, infeasibilities, usable
from workbench.engine.compiling import kernel
from workbench.engine.kernels import SOLVE, set_all, solve_on_basis
from workbench.problems.solution import Status

SOLVED = int(Status.SOLVED)
ITERATION_LIMIT = int(Status.ITERATION_LIMIT)
SINGULAR = int(Status.SINGULAR)
NOT_FINITE = int(Status.NOT_FINITE)


@kernel(SOLVE)
def murty_kernel(M, q, lower, upper, mu, d, z, info):
    """Solve an LCP or MLCP (see the module); info[0] counts pivots, at most 1000 + 20 n."""
    n = M.shape[0]
    info[0] = 0
    set_all(np.nan, z)
    if not usable(M, q, lower, upper):
        return NOT_FINITE
    active, side = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    first_basis(lower, upper, z, active)
    while True:
        if solve_on_basis(M, q, z, active, True):
            return SINGULAR
        if infeasibilities(M, q, lower, upper, SIGN_TOLERANCE, z, active, side) == 0:
            clip(lower, upper, z)
            return SOLVED
        if info[0] >= 1000 + 20 * n:
            return ITERATION_LIMIT
        least = 0
        while side[least] == 0:
            least += 1
        exchange(lower, upper, z, active, side, least)
        info[0] += 1


SOLVER = KernelSolver(
    name="murty",
    kernel=murty_kernel,
    solves=frozenset({"LCP", "MLCP"}),
    guaranteed_for="P-matrices (finite, possibly 2^n pivots)",
    source="Murty 1974; bounds: Júdice & Pires 1992",
)
