"""Named arrays that are consecutive in one buffer and are passed to compiled code as one pointer.

A compiled function with twenty array arguments copies twenty descriptors at every call, and numba spends seconds on
each such signature. A `Packed` object is passed as an address and its sizes; `x.M` is then a view of its buffer at the
offset given by the sizes:

    class Core(Packed):
        sizes = ("n", "r")
        fields = {"h": (), "M": ("n", "n"), "phi": ("r",)}

`x.h` is a number, `x.M` an (n, n) array, in compiled code as in Python, where the arrays are ordinary NumPy views, and
the sizes attributes, too. Fields named in `integers` hold whole numbers. Adjacent fields that are needed as one vector
are listed in `spans`: name, first and last field. Arrays taken from a packed object must not outlive it: compiled code
does not count references to them.

Compiled code that has its own buffer names its parts by `over`, and gets the required length from `length`.
"""

import math
from collections.abc import Callable, Mapping
from functools import lru_cache, reduce
from typing import Any, ClassVar

import numpy as np
from numba import types

from workbench.engine.interpreted import building_block
from workbench.engine.numba_internals import (
    AttributeTemplate,
    NativeValue,
    address_of_array,
    cgutils,
    infer_getattr,
    ir,
    lower_getattr_generic,
    make_array,
    models,
    populate_array,
    register_model,
    unbox,
)

Monomials = dict[tuple[str, ...], int]
"""A length as a polynomial in the sizes: products of names, with their coefficients."""
Place = tuple[slice, type, tuple[int, ...] | None]
"""Where an array stands in its buffer, the kind of its numbers, and its shape unless that is flat."""


class PackedType(types.Type):
    """Type of a `Packed` class in compiled code: names, shapes and positions of its fields."""

    def __init__(self, name: str, sizes: tuple, fields: dict[str, tuple], spans: dict[str, tuple], integers: tuple):
        self.sizes, self.shapes, self.integers = sizes, fields, integers
        self.start: dict[str, Monomials] = {}
        self.end: dict[str, Monomials] = {}
        at: Monomials = {}
        for key, shape in fields.items():
            self.start[key] = dict(at)
            term = tuple(sorted(s for s in shape if isinstance(s, str)))
            at[term] = at.get(term, 0) + math.prod(s for s in shape if isinstance(s, int))
            self.end[key] = dict(at)
        for key, (first, last) in spans.items():
            self.start[key], self.end[key] = self.start[first], self.end[last]
        self._key = (name, sizes, tuple(fields.items()), tuple(spans.items()), integers)
        super().__init__(name=name)

    def __repr__(self) -> str:
        # Used in the digest of sources: numba's own is the name alone.
        return str(self._key)

    @property
    def key(self) -> tuple:
        """Key for numba's cache, which distinguishes code compiled for other layouts."""
        return self._key

    def of(self, name: str) -> types.Type:
        """Return the type of a field or span."""
        rank, kind = len(self.shapes.get(name, ("span",))), types.int64 if name in self.integers else types.float64
        return types.Array(kind, rank, "C") if rank else kind


