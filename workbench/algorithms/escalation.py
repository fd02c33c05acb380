"""Chains of methods: for each class of problem, the methods to try in turn until a solution is verified.

A solution is judged by the problem's own residual, whatever its method claims. If it fails, the next method of the
chain is tried, and finally a proof that there is no solution is searched for. The chain of an LCP or MLCP ends in
rational arithmetic, with the doubles as exact numbers: a vector y >= 0 with M^T y <= 0 and q . y < 0 shows that no
z >= 0 has M z + q >= 0; failing that, the tree over the complementary cones ends in a solution, or each of its branches
in such a proof. That takes exponential time in the number of unknowns at worst, so it has a limit. A problem with
friction cones may be proved to have no solution by a self-stress (`solutions.existence`).

Doubles are rounded: redundant contacts may require velocities that agree only up to the last digits. A problem that has
no solution exactly as given is therefore tried again with q raised by a share of its largest entry (`ROUNDED`); if the
result passes the residual of the given problem, it is a solution, and the reason mentions this.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from workbench.algorithms import ROUND_OFF, find_solver
from workbench.algorithms.base import EXACT, Solver, begun
from workbench.engine.timing import OutOfTimeError, clock
from workbench.matrices.linear_algebra.rationals import doubles, exact
from workbench.matrices.solutions.equivalent_lcp import EquivalentLCP, equivalent_lcp
from workbench.matrices.solutions.existence import LARGEST as LARGEST_FRICTION
from workbench.matrices.solutions.existence import existence, rational_friction
from workbench.matrices.solutions.solution_set import first_solution, infeasibility
from workbench.problems.bridges.dense import of_one_kind
from workbench.problems.classes import LCP, MLCP, Array, ConeProblem, equilibration, is_sparse
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.solution import Solution, Status
from workbench.support.errors import DataError, WorkbenchError

THEN = {
    "LCP": ("proximal", "enumerate"),
    "MLCP": ("enumerate",),
    "conic QP": ("apgd",),
    "Coulomb NCP": ("nsgs",),
}
"""For each class of problem, the methods to try in turn after its method to round-off (`algorithms.ROUND_OFF`). For an
MLCP, Lemke's method follows on the equivalent LCP."""
SECONDS, STEP_SECONDS = 10.0, 1.0
"""Time limits of exact arithmetic [s], for a single problem and for a step of a run."""
HOPELESS = 10
"""Consecutive steps unsolved by all methods of a chain after which a run uses its first method only."""
BESIDE = 1e8
"""Ratio of the velocities due to single impulses to those without impulses above which a solution is doubtful."""
LARGEST, LARGEST_STEP = 500, 20
"""Largest numbers of unknowns for exact arithmetic, for a single problem and for a step: within the time limits,
writing a matrix of order 500 takes a tenth, and index sets of 20 unknowns can be enumerated."""
ROUNDED = 1e-15, 1e-14, 1e-13, 1e-12
"""Shares of its largest entry by which q is raised, in turn, if the problem may be infeasible by round-off."""
RATIONALS = "rationals"
"""Name of the last stage, as a solver."""


