"""Triangular factors that prove a quadratic form positive, in the format of certificates (`certificates.factors`)."""

from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from workbench.engine.timing import check_clock
from workbench.matrices.linear_algebra.rationals import as_text, doubles

SHORT = 16
"""Largest order for which exact factors are preferred; beyond, those of floating point are much shorter."""
LARGEST_EXACT = 64
"""Largest order for which exact factors are computed."""
BITS = 52
"""Number of fractional binary digits of the entries of a floating-point factor."""

Support = dict[str, Any]


def factors(S: fmpq_mat, definite: bool, deadline: float) -> Support | None:
    """Factors of the symmetric S (n, n), positive definite or else semidefinite; None if none were found. Raises
    OutOfTimeError."""
    rounded = _rounded(S) if definite and S.nrows() > SHORT else None
    if rounded is None and S.nrows() <= LARGEST_EXACT:
        return exact_factors(S, deadline)
    return rounded


def exact_factors(S: fmpq_mat, deadline: float) -> Support:
    """S = L diag(D) L^T in some order of the indices, L unit lower triangular, given by its rows below the diagonal.
    Raises OutOfTimeError."""
    n, A = S.nrows(), S.tolist()
    left, order = list(range(n)), []
    columns: list[dict[int, fmpq]] = []
    D: list[fmpq] = []
    while left:
        check_clock(deadline)
        # A semidefinite form with a zero on the diagonal has zeros in the whole row.
        k = next((i for i in left if A[i][i] != 0), left[0])
        left.remove(k)
        order.append(k)
        D.append(A[k][k])
        column = {i: A[i][k] / A[k][k] for i in left} if A[k][k] != 0 else {}
        columns.append(column)
        for i, f in column.items():
            check_clock(deadline)
            if f != 0:
                for j in left:
                    A[i][j] -= f * A[k][j]
    rows = [[columns[j].get(i, fmpq(0)) for j in range(p)] for p, i in enumerate(order)]
    return {"by": "ldl", "order": order, "L": [as_text(row) for row in rows], "D": as_text(D)}


def split(S: fmpq_mat, deadline: float) -> Support:
    """Factors of a positive semidefinite matrix that is at most S in every entry: S without its positive entries in
    rows with a zero diagonal, the form of the frictional problems of Stewart and Trinkle, and of Anitescu and Potra.

    Raises OutOfTimeError.
    """
    return {**exact_factors(without_positive_borders(S), deadline), "by": "split"}


def without_positive_borders(S: fmpq_mat) -> fmpq_mat:
    """S with zeros for its positive entries in rows and columns whose diagonal entry is zero."""
    empty = {i for i in range(S.nrows()) if S[i, i] == 0}
    return fmpq_mat(
        [
            [fmpq(0) if v > 0 and (i in empty or j in empty) else v for j, v in enumerate(row)]
            for i, row in enumerate(S.tolist())
        ]
    )


def _rounded(S: fmpq_mat) -> Support | None:
    """A Cholesky factor rounded to multiples of 2^-BITS, of S scaled by powers of two and shifted towards zero by more
    than all rounding: the remainder S - G G^T is then diagonally dominant."""
    n = S.nrows()
    A = doubles(S)
    diagonal = np.diag(A)
    if not ((diagonal > 1e-200) & (diagonal < 1e200)).all():
        return None
    powers = -np.round(0.5 * np.log2(diagonal)).astype(int)
    A = A * np.exp2(powers)[:, None] * np.exp2(powers)
    shift = 8.0 * n**1.5 * 2.0**-BITS
    try:
        G = np.linalg.cholesky(A - shift * np.eye(n))
    except np.linalg.LinAlgError:
        return None
    whole = np.rint(G * 2.0**BITS).astype(np.int64)
    rows = [whole[i, : i + 1].tolist() for i in range(n)]
    return {"by": "cholesky", "powers": powers.tolist(), "bits": BITS, "G": rows}
