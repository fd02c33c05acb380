"""Numbers that hold for a whole box of parameters: enclosures of smooth functions, in rigorous ball arithmetic.

A case whose mechanics is written with +, -, *, / and `mechanics.functions` is evaluated over a box by putting in
`Enclosed` parameters. Every operation keeps the value at the centre of
the box, the values over the box, and the partial derivatives over the box, and intersects the values with the mean
value form

    f(x) in f(c) + sum_i  df/dx_i(box) (x_i - c_i),

whose excess is quadratic in the widths of the box. Source: Moore, Kearfott and Cloud, Introduction to Interval
Analysis, SIAM 2009, section 6.3. Rounding is Arb's.
"""

from collections.abc import Callable
from typing import Any

from flint import arb, fmpq


class Enclosed:
    """A function over a box: its value at the `centre`, its values `over` the box, its partial derivatives `slopes`
    over the box, and `reach`, the box less its centre; all of them balls."""

    __slots__ = ("centre", "over", "reach", "slopes")

    def __init__(self, centre: arb, over: arb, slopes: tuple[arb, ...], reach: tuple[arb, ...]) -> None:
        mean = centre
        for slope, x in zip(slopes, reach, strict=True):
            mean = mean + slope * x
        if mean.is_finite():
            over = over.intersection(mean) if over.is_finite() else mean
        self.centre, self.over, self.slopes, self.reach = centre, over, slopes, reach

    def __add__(self, other: Any) -> "Enclosed":
        if isinstance(other, Enclosed):
            slopes = tuple(a + b for a, b in zip(self.slopes, other.slopes, strict=True))
            return Enclosed(self.centre + other.centre, self.over + other.over, slopes, self.reach)
        return Enclosed(self.centre + other, self.over + other, self.slopes, self.reach)

    __radd__ = __add__

    def __neg__(self) -> "Enclosed":
        return Enclosed(-self.centre, -self.over, tuple(-a for a in self.slopes), self.reach)

    def __sub__(self, other: Any) -> "Enclosed":
        return self + (-other)

    def __rsub__(self, other: Any) -> "Enclosed":
        return -self + other

    def __mul__(self, other: Any) -> "Enclosed":
        if other is self:
            return self.mapped(lambda x: x**2, 2 * self.over)
        if isinstance(other, Enclosed):
            x, y = self.over, other.over
            slopes = tuple(a * y + x * b for a, b in zip(self.slopes, other.slopes, strict=True))
            return Enclosed(self.centre * other.centre, x * y, slopes, self.reach)
        return Enclosed(self.centre * other, self.over * other, tuple(a * other for a in self.slopes), self.reach)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Enclosed":
        if isinstance(other, Enclosed):
            x, y = self.over / other.over, other.over
            slopes = tuple((a - x * b) / y for a, b in zip(self.slopes, other.slopes, strict=True))
            return Enclosed(self.centre / other.centre, x, slopes, self.reach)
        return self * (1 / arb(other))

    def __rtruediv__(self, other: Any) -> "Enclosed":
        return self.mapped(lambda x: 1 / x, -1 / self.over**2) * other

    def mapped(self, f: Callable[[arb], arb], derivative: arb) -> "Enclosed":
        """f of the function, with the derivative of f over the values."""
        slopes = tuple(derivative * a for a in self.slopes)
        return Enclosed(f(self.centre), f(self.over), slopes, self.reach)

    def cos(self) -> "Enclosed":
        return self.mapped(arb.cos, -self.over.sin())

    def sin(self) -> "Enclosed":
        return self.mapped(arb.sin, self.over.cos())

    def sqrt(self) -> "Enclosed":
        return self.mapped(arb.sqrt, 1 / (2 * self.over.sqrt()))

    @staticmethod
    def pi() -> arb:
        return arb.pi()


def over_box(low: fmpq, width: fmpq, at: list[float], half: list[float], k: int) -> Enclosed:
    """Parameter `k` over the box of those that vary: low + width u, u within `half[k]` of `at[k]`.

    `at` and `half` (d,) are exact doubles in the unit cube; the slopes are by the d parameters u.
    """
    d, a, w = len(at), arb(low), arb(width)
    reach = tuple(arb(0, half[i]) for i in range(d))
    slopes = tuple(w if i == k else arb(0) for i in range(d))
    return Enclosed(a + w * arb(at[k]), a + w * arb(at[k], half[k]), slopes, reach)
