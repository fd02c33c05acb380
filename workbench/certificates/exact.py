"""Exact arithmetic for checking: rationals as text, and elimination in integers. Standard library only."""

import math
import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations
from operator import mul
from typing import Any

from workbench.certificates.limits import DIGITS, ORDER, check_time
from workbench.certificates.outcomes import RefusedError, TooLongError

Vector = list[Fraction]
Rows = list[Vector]
SparseRows = list[dict[int, Fraction]]
"""A large matrix: the entries of each row other than zero, by their columns."""
AnyRows = Any
"""Rows, or SparseRows: what takes them visits the entries by `nonzeros`."""
Integers = list[list[int]]

NUMBER = re.compile(r"(-?)([0-9]+)(?:/([0-9]+))?")
LONGEST = 4000
"""Number of digits that `int` reads at once; Python refuses more by default."""


def rational(text: Any) -> Fraction:
    """The number written as "p/q" or "p"; RefusedError for anything else."""
    if type(text) is int:
        return Fraction(text)
    match = NUMBER.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise RefusedError(f"{str(text)[:40]!r} is not an exact number such as '-4/3'")
    sign, numerator, denominator = match.groups()
    if max(len(numerator), len(denominator or "")) > DIGITS:
        raise RefusedError(f"the number {text[:20]}... has more than {DIGITS} digits above or below the line")
    below = _integer(denominator) if denominator else 1
    if below == 0:
        raise RefusedError(f"{str(text)[:40]!r} divides by zero")
    return Fraction(-_integer(numerator) if sign else _integer(numerator), below)


def _integer(digits: str) -> int:
    if len(digits) <= LONGEST:
        return int(digits)
    half = len(digits) // 2
    return _integer(digits[:-half]) * 10**half + _integer(digits[-half:])


def vector(given: Any, n: int, what: str) -> Vector:
    """n numbers; RefusedError for another length."""
    if not isinstance(given, list) or len(given) != n:
        raise RefusedError(f"{what} is not a list of {n} numbers")
    found = []
    for x in given:
        check_time()
        found.append(rational(x))
    return found


def index(given: Any, n: int, what: str) -> int:
    """An index below n."""
    if type(given) is not int or not 0 <= given < n:
        raise RefusedError(f"{what} is {given!r}, not an index from 0 to {n - 1}")
    return given


def indices(given: Any, n: int, what: str) -> list[int]:
    """Distinct indices below n."""
    if not isinstance(given, list) or len(given) > n:
        raise RefusedError(f"{what} is not a list of at most {n} indices")
    found = [index(i, n, what) for i in given]
    if len(set(found)) != len(found):
        raise RefusedError(f"{what} names an index twice")
    return found


def is_sparse(M: AnyRows) -> bool:
    """Whether the rows hold the entries other than zero only."""
    return isinstance(M[0], dict)


def nonzeros(row: Vector | dict[int, Fraction]) -> Iterable[tuple[int, Fraction]]:
    """The entries of a row with their columns, all those other than zero among them."""
    return row.items() if isinstance(row, dict) else enumerate(row)


def times(M: AnyRows, x: Vector) -> Vector:
    """M x."""
    return [dot([*row.values()], [x[j] for j in row]) if isinstance(row, dict) else dot(row, x) for row in M]


def dot(x: Vector, y: Vector) -> Fraction:
    """The inner product."""
    total = Fraction(0)
    for u, v in zip(x, y, strict=True):
        if u and v:
            check_time()
            total += u * v
    return total


def transposed(M: AnyRows) -> AnyRows:
    """M^T."""
    if not is_sparse(M):
        return [list(column) for column in zip(*M, strict=True)]
    found: SparseRows = [{} for _ in M]
    for i, row in enumerate(M):
        check_time()
        for j, x in nonzeros(row):
            found[j][i] = x
    return found


def index_sets(n: int) -> Iterator[list[int]]:
    """All index sets of n indices but the empty one, by size."""
    for k in range(1, n + 1):
        for a in combinations(range(n), k):
            check_time()
            yield list(a)


def part(M: AnyRows, a: list[int]) -> Rows:
    """The principal submatrix M_aa. TooLongError for more than `ORDER` rows of a large matrix."""
    if is_sparse(M) and len(a) > ORDER:
        raise TooLongError(f"a principal submatrix of {len(a)} rows; at most {ORDER} are written out")
    return [[row.get(j, Fraction(0)) if isinstance(row, dict) else row[j] for j in a] for row in (M[i] for i in a)]


def symmetric(M: AnyRows) -> AnyRows:
    """M + M^T."""
    found: Any = []
    for row, column in zip(M, transposed(M), strict=True):
        check_time()
        if isinstance(row, dict):
            found.append(dict(column))
            for j, x in row.items():
                found[-1][j] = found[-1].get(j, Fraction(0)) + x
        else:
            found.append([x + y for x, y in zip(row, column, strict=True)])
    return found


