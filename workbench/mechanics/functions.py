"""Elementary functions of numbers of any kind: doubles and arrays, balls, and enclosures over a box of parameters.

Mechanics written with +, -, *, / and these can be proved for all parameters of a box (`mechanics.enclosed`).
"""

from typing import Any

import numpy as np


class UncertainSignError(ArithmeticError):
    """The sign of a number is not the same over the whole box."""


def cos(x: Any) -> Any:
    """Cosine of an angle [rad]."""
    return x.cos() if hasattr(x, "cos") else np.cos(x)


def sin(x: Any) -> Any:
    """Sine of an angle [rad]."""
    return x.sin() if hasattr(x, "sin") else np.sin(x)


def sqrt(x: Any) -> Any:
    """Square root."""
    return x.sqrt() if hasattr(x, "sqrt") else np.sqrt(x)


def radians(x: Any) -> Any:
    """An angle in degrees in radians."""
    return x * x.pi() / 180 if hasattr(x, "pi") else np.radians(x)


def sign(x: Any) -> int:
    """The sign, 0 for an exact zero; raises UncertainSignError where it is not the same over the whole box."""
    x = getattr(x, "over", x)
    if x > 0:
        return 1
    if x < 0:
        return -1
    if x == 0:
        return 0
    raise UncertainSignError("the sign is not the same over the whole box")
