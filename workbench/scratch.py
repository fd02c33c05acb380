"""Room for a compiled function's own numbers, on the stack where it is little: an array of numba's costs 0.1
microseconds, more than most of what small problems do with it.

    x, rows, A = scratch(n), scratch_indices(n), scratch_matrix(n, n)

They hold anything at first, as `np.empty` does, and last until the function returns: they must not be returned, nor be
asked for within a loop, which would take room in every pass.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import _empty_nd_impl, make_array, populate_array

LITTLE = 256
"""Numbers up to which an array lies on the stack."""


def _room(kind: types.Array) -> Any:
    """An intrinsic that makes arrays of this kind."""

    def generate(context: Any, builder: Any, signature: Any, shape: Any) -> Any:
        count = shape[0] if len(shape) == 1 else builder.mul(*shape)
        word = context.get_data_type(kind.dtype)
        size = context.get_constant(types.intp, context.get_abi_sizeof(word))
        made = cgutils.alloca_once(builder, context.get_value_type(kind))
        with builder.if_else(builder.icmp_unsigned("<=", count, ir.Constant(count.type, LITTLE))) as (little, much):
            with little:
                array = make_array(kind)(context, builder)
                strides = [size] if len(shape) == 1 else [builder.mul(shape[1], size), size]
                # No owner: nothing is counted, nothing is freed.
                populate_array(array, builder.alloca(word, size=count), shape, strides, size, None)
                builder.store(array._getvalue(), made)
            with much:
                builder.store(_empty_nd_impl(context, builder, kind, shape)._getvalue(), made)
        return builder.load(made)

    if kind.ndim == 1:

        def vector(context, n):
            return kind(types.intp), generate

        return intrinsic(vector)

    def matrix(context, n, m):
        return kind(types.intp, types.intp), generate

    return intrinsic(matrix)


scratch: Any = _room(types.Array(types.float64, 1, "C"))
scratch_indices: Any = _room(types.Array(types.int64, 1, "C"))
scratch_matrix: Any = _room(types.Array(types.float64, 2, "C"))
