"""Friction-cone problems over W that fall into parts (`components`), each solved in stages of its own.

W comes dense, or sparse where it is large; what splitting costs is a pass over its entries.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.algorithms import best
from workbench.algorithms.components import find_parts, members_of_parts
from workbench.problems.classes import Array, ConeProblem, is_sparse
from workbench.problems.islands import parts_of
from workbench.problems.sets import contact_of_row

HALVED = 100
"""Unknowns above which no part may have more than half of them: sparse factors of the whole cost little more than its,
and how many Newton steps a hard problem takes is a matter of chance."""
LARGEST_DENSE = 200
"""Unknowns up to which a part of a sparse W becomes a dense matrix."""

Indices = NDArray[np.int64]
Staged = tuple[Array, float, int, tuple[str, ...]]
"""z, its residual, the iterations, and what every stage came to."""


@dataclass(frozen=True, eq=False)
class Part(ConeProblem):
    """A part, or all, of a problem whose data have been checked with the whole."""

    associated: bool = True

    def __post_init__(self) -> None:
        pass

    @classmethod
    def all_of(cls, problem: ConeProblem) -> "Part":
        """The whole, not to be taken apart."""
        return cls(problem.M, problem.q, problem.mu, problem.d, problem.associated)


def solve_by_parts(problem: ConeProblem, solve: Callable[[ConeProblem], Staged]) -> Staged | None:
    """The parts' answers put together; None where there is one part only, or one that is most of the whole."""
    r, d, W = problem.mu.size, problem.d, problem.M
    split = list(_split_sparse(W, r, d) if is_sparse(W) else _split_dense(W, r, d))
    most = max((rows.size for rows, _ in split), default=0)
    if not split or (problem.size > HALVED and 2 * most > problem.size):
        return None
    z = np.zeros(problem.size)
    reported: tuple[str, ...] = ()
    iterations, worst = 0, -1.0
    for rows, W_k in split:
        contacts = rows[rows < r]
        part = Part(W_k, problem.q[rows], problem.mu[contacts], d, problem.associated)
        z_k, residual, some, stages = solve(part)
        z[rows] = z_k
        best.offer(z)
        iterations += some
        if residual > worst:
            worst, reported = residual, stages
    parts = f"{len(split)} parts that nothing couples, {most // (1 + d)} contacts the largest"
    return z, worst, iterations, (f"{parts}; the one of the largest residual", *reported)


def _split_dense(W: Array, r: int, d: int) -> Iterator[tuple[Indices, Array]]:
    """Rows of every part and its block of W; nothing where there is one part."""
    part = np.empty(W.shape[0], dtype=np.int64)
    count = find_parts(W, r, d, part)
    if count > 1:
        first, members = np.empty(count + 1, dtype=np.int64), np.empty(W.shape[0], dtype=np.int64)
        members_of_parts(part, count, first, members)
        for rows in np.split(members, first[1:-1]):
            yield rows, W[np.ix_(rows, rows)]


def _split_sparse(W: Any, r: int, d: int) -> Iterator[tuple[Indices, Array]]:
    """As `_split_dense`; blocks of many unknowns stay sparse."""
    from scipy import sparse

    W = sparse.csr_array(W, copy=True)
    W.sum_duplicates()
    W.eliminate_zeros()
    contact = contact_of_row(r, d)
    entries = W.tocoo()
    least, part = np.unique(parts_of(contact[entries.row], contact[entries.col], r), return_inverse=True)
    if least.size == 1:
        return
    part = part[contact]
    order = np.argsort(part, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(part))])
    W = W[order][:, order].tocsr()
    for start, end in pairwise(first):
        a, b, m = W.indptr[start], W.indptr[end], end - start
        ends, column, value = W.indptr[start : end + 1] - a, W.indices[a:b] - start, W.data[a:b]
        if m > LARGEST_DENSE:
            yield order[start:end], sparse.csr_array((value, column, ends), shape=(m, m))
        else:
            block = np.zeros((m, m))
            block[np.repeat(np.arange(m), np.diff(ends)), column] = value
            yield order[start:end], block
