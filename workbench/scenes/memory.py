"""What is kept of contacts from step to step, found again by their keys."""

from typing import Any

import numpy as np

from workbench.support.arrays import Array

NOTHING: tuple[Any, Array] = np.zeros(0, dtype=np.int64), np.zeros((0, 0))


class Memory:
    """Rows of numbers by the keys of contacts, of several sorts, and an answer of which parts have keys. What is new
    begins as nan."""

    def __init__(self) -> None:
        self.kept: dict[Any, tuple[Any, Array]] = {}
        self.last: tuple[Any, list[Any], Array] = None, [], np.zeros(0)

    def recall(self, sort: Any, keys: Any, width: int) -> Array:
        """The rows (count, width) that were kept for these keys at the last step."""
        known, rows = self.kept.get(sort, NOTHING)
        return _found(known, rows, keys, width)

    def keep(self, sort: Any, keys: Any, rows: Array) -> None:
        """In the place of what was kept of this sort; keys without rows are none."""
        if keys.size:
            self.kept[sort] = keys, rows.copy()

    def answer(self, arrangement: Any, parts: list[Any], size: int) -> Array:
        """The last answer (size,), part by part (sort, keys, places (count, .)), zero where there is none."""
        before, kept, last = self.last
        # From step to step little comes or goes.
        if before == arrangement:
            x = last.copy()
        else:
            x, rows = np.zeros(size), {sort: (keys, last[places]) for sort, keys, places in kept}
            for sort, keys, places in parts:
                known, numbers = rows.get(sort, NOTHING)
                x[places] = _found(known, numbers, keys, places.shape[1])
        x[np.isnan(x)] = 0.0
        return x

    def keep_answer(self, arrangement: Any, parts: list[Any], x: Array) -> None:
        """In the place of the last one."""
        self.last = arrangement, parts, x.copy()

    def forget(self) -> None:
        """All of it."""
        self.__init__()  # type: ignore[misc]


def _found(known: Any, rows: Array, keys: Any, width: int) -> Array:
    """The rows (count, width) of some keys among those of the known ones, nan where there are none."""
    if not known.size or rows.shape[1] != width:
        return np.full((keys.size, width), np.nan)
    if known.tobytes() == keys.tobytes():
        return rows.copy()
    found, order = np.full((keys.size, width), np.nan), np.argsort(known, kind="stable")
    at = order[np.minimum(np.searchsorted(known, keys, sorter=order), known.size - 1)]
    same = known[at] == keys
    found[same] = rows[at[same]]
    return found
