"""Is M a P-matrix? All principal minors positive, which is when the LCP(q, M) has exactly one solution for every q.

The verdict never rests on a rounding error. Index sets are visited by size; for each, a floating-point test with a
rigorous error bound proves the minor positive, and what it leaves open is decided in exact arithmetic. So the first
minor found not positive belongs to an index set of least size, from which a sign-reversed vector follows.

Sources: Fiedler and Ptak (Czechoslovak Math. J. 12, 1962) for the sign reversal; Samelson, Thrall and Wesler (Proc.
AMS 9, 1958) for unique solvability; Higham, Accuracy and Stability of Numerical Algorithms, chapter 3, for gamma_k.
"""

import itertools
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat
from numba import njit, types
from numpy.typing import ArrayLike, NDArray

from workbench.diagnostics.definiteness import (
    EXACT_SIZE,
    as_text,
    lift,
    nearest_double,
    proved_positive_definite,
    signs_of_form,
    submatrix,
    symmetric_part,
)
from workbench.errors import DataError
from workbench.kernels import INDICES, MATRIX, VECTOR

CHUNK = 2_000_000
"""Multiplications, about, between two looks at the clock."""
LARGEST_BATCH_ORDER = 8
"""Order up to which `smallest_minor` takes all 2^r - 1 minors of every matrix of a batch."""


@dataclass(frozen=True, eq=False)
class PVerdict:
    """Verdict "P", "not P" or "undecided", with what supports it.

    P: `proof`, in words. Not P: `index_set` a (zero-based, no smaller one exists), the exact `minor` det M_aa <= 0 as
    "p/q", and `sign_reversal`, an exact x != 0 with x_i (M x)_i <= 0 for all i. Undecided: `reason`.
    `minors_checked` counts the minors whose sign is proved, `exact_minors` those of them that needed exact arithmetic.
    `smallest_relative_minor` is the least det M_aa / prod_{i in a} m_ii met (floating point, to a few digits), free of
    units and invariant under positive scaling of rows and columns; None where no minor was computed, or m_ii <= 0.
    """

    verdict: str
    proof: str | None = None
    index_set: tuple[int, ...] | None = None
    minor: str | None = None
    sign_reversal: list[str] | None = None
    reason: str | None = None
    minors_checked: int = 0
    exact_minors: int = 0
    smallest_relative_minor: float | None = None


def p_verdict(M: fmpq_mat, seconds: float = 10.0) -> PVerdict:
    """Decide whether the rational matrix M (n, n) is a P-matrix, in about `seconds` (wall time) at most.

    A positive definite symmetric part is proof enough; otherwise the 2^n - 1 minors are taken, within ten seconds up
    to about n = 20. Raises DataError when M is not square.
    """
    n = M.nrows()
    if n != M.ncols():
        raise DataError(f"the matrix is {n} x {M.ncols()}; the P-property needs a square one")
    deadline = time.monotonic() + seconds
    for i in range(n):
        if M[i, i] <= 0:
            return _not_p(M, (i,), minors_checked=i + 1, exact_minors=i + 1)
    if n <= EXACT_SIZE:
        signs = signs_of_form(symmetric_part(M))
        if signs.negative is None and not signs.singular:
            return PVerdict("P", "the symmetric part is positive definite (exact LDL^T)")
    elif proved_positive_definite(np.array([nearest_double(x) for x in M.entries()]).reshape(n, n)):
        return PVerdict("P", "the symmetric part is positive definite (Cholesky factor with an error bound)")
    return _by_minors(M, deadline, seconds)


