"""Arithmetic in double-double precision: a number is an unevaluated sum x + x_low of two doubles, 32 digits.

Source: T. J. Dekker, A floating-point technique for extending the available precision, Numerische Mathematik 18
(1971); the error-free sum is Knuth's. Compilers may not reassociate: no function here may be compiled with fastmath.
"""

from numba import types

from workbench.engine.compiling import kernel

F64 = types.float64
TWICE = types.UniTuple(F64, 2)
SPLITTER = 2.0**27 + 1.0
"""Multiplying by this splits a double of 53 bits into two halves whose products are exact."""


@kernel(TWICE(F64, F64), linked=True)
def two_sum(a, b):
    """Return a + b exactly, as (the rounded sum, its error)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@kernel(TWICE(F64, F64), linked=True)
def two_product(a, b):
    """Return a b exactly, as (the rounded product, its error), without overflow and underflow."""
    p = a * b
    t = SPLITTER * a
    a_high = t - (t - a)
    a_rest = a - a_high
    t = SPLITTER * b
    b_high = t - (t - b)
    b_rest = b - b_high
    return p, ((a_high * b_high - p) + a_high * b_rest + a_rest * b_high) + a_rest * b_rest


@kernel(TWICE(F64, F64, F64, F64, F64, F64), linked=True)
def less_product(x, x_low, a, a_low, b, b_low):
    """Return x - a b for three such numbers."""
    p, e = two_product(a, b)
    s, t = two_sum(x, -p)
    return two_sum(s, t + (x_low - (e + (a * b_low + a_low * b))))


@kernel(TWICE(F64, F64, F64, F64), linked=True)
def quotient(a, a_low, b, b_low):
    """Return a / b for two such numbers."""
    first = a / b
    rest, _ = less_product(a, a_low, first, 0.0, b, b_low)
    return two_sum(first, rest / b)


@kernel(TWICE(F64, F64, F64), linked=True)
def product(a, b, c):
    """Return a b c for three doubles."""
    p, e = two_product(a, b)
    return less_product(0.0, 0.0, -p, -e, c, 0.0)
