"""An LCP or MLCP until it is solved, or proved to have no solution: one method after the other, then exact arithmetic.

A method's answer ends the search if it is verified, whatever the method claims. In the end the problem is taken as an
LCP in rationals, its doubles for exact numbers: a vector y >= 0 with M^T y <= 0 and q . y < 0 shows that no z >= 0 has
M z + q >= 0; failing that, the tree over the complementary cones ends in a solution, or each of its branches in such
a proof. That takes time exponential in the number of unknowns at worst, so it has a limit. A problem with friction
cones that its solver has not solved may be proved to have no solution by a self-stress (`diagnostics.existence`).
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from flint import fmpq, fmpq_mat

from workbench.algorithms import find_solver
from workbench.algorithms.base import EXACT
from workbench.diagnostics.existence import LARGEST as LARGEST_FRICTION
from workbench.diagnostics.existence import existence, rational_friction
from workbench.engine.timing import OutOfTimeError, clock
from workbench.matrices.linear_algebra.rationals import nearest_double
from workbench.matrices.solutions.equivalent_lcp import EquivalentLCP, equivalent_lcp
from workbench.matrices.solutions.solution_set import first_solution, infeasibility
from workbench.problems.classes import LCP, MLCP, Array, ConeProblem, is_sparse
from workbench.problems.solution import Solution, Status

CHAIN = {"LCP": ("lemke", "proximal", "enumerate"), "MLCP": ("proximal", "enumerate")}
"""Methods in the order in which they are tried. Lemke's takes an MLCP last, as the LCP that it is."""
SECONDS = 10.0
"""Limit of exact arithmetic [s]."""
BESIDE = 1e8
"""Velocities that impulses make one by one, over those without impulses, from which an answer is doubtful."""
LARGEST = 500
"""Unknowns beyond which it is not begun: to write the matrix down would take a tenth of that time."""
NAME = "rationals"
"""The last stage, as a solver's name."""


def solve_or_refute(problem: MLCP, seconds: float = SECONDS) -> Solution:
    """A verified Solution; or one with status NO_SOLUTION and its `proof`; or the best attempt, `reason` saying so.

    Its `solve_time` is that of all attempts; `reason` names those that failed.
    """
    attempts: list[Solution] = []
    for attempt in _attempts(problem, seconds):
        attempts.append(attempt)
        if attempt.verified:
            best, words = attempt, attempt.proof
            break
    else:
        best, words = min(attempts, key=lambda s: s.residual), attempts[-1].reason
    tried = ", ".join(f"{s.solver} {s.claimed.name}" for s in attempts if s is not best)
    reason = "; ".join(filter(None, (words, tried and f"tried: {tried}")))
    return replace(best, reason=reason, solve_time=sum(s.solve_time for s in attempts))


def or_refuted(problem: ConeProblem, found: Solution, seconds: float = SECONDS) -> Solution:
    """What a solver found; where that is doubtful, the proof that there is no solution, if a self-stress gives one.

    Of a Coulomb problem or a cone problem with a dense W, of the order to which that is looked for. Doubtful is an
    answer that is not verified, and one with impulses beside which q is rounding: a residual that is relative to these
    says little.
    """
    if is_sparse(problem.M) or problem.size > LARGEST_FRICTION:
        return found
    if found.verified and np.abs(problem.M).max() * np.abs(found.z).max() <= BESIDE * np.abs(problem.q).max():
        return found
    friction = rational_friction(problem.M, problem.q, problem.mu, problem.d)
    answer = existence(friction, not problem.associated, clock() + seconds)
    if answer.verdict != "none":
        return found
    proof, tried = f"no solution: {answer.proof}", f"tried: {found.solver} {found.claimed.name}"
    return replace(_nowhere(problem), proof=proof, reason=f"{proof}; {tried}", solve_time=found.solve_time)


def _attempts(problem: MLCP, seconds: float) -> Iterator[Solution]:
    for solver in map(find_solver, CHAIN[problem.kind]):
        if solver.why_not(problem) is None:
            yield solver.solve(problem)
    start = clock()
    deadline = clock() + seconds
    nowhere = np.flatnonzero((problem.lower == np.inf) | (problem.upper == -np.inf))
    try:
        if nowhere.size:
            yield replace(_nowhere(problem), proof=f"no solution: no number is within the bounds of z[{nowhere[0]}]")
            return
        if problem.size > LARGEST:
            raise OutOfTimeError
        lcp = equivalent_lcp(problem, deadline)
        if problem.kind != LCP.kind and lcp.q:
            yield from _by_lemke(problem, lcp)
        last = _exactly(problem, lcp, deadline)
    except OutOfTimeError:
        limit = f"within {seconds:g} s" if problem.size <= LARGEST else f"beyond {LARGEST} unknowns"
        reason = f"not solved, and absence of a solution not proved {limit}"
        last = replace(_nowhere(problem), claimed=Status.ITERATION_LIMIT, reason=reason)
    yield replace(last, solve_time=clock() - start)


def _nowhere(problem: MLCP | ConeProblem) -> Solution:
    return Solution(np.full(problem.size, np.nan), Status.NO_SOLUTION, np.inf, EXACT, 0, 0.0, NAME)


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
    form = "" if problem.kind == LCP.kind else f"as an LCP of {k} unknowns, "
    y = infeasibility(lcp.M, lcp.q, deadline) if k else None
    if y is not None and refutes(y, lcp.M, lcp.q):
        size = f"{sum(x > 0 for x in y)} of {k} entries positive"
        proof = f"no solution: {form}y^T (M z + q) < 0 for all z >= 0, with a y >= 0 ({size}), exactly"
        return replace(_nowhere(problem), proof=proof)
    x = first_solution(lcp.M, lcp.q, deadline) if k else []
    if x is None:
        proof = f"no solution: {form}q lies in none of the 2^{k} complementary cones, exactly"
        return replace(_nowhere(problem), proof=proof)
    z = _doubles([lcp.point(x)])[0]
    residual = float(problem.residual(z))
    claimed = Status.SOLVED if residual <= EXACT else Status.INACCURATE
    reason = "" if residual <= EXACT else "a solution exists in rationals, and its nearest doubles miss the tolerance"
    return replace(_nowhere(problem), z=z, claimed=claimed, residual=residual, reason=reason)


def refutes(y: list[fmpq], M: fmpq_mat, q: list[fmpq]) -> bool:
    """Whether y >= 0, M^T y <= 0 and y . q < 0, so that M z + q >= 0 has no solution z >= 0 (Farkas)."""
    products = (fmpq_mat(1, len(y), y) * M).entries()
    return min(y) >= 0 and max(products) <= 0 and sum((a * b for a, b in zip(y, q, strict=True)), fmpq(0)) < 0
