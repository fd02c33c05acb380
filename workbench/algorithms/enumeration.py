"""Enumeration of the complementary bases: a reference for testing the other methods.

Every unknown is tried basic and at each of its finite bounds, 2^n bases for an LCP and up to 3^n for an MLCP with
bounds. A basis with a singular matrix is skipped, so that a solution on no regular basis is not found; for matrix
classes in which Lemke's method succeeds there is always one on a regular basis. If round-off excludes every basis, as
with redundant contacts whose velocities agree only up to the last digits, the point of the basis with the least
residual is returned if the problem's residual accepts it.

Source: R. W. Cottle, J.-S. Pang, R. E. Stone, The Linear Complementarity Problem (1992), section 1.3 (complementary
cones). Guarantee: finds a solution if one exists on a regular basis, for any M; INFEASIBLE means that no regular basis
has one. Cost: an LU factorisation per basis, hence at most `LARGEST` unknowns.
"""

import numpy as np
from numba import types

from workbench.algorithms.base import EXACT, KernelSolver, kernel_arguments
from workbench.algorithms.bases import SIGN_TOLERANCE, clip, infeasibilities, usable
from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, SOLVE, VECTOR, copy, set_all, solve_on_basis
from workbench.problems.classes import MLCP, Array, MatrixProblem
from workbench.problems.residual import bounded_residual
from workbench.problems.solution import Status
from workbench.support.errors import DataError

SOLVED = int(Status.SOLVED)
INFEASIBLE = int(Status.INFEASIBLE)
NOT_FINITE = int(Status.NOT_FINITE)
REFUSED = int(Status.REFUSED)

LARGEST = 12
"""Largest number of unknowns: 4 096 bases of an LCP, 531 441 of a box MLCP."""
AT_LOWER, AT_UPPER, BASIC, NONE_LEFT = 0, 1, 2, 3


@kernel(types.int64(types.float64, types.float64, types.int64))
def next_place(lower, upper, place):
    """Return the next state of an unknown after `place` (-1: the first) that its bounds admit."""
    if place < AT_LOWER and lower > -np.inf:
        return AT_LOWER
    if place < AT_UPPER and lower < upper < np.inf:
        return AT_UPPER
    if place < BASIC and lower < upper:
        return BASIC
    return NONE_LEFT


@kernel(types.boolean(VECTOR, VECTOR, INDICES))
def next_basis(lower, upper, places):
    """Advance places (n,) to the next basis in odometer order; False after the last one."""
    for i in range(places.shape[0]):
        places[i] = next_place(lower[i], upper[i], places[i])
        if places[i] != NONE_LEFT:
            return True
        places[i] = next_place(lower[i], upper[i], -1)
    return False


@kernel(types.boolean(MATRIX, VECTOR, VECTOR, VECTOR, types.float64, INDICES, VECTOR))
def basis_solves(M, q, lower, upper, tolerance, places, z):
    """Compute the point z (n,) of a basis; returns whether the basis is regular and the point a solution."""
    n = M.shape[0]
    active, side = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for i in range(n):
        active[i] = 1 if places[i] == BASIC else 0
        z[i] = lower[i] if places[i] == AT_LOWER else upper[i] if places[i] == AT_UPPER else 0.0
    if solve_on_basis(M, q, z, active, True) or infeasibilities(M, q, lower, upper, tolerance, z, active, side):
        return False
    clip(lower, upper, z)
    return True


@kernel(types.float64(MATRIX, VECTOR, VECTOR, VECTOR, INDICES, VECTOR))
def basis_residual(M, q, lower, upper, places, z):
    """Return the residual of the point z (n,) of a basis, clipped to its bounds; inf for a singular basis."""
    n = M.shape[0]
    active = np.empty(n, dtype=np.int64)
    for i in range(n):
        active[i] = 1 if places[i] == BASIC else 0
        z[i] = lower[i] if places[i] == AT_LOWER else upper[i] if places[i] == AT_UPPER else 0.0
    if solve_on_basis(M, q, z, active, True):
        return np.inf
    clip(lower, upper, z)
    return bounded_residual(M, q, lower, upper, z)


@kernel(types.float64(MATRIX, VECTOR, VECTOR, VECTOR, VECTOR))
def least_residual(M, q, lower, upper, best):
    """Return the least residual among the points of all bases, and store that point in `best` (n,)."""
    n = M.shape[0]
    places, z, least, more = np.empty(n, dtype=np.int64), np.empty(n), np.inf, True
    for i in range(n):
        places[i] = next_place(lower[i], upper[i], -1)
    while more:
        found = basis_residual(M, q, lower, upper, places, z)
        if found < least:
            least = found
            copy(z, best)
        more = next_basis(lower, upper, places)
    return least


@kernel(SOLVE)
def enumerate_kernel(M, q, lower, upper, mu, d, z, info):
    """Enumerate bases (see the module); info[0] counts them. z is nan unless a solution is found."""
    n = M.shape[0]
    info[0] = 0
    set_all(np.nan, z)
    if n > LARGEST:
        return REFUSED
    if not usable(M, q, lower, upper):
        return NOT_FINITE
    places = np.empty(n, dtype=np.int64)
    for i in range(n):
        places[i] = next_place(lower[i], upper[i], -1)
    more = True
    while more:
        info[0] += 1
        if basis_solves(M, q, lower, upper, SIGN_TOLERANCE, places, z):
            return SOLVED
        more = next_basis(lower, upper, places)
    if least_residual(M, q, lower, upper, z) <= EXACT:
        return SOLVED
    set_all(np.nan, z)
    return INFEASIBLE


def _objection(problem: MatrixProblem) -> str | None:
    if problem.size > LARGEST:
        return f"enumerate tries every basis and takes at most {LARGEST} unknowns; this problem has n = {problem.size}"
    return None


def all_solutions(problem: MLCP, tolerance: float = 1e-9) -> list[Array]:
    """Return all distinct solutions z (n,) of an LCP or MLCP on regular bases, in the order of the bases.

    Isolated solutions on regular bases are complete; of a solution set with a positive dimension only corners are
    listed. `tolerance` is the allowed relative sign error of a solution, and the distance relative to |z|_2 within
    which two solutions count as one. Raises DataError for more than `LARGEST` unknowns.
    """
    reason = _objection(problem)
    if reason:
        raise DataError(reason)
    M, q, lower, upper, _, _ = kernel_arguments(problem)
    if not usable(M, q, lower, upper):
        raise DataError("a lower bound of inf or an upper one of -inf leaves no finite value")
    places = np.array([next_place(lo, up, -1) for lo, up in zip(lower, upper, strict=True)], dtype=np.int64)
    found: list[Array] = []
    z = np.empty(problem.size)
    more = True
    while more:
        if basis_solves(M, q, lower, upper, tolerance, places, z) and not any(
            np.linalg.norm(z - other) <= tolerance * np.linalg.norm(other) for other in found
        ):
            found.append(z.copy())
        more = next_basis(lower, upper, places)
    return found


SOLVER = KernelSolver(
    name="enumerate",
    kernel=enumerate_kernel,
    solves=frozenset({"LCP", "MLCP"}),
    guaranteed_for=f"every matrix for which a solution lies on a regular basis, n <= {LARGEST}",
    source="Cottle, Pang & Stone 1992, section 1.3",
    objection=_objection,
)
