"""Costs of linear algebra, and exact operations within a deadline.

LAPACK and exact arithmetic cannot be interrupted once started, so their time is estimated before, from a sample on this
machine. Exact arithmetic depends on the digits as well: n integers of b bits in each of n rows have determinants of
about n b bits.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat, nmod_mat

from workbench.engine.timing import check_clock, clock
from workbench.matrices.linear_algebra.rationals import Vector, spread, submatrix, whole_rows

SAMPLE, EXACT_SAMPLE = 200, 40
"""Orders of the product of doubles, and of the determinant of integers, that measure the speed of this machine."""
SMALL = 10
"""Largest order for which exact operations are assumed to be short."""
PRIME = 2**61 - 1
"""The rank modulo this number is seldom below the true one, and never above."""
EXACT_SAMPLE_SECONDS = 1.7e-4
"""Time of that determinant on the machine where the costs below were measured."""
SOLVE, EIGENVALUES, FACTOR, SINGULAR_VALUES = 1.0, 4.0, 1.0, 13.0
"""Cost of solving linear equations, of symmetric eigenvalues, of a proved Cholesky factor, and of singular values, in
products of two matrices of that order: 1.5 times the measured values."""


def _least_seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)


@cache
def _sample() -> float:
    A = np.ones((SAMPLE, SAMPLE))
    A @ A
    return max(_least_seconds(lambda: A @ A), 1e-4)


@cache
def _slowness() -> float:
    """Time of exact arithmetic on this machine relative to the one where its costs were measured."""
    n = EXACT_SAMPLE
    A = fmpz_mat([[(7 * i * i + 3 * j) % 19 - 9 + 90 * (i == j) for j in range(n)] for i in range(n)])
    return _least_seconds(A.det) / EXACT_SAMPLE_SECONDS


def product_seconds(n: int) -> float:
    """Approximate seconds of a product of two matrices of doubles of order n on this machine."""
    return _sample() * (n / SAMPLE) ** 3


def bits(M: fmpq_mat) -> int:
    """Binary digits of the largest entry of a row scaled to integers, averaged over all rows; 0 where M is empty.

    A determinant has about, and at most, this many for each of its rows.
    """
    if not (M.nrows() and M.ncols()):
        return 0
    rows = whole_rows(M).tolist()
    return math.ceil(sum(int(max(max(row), -min(row))).bit_length() for row in rows) / len(rows))


def elimination_seconds(n: int, b: int) -> float:
    """Approximate seconds of a determinant of order n, or one solution of linear equations, with entries of b bits."""
    return _slowness() * (6e-9 * n**3 + 6e-14 * n**4 * b**2)


def minors_seconds(n: int, b: int) -> float:
    """Approximate seconds of all leading principal minors of order n with entries of b bits."""
    return n * elimination_seconds(n, b) / 4


def solution_seconds(n: int, columns: int, b: int) -> float:
    """Approximate seconds of solving n linear equations with entries of b bits for this many right-hand sides."""
    several = _slowness() * columns * n**3 * (3e-10 * b + 3.5e-12 * b**2)
    return elimination_seconds(n, b) + several * (columns > 1)


def exact_determinant(M: fmpq_mat, deadline: float) -> fmpq:
    """det M, started only if it is likely to end in time. Raises OutOfTimeError."""
    check_clock(deadline, elimination_seconds(M.nrows(), bits(M)) if M.nrows() > SMALL else 0.0)
    return M.det()


def minor(M: fmpq_mat, a: Sequence[int], deadline: float) -> fmpq:
    """The principal minor of these indices, likewise. Raises OutOfTimeError."""
    return exact_determinant(submatrix(M, a), deadline)


def solution(A: fmpq_mat, B: fmpq_mat, deadline: float) -> fmpq_mat:
    """A^-1 B, likewise. Raises OutOfTimeError, and ZeroDivisionError where A is singular."""
    n = A.nrows()
    check_clock(deadline, solution_seconds(n, B.ncols(), max(bits(A), bits(B))) if n > SMALL else 0.0)
    return A.solve(B)


def exact_rank(M: fmpq_mat, deadline: float) -> int:
    """The rank of M (m, n), m and n at least one, likewise. Raises OutOfTimeError."""
    least = _least_rank(M)
    if least == min(M.nrows(), M.ncols()):
        return least
    return int(echelon(M, deadline)[1])


def echelon(M: fmpq_mat, deadline: float) -> tuple[fmpq_mat, int]:
    """The reduced row echelon form of M (m, n) and its rank, likewise. Raises OutOfTimeError."""
    if min(M.nrows(), M.ncols()) > SMALL:
        r = _least_rank(M)
        check_clock(deadline, solution_seconds(r, M.ncols() - r, bits(M)))
    return M.rref()


def _least_rank(M: fmpq_mat) -> int:
    return int(nmod_mat(whole_rows(M), PRIME).rank())


def pivots(reduced: fmpq_mat, r: int) -> list[int]:
    """The columns of the pivots of a reduced row echelon form of rank r."""
    return [next(j for j in range(reduced.ncols()) if reduced[i, j] != 0) for i in range(r)]


def all_solutions(system: fmpq_mat, deadline: float = math.inf) -> tuple[list[int], list[Vector]] | None:
    """The free entries of the solutions x (n) of linear equations, rows (m, n + 1) with the right side last, and x as
    rows over (free entries, 1); None where there is no solution. Raises OutOfTimeError."""
    n = system.ncols() - 1
    reduced, r = echelon(system, deadline)
    bound = pivots(reduced, r)
    if n in bound:
        return None
    free = [j for j in range(n) if j not in bound]
    rows = [spread(len(free) + 1, [free.index(j)], [fmpq(1)]) if j in free else [] for j in range(n)]
    for i, j in enumerate(bound):
        rows[j] = [*(-reduced[i, f] for f in free), reduced[i, n]]
    return free, rows


def null_space(A: fmpq_mat, deadline: float = math.inf) -> tuple[list[int], list[Vector]]:
    """The free entries of the v (n) with A v = 0, A (m, n), and for each the v with one there and zero at the others.
    Raises OutOfTimeError."""
    zero = fmpq(0)
    free, rows = all_solutions(fmpq_mat([[*row, zero] for row in A.tolist()]), deadline) or ([], [])
    return free, [[row[k] for row in rows] for k in range(len(free))]


def null_vector(A: fmpq_mat, deadline: float = math.inf) -> Vector:
    """A v (n) other than zero with A v = 0, for A (m, n) of rank below n. Raises OutOfTimeError."""
    return null_space(A, deadline)[1][0]