class Packed:
    """Base of the classes described in the module's docstring; the sizes are given by name.

    The buffer is new and zero, or the beginning of `buffer`.
    """

    sizes: ClassVar[tuple[str, ...]]
    fields: ClassVar[dict[str, tuple]]
    spans: ClassVar[dict[str, tuple[str, str]]] = {}
    integers: ClassVar[tuple[str, ...]] = ()
    compiled: ClassVar[PackedType]
    _numba_type_: ClassVar[PackedType]

    _ordered: ClassVar[Callable[..., tuple[tuple[int, ...], int]]]

    def __init_subclass__(cls) -> None:
        cls.compiled = cls._numba_type_ = PackedType(cls.__name__, cls.sizes, cls.fields, cls.spans, cls.integers)
        cls._ordered = staticmethod(_ordering(cls.sizes, cls.compiled.end[list(cls.fields)[-1]]))
        # A method of this class would hide a field of its name, in Python alone.
        for name in cls.compiled.start.keys() & vars(Packed).keys():
            setattr(cls, name, _field(name))

    def __init__(self, buffer: np.ndarray | None = None, **sizes: int) -> None:
        ordered, count = self._ordered(**sizes)
        # Memory pages that are never written are never allocated. Attributes are set at once, as fast as can be.
        numbers = np.zeros(count) if buffer is None else buffer[:count]
        self.__dict__.update(sizes, buffer=numbers, _sizes=ordered)

    @classmethod
    def unset(cls, **sizes: int) -> Any:
        """Return one whose numbers are whatever was in memory, as of `np.empty`."""
        found, (ordered, count) = object.__new__(cls), cls._ordered(**sizes)
        found.__dict__.update(sizes, buffer=np.empty(count), _sizes=ordered)
        return found

    def __getattr__(self, name: str) -> Any:
        # Arrays are made when they are first asked for: kernels alone read most. Numbers are read each time.
        if name not in self.compiled.start:
            raise AttributeError(f"{type(self).__name__} has no '{name}'; it has {', '.join(self.compiled.start)}")
        place, kind, shape = self._place(name)
        numbers: Any = self.buffer[place]
        if kind is not np.float64:
            numbers = numbers.view(kind)
        if shape == ():
            return numbers[0].item()
        if shape:
            numbers = numbers.reshape(shape)
        self.__dict__[name] = numbers
        return numbers

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.compiled.start:
            object.__setattr__(self, name, value)
        elif self.compiled.shapes.get(name) == ():
            place, kind, _ = self._place(name)
            self.buffer.view(kind)[place.start] = value
        else:
            getattr(self, name)[...] = value

    def __reduce__(self) -> tuple:
        return _again, (type(self), self.buffer, dict(zip(self.sizes, self._sizes, strict=True)))

    def copy(self) -> Any:
        """Return another one with the same numbers."""
        found = self.like()
        found.buffer[:] = self.buffer
        return found

    def like(self) -> Any:
        """Return another one of the same sizes, `unset`."""
        found = object.__new__(type(self))
        found.__dict__.update(zip(self.sizes, self._sizes, strict=True), buffer=np.empty(self.buffer.size))
        found.__dict__["_sizes"] = self._sizes
        return found

    def place(self, name: str) -> slice:
        """Return the position of a field or span in the buffer."""
        return self._place(name)[0]

    def _place(self, name: str) -> Place:
        # To mypy a class is not hashable if it has attributes of its own making.
        packed: Any = type(self)
        return _place_of(packed, self._sizes, name)


def _field(name: str) -> property:
    """Return the field of a packed object as a property."""
    return property(lambda x: x.__getattr__(name))


@lru_cache(maxsize=4096)
def _place_of(packed: Any, sizes: tuple[int, ...], name: str) -> Place:
    """Return the `Place` of a field or span."""
    known, compiled = dict(zip(packed.sizes, sizes, strict=True)), packed.compiled
    place = slice(*(_value(at[name], known) for at in (compiled.start, compiled.end)))
    shape = compiled.shapes.get(name, ("span",))
    kind = np.int64 if name in packed.integers else np.float64
    return place, kind, None if len(shape) == 1 else tuple(int(known.get(x, x)) for x in shape)


def _again(kind: type[Packed], buffer: np.ndarray, sizes: dict[str, int]) -> Packed:
    """Return a packed object that has travelled."""
    made: Packed = object.__new__(kind)
    Packed.__init__(made, buffer, **sizes)
    return made


def _value(x: Monomials, sizes: Mapping[str, int]) -> int:
    """Return the value of a polynomial in the sizes."""
    return sum(n * math.prod(map(sizes.__getitem__, names)) for names, n in x.items())


def _ordering(sizes: tuple[str, ...], x: Monomials) -> Callable[..., tuple[tuple[int, ...], int]]:
    """Return a function of the sizes, given by name: these in order, and the value of a polynomial in them.

    Python compiles it, as it does for named tuples.
    """
    terms = (" * ".join((str(n), *names)) for names, n in x.items())
    found: Callable[..., Any] = eval(
        f"lambda {', '.join(sizes)}: (({''.join(f'{x}, ' for x in sizes)}), {' + '.join(terms)})"
    )
    return found


