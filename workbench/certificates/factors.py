"""Check whether the factors of a certificate prove a quadratic form positive. Standard library only.

S stands for M + M^T. Three kinds of support:

ldl       an order of the indices and S = L diag(D) L^T in it, L unit lower triangular, given by rows without the
          diagonal: positive definite for D > 0, positive semidefinite for D >= 0
split     the same factors for a matrix that is at most S in every entry: S is copositive
cholesky  powers of two 2^e_i, and a lower triangular G of integers: 2^e_i S_ij 2^e_j - 4^-bits (G G^T)_ij is strictly
          diagonally dominant, hence S is positive definite
"""

from fractions import Fraction
from typing import Any

from workbench.certificates.documents import check_fields
from workbench.certificates.exact import Rows, dot, gram, indices, integers, schur, symmetric, vector
from workbench.certificates.limits import check_time
from workbench.certificates.outcomes import RefusedError, RefutedError, TooLongError

FIELDS = {"ldl": ("order", "L", "D"), "split": ("order", "L", "D"), "cholesky": ("powers", "bits", "G")}
"""The fields of a support besides `by`."""
PROVED = {"PD": ("ldl", "cholesky"), "PSD": ("ldl",), "copositive": ("split",)}
"""The property that the factors prove."""
LARGEST_POWER = 4000
"""Largest exponent of two; doubles range over 2^-1074 to 2^1024, and a certificate with larger ones is refused."""


def check(M: Rows, name: str, support: Any) -> None:
    """Raise RefusedError unless the factors prove M positive definite (PD), semidefinite (PSD) or copositive."""
    by = support.get("by") if isinstance(support, dict) else None
    if by not in PROVED.get(name, ()):
        raise RefusedError(f"{name} cannot be proved by {str(by)[:20]!r}")
    check_fields(support, ("by", *FIELDS[by]), "the support")
    S = symmetric(M)
    if by == "cholesky":
        _check_cholesky(S, support)
    else:
        order, D, product = _multiplied(support, len(S))
        if (min(D) <= 0) if name == "PD" else (min(D) < 0):
            raise RefutedError(f"the factor D has the entry {min(D)}")
        for i, a in enumerate(order):
            check_time()
            for j, b in enumerate(order[: i + 1]):
                left = S[a][b] - product[i][j]
                if left < 0 if by == "split" else left:
                    raise RefutedError(f"the factors do not give the entry {a}, {b}")


def spans(S: Rows, a: list[int]) -> bool:
    """Whether elimination in the symmetric S has positive pivots at the indices a and a zero remainder: then S is
    positive semidefinite."""
    A, left, previous = integers(S), list(range(len(S))), 1
    for k in a:
        p = left.index(k)
        pivot = A[p][p]
        if pivot <= 0:
            return False
        A, previous = schur(A, p, previous), pivot
        left.pop(p)
    return not any(map(any, A))


def _multiplied(support: dict[str, Any], n: int) -> tuple[list[int], list[Fraction], Rows]:
    """The order, D, and the lower triangle of L diag(D) L^T."""
    order = indices(support.get("order"), n, "the order")
    rows = support.get("L")
    if len(order) != n or not isinstance(rows, list) or len(rows) != n:
        raise RefusedError(f"the factors are not those of a matrix of order {n}")
    D = vector(support.get("D"), n, "D")
    L = [[*vector(row, i, f"row {i} of L"), Fraction(1)] for i, row in enumerate(rows)]
    LD = []
    for row in L:
        check_time()
        LD.append([x * d for x, d in zip(row, D, strict=False)])
    return order, D, [[dot(LD[i][: j + 1], L[j]) for j in range(i + 1)] for i in range(n)]


def _check_cholesky(S: Rows, support: dict[str, Any]) -> None:
    n = len(S)
    rows = support.get("G")
    if not isinstance(rows, list) or len(rows) != n:
        raise RefusedError(f"G has not {n} rows")
    rows = [whole_numbers(row, i + 1, f"row {i} of G") for i, row in enumerate(rows)]
    powers, [bits] = whole_numbers(support.get("powers"), n, "powers"), whole_numbers([support.get("bits")], 1, "bits")
    if max(abs(x) for x in (*powers, bits)) > LARGEST_POWER:
        raise TooLongError(f"a power of two exceeds {LARGEST_POWER}")
    product, unit = gram(rows), Fraction(4) ** -bits
    sums, diagonal = [Fraction(0)] * n, [Fraction(0)] * n
    for i in range(n):
        check_time()
        for j in range(i + 1):
            left = S[i][j] * Fraction(2) ** (powers[i] + powers[j]) - product[i][j] * unit
            if i == j:
                diagonal[i] = left
            else:
                sums[i] += abs(left)
                sums[j] += abs(left)
    weak = next((i for i in range(n) if not diagonal[i] > sums[i]), None)
    if weak is not None:
        raise RefutedError(f"what G leaves of the matrix is not diagonally dominant in row {weak}")


def whole_numbers(given: Any, length: int, what: str) -> list[int]:
    """Integers in a list of this length."""
    if not isinstance(given, list) or len(given) != length or not all(type(x) is int for x in given):
        raise RefusedError(f"{what}: {length} integers are needed")
    return given
