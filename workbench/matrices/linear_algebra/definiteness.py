"""Definiteness of the symmetric part of a matrix: exact with directions as proof, or numerical and marked as such.

By Sylvester's law of inertia the pivots of an LDL^T factorisation have the signs of the eigenvalues. It is computed
without fractions (Bareiss, Math. Comp. 22, 1968) on the integers over a common denominator, hence without rounding.
Large matrices are proved definite by a floating-point Cholesky factor with a bound on all rounding (the idea of Rump,
BIT 46, 2006).
"""

import math
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat, fmpz
from numpy.typing import NDArray

from workbench.engine.lazy import linalg
from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError, check_clock
from workbench.matrices.linear_algebra.in_time import bits, elimination_seconds, solution
from workbench.matrices.linear_algebra.rationals import as_text, doubles, exact, extend_from_schur, submatrix
from workbench.readers.matrix import Matrix
from workbench.support.errors import DataError

ELIMINATED = 16
"""Largest order for which elimination comes first: its directions have short numbers."""
EXACT_SIZE = 64
"""Largest order for which definiteness is decided in exact arithmetic, if there is time."""


@dataclass(frozen=True, eq=False)
class Signs:
    """The signs of the form x^T S x: a rational x with a positive value, one with a negative value, None where there
    is none, and whether S is singular (None, undecided, once both signs are known)."""

    positive: list[fmpq] | None
    negative: list[fmpq] | None
    singular: bool | None


@dataclass(frozen=True, eq=False)
class Definiteness:
    """Verdict on the quadratic form x^T M x.

    `verdict` is "positive definite", "positive semidefinite" (the zero matrix too), "negative definite", "negative
    semidefinite", "indefinite" or "undecided". `smallest` and `largest` are the extreme eigenvalues of (M + M^T)/2 in
    floating point, accurate to about `tolerance`, all in the unit of M. `exact` tells whether `proof` is a proof.
    `positive_direction` is x with x^T M x > 0, `negative_direction` x with x^T M x < 0, exact "p/q"; None where there
    is none or none was sought.
    """

    verdict: str
    smallest: float
    largest: float
    tolerance: float
    exact: bool
    proof: str
    positive_direction: list[str] | None = None
    negative_direction: list[str] | None = None


def definiteness(matrix: Matrix, deadline: float = math.inf) -> Definiteness:
    """Definiteness of the symmetric part of a square matrix; decided exactly, in time, up to order `EXACT_SIZE`.

    Beyond that, definite and indefinite matrices are proved where rounding allows, and others are "undecided"
    (including every semidefinite one). Raises DataError when the matrix is not square.
    """
    M = matrix.values
    n = M.shape[0]
    if n != M.shape[1]:
        raise DataError(f"the matrix is {n} x {M.shape[1]}; definiteness needs a square one")
    eigenvalues = np.linalg.eigvalsh(0.5 * M + 0.5 * M.T)
    low, high = float(eigenvalues[0]), float(eigenvalues[-1])
    tolerance = n * float(np.finfo(float).eps) * max(abs(low), abs(high))
    if n > EXACT_SIZE:
        for sign, verdict in ((1, "positive definite"), (-1, "negative definite")):
            if proved_positive_definite(sign * M):
                return Definiteness(verdict, low, high, tolerance, True, "Cholesky factor with an error bound")
        positive, negative = (_direction(sign * M) for sign in (-1, 1))
        if positive and negative:
            proof = "two exact directions of opposite sign"
            return Definiteness("indefinite", low, high, tolerance, True, proof, positive, negative)
        return Definiteness("undecided", low, high, tolerance, False, "floating-point eigenvalues and their tolerance")
    try:
        signs = signs_of_form(symmetric_part(matrix.exact), deadline)
    except OutOfTimeError:
        return Definiteness("undecided", low, high, tolerance, False, f"{OUT_OF_TIME} before an exact verdict")
    if signs.positive and signs.negative:
        verdict, proof = "indefinite", "two exact directions of opposite sign"
    else:
        sense = "negative" if signs.negative else "positive"
        verdict = f"{sense} {'semidefinite' if signs.singular else 'definite'}"
        proof = f"exact LDL^T: every pivot is {sense}{' or zero' if signs.singular else ''}"
    directions = as_text(signs.positive), as_text(signs.negative)
    return Definiteness(verdict, low, high, tolerance, True, proof, *directions)


