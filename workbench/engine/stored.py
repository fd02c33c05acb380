"""Sparse matrices of numbers that kernels have written: SciPy's checks take longer than a contact to solve."""

from copy import copy
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import Array
from workbench.engine.compiling import argument_type
from workbench.engine.kernels import INDICES, VECTOR
from workbench.engine.lazy import sparse


@lru_cache(maxsize=256)
def _of_shape(shape: tuple[int, int]) -> Any:
    return sparse.csr_array(shape)


def stored(pointer: NDArray[np.int64], index: NDArray[np.int64], data: Array, shape: tuple[int, int]) -> Any:
    """The matrix with the columns index[pointer[i] : pointer[i + 1]] in row i; nothing is checked, nor copied."""
    found = copy(_of_shape(shape))
    found.indptr, found.indices, found.data = pointer, index, data
    return found


class Stored(NamedTuple):
    """A sparse matrix as kernels take it: row i has the columns column[pointer[i] : pointer[i + 1]], and data there."""

    pointer: NDArray[np.int64]
    column: NDArray[np.int64]
    data: Array


STORED = argument_type(Stored, INDICES, INDICES, VECTOR)


def as_stored(X: Any) -> Stored:
    """The numbers of a sparse matrix, of which none is copied that need not be."""
    pointer, column = (np.asarray(x, dtype=np.int64) for x in (X.indptr, X.indices))
    return Stored(pointer, column, np.require(X.data, float, ["C", "W"]))
