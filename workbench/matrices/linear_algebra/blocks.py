"""Islands of a matrix, the diagonal blocks of its block triangular form, windows along its band."""

from typing import Any

import numpy as np

from workbench.engine.lazy import csgraph, sparse


def islands(pattern: Any) -> list[list[int]]:
    """Index sets that no entry couples; `pattern` is a sparse matrix (n, n) with the entries that are not zero."""
    _, label = csgraph.connected_components(pattern, directed=True, connection="weak")
    return _index_sets(label)


def irreducible_blocks(pattern: Any) -> list[list[int]]:
    """Index sets of the diagonal blocks of the block triangular form, M_ij = 0 where i's block comes after j's."""
    count, label = csgraph.connected_components(pattern, connection="strong")
    entries = sparse.coo_array(pattern)
    i, j = label[entries.row], label[entries.col]
    between = sparse.csr_array((np.ones(len(i))[i != j], (i[i != j], j[i != j])), shape=(count, count))
    between.sum_duplicates()
    before = np.bincount(between.indices, minlength=count).tolist()
    starts, targets = between.indptr.tolist(), between.indices.tolist()
    # Edges i -> j never go back in this order.
    order = [b for b in range(count) if not before[b]]
    for b in order:
        for c in targets[starts[b] : starts[b + 1]]:
            before[c] -= 1
            if not before[c]:
                order.append(c)
    found = _index_sets(label)
    return [found[b] for b in order]


def neighbouring(pattern: Any, size: int) -> list[list[int]]:
    """Overlapping index sets of at most `size` rows that are near each other, by the reverse Cuthill-McKee order."""
    order = csgraph.reverse_cuthill_mckee(sparse.csr_array(abs(pattern) + abs(pattern).T), symmetric_mode=True)
    starts = range(0, max(1, len(order) - size // 2), max(1, size // 2))
    return [np.sort(order[k : k + size]).tolist() for k in starts]


def _index_sets(label: Any) -> list[list[int]]:
    """The indices with each label."""
    order = np.argsort(label, kind="stable")
    return [x.tolist() for x in np.split(order, np.cumsum(np.bincount(label))[:-1])]
