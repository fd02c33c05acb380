"""Limits of a certificate's size, and of the time of its check. Standard library only."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter

from workbench.certificates.outcomes import RefusedError, TooLongError

LARGEST = 200_000_000
"""Largest size of a certificate [bytes]."""
MOST_VALUES = 10_000_000
"""Largest number of numbers, strings, lists and objects in a certificate."""
DEPTH = 18
"""Largest nesting depth of lists and objects; a tree on a block of an island needs 17."""
DIGITS = 20_000
"""Largest number of digits of a numerator or denominator."""
WHOLE_DIGITS = 4000
"""Largest number of digits of an unquoted JSON number; Python reads 4300 at once."""
ORDER = 600
"""Largest number of rows of a matrix that is written out with its zeros."""
LARGEST_SIDE = 5000
"""Largest number of rows of a matrix."""
DIMENSIONS = 4
"""Largest number of parameters that vary."""
SECONDS = 60.0
"""Default time limit [s]."""

_limit: ContextVar[tuple[float, float]] = ContextVar("limit", default=(math.inf, math.inf))


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Make `check_time` raise after this time [s]. RefusedError for a time limit that is not positive."""
    if not seconds > 0:
        raise RefusedError(f"a time limit of {seconds:g} s is out of range; give a positive number of seconds")
    token = _limit.set((perf_counter() + seconds, seconds))
    try:
        yield
    finally:
        _limit.reset(token)


def check_time() -> None:
    """Raise TooLongError once the time limit is over. Exact loops call this between long operations."""
    end, seconds = _limit.get()
    if perf_counter() > end:
        raise TooLongError(f"the time limit of {seconds:g} s was over")
