"""Clarabel (Goulart & Chen 2024), an interior-point method for conic QPs, called through its own interface.

One contact costs about 0.2 ms, a fifth of the time through CVXPY, so it can run at every step of a simulation.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import clarabel
import numpy as np

from workbench.algorithms import base, quadratic
from workbench.algorithms.quadratic import ScaledQP, SolverOutcome
from workbench.problems.classes import Array, MatrixProblem
from workbench.problems.solution import Solution, Status

GAP_TOLERANCE = 1e-13
"""Requested duality gap in the scaled problem. Without strict complementarity (a contact about to slip or to open) the
natural map decreases only with the square root of the gap: 1e-13 gives 4e-7, the default 1e-8 gives 6e-5."""

FEASIBILITY_TOLERANCE = 1e-9
"""Requested relative primal and dual infeasibility; smaller values are often out of reach if W is rank deficient."""

ACCEPTED = 1e-8
"""Clarabel's own default for all three. If round-off ends the iteration before the tighter ones hold, meeting this one
still counts as solved ("AlmostSolved")."""

_STATUS = {
    "Solved": (Status.SOLVED, ""),
    "AlmostSolved": (Status.SOLVED, ""),
    "PrimalInfeasible": (Status.INFEASIBLE, "Clarabel found the constraints to be infeasible"),
    "DualInfeasible": (Status.INFEASIBLE, quadratic.NO_POINT),
    "MaxIterations": (Status.ITERATION_LIMIT, Status.ITERATION_LIMIT.meaning),
    "MaxTime": (Status.ITERATION_LIMIT, "Clarabel reached its time limit"),
}
"""All other outcomes of Clarabel mean that it stopped short of its tolerance."""


@lru_cache(maxsize=256)
def _structure(unbounded_below: bytes, unbounded_above: bytes, r: int, d: int) -> tuple:
    """Return the parts without numbers: (row and column of P's upper triangle, its index pointer, A, cones).

    The constraints are A y + s = b with s in the cones, rows ordered as: lower bounds, upper bounds, contacts.
    """
    from scipy import sparse

    below, above = np.frombuffer(unbounded_below, dtype=bool), np.frombuffer(unbounded_above, dtype=bool)
    n = below.size
    eye = np.eye(n)
    column, row = np.tril_indices(n)  # column-major upper triangle
    pointer = np.concatenate([[0], np.cumsum(np.arange(1, n + 1))])
    blocks, cones = [-eye[~below], eye[~above]], []
    bounded = int((~below).sum() + (~above).sum())
    if bounded:
        cones.append(clarabel.NonnegativeConeT(bounded))
    for i in range(r):
        y_n, y_t = eye[i], eye[r + d * i : r + d * (i + 1)]
        # In the plane the cone is a pair of half-planes, which needs fewer iterations than a Lorentz cone.
        blocks.append(np.vstack([-(y_n + y_t), -(y_n - y_t)]) if d == 1 else -np.vstack([y_n, y_t]))
        cones.append(clarabel.NonnegativeConeT(2) if d == 1 else clarabel.SecondOrderConeT(1 + d))
    return row, column, pointer, sparse.csc_matrix(np.vstack(blocks)), cones


@lru_cache(maxsize=8)
def _settings(gap: float, most: int | None) -> clarabel.DefaultSettings:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    if most:
        settings.max_iter = most
    settings.tol_gap_abs = settings.tol_gap_rel = gap
    settings.tol_feas = FEASIBILITY_TOLERANCE
    settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = settings.reduced_tol_feas = ACCEPTED
    settings.reduced_tol_ktratio = settings.tol_ktratio
    return settings


def _minimise(qp: ScaledQP, settings: clarabel.DefaultSettings) -> SolverOutcome:
    from scipy import sparse

    below, above = np.isinf(qp.lower), np.isinf(qp.upper)
    row, column, pointer, A, cones = _structure(below.tobytes(), above.tobytes(), qp.r, qp.d)
    P = sparse.csc_matrix((qp.P[row, column], row, pointer), shape=qp.P.shape)
    b = np.zeros(A.shape[0])
    bounds: Array = np.concatenate([-qp.lower[~below], qp.upper[~above]])
    b[: bounds.size] = bounds
    answer = clarabel.DefaultSolver(P, qp.c, A, b, cones, settings).solve()
    word = str(answer.status)
    status, reason = _STATUS.get(word, (Status.INACCURATE, f"Clarabel ended with {word}"))
    y = None if status is Status.INFEASIBLE else np.array(answer.x)
    return SolverOutcome(y, status, answer.iterations, reason)


@dataclass(frozen=True)
class ClarabelDirect:
    """Clarabel without CVXPY, for symmetric positive semidefinite LCP, box MLCP and conic QP."""

    name: str = "clarabel"
    solves: frozenset[str] = quadratic.CONVEX_KINDS
    guaranteed_for: str = quadratic.PROMISE
    tolerance: float = base.GENERIC
    source: str = "Goulart & Chen 2024, Clarabel: an interior-point solver for conic programs with quadratic objectives"
    gap: float = GAP_TOLERANCE
    most: int | None = None

    def adjusted(self, tolerance: float | None, max_iterations: int | None) -> "ClarabelDirect":
        """Return the solver with another duality gap for termination, and another iteration limit."""
        return replace(self, gap=tolerance or self.gap, most=max_iterations or self.most)

    def why_not(self, problem: MatrixProblem) -> str | None:
        return quadratic.why_not_convex(problem)

    def solve(self, problem: MatrixProblem) -> Solution:
        """Solve one problem (no batch axes); see `base.Solver`."""
        usual = (self.gap, self.most) == (GAP_TOLERANCE, None)
        return quadratic.solve_scaled(self, problem, lambda qp: _minimise(qp, _settings(self.gap, self.most)), usual)


SOLVER = ClarabelDirect()