@dataclass(frozen=True)
class Chain:
    """The method that solves a class of problems to round-off, and the methods that follow if it fails.

    As a solver it has the name and the guarantee of `first`; `Solution.solver` is the method that found the solution,
    `reason` names those that failed. Exact arithmetic is limited to `seconds` and to `most` unknowns. Solutions are
    judged by the tolerance `asked` for, if any, else by that of `first`.
    """

    first: Solver
    then: tuple[str, ...]
    seconds: float = SECONDS
    most: int = LARGEST
    asked: float | None = None

    @property
    def name(self) -> str:
        return self.first.name

    @property
    def solves(self) -> frozenset[str]:
        return self.first.solves

    @property
    def guaranteed_for(self) -> str:
        return self.first.guaranteed_for

    @property
    def tolerance(self) -> float:
        return self.first.tolerance if self.asked is None else self.asked

    @property
    def kernel(self) -> Any:
        """The compiled kernel of the first method; raises AttributeError if it is not compiled."""
        return self.first.kernel  # type: ignore[attr-defined]

    def why_not(self, problem: Any) -> str | None:
        return self.first.why_not(problem)

    def adjusted(self, tolerance: float | None, max_iterations: int | None) -> "Chain":
        """Return the chain with another tolerance, for judging solutions and for the first method if it is adjustable.

        Raises WorkbenchError if the first method has no iteration limit.
        """
        own = getattr(self.first, "adjusted", None)
        if own is None and max_iterations is not None:
            raise WorkbenchError(f"{self.name} takes no number of iterations: it iterates to round-off")
        first = self.first if own is None else own(tolerance, max_iterations)
        return replace(self, first=first, asked=tolerance or self.asked)

    # Data near the largest double overflow in most methods, which then fail.
    @np.errstate(over="ignore", invalid="ignore")
    def solve(self, problem: Any, *guess: Array) -> Solution:
        """Return a verified Solution, one with status NO_SOLUTION and a `proof`, or the best attempt with a reason."""
        return self.take_over(problem, self.first.solve(problem, *guess))

    @np.errstate(over="ignore", invalid="ignore")
    def solve_from(self, problem: Any, start: Array) -> Solution:
        """Solve from a start (n,), if the first method has warm start; see `solve`."""
        return self.take_over(problem, begun(self.first, problem, start))

    def take_over(self, problem: Any, found: Solution) -> Solution:
        """Return the chain's solution of a problem for which the first method has `found` the given result."""
        if self.asked is not None:
            found = replace(found, tolerance=self.asked)
        if found.claimed is Status.REFUSED or (found.verified and not _is_doubtful(problem, found)):
            return found
        attempts = [found]
        for attempt in self._attempts(problem, found):
            # All methods are judged by the tolerance of the first.
            attempts.append(replace(attempt, tolerance=self.tolerance))
            if attempts[-1].verified:
                break
        best = attempts[-1] if attempts[-1].verified else min(attempts, key=lambda s: s.residual)
        words = attempts[-1].reason if len(attempts) > 1 else best.reason
        tried = ", ".join(f"{s.solver} {s.claimed.name}" for s in attempts if s is not best)
        reason = "; ".join(filter(None, (best.proof or words, tried and f"tried: {tried}")))
        return replace(best, reason=reason, solve_time=sum(s.solve_time for s in attempts))

    def _attempts(self, problem: Any, found: Solution) -> Iterator[Solution]:
        if not found.verified:
            for name in self.then:
                solver: Any = find_solver(name)
                if hasattr(solver, "adjusted"):
                    solver = solver.adjusted(self.tolerance, None)
                if solver.why_not(problem) is None:
                    yield solver.solve(problem)
        if isinstance(problem, MLCP) and problem.q.ndim == 1:
            yield from _in_rationals(problem, self.seconds, self.most)
        elif isinstance(problem, ConeProblem) and not is_sparse(problem.M) and problem.size <= LARGEST_FRICTION:
            refuted = refutation(problem, self.seconds)
            if refuted is not None:
                yield refuted
        elif isinstance(problem, ContactBlocks) and 0 < problem.size <= LARGEST_FRICTION:
            yield from self._as_dense(problem)

    def _as_dense(self, problem: ContactBlocks) -> Iterator[Solution]:
        """Solve by the chain of the equivalent dense problem, if contact blocks are of one kind."""
        try:
            image = of_one_kind(problem)
        except DataError:
            return
        chain = default_solver(image.problem.kind)
        found = replace(chain, seconds=self.seconds, most=self.most).solve(image.problem)
        x = image.back(found.z)
        yield replace(found, z=x, residual=problem.residual(x))


