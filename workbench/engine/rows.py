"""Rows of `WIDTH` numbers as processor vectors.

LLVM unrolls short loops of constant length before it looks for vectors, and then does not form them, since rows might
overlap. Here rows are loaded, changed and stored whole: a pivot takes a third of the time. Each number is rounded as in
a loop.
"""

import numpy as np
from numba import types

from workbench.engine.interpreted import building_block
from workbench.engine.numba_internals import ir

WIDTH = 12
"""Three vectors of AVX, one and a half of AVX-512."""

ROW = ir.VectorType(ir.DoubleType(), WIDTH)
PLACES = ir.Constant(ir.VectorType(ir.IntType(64), WIDTH), list(range(WIDTH)))


def _load(builder, p):
    return builder.load(builder.bitcast(p, ROW.as_pointer()), align=8)


def _store(builder, row, p):
    builder.store(row, builder.bitcast(p, ROW.as_pointer()), align=8)


def _spread(builder, x):
    """Return the number x in every position."""
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    first = builder.insert_element(ir.Constant(ir.VectorType(x.type, WIDTH), ir.Undefined), x, zeros.type.element(0))
    return builder.shuffle_vector(first, first, zeros)


def _put(builder, value, c, row):
    """Return the row with `value` at position c."""
    return builder.select(
        builder.icmp_signed("==", PLACES, _spread(builder, c)), ir.Constant(ROW, [value] * WIDTH), row
    )


def _pivot_row(context, x, c, f, y):
    """Compute y = f x, at position c f."""

    def generate(context, builder, signature, args):
        x, c, f, y = args
        _store(builder, builder.fmul(_put(builder, 1.0, c, _load(builder, x)), _spread(builder, f)), y)
        return context.get_dummy_value()

    return types.void(x, c, f, y), generate


def _less_row(context, x, c, f, y):
    """Compute x -= f y, at position c as if x were zero."""

    def generate(context, builder, signature, args):
        x, c, f, y = args
        product = builder.fmul(_load(builder, y), _spread(builder, f))
        _store(builder, builder.fsub(_put(builder, 0.0, c, _load(builder, x)), product), x)
        return context.get_dummy_value()

    return types.void(x, c, f, y), generate


def _copy_row(context, x, y):
    """Copy x to y."""

    def generate(context, builder, signature, args):
        _store(builder, _load(builder, args[0]), args[1])
        return context.get_dummy_value()

    return types.void(x, y), generate


def _with(x, value, c):
    """Return the row x with `value` at position c, in Python."""
    return np.where(np.arange(WIDTH) == c, value, x[:WIDTH])


def _pivot_in_python(x, c, f, y):
    y[:WIDTH] = _with(x, 1.0, c) * f


def _less_in_python(x, c, f, y):
    x[:WIDTH] = _with(x, 0.0, c) - y[:WIDTH] * f


def _copy_in_python(x, y):
    y[:WIDTH] = x[:WIDTH]


pivot_row = building_block(_pivot_row, _pivot_in_python)
less_row = building_block(_less_row, _less_in_python)
copy_row = building_block(_copy_row, _copy_in_python)
