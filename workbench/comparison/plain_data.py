"""Dataclasses as JSON and back. Each value is checked against its annotation; no code in a file is executed."""

import json
import sys
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from types import NoneType, UnionType
from typing import Any, TypeVar, Union

from workbench.support.errors import DataError

NOT_FINITE = "not finite"
"""JSON has no numbers that are not finite: {"not finite": "nan"} stands for one, and comes back as it was."""
WORDS = {str: "text", float: "a number", int: "a whole number", bool: "true or false", dict: "names with values"}
T = TypeVar("T")


def written(data: Any) -> Any:
    """Convert dataclasses, arrays, sequences, sets and mappings to JSON types; raise TypeError for others."""
    if hasattr(data, "tolist"):
        # Arrays and scalars of NumPy.
        data = data.tolist()
    if is_dataclass(data):
        return {f.name: written(getattr(data, f.name)) for f in fields(data)}
    if isinstance(data, Mapping):
        return {str(key): written(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [written(value) for value in data]
    if isinstance(data, frozenset):
        return sorted(data)
    if isinstance(data, float) and not isfinite(data):
        return {NOT_FINITE: repr(data)}
    if data is None or isinstance(data, str | bool | int | float):
        return data
    raise TypeError(f"{type(data).__name__} cannot be written as JSON")


def from_json(text: str, place: str) -> Any:
    """Return the data of JSON text with non-finite numbers restored; raises DataError, which names the place."""
    try:
        return json.loads(text, object_hook=_number, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place} is not JSON ({error}); it is damaged or of another kind") from None


def _number(given: dict[str, Any]) -> Any:
    return float(given[NOT_FINITE]) if given.get(NOT_FINITE) in ("nan", "inf", "-inf") else given


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def built(kind: type[T], given: Any, place: str) -> T:
    """A dataclass of what `written` made of it; raises DataError where a value is missing, or not as annotated."""
    hints = typing.get_type_hints(kind)
    names = [f.name for f in fields(kind)]  # type: ignore[arg-type]
    if not isinstance(given, dict) or set(given) != set(names):
        raise DataError(f"{place} has the wrong form; {', '.join(names)} are needed")
    return kind(**{name: checked(hints[name], given[name], f"{place}: {name}") for name in names})


def checked(hint: Any, given: Any, place: str) -> Any:
    """A value as annotated: text, numbers, dataclasses, tuples, sets of text and mappings of these, or None."""
    kind, parts = typing.get_origin(hint) or hint, typing.get_args(hint)
    if kind is Any or (given is None and (hint is None or NoneType in parts)):
        return given
    if kind in (Union, UnionType):
        return checked(next(x for x in parts if x is not NoneType), given, place)
    if isinstance(kind, type) and is_dataclass(kind):
        return built(kind, given, place)
    if kind is float and type(given) is int and abs(given) <= sys.float_info.max:
        return float(given)
    if kind in WORDS and type(given) is not kind:
        raise DataError(f"{place} is {_short(given)}; {WORDS[kind]} is needed")
    if kind is dict and parts:
        return {key: checked(parts[1], value, f"{place}: {key}") for key, value in given.items()}
    if kind in (tuple, frozenset):
        if not isinstance(given, list) or (parts[-1:] != (...,) and kind is tuple and len(given) != len(parts)):
            raise DataError(f"{place} is {_short(given)}; a list is needed")
        of = parts if kind is tuple and parts[-1] is not ... else (parts[0],) * len(given)
        return kind(checked(x, value, place) for x, value in zip(of, given, strict=True))
    return given


def _short(given: Any) -> str:
    text = repr(given)
    return text if len(text) <= 40 else f"{text[:40]} ..."