def common_denominator(numbers: Iterable[Fraction]) -> int:
    """The least common denominator."""
    found = 1
    for x in numbers:
        check_time()
        found = math.lcm(found, x.denominator)
    return found


def integer_rows(M: Rows) -> tuple[Integers, list[int]]:
    """M with each row scaled to integers by a positive factor, and the factors."""
    factors = [common_denominator(row) for row in M]
    return [_scaled(row, f) for row, f in zip(M, factors, strict=True)], factors


def integers(M: Rows) -> Integers:
    """M scaled to integers by one positive factor."""
    factor = common_denominator(x for row in M for x in row)
    return [_scaled(row, factor) for row in M]


def _scaled(row: Vector, factor: int) -> list[int]:
    check_time()
    return [x.numerator * (factor // x.denominator) for x in row]


def determinant(M: Rows) -> Fraction:
    """Determinant by elimination without fractions (Bareiss, Math. Comp. 22, 1968)."""
    A, factors = integer_rows(M)
    n, previous, sign = len(A), 1, 1
    for k in range(n - 1):
        p = next((i for i in range(k, n) if A[i][k]), None)
        if p is None:
            return Fraction(0)
        if p != k:
            A[k], A[p], sign = A[p], A[k], -sign
        for i in range(k + 1, n):
            check_time()
            for j in range(k + 1, n):
                A[i][j] = (A[i][j] * A[k][k] - A[i][k] * A[k][j]) // previous
        previous = A[k][k]
    return Fraction(sign * A[-1][-1], math.prod(factors)) if n else Fraction(1)


def schur(A: Integers, p: int, previous: int) -> Integers:
    """previous^-1 (a_pp A - A_p A^p) without row and column p: the Schur complement on p, times the pivot.

    Starting with integers and previous = 1, and continuing with the last pivot, every division is exact.
    """
    pivot, row, found = A[p][p], A[p], []
    for i, other in enumerate(A):
        if i != p:
            check_time()
            found.append([(x * pivot - other[p] * row[j]) // previous for j, x in enumerate(other) if j != p])
    return found


def without(A: Integers, p: int) -> Integers:
    """A without row and column p."""
    return [[x for j, x in enumerate(row) if j != p] for i, row in enumerate(A) if i != p]


def is_positive_definite(S: Rows) -> bool:
    """Whether the symmetric S is positive definite, by elimination without fractions."""
    A, previous = integers(S), 1
    while A:
        if A[0][0] <= 0:
            return False
        A, previous = schur(A, 0, previous), A[0][0]
    return True


def is_positive_semidefinite(S: Rows) -> bool:
    """Whether the symmetric S is positive semidefinite: a pivot may be zero if its whole row is."""
    A, previous = integers(S), 1
    while A:
        if A[0][0] < 0 or (A[0][0] == 0 and any(A[0])):
            return False
        A, previous = (schur(A, 0, previous), A[0][0]) if A[0][0] else (without(A, 0), previous)
    return True


def solve(M: Rows, b: Vector) -> Vector | None:
    """The x with M x = b; None where M is singular."""
    A = [[*row, c] for row, c in zip(M, b, strict=True)]
    n = len(A)
    for k in range(n):
        p = next((i for i in range(k, n) if A[i][k]), None)
        if p is None:
            return None
        A[k], A[p] = A[p], A[k]
        A[k] = [x / A[k][k] for x in A[k]]
        for i in range(n):
            if i != k and A[i][k]:
                check_time()
                f = A[i][k]
                A[i] = [x - f * y for x, y in zip(A[i], A[k], strict=True)]
    return [row[-1] for row in A]


def rank(M: Rows) -> int:
    """Rank by elimination without fractions."""
    A, previous, r = integer_rows(M)[0], 1, 0
    for column in range(len(A[0]) if A else 0):
        p = next((i for i in range(r, len(A)) if A[i][column]), None)
        if p is None:
            continue
        A[r], A[p] = A[p], A[r]
        row, pivot = A[r], A[r][column]
        for i in range(r + 1, len(A)):
            check_time()
            f = A[i][column]
            A[i] = [(x * pivot - f * y) // previous for x, y in zip(A[i], row, strict=True)]
        previous, r = pivot, r + 1
    return r


def gram(G: Integers) -> Integers:
    """The lower triangle of G G^T for a lower triangular G, row by row."""
    found = []
    for i in range(len(G)):
        check_time()
        found.append([sum(map(mul, G[i][: j + 1], G[j][: j + 1])) for j in range(i + 1)])
    return found