def _by_minors(M: fmpq_mat, deadline: float, seconds: float) -> PVerdict:
    """All principal minors of M in the order of their size; the diagonal is known to be positive."""
    n = M.nrows()
    A, integers = _unit_diagonal(M), _integer_rows(M)
    checked, exact, smallest = n, n, 1.0
    for sets in _index_sets(n):
        positive, relative = np.empty(len(sets), dtype=np.int64), np.empty(len(sets))
        _prove_positive(A, sets, positive, relative)
        smallest = min(smallest, float(relative.min()))
        for c in np.flatnonzero(positive == 0):
            if time.monotonic() > deadline:
                return _undecided(n, seconds, sets.shape[1], checked, exact, smallest)
            a = tuple(sets[c].tolist())
            determinant = fmpz_mat([[integers[i][j] for j in a] for i in a]).det()
            ratio = fmpq(determinant, math.prod(integers[i][i] for i in a))
            smallest, exact, checked = min(smallest, nearest_double(ratio)), exact + 1, checked + 1
            if determinant <= 0:
                checked += int(positive[:c].sum())
                return _not_p(M, a, checked, exact, smallest)
        checked += int(positive.sum())
        if time.monotonic() > deadline and checked < 2**n - 1:
            return _undecided(n, seconds, sets.shape[1], checked, exact, smallest)
    proof = f"all {checked} principal minors are positive ({exact} in exact arithmetic, the others by error bounds)"
    return PVerdict("P", proof, minors_checked=checked, exact_minors=exact, smallest_relative_minor=smallest)


def _undecided(n: int, seconds: float, size: int, checked: int, exact: int, smallest: float) -> PVerdict:
    reason = (
        f"the limit of {seconds:g} s was reached after {checked} of 2^{n} - 1 principal minors, "
        f"all positive (sizes below {size} complete)"
    )
    return PVerdict(
        "undecided", reason=reason, minors_checked=checked, exact_minors=exact, smallest_relative_minor=smallest
    )


def _not_p(
    M: fmpq_mat, a: tuple[int, ...], minors_checked: int, exact_minors: int, smallest: float | None = None
) -> PVerdict:
    """The witness from an index set a of least size with det M_aa <= 0.

    With i the last index of a and b the others, det M_bb > 0, and x_i = 1, x_b = -M_bb^-1 M_bi gives (M x)_b = 0,
    (M x)_i = det M_aa / det M_bb <= 0. This x is a positive or negative multiple of M_aa^-1 e_i where the minor is
    negative, and a null vector of M_aa where it is zero.
    """
    x = lift(M, list(a[:-1]), {a[-1]: 1})
    return PVerdict(
        "not P",
        index_set=a,
        minor=str(submatrix(M, a).det()),
        sign_reversal=as_text(x),
        minors_checked=minors_checked,
        exact_minors=exact_minors,
        smallest_relative_minor=smallest,
    )


