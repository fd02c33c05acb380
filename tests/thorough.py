"""Tests that a change seldom breaks and that take seconds each: `pytest -m thorough` runs them, CI a part of them.

They are marked `thorough`, by themselves or by the file. Of a test marked `share(N)` every N-th case is in every run.
"""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def quickly(values: Iterable[Any], kept: Callable[[Any], bool]) -> list[Any]:
    """Parameters of a test; those that are not `kept` are left to the thorough run."""
    return [x if kept(x) else pytest.param(x, marks=pytest.mark.thorough) for x in values]