@dataclass(frozen=True)
class Auto:
    """The default solver: the chain for the kind of a problem. `Solution.solver` is the method that found the solution.

    Within a kind, its first method selects the algorithm: for contact blocks by the moving bodies, their number and
    their uncoupled parts (`algorithms.contact_blocks`), for friction cones by their number
    (`algorithms.coulomb_exact`).
    """

    asked: float | None = None
    name: str = "auto"
    solves: frozenset[str] = frozenset(ROUND_OFF)
    guaranteed_for: str = "the problems of the chosen method; small LCPs and MLCPs by exact arithmetic"

    @property
    def tolerance(self) -> float:
        return EXACT if self.asked is None else self.asked

    def of(self, kind: str) -> Chain:
        """Return the chain for a kind of problem."""
        chain = default_solver(kind)
        return chain if self.asked is None else chain.adjusted(self.asked, None)

    def adjusted(self, tolerance: float | None, max_iterations: int | None) -> "Auto":
        """Return `auto` with another tolerance; raises WorkbenchError for an iteration limit.

        An iteration means something else in each method.
        """
        if max_iterations is not None:
            raise WorkbenchError("auto takes no number of iterations; name a solver")
        return replace(self, asked=tolerance or self.asked)

    def why_not(self, problem: Any) -> str | None:
        return self.of(problem.kind).why_not(problem)

    def solve(self, problem: Any, *guess: Array) -> Solution:
        """Solve one problem; see `Chain.solve`."""
        return self.of(problem.kind).solve(problem, *guess)

    def solve_from(self, problem: Any, start: Array) -> Solution:
        """Solve from a start (n,); see `Chain.solve_from`."""
        return self.of(problem.kind).solve_from(problem, start)


AUTO = Auto()


def of_kind(solver: Solver, kind: str) -> Solver:
    """Return the solver for problems of one kind: the choice of `auto`, or any other solver unchanged."""
    return solver.of(kind) if isinstance(solver, Auto) and kind in solver.solves else solver


@cache
def default_solver(kind: str) -> Chain:
    """Return the chain that solves this kind of problem to round-off."""
    return Chain(find_solver(ROUND_OFF[kind]), THEN.get(kind, ()))


def in_steps(solver: Solver, kind: str) -> Solver:
    """Return the solver for a step of a run, for problems of one kind."""
    solver = of_kind(solver, kind)
    return replace(solver, seconds=STEP_SECONDS, most=LARGEST_STEP) if isinstance(solver, Chain) else solver


def _is_doubtful(problem: Any, found: Solution) -> bool:
    """Return whether impulses are so large that q is within their round-off: a residual relative to them is weak."""
    if not isinstance(problem, ConeProblem) or is_sparse(problem.M) or not problem.size:
        return False
    return bool(are_far_beyond(np.ravel(problem.M), problem.q, found.z))


def are_far_beyond(M: Array, q: Array, z: Array) -> Any:
    """Return whether the velocities due to single impulses z (..., n) exceed q (..., n) by the factor `BESIDE`.

    M (..., n n), row by row."""
    largest, given, impulse = (np.abs(x).max(axis=-1, initial=0.0) for x in (M, q, z))
    return largest * impulse > BESIDE * given


def refutation(problem: ConeProblem, seconds: float) -> Solution | None:
    """Return the proof that a friction-cone problem has no solution, if a self-stress gives one."""
    start = clock()
    friction = rational_friction(problem.M, problem.q, problem.mu, problem.d)
    answer = existence(friction, not problem.associated, start + seconds)
    if answer.verdict != "none":
        return None
    proof = f"no solution: {answer.proof}"
    return replace(_nowhere(problem), proof=proof, reason=proof, solve_time=clock() - start)


def _in_rationals(problem: MLCP, seconds: float, most: int) -> Iterator[Solution]:
    start = clock()
    deadline = start + seconds
    nowhere = np.flatnonzero((problem.lower == np.inf) | (problem.upper == -np.inf))
    try:
        if nowhere.size:
            yield replace(_nowhere(problem), proof=f"no solution: no number is within the bounds of z[{nowhere[0]}]")
            return
        if problem.size > most:
            raise OutOfTimeError
        lcp = equivalent_lcp(problem, deadline)
        if problem.kind != LCP.kind and lcp.q:
            yield from _by_lemke(problem, lcp)
        last = _exactly(problem, lcp, deadline)
    except OutOfTimeError:
        limit = f"within {seconds:g} s" if problem.size <= most else f"beyond {most} unknowns"
        reason = f"undecided: not solved, and absence of a solution not proved {limit}"
        last = replace(_nowhere(problem), claimed=Status.ITERATION_LIMIT, reason=reason)
    yield replace(last, solve_time=clock() - start)


