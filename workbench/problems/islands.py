"""Islands: uncoupled parts do not influence each other, and are measured and solved separately.

Contacts, blocks or rows are coupled if the impulse of one moves the other: by entries of a matrix over them, or by the
bodies that both move. Each search labels every member with the least member of its island.
"""

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from workbench.engine.compiling import kernel
from workbench.engine.kernels import FAST, INDICES, least_members, reaches_all, unite
from workbench.engine.scratch import scratch_indices
from workbench.engine.stored import STORED

I64 = types.int64
READ_ROW, READ = (types.Array(types.float64, rank, "C", readonly=True) for rank in (1, 2))
READ_INDICES = types.Array(types.int64, 1, "C", readonly=True)


@kernel(types.boolean(READ_ROW, INDICES, INDICES, I64), **FAST)
def meets_another(row, owner, part, mine):
    """Return whether a row (n,) has entries in columns of a part other than `mine`, as far as parts are known."""
    found = 0
    for j in range(row.shape[0]):
        found |= (row[j] != 0.0) & (part[owner[j]] != mine)
    return found != 0


@kernel(types.void(READ, INDICES, INDICES))
def coupled_parts(M, owner, part):
    """Fill part (B,) with the least member of the part of every contact or row; owner (n,) maps rows of M to these.

    Cost: a few rows of M if one unknown is coupled to all others, as is common; otherwise a pass over M.
    """
    n = M.shape[0]
    if n == 0 or reaches_all(M, scratch_indices(n), scratch_indices(n)):
        for k in range(part.shape[0]):
            part[k] = 0
        return
    for k in range(part.shape[0]):
        part[k] = k
    for i in range(n):
        if meets_another(M[i], owner, part, part[owner[i]]):
            for j in range(n):
                if M[i, j] != 0.0 and part[owner[i]] != part[owner[j]]:
                    unite(owner[i], owner[j], part)
    least_members(part)


@kernel(types.void(READ_INDICES, READ_INDICES, INDICES))
def linked(one, other, part):
    """`coupled_parts` for pairs: each entry of `one` is coupled to the same entry of `other`."""
    for k in range(part.shape[0]):
        part[k] = k
    for k in range(one.shape[0]):
        unite(one[k], other[k], part)
    least_members(part)


def parts_of(one: NDArray[np.int64], other: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return the least member of the part of each of `count` items, `one` and `other` being coupled entry by entry."""
    part = np.empty(count, dtype=np.int64)
    linked(np.ascontiguousarray(one, dtype=np.int64), np.ascontiguousarray(other, dtype=np.int64), part)
    return part


def parts_of_matrix(M: Any, owner: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """`coupled_parts` of `count` contacts, sets or rows; M dense or sparse."""
    if isinstance(M, np.ndarray):
        part = np.empty(count, dtype=np.int64)
        coupled_parts(np.ascontiguousarray(M), owner, part)
        return part
    entries = M.tocoo()
    some = entries.data != 0
    return parts_of(owner[entries.row[some]], owner[entries.col[some]], count)


def members(part: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the members of every part, in ascending order, for the result `part` of such a search."""
    order = np.argsort(part, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(part[order])) + 1)


@kernel(types.void(READ_INDICES, STORED, READ_INDICES, INDICES))
def parts_over_bodies(row, J, body, part):
    """Fill part (B + bodies,): the least block of the island of every block, and of every body that a block moves.

    J (R, n) sparse, block i having the rows row[i] : row[i + 1]; body (n,) is the body of each velocity. Explicit zeros
    do not couple.
    """
    B = row.shape[0] - 1
    for i in range(part.shape[0]):
        part[i] = i
    for i in range(B):
        for p in range(J.pointer[row[i]], J.pointer[row[i + 1]]):
            if J.data[p] != 0.0:
                unite(i, B + body[J.column[p]], part)
    least_members(part)
