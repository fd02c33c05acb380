"""How computations that take long report their progress."""

from collections.abc import Callable

ProgressCallback = Callable[[str, int, int], None]
"""progress(label, done, total): what is done, how many steps of it are, and of how many."""