def _direction(M: NDArray) -> list[str] | None:
    """An exact x with x^T M x < 0, if one is found and proved."""
    x = lowest_direction(0.5 * M + 0.5 * M.T)
    return None if x is None or not form_at(M, x) < 0 else as_text([exact(v) for v in x])


def symmetric_part(M: fmpq_mat) -> fmpq_mat:
    """(M + M^T)/2, exactly."""
    return (M + M.transpose()) * fmpq(1, 2)


def signs_of_form(S: fmpq_mat, deadline: float = math.inf) -> Signs:
    """The signs of x^T S x for a symmetric rational S (n, n), by fraction-free symmetric elimination.

    Beyond order `ELIMINATED` it comes last, after directions and a rank from floating point that pass the exact test.
    Raises OutOfTimeError.
    """
    if S.nrows() > ELIMINATED:
        found = _guessed_signs(S, deadline)
        if found:
            return found
    return _eliminated_signs(S, deadline)


def _guessed_signs(S: fmpq_mat, deadline: float) -> Signs | None:
    n = S.nrows()
    values = doubles(S)
    if not np.isfinite(values).all() or not values.any():
        return None
    directions = []
    for sign in (-1, 1):
        v = lowest_direction(sign * values)
        x = None if v is None else fmpq_mat(n, 1, [exact(t) for t in v])
        directions.append(x.entries() if x is not None and sign * (x.transpose() * S * x)[0, 0] < 0 else None)
    positive, negative = directions
    if positive and negative:
        return Signs(positive, negative, None)
    sign = -1 if negative else 1
    if positive_definite(sign * S, deadline):
        return Signs(positive, negative, False)
    semidefinite = spans(sign * S, independent_rows(sign * values), deadline)
    return Signs(positive, negative, True) if semidefinite else None


def _eliminated_signs(S: fmpq_mat, deadline: float) -> Signs:
    A = S.numer_denom()[0].tolist()
    eliminated: list[int] = []
    left = list(range(S.nrows()))
    previous = fmpz(1)
    found: dict[bool, list[fmpq] | None] = {True: None, False: None}
    while left and not (found[True] and found[False]):
        k = next((i for i in left if A[i][i] != 0), None)
        if k is None:
            pair = next(((i, j) for i in left for j in left if A[i][j] != 0), None)
            if pair is None:
                break
            # On a zero diagonal one nonzero entry gives both signs: e_i + e_j and e_i - e_j.
            i, j = pair
            same = (A[i][j] > 0) == (previous > 0)
            return Signs(
                found[True] or extend_from_schur(S, eliminated, {i: 1, j: 1 if same else -1}),
                found[False] or extend_from_schur(S, eliminated, {i: 1, j: -1 if same else 1}),
                None,
            )
        check_clock(deadline)
        pivot = A[k][k]
        # Entries of A are minors of S: the Schur complement's pivot is their quotient.
        positive = (pivot > 0) == (previous > 0)
        found[positive] = found[positive] or extend_from_schur(S, eliminated, {k: 1})
        left.remove(k)
        for i in left:
            for j in left:
                if j <= i:
                    A[i][j] = A[j][i] = (A[i][j] * pivot - A[i][k] * A[k][j]) // previous
        eliminated.append(k)
        previous = pivot
    both = found[True] is not None and found[False] is not None
    return Signs(found[True], found[False], None if both else bool(left))


def positive_definite(S: fmpq_mat, deadline: float = math.inf) -> bool:
    """Whether the symmetric rational S (n, n) is positive definite: its leading principal minors, exactly (Sylvester).

    Raises OutOfTimeError.
    """
    b = bits(S)
    for k in range(1, S.nrows() + 1):
        check_clock(deadline, elimination_seconds(k, b))
        if submatrix(S, range(k)).det() <= 0:
            return False
    return True


def spans(T: fmpq_mat, a: list[int], deadline: float) -> bool:
    """Whether T_aa is positive definite and the Schur complement on it zero, exactly: T is positive semidefinite then.

    Raises OutOfTimeError.
    """
    n = T.nrows()
    if not a:
        return not any(T.entries())
    rest = [i for i in range(n) if i not in set(a)]
    T_aa = submatrix(T, a)
    if not positive_definite(T_aa, deadline):
        return False
    T_ar = submatrix(T, a, rest)
    return submatrix(T, rest) == T_ar.transpose() * solution(T_aa, T_ar, deadline)


