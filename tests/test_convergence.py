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


@pytest.mark.thorough
def test_intervals_hold_the_truth_nineteen_times_in_twenty():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(400):
        found = order(H, H * np.exp(0.05 * rng.standard_normal(H.size)))
        hits += found.limit == 0 and found.p_low <= 1.0 <= found.p_high
    # An F test at 95 % takes the other model once in twenty times besides.
    assert 0.86 * 400 < hits < 0.98 * 400


def test_intervals_of_limits_hold_the_truth():
    rng = np.random.default_rng(3)
    found = [order(H, 0.02 * (1 + 3 * H / H[0]) * np.exp(0.03 * rng.standard_normal(H.size))) for _ in range(25)]
    assert sum(x.limit_low < 0.02 < x.limit_high for x in found) >= 21
    assert all(x.limit_high < 0.1 for x in found)


def test_wild_errors_have_no_limit():
    rng = np.random.default_rng(1)
    wild = H * np.exp(2 * rng.standard_normal((20, H.size)))
    found = [order(H, e) for e in wild]
    assert sum(x.falls == "limit" for x in found) <= 2
    slopes = np.polyfit(np.log(H), np.log(wild).T, 1)[0]
    assert all(x.limit > 0 or x.p == pytest.approx(p) for x, p in zip(found, slopes, strict=True))


def test_a_limit_is_no_larger_than_what_it_is_the_limit_of():
    e = np.array([0.1, 0.101, 0.102, 0.1005, 0.103, 0.102])
    found = order(H, e)
    assert found.falls == "limit"
    assert found.limit == pytest.approx(np.sum(1 / e) / np.sum(1 / e**2))


def test_points_have_constants_of_their_own():
    rng = np.random.default_rng(1)
    C = 10.0 ** rng.uniform(-3, 3, (40, 1))
    found = order(H, C * H * np.exp(0.02 * rng.standard_normal((40, H.size))))
    assert found.p == pytest.approx(1.0, abs=0.01)
    assert found.p_high - found.p_low < 0.02


def test_errors_that_do_not_fall_are_reported():
    rng = np.random.default_rng(2)
    found = order(H, 0.1 * np.exp(0.1 * rng.standard_normal(H.size)))
    assert found.falls in ("not", "limit")
    assert found.last == pytest.approx(0.1, rel=0.3)
    assert order(H, 0.1 * H**0.1).falls == "hardly"


def test_an_order_that_may_be_any_is_not_reported():
    # 1.0 with an interval from below zero: neither that it falls nor that it does not.
    found = order(H[:3], np.array([1.0, 0.3, 0.25]))
    assert found.p == pytest.approx(1.0)
    assert found.p_low < 0
    assert found.falls == "unknown"
    # About 0.1, surely below 0.5, with zero in the interval.
    found = order(H[:2], 0.2 * H[:2] ** np.array([[0.0], [0.1], [0.2]]))
    assert found.p_low < 0 < found.p_high < 0.5
    assert found.falls == "not"


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


def test_a_reference_with_a_step_of_its_own_does_not_change_what_is_reported():
    # A first-order method against itself at a tenth of the smallest step.
    own = 0.5 * H[-1]
    errors = 3.0 * (H - own)[None]
    alone = order(H, errors)
    assert alone.p_low > 1.0
    found = order(H, errors, np.array([3.0 * own]))
    assert found.p_low <= 1.0 <= found.p_high
    assert found.p == alone.p


def test_a_point_with_one_error_takes_no_part_and_medians_are_what_has_a_limit():
    alone = np.full(H.size, np.nan)
    alone[-1] = 100.0
    found = order(H, np.stack([H, alone]))
    assert (found.falls, found.last) == ("vanishes", H[-1])
    stays = 0.2 + H / H[0]
    found = order(H, np.stack([stays, stays, 1e3 * stays]))
    assert found.limit == pytest.approx(0.2, rel=0.02)


def slope(e, h=H):
    """Of two errors."""
    return np.log(e[0] / e[1]) / np.log(h[0] / h[1])


def test_the_reference_shifts_errors_up_and_down():
    # Two points alike leave no scatter, so that the interval is what the shifts make of the order.
    e, u = np.array([0.08, 0.03]), 0.01
    found = order(H[:2], np.stack([e, e]), np.array([u, u]))
    assert found.p == pytest.approx(slope(e))
    assert (found.p_low, found.p_high) == (pytest.approx(slope(e + u)), pytest.approx(slope(e - u)))
    # A point whose uncertainty is not known is taken as it is.
    found = order(H[:2], np.stack([e, e]), np.array([np.nan, np.nan]))
    assert (found.p_low, found.p_high) == (pytest.approx(slope(e)), pytest.approx(slope(e)))
    # One point and two steps have no interval, and the reference makes none.
    assert np.isnan(order(H[:2], e, np.array([u])).p_low)


def test_errors_below_the_uncertainty_of_the_reference_tell_nothing():
    found = order(H, 3 * H, np.array([3 * H[1]]))
    assert found.falls == "unknown"
    assert found.last == pytest.approx(3 * H[-1])
    assert order(H, 3 * H, np.array([1.5 * H[-1]])).falls == "vanishes"


def test_a_limit_within_the_uncertainty_of_the_reference_may_be_none():
    e, u = 3 * H + 2 * H[-1], 2 * H[-1]
    alone, found = order(H, e), order(H, e, np.array([u]))
    assert alone.limit_low > 0
    assert (found.falls, found.limit) == ("limit", alone.limit)
    assert found.limit_low == 0 < alone.limit < alone.limit + 0.9 * u < found.limit_high
    # Of three steps no interval of the limit is given, whatever the reference.
    assert order(H[:3], 0.1 * H[:3] ** 0.1).falls == "limit"
    found = order(H[:3], 0.2 + 0.01 * H[:3] / H[0], np.array([0.195]))
    assert found.falls == "limit"
    assert np.isnan(found.limit_high)


def test_a_limit_that_errors_grow_to_is_seen_and_growth_without_end_is_not_one():
    found = order(H, 0.03 * (1 - 0.2 * H / H[0]))
    assert found.falls == "limit"
    assert found.limit == pytest.approx(0.03, rel=1e-6)
    assert found.p == pytest.approx(1.0, abs=0.03)
    assert order(H, 0.03 * H**-0.1).falls == "not"
