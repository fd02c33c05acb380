"""How computations that take long report their progress."""

from collections.abc import Callable
from typing import Any

ProgressCallback = Callable[[str, int, int], None]
"""progress(label, done, total): what is done, how many steps of it are, and of how many. What shows the progress may
have a method `say` too, for results that are there before all else is (`say`)."""


def say(progress: Any, line: str) -> None:
    """A result to whoever follows the progress and shows results; other callbacks hear nothing of it."""
    shown = getattr(progress, "say", None)
    if shown is not None:
        shown(line)
