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
    assert found.falls == "vanishes" if p >= 0.5 else "hardly"


@pytest.mark.parametrize(("p", "limit"), [(1.0, 0.02), (2.0, 0.3), (0.5, 0.01)])
def test_an_error_that_stays_has_its_limit(p, limit):
    e = limit * (1 + 3 * (H / H[0]) ** p)
    found = order(H, e)
    assert found.limit == pytest.approx(limit, rel=0.02)
    assert found.limit_low - 1e-9 <= limit <= found.limit_high + 1e-9
    assert found.p == pytest.approx(p, abs=0.05)
    assert found.falls == "limit"


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
    assert found.falls in ("not", "limit")
    assert found.last == pytest.approx(0.1, rel=0.3)
    assert order(H, 0.1 * H**0.1).falls == "hardly"


def test_few_steps_tell_no_interval_and_none_tells_nothing():
    assert order(H[:1], H[:1]).falls == "unknown"
    two = order(H[:2], H[:2])
    assert two.p == pytest.approx(1.0)
    assert np.isnan(two.p_low)
    gap = H.copy()
    gap[2] = np.nan
    assert order(H, gap).p == pytest.approx(1.0)
    assert order(H, np.zeros(H.size)).falls == "zero"
    assert order(H, np.full(H.size, np.nan)).falls == "unknown"


def test_a_reference_with_a_step_of_its_own_does_not_change_what_is_told():
    # A first-order method against itself at a tenth of the smallest step.
    own = 0.5 * H[-1]
    errors = 3.0 * (H - own)[None]
    alone = order(H, errors)
    assert alone.p_low > 1.0
    found = order(H, errors, np.array([3.0 * own]))
    assert found.p_low <= 1.0 <= found.p_high
    assert found.p == alone.p
