"""Batches of LCPs or MLCPs of one size, solved without Python in between and, if small, without new allocations.

    answer = solve_batch(M, q)              # LCPs, M (B, n, n) or one (n, n) for all, q (B, n)
    answer = solve_batch(M, q, lower, upper, solver="proximal", threads=2)

Every problem is solved independently and without warm start, by the same compiled code as a single one, or by the same
operations in vector lanes (`lemke.eight_lanes`), so that z is identical bit for bit. A failure of one problem is its
status; only inconsistent shapes and bounds raise an error. Threads share the batch in equal parts.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import ArrayLike

from workbench.algorithms import ROUND_OFF, find_solver
from workbench.algorithms.base import KernelSolver, nothing_against
from workbench.algorithms.components import solve_apart
from workbench.algorithms.lemke.eight_lanes import CUBE, eights
from workbench.algorithms.lemke.workspace import SMALL
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, MATRIX, SOLVE_T, is_finite
from workbench.engine.lanes import LANES
from workbench.engine.timing import clock
from workbench.problems.classes import LCP, Array
from workbench.problems.residual import bounded_residual, bounded_residuals
from workbench.problems.solution import Status
from workbench.support.errors import DataError

I64 = types.int64
SOLVED, OPEN = int(Status.SOLVED), -1


class Claims:
    """Common results for a batch: status (B,), `Status` numbers claimed by the solver."""

    status: np.ndarray

    @property
    def solved(self) -> np.ndarray:
        """Mask of the problems for which the solver claims a solution (B,)."""
        return self.status == SOLVED


@dataclass(frozen=True, eq=False)
class BatchSolution(Claims):
    """z (B, n) of M (B or 1, n, n), q, lower, upper (B or 1, n); status (B,), `Status` numbers claimed by the solver.

    iterations (B,) are the solver's too; `seconds` is the wall time of the solves alone.
    """

    M: Array
    q: Array
    lower: Array
    upper: Array
    z: Array
    status: np.ndarray
    iterations: np.ndarray
    seconds: float
    solver: str

    @cached_property
    def residuals(self) -> Array:
        """The problem's own residual (`MLCP.residual`) of every z (B,), computed on first use; inf for NaN or inf."""
        found = np.empty(len(self.z))
        bounded_residuals(self.M, self.q, self.lower, self.upper, self.z, found)
        return found


class BatchData(NamedTuple):
    """M (B or 1, n, n), q (B, n), lower, upper (B or 1, n)."""

    M: Array
    q: Array
    lower: Array
    upper: Array


class BatchAnswers(NamedTuple):
    """z (B, n), status, iterations (B,)."""

    z: Array
    status: np.ndarray
    iterations: np.ndarray


DATA = argument_type(BatchData, CUBE, MATRIX, MATRIX, MATRIX)
ANSWERS = argument_type(BatchAnswers, MATRIX, INDICES, INDICES)


@kernel(types.void(SOLVE_T, types.float64, DATA, I64, I64, ANSWERS), nogil=True)
def solve_part(solve, tolerance, data, first, last, answers):
    """Solve the problems `first` to `last` that are still OPEN."""
    M, q, lower, upper = data
    z, status, iterations = answers
    none, info = np.zeros(0), np.zeros(1, dtype=np.int64)
    for k in range(first, last):
        if status[k] == OPEN:
            M_k, lower_k, upper_k = min(k, M.shape[0] - 1), min(k, lower.shape[0] - 1), min(k, upper.shape[0] - 1)
            for i in range(z.shape[1]):
                z[k, i] = 0.0
            status[k] = solve_apart(solve, M[M_k], q[k], lower[lower_k], upper[upper_k], none, 2, z[k], info)
            iterations[k] = info[0]
            # A point that passes the problem's residual is a solution, whatever the solver claims.
            if status[k] != SOLVED and is_finite(z[k]):
                found = bounded_residual(M[M_k], q[k], lower[lower_k], upper[upper_k], z[k])
                status[k] = SOLVED if found <= tolerance else status[k]


