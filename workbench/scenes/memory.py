"""What is kept of contacts from step to step, found again by their keys."""

from typing import Any

import numpy as np

from workbench.arrays import Array


class Memory:
    """Rows of numbers by the keys of contacts, of several sorts. What is new begins as nan."""

    def __init__(self) -> None:
        self.kept: dict[Any, tuple[Any, Array]] = {}

    def recall(self, sort: Any, keys: Any, width: int) -> Array:
        """The rows (count, width) that were kept for these keys at the last step."""
        found = np.full((keys.size, width), np.nan)
        known, rows = self.kept.get(sort, (keys[:0], found[:0]))
        if known.size and rows.shape[1] == width:
            at = np.minimum(np.searchsorted(known, keys), known.size - 1)
            same = known[at] == keys
            found[same] = rows[at[same]]
        return found

    def keep(self, sort: Any, keys: Any, rows: Array) -> None:
        """In the place of what was kept of this sort."""
        order = np.argsort(keys, kind="stable")
        self.kept[sort] = keys[order], rows[order]

    def forget(self) -> None:
        """All of it."""
        self.kept.clear()
