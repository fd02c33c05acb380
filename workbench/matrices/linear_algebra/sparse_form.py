"""Quadratic forms of sparse matrices: a proof that one is positive definite, or a direction in which it is negative.

S = M + M^T is scaled by powers of two to a diagonal near one, permuted, shifted and factored without
pivoting. For the factor G, S - G G^T is then the shift plus all rounding: if it is strictly diagonally dominant, with
every rounding of its own computation counted, S is positive definite. Where a pivot d_k is negative instead, x with
L^T x = e_k has x^T S x = d_k. Sources: Rump (BIT 46, 2006) for the shift; Liu (SIAM J. Matrix Anal. 11, 1990) for the
count of a factor's entries.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.engine.lazy import csgraph, sparse
from workbench.engine.timing import check_clock
from workbench.matrices.linear_algebra.definiteness import whole_direction

BITS = 52
"""Number of fractional binary digits of the entries of a factor."""
MOST_ENTRIES = 3_000_000
"""Largest number of entries of a factor; beyond it LAPACK is faster."""
FEW = 12
"""Entries in a row up to which a minimum-degree order is quickly found."""
SECONDS = 2e-8
"""Approximate seconds of a multiplication of the factor, with those of its proof."""
MODE = {"SymmetricMode": True}
EPS = float(np.finfo(float).eps)

Vector = NDArray[np.float64]
Sparse = Any
"""A sparse array of SciPy, which is imported on first use."""


@dataclass(frozen=True, eq=False)
class SparseFactor:
    """G (n, n), lower triangular, in whole multiples of 2^-`BITS`, of M + M^T in `order`, scaled on both sides by
    2^`powers`, which are those of the indices as they are.
    """

    order: NDArray[np.int64]
    powers: NDArray[np.int64]
    G: Sparse

    @property
    def multiplications(self) -> int:
        """Number of products of two entries in the lower triangle of G G^T."""
        columns = np.bincount(self.G.indices, minlength=self.G.shape[0]).astype(np.int64)
        return int((columns * (columns + 1) // 2).sum())


@dataclass(frozen=True, eq=False)
class SparseForm:
    """The `factor` of a form that is proved positive definite, or a `direction` x (n) in which it may be negative."""

    factor: SparseFactor | None = None
    direction: Vector | None = None


def sparse_form(M: Sparse, deadline: float) -> SparseForm | None:
    """Factor M + M^T of a matrix M (n, n), whose doubles are exact entries rounded once; None if it fills up.

    Raises OutOfTimeError.
    """
    n = M.shape[0]
    diagonal = M.diagonal()
    if not ((diagonal > 1e-200) & (diagonal < 1e200)).all():
        return SparseForm()
    found = elimination_order(M, deadline)
    if found is None:
        return None
    order, width = found
    powers = -np.round(0.5 * np.log2(2.0 * diagonal)).astype(np.int64)
    scale = sparse.diags_array(np.exp2(powers))
    with np.errstate(over="ignore", invalid="ignore"):
        A = (scale @ M @ scale)[order][:, order]
        S, size = (sparse.csc_array(B + B.T) for B in (A, abs(A)))
    if not np.isfinite(size.data).all():
        return SparseForm()
    factored = _factors(S, 8.0 * EPS * width)
    if factored is None:
        return SparseForm()
    L, d = factored
    if not (d > 0).all():
        unit, x = np.zeros(n), np.zeros(n)
        unit[np.argmin(d)] = 1.0
        x[order] = sparse.linalg.spsolve_triangular(sparse.csr_array(L.T), unit, lower=False, unit_diagonal=True)
        return SparseForm(direction=whole_direction(x * np.exp2(powers)))
    G = sparse.csr_array(L @ sparse.diags_array(np.sqrt(d)))
    whole = np.rint(np.ldexp(G.data, BITS))
    G.data = np.ldexp(whole, -BITS)
    if not _leaves_dominance(S, size, G):
        return SparseForm()
    G.data = whole
    return SparseForm(SparseFactor(order, powers, G))


def _factors(S: Sparse, shift: float) -> tuple[Sparse, Vector] | None:
    """L, unit lower triangular, and the diagonal d of S - shift I = L diag(d) L^T; None where a pivot is zero."""
    n = S.shape[0]
    try:
        lu = sparse.linalg.splu(
            sparse.csc_array(S - shift * sparse.eye_array(n)),
            permc_spec="NATURAL", diag_pivot_thresh=0.0, options=MODE,
        )  # fmt: skip
    except RuntimeError:
        return None
    if (lu.perm_r != np.arange(n)).any() or (lu.perm_c != np.arange(n)).any():
        return None
    return sparse.csc_array(lu.L), lu.U.diagonal()


def _leaves_dominance(S: Sparse, size: Sparse, G: Sparse) -> bool:
    """Whether S - G G^T is proved strictly diagonally dominant with a positive diagonal.

    An entry of S is the sum of two rounded ones, and errs by at most eps `size`. One of G G^T is a sum of at most as
    many products as the row of G has entries, and errs by that many eps |g_i| |g_j| (Cauchy and Schwarz), the
    subtraction included.
    """
    left = sparse.csr_array(S - G @ G.T)
    ones, given = (sparse.csr_array((np.ones(B.nnz), B.indices, B.indptr), shape=B.shape) for B in (G, size))
    # Entries that cancel are not stored, and err like the others.
    pattern = ones @ ones.T + given
    pattern.data = np.ones(pattern.nnz)
    norms = np.sqrt(_row_sums(G.multiply(G)))
    rounding = 2 * EPS * ((np.diff(G.indptr) + 8) * norms * (pattern @ norms) + 4 * _row_sums(size))
    diagonal = left.diagonal()
    others = _row_sums(abs(left)) - np.abs(diagonal)
    return bool((diagonal > (others + rounding) * (1 + 4 * len(norms) * EPS)).all())


def _row_sums(A: Any) -> Vector:
    return np.asarray(A.sum(axis=1)).ravel()


def elimination_order(M: Sparse, deadline: float) -> tuple[NDArray[np.int64], int] | None:
    """An order in which the factors of M + M^T have few entries, and the largest product of the numbers of entries in
    a row of the factor G and in one of G G^T; None if G has more than `MOST_ENTRIES`.

    Raises OutOfTimeError if factors in the order would not be ready in time.
    """
    n = M.shape[0]
    graph = sparse.csc_array((np.ones(M.nnz), M.indices, M.indptr), shape=M.shape)
    graph = sparse.csc_array(graph + graph.T)
    if graph.nnz <= FEW * n:
        dominant = sparse.csc_array(graph + (1 + 2 * graph.nnz) * sparse.eye_array(n))
        # All fill is dropped: only the order is of interest.
        factors = sparse.linalg.spilu(dominant, drop_tol=1.0, fill_factor=1, permc_spec="MMD_AT_PLUS_A", options=MODE)
        order = np.argsort(factors.perm_c)
    else:
        order = csgraph.reverse_cuthill_mckee(sparse.csr_array(graph), symmetric_mode=True).astype(np.int64)
    counts = _counts(sparse.csr_array(graph)[order][:, order], deadline)
    if counts is None:
        return None
    rows, columns = counts
    check_clock(deadline, SECONDS * float((columns.astype(float) ** 2).sum()))
    return order, int(((rows + 16) * (rows + columns)).max())


def _counts(graph: Sparse, deadline: float) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Entries in each row and column of the factor, by the paths of each row's entries in the elimination tree."""
    n, starts, neighbours = graph.shape[0], graph.indptr.tolist(), graph.indices.tolist()
    parent, seen, rows, columns, entries = [-1] * n, [-1] * n, [1] * n, [1] * n, n
    for i in range(n):
        seen[i] = i
        for j in neighbours[starts[i] : starts[i + 1]]:
            while j < i and seen[j] != i:
                if parent[j] < 0:
                    parent[j] = i
                seen[j] = i
                columns[j] += 1
                rows[i] += 1
                j = parent[j]
        entries += rows[i] - 1
        if entries > MOST_ENTRIES:
            return None
        check_clock(deadline)
    return np.array(rows), np.array(columns)


def approximate_solution(A: Sparse, b: Any, deadline: float) -> Vector | None:
    """An approximate A^-1 b for a matrix that needs no pivoting, such as an M-matrix; None where it fills up.

    Raises OutOfTimeError.
    """
    found = elimination_order(A, deadline)
    if found is None:
        return None
    order = found[0]
    try:
        lu = sparse.linalg.splu(
            sparse.csc_array(A[order][:, order]), permc_spec="NATURAL", diag_pivot_thresh=1e-3, options=MODE
        )  # fmt: skip
    except RuntimeError:
        return None
    x = np.empty(len(b))
    x[order] = lu.solve(np.asarray(b)[order])
    return x
