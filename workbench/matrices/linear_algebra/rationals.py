"""Rational numbers, vectors and matrices: to and from doubles and text, their products and parts."""

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

from workbench.support.arrays import Array

Vector = list[fmpq]


def exact(x: float) -> fmpq:
    """The rational value of a double."""
    return fmpq(*float(x).as_integer_ratio())


def nearest_double(q: fmpq) -> float:
    """The double nearest to a rational, infinite beyond the range; Python divides integers with a single rounding."""
    try:
        return int(q.p) / int(q.q)
    except OverflowError:
        return math.inf if q > 0 else -math.inf


def fraction(x: fmpq) -> Fraction:
    """A rational in the arithmetic of the verifier."""
    return Fraction(int(x.p), int(x.q))


def doubles(A: fmpq_mat | Iterable[fmpq]) -> Array:
    """The nearest doubles of a matrix (m, n) or a vector (n)."""
    if isinstance(A, fmpq_mat):
        return np.array([nearest_double(x) for x in A.entries()]).reshape(A.nrows(), A.ncols())
    return np.array([nearest_double(x) for x in A])


def as_text(x: list[fmpq] | None) -> list[str] | None:
    """Rationals as "p/q" strings (whole numbers without a denominator)."""
    return None if x is None else [str(value) for value in x]


def rows_as_text(M: fmpq_mat) -> list[list[str]]:
    """The rows of a matrix, likewise."""
    return [[str(value) for value in row] for row in M.tolist()]


def dot(x: Iterable[fmpq], y: Iterable[fmpq]) -> fmpq:
    """x . y."""
    return sum((a * b for a, b in zip(x, y, strict=True)), fmpq(0))


def product(M: fmpq_mat, x: Sequence[fmpq]) -> Vector:
    """M x."""
    return (M * fmpq_mat(len(x), 1, x)).entries()


def affine(M: fmpq_mat, x: Sequence[fmpq], q: Sequence[fmpq]) -> Vector:
    """M x + q."""
    return [a + b for a, b in zip(product(M, x), q, strict=True)]


def identity(n: int) -> fmpq_mat:
    """The identity (n, n)."""
    return fmpq_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])


def moduli(A: fmpq_mat) -> fmpq_mat:
    """|A|, entry by entry."""
    return fmpq_mat(A.nrows(), A.ncols(), [abs(x) for x in A.entries()])


def spread(n: int, a: Iterable[int], values: Iterable[fmpq]) -> Vector:
    """The vector (n) with these values at the indices a and zeros elsewhere."""
    x = [fmpq(0)] * n
    for i, value in zip(a, values, strict=True):
        x[i] = value
    return x


def whole_rows(M: fmpq_mat) -> fmpz_mat:
    """M (m, n), m and n at least one, with every row scaled to integers by a positive factor."""
    return fmpz_mat([fmpq_mat([row]).numer_denom()[0].entries() for row in M.tolist()])


def submatrix(M: fmpq_mat, a: Sequence[int], b: Sequence[int] | None = None) -> fmpq_mat:
    """The submatrix M_ab; the principal one, M_aa, without b."""
    b = a if b is None else b
    return fmpq_mat(len(a), len(b), [M[i, j] for i in a for j in b])


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
