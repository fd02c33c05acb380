"""Vector lanes: eight numbers, one for each of eight problems, that compiled code treats like one number.

`Eight` values are LLVM vectors: +, -, *, / and comparisons work lane by lane, rounded like those of numbers; a
comparison gives a `Mask`, with & and |. `where` replaces a branch.

    x, y = load(p, 0), load(p, 1)       # p points to numbers, eight to a value
    store(p, 2, where(x < y, x / y, splat(1.0)))
"""

import operator
from typing import Any

import numpy as np
from numba import types

from workbench.engine.interpreted import building_block
from workbench.engine.numba_internals import (
    AbstractTemplate,
    infer_global,
    ir,
    lower_builtin,
    models,
    register_model,
    signature,
)

LANES = 8
F64, I64 = ir.DoubleType(), ir.IntType(64)
VALUES, WHOLE = ir.VectorType(F64, LANES), ir.VectorType(I64, LANES)


class Eight(types.Type):
    """Eight doubles."""

    def __init__(self) -> None:
        super().__init__(name="Eight")


class Mask(types.Type):
    """Eight truth values."""

    def __init__(self) -> None:
        super().__init__(name="Mask")


ABREAST, MASK = Eight(), Mask()


def _register(kind: type, vector: ir.VectorType) -> None:
    @register_model(kind)
    class _Model(models.PrimitiveModel):
        def __init__(self, manager: Any, fe_type: Any) -> None:
            super().__init__(manager, fe_type, vector)


_register(Eight, VALUES)
# Truth values stay eight words wide in variables, so that they need no packing.
_register(Mask, WHOLE)


def _operator(f: Any, kind: types.Type, result: types.Type, generate: Any) -> None:
    @infer_global(f)
    class _Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            return signature(result, kind, kind) if args == (kind, kind) else None

    @lower_builtin(f, kind, kind)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return generate(builder, *args)


for _f, _name in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"), (operator.truediv, "fdiv")):
    _operator(_f, ABREAST, ABREAST, lambda b, x, y, name=_name: getattr(b, name)(x, y))
for _f, _sign in ((operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.eq, "==")):
    _operator(_f, ABREAST, MASK, lambda b, x, y, sign=_sign: b.sext(b.fcmp_ordered(sign, x, y), WHOLE))
_operator(operator.and_, MASK, MASK, lambda b, x, y: b.and_(x, y))
_operator(operator.or_, MASK, MASK, lambda b, x, y: b.or_(x, y))


def _bits(builder: Any, mask: Any) -> Any:
    return builder.icmp_signed("!=", mask, ir.Constant(WHOLE, None))


def _load(context, p, k):
    """Load the k-th eight numbers after p."""

    def generate(context, builder, sig, args):
        at = builder.gep(args[0], [builder.mul(args[1], ir.Constant(I64, LANES))])
        return builder.load(builder.bitcast(at, VALUES.as_pointer()), align=8)

    return ABREAST(p, types.int64), generate


def _store(context, p, k, x):
    """Store x where `load` reads it."""

    def generate(context, builder, sig, args):
        at = builder.gep(args[0], [builder.mul(args[1], ir.Constant(I64, LANES))])
        builder.store(args[2], builder.bitcast(at, VALUES.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(p, types.int64, ABREAST), generate


def _gather(context, p, stride):
    """Load eight numbers from p on, `stride` apart."""

    def generate(context, builder, sig, args):
        x, at = ir.Constant(VALUES, ir.Undefined), args[0]
        for lane in range(LANES):
            x = builder.insert_element(x, builder.load(at), ir.Constant(ir.IntType(32), lane))
            at = builder.gep(at, [args[1]])
        return x

    return ABREAST(p, types.int64), generate


def _scatter(context, p, stride, x):
    """Store x where `gather` reads it."""

    def generate(context, builder, sig, args):
        at = args[0]
        for lane in range(LANES):
            builder.store(builder.extract_element(args[2], ir.Constant(ir.IntType(32), lane)), at)
            at = builder.gep(at, [args[1]])
        return context.get_dummy_value()

    return types.void(p, types.int64, ABREAST), generate


def _splat(context, x):
    """Return the number x in all lanes."""

    def generate(context, builder, sig, args):
        one = builder.insert_element(ir.Constant(VALUES, ir.Undefined), args[0], ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(
            one, ir.Constant(VALUES, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
        )

    return ABREAST(types.float64), generate


def _where(context, mask, x, y):
    """Return x in the lanes of the mask, y in the others."""

    def generate(context, builder, sig, args):
        return builder.select(_bits(builder, args[0]), args[1], args[2])

    return ABREAST(MASK, ABREAST, ABREAST), generate


def _some(context, mask):
    """Return whether any lane of the mask is set."""

    def generate(context, builder, sig, args):
        word = builder.bitcast(_bits(builder, args[0]), ir.IntType(LANES))
        return builder.icmp_unsigned("!=", word, ir.Constant(ir.IntType(LANES), 0))

    return types.boolean(MASK), generate


def _call(name):
    """Return an intrinsic that calls an LLVM function."""

    def function(context, x):
        def generate(context, builder, sig, args):
            kind = ir.FunctionType(VALUES, [VALUES])
            return builder.call(builder.module.declare_intrinsic(f"{name}.v{LANES}f64", fnty=kind), args)

        return ABREAST(ABREAST), generate

    return function


def _two(context, x):
    """Return the least power of two above x > 0 that is a normal number: x with a zero mantissa, doubled."""

    def generate(context, builder, sig, args):
        exponent = ir.Constant(WHOLE, [0x7FF0000000000000] * LANES)
        power = builder.bitcast(builder.and_(builder.bitcast(args[0], WHOLE), exponent), VALUES)
        return builder.fadd(power, power)

    return ABREAST(ABREAST), generate


def _load_in_python(p, k):
    return p[LANES * k : LANES * (k + 1)].copy()


def _store_in_python(p, k, x):
    p[LANES * k : LANES * (k + 1)] = x


def _scatter_in_python(p, stride, x):
    p[stride * np.arange(LANES)] = x


load = building_block(_load, _load_in_python)
store = building_block(_store, _store_in_python)
gather = building_block(_gather, lambda p, stride: p[stride * np.arange(LANES)])
scatter = building_block(_scatter, _scatter_in_python)
splat = building_block(_splat, lambda x: np.full(LANES, x))
where = building_block(_where, np.where)
some = building_block(_some, np.any)
root = building_block(_call("llvm.sqrt"), np.sqrt)
size_of = building_block(_call("llvm.fabs"), np.abs)
power_above = building_block(_two, lambda x: np.ldexp(1.0, np.frexp(x)[1]))
