"""Classes without a short certificate: the checker examines all index sets itself. Standard library only.

That M belongs to P0, nondegenerate, E0, E, R0, copositive, strictly copositive or column sufficient is a statement
on 2^n index sets, and in the worst case nothing shorter is known (Coxson, Math. Program. 64, 1994; Tseng, Math.
Program. 88, 2000). Criteria, for each index set a: a minor's sign; M_aa x = -e with x > 0 as the only solution (not E0,
see `classes.principal`); a null vector of M_aa.
"""

from fractions import Fraction

from workbench.certificates.exact import Rows, determinant, index_sets, part, solve, symmetric, transposed
from workbench.certificates.inequalities import is_feasible
from workbench.certificates.outcomes import RefusedError, RefutedError, TooLongError

LARGEST = 12
"""Largest order for which 2^n index sets are examined, which takes some seconds."""


def check(M: Rows, name: str) -> None:
    """Raise RefutedError if M is not in the class; TooLongError beyond order `LARGEST`."""
    if len(M) > LARGEST:
        raise TooLongError(f"a statement on 2^{len(M)} index sets, which are repeated up to order {LARGEST}")
    tests = {
        "P0": lambda a: determinant(part(M, a)) >= 0,
        "nondegenerate": lambda a: determinant(part(M, a)) != 0,
        "E0": lambda a: not _breaks(M, a, strictly=False),
        "E": lambda a: not _breaks(M, a, strictly=True),
        "copositive": lambda a: not _breaks(symmetric(M), a, strictly=False),
        "strictly_copositive": lambda a: not _breaks(symmetric(M), a, strictly=True),
        "copositive_plus": lambda a: not _breaks(symmetric(M), a, strictly=False) and not _stops(symmetric(M), a),
        "R0": lambda a: not _solves(M, a),
        "column_sufficient": lambda a: _keeps_sufficiency(M, a),
        "row_sufficient": lambda a: _keeps_sufficiency(transposed(M), a),
    }
    if name not in tests:
        raise RefusedError(f"{name} is not proved by going through all index sets")
    failing = next((a for a in index_sets(len(M)) if not tests[name](a)), None)
    if failing is not None:
        raise RefutedError(f"the index set {failing} shows that the matrix is not {name}")


def _breaks(M: Rows, a: list[int], strictly: bool) -> bool:
    """Whether x > 0 on a has (M x)_a < 0 (strictly: <= 0), given that smaller index sets have none."""
    B, k = part(M, a), len(a)
    x = solve(B, [Fraction(-1)] * k)
    if x is not None:
        return min(x) > 0
    return strictly and is_feasible(_null_rows(B), [_at_least_one(i, k) for i in range(k)])


def _stops(S: Rows, a: list[int]) -> bool:
    """Whether some x > 0 on a has (S x)_a = 0 and S x != 0."""
    k = len(a)
    if determinant(part(S, a)):
        return False
    outside = [i for i in range(len(S)) if i not in a]
    positive = [_at_least_one(i, k) for i in range(k)]
    null = _null_rows(part(S, a))
    return any(
        is_feasible(null, [*positive, [*(sign * S[i][j] for j in a), Fraction(-1)]])
        for i in outside
        for sign in (1, -1)
    )


def _solves(M: Rows, a: list[int]) -> bool:
    """Whether x > 0 on a, zero elsewhere, solves LCP(0, M)."""
    k = len(a)
    if determinant(part(M, a)):
        return False
    outside = [[*(M[i][j] for j in a), Fraction(0)] for i in range(len(M)) if i not in a]
    return is_feasible(_null_rows(part(M, a)), [*outside, *(_at_least_one(i, k) for i in range(k))])


def _null_rows(B: Rows) -> Rows:
    return [[*row, Fraction(0)] for row in B]


def _at_least_one(i: int, k: int) -> list[Fraction]:
    """The inequality x_i - 1 >= 0 as a row."""
    return [*(Fraction(i == j) for j in range(k)), Fraction(-1)]


def _keeps_sufficiency(M: Rows, a: list[int]) -> bool:
    """Whether the submatrices of order two of M, and of its principal transform on a, are column sufficient
    (Cottle and Guu, Linear Algebra Appl. 170, 1992)."""
    return all(
        _pair_is_sufficient(T[i][i], T[i][j], T[j][i], T[j][j])
        for T in (M, _transform(M, a))
        if T is not None
        for i in range(len(M))
        for j in range(len(M))
    )


def _transform(M: Rows, a: list[int]) -> Rows | None:
    """The T with (x_a, y_b) = T (y_a, x_b) whenever y = M x; None where M_aa is singular."""
    n = len(M)
    kept = [[M[i][j] if i in a else Fraction(i == j) for j in range(n)] for i in range(n)]
    other = [[Fraction(i == j) if i in a else M[i][j] for j in range(n)] for i in range(n)]
    # T kept = other, column by column of the transposed system.
    rows = [solve(transposed(kept), row) for row in other]
    return None if rows[0] is None else [row for row in rows if row is not None]


def _pair_is_sufficient(a: Fraction, p: Fraction, q: Fraction, d: Fraction) -> bool:
    """[[a, p], [q, d]]: the first row's product a x^2 + p x y must be nonnegative where the second's is nonpositive.

    With y = 1 (y = 0 requires a >= 0): u(x) = x (a x + p) < 0 and v(x) = q x + d <= 0 for no x.
    """
    if a < 0 or d < 0:
        return False
    # u < 0 on the open interval between 0 and -p/a, or on a half-line where a = 0.
    if p == 0:
        return True
    if q == 0:
        return d > 0
    if q * p < 0:
        # v <= 0 on the half-line on the other side of zero; x = 0 at d = 0 may belong to its boundary only.
        return True
    # Both on the same side: v <= 0 from -d/q on, u < 0 up to -p/a.
    return a > 0 and abs(d / q) >= abs(p / a)