def _nowhere(problem: MLCP | ConeProblem) -> Solution:
    return Solution(np.full(problem.size, np.nan), Status.NO_SOLUTION, np.inf, EXACT, 0, 0.0, RATIONALS)


def _by_lemke(problem: MLCP, lcp: EquivalentLCP) -> Iterator[Solution]:
    """Solve the equivalent LCP by Lemke's method, if its entries and their squares are doubles."""
    M, q, T = doubles(lcp.M), doubles(lcp.q), doubles(lcp.T)
    sizes = np.abs(np.concatenate([M.ravel(), q, T.ravel()]))
    if sizes.max() < 1e150 and sizes[sizes > 0].min(initial=1.0) > 1e-150:
        found = find_solver("lemke").solve(LCP(M, q))
        z = T @ [*found.z, 1.0]
        yield replace(found, z=z, residual=float(problem.residual(z)))


def _exactly(problem: MLCP, lcp: EquivalentLCP, deadline: float) -> Solution:
    """Return a solution, or the proof that there is none. Raises OutOfTimeError."""
    k = len(lcp.q)
    x, proof = _decided(lcp.M, lcp.q, deadline, "" if problem.kind == LCP.kind else f"as an LCP of {k} unknowns, ")
    if x is not None:
        near = _as_doubles(problem, lcp, x)
        missed = "a solution exists in rationals, and its nearest doubles miss the tolerance"
        return near if near.verified else replace(near, reason=missed)
    # The proof stands even if time runs out before all of these are tried.
    with suppress(OutOfTimeError):
        for share in ROUNDED:
            x, _ = _decided(lcp.M, _raised(lcp, share), deadline, "")
            if x is not None and (near := _as_doubles(problem, lcp, x)).verified:
                return replace(near, reason=f"solved with q raised by {share:g} of its largest entry, as rounding may")
    return replace(_nowhere(problem), proof=proof)


def _decided(M: fmpq_mat, q: list[fmpq], deadline: float, form: str) -> tuple[list[fmpq] | None, str]:
    """Return a solution, or None and the proof that there is none."""
    k = len(q)
    y = infeasibility(M, q, deadline) if k else None
    if y is not None and refutes(y, M, q):
        size = f"{sum(x > 0 for x in y)} of {k} entries positive"
        return None, f"no solution: {form}y^T (M z + q) < 0 for all z >= 0, with a y >= 0 ({size}), exactly"
    x = first_solution(M, q, deadline) if k else []
    return x, f"no solution: {form}q lies in none of the 2^{k} complementary cones, exactly"


def _raised(lcp: EquivalentLCP, share: float) -> list[fmpq]:
    """Return q raised by a share of the largest entry, in units in which rows are comparable."""
    D = equilibration(doubles(lcp.M))
    with np.errstate(over="ignore", invalid="ignore"):
        by = share * np.max(D * np.abs(doubles(lcp.q)), initial=0.0) / D
    return [c + exact(x) for c, x in zip(lcp.q, np.where(np.isfinite(by), by, 0.0), strict=True)]


def _as_doubles(problem: MLCP, lcp: EquivalentLCP, x: list[fmpq]) -> Solution:
    """Return the nearest doubles of an exact solution, SOLVED if they pass the residual."""
    z = doubles(lcp.point(x))
    return replace(_nowhere(problem), z=z, claimed=Status.INACCURATE, residual=float(problem.residual(z)))


def refutes(y: list[fmpq], M: fmpq_mat, q: list[fmpq]) -> bool:
    """Return whether y >= 0, M^T y <= 0 and y . q < 0, so that M z + q >= 0 has no solution z >= 0 (Farkas)."""
    products = (fmpq_mat(1, len(y), y) * M).entries()
    return min(y) >= 0 and max(products) <= 0 and sum((a * b for a, b in zip(y, q, strict=True)), fmpq(0)) < 0
