"""Is a matrix of a box positive definite? A semidefinite programme finds one, or what shows that there is none.

    maximise t   subject to   sym(A) - t I >= 0,  |A - C| <= D

Its dual is a positive semidefinite X with <A, X> <= <C, X> + <D, |X|> <= 0 for every member A, where t <= 0. Both are
found in floating point and confirmed in rationals, so that nothing rests on the programme's tolerance.
"""

from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat

from workbench.engine.lazy import sparse
from workbench.engine.timing import check_clock, clock
from workbench.matrices.linear_algebra.definiteness import positive_definite, symmetric_part
from workbench.matrices.linear_algebra.rationals import dot, doubles, exact
from workbench.readers.interval_matrix import IntervalMatrix

LARGEST = 40
"""Order up to which the programme is solved, in seconds."""
BITS = 40
"""Binary digits of the columns of X."""


@dataclass(frozen=True, eq=False)
class Found:
    """A positive definite `member` (n, n); or `columns` x_k (n) of X = sum x_k x_k^T with <C, X> + <D, |X|> <= 0, < 0
    where `strict`; or neither."""

    member: fmpq_mat | None = None
    columns: list[list[fmpq]] | None = None
    strict: bool = False


def definite_member(box: IntervalMatrix, deadline: float) -> Found:
    """A positive definite member of the square box, or the proof that there is none. Raises OutOfTimeError."""
    check_clock(deadline)
    if positive_definite(symmetric_part(box.centre), deadline):
        return Found(box.centre)
    n = box.order
    if n > LARGEST:
        return Found()
    part = box.symmetric_part()
    C, D = doubles(part.centre), doubles(part.radius)
    size = max(np.abs(C).max(), D.max())
    if not 0 < size < np.inf:
        return Found()
    shift, X = _programme(C / size, D / size, deadline - clock())
    if shift is not None:
        member = _shifted(box, part, size * shift)
        if positive_definite(symmetric_part(member), deadline):
            return Found(member)
    if X is None:
        return Found()
    values, vectors = np.linalg.eigh(X)
    kept = values > 1e-7 * values[-1]
    G = np.rint(vectors[:, kept] * np.sqrt(values[kept]) * 2.0**BITS)
    columns = [[fmpq(int(v), 2**BITS) for v in column] for column in G.T]
    largest = largest_product(box, columns)
    return Found(None, columns, largest < 0) if largest <= 0 else Found()


def largest_product(box: IntervalMatrix, columns: list[list[fmpq]]) -> fmpq:
    """The largest <A, X> of all members A, X = sum x_k x_k^T."""
    G = fmpq_mat(columns)
    X = (G.transpose() * G).entries()
    return dot(box.centre.entries(), X) + dot(box.radius.entries(), map(abs, X))


def _shifted(box: IntervalMatrix, part: IntervalMatrix, shift: np.ndarray) -> fmpq_mat:
    """The member whose symmetric part differs from the centre's by as much of the shift (n, n) as the radii allow."""
    n, one = box.order, fmpq(1)

    def entry(i: int, j: int) -> fmpq:
        if part.radius[i, j] == 0:
            return box.centre[i, j]
        share = exact(shift[i, j]) / part.radius[i, j]
        return box.centre[i, j] + box.radius[i, j] * min(max(share, -one), one)

    return fmpq_mat(n, n, [entry(i, j) for i in range(n) for j in range(n)])


def _programme(C: np.ndarray, D: np.ndarray, seconds: float) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The shift of the symmetric C (n, n) that is best, within D, and the dual X; None where it was not solved."""
    import clarabel

    # Clarabel stacks the columns of the upper triangle, entries off the diagonal times sqrt(2).
    n = len(C)
    j, i = np.tril_indices(n)
    scale, count = np.where(i == j, 1.0, np.sqrt(2.0)), len(i)
    # Unknowns: the shift's upper triangle, then t. Slacks: C + S - t I, then D - S and D + S.
    identity = sparse.eye_array(count, format="csc")
    of_t = sparse.csc_array((i == j).astype(float).reshape(-1, 1))
    nothing = sparse.csc_array((count, 1))
    A = sparse.vstack([
        sparse.hstack([-sparse.diags_array(scale), of_t]), sparse.hstack([identity, nothing]),
        sparse.hstack([-identity, nothing]),
    ]).tocsc()  # fmt: skip
    b = np.concatenate([C[i, j] * scale, D[i, j], D[i, j]])
    cost = np.r_[np.zeros(count), -1.0]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.time_limit = False, max(seconds, 0.01)
    cones = [clarabel.PSDTriangleConeT(n), clarabel.NonnegativeConeT(2 * count)]
    quadratic = sparse.csc_matrix((count + 1, count + 1))
    found = clarabel.DefaultSolver(quadratic, cost, sparse.csc_matrix(A), b, cones, settings).solve()
    if str(found.status) not in ("Solved", "AlmostSolved"):
        return None, None
    return _symmetric(np.array(found.x)[:count], n), _symmetric(np.array(found.z)[:count] / scale, n)


def _symmetric(triangle: np.ndarray, n: int) -> np.ndarray:
    """The symmetric matrix (n, n) of the columns of its upper triangle."""
    A = np.zeros((n, n))
    j, i = np.tril_indices(n)
    A[i, j] = A[j, i] = triangle
    return A
