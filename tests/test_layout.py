"""Packed objects: compiled code and Python see the same numbers at the same places, whatever the sizes."""

import pickle
from typing import ClassVar

import numpy as np
import pytest
from numba import njit, types
from numba.core.errors import TypingError

from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR, address
from workbench.engine.layout import Packed, length, over


class Sample(Packed):
    sizes = ("n", "r")
    integers = ("c", "d")
    fields: ClassVar[dict[str, tuple]] = {
        "h": (), "a": ("n",), "M": ("r", "n"), "F": ("n", 3), "b": ("r",), "c": (), "d": ("n",)
    }  # fmt: skip
    spans: ClassVar[dict[str, tuple[str, str]]] = {"middle": ("M", "b"), "most": ("h", "b")}


SAMPLE = Sample.compiled


@kernel(types.void(SAMPLE))
def number(x):
    """Every entry its own number: field, row, column."""
    for i in range(x.a.shape[0]):
        x.a[i], x.d[i] = 100.0 + i, 500 + i
    for i in range(x.M.shape[0]):
        x.b[i] = 400.0 + i
        for j in range(x.M.shape[1]):
            x.M[i, j] = 200.0 + 10.0 * i + j
    for i in range(x.F.shape[0]):
        for j in range(x.F.shape[1]):
            x.F[i, j] = 300.0 + 10.0 * i + j


@kernel(types.float64(SAMPLE, VECTOR))
def seen(x, sizes):
    """What is read off: scalars by value, lengths of the spans, shapes."""
    sizes[0], sizes[1], sizes[2] = x.middle.shape[0], x.most.shape[0], x.M.shape[0]
    sizes[3], sizes[4], sizes[5] = x.M.shape[1], x.F.shape[0], x.F.shape[1]
    return x.h - 10.0 * (x.c // 2)


def test_a_field_may_have_the_name_of_a_method():
    """As the position in an order has in Lemke's method, which is interpreted, too."""

    class Named(Packed):
        sizes = ("n",)
        fields: ClassVar[dict[str, tuple]] = {"x": ("n",), "place": ("n",)}
        integers = ("place",)

    named = Named(n=2)
    named.place = [3, 4]
    assert named.place.tolist() == named.buffer[2:].view(np.int64).tolist() == [3, 4]


@pytest.mark.parametrize(("n", "r"), [(1, 1), (3, 2), (2, 5), (4, 0), (0, 3)])
def test_python_and_compiled_code_see_the_same_numbers_at_the_same_places(n, r):
    x = Sample(n=n, r=r)
    number(x)
    x.h, x.c = 7.0, 1
    i, j = np.indices((r, n))
    k, m = np.indices((n, 3))
    expected = {
        "a": 100.0 + np.arange(n), "M": 200.0 + 10 * i + j, "F": 300.0 + 10 * k + m, "b": 400.0 + np.arange(r),
        "d": 500 + np.arange(n),
    }  # fmt: skip
    for name, value in expected.items():
        np.testing.assert_array_equal(getattr(x, name), value)
        assert getattr(x, name).dtype == value.dtype
        assert np.shares_memory(getattr(x, name), x.buffer) or getattr(x, name).size == 0
    middle = np.concatenate([expected[name].ravel() for name in ("M", "F", "b")])
    np.testing.assert_array_equal(x.middle, middle)
    np.testing.assert_array_equal(x.most, np.concatenate([[7.0], expected["a"], middle]))
    sizes = np.zeros(6)
    assert seen(x, sizes) == 7.0
    assert (x.h, x.c) == (7.0, 1)
    assert isinstance(x.c, int)
    np.testing.assert_array_equal(sizes, [x.middle.size, x.most.size, r, n, n, 3])
    np.testing.assert_array_equal(x.buffer[x.place("M")], expected["M"].ravel())


def test_assigning_writes_into_the_buffer():
    x = Sample(n=2, r=1)
    before = x.M
    x.M, x.h = [[1.0, 2.0]], 3.0
    assert x.M is before
    np.testing.assert_array_equal(x.buffer[[0, 3, 4]], [3.0, 1.0, 2.0])
    x.middle = 5.0
    np.testing.assert_array_equal(x.M, [[5.0, 5.0]])
    with pytest.raises(ValueError, match="broadcast"):
        x.a = np.zeros(3)


def test_what_is_not_there_is_an_error_on_both_sides():
    x = Sample(n=2, r=1)
    with pytest.raises(AttributeError, match="Sample has no 'z'; it has h, a, M"):
        _ = x.z
    with pytest.raises(TypingError, match="Unknown attribute 'z'"):
        njit(types.float64(SAMPLE))(lambda x: x.z)


def test_what_travels_has_the_same_numbers_and_copies_have_their_own():
    x = Sample(n=2, r=1)
    x.M, x.h, x.d = [[1.0, 2.0]], 3.0, [4, 5]
    for other in (pickle.loads(pickle.dumps(x)), x.copy()):
        np.testing.assert_array_equal(other.buffer, x.buffer)
        np.testing.assert_array_equal(other.d, [4, 5])
        other.h = 9.0
        assert x.h == 3.0
    assert x.like().M.shape == (1, 2)
    assert (x.n, x.r) == (2, 1)


def test_layouts_that_differ_are_different_types():
    own = {name: getattr(Sample, name) for name in ("sizes", "fields", "spans", "integers")}
    same = type("Sample", (Packed,), own)
    other = type("Sample", (Packed,), own | {"fields": Sample.fields | {"d": ("r",)}})
    real = type("Sample", (Packed,), own | {"integers": ()})
    assert other.compiled != SAMPLE != real.compiled
    assert same.compiled == SAMPLE


class Square(Packed):
    sizes = ("N",)
    integers = ("count",)
    fields: ClassVar[dict[str, tuple]] = {"M": ("N", "N"), "count": ("N",), "b": (2, "N"), "h": ()}


class Fixed(Packed):
    sizes = ()
    fields: ClassVar[dict[str, tuple]] = {"a": (3,), "b": (2,)}


place_square, count_square, place_fixed = over(Square), length(Square), over(Fixed)


@kernel(types.int64(VECTOR, VECTOR, types.int64))
def fill_places(numbers, few, N):
    """Every field its own numbers; how many there are in the first."""
    x, y = place_square(address(numbers), N), place_fixed(address(few))
    x.M[:], x.count[:], x.b[:] = 1.0, 2, 3.0
    y.a[:], y.b[:] = 5.0, 6.0
    return count_square(N)


def test_compiled_code_names_numbers_of_its_own():
    for N in (1, 4):
        same, few = Square(N=N), np.zeros(5)
        numbers = same.buffer.copy()
        same.M, same.count, same.b = 1.0, 2, 3.0
        assert fill_places(numbers, few, N) == numbers.size
        np.testing.assert_array_equal(numbers, same.buffer)
        np.testing.assert_array_equal(few, [5, 5, 5, 6, 6])


def first_of_b(packed):
    place = over(packed)

    @kernel(types.float64(VECTOR, types.int64))
    def first(numbers, N):
        return place(address(numbers), N).b[0, 0]

    return first


def test_code_that_names_its_own_numbers_is_made_from_their_layout():
    """Neither numba's name of the type nor any signature tells one layout from another."""
    other = type("Square", (Packed,), dict(sizes=("N",), fields={"b": (2, "N"), "M": ("N", "N")}))
    assert str(other.compiled) == str(Square.compiled)
    one, two = first_of_b(Square), first_of_b(other)
    assert one.closed != two.closed
    assert [f(np.arange(20.0), 2) for f in (one, two)] == [6.0, 0.0]
