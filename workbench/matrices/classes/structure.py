"""Verdicts from scans, factorisations and linear programmes on a matrix of any order, cheap steps first.

Vectors are found in floating point. That the exact matrix has the claimed sign with them is proved by a bound on all
rounding: an inner product of length n errs by less than gamma_{n+2} |x|^T |y|, the rounding of the entries included
(Higham, Accuracy and Stability of Numerical Algorithms, chapter 3). Steps that may outlast the time are not started.
Large matrices with few entries are stored and factored as sparse ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from workbench.engine.lazy import csgraph, optimize, sparse
from workbench.engine.timing import OUT_OF_TIME, OutOfTimeError, check_clock, clock
from workbench.matrices.linear_algebra import sparse_form
from workbench.matrices.linear_algebra.definiteness import (
    form_at,
    independent_rows,
    lowest_direction,
    pivot_direction,
    positive_definite,
    proved_positive_definite,
    spans,
    symmetric_part,
)
from workbench.matrices.linear_algebra.factors import without_positive_borders
from workbench.matrices.linear_algebra.in_time import (
    EIGENVALUES,
    FACTOR,
    SOLVE,
    bits,
    minors_seconds,
    product_seconds,
    solution_seconds,
)
from workbench.matrices.linear_algebra.rationals import as_text, dot, doubles, exact, extend_from_schur, product
from workbench.readers.matrix import Matrix
from workbench.support.numbers import parse_rational

Array = NDArray[np.float64]
Values = Any
"""A matrix of doubles, as an array or sparse."""
Finding = tuple[str, str, str | None, dict[str, Any]]
"""Class, "yes" or "no", proof as text and witness, as in `ClassVerdict`."""
Explored = tuple[list[Finding], str]
"""All findings, and why the open classes have none."""

YES, NO = "yes", "no"
PROGRAMME = 600
"""Largest order for which a linear programme is started."""
LARGEST_DENSE = 600
"""Order above which a matrix with few entries is stored as a sparse one."""
FILLED = 0.1
"""Largest share of entries other than zero in such a matrix."""
CUT = 1e-6
"""Entries of eigenvectors, relative to the largest, that are taken for zero."""
BAND = 256
"""Rows of a matrix whose pairs of entries are compared at once."""


@dataclass(eq=False)
class Structure:
    """A matrix as doubles, `values` (n, n), an array or sparse, the exact signs of its entries, and the rationals where
    available.

    `late` tells whether something was omitted because it would have ended beyond the deadline.
    """

    values: Values
    signs: NDArray[np.int8]
    rationals: fmpq_mat | None
    deadline: float
    late: bool = False

    @staticmethod
    def of(matrix: Matrix, deadline: float, with_rationals: bool) -> "Structure":
        found, n = signs(matrix), len(matrix.values)
        few = n > LARGEST_DENSE and np.count_nonzero(found) <= FILLED * n * n
        values = sparse.csr_array(matrix.values) if few else matrix.values
        return Structure(values, found, matrix.exact if with_rationals else None, deadline)

    @staticmethod
    def of_rationals(M: fmpq_mat, deadline: float) -> "Structure":
        n, entries = M.nrows(), M.entries()
        found = np.array([(x > 0) - (x < 0) for x in entries], dtype=np.int8).reshape(n, n)
        return Structure(doubles(M), found, M, deadline)

    @property
    def order(self) -> int:
        return int(self.values.shape[0])

    @property
    def is_sparse(self) -> bool:
        return bool(sparse.issparse(self.values))

    def affordable(self, seconds: float) -> bool:
        in_time = clock() + seconds < self.deadline
        self.late |= not in_time
        return in_time

    @cached_property
    def symmetric(self) -> Values:
        return 0.5 * self.values + 0.5 * self.values.T

    @cached_property
    def pattern(self) -> Any:
        """The signs as a sparse matrix."""
        return sparse.csr_array(self.signs)

    @cached_property
    def positive(self) -> list[int] | None:
        """The place of the first positive entry off the diagonal."""
        entries = self.pattern.tocoo()
        found = np.flatnonzero((entries.data > 0) & (entries.row != entries.col))
        return [int(entries.row[found[0]]), int(entries.col[found[0]])] if len(found) else None


def signs(matrix: Matrix) -> NDArray[np.int8]:
    """The signs (m, n) of the exact entries: a text may hold entries that are too small for a double."""
    found = (matrix.values > 0).astype(np.int8) - (matrix.values < 0)
    for i, row in enumerate(matrix.written or ()):
        zeros = found[i] == 0
        entries = row.split()
        if entries.count("0") < zeros.sum():
            # Most entries are written in the same way.
            small = {x for x in set(compress(entries, zeros)) if _digits(x).strip("+-0.")}
            for j in np.flatnonzero(zeros) if small else ():
                if entries[j] in small:
                    found[i, j] = -1 if entries[j][0] == "-" else 1
    return found


def nonzeros(matrix: Matrix) -> list[dict[int, fmpq]]:
    """The exact entries of each row other than zero, by their columns."""
    found: list[dict[int, fmpq]] = []
    values, written = matrix.values, matrix.written
    for i, columns in enumerate(np.flatnonzero(row).tolist() for row in signs(matrix)):
        if written is None:
            found.append({j: exact(x) for j, x in zip(columns, values[i, columns].tolist(), strict=True)})
        else:
            entries = written[i].split()
            found.append({j: parse_rational(entries[j]) for j in columns})
    return found


def _digits(entry: str) -> str:
    return entry.lower().partition("e")[0].partition("/")[0]


def explored(s: Structure) -> Explored:
    """All findings, and why the open classes have none."""
    found = list(findings(s))
    why = "neither a proof nor a counterexample was found"
    return found, f"{OUT_OF_TIME}: {why}" if s.late else why


def findings(s: Structure) -> Iterator[Finding]:
    """The findings within the deadline, cheap ones first; implications by theorems are left to the caller."""
    for stage in (_scanned, _dominated, _form, _forest, _balanced, _played):
        try:
            # Scans are worth any deadline.
            check_clock(s.deadline if stage is not _scanned else np.inf)
            yield from stage(s)
        except OutOfTimeError:
            s.late = True


def _scanned(s: Structure) -> Iterator[Finding]:
    """Z; nonnegative matrices; a diagonal entry that is not positive; triangular matrices up to a permutation."""
    n, diagonal = s.order, np.diag(s.signs)
    if s.positive:
        yield "Z", NO, None, {"entry": s.positive}
        yield "M", NO, None, {"entry": s.positive}
    else:
        yield "Z", YES, "no entry off the diagonal is positive", {"by": "entries"}
    if (s.pattern.data > 0).all():
        yield "copositive", YES, "no entry is negative", {"by": "entries"}
        if (diagonal > 0).all():
            yield "strictly_copositive", YES, "no entry is negative, and the diagonal is positive", {"by": "entries"}
    lost = np.flatnonzero(diagonal <= 0)
    if len(lost):
        x = [str(int(j == lost[0])) for j in range(n)]
        yield "P", NO, None, {"x": x}
        yield "PD", NO, None, {"x": x}
        yield "H_plus", NO, None, {"y": x}
        if s.signs[lost[0], lost[0]] < 0:
            yield "PSD", NO, None, {"x": x}
            yield "P0", NO, None, {"index_set": [int(lost[0])]}
            yield "copositive", NO, None, {"x": x}
        return
    if csgraph.connected_components(s.pattern, connection="strong")[0] == n:
        yield "P", YES, "triangular up to a permutation, with a positive diagonal", {"by": "entries"}
    negative = _negative_pair(s.values)
    if negative:
        yield "P", NO, None, {"index_set": negative}
        yield "P0", NO, None, {"index_set": negative}


def _negative_pair(values: Values) -> list[int] | None:
    """The rows of a principal minor of order two that is proved negative, the diagonal being positive."""
    diagonal, n, is_sparse = values.diagonal(), values.shape[0], sparse.issparse(values)
    band = n if is_sparse else BAND
    with np.errstate(over="ignore", invalid="ignore"):
        for a in range(0, n, band):
            rows, columns = values[a : a + band], values[:, a : a + band].T
            if is_sparse:
                pairs = sparse.coo_array(rows.multiply(columns))
                i, j, other = pairs.row, pairs.col, pairs.data
            else:
                i, j = np.indices(rows.shape, sparse=True)
                other = rows * columns
            product = diagonal[a + i] * diagonal[j]
            lost = product - other < -16 * np.finfo(float).eps * (product + np.abs(other)) - 1e-290
            if lost.any():
                k = np.argwhere(lost)[0]
                i, j = (int(np.broadcast_to(x, lost.shape)[tuple(k)]) for x in (i, j))
                return [a + i, j]
    return None


def _dominated(s: Structure) -> Iterator[Finding]:
    """H_plus: C d > 0 for some d > 0, C the comparison matrix, or y^T C <= 0 for some y >= 0 that is not zero."""
    if (np.diag(s.signs) <= 0).any():
        return
    C, e = _comparison(s.values), np.ones(s.order)
    if (_lower(C, e) > 0).all():
        yield "H_plus", YES, "strictly row-dominant", {"d": exact_texts(e)}
        yield "S", YES, "M x > 0 for x >= 0", {"x": exact_texts(e)}
        return
    d = _dominating(s, C)
    if d is None:
        return
    if (d > 0).all() and (_lower(C, d) > 0).all():
        yield "H_plus", YES, "d > 0 makes the comparison matrix's rows dominant", {"d": exact_texts(d)}
        yield "S", YES, "M x > 0 for x >= 0", {"x": exact_texts(d)}
        return
    y = _lost_dominance(s, C.T)
    if y is None:
        return
    yield "H_plus", NO, None, {"y": exact_texts(y)}
    x = None if s.positive else _lost_dominance(s, C)
    if x is not None:
        yield "P", NO, None, {"x": exact_texts(x)}


def _comparison(values: Values) -> Values:
    """The comparison matrix of one with a positive diagonal."""
    if sparse.issparse(values):
        return sparse.csr_array(2 * sparse.diags_array(values.diagonal()) - abs(values))
    C = -np.abs(values)
    np.fill_diagonal(C, np.diag(values))
    return C


def _dominating(s: Structure, C: Values) -> Array | None:
    """An approximate C^-1 diag(C), negative where C is singular; None where it takes too long."""
    if s.is_sparse:
        d = sparse_form.approximate_solution(C, C.diagonal(), s.deadline)
        if d is not None:
            return d
        C = C.toarray()
    if not s.affordable(SOLVE * product_seconds(s.order)):
        return None
    try:
        return np.linalg.solve(C, np.diag(C))
    except np.linalg.LinAlgError:
        return -np.ones(s.order)


def _lost_dominance(s: Structure, C: Values) -> Array | None:
    """x >= 0 with (C x)_i < 0 where x_i > 0, by Perron vectors of the irreducible blocks; C x <= 0 elsewhere."""
    if s.is_sparse:
        N = sparse.csr_array(sparse.eye_array(s.order) - C @ sparse.diags_array(1 / C.diagonal()))
    else:
        N = -C / np.diag(C)
        np.fill_diagonal(N, 0.0)
    count, label = csgraph.connected_components(sparse.csr_array(N != 0), connection="strong")
    for k in np.argsort(-np.bincount(label, minlength=count)):
        a = np.flatnonzero(label == k)
        if len(a) == 1:
            return None
        part, v = N[a][:, a], np.ones(len(a))
        if s.is_sparse and len(a) > LARGEST_DENSE:
            v = _perron_vector(part)
            a, v = a[v > CUT], v[v > CUT]
            part = N[a][:, a]
        for _ in range(200):
            if not s.affordable(0.0):
                return None
            v = v + part @ v
            v /= v.max()
            # (N + I) v >= v makes C x <= 0 for x_i = v_i / c_ii.
            x = np.zeros(s.order)
            x[a] = v / C.diagonal()[a]
            if (_lower(-C, x)[a] > 0).all():
                return x
    return None


def _perron_vector(N: Values) -> Array:
    """Approximate Perron vector (n), largest entry 1, of a nonnegative irreducible N (n, n); ones if none is found."""
    try:
        v = sparse.linalg.eigs(N, 1, which="LR", v0=np.ones(N.shape[0]), maxiter=300)[1][:, 0]
    except (RuntimeError, sparse.linalg.ArpackError):
        return np.ones(N.shape[0])
    return np.abs(v) / np.abs(v).max()


def _lower(A: Values, x: Array) -> Array:
    """Proved lower bounds (n) of A x, the entries of A (n, n) rounded once."""
    n = len(x)
    with np.errstate(over="ignore", invalid="ignore"):
        size = abs(A) @ np.abs(x) + n * 1e-300 * (1 + np.abs(x).max())
        return A @ x - (2 * n + 8) * np.finfo(float).eps * size


def exact_texts(x: Array) -> list[str]:
    """The doubles as exact numbers, in text."""
    return as_text([exact(v) for v in x]) or []


def _form(s: Structure) -> Iterator[Finding]:
    """PD and PSD, copositive and strictly so."""
    definite, x = _definite(s)
    if definite:
        yield "PD", YES, "Cholesky factor with an error bound", {"by": "factors"}
        return
    if x is not None and form_at(s.values, x) < 0:
        yield "PD", NO, None, {"x": exact_texts(x)}
        yield "PSD", NO, None, {"x": exact_texts(x)}
        if form_at(s.values, np.abs(x)) < 0:
            yield "copositive", NO, None, {"x": exact_texts(np.abs(x))}
        else:
            yield from _split(s)
        yield from _reversed(s, x)
        return
    yield from _semidefinite(s, s.rationals)


def _reversed(s: Structure, x: Array) -> Iterator[Finding]:
    """P, P0 and sufficiency fail at an eigenvector of a symmetric matrix to a negative eigenvalue: its products
    x_i (M x)_i are negative where x_i is not zero. It is sought from x (n), at which the form is negative.

    Entries that rounding could turn are cut off, and an eigenvector of the remaining rows and columns is taken.
    """
    S = sparse.csr_array(s.values)
    if not s.is_sparse or (S != S.T).nnz:
        return
    a = np.arange(s.order)
    for _ in range(2):
        part = sparse.csc_array(S[a][:, a])
        diagonal, rows = part.diagonal(), np.asarray(abs(part).sum(axis=1)).ravel()
        # Gershgorin's bound of the spectrum, moved off it: the eigenvalue that is nearest is the smallest.
        below = (diagonal + np.abs(diagonal) - rows).min() - 1e-3 * rows.max()
        try:
            v = sparse.linalg.eigsh(part, 1, sigma=below, v0=x)[1][:, 0]
        except (RuntimeError, sparse.linalg.ArpackError):
            return
        kept = np.abs(v) > CUT * np.abs(v).max()
        a, x = a[kept], v[kept]
        if len(a) < 3:
            return
    if (_lower(-sparse.diags_array(np.sign(x)) @ S[a][:, a], x) > 0).all():
        whole = np.zeros(s.order)
        whole[a] = x
        for name in ("P", "P0", "column_sufficient", "row_sufficient"):
            yield name, NO, None, {"x": exact_texts(whole)}


def _definite(s: Structure) -> tuple[bool, Array | None]:
    """Whether M is proved positive definite, and otherwise a direction in which its form may be negative."""
    n, positive = s.order, bool((np.diag(s.signs) > 0).all())
    if positive and s.is_sparse:
        form = sparse_form.sparse_form(s.values, s.deadline)
        if form is not None:
            return form.factor is not None, form.direction
    values = s.values.toarray() if s.is_sparse else s.values
    if positive and s.affordable(FACTOR * product_seconds(n)):
        if proved_positive_definite(values):
            return True, None
        x = pivot_direction(values)
        if x is not None and form_at(values, x) < 0:
            return False, x
    if not s.affordable(EIGENVALUES * product_seconds(n)):
        return False, None
    return False, lowest_direction(0.5 * values + 0.5 * values.T)


def _forest(s: Structure) -> Iterator[Finding]:
    """P where no two indices are coupled by two paths: a minor is not smaller for a pair m_ij m_ji <= 0, so that these
    drop out, and what is left is similar to its comparison matrix by signs (formulary, 9.5)."""
    n = s.order
    coupled = sparse.csr_array(abs(s.pattern) + abs(s.pattern).T)
    pairs = (coupled.nnz - np.count_nonzero(coupled.diagonal())) // 2
    count, _ = csgraph.connected_components(coupled, directed=False)
    if pairs != n - count or (np.diag(s.signs) <= 0).any():
        return
    values, pattern = sparse.csr_array(s.values), s.pattern
    # Where both entries have one sign, and the diagonal.
    kept = values.multiply(pattern.multiply(pattern.T) > 0)
    C = _comparison(sparse.csr_array(kept))
    d = _dominating(s, C if s.is_sparse else C.toarray())
    if d is not None and (d > 0).all() and (_lower(C, d) > 0).all():
        proof = "no two indices are coupled by two paths, and pairs of one sign are dominated by the diagonal"
        yield "P", YES, proof, {"by": "forest", "d": exact_texts(d)}
        return
    x = _lost_dominance(s, C if s.is_sparse else C.toarray())
    if x is not None:
        yield "P", NO, None, {"x": exact_texts(x * _signature(kept))}


def _signature(A: Values) -> Array:
    """Signs (n) with s_i a_ij s_j <= 0 off the diagonal of a matrix without cycles."""
    A, found = sparse.csr_array(A), np.zeros(A.shape[0])
    for root in range(len(found)):
        if found[root]:
            continue
        found[root], stack = 1.0, [root]
        while stack:
            i = stack.pop()
            for j, x in zip(
                A.indices[A.indptr[i] : A.indptr[i + 1]], A.data[A.indptr[i] : A.indptr[i + 1]], strict=True
            ):
                if x and not found[j]:
                    found[j] = -np.sign(x) * found[i]
                    stack.append(int(j))
    return found


def _balanced(s: Structure) -> Iterator[Finding]:
    """P of a large matrix whose rows are those of a positive definite one in other units: W M + M^T W is positive
    definite for the diagonal W > 0 for which w_i |m_ij| and w_j |m_ji| are alike (least squares of the logarithms)."""
    if not s.is_sparse or (np.diag(s.signs) <= 0).any():
        return
    w = balance(s.values)
    form = sparse_form.sparse_form(sparse.csr_array(sparse.diags_array(w) @ s.values), s.deadline)
    if form is not None and form.factor is not None:
        yield "P", YES, "a diagonal W > 0 makes W M + M^T W positive definite", {"by": "factors", "w": exact_texts(w)}


def balance(values: Values) -> Array:
    """Powers of two w (n), for which w_i |m_ij| and w_j |m_ji| are alike."""
    size = abs(sparse.csr_array(values))
    both = (
        sparse.triu(size.multiply(size.T > 0), 1, format="csr"),
        sparse.triu(size.T.multiply(size > 0), 1, format="csr"),
    )
    above, below = (sparse.coo_array(x.sorted_indices()) for x in both)
    m, n = above.nnz, values.shape[0]
    rows = np.concatenate([np.arange(m)] * 2), np.concatenate([above.row, above.col])
    A = sparse.csr_array((np.repeat([1.0, -1.0], m), rows), shape=(m, n))
    # In each component the logarithms are determined up to a constant.
    system = sparse.csc_array(A.T @ A + 1e-9 * sparse.eye_array(n))
    found = sparse.linalg.spsolve(system, A.T @ (np.log2(below.data) - np.log2(above.data)))
    return np.exp2(np.clip(np.rint(found), -500, 500))


def _split(s: Structure) -> Iterator[Finding]:
    """Copositive as positive semidefinite plus nonnegative."""
    diagonal = np.diag(s.signs)
    if s.rationals is None or (diagonal != 0).all() or (diagonal < 0).any():
        return
    rest = without_positive_borders(symmetric_part(s.rationals))
    if any(name == "PSD" for name, *_ in _semidefinite(s, rest)):
        proof = "the symmetric part is a positive semidefinite matrix plus a nonnegative one"
        yield "copositive", YES, proof, {"by": "factors"}


def _semidefinite(s: Structure, M: fmpq_mat | None) -> Iterator[Finding]:
    """PD or PSD by exact arithmetic, where floating point left it open."""
    if M is None:
        return
    T = symmetric_part(M)
    rows = T.tolist()
    n = T.nrows()
    if all(row[i] + row[i] >= sum(map(abs, row), fmpq(0)) for i, row in enumerate(rows)):
        yield "PSD", YES, "the rows of M + M^T are weakly dominant, its diagonal is not negative", {"by": "entries"}
        yield from _null(M, [fmpq(1)] * n)
        return
    b = bits(T)
    # Where this takes too long the rows may still span the matrix.
    if clock() + minors_seconds(n, b) < s.deadline and positive_definite(T, s.deadline):
        proof = "exact arithmetic: every leading principal minor of the symmetric part is positive"
        yield "PD", YES, proof, {"by": "factors"}
        return
    a = independent_rows(doubles(T))
    cost = minors_seconds(len(a), b) + solution_seconds(len(a), n - len(a), b)
    if s.affordable(cost) and spans(T, a, s.deadline):
        proof = "rows and columns of a positive definite principal submatrix span the symmetric part"
        yield "PSD", YES, proof, {"index_set": a}
        yield from _null(M, extend_from_schur(T, a, {next(i for i in range(n) if i not in set(a)): 1}))


def _null(M: fmpq_mat, x: list[fmpq]) -> Iterator[Finding]:
    """PD and P fail where x^T M x = 0 and M x = 0, for x other than zero."""
    image = product(M, x)
    if dot(x, image) == 0:
        yield "PD", NO, None, {"x": as_text(x)}
    if not any(image):
        yield "P", NO, None, {"x": as_text(x)}


def _played(s: Structure) -> Iterator[Finding]:
    """S by the matrix game: M x > 0, or M^T y < 0; row and column sums first, then a linear programme."""
    e = np.ones(s.order)
    small = s.order <= PROGRAMME and not s.is_sparse
    for sought in (
        lambda: (e, e),
        lambda: strategies(s.values, s.deadline - clock()) if small else None,
    ):
        game = sought()
        if game is None:
            return
        x, y = game
        if (_lower(s.values, x) > 0).all():
            yield "S", YES, "M x > 0 for x >= 0", {"x": exact_texts(x)}
            return
        if (_lower(-s.values.T, y) > 0).all():
            yield "S", NO, "y >= 0 is not zero, and y^T M <= 0", {"y": exact_texts(y)}
            if s.is_sparse:
                # Of a large matrix the verifier takes the theorem that Q implies S, not the proof by branches.
                return
            yield "Q", NO, "LCP(q, M) is not even feasible at q = -e", {"q": ["-1"] * s.order}
            return


def strategies(A: Array, seconds: float) -> tuple[Array, Array] | None:
    """The strategies x and y (n) of the matrix game A (n, n), whose first player maximises A x; None if they were
    not found within this time."""
    n, size = len(A), np.abs(A).max()
    if not (seconds > 0 and 0 < size < np.inf):
        return None
    # Maximise t over x >= 0 with sum x = 1 and A x >= t; the multipliers of the rows are the other player's strategy.
    game = optimize.linprog(
        np.r_[np.zeros(n), -1.0], np.c_[-A / size, np.ones(n)], np.zeros(n), [np.r_[np.ones(n), 0.0]], [1.0],
        bounds=[(0, None)] * n + [(None, None)], options={"time_limit": seconds},
    )  # fmt: skip
    if game.x is None:
        return None
    return np.maximum(game.x[:n], 0.0), np.maximum(-game.ineqlin.marginals, 0.0)
