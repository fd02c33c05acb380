"""What takes over where a method's answer is not verified: one chain of methods for each class of problem.

An answer is judged by the problem's own residual, whatever its method claims. Where it does not pass, the next method
of the chain is asked, and in the end a proof that there is no solution is looked for. The chain of an LCP or MLCP ends
in rationals, its doubles for exact numbers: a vector y >= 0 with M^T y <= 0 and q . y < 0 shows that no z >= 0 has
M z + q >= 0; failing that, the tree over the complementary cones ends in a solution, or each of its branches in such
a proof. That takes time exponential in the number of unknowns at worst, so it has a limit. A problem with friction
cones may be proved to have no solution by a self-stress (`solutions.existence`).

Doubles have been rounded: redundant contacts ask for velocities that fit together but for the last digits. A problem
that has no solution as it stands is therefore tried once more with q raised by some `ROUNDED` of its largest entry; if
the answer passes the residual of the given problem, it is one, and the reason says what was done.
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
from workbench.errors import DataError, WorkbenchError
from workbench.matrices.linear_algebra.rationals import exact, nearest_double
from workbench.matrices.solutions.equivalent_lcp import EquivalentLCP, equivalent_lcp
from workbench.matrices.solutions.existence import LARGEST as LARGEST_FRICTION
from workbench.matrices.solutions.existence import existence, rational_friction
from workbench.matrices.solutions.solution_set import first_solution, infeasibility
from workbench.problems.bridges.dense import of_one_kind
from workbench.problems.classes import LCP, MLCP, Array, ConeProblem, equilibration, is_sparse
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.solution import Solution, Status

THEN = {
    "LCP": ("proximal", "enumerate"),
    "MLCP": ("enumerate",),
    "conic QP": ("apgd",),
    "Coulomb NCP": ("nsgs",),
}
"""Class of problem: what takes over after the method that takes it to round-off (`algorithms.ROUND_OFF`), in turn.
Lemke's method takes an MLCP after these, as the LCP that it is."""
SECONDS, STEP_SECONDS = 10.0, 1.0
"""Limits of exact arithmetic [s], for a problem by itself and for one step of many."""
HOPELESS = 10
"""Steps one after the other that no method of a chain has solved, after which a run asks its first method alone."""
BESIDE = 1e8
"""Velocities that impulses make one by one, over those without impulses, from which an answer is doubtful."""
LARGEST, LARGEST_STEP = 500, 20
"""Unknowns beyond which exact arithmetic is not begun, likewise: to write a matrix of order 500 down would take a tenth
of that time, and index sets of 20 unknowns are gone through in it."""
ROUNDED = 1e-15, 1e-14, 1e-13, 1e-12
"""Shares of its largest entry by which q is raised, in turn, where rounding may have taken the solution away."""
RATIONALS = "rationals"
"""The last stage, as a solver's name."""


