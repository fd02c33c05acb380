"""Numbers in text: one reader for the entries of matrices and for the options of the command line.

A number in text is taken literally, so 0.1 is 1/10 and 4/3 is four thirds. Exact arithmetic expands it to integers, so
exponent and length are limited: 1e999999999 would fill the memory with one number.
"""

import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

from flint import fmpq

from workbench.support.errors import DataError, WorkbenchError

LARGEST_EXPONENT = 9999
"""Largest absolute exponent of ten; doubles end at 308 and -324."""
LONGEST_ENTRY = 1000
"""Largest number of characters of a number; a double needs at most 767 significant digits."""

_NUMBER = re.compile(r"[+-]?(\d+/\d+|(\d+\.?\d*|\.\d+)([eE][+-]?0*\d{1,4})?)", re.ASCII)
_DECIMAL = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?0*\d{1,4})?"
_DECIMALS = re.compile(rf"{_DECIMAL}(?: {_DECIMAL})*", re.ASCII)
_TOO_LARGE = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)[eE][+-]?\d+", re.ASCII)
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_COMPLEX = re.compile(r"[+-]?[\d.]*([eE][+-]?\d+)?[+-]?[\d.]*([eE][+-]?\d+)?\*?[ij]", re.ASCII)


def must_be_whole(name: str, value: Any, least: int = 1) -> None:
    """Raise WorkbenchError unless a value is a whole number, and at least so large."""
    if not (isinstance(value, Integral) and int(value) >= least):
        raise WorkbenchError(f"{name} = {value!r:.40}; a whole number >= {least} is needed")


def must_be_seconds(step: Any, duration: Any = None) -> None:
    """Raise DataError unless a step is a positive number of seconds, and a duration that is given as long or longer."""
    for name, value in (("step", step), ("duration", duration)):
        if value is not None and not isinstance(value, Real):
            raise DataError(f"{name} {value!r:.40}; a number of seconds is needed")
    if not (math.isfinite(step) and step > 0):
        raise DataError(f"step {step:g} s; a positive number of seconds is needed")
    if duration is not None and not (math.isfinite(duration) and duration >= step):
        raise DataError(f"duration {duration:g} s; a finite time, at least one step of {step:g} s, is needed")


def parse_entry(entry: str, place: str) -> float:
    """The double nearest to a number in text; `place` appears in error messages. Raises DataError."""
    shown = repr(entry if len(entry) <= 40 else entry[:37] + "...")
    if not entry:
        raise DataError(f"{place} is empty; a number is needed")
    if len(entry) > LONGEST_ENTRY:
        raise DataError(f"{place}: {shown} has {len(entry)} characters; at most {LONGEST_ENTRY} are read")
    if not _NUMBER.fullmatch(entry):
        raise DataError(f"{place}{_why_not(entry, shown)}")
    numerator, _, denominator = entry.partition("/")
    try:
        # The quotient of two Python integers is correctly rounded, whatever their size.
        value = int(numerator) / int(denominator) if denominator else float(entry)
    except ZeroDivisionError:
        raise DataError(f"{place}: {shown} divides by zero; give a nonzero denominator") from None
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise DataError(f"{place}: {shown} exceeds the largest double, 1.8e308; change the units")
    return value


def parse_row(entries: list[str], place: Callable[[int], str]) -> list[float]:
    """The doubles nearest to a row's numbers, usually all at once; `place(j)` describes entry j in error messages.

    Raises DataError.
    """
    text = " ".join(entries)
    alone = text.count(" ") == len(entries) - 1 and max(map(len, entries)) <= LONGEST_ENTRY
    if alone and _DECIMALS.fullmatch(text):
        row = list(map(float, entries))
        if all(map(math.isfinite, row)):
            return row
    return [parse_entry(entry, place(j)) for j, entry in enumerate(entries)]


def parse_rational(entry: str) -> fmpq:
    """The exact value of a number in text that `parse_entry` accepts."""
    numerator, _, denominator = entry.partition("/")
    if denominator:
        return fmpq(int(numerator), int(denominator))
    digits, _, exponent = entry.lower().partition("e")
    whole, _, decimals = digits.partition(".")
    power = int(exponent or 0) - len(decimals)
    value = int(whole + decimals)
    return fmpq(value * 10**power) if power >= 0 else fmpq(value, 10**-power)


def _why_not(entry: str, shown: str) -> str:
    if _NOT_FINITE.fullmatch(entry):
        return f" is {entry}; every entry must be finite"
    if _TOO_LARGE.fullmatch(entry):
        return f": {shown} has an exponent beyond {LARGEST_EXPONENT}; exact arithmetic would write out its digits"
    if _COMPLEX.fullmatch(entry):
        return f": {shown} is not a real number, and complex ones are not read"
    return f": {shown} is not a number; write 2, -0.5, 1e-3 or 4/3"


def exact_number(text: str, place: str) -> Fraction:
    """The exact value of a number in text within the range of doubles; `place` appears in errors. Raises DataError.

    >>> exact_number("0.1", "--set mu"), exact_number("4/3", "--set mu")
    (Fraction(1, 10), Fraction(4, 3))
    """
    parse_entry(text.strip(), place)
    return Fraction(text)


def exact_decimal(x: float) -> str:
    """Digits that give exactly this double: text is read literally, and the shortest digits, 0.1, mean 1/10."""
    return str(Decimal(x))
