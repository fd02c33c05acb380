"""Sparse matrices of numbers that kernels have written: SciPy's checks take longer than a contact to solve."""

from copy import copy
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import Array
from workbench.engine.lazy import sparse


@lru_cache(maxsize=256)
def _of_shape(shape: tuple[int, int]) -> Any:
    return sparse.csr_array(shape)


def stored(pointer: NDArray[np.int64], index: NDArray[np.int64], data: Array, shape: tuple[int, int]) -> Any:
    """The matrix with the columns index[pointer[i] : pointer[i + 1]] in row i; nothing is checked, nor copied."""
    found = copy(_of_shape(shape))
    found.indptr, found.indices, found.data = pointer, index, data
    return found


def as_stored(X: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """pointer, index, data of a sparse matrix, as kernels take them."""
    return np.asarray(X.indptr, dtype=np.int64), np.asarray(X.indices, dtype=np.int64), X.data
