"""Cases that begin elsewhere."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from workbench.mechanics.case import Case
from workbench.support.arrays import Array


def beginning(case: Case, entries: Sequence[tuple[int, int, float]]) -> Case:
    """The case with other entries (part, i, value) of its start, of coordinates (part 0) or velocities (part 1)."""
    return _kind(type(case), tuple(entries))(**vars(case))


@lru_cache(maxsize=256)
def _kind(kind: type[Case], entries: tuple[tuple[int, int, float], ...]) -> type[Case]:
    """The class of cases whose start has other entries (part, i, value)."""

    def start(self: Case) -> tuple[Array, Array]:
        found = tuple(np.array(x, dtype=float) for x in kind.start(self))
        for part, i, value in entries:
            found[part][i] = value
        return found[0], found[1]

    # Its parts have starts of their own.
    return type(kind.__name__, (kind,), {"start": start, "parts": (), "__module__": kind.__module__})
