"""Mechanics as a list of operations: what a case computes with its parameters, written down while it computes.

A case whose mechanics is written with +, -, *, / and `mechanics.functions` is evaluated once with parameters that are
`TracedNumber`s. Each keeps its value over the whole box too, by which signs are decided; a sign that is asked for is
written down, so that whoever repeats the operations can check it (`certificates.programme`).
"""

from fractions import Fraction
from typing import Any

from workbench.mechanics.functions import sign

Step = list[Any]


class Programme:
    """The operations so far: `steps`, each [operation, *operands], operands being numbers of earlier steps."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._known: dict[tuple, int] = {}

    def add(self, *step: Any) -> int:
        """The number of a step, which is written once."""
        if step not in self._known:
            self._known[step] = len(self.steps)
            self.steps.append(list(step))
        return self._known[step]

    def parameter(self, name: str, value: Any) -> "TracedNumber":
        """A parameter with its value over the box."""
        return TracedNumber(self, self.add("parameter", name), value)

    def reference(self, x: Any) -> int | str:
        """What stands for a number in the data: the number of its step, or a whole number as text."""
        if isinstance(x, TracedNumber):
            return x.index
        return str(x) if isinstance(x, int) else self.add("number", str(_fraction(x)))


class TracedNumber:
    """A number by its step, with its value over the box (`mechanics.enclosed`, or a ball)."""

    __slots__ = ("index", "programme", "value")

    def __init__(self, programme: Programme, index: int, value: Any) -> None:
        self.programme, self.index, self.value = programme, index, value

    def _with(self, operation: str, other: Any, value: Any, swapped: bool = False) -> "TracedNumber":
        theirs = other.index if isinstance(other, TracedNumber) else self.programme.add("number", str(_fraction(other)))
        pair = (theirs, self.index) if swapped else (self.index, theirs)
        return TracedNumber(self.programme, self.programme.add(operation, *pair), value)

    def __add__(self, other: Any) -> "TracedNumber":
        return self._with("+", other, self.value + _value(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> "TracedNumber":
        return self._with("-", other, self.value - _value(other))

    def __rsub__(self, other: Any) -> "TracedNumber":
        return self._with("-", other, _value(other) - self.value, True)

    def __mul__(self, other: Any) -> "TracedNumber":
        return self._with("*", other, self.value * _value(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "TracedNumber":
        return self._with("/", other, self.value / _value(other))

    def __rtruediv__(self, other: Any) -> "TracedNumber":
        return self._with("/", other, _value(other) / self.value, True)

    def __neg__(self) -> "TracedNumber":
        return self * -1

    def __pow__(self, power: int) -> "TracedNumber":
        if power != 2:
            raise TypeError("of powers the square alone is written down; multiply, or use sqrt")
        return self * self

    def _by(self, operation: str, value: Any) -> "TracedNumber":
        return TracedNumber(self.programme, self.programme.add(operation, self.index), value)

    def cos(self) -> "TracedNumber":
        return self._by("cos", self.value.cos())

    def sin(self) -> "TracedNumber":
        return self._by("sin", self.value.sin())

    def sqrt(self) -> "TracedNumber":
        return self._by("sqrt", self.value.sqrt())

    def pi(self) -> "TracedNumber":
        return TracedNumber(self.programme, self.programme.add("pi"), self.value.pi())

    def _sign(self) -> int:
        found = sign(self.value)
        self.programme.add("sign", self.index, found)
        return found

    def __gt__(self, other: Any) -> bool:
        return (self - other)._sign() > 0

    def __lt__(self, other: Any) -> bool:
        return (self - other)._sign() < 0

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __eq__(self, other: object) -> bool:
        return (self - other)._sign() == 0

    __hash__ = None  # type: ignore[assignment]


def _value(x: Any) -> Any:
    return x.value if isinstance(x, TracedNumber) else x


def _fraction(x: Any) -> Fraction:
    """The exact number of a constant."""
    return Fraction(x) if isinstance(x, int | float | Fraction) else Fraction(int(x.p), int(x.q))
