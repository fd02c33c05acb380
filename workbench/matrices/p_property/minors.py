"""All principal minors by size: the verdict on the P-property of a matrix of moderate order, with a smallest witness.

For each index set a floating-point test with a rigorous error bound proves the minor positive; undecided ones are
computed in exact arithmetic. So the first minor found not positive belongs to an index set of minimum size.

Source: Higham, Accuracy and Stability of Numerical Algorithms, chapter 3, for gamma_k.
"""

import itertools
import math
from collections.abc import Iterator

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat
from numba import types
from numpy.typing import NDArray

from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR
from workbench.engine.timing import OUT_OF_TIME, check_clock, clock
from workbench.matrices.linear_algebra.rationals import nearest_double, whole_rows
from workbench.matrices.p_property.witness import PVerdict, not_p

CHUNK = 2_000_000
"""Approximate number of multiplications between two checks of the clock."""


def by_minors(M: fmpq_mat, deadline: float) -> PVerdict:
    """All principal minors of M in the order of their size; the diagonal is known to be positive."""
    n = M.nrows()
    # Positive factors of rows change no sign of a minor.
    A, integers = unit_diagonal(M)[0], whole_rows(M).tolist()
    checked, exact, smallest = n, n, 1.0
    for sets in _index_sets(n):
        positive, relative = np.empty(len(sets), dtype=np.int64), np.empty(len(sets))
        _prove_positive(A, sets, positive, relative)
        smallest = min(smallest, float(relative.min()))
        for c in np.flatnonzero(positive == 0):
            if clock() > deadline:
                return _undecided(n, sets.shape[1], checked, exact, smallest)
            a = tuple(sets[c].tolist())
            determinant = fmpz_mat([[integers[i][j] for j in a] for i in a]).det()
            ratio = fmpq(determinant, math.prod(integers[i][i] for i in a))
            smallest, exact, checked = min(smallest, nearest_double(ratio)), exact + 1, checked + 1
            if determinant <= 0:
                checked += int(positive[:c].sum())
                return not_p(M, a, checked, exact, smallest)
        checked += int(positive.sum())
        if clock() > deadline and checked < 2**n - 1:
            return _undecided(n, sets.shape[1], checked, exact, smallest)
    proof = f"all {checked} principal minors are positive ({exact} in exact arithmetic, the others by error bounds)"
    return PVerdict(
        "P", proof, tree=("minors",), minors_checked=checked, exact_minors=exact, smallest_relative_minor=smallest
    )


def _undecided(n: int, size: int, checked: int, exact: int, smallest: float) -> PVerdict:
    reason = f"{OUT_OF_TIME} after {checked} of 2^{n} - 1 principal minors, all positive (sizes below {size} complete)"
    return PVerdict(
        "undecided", reason=reason, minors_checked=checked, exact_minors=exact, smallest_relative_minor=smallest
    )


def _index_sets(n: int) -> Iterator[NDArray[np.int64]]:
    """Index sets of sizes 2 to n, by size, as arrays (c, k) with c chosen to limit the work per array."""
    for k in range(2, n + 1):
        sets = itertools.combinations(range(n), k)
        count = max(1, CHUNK // k**3)
        while chunk := list(itertools.islice(sets, count)):
            yield np.array(chunk, dtype=np.int64)


def unit_diagonal(M: fmpq_mat, deadline: float = math.inf) -> tuple[NDArray[np.float64], list[int]]:
    """M scaled to ones on the diagonal (exactly), then rounded: its principal minors are the relative ones; and s.

    M_ij / m_ii 2^(s_i - s_j) with 4^s_i near m_ii also balances different units; entries too large become inf. Raises
    OutOfTimeError.
    """
    n = M.nrows()
    s = [(int(M[i, i].p).bit_length() - int(M[i, i].q).bit_length()) // 2 for i in range(n)]
    A = np.empty((n, n))
    for i in range(n):
        check_clock(deadline)
        for j in range(n):
            entry = M[i, j] / M[i, i] * fmpq(2) ** (s[i] - s[j])
            A[i, j] = nearest_double(entry)
    return A, s


@kernel(types.void(MATRIX, types.Array(types.int64, 2, "C"), INDICES, VECTOR))
def _prove_positive(A, sets, positive, relative):
    """For every row a of sets (c, k): positive = 1 where det A_aa > 0 is proved, relative = the minor or inf.

    A (n, n) holds the exact entries rounded once. With computed triangular factors B = A_aa ~ L U and their computed
    inverses X (unit lower) and Y (upper, positive diagonal), |I - X B Y|_inf < 1 puts every eigenvalue of X B Y to
    the right of zero, so that det B = det(X B Y) / det Y > 0. Rounding in B and in the two products is at most
    gamma_{2k+2} |X||B||Y| entrywise; the bound is taken with twice that and 1/2 instead of 1, which covers its own
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
