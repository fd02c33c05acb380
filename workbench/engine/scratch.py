"""Work arrays of compiled functions, on the stack if small.

A numba array costs 0.1 microseconds, more than most operations on small problems.

    x, rows, A = scratch(n), scratch_indices(n), scratch_matrix(n, n)

They are uninitialised, like `np.empty`, and valid until the function returns: they must not be returned. A kernel that
requests them within a loop, which would take more of the stack in every iteration, is rejected.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.interpreted import building_block, python_of
from workbench.engine.loops import ONCE
from workbench.engine.numba_internals import cgutils, ir, make_array, populate_array

LITTLE = 256
"""Largest number of entries of an array on the stack."""

VECTOR, MATRIX = (types.Array(types.float64, rank, "C") for rank in (1, 2))
INDICES = types.Array(types.int64, 1, "C")


@kernel(VECTOR(types.intp))
def many(n):
    """Return a numba array, in a separate function: allocation is much code for a rare case."""
    return np.empty(n)


@kernel(INDICES(types.intp))
def many_indices(n):
    """Return a numba array of indices; see `many`."""
    return np.empty(n, dtype=np.int64)


@kernel(MATRIX(types.intp, types.intp))
def many_rows(n, m):
    """Return a numba matrix; see `many`."""
    return np.empty((n, m))


def _scratch(kind: types.Array, many: Any) -> Callable:
    """Return the definition of an intrinsic for arrays of this kind; `many` makes large ones."""

    def generate(context: Any, builder: Any, signature: Any, shape: Any) -> Any:
        count = shape[0] if len(shape) == 1 else builder.mul(*shape)
        word = context.get_data_type(kind.dtype)
        size = context.get_constant(types.intp, context.get_abi_sizeof(word))
        made = cgutils.alloca_once(builder, context.get_value_type(kind))
        with builder.if_else(builder.icmp_unsigned("<=", count, ir.Constant(count.type, LITTLE))) as (little, much):
            with little:
                array = make_array(kind)(context, builder)
                strides = [size] if len(shape) == 1 else [builder.mul(shape[1], size), size]
                # No owner: no reference counting, no freeing.
                populate_array(array, builder.alloca(word, size=count), shape, strides, size, None)
                builder.store(array._getvalue(), made)
            with much:
                builder.store(many.called(context, builder, signature, shape), made)
        return builder.load(made)

    if kind.ndim == 1:

        def vector(context, n):
            return kind(types.intp), generate

        return vector

    def matrix(context, n, m):
        return kind(types.intp, types.intp), generate

    return matrix


scratch = building_block(_scratch(VECTOR, many), python_of(many))
scratch_indices = building_block(_scratch(INDICES, many_indices), python_of(many_indices))
scratch_matrix = building_block(_scratch(MATRIX, many_rows), python_of(many_rows))
ONCE.update({scratch: "scratch", scratch_indices: "scratch_indices", scratch_matrix: "scratch_matrix"})
