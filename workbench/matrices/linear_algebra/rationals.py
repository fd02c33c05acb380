"""Rational numbers, vectors and matrices: to and from doubles and text, principal submatrices."""

import math
from collections.abc import Mapping, Sequence

from flint import fmpq, fmpq_mat, fmpz_mat


def exact(x: float) -> fmpq:
    """The rational value of a double."""
    return fmpq(*float(x).as_integer_ratio())


def nearest_double(q: fmpq) -> float:
    """The double nearest to a rational, infinite beyond the range; Python divides integers with a single rounding."""
    try:
        return int(q.p) / int(q.q)
    except OverflowError:
        return math.inf if q > 0 else -math.inf


def as_text(x: list[fmpq] | None) -> list[str] | None:
    """Rationals as "p/q" strings (whole numbers without a denominator)."""
    return None if x is None else [str(value) for value in x]


def whole_rows(M: fmpq_mat) -> fmpz_mat:
    """M (m, n), m and n at least one, with every row scaled to integers by a positive factor."""
    return fmpz_mat([fmpq_mat([row]).numer_denom()[0].entries() for row in M.tolist()])


def submatrix(M: fmpq_mat, a: Sequence[int]) -> fmpq_mat:
    """The principal submatrix M_aa."""
    return fmpq_mat(len(a), len(a), [M[i, j] for i in a for j in a])


def extend_from_schur(M: fmpq_mat, a: list[int], y: Mapping[int, int | fmpq]) -> list[fmpq]:
    """The x (n) equal to y outside a, zero elsewhere, with (M x)_a = 0: x_a = -M_aa^-1 M_ay y, exactly.

    M_aa must be nonsingular. Then x^T M x = y^T (M/M_aa) y for symmetric M, the form of the Schur complement.
    """
    x = [fmpq(y.get(i, 0)) for i in range(M.nrows())]
    if a:
        rhs = [-sum((M[i, j] * value for j, value in y.items()), fmpq(0)) for i in a]
        solution = submatrix(M, a).solve(fmpq_mat(len(a), 1, rhs))
        for position, i in enumerate(a):
            x[i] = solution[position, 0]
    return x
