"""Orders of convergence: closed forms, scatter, limits, and what few steps cannot tell."""

import numpy as np
import pytest

from workbench.studies.convergence import order

H = 1e-3 * 0.5 ** np.arange(6)


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 3.0])
def test_a_power_has_its_order(p):
    found = order(H, 7 * H**p)
    assert found.p == pytest.approx(p, abs=1e-9)
    assert found.p_low == pytest.approx(p, abs=1e-6)
    assert found.limit == 0
    assert f"order {p:.2f}" in found.words


@pytest.mark.parametrize(("p", "limit"), [(1.0, 0.02), (2.0, 0.3), (0.5, 0.01)])
def test_an_error_that_stays_has_its_limit(p, limit):
    e = limit * (1 + 3 * (H / H[0]) ** p)
    found = order(H, e)
    assert found.limit == pytest.approx(limit, rel=0.02)
    assert found.limit_low - 1e-9 <= limit <= found.limit_high + 1e-9
    assert found.p == pytest.approx(p, abs=0.05)
    assert found.words.startswith("comes to ")


def test_intervals_hold_the_truth_nineteen_times_in_twenty():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(400):
        found = order(H, H * np.exp(0.05 * rng.standard_normal(H.size)))
        hits += found.limit == 0 and found.p_low <= 1.0 <= found.p_high
    # An F test at 95 % takes the other model once in twenty times besides.
    assert 0.86 * 400 < hits < 0.98 * 400


def test_points_have_constants_of_their_own():
    rng = np.random.default_rng(1)
    C = 10.0 ** rng.uniform(-3, 3, (40, 1))
    found = order(H, C * H * np.exp(0.02 * rng.standard_normal((40, H.size))))
    assert found.p == pytest.approx(1.0, abs=0.01)
    assert found.p_high - found.p_low < 0.02


def test_errors_that_do_not_fall_are_told():
    rng = np.random.default_rng(2)
    found = order(H, 0.1 * np.exp(0.1 * rng.standard_normal(H.size)))
    assert found.words.startswith(("does not fall", "comes to"))
    flat = order(H, np.full(H.size, 0.1))
    assert flat.limit == pytest.approx(0.1, rel=1e-6) or flat.words.startswith("does not fall")


def test_few_steps_tell_no_interval_and_none_tells_nothing():
    assert order(H[:1], H[:1]).words == "not told by these steps"
    two = order(H[:2], H[:2])
    assert two.p == pytest.approx(1.0)
    assert np.isnan(two.p_low)
    assert "not sure" in two.words
    gap = H.copy()
    gap[2] = np.nan
    assert order(H, gap).p == pytest.approx(1.0)
    assert order(H, np.zeros(H.size)).words == "not told by these steps"