@dataclass(frozen=True)
class Chain:
    """The method that takes a class of problem to round-off, and whatever takes over where it does not.

    As a solver it has the name and the claims of `first`; `Solution.solver` is the method whose answer it is, `reason`
    names those that failed. Exact arithmetic has so many `seconds`, for at most so many unknowns. Answers are graded by
    the tolerance `asked` for, if any, else by that of `first`.
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
        """The compiled method that goes first; AttributeError where it is not compiled."""
        return self.first.kernel  # type: ignore[attr-defined]

    def why_not(self, problem: Any) -> str | None:
        return self.first.why_not(problem)

    def adjusted(self, tolerance: float | None, max_iterations: int | None) -> "Chain":
        """Another tolerance, in which answers are graded and at which the first method stops where it can.

        Raises WorkbenchError where the first method has no number of iterations.
        """
        own = getattr(self.first, "adjusted", None)
        if own is None and max_iterations is not None:
            raise WorkbenchError(f"{self.name} takes no number of iterations: it ends where rounding does")
        first = self.first if own is None else own(tolerance, max_iterations)
        return replace(self, first=first, asked=tolerance or self.asked)

    # Data near the largest double overflow in most methods, which then fail.
    @np.errstate(over="ignore", invalid="ignore")
    def solve(self, problem: Any, *guess: Array) -> Solution:
        """A verified Solution; one with status NO_SOLUTION and its `proof`; or the best attempt, `reason` saying so."""
        return self.take_over(problem, self.first.solve(problem, *guess))

    @np.errstate(over="ignore", invalid="ignore")
    def solve_from(self, problem: Any, start: Array) -> Solution:
        """The same from a start (n,), where the first method takes one."""
        return self.take_over(problem, begun(self.first, problem, start))

    def take_over(self, problem: Any, found: Solution) -> Solution:
        """What the chain makes of a problem of which the first method has `found` this."""
        if self.asked is not None:
            found = replace(found, tolerance=self.asked)
        if found.claimed is Status.REFUSED or (found.verified and not _is_doubtful(problem, found)):
            return found
        attempts = [found]
        for attempt in self._attempts(problem, found):
            # Whoever takes over is held to what the first method is.
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
        """By the chain of the dense problem that contact blocks of one kind are."""
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
    """The default: the chain for the kind that a problem is of. `Solution.solver` is the method that came to an answer.

    Within a kind its first method chooses: contact blocks go by what moves, how many there are, and what nothing
    couples (`algorithms.contact_blocks`), friction cones by their number (`algorithms.coulomb_exact`).
    """

    asked: float | None = None
    name: str = "auto"
    solves: frozenset[str] = frozenset(ROUND_OFF)
    guaranteed_for: str = "whatever the chosen method is guaranteed for; small LCPs and MLCPs by exact arithmetic"

    @property
    def tolerance(self) -> float:
        return EXACT if self.asked is None else self.asked

    def of(self, kind: str) -> Chain:
        """The chain for problems of a kind."""
        chain = default_solver(kind)
        return chain if self.asked is None else chain.adjusted(self.asked, None)

    def adjusted(self, tolerance: float | None, max_iterations: int | None) -> "Auto":
        """Another tolerance. Raises WorkbenchError for a number of iterations, which mean something else everywhere."""
        if max_iterations is not None:
            raise WorkbenchError("auto takes no number of iterations: name the solver that is to have it")
        return replace(self, asked=tolerance or self.asked)

    def why_not(self, problem: Any) -> str | None:
        return self.of(problem.kind).why_not(problem)

    def solve(self, problem: Any, *guess: Array) -> Solution:
        """As `Chain.solve`."""
        return self.of(problem.kind).solve(problem, *guess)

    def solve_from(self, problem: Any, start: Array) -> Solution:
        """As `Chain.solve_from`."""
        return self.of(problem.kind).solve_from(problem, start)


AUTO = Auto()


def of_kind(solver: Solver, kind: str) -> Solver:
    """The solver for problems of one kind: what `auto` chooses, or any other as it is."""
    return solver.of(kind) if isinstance(solver, Auto) and kind in solver.solves else solver


@cache
def default_solver(kind: str) -> Chain:
    """The solver that takes a problem of this kind to round-off, with what takes over where it fails."""
    return Chain(find_solver(ROUND_OFF[kind]), THEN.get(kind, ()))


def in_steps(solver: Solver, kind: str) -> Solver:
    """The solver for one step of many, problems of a kind."""
    solver = of_kind(solver, kind)
    return replace(solver, seconds=STEP_SECONDS, most=LARGEST_STEP) if isinstance(solver, Chain) else solver


def _is_doubtful(problem: Any, found: Solution) -> bool:
    """Whether impulses are so large that q is rounding beside them: a residual relative to these says little."""
    if not isinstance(problem, ConeProblem) or is_sparse(problem.M) or not problem.size:
        return False
    return bool(np.abs(problem.M).max() * np.abs(found.z).max() > BESIDE * np.abs(problem.q).max())


def refutation(problem: ConeProblem, seconds: float) -> Solution | None:
    """The proof that a friction-cone problem has no solution, if a self-stress gives one."""
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
    """Lemke's method on the equivalent LCP, if doubles hold that and its squares, judged by the problem's residual."""
    M, q, T = _doubles(lcp.M.tolist()), _doubles([lcp.q])[0], _doubles(lcp.T.tolist())
    sizes = np.abs(np.concatenate([M.ravel(), q, T.ravel()]))
    if sizes.max() < 1e150 and sizes[sizes > 0].min(initial=1.0) > 1e-150:
        found = find_solver("lemke").solve(LCP(M, q))
        z = T @ [*found.z, 1.0]
        yield replace(found, z=z, residual=float(problem.residual(z)))


def _doubles(rows: list[list[fmpq]]) -> Array:
    return np.array([[nearest_double(x) for x in row] for row in rows])


def _exactly(problem: MLCP, lcp: EquivalentLCP, deadline: float) -> Solution:
    """A solution, or the proof that there is none. Raises OutOfTimeError."""
    k = len(lcp.q)
    x, proof = _decided(lcp.M, lcp.q, deadline, "" if problem.kind == LCP.kind else f"as an LCP of {k} unknowns, ")
    if x is not None:
        near = _as_doubles(problem, lcp, x)
        missed = "a solution exists in rationals, and its nearest doubles miss the tolerance"
        return near if near.verified else replace(near, reason=missed)
    # The proof stands where the time is over before all of these are tried.
    with suppress(OutOfTimeError):
        for share in ROUNDED:
            x, _ = _decided(lcp.M, _raised(lcp, share), deadline, "")
            if x is not None and (near := _as_doubles(problem, lcp, x)).verified:
                return replace(near, reason=f"solved with q raised by {share:g} of its largest entry, as rounding may")
    return replace(_nowhere(problem), proof=proof)


def _decided(M: fmpq_mat, q: list[fmpq], deadline: float, form: str) -> tuple[list[fmpq] | None, str]:
    """A solution, or None and the proof that there is none."""
    k = len(q)
    y = infeasibility(M, q, deadline) if k else None
    if y is not None and refutes(y, M, q):
        size = f"{sum(x > 0 for x in y)} of {k} entries positive"
        return None, f"no solution: {form}y^T (M z + q) < 0 for all z >= 0, with a y >= 0 ({size}), exactly"
    x = first_solution(M, q, deadline) if k else []
    return x, f"no solution: {form}q lies in none of the 2^{k} complementary cones, exactly"


def _raised(lcp: EquivalentLCP, share: float) -> list[fmpq]:
    """q raised by a share of the largest entry, in units in which rows can be compared."""
    D = equilibration(_doubles(lcp.M.tolist()))
    with np.errstate(over="ignore", invalid="ignore"):
        by = share * np.max(D * np.abs(_doubles([lcp.q])[0]), initial=0.0) / D
    return [c + exact(x) for c, x in zip(lcp.q, np.where(np.isfinite(by), by, 0.0), strict=True)]


def _as_doubles(problem: MLCP, lcp: EquivalentLCP, x: list[fmpq]) -> Solution:
    """The nearest doubles of an exact solution, SOLVED where they pass the residual."""
    z = _doubles([lcp.point(x)])[0]
    return replace(_nowhere(problem), z=z, claimed=Status.INACCURATE, residual=float(problem.residual(z)))


def refutes(y: list[fmpq], M: fmpq_mat, q: list[fmpq]) -> bool:
    """Whether y >= 0, M^T y <= 0 and y . q < 0, so that M z + q >= 0 has no solution z >= 0 (Farkas)."""
    products = (fmpq_mat(1, len(y), y) * M).entries()
    return min(y) >= 0 and max(products) <= 0 and sum((a * b for a, b in zip(y, q, strict=True)), fmpq(0)) < 0
