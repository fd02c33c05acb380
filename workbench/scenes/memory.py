"""What is kept of contacts from step to step, found again by their keys."""

from typing import Any

import numpy as np

from workbench.support.arrays import Array

NOTHING: tuple[Any, Array] = np.zeros(0, dtype=np.int64), np.zeros((0, 0))


class Memory:
    """Rows of numbers by the keys of contacts, of several sorts. What is new begins as nan."""

    def __init__(self) -> None:
        self.kept: dict[Any, tuple[Any, Array]] = {}

    def recall(self, sort: Any, keys: Any, width: int) -> Array:
        """The rows (count, width) that were kept for these keys at the last step."""
        known, rows = self.kept.get(sort, NOTHING)
        if not known.size or rows.shape[1] != width:
            return np.full((keys.size, width), np.nan)
        # From step to step little comes or goes.
        if known is keys or known.tobytes() == keys.tobytes():
            return rows.copy()
        found, order = np.full((keys.size, width), np.nan), np.argsort(known, kind="stable")
        at = order[np.minimum(np.searchsorted(known, keys, sorter=order), known.size - 1)]
        same = known[at] == keys
        found[same] = rows[at[same]]
        return found

    def keep(self, sort: Any, keys: Any, rows: Array) -> None:
        """In the place of what was kept of this sort; keys without rows are none."""
        if keys.size:
            self.kept[sort] = keys, rows.copy()

    def forget(self) -> None:
        """All of it."""
        self.kept.clear()