def over(packed: type[Packed]) -> Any:
    """Return an intrinsic place(numbers, size), or place(numbers) without sizes.

    It returns a packed object over the numbers that begin at an address."""
    kind = packed.compiled

    def generate(context, builder, signature, args):
        taken = cgutils.create_struct_proxy(kind)(context, builder)
        for name, value in zip(("address", *kind.sizes), args, strict=True):
            setattr(taken, name, value)
        return taken._getvalue()

    def place(context, numbers):
        return kind(numbers), generate

    def place_sized(context, numbers, size):
        return kind(numbers, types.intp), generate

    def in_python(numbers, *size):
        return packed(numbers, **dict(zip(packed.sizes, size, strict=True)))

    return building_block(place_sized if kind.sizes else place, in_python)


def length(packed: type[Packed]) -> Any:
    """Return an intrinsic count(size): the numbers held by a packed object of one size."""
    kind = packed.compiled
    last = list(kind.shapes)[-1]

    def count(context, size):
        def generate(context, builder, signature, args):
            return _length(builder, kind.end[last], lambda name: args[0])

        return types.intp(types.intp), generate

    return building_block(count, lambda size: sum(n * size ** len(names) for names, n in kind.end[last].items()))


def _length(builder: Any, x: Monomials, size: Any) -> Any:
    """Return the value of a polynomial; size(name) returns that of a size."""
    total = ir.Constant(ir.IntType(64), 0)
    for names, count in x.items():
        total = builder.add(total, reduce(builder.mul, map(size, names), ir.Constant(ir.IntType(64), count)))
    return total


@register_model(PackedType)
class _Model(models.StructModel):
    def __init__(self, manager: Any, kind: PackedType) -> None:
        members = [("address", types.CPointer(types.float64)), *((name, types.intp) for name in kind.sizes)]
        super().__init__(manager, kind, members)


@unbox(PackedType)
def _take(kind: PackedType, thing: Any, c: Any) -> NativeValue:
    """Convert from Python: the address of the buffer and the sizes."""
    taken = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    buffer = c.pyapi.object_getattr_string(thing, "buffer")
    taken.address = address_of_array(c.builder, buffer)
    c.pyapi.decref(buffer)
    numbers = c.pyapi.object_getattr_string(thing, "_sizes")
    for i, name in enumerate(kind.sizes):
        setattr(taken, name, c.pyapi.long_as_longlong(c.pyapi.tuple_getitem(numbers, i)))
    c.pyapi.decref(numbers)
    return NativeValue(taken._getvalue())


@infer_getattr
class _Attributes(AttributeTemplate):
    key = PackedType

    def generic_resolve(self, kind: Any, name: Any) -> Any:  # type: ignore[override]
        return kind.of(name) if name in kind.start else None


@lower_getattr_generic(PackedType)
def _view(context: Any, builder: Any, kind: PackedType, value: Any, name: str) -> Any:
    """Return a field as a number or as an array without an owner."""
    taken = cgutils.create_struct_proxy(kind)(context, builder, value=value)

    def size(s: str | int) -> Any:
        return ir.Constant(ir.IntType(64), s) if isinstance(s, int) else getattr(taken, s)

    start, end = (_length(builder, at[name], size) for at in (kind.start, kind.end))
    address = builder.gep(taken.address, [start])
    if name in kind.integers:
        address = builder.bitcast(address, ir.IntType(64).as_pointer())
    shape = kind.shapes.get(name)
    if shape == ():
        return builder.load(address)
    extents = [builder.sub(end, start)] if shape is None else [size(s) for s in shape]
    strides = [size(8)]
    for extent in reversed(extents[1:]):
        strides.insert(0, builder.mul(strides[0], extent))
    array = make_array(kind.of(name))(context, builder)
    populate_array(array, address, extents, strides, size(8), None)
    return array._getvalue()
