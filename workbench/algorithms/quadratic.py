"""Symmetric complementarity problems as convex quadratic programmes, scaled so that units do not matter.

With M symmetric positive semidefinite, both have the same solutions (the first are the KKT conditions of the second;
Cottle, Pang & Stone 1992, section 1.2, and for cones Anitescu & Tasora 2010):

    LCP, MLCP     l <= z <= u perp M z + q        min 1/2 z^T M z + q^T z  over  l <= z <= u
    conic QP      K contains z perp W z + q in K*     the same           over  mu z_n >= |z_t|, contact by contact

The solver works on y, with z = z_0 + S y, S diagonal, in which P = S M S has a diagonal near one, the gradient at y = 0
is of order one and every cone is the Lorentz cone y_n >= |y_t|. S_t = mu S_n absorbs the friction coefficient: with
mu = 0 the tangential impulse vanishes by itself and the cone keeps an interior.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.algorithms.base import Solver, refusal
from workbench.engine.timing import clock
from workbench.problems.classes import SYMMETRY_TOLERANCE, Array, ConeProblem, MatrixProblem, is_sparse, is_symmetric
from workbench.problems.islands import coupled_parts
from workbench.problems.sets import contact_of_row
from workbench.problems.solution import Solution, Status

CONVEX_KINDS = frozenset({"LCP", "MLCP", "conic QP"})
"""Kinds of problems that are quadratic programmes when their matrix is symmetric positive semidefinite."""

PROMISE = "symmetric positive semidefinite matrices, whenever a solution exists"

EIGENVALUE_TOLERANCE = SYMMETRY_TOLERANCE
"""An eigenvalue above minus this share of the largest counts as nonnegative: for a matrix symmetric only up to
SYMMETRY_TOLERANCE, such as a Delassus operator of redundant contacts, eigenvalues are not more accurate."""

NEGLIGIBLE_DIAGONAL = float(np.sqrt(np.finfo(float).eps))
"""Diagonal entries below this share of the largest do not set a scale: they are zeros of rank-deficient matrices."""

FAR = 1e6
"""A bound this many times farther away than the gradient alone would move y is left out at first: it is rarely active
(1e20 for infinity, say), and its size would dominate every stopping test. It is restored if it turns out to matter."""

NO_POINT = "the quadratic programme is unbounded below: no z in the set has M z + q in its dual"


@dataclass(frozen=True)
class ScaledQP:
    """min 1/2 y^T P y + c^T y over lower <= y <= upper, or over r Lorentz cones y_n >= |y_t|; z = origin + scale y.

    P (n, n), c, lower, upper, scale, origin (n,). With r > 0 the bounds are infinite and y = [y_n (r), y_t (d r)].
    `scale` and `origin` have the units of z; all else is dimensionless. Unknowns that cannot move (equal bounds,
    friction where mu = 0, contacts at rest) have zero scale, no bounds and unit cost, hence y = 0.
    """

    P: Array
    c: Array
    lower: Array
    upper: Array
    scale: Array
    origin: Array
    r: int
    d: int
    complete: bool
    """Whether all bounds of the problem are included."""

    def factor(self) -> Array:
        """Return F (n, n) with F F^T = P; negative eigenvalues, round-off by `why_not_convex`, are dropped."""
        w, V = np.linalg.eigh(self.P)
        return V * np.sqrt(np.maximum(w, 0.0))

    def original(self, y: Array) -> Array:
        """Return z (n,) in the problem's units; y is first clipped to its bounds, which solvers slightly violate."""
        return self.origin + self.scale * np.clip(y, self.lower, self.upper)


@dataclass(frozen=True)
class SolverOutcome:
    """Result of an external solver: y (n,), or None if it gave no point, and its outcome as a Status."""

    y: Array | None
    status: Status
    iterations: int = 0
    reason: str = ""


def why_not_convex(problem: MatrixProblem) -> str | None:
    """Return why the problem is not a convex QP, with the number that shows it, or None if it is one."""
    if problem.kind not in CONVEX_KINDS:
        return f"a convex QP is a problem of kind {', '.join(sorted(CONVEX_KINDS))}, not {problem.kind}"
    M = problem.M
    if is_sparse(M):
        return f"W is sparse with {problem.size} rows; interior-point and QP solvers get dense ones here"
    if not is_symmetric(M):
        size = np.abs(M).max()
        asymmetry = np.abs(M / size - M.T / size).max()
        return f"the matrix is not symmetric: |M - M^T|_max = {asymmetry:.3g} |M|_max"
    w = np.linalg.eigvalsh(M)
    largest = np.abs(w).max(initial=0.0)
    if w.min(initial=0.0) < -EIGENVALUE_TOLERANCE * largest:
        return f"the matrix is not positive semidefinite: smallest eigenvalue {w[0]:.3g}, largest {largest:.3g}"
    return None