def _index_sets(n: int) -> Iterator[NDArray[np.int64]]:
    """Index sets of sizes 2 to n, by size, as arrays (c, k) with c chosen to bound the work on one array."""
    for k in range(2, n + 1):
        sets = itertools.combinations(range(n), k)
        count = max(1, CHUNK // k**3)
        while chunk := list(itertools.islice(sets, count)):
            yield np.array(chunk, dtype=np.int64)


def _integer_rows(M: fmpq_mat) -> list[list]:
    """M with every row brought to integers by a positive factor, which no minor's sign notices."""
    rows = []
    for row in M.tolist():
        numerators, _ = fmpq_mat(1, len(row), row).numer_denom()
        rows.append(numerators.tolist()[0])
    return rows


def _unit_diagonal(M: fmpq_mat) -> NDArray[np.float64]:
    """M scaled to ones on the diagonal (exactly), then rounded: its principal minors are the relative ones.

    M_ij / m_ii 2^(s_i - s_j) with 4^s_i near m_ii also evens out different units; entries too large become inf.
    """
    n = M.nrows()
    s = [(int(M[i, i].p).bit_length() - int(M[i, i].q).bit_length()) // 2 for i in range(n)]
    A = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            entry = M[i, j] / M[i, i] * fmpq(2) ** (s[i] - s[j])
            A[i, j] = nearest_double(entry)
    return A


@njit(types.void(MATRIX, types.Array(types.int64, 2, "C"), INDICES, VECTOR), cache=True)
def _prove_positive(A, sets, positive, relative):
    """For every row a of sets (c, k): positive = 1 where det A_aa > 0 is proved, relative = the minor or inf.

    A (n, n) holds the exact entries rounded once. With computed triangular factors B = A_aa ~ L U and their computed
    inverses X (unit lower) and Y (upper, positive diagonal), |I - X B Y|_inf < 1 puts every eigenvalue of X B Y to
    the right of zero, so that det B = det(X B Y) / det Y > 0. Rounding in B and in the two products is at most
    gamma_{2k+2} |X||B||Y| entrywise; the bound is taken with twice that and 1/2 in the place of 1, which covers its own
    evaluation, and underflow given factors below 1e100.
    """
    k = sets.shape[1]
    B, U, X, Y = np.empty((k, k)), np.empty((k, k)), np.empty((k, k)), np.empty((k, k))
    row, magnitude, weight = np.empty(k), np.empty(k), np.empty(k)
    gamma = (4 * k + 8) * 2.0**-52
    for c in range(sets.shape[0]):
        positive[c] = 0
        relative[c] = np.inf
        for i in range(k):
            for j in range(k):
                B[i, j] = A[sets[c, i], sets[c, j]]
                U[i, j] = B[i, j]
                X[i, j] = 0.0
                Y[i, j] = 0.0
        minor = 1.0
        regular = True
        for p in range(k):
            minor *= U[p, p]
            if not U[p, p] > 0.0:
                regular = False
                break
            for i in range(p + 1, k):
                f = U[i, p] / U[p, p]
                U[i, p] = f
                for j in range(p + 1, k):
                    U[i, j] -= f * U[p, j]
        if not regular:
            continue
        largest = 0.0
        for j in range(k):
            X[j, j] = 1.0
            for i in range(j + 1, k):
                s = 0.0
                for p in range(j, i):
                    s -= U[i, p] * X[p, j]
                X[i, j] = s
                largest = max(largest, abs(s))
            Y[j, j] = 1.0 / U[j, j]
            largest = max(largest, Y[j, j])
            for i in range(j - 1, -1, -1):
                s = 0.0
                for p in range(i + 1, j + 1):
                    s -= U[i, p] * Y[p, j]
                Y[i, j] = s / U[i, i]
                largest = max(largest, abs(Y[i, j]))
        if not largest < 1e100:
            continue
        # weight = |B| |Y| 1, so that |X| weight are the row sums of |X||B||Y|.
        for i in range(k):
            s = 0.0
            for j in range(i, k):
                s += abs(Y[i, j])
            magnitude[i] = s
        for i in range(k):
            s = 0.0
            for j in range(k):
                s += abs(B[i, j]) * magnitude[j]
            weight[i] = s
        proved = True
        for i in range(k):
            error = 0.0
            for j in range(k):
                row[j] = 0.0
            for p in range(i + 1):
                error += abs(X[i, p]) * weight[p]
                for j in range(k):
                    row[j] += X[i, p] * B[p, j]
            error *= gamma
            for j in range(k):
                s = 0.0
                for p in range(j + 1):
                    s += row[p] * Y[p, j]
                error += abs(s - 1.0) if i == j else abs(s)
            if not error < 0.5:
                proved = False
                break
        if proved:
            positive[c] = 1
            relative[c] = minor


def smallest_minor(D: ArrayLike) -> NDArray[np.float64]:
    """Smallest principal minor (...) of every matrix of a batch D (..., r, r), r <= 8, in floating point.

    Minors of different order differ in unit (that of an entry to the power of the order): the sign tells the loss of
    the P-property along a trajectory, the size only its approach. Raises DataError for another shape.
    """
    D = np.asarray(D, dtype=float)
    if D.ndim < 2 or D.shape[-1] != D.shape[-2] or not 1 <= D.shape[-1] <= LARGEST_BATCH_ORDER:
        raise DataError(f"D has shape {D.shape}; (..., r, r) with 1 <= r <= {LARGEST_BATCH_ORDER} is needed")
    r = D.shape[-1]
    smallest = np.full(D.shape[:-2], np.inf)
    for k in range(1, r + 1):
        for a in itertools.combinations(range(r), k):
            rows = np.array(a)[:, None]
            smallest = np.minimum(smallest, np.linalg.det(D[..., rows, list(a)]))
    return smallest
