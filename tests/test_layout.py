"""Packed objects: compiled code and Python see the same numbers at the same places, whatever the sizes."""

import pickle
from typing import ClassVar

import numpy as np
import pytest
from numba import njit, types
from numba.core.errors import TypingError

from workbench.engine.kernels import VECTOR
from workbench.engine.layout import Packed


class Sample(Packed):
    sizes = ("n", "r")
    integers = ("c", "d")
    fields: ClassVar[dict[str, tuple]] = {
        "h": (), "a": ("n",), "M": ("r", "n"), "F": ("n", 3), "b": ("r",), "c": (), "d": ("n",)
    }  # fmt: skip
    spans: ClassVar[dict[str, tuple[str, str]]] = {"middle": ("M", "b"), "most": ("h", "b")}


SAMPLE = Sample.compiled


@njit(types.void(SAMPLE))
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


@njit(types.float64(SAMPLE, VECTOR))
def seen(x, sizes):
    """What is read off: scalars by value, lengths of the spans, shapes."""
    sizes[0], sizes[1], sizes[2] = x.middle.shape[0], x.most.shape[0], x.M.shape[0]
    sizes[3], sizes[4], sizes[5] = x.M.shape[1], x.F.shape[0], x.F.shape[1]
    return x.h - 10.0 * (x.c // 2)


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
    with pytest.raises(TypeError, match="address"):
        pickle.dumps(x)


def test_layouts_that_differ_are_different_types():
    own = {name: getattr(Sample, name) for name in ("sizes", "fields", "spans", "integers")}
    same = type("Sample", (Packed,), own)
    other = type("Sample", (Packed,), own | {"fields": Sample.fields | {"d": ("r",)}})
    real = type("Sample", (Packed,), own | {"integers": ()})
    assert other.compiled != SAMPLE != real.compiled
    assert same.compiled == SAMPLE
