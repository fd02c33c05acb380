"""Column sufficiency: x_i (M x)_i <= 0 for all i only where all these products vanish. Row sufficiency: that of M^T.

M is column sufficient iff every principal pivotal transform of M is column sufficient of order two (Cottle and Guu,
Linear Algebra Appl. 170, 1992, state it for matrices sufficient both ways; a failing pair x, M x of least support over
all transforms shows the same for columns alone). Pivoting on a exchanges x_a and (M x)_a and preserves the products, so
that a failing pair carries back to M.
"""

import itertools

from flint import fmpq, fmpq_mat

from workbench.engine.timing import check_clock
from workbench.matrices.linear_algebra.rationals import Vector, product, spread
from workbench.support.arrays import index_sets


def insufficient_vector(M: fmpq_mat, deadline: float) -> Vector | None:
    """x with x_i (M x)_i <= 0 for all i and < 0 for one, or None when M (n, n) is column sufficient; at most 2^n
    transforms. Raises OutOfTimeError."""
    n = M.nrows()
    for a in index_sets(range(n)):
        check_clock(deadline)
        T = principal_transform(M, a)
        x = None if T is None else _failing_pair(T)
        if T is not None and x is not None:
            y = product(T, x)
            return [y[i] if i in a else x[i] for i in range(n)]
    return None


def principal_transform(M: fmpq_mat, a: tuple[int, ...]) -> fmpq_mat | None:
    """The T with (x_a, y_b) = T (y_a, x_b) whenever y = M x, b the indices not in a; None when M_aa is singular."""
    n = M.nrows()
    if not a:
        return M
    kept = [[M[i, j] if i in a else fmpq(i == j) for j in range(n)] for i in range(n)]
    other = [[fmpq(i == j) if i in a else M[i, j] for j in range(n)] for i in range(n)]
    try:
        return fmpq_mat(other) * fmpq_mat(kept).inv()
    except ZeroDivisionError:
        return None


def _failing_pair(T: fmpq_mat) -> Vector | None:
    """A vector with one or two nonzero entries that shows that T is not column sufficient."""
    n = T.nrows()
    for i in range(n):
        if T[i, i] < 0:
            return spread(n, [i], [fmpq(1)])
    for i, j in itertools.permutations(range(n), 2):
        pair = _of_order_two(T[i, i], T[i, j], T[j, i], T[j, j])
        if pair is not None:
            return spread(n, [i, j], pair)
    return None


def _of_order_two(a: fmpq, p: fmpq, q: fmpq, d: fmpq) -> tuple[fmpq, fmpq] | None:
    """x of order two for [[a, p], [q, d]] with a, d >= 0, where the first row, or both, show the failure."""
    one = fmpq(1)
    if a > 0:
        # Both products negative on the cone between the two rows, for a > 0 > a d - p q = det.
        if d > 0 and a * d < p * q:
            middle = (p / a + d / q) / 2
            return (-middle, one)
        return None
    if q != 0 and p == 0:
        return (-(d + 1) / q, one)
    if p * q > 0:
        return (-(d + 1) / q, one)
    if p != 0 and q == 0 and d == 0:
        return (-one / p, one)
    return None
