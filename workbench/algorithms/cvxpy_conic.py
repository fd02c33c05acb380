"""Any installed CVXPY solver, as "cvxpy:NAME", on the scaled QP of `quadratic`.

The objective is stated with a factor, |F^T y|^2 / 2 + c^T y, never with `quad_form`: the rounded eigenvalues of a
rank-deficient matrix would make CVXPY reject it as nonconvex. Each structure (bounded unknowns, contacts, directions)
is canonicalised once, with F, c and the bounds as parameters, and solved again with new numbers (Agrawal et al. 2019,
Differentiable convex optimization layers, on disciplined parametrised programming).
"""

import warnings
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.algorithms import base, quadratic
from workbench.algorithms.quadratic import ScaledQP, SolverOutcome
from workbench.problems.classes import ConeProblem, MatrixProblem
from workbench.problems.solution import Solution, Status
from workbench.support.errors import UnknownNameError, WorkbenchError

if TYPE_CHECKING:
    import cvxpy as cp

PREFIX = "cvxpy:"

_OPTIONS: dict[str, dict[str, Any]] = {
    "CLARABEL": {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-9},
    "SCS": {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iters": 100_000},
    "OSQP": {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iter": 100_000},
    "ECOS": {"abstol": 1e-12, "reltol": 1e-12, "feastol": 1e-9},
}
_STOPS = {
    "CLARABEL": ("tol_gap_abs", "tol_gap_rel"), "SCS": ("eps_abs", "eps_rel"), "OSQP": ("eps_abs", "eps_rel"),
    "ECOS": ("abstol", "reltol"),
}  # fmt: skip
_MOST = {"CLARABEL": "max_iter", "SCS": "max_iters", "OSQP": "max_iter", "ECOS": "max_iters"}
"""Names of the solvers' options for the iteration limit."""
"""Options for solvers whose defaults leave natural-map residuals above `base.GENERIC`; others keep theirs."""

_STATUS = {
    "optimal": (Status.SOLVED, ""),
    "infeasible": (Status.INFEASIBLE, "the solver found the constraints to be infeasible"),
    "unbounded": (Status.INFEASIBLE, quadratic.NO_POINT),
    "infeasible_or_unbounded": (Status.INFEASIBLE, quadratic.NO_POINT),
    "user_limit": (Status.ITERATION_LIMIT, Status.ITERATION_LIMIT.meaning),
}
"""All other outcomes of CVXPY mean that the solver stopped short of its tolerance."""


@dataclass(frozen=True)
class _Programme:
    """One canonicalised structure: the CVXPY problem, its unknowns y (n,), and the parameters to fill in."""

    problem: "cp.Problem"
    y: "cp.Variable"
    F_T: "cp.Parameter"
    c: "cp.Parameter"
    lower: "cp.Parameter"
    upper: "cp.Parameter"


# CVXPY keeps the canonical form of a problem for one solver at a time, hence `name` in the key.
@lru_cache(maxsize=32)
def _programme(name: str, unbounded_below: bytes, unbounded_above: bytes, r: int, d: int) -> _Programme:
    import cvxpy as cp

    below = np.flatnonzero(~np.frombuffer(unbounded_below, dtype=bool))
    above = np.flatnonzero(~np.frombuffer(unbounded_above, dtype=bool))
    n = len(unbounded_below)
    y, F_T, c = cp.Variable(n), cp.Parameter((n, n)), cp.Parameter(n)
    lower, upper = cp.Parameter(below.size), cp.Parameter(above.size)
    constraints = []
    if below.size:
        constraints.append(y[below] >= lower)
    if above.size:
        constraints.append(y[above] <= upper)
    if d == 1:
        # In the plane the cone is a pair of half-planes, which plain QP solvers accept.
        constraints += [y[:r] + y[r:] >= 0, y[:r] - y[r:] >= 0]
    elif r:
        constraints.append(cp.SOC(y[:r], cp.reshape(y[r:], (d, r), order="F")))
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(F_T @ y) + c @ y), constraints)
    return _Programme(problem, y, F_T, c, lower, upper)


