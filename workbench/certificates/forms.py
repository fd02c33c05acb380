"""Numbers that hold for a whole box of parameters, by outward rounding. Standard library only.

An interval is a pair of integers, its ends in units of 2^-BITS. A `Form` of a function f keeps its value at the
centre c of the box, its values over the box and its partial derivatives over the box, and intersects the values with
f(c) + sum_i df/dx_i (x_i - c_i) (Moore, Kearfott and Cloud, Introduction to Interval Analysis, SIAM 2009, section 6.3).
"""

from fractions import Fraction
from functools import lru_cache
from math import isqrt

from workbench.certificates.outcomes import RefusedError

BITS = 128
"""Digits of the fixed point: numbers of size 1e-20 keep 60 of them."""

ONE = 1 << BITS
Interval = tuple[int, int]
NOTHING: Interval = (0, 0)


def enclosed(x: Fraction) -> Interval:
    """The interval around a rational."""
    low = (x.numerator << BITS) // x.denominator
    return low, low + bool((x.numerator << BITS) % x.denominator)


def _sum(x: Interval, y: Interval) -> Interval:
    return x[0] + y[0], x[1] + y[1]


def _product(x: Interval, y: Interval) -> Interval:
    if x == NOTHING or y == NOTHING:
        return NOTHING
    ends = (x[0] * y[0], x[0] * y[1], x[1] * y[0], x[1] * y[1])
    return min(ends) >> BITS, -(-max(ends) >> BITS)


def _square(x: Interval) -> Interval:
    ends = (x[0] * x[0], x[1] * x[1])
    return 0 if x[0] <= 0 <= x[1] else min(ends) >> BITS, -(-max(ends) >> BITS)


def _whole(x: Interval, k: int) -> Interval:
    return (x[0] * k, x[1] * k) if k >= 0 else (x[1] * k, x[0] * k)


