"""The verifier's arithmetic: values and slopes of functions over boxes, in whole numbers of 2^-128."""

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

from workbench.certificates.forms import ONE, constant, pi, variable
from workbench.certificates.outcomes import RefusedError


def wave(x):
    return np.cos(x) if isinstance(x, float | np.ndarray) else x.cos()


def root(x):
    return np.sqrt(x) if isinstance(x, float | np.ndarray) else x.sqrt()


def test_arithmetic_encloses():
    """Functions at rational points, and sums and products over boxes, against Arb."""
    low, high = pi()
    with ctx.workprec(300):
        assert arb(low) <= arb.pi() * arb(2) ** 128 <= arb(high)
        assert high - low < 2**14
        rng = random.Random(2)
        for k in range(300):
            x = Fraction(rng.randint(-(10**9), 10**9), 10 ** rng.choice((6, 9, 15)))
            form, exact = constant(x, ()), arb(x.numerator) / x.denominator
            found = [(form.cos(), exact.cos()), (form.sin(), exact.sin())]
            found.append((form.in_radians(), exact * arb.pi() / 180))
            if x > 0:
                found.append((form.sqrt(), exact.sqrt()))
            for enclosure, value in found:
                start, end = enclosure.centre
                assert arb(start) <= value * arb(2) ** 128 <= arb(end), (k, x)
                assert end - start < 2**40
        with pytest.raises(RefusedError):
            constant(Fraction(0), ()).sqrt()


def test_forms_hold_values_and_slopes_over_the_box():
    rng = np.random.default_rng(3)

    def f(x, y):
        return (x * x - y * 3) * wave(x) + root(x * y + 2) - x * wave(y * 2)

    def over(at, half):
        """The form, and the excess of its values over those on a grid."""
        reach = tuple(int(h * ONE) + 1 for h in half)
        found = f(*(variable(Fraction(at[k]), Fraction(half[k]), k, reach) for k in (0, 1)))
        grid = np.linspace(-1, 1, 41)
        values = f(*(at + half * np.array([*itertools.product(grid, grid)])).T)
        low, high = (float(end) / ONE for end in found.over)
        assert low - 1e-12 <= values.min()
        assert values.max() <= high + 1e-12
        return found, high - low - values.max() + values.min()

    e = 1e-6
    for _ in range(20):
        at, half = rng.uniform(0.3, 0.9, 2), rng.uniform(0.01, 0.1, 2)
        found, excess = over(at, half)
        # It is of second order in the widths.
        assert over(at, half / 8)[1] < excess / 25
        for k in (0, 1):
            step = e * np.eye(2)[k]
            slope = (f(*(at + step)) - f(*(at - step))) / (2 * e)
            start, end = (float(v) / ONE for v in found.slopes[k])
            assert start - 1e-6 <= slope <= end + 1e-6


def test_quotients_are_enclosed():
    reach = (ONE // 2,)
    x = variable(Fraction(2), Fraction(1, 2), 0, reach)
    inverse = x.reciprocal()
    for value in (Fraction(3, 2), Fraction(2), Fraction(5, 2)):
        assert Fraction(inverse.over[0], ONE) <= 1 / value <= Fraction(inverse.over[1], ONE)
    quotient = (x / x).over
    assert Fraction(quotient[0], ONE) <= 1 <= Fraction(quotient[1], ONE)
    negative = (-x).reciprocal().over
    assert negative[0] <= -ONE // 2 <= negative[1] < 0
    for wrong in (variable(Fraction(0), Fraction(1, 2), 0, reach), constant(Fraction(0), reach)):
        with pytest.raises(RefusedError):
            wrong.reciprocal()


def test_the_last_unit_is_rounded_outward():
    """Where an enclosure is wrong by one unit of 2^-128, a zero would be taken for a positive number."""
    low, high = pi()
    turn = constant(Fraction(180), ()).in_radians().over
    assert turn[0] <= low < high <= turn[1]
    for k in range(1, 40):
        x = variable(Fraction(k, 7), Fraction(1, 9), 0, (ONE // 9 + 1,))
        (start, end), (least, most) = x.sqrt().slopes[0], x.over
        # 1 / (2 sqrt(x)) at both ends of the box.
        assert 4 * start**2 * most <= ONE**3 <= 4 * end**2 * least
    # A product of two numbers of 2^-128, and of its slope with the width of the box.
    unit = Fraction(1, ONE)
    tiny = constant(unit, (1,)) * variable(Fraction(0), unit, 0, (1,))
    assert tiny.over[0] < 0 < tiny.over[1]
    assert tiny.sign is None
    assert variable(Fraction(1), Fraction(1), 0, (ONE,)).sign is None
    assert variable(Fraction(-1), Fraction(1), 0, (ONE,)).sign is None
    assert constant(Fraction(0), ()).sign == 0
