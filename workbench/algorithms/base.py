"""The interface of a solver: a name, the problems it accepts, theoretical guarantees, and `solve`."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from workbench.engine.timing import clock
from workbench.problems.classes import Array, MatrixProblem, is_sparse
from workbench.problems.solution import Solution, Status
from workbench.support.errors import DataError

EXACT = 1e-9
"""Largest residual of a verified solution, for methods that solve to round-off."""
GENERIC = 1e-6
"""The same for interior-point and first-order methods with their default options."""


class Solver(Protocol):
    """A solver: `solves` names problem kinds (`Problem.kind`), `guaranteed_for` the problems it is sure to solve."""

    @property
    def name(self) -> str: ...

    @property
    def solves(self) -> frozenset[str]: ...

    @property
    def guaranteed_for(self) -> str: ...

    @property
    def tolerance(self) -> float: ...

    def why_not(self, problem: MatrixProblem) -> str | None:
        """Return the reason, in words, why this solver cannot take the problem, or None if it can."""
        ...

    def solve(self, problem: MatrixProblem) -> Solution:
        """Solve one problem (no batch axes). A refusal is a Solution with status REFUSED and its reason."""
        ...


def with_residual(solver: Solver, problem: MatrixProblem, found: Any) -> Solution:
    """Return a solver's result with the problem's own residual.

    Bundled solvers take it from the problem. For user-defined solvers, a reported residual and proof are only claims:
    the residual is measured here, and a proof cannot be checked. Raises DataError for results that are no answer to the
    problem.
    """
    if type(solver).__module__.startswith("workbench."):
        return found
    if not isinstance(found, Solution):
        raise DataError(f"{solver.name}: solve returned {type(found).__name__}; a Solution is needed")
    z = np.asarray(found.z, dtype=float)
    if z.shape != (problem.size,):
        raise DataError(f"{solver.name}: z has shape {z.shape}; the problem's unknowns have {(problem.size,)}")
    residual = float(problem.residual(z)) if np.isfinite(z).all() else np.inf
    return replace(found, z=z, residual=residual, proof="")


def nothing_against(problem: MatrixProblem) -> str | None:
    return None


@dataclass(frozen=True)
class KernelSolver:
    """A compiled method of signature `kernels.SOLVE` as a Solver; for mixed problems see `kernel_info`."""

    name: str
    kernel: Callable
    solves: frozenset[str]
    guaranteed_for: str
    source: str
    objection: Callable[[MatrixProblem], str | None] = field(default=nothing_against)
    tolerance: float = EXACT

    def why_not(self, problem: MatrixProblem) -> str | None:
        if problem.kind not in self.solves:
            return f"{self.name} solves {', '.join(sorted(self.solves))}, not {problem.kind}"
        return self.objection(problem)

    def solve(self, problem: MatrixProblem, guess: Array | None = None) -> Solution:
        """Solve one problem; `guess` (n,) is passed to the kernel, and some methods start from it (`lemke`).

        Raises DataError if the guess has another shape.
        """
        z, info = np.zeros(problem.size), kernel_info(problem)
        if guess is not None:
            z = np.array(guess, dtype=float)
            if z.shape != problem.q.shape:
                raise DataError(f"the guess has shape {z.shape}; the problem's unknowns have {problem.q.shape}")
        reason = self.why_not(problem)
        if reason:
            return refusal(self, problem, reason)
        # Lazy import: listing solvers needs no compiled code.
        from workbench.algorithms.components import apart

        start = clock()
        status = Status(apart(self.kernel, kernel_arguments(problem), z, info))
        elapsed = clock() - start
        reason = "" if status is Status.SOLVED else status.meaning
        return Solution(z, status, float(problem.residual(z)), self.tolerance, int(info[0]), elapsed, self.name, reason)


class Starting(KernelSolver):
    """A kernel solver that starts from the guess."""

    def solve_from(self, problem: MatrixProblem, start: Array) -> Solution:
        """Solve from a start (n,); see `solve`."""
        return self.solve(problem, start)


def kernel_arguments(problem: MatrixProblem) -> tuple:
    """Return (M, q, lower, upper, mu, d) as arguments of `kernels.SOLVE`."""
    none = np.zeros(0)
    lower, upper = getattr(problem, "lower", none), getattr(problem, "upper", none)
    mu: Array = getattr(problem, "mu", none)
    M: Any = problem.M
    M = M.toarray() if is_sparse(M) else M
    # Arrays of problems are read-only, while compiled signatures require writable ones.
    copies = tuple(np.array(a) for a in (M, problem.q, lower, upper, mu))
    return (*copies, getattr(problem, "d", 2))


def kernel_info(problem: MatrixProblem) -> Any:
    """Return `info` of `kernels.SOLVE`: room for the iterations and, for mixed problems, their sets (`Sets.code`)."""
    sets = getattr(problem, "sets", None)
    return np.zeros(1, dtype=np.int64) if sets is None else np.append(0, sets.code)


def begun(solver: Any, problem: Any, start: Array | None) -> Solution:
    """Return a solver's solution from a start (n,), ignored by solvers without warm start."""
    if start is None or not hasattr(solver, "solve_from"):
        return solver.solve(problem)
    return solver.solve_from(problem, start)


def refusal(solver: Solver, problem: MatrixProblem, reason: str) -> Solution:
    """Return a Solution with z = nan, status REFUSED and the reason."""
    z = np.full(problem.size, np.nan)
    return Solution(z, Status.REFUSED, np.inf, solver.tolerance, 0, 0.0, solver.name, reason)