class Form:
    """A function over a box; `reach` are the half widths of the box, rounded up, in units of 2^-BITS."""

    __slots__ = ("centre", "over", "reach", "slopes")

    def __init__(self, centre: Interval, over: Interval, slopes: tuple[Interval, ...], reach: tuple[int, ...]) -> None:
        low, high = centre
        for slope, half in zip(slopes, reach, strict=True):
            spread = -(-max(-slope[0], slope[1]) * half >> BITS)
            low, high = low - spread, high + spread
        self.centre, self.slopes, self.reach = centre, slopes, reach
        self.over = (max(low, over[0]), min(high, over[1]))

    def __add__(self, other: "Form | int") -> "Form":
        if isinstance(other, int):
            shift = (other * ONE, other * ONE)
            return Form(_sum(self.centre, shift), _sum(self.over, shift), self.slopes, self.reach)
        slopes = tuple(_sum(a, b) for a, b in zip(self.slopes, other.slopes, strict=True))
        return Form(_sum(self.centre, other.centre), _sum(self.over, other.over), slopes, self.reach)

    __radd__ = __add__

    def __neg__(self) -> "Form":
        return self * -1

    def __sub__(self, other: "Form | int") -> "Form":
        return self + other * -1

    def __mul__(self, other: "Form | int") -> "Form":
        if isinstance(other, int):
            slopes = tuple(_whole(a, other) for a in self.slopes)
            return Form(_whole(self.centre, other), _whole(self.over, other), slopes, self.reach)
        if other is self:
            double = _whole(self.over, 2)
            return Form(_square(self.centre), _square(self.over), self._chained(double), self.reach)
        slopes = tuple(
            _sum(_product(a, other.over), _product(self.over, b))
            for a, b in zip(self.slopes, other.slopes, strict=True)
        )
        return Form(_product(self.centre, other.centre), _product(self.over, other.over), slopes, self.reach)

    __rmul__ = __mul__

    def __truediv__(self, other: "Form") -> "Form":
        return self * other.reciprocal()

    def reciprocal(self) -> "Form":
        """1 over the function. RefusedError where it may be zero."""
        if self.sign not in (1, -1) or self.centre[0] <= 0 <= self.centre[1]:
            raise RefusedError("a division by a number that may be zero")
        over = _reciprocal(self.over)
        return Form(_reciprocal(self.centre), over, self._chained(_whole(_square(over), -1)), self.reach)

    def _chained(self, derivative: Interval) -> tuple[Interval, ...]:
        return tuple(_product(derivative, a) for a in self.slopes)

    def in_radians(self) -> "Form":
        """An angle in degrees in radians."""
        low, high = pi()
        degree = (low // 180, -(-high // 180))
        return Form(_product(self.centre, degree), _product(self.over, degree), self._chained(degree), self.reach)

    def cos(self) -> "Form":
        """Cosine of an angle in radians."""
        return Form(_wave(self.centre, 0), _wave(self.over, 0), self._chained(_wave(self.over, 1)), self.reach)

    def sin(self) -> "Form":
        """Sine of an angle in radians."""
        return Form(_wave(self.centre, 3), _wave(self.over, 3), self._chained(_wave(self.over, 0)), self.reach)

    def sqrt(self) -> "Form":
        """Square root. RefusedError where the function need not be positive."""
        if self.over[0] <= 0 or self.centre[0] <= 0:
            raise RefusedError("a square root of a number that need not be positive")
        low, high = over = _root(self.over)
        # 1 / (2 sqrt(x)) is largest at the lower end.
        derivative = (ONE * ONE // (2 * high), -(-ONE * ONE // (2 * low)))
        return Form(_root(self.centre), over, self._chained(derivative), self.reach)

    @property
    def sign(self) -> int | None:
        """1, -1 or 0 where the sign is the same all over the box, None where that is open."""
        low, high = self.over
        return 1 if low > 0 else -1 if high < 0 else 0 if low == high else None


def constant(x: Fraction, reach: tuple[int, ...]) -> Form:
    """A number that does not vary."""
    number = enclosed(x)
    return Form(number, number, (NOTHING,) * len(reach), reach)


def variable(centre: Fraction, half: Fraction, k: int, reach: tuple[int, ...]) -> Form:
    """The k-th of the parameters that vary, within `half` of the centre."""
    over = enclosed(centre - half)[0], enclosed(centre + half)[1]
    return Form(enclosed(centre), over, tuple((ONE, ONE) if i == k else NOTHING for i in range(len(reach))), reach)


def _reciprocal(x: Interval) -> Interval:
    """1 over an interval without zero."""
    return ONE * ONE // x[1], -(-ONE * ONE // x[0])


def pi_over(reach: tuple[int, ...]) -> Form:
    """pi, as a number that does not vary."""
    return Form(pi(), pi(), (NOTHING,) * len(reach), reach)


def _root(x: Interval) -> Interval:
    low, high = (isqrt(end << BITS) for end in x)
    return low, high + 1


@lru_cache(maxsize=1)
def pi() -> Interval:
    """pi = 16 atan(1/5) - 4 atan(1/239) (Machin)."""

    def atan(k: int) -> Interval:
        total, power, i, terms = 0, ONE // k, 1, 0
        while power:
            total += power // i if i % 4 == 1 else -(power // i)
            power, i, terms = power // (k * k), i + 2, terms + 1
        # Every term is cut by less than two units, and the rest is below one.
        return total - 2 * terms - 1, total + 2 * terms + 1

    a, b = atan(5), atan(239)
    return 16 * a[0] - 4 * b[1], 16 * a[1] - 4 * b[0]


def _wave(x: Interval, quarters: int) -> Interval:
    """cos(x + quarters pi / 2): the value at the middle, and nowhere a slope steeper than one."""
    low, high = pi()
    turn = low + high
    middle = (x[0] + x[1]) // 2 + quarters * (turn // 4)
    k = (2 * middle + turn) // (2 * turn)
    # A turn is wrong by high - low at most, a quarter of it by no more.
    wrong = (abs(k) + quarters) * (high - low + 1)
    value, error = _cosine(middle - k * turn)
    spread = (x[1] - x[0]) // 2 + 1 + wrong + error
    return max(value - spread, -ONE), min(value + spread, ONE)


@lru_cache(maxsize=1 << 16)
def _cosine(angle: int) -> tuple[int, int]:
    """The cosine of a number within [-3.2, 3.2], and how far that may be wrong, by its series.

    With x^2 < 10.3 the error of a term is at most (10.3 e + 5) / (i (i - 1)) + 2 for the error e of the one before:
    never above 6 units. The terms that are left out make less than two units.
    """
    square = angle * angle >> BITS
    term, total, i = ONE, 0, 0
    while term:
        total += term
        i += 2
        term = -(term * square >> BITS) // (i * (i - 1))
    return total, 4 * i + 2
