"""Sets of unknowns; they define complementarity (`modelling`)."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Free:
    """The whole space."""


@dataclass(frozen=True)
class Nonneg:
    """The nonnegative orthant."""


@dataclass(frozen=True)
class Box:
    """l <= x <= u; the bounds are affine in parameters, or numbers, possibly infinite."""

    lower: Any
    upper: Any


@dataclass(frozen=True)
class DiscSet:
    """|x_i| <= radius_i, contact by contact (a ball where there are more than two directions); radii are data."""

    radius: Any
    contacts: int
