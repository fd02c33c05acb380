"""Parameters of cases and scenes: numbers with a unit, a meaning and a required sign."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np

from workbench.engine.travel import Travelling, found_elsewhere
from workbench.support.errors import DataError, UnknownNameError

Sign = Literal["any", "nonnegative", "positive", "count"]
"""Allowed values of a parameter; a count is a whole number, at least 1."""


def quantity(default: float, unit: str, meaning: str, sign: Sign = "any") -> Any:
    """Declare a parameter of a case: a number with a unit, a meaning and a required sign."""
    return field(default=default, metadata={"unit": unit, "meaning": meaning, "sign": sign})


def _restored(kind: type, values: dict[str, Any]) -> "Parameters":
    """Restore a case from another process."""
    case: Parameters = object.__new__(kind)
    vars(case).update(values)
    return case


@dataclass(frozen=True)
class Parameters:
    """Base of classes with parameters: a frozen dataclass whose fields are `quantity`s.

    `aliases` maps alternative names to parameters. Raises DataError for a value that a parameter cannot have.
    """

    name: ClassVar[str]
    aliases: ClassVar[Mapping[str, str]] = {}

    def __post_init__(self) -> None:
        own = type(self)
        for f in fields(self):
            value = getattr(self, f.name)
            if "sign" not in f.metadata:
                raise DataError(
                    f"{own.__name__}: {f.name} is not a parameter; write {f.name}: float = quantity(default, unit, "
                    "meaning), or ClassVar for what is the same for all"
                )
            unit = "" if f.metadata["unit"] == "-" else f" [{f.metadata['unit']}]"
            is_number = isinstance(value, Real)
            if not is_number:
                raise DataError(f"{self.name}: {f.name} = {value!r:.40}; a number{unit} is needed")
            sign = f.metadata["sign"]
            wrong = (sign == "positive" and value <= 0) or (sign == "nonnegative" and value < 0)
            wrong |= sign == "count" and (value < 1 or value != np.round(value))
            if wrong or not np.isfinite(value):
                kind = {"any": "finite", "count": "whole positive"}.get(sign, sign)
                raise DataError(f"{self.name}: {f.name} = {value:g}; a {kind} number{unit} is needed")

    def __reduce__(self) -> tuple:
        kind = type(self)
        return _restored, (kind if found_elsewhere(kind) is kind else Travelling(kind), dict(vars(self)))

    def with_parameters(self, **values: float) -> Self:
        """Return the same object with other parameters; raises UnknownNameError for an unknown parameter."""
        values = {self.aliases.get(key, key): value for key, value in values.items()}
        known = {f.name: f for f in fields(self)}
        for key in values:
            if key not in known:
                raise UnknownNameError(f"parameter of {self.name}", key, list(known))
        return replace(self, **values)

    @classmethod
    def parameter_table(cls) -> list[tuple[str, float, str, str]]:
        """(name, default, unit, meaning) of every parameter."""
        return [
            (f.name, f.default, f.metadata["unit"], f.metadata["meaning"])
            for f in fields(cls)
            if f.default is not MISSING
        ]