def _minimise(name: str, qp: ScaledQP, options: dict[str, Any]) -> SolverOutcome:
    below, above = np.isinf(qp.lower), np.isinf(qp.upper)
    programme = _programme(name, below.tobytes(), above.tobytes(), qp.r, qp.d)
    programme.F_T.value, programme.c.value = qp.factor().T, qp.c
    # Setting a parameter takes CVXPY 20 us, even for an empty one.
    if not below.all():
        programme.lower.value = qp.lower[~below]
    if not above.all():
        programme.upper.value = qp.upper[~above]
    with warnings.catch_warnings():
        # CVXPY warns of inaccurate solutions; the status reports them already.
        warnings.simplefilter("ignore")
        # With a warm start, a solution could depend on the problems solved before it.
        programme.problem.solve(solver=name, warm_start=False, enforce_dpp=True, **options)
    word, y = programme.problem.status, programme.y.value
    status, reason = _STATUS.get(word, (Status.INACCURATE, f"{name} ended with {word}"))
    return SolverOutcome(y, status, programme.problem.solver_stats.num_iters or 0, reason)


@dataclass(frozen=True)
class CvxpySolver:
    """A solver called through CVXPY; make one with `cvxpy_solver`.

    `quadratic_objective` and `second_order_cones` are the capabilities of the solver according to CVXPY.
    """

    name: str
    quadratic_objective: bool
    second_order_cones: bool
    guaranteed_for: str = quadratic.PROMISE
    tolerance: float = base.GENERIC
    source: str = "Diamond & Boyd 2016, CVXPY: a Python-embedded modeling language for convex optimization"
    own: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def solves(self) -> frozenset[str]:
        return quadratic.CONVEX_KINDS if self.quadratic_objective else frozenset()

    def why_not(self, problem: MatrixProblem) -> str | None:
        if not self.quadratic_objective:
            return f"{self.name} minimises no quadratic objectives under CVXPY"
        if not self.second_order_cones and isinstance(problem, ConeProblem) and problem.d == 2:
            return f"{self.name} has no second-order cones, which friction with two tangential directions needs"
        return quadratic.why_not_convex(problem)

    def adjusted(self, tolerance: float | None, max_iterations: int | None) -> "CvxpySolver":
        """Return the solver with other termination options; raises WorkbenchError if it has none.

        The options are a gap or error, and an iteration limit.
        """
        key = self.name.removeprefix(PREFIX)
        if key not in _OPTIONS:
            raise WorkbenchError(
                f"{self.name}: tolerance and iterations are known of {', '.join(_OPTIONS)} under CVXPY"
            )
        own = dict(_OPTIONS[key]) | self.own
        if tolerance is not None:
            own |= dict.fromkeys(_STOPS[key], tolerance)
        if max_iterations is not None:
            own[_MOST[key]] = max_iterations
        return replace(self, own=own)

    def solve(self, problem: MatrixProblem) -> Solution:
        """Solve one problem (no batch axes); see `base.Solver`."""
        key = self.name.removeprefix(PREFIX)
        options = self.own or _OPTIONS.get(key, {})
        return quadratic.solve_scaled(self, problem, lambda qp: _minimise(key, qp, options), not self.own)


def cvxpy_solver(name: str) -> CvxpySolver:
    """Return the Solver "cvxpy:NAME"; `name` in any case, with or without the prefix.

    Raises UnknownNameError, with the installed ones, for a solver that CVXPY does not know or find.
    """
    import cvxpy as cp
    from cvxpy.reductions.solvers.defines import SOLVER_MAP_CONIC, SOLVER_MAP_QP

    key = name.upper().removeprefix(PREFIX.upper())
    if key not in cp.installed_solvers():
        raise UnknownNameError("CVXPY solver", name, sorted(cp.installed_solvers()))
    conic = SOLVER_MAP_CONIC.get(key)
    cones = conic is not None and cp.SOC in conic.SUPPORTED_CONSTRAINTS
    # CVXPY turns squares into cones for a conic solver without a quadratic objective.
    squares = key in SOLVER_MAP_QP or cones or (conic is not None and conic.supports_quad_obj())
    return CvxpySolver(PREFIX + key, squares, cones)
