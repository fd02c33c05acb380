"""The search for the width of differences: slopes of smooth data, and noise, kinks and jumps, which are told."""

import numpy as np
import pytest

from workbench.derivatives.differences import slopes


def slope_of(f, unit=1.0):
    (found,), rough = slopes(lambda s: [np.array([f(s)])], unit)
    return found[0], rough


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_smooth_data_of_any_unit(unit):
    for f, slope in (
        (lambda s: np.exp(s / unit), 1 / unit), (lambda s: np.cos(s / unit), 0.0), (lambda s: 7.0, 0.0),
        (lambda s: 1e-9 * np.sin(s / unit) + 1.0, 1e-9 / unit), (lambda s: (s / unit) ** 3, 0.0),
    ):  # fmt: skip
        found, rough = slope_of(f, unit)
        assert found * unit == pytest.approx(slope * unit, rel=1e-10, abs=1e-12)
        assert not rough


def test_data_that_bend_far_nearer_than_their_unit():
    for width in (1e-2, 1e-4, 1e-6):
        found, rough = slope_of(lambda s, width=width: np.tanh(s / width))
        assert found * width == pytest.approx(1.0, rel=1e-8)
        assert not rough


def test_kinks_and_jumps_within_reach_are_told_and_others_are_passed_by():
    for f in (abs, lambda s: float(s > 0), lambda s: float(s > 0) + s, lambda s: max(s, 2 * s)):
        assert slope_of(f)[1]
    for at in (1e-3, 1e-4, 1e-5, 1e-6):
        for slope, f in (1.0, lambda s, at=at: 2 * s + abs(s - at)), (2.0, lambda s, at=at: 2 * s + float(s > at)):
            found, rough = slope_of(f)
            assert not rough
            assert found == pytest.approx(slope, abs=1e-8)


def test_values_that_are_equal_in_their_digits_do_not_tell_a_slope():
    """A slope of 6.3e-9 between numbers of size 1, which at narrow steps are the same, and seem to be flat."""
    _, rough = slopes(lambda s: [np.array([1.0, 1e3 * (1.0 + 6.3e-12 * (s + 0.4) - 1.0)])], 1.0, [2.0])
    assert rough


def test_noise_is_told_where_it_shows_in_the_slope():
    rng = np.random.default_rng(3)
    for noise in (1e-6, 1e-8, 1e-10):
        found = [slope_of(lambda s, noise=noise: s + noise * rng.normal()) for _ in range(100)]
        assert all(rough or abs(slope - 1.0) <= 5e-7 for slope, rough in found)
        if noise > 1e-10:
            assert sum(rough for _, rough in found) >= 99
    # Rounding of numbers of the data's own size is none.
    for _ in range(50):
        found, rough = slope_of(lambda s: s + 1e-16 * rng.normal() + 1.0)
        assert not rough
        assert found == pytest.approx(1.0, rel=1e-10)


def test_numbers_in_few_steps_may_look_like_a_line_and_are_no_slope():
    """Data with noise at wide steps that are linear, with another slope, at narrow ones."""
    found, rough = slope_of(lambda s: 0.5 * s if abs(s) < 1e-7 else 0.3 * s + 1e-9 * np.cos(1e9 * s))
    assert rough
    assert found == pytest.approx(0.3, rel=1e-4)


def test_a_jump_of_one_datum_is_looked_for_in_all():
    """Through an odd step a datum looks smooth at wide widths; another one tells that there is one."""

    def of(s):
        step = np.tanh(s / 1e-5)
        return [np.array([400.0 * s + 1e-7 * step]), np.array([step])]

    (one, other), rough = slopes(of, 1.0)
    assert not rough
    assert one[0] == pytest.approx(400.01, rel=1e-8)
    assert other[0] == pytest.approx(1e5, rel=1e-7)


def test_data_of_an_array_share_a_width_and_so_keep_their_linear_relations():
    """The third datum is the sum of the others, of which one bends nearer, and is known at narrower steps alone."""

    def of(s):
        bent, straight = np.sin(s / 1e-3), 1e3 * np.sin(6.0 * s)
        return [np.array([bent, straight, bent + straight])]

    ((bent, straight, total),), rough = slopes(of, 1.0)
    assert not rough
    assert (bent, straight) == pytest.approx((1e3, 6e3), rel=1e-8)
    assert total == pytest.approx(bent + straight, rel=1e-13)


@pytest.mark.parametrize("size", [3e-4, 1e-3, 3e-3])
def test_terms_that_cancelled_before_leave_their_rounding(size):
    """Differences of numbers of size 300 are bent a little at the widest width. At the next their slopes round to more
    than that, but of some the fourth difference is less by chance."""
    phases = np.linspace(-1.0, 1.0, 40)

    def of(s):
        return [(300.0 + size * np.sin(5.5 * s + phases)) - 300.0]

    exact = 5.5 * size * np.cos(phases)
    (one,), _ = slopes(of, 1.0)
    (other,), rough = slopes(of, 1.0, hidden=300.0)
    assert np.abs(one - exact).max() > 5e-10
    assert np.abs(other - exact).max() < 1e-10
    assert not rough