def solve_batch(
    M: ArrayLike,
    q: ArrayLike,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    *,
    solver: str | None = None,
    threads: int = 1,
) -> BatchSolution:
    """Solve B problems z in [lower, upper], w = M z + q complementary to it; without bounds LCPs, 0 <= z.

    M (B, n, n) or (n, n), q (B, n), bounds (B, n), (n,) or numbers; `solver` a compiled one (default: lemke for LCPs,
    proximal for MLCPs). Raises DataError for inconsistent shapes, lower > upper, or a solver that does not accept these
    problems.
    """
    M_, q_ = _array("M", M), _array("q", q)
    if q_.ndim != 2:
        raise DataError(f"q has shape {q_.shape}; (B, n), one row per problem, is needed")
    B, n = q_.shape
    if M_.shape not in ((n, n), (B, n, n)):
        raise DataError(f"M has shape {M_.shape}; q of shape {q_.shape} needs {(B, n, n)}, or {(n, n)} for all")
    M_ = M_.reshape(-1, n, n) if n else np.zeros((1, 0, 0))
    kind = "LCP" if lower is None and upper is None else "MLCP"
    low, high = _bound("lower", lower, 0.0, B, n), _bound("upper", upper, np.inf, B, n)
    if (low > high).any():
        raise DataError(f"a lower bound exceeds the upper one by {np.max(low - high):g}")
    method = compiled_solver(solver, kind)
    if method.objection is not nothing_against and (reason := method.objection(LCP(M_, np.zeros(M_.shape[:2])))):
        raise DataError(reason)
    z, status, iterations = np.zeros((B, n)), np.full(B, OPEN), np.zeros(B, dtype=np.int64)

    data, answers = BatchData(M_, q_, low, high), BatchAnswers(z, status, iterations)

    def part(first: int, last: int) -> None:
        if method.name == "lemke" and 0 < n <= SMALL and last - first >= LANES:
            eights(n)(M_, q_, first, last, z, status, iterations)
        solve_part(method.kernel, method.tolerance, data, first, last, answers)

    seconds = in_parts(part, B, threads)
    return BatchSolution(M_, q_, low, high, z, status, iterations, seconds, method.name)


def compiled_solver(name: str | None, kind: str) -> KernelSolver:
    """Return the solver of this name (None: the default) for this kind; raises DataError if it is not compiled."""
    solver = find_solver(ROUND_OFF[kind] if name is None else name)
    if not isinstance(solver, KernelSolver):
        raise DataError(f"{solver.name} is not compiled; a batch needs a compiled solver")
    if kind not in solver.solves:
        raise DataError(f"{solver.name} solves {', '.join(sorted(solver.solves))}, not {kind}")
    return solver


def in_parts(part: Callable[[int, int], None], B: int, threads: int) -> float:
    """Call part(first, last) for equal shares of B problems, one share per thread; returns the seconds taken."""
    if threads < 1:
        raise DataError(f"threads = {threads}; at least 1 is needed")
    start = clock()
    if threads == 1:
        part(0, B)
    else:
        ends = np.linspace(0, B, threads + 1).astype(int)
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(part, ends[:-1], ends[1:]))
    return clock() - start


def _array(name: str, value: ArrayLike) -> Array:
    try:
        array = np.asarray(value, dtype=float, order="C")
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} is not an array of real numbers: {error}") from None
    # Compiled signatures require writable arrays.
    return array if array.flags.writeable else array.copy()


def _bound(name: str, value: ArrayLike | None, default: float, B: int, n: int) -> Array:
    """Return a bound as (1, n) or (B, n)."""
    bound = _array(name, default if value is None else value)
    if bound.shape not in ((), (n,), (B, n)):
        raise DataError(f"{name} has shape {bound.shape}; {(B, n)}, {(n,)} or a number is needed")
    return bound if bound.ndim == 2 else np.array(np.broadcast_to(bound, (1, n)))