def scaled(problem: MatrixProblem, leave_out_far: bool = True, guess: Array | None = None) -> ScaledQP:
    """Return the scaled QP of a problem that passes `why_not_convex`, without its far bounds or, if asked, with all.

    The gradient at y = 0 is of order one; with a guess z (n,), the contributions of z are instead.
    """
    n = problem.size
    if isinstance(problem, ConeProblem):
        r, d = problem.mu.shape[0], problem.d
        D = np.where(_at_rest(problem), 0.0, _cone_scale(np.diag(problem.M), problem.mu, d))
        lower, upper, origin = np.full(n, -np.inf), np.full(n, np.inf), np.zeros(n)
    else:
        r, d = 0, 0
        movable = problem.lower < problem.upper
        D = np.where(movable, _inverse_root(np.diag(problem.M)), 0.0)
        lower, upper = np.where(movable, problem.lower, -np.inf), np.where(movable, problem.upper, np.inf)
        origin = np.clip(0.0, problem.lower, problem.upper)
    fixed = D == 0.0
    gradient = D * (problem.M @ origin + problem.q)
    P = D[:, None] * problem.M * D
    # Only the symmetric part defines the objective; solvers that read one triangle would see a different one.
    P = 0.5 * (P + P.T)
    P[fixed, fixed] = 1.0
    stretch = np.where(fixed, 1.0, D)
    bounds = np.stack([lower - origin, upper - origin]) / stretch
    reach = np.where(np.isfinite(bounds), np.abs(bounds), 0.0)
    size = np.abs(gradient if guess is None else D * (problem.M @ guess)).max(initial=0.0) or 1.0
    far = reach / FAR > size
    if leave_out_far:
        bounds[far] = np.copysign(np.inf, bounds[far])
    elif far.any():
        size = reach.max()
    bounds /= size
    complete = not (leave_out_far and far.any())
    return ScaledQP(P, gradient / size, bounds[0], bounds[1], size * D, origin, r, d, complete)


def _inverse_root(diagonal: Array) -> Array:
    """Return 1 / sqrt(diagonal), with the largest entry in place of negligible ones."""
    largest = diagonal.max(initial=0.0)
    if not largest > 0.0:
        return np.ones_like(diagonal)
    return 1.0 / np.sqrt(np.where(diagonal > NEGLIGIBLE_DIAGONAL * largest, diagonal, largest))


def _at_rest(problem: ConeProblem) -> NDArray[np.bool_]:
    """(n,) mask of zero impulses: those of uncoupled parts in which all contacts open by q.

    Their q must not set the scale for the others, and they get no round-off from the others: the residual measures such
    a part relative to its own q, which can be arbitrarily small if a gap is about to close.
    """
    r, d = problem.mu.shape[0], problem.d
    contact, part = contact_of_row(r, d), np.empty(r, dtype=np.int64)
    coupled_parts(np.ascontiguousarray(problem.M), contact, part)
    pushed = problem.q[:r] < problem.mu * np.linalg.norm(problem.q[r:].reshape(r, d), axis=1)
    rests = ~np.isin(part, part[pushed])
    return np.concatenate([rests, np.repeat(rests, d)])


def _cone_scale(diagonal: Array, mu: Array, d: int) -> Array:
    """Return D = [D_n, mu D_n (d times)]; the largest diagonal entry of each contact's block of D W D is 1."""
    r = mu.shape[0]
    tangential = diagonal[r:].reshape(r, d).max(axis=1, initial=0.0)
    D_n = _inverse_root(np.maximum(diagonal[:r], mu**2 * tangential))
    return np.concatenate([D_n, np.repeat(mu * D_n, d)])


def solve_scaled(
    solver: Solver, problem: MatrixProblem, minimise: Callable[[ScaledQP], SolverOutcome], again: bool = True
) -> Solution:
    """Refuse, or scale the problem, let `minimise` solve it, and judge its point by the problem's own residual.

    A result above the solver's tolerance is solved `again` in its own units, unless a looser tolerance was requested.
    An exception in `minimise` becomes a Solution with status INACCURATE. The time is that of scaling and solving.
    """
    reason = solver.why_not(problem)
    if reason:
        return refusal(solver, problem, reason)
    start = clock()
    qp = scaled(problem)
    outcome, z = _attempt(solver, qp, minimise)
    if not (qp.complete or (outcome.status is Status.SOLVED and _within_bounds(problem, z))):
        outcome, z = _attempt(solver, scaled(problem, leave_out_far=False), minimise)
    residual, iterations = float(problem.residual(z)), outcome.iterations
    if again and outcome.status in (Status.SOLVED, Status.INACCURATE) and solver.tolerance < residual < np.inf:
        # A gradient that needs no response, such as that of a large gap, had set the scale.
        second, other = _attempt(solver, scaled(problem, leave_out_far=qp.complete, guess=z), minimise)
        iterations += second.iterations
        if (found := float(problem.residual(other))) < residual:
            outcome, z, residual = second, other, found
    elapsed = clock() - start
    return Solution(z, outcome.status, residual, solver.tolerance, iterations, elapsed, solver.name, outcome.reason)


def _attempt(
    solver: Solver, qp: ScaledQP, minimise: Callable[[ScaledQP], SolverOutcome]
) -> tuple[SolverOutcome, Array]:
    """Return the outcome of `minimise` on the scaled QP, and its point in the problem's units (nan if it has none)."""
    try:
        # With zero gradient y = 0 is optimal, and a relative stopping test has nothing to refer to.
        outcome = minimise(qp) if qp.c.any() else SolverOutcome(np.zeros_like(qp.c), Status.SOLVED)
    except Exception as error:  # foreign code: its exceptions are its own, and none may stop a comparison
        message = " ".join(str(error).split())
        outcome = SolverOutcome(
            None, Status.INACCURATE, reason=f"{solver.name} raised {type(error).__name__}: {message}"
        )
    return outcome, np.full(qp.c.shape, np.nan) if outcome.y is None else qp.original(outcome.y)


def _within_bounds(problem: MatrixProblem, z: Array) -> bool:
    return isinstance(problem, ConeProblem) or bool(np.all((problem.lower <= z) & (z <= problem.upper)))
