"""Sparse factors of Newton's matrices, in an elimination order computed once for their pattern."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

PIVOTING = 1e-6
"""Smallest diagonal pivot as a share of the largest entry of its column: low, since pivoting causes fill-in."""
SYMMETRIC = {"SymmetricMode": True}


def minimum_degree(row: NDArray[np.integer], column: NDArray[np.integer], size: int) -> NDArray[np.int64]:
    """Return a minimum-degree elimination order for matrices of this size with entries at (row, column)."""
    graph = sparse.csr_array((np.ones(row.size), (row, column)), shape=(size, size))
    dominant = sparse.csc_array(graph + graph.T + (1 + 2 * row.size) * sparse.eye_array(size))
    return np.argsort(splu(dominant, permc_spec="MMD_AT_PLUS_A", options=SYMMETRIC).perm_c)


def factors_in_order(matrix: sparse.csc_array) -> Any:
    """Return factors of a matrix that is already in its elimination order, or None if it is singular."""
    try:
        return splu(matrix, permc_spec="NATURAL", diag_pivot_thresh=PIVOTING, options=SYMMETRIC)
    except RuntimeError:
        return None
