"""The least rank of the matrices of a box: a submatrix that stays regular, and a member that loses rank.

The members of C_ab +- D_ab are regular if |C_ab^-1| D_ab has a spectral radius below one (`regularity`; Beeck;
Neumaier, Interval Methods for Systems of Equations, 1990, section 4.1). Rows a and columns b are the first pivots of
complete pivoting. With the singular vectors u, v of the least singular value of C, the member C - diag(y) D diag(z), y
and z their signs, is the first guess for one whose determinant has another sign; between it and C there is a singular
one (Rohn, Linear Algebra Appl. 126, 1989).
"""

from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat

from workbench.engine.timing import clock
from workbench.matrices.intervals.box_classes import regularity, singular_between
from workbench.matrices.linear_algebra.rationals import doubles, submatrix
from workbench.readers.interval_matrix import IntervalMatrix
from workbench.support.arrays import Array


@dataclass(frozen=True, eq=False)
class BoxRank:
    """Every member has at least this rank r: its `rows` and `columns` (r) make up a regular matrix, shown by `R` (r, r)
    and `x` (r). `member` (n, n) has a smaller rank than the order, None where none was found."""

    at_least: int
    rows: list[int]
    columns: list[int]
    R: fmpq_mat
    x: list[fmpq]
    member: fmpq_mat | None


def least_rank(box: IntervalMatrix, deadline: float) -> BoxRank:
    """The rank of all members of a square box as far as the criteria tell by about `deadline` (`clock()`)."""
    n = box.order
    C, D = doubles(box.centre), doubles(box.radius)
    rows, columns = _pivots(C, D)
    for r in range(len(rows), 0, -1):
        if clock() > deadline:
            break
        a, b = sorted(rows[:r]), sorted(columns[:r])
        if not _seems_regular(C[np.ix_(a, b)], D[np.ix_(a, b)]):
            continue
        found = regularity(IntervalMatrix(submatrix(box.centre, a, b), submatrix(box.radius, a, b)))
        if found is not None:
            return BoxRank(r, a, b, *found, None if r == n else _singular_member(box, C))
    return BoxRank(0, [], [], fmpq_mat(0, 0), [], _singular_member(box, C))


def _pivots(C: Array, D: Array) -> tuple[list[int], list[int]]:
    """Rows and columns of the pivots of complete pivoting, farthest from zero first, as long as one is not zero."""
    A, left, rows, columns = C.copy(), -D, list[int](), list[int]()
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for _ in range(len(C)):
            i, j = np.unravel_index(np.argmax(np.abs(A) + left), A.shape)
            if not np.isfinite(A).all() or A[i, j] == 0:
                break
            A = A - np.outer(A[:, j], A[i]) / A[i, j]
            A[i], A[:, j] = 0.0, 0.0
            left[i], left[:, j] = -np.inf, -np.inf
            rows.append(int(i))
            columns.append(int(j))
    return rows, columns


def _seems_regular(C: Array, D: Array) -> bool:
    """Whether the criterion holds in floating point."""
    try:
        bound = np.abs(np.linalg.inv(C)) @ D
    except np.linalg.LinAlgError:
        return False
    return bool(np.isfinite(bound).all() and np.abs(np.linalg.eigvals(bound)).max() < 1)


def _singular_member(box: IntervalMatrix, C: Array) -> fmpq_mat | None:
    if box.centre.det() == 0:
        return box.centre
    # On the way from one member to another entries change one by one, and symmetric ones would not stay so.
    if box.symmetric or not np.isfinite(C).all():
        return None
    u, _, v = np.linalg.svd(C)
    y, z = ([-1 if x < 0 else 1 for x in w] for w in (u[:, -1], v[-1]))
    n = range(box.order)
    A = fmpq_mat([[box.centre[i, j] - y[i] * z[j] * box.radius[i, j] for j in n] for i in n])
    return singular_between(box.centre, A, tuple(n)).matrix if A.det() * box.centre.det() <= 0 else None
