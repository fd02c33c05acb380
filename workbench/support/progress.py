"""Progress reports of long computations."""

from collections.abc import Callable
from typing import Any

ProgressCallback = Callable[[str, int, int], None]
"""progress(label, done, total): the label, finished steps, and all steps. A callback may also have a method `say`, for
results that are available before the end (`say`)."""


def say(progress: Any, line: str) -> None:
    """Report a result to a progress callback that shows results; others ignore it."""
    shown = getattr(progress, "say", None)
    if shown is not None:
        shown(line)
