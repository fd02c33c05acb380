"""Classes decided by the principal submatrices of a matrix, index set by index set, by size, in exact arithmetic.

Semimonotone matrices are decided by one linear system per index set. Let M violate the condition ("E0": no x > 0 with
M_aa x < 0 for any index set a) while every proper principal submatrix satisfies it: M x < 0, x > 0. Moving x along a
null vector, or along M^-1 c for c <= 0, would reach a smaller support with the same property; hence M is nonsingular
and M^-1 <= 0. So M is not E0 iff M_aa x = -e has one solution and x > 0, for some a, and in the same way not E (M_aa x
<= 0) iff this happens or some M_aa has nullity one and a null vector >= 0. For symmetric M these are the (strictly)
copositive matrices, and the criterion is related to Hadeler's (Linear Algebra Appl. 49, 1983); Cottle, Pang and Stone
(1992), sections 3.8 and 3.9, give the classes.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError, check_clock
from workbench.matrices.linear_algebra.exact_lp import solve_inequalities
from workbench.matrices.linear_algebra.in_time import null_space
from workbench.matrices.linear_algebra.rationals import Vector, doubles, product, spread, submatrix

CHUNK = 400_000
"""Number of entries in a batch of submatrices that are filtered in floating point at once."""
SMALLEST_FILTERED = 7
"""Smallest order for which the floating-point filter saves time."""

SEARCHED = 22
"""Largest order for which all 2^n index sets are examined, if there is time."""
FEW = 20_000
"""Number of index sets of one size that are examined beyond that order."""


@dataclass(eq=False)
class Scan:
    """Findings of the search, and how far it came.

    `found` maps "negative" and "zero" to an index set with such a minor; "E0", "E", "R0" and "plus" to the nonzero
    x >= 0 that contradicts the class ("plus": x^T M x = 0 and M x != 0). `complete` is the size up to which all index
    sets were examined, n when nothing else can be found; `reason` says why the search ended earlier.
    """

    found: dict[str, Any] = field(default_factory=dict)
    complete: int = 0
    reason: str | None = None


def scan(M: fmpq_mat, sought: set[str], deadline: float) -> Scan:
    """Examine all of M (n, n) and then its index sets by size, until all that is `sought` is found or the time is
    over; beyond order `SEARCHED` only at the sizes before the first with more than `FEW` sets."""
    n = M.nrows()
    result = Scan()
    left = set(sought)
    try:
        check_clock(deadline)
        A = _scaled(M) if n >= SMALLEST_FILTERED else None
        if n <= SEARCHED:
            result.found |= _look(M, tuple(range(n)), left, deadline)
            left -= result.found.keys()
        for k in range(1, n + 1):
            if n > SEARCHED and math.comb(n, k) > FEW:
                result.reason = f"the order {n} exceeds {SEARCHED}: only submatrices below order {k} were seen"
                return result
            for a in _suspects(n, k, A, left, deadline):
                if not left:
                    return result
                check_clock(deadline)
                result.found |= _look(M, a, left, deadline)
                left -= result.found.keys()
            result.complete = k
    except OutOfTimeError:
        result.reason = f"{OUT_OF_TIME} after the principal submatrices of order {result.complete} of {n}"
    return result


def _look(M: fmpq_mat, a: tuple[int, ...], left: set[str], deadline: float) -> dict:
    """Findings from the principal submatrix of index set a."""
    B = submatrix(M, a)
    found: dict[str, Any] = {}
    if "negative" in left and B.det() < 0:
        found["negative"] = a
    try:
        x = B.solve(fmpq_mat(len(a), 1, [fmpq(-1)] * len(a))).entries()
        if min(x) > 0:
            found["E0"] = found["E"] = spread(M.nrows(), a, x)
    except ZeroDivisionError:
        found["zero"] = a
        if left & {"E", "R0", "plus"}:
            found |= _of_null_space(M, a, B, deadline)
    return {name: x for name, x in found.items() if name in left}


def _of_null_space(M: fmpq_mat, a: tuple[int, ...], B: fmpq_mat, deadline: float) -> dict:
    k = len(a)
    found: dict[str, Vector] = {}
    _, null = null_space(B)
    if len(null) > 1:
        # The task is to find one null vector >= 0 with M v >= 0 in a space of them. (The other classes are decided by
        # submatrices of nullity one.)
        rest = [i for i in range(M.nrows()) if i not in a]
        rows = [[sign * M[i, j] for j in a] for sign, some in ((1, a), (-1, a), (1, rest)) for i in some]
        A = fmpq_mat(len(rows) + 1, k, [x for row in (*rows, [fmpq(1)] * k) for x in row])
        x, _ = solve_inequalities(A, [fmpq(0)] * len(rows) + [fmpq(1)], deadline)
        return {} if x is None else {"R0": spread(M.nrows(), a, x)}
    if min(null[0]) < 0:
        return found
    x = spread(M.nrows(), a, null[0])
    found["E"] = x
    image = product(M, x)
    if min(image) >= 0:
        found["R0"] = x
    if any(image):
        found["plus"] = x
    return found


def _suspects(n: int, k: int, A: NDArray | None, left: set[str], deadline: float) -> Iterator[tuple[int, ...]]:
    """The index sets of size k that floating-point bounds cannot exclude for everything sought."""
    sets = itertools.combinations(range(n), k)
    if A is None or k < 3:
        yield from sets
        return
    while chunk := list(itertools.islice(sets, max(1, CHUNK // k**2))):
        check_clock(deadline)
        cleared = _cleared(A, np.array(chunk), "negative" in left, bool(left & {"E0", "E"}))
        yield from (a for a, clear in zip(chunk, cleared, strict=True) if not clear)


def _cleared(A: NDArray, sets: NDArray, sign: bool, monotone: bool) -> NDArray:
    """Per index set: whether B = A_aa is proved nonsingular, with positive minor if asked, and B^-1 e not negative.

    With X ~ B^-1 and E >= |I - X B| entrywise, rounding included, |E|_inf = r < 1/4 makes B nonsingular and moves no
    entry of X e by more than 4/3 r |X e|_inf. The LU factors behind the sign of the determinant are those of
    B + F with |F|_inf <= gamma_k k^2 2^(k-1) |B|_max (partial pivoting); |B^-1|_inf |F|_inf < 1 makes both
    determinants equal in sign. Twice the constants cover the evaluation and the rounding of the entries of A.
    """
    c, k = sets.shape
    B = A[sets[:, :, None], sets[:, None, :]]
    cleared = np.zeros(c, dtype=bool)
    signs = np.linalg.slogdet(B)[0]
    regular = np.flatnonzero(signs > 0 if sign else signs != 0)
    B = B[regular]
    X = np.linalg.inv(B)
    with np.errstate(over="ignore", invalid="ignore"):
        gamma = 2 * (k + 2) * 2.0**-53
        size = np.abs(X)
        E = np.abs(np.eye(k) - X @ B) + 2 * gamma * (size @ np.abs(B))
        r = E.sum(axis=2).max(axis=1)
        fine = r < 0.25
        if monotone:
            sums = X.sum(axis=2)
            # The sum itself is rounded by less than k u |X| e.
            error = 1.5 * (r * np.abs(sums).max(axis=1) + gamma * size.sum(axis=2).max(axis=1))
            fine &= sums.max(axis=1) > error
        if sign:
            fine &= 4 * size.sum(axis=2).max(axis=1) * gamma * k**2 * 2.0 ** (k - 1) * np.abs(B).max(axis=(1, 2)) < 0.5
    cleared[regular[fine]] = True
    return cleared


def _scaled(M: fmpq_mat) -> NDArray | None:
    """M with rows and columns scaled by powers of two, as doubles rounded once; None where doubles cannot hold it."""
    A = doubles(M)
    nonzero = np.array([x != 0 for x in M.entries()]).reshape(A.shape)
    size = np.abs(A)
    if not ((size[nonzero] > 1e-100) & (size[nonzero] < 1e100)).all():
        return None
    for axis in (1, 0):
        largest = np.abs(A).max(axis=axis, keepdims=True)
        A = A * np.exp2(-np.round(np.log2(np.where(largest > 0, largest, 1.0))))
    return A
