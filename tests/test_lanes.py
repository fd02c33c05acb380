"""Eight numbers side by side in vector lanes behave as eight numbers do, nan, infinities and signed zeros included."""

import numpy as np
from numba import njit

from workbench.engine.kernels import address
from workbench.engine.lanes import (
    LANES,
    gather,
    load,
    power_above,
    root,
    scatter,
    size_of,
    some,
    splat,
    store,
    where,
)  # fmt: skip


@njit
def all_of(x, y, out, flags):
    p, q, r = address(x), address(y), address(out)
    a, b = load(p, 0), load(q, 0)
    store(r, 0, a + b)
    store(r, 1, a - b)
    store(r, 2, a * b)
    store(r, 3, a / b)
    store(r, 4, size_of(a))
    store(r, 5, root(size_of(a)))
    one, zero = splat(1.0), splat(0.0)
    store(r, 6, where(a < b, one, zero))
    store(r, 7, where(a <= b, one, zero))
    store(r, 8, where(a > b, one, zero))
    store(r, 9, where(a == b, one, zero))
    store(r, 10, where((a < b) & (b > zero), one, zero))
    store(r, 11, where((a < b) | (b > zero), one, zero))
    store(r, 12, gather(p, 2))
    scatter(address(flags), 3, a)
    return some(a < b)


def test_lanes_are_numbers():
    rng = np.random.default_rng(1)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-310])
    for k in range(200):
        x = rng.choice(special, 16) if k % 2 else rng.normal(size=16)
        y = rng.choice(special, 8) if k % 3 else rng.normal(size=8)
        a, out, spread = x[:8], np.empty((13, LANES)), np.zeros(24)
        found = all_of(x, y, out, spread)
        with np.errstate(all="ignore"):
            wanted = [a + y, a - y, a * y, a / y, np.abs(a), np.sqrt(np.abs(a)), a < y, a <= y, a > y, a == y,
                      (a < y) & (y > 0), (a < y) | (y > 0), x[::2]]  # fmt: skip
        for got, right in zip(out, wanted, strict=True):
            np.testing.assert_array_equal(got, right)
        np.testing.assert_array_equal(spread[::3], a)
        assert found == (a < y).any()


@njit
def powers(x, out):
    store(address(out), 0, power_above(load(address(x), 0)))


def test_powers_of_two_are_those_of_frexp():
    rng = np.random.default_rng(2)
    for _ in range(50):
        x, out = 10 ** rng.uniform(-300, 300, 8), np.empty(8)
        x[0] = 2.0 ** rng.integers(-900, 900)
        powers(x, out)
        np.testing.assert_array_equal(out, np.ldexp(1.0, np.frexp(x)[1]))
