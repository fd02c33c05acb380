"""A tape: the operations by which an evaluation computed its outputs, and their derivatives in either direction.

    v_i = phi_i(v_a, v_b)      tangents  v'_i = da_i v'_a + db_i v'_b      adjoints  a_a += da_i a_i,  a_b += db_i a_i

Derivatives are exact up to rounding, and an adjoint costs as much as a few evaluations, whatever the number of inputs
(Griewank & Walther, Evaluating Derivatives, 2008). Every comparison that the evaluation made is a condition: at other
inputs the tape holds as long as all of them have the same result, by a margin. abs, min and max are operations; where
their arguments are equal, the derivatives of both sides are compared.
"""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR, address
from workbench.engine.lanes import LANES, load, splat, store
from workbench.engine.layout import Packed

LINEAR, TIMES, OVER, ROOT, SINE, COSINE, SIZE, LEAST, MOST, EXP, LOG, POWER, ANGLE = range(13)
"""Operations. `LINEAR` is da v_a + db v_b with constant da, db. A cosine follows the sine of the same number; `SIZE`
is abs, `LEAST` min, `MOST` max, `POWER` has a constant exponent v_b, `ANGLE` is arctan2."""
LESS, AT_MOST, EQUAL, UNKNOWN = range(4)
"""Conditions v_a < v_b, v_a <= v_b, v_a = v_b, and v_a is nan; twice these, plus 1 if it holds."""
SAME, OTHER, TIED = range(3)
"""At the inputs a tape was evaluated at all conditions have their results, or some another, or some just so."""
TIE = 1e-9
"""If inputs that move by this share of their sizes may change a condition it holds just so; and abs, min and max have a
kink."""
I64, F64 = types.int64, types.float64


class Tape(Packed):
    """N numbers: n_in inputs, constants, then from `first` on operations; n_out outputs; K tangents (`columns`)."""

    sizes = ("n_in", "n_out", "N", "n_if", "n_ties", "K")
    integers = ("first", "late", "code", "a", "b", "out", "left", "right", "relation", "ties")
    fields: ClassVar[dict[str, tuple]] = {
        "first": (),
        "late": (),  # the first operation of q+
        "code": ("N",),
        "a": ("N",),
        "b": ("N",),
        "value": ("N",),
        "da": ("N",),
        "db": ("N",),
        "out": ("n_out",),  # the numbers that are outputs
        "left": ("n_if",),
        "right": ("n_if",),
        "relation": ("n_if",),
        "size": ("n_if",),  # how far the numbers compared move with inputs that move by their sizes
        "ties": ("n_ties",),  # abs, min and max on which outputs depend
        "tie_size": ("n_ties",),  # `size` of their arguments
        "adjoint": ("N",),
        "tangent": ("N", "K"),
    }

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


TAPE = Tape.compiled


@kernel(types.void(TAPE, VECTOR))
def evaluate(t, x):
    """Compute all numbers and partial derivatives at the inputs x (n_in,)."""
    code, a, b, value, da, db = t.code, t.a, t.b, t.value, t.da, t.db
    for i in range(x.shape[0]):
        value[i] = x[i]
    for i in range(t.first, code.shape[0]):
        c, p, q = code[i], value[a[i]], value[b[i]]
        if c == LINEAR:
            value[i] = da[i] * p + db[i] * q
        elif c == TIMES:
            value[i], da[i], db[i] = p * q, q, p
        elif c == OVER:
            r = p / q
            value[i], da[i], db[i] = r, 1.0 / q, -r / q
        elif c == ROOT:
            r = np.sqrt(p)
            value[i], da[i] = r, 0.5 / r
        elif c == SINE:
            value[i] = np.sin(p)
        elif c == COSINE:
            r = np.cos(p)
            value[i], da[i], da[i - 1] = r, -value[i - 1], r
        elif c == SIZE:
            value[i], da[i] = abs(p), 1.0 if p >= 0.0 else -1.0
        elif c in (LEAST, MOST):
            own = p <= q if c == LEAST else p >= q
            value[i], da[i], db[i] = p if own else q, 1.0 if own else 0.0, 0.0 if own else 1.0
        elif c == EXP:
            r = np.exp(p)
            value[i], da[i] = r, r
        elif c == LOG:
            value[i], da[i] = np.log(p), 1.0 / p
        elif c == POWER:
            value[i], da[i] = p**q, q * p ** (q - 1.0)
        else:
            r = p * p + q * q
            value[i], da[i], db[i] = np.arctan2(p, q), q / r, -p / r


@kernel(I64(TAPE))
def path(t):
    """Return whether the conditions have their results (`SAME`, `OTHER`, `TIED`), after `evaluate`."""
    value, left, right, relation, size, tied = t.value, t.left, t.right, t.relation, t.size, False
    for k in range(left.shape[0]):
        p, q, kind = value[left[k]], value[right[k]], relation[k] // 2
        if kind == LESS:
            holds = p < q
        elif kind == AT_MOST:
            holds = p <= q
        elif kind == EQUAL:
            holds = p == q
        else:
            holds = p != p
        if holds != (relation[k] % 2 == 1):
            return OTHER
        # Not of a number that is not known.
        tied |= kind != UNKNOWN and abs(p - q) <= TIE * size[k]
    return TIED if tied else SAME


@kernel(types.boolean(TAPE))
def turn_ties(t):
    """Exchange the partial derivatives of both sides where abs, min and max have a kink; return whether any has."""
    code, a, b, value, da, db, size, found = t.code, t.a, t.b, t.value, t.da, t.db, t.tie_size, False
    for k in range(t.ties.shape[0]):
        i, reach = t.ties[k], TIE * size[k]
        if code[i] == SIZE:
            if abs(value[a[i]]) <= reach:
                da[i], found = -da[i], True
        elif abs(value[a[i]] - value[b[i]]) <= reach:
            da[i], db[i], found = db[i], da[i], True
    return found


@kernel(types.void(TAPE, I64, I64))
def carry_tangents(t, start, end):
    """Compute the tangents of the operations start : end, those before being known."""
    a, b, da, db, tangent = t.a, t.b, t.da, t.db, t.tangent
    p, n = address(tangent), tangent.shape[1] // LANES
    for i in range(start, end):
        left, right = splat(da[i]), splat(db[i])
        for c in range(n):
            store(p, n * i + c, left * load(p, n * a[i] + c) + right * load(p, n * b[i] + c))


@kernel(types.void(TAPE, I64, I64))
def carry_adjoints(t, end, start):
    """Pass the adjoints of the operations end - 1 to `start`, in this order, on to their arguments."""
    a, b, da, db, adjoint = t.a, t.b, t.da, t.db, t.adjoint
    for i in range(end - 1, start - 1, -1):
        due = adjoint[i]
        # What only conditions ask for may have unbounded derivatives.
        if due != 0.0:
            adjoint[a[i]] += due * da[i]
            adjoint[b[i]] += due * db[i]


@kernel(types.void(TAPE, I64, I64))
def carry_sizes(t, end, start):
    """`carry_adjoints` of the sizes of adjoints and of all terms of their sums."""
    a, b, da, db, adjoint = t.a, t.b, t.da, t.db, t.adjoint
    for i in range(end - 1, start - 1, -1):
        due = adjoint[i]
        if due != 0.0:
            adjoint[a[i]] += due * abs(da[i])
            adjoint[b[i]] += due * abs(db[i])
