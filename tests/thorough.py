"""Tests that a change seldom breaks and that take seconds each: `pytest -m thorough` runs them, as CI does.

They start processes whose kernels are cold, clusters, or a browser on one more page of a kind.
"""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

thorough = pytest.mark.thorough


def quickly(values: Iterable[Any], kept: Callable[[Any], bool]) -> list[Any]:
    """Parameters of a test; those that are not `kept` are left to the thorough run."""
    return [x if kept(x) else pytest.param(x, marks=thorough) for x in values]
