"""Friction-cone problems over W with uncoupled parts (`components`), each solved in stages of its own.

W is dense, or sparse if it is large; splitting costs a pass over its entries.
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
"""Unknowns above which no part may have more than half of them: sparse factors of the whole cost little more than those
of such a part, and the number of Newton steps of a hard problem is a matter of chance."""
LARGEST_DENSE = 200
"""Largest number of unknowns for which a part of a sparse W becomes a dense matrix."""

Indices = NDArray[np.int64]
Staged = tuple[Array, float, int, tuple[str, ...]]
"""z, its residual, the iterations, and the outcome of every stage."""


@dataclass(frozen=True, eq=False)
class Part(ConeProblem):
    """A part, or all, of a problem whose data have already been checked."""

    associated: bool = True

    def __post_init__(self) -> None:
        pass

    @classmethod
    def all_of(cls, problem: ConeProblem) -> "Part":
        """Return the whole problem as one part."""
        return cls(problem.M, problem.q, problem.mu, problem.d, problem.associated)


def solve_by_parts(problem: ConeProblem, solve: Callable[[ConeProblem], Staged]) -> Staged | None:
    """Return the combined solutions of the parts; None if there is only one part, or one that dominates."""
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
    """Iterate over the blocks of W of every part; large blocks of a sparse W stay sparse."""
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