def independent_rows(S: NDArray) -> list[int]:
    """Indices of a principal submatrix of approximately full rank, by Cholesky's method with the largest pivots."""
    left = S.copy()
    a: list[int] = []
    size = np.diag(S).max()
    while len(a) < len(S):
        k = int(np.diag(left).argmax())
        if not left[k, k] > 1e-9 * size:
            break
        left -= np.outer(left[:, k], left[k] / left[k, k])
        a.append(k)
    return sorted(a)


def proved_positive_definite(M: NDArray) -> bool:
    """Whether a rigorous error bound proves x^T M x > 0 for all x != 0; M (n, n) holds exact entries rounded once.

    With u = 2^-53, a Cholesky factorisation of T that ends proves the smallest eigenvalue of T to be above -gamma tr T,
    gamma = (n + 1) u / (1 - (n + 1) u) (Rump, BIT 46, 2006). T is the symmetric part less a diagonal that exceeds this,
    with another margin for reciprocals in place of divisions, and the rounding of the symmetric part.
    """
    scaled = _scaled_form(M)
    if scaled is None:
        return False
    try:
        np.linalg.cholesky(_shifted(*scaled[:2]))
    except np.linalg.LinAlgError:
        return False
    return True


def _scaled_form(M: NDArray) -> tuple[NDArray, NDArray, NDArray] | None:
    """The symmetric part, scaled by powers of two to a diagonal near one, row sums of its entries' moduli, the scale.

    None for a diagonal that is not positive, or beyond the limits where underflow cannot matter.
    """
    diagonal = np.diag(M)
    if not ((diagonal > 1e-200) & (diagonal < 1e200)).all():
        return None
    scale = np.exp2(-np.round(0.5 * np.log2(diagonal)))
    with np.errstate(over="ignore", invalid="ignore"):
        A = M * scale[:, None] * scale
        S, size = 0.5 * A + 0.5 * A.T, np.abs(A)
        size = 0.5 * size.sum(axis=1) + 0.5 * size.sum(axis=0)
    return (S, size, scale) if np.isfinite(size).all() else None


def _shifted(S: NDArray, size: NDArray) -> NDArray:
    """S, whose rows err by eps `size` in all, less more than all rounding of its Cholesky factorisation."""
    n, eps = len(S), np.finfo(float).eps
    shift = eps * (n + 8) * np.trace(S) + 4 * eps * size
    S[np.diag_indices(n)] -= shift
    return S


def pivot_direction(M: NDArray) -> NDArray | None:
    """An integer x (n) at which elimination in the symmetric part of M (n, n) meets a pivot that is not positive.

    The shifted form of `proved_positive_definite` is eliminated; None where all its pivots are positive.
    """
    scaled = _scaled_form(M)
    if scaled is None:
        return None
    S, scale = _shifted(*scaled[:2]), scaled[2]
    L, k = linalg.lapack.dpotrf(S, lower=1)
    if k <= 0:
        return None
    x = np.zeros(len(S))
    x[k - 1] = 1.0
    if k > 1:
        y = linalg.solve_triangular(L[: k - 1, : k - 1], -S[: k - 1, k - 1], lower=True)
        x[: k - 1] = linalg.solve_triangular(L[: k - 1, : k - 1], y, lower=True, trans=1)
    return whole_direction(x * scale)


def whole_direction(x: NDArray) -> NDArray | None:
    """A direction x (n) in whole numbers; None where it is not finite, or zero."""
    most = np.abs(x).max()
    return np.round(2.0**30 * x / most) if 0 < most < np.inf else None


def lowest_direction(S: NDArray) -> NDArray | None:
    """An approximate integer eigenvector of the symmetric S's (n, n) lowest eigenvalue; None if none is found."""
    try:
        v = linalg.eigh(S, subset_by_index=[0, 0])[1][:, 0]
    except np.linalg.LinAlgError:
        return None
    return whole_direction(v)


def form_at(A: NDArray, x: NDArray) -> float:
    """A proved upper bound of x^T A x, the entries of A (n, n) rounded once; NaN or inf where there is none."""
    n = len(x)
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.abs(x) @ (np.abs(A) @ np.abs(x)) + n * n * 1e-300 * (1 + np.abs(x).max()) ** 2
        return float(x @ (A @ x) + (4 * n + 16) * np.finfo(float).eps * size)
