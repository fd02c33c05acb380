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
from workbench.problems.classes import Array, ConeProblem, is_sparse
from workbench.problems.islands import members, parts_of_matrix
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
    r, d = problem.mu.size, problem.d
    part = parts_of_matrix(problem.M, contact_of_row(r, d), r)
    if not part.any():
        return None
    split = members(part[contact_of_row(r, d)])
    most = max(rows.size for rows in split)
    if problem.size > HALVED and 2 * most > problem.size:
        return None
    z = np.zeros(problem.size)
    reported: tuple[str, ...] = ()
    iterations, worst = 0, -1.0
    for rows, W_k in zip(split, diagonal_blocks(problem.M, split), strict=True):
        contacts = rows[rows < r]
        part_k = Part(W_k, problem.q[rows], problem.mu[contacts], d, problem.associated)
        z_k, residual, some, stages = solve(part_k)
        z[rows] = z_k
        best.offer(z)
        iterations += some
        if residual > worst:
            worst, reported = residual, stages
    parts = f"{len(split)} parts that nothing couples, {most // (1 + d)} contacts the largest"
    return z, worst, iterations, (f"{parts}; the one of the largest residual", *reported)


def diagonal_blocks(W: Any, split: list[Indices]) -> Iterator[Any]:
    """The block of W of every part; of a sparse W those of many unknowns stay sparse."""
    if not is_sparse(W):
        for rows in split:
            yield W[np.ix_(rows, rows)]
        return
    from scipy import sparse

    order = np.concatenate(split)
    W = sparse.csr_array(W)[order][:, order].tocsr()
    W.sum_duplicates()
    W.eliminate_zeros()
    for start, end in pairwise(np.cumsum([0, *(rows.size for rows in split)])):
        a, b, m = W.indptr[start], W.indptr[end], end - start
        ends, column, value = W.indptr[start : end + 1] - a, W.indices[a:b] - start, W.data[a:b]
        if m > LARGEST_DENSE:
            yield sparse.csr_array((value, column, ends), shape=(m, m))
        else:
            block = np.zeros((m, m))
            block[np.repeat(np.arange(m), np.diff(ends)), column] = value
            yield block
