"""The array of doubles that signatures speak of, and samples of steps."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def evenly(steps: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """At most so many of the steps (k,), evenly spread, the first and the last among them."""
    return steps[np.unique(np.linspace(0, len(steps) - 1, min(most, len(steps))).round().astype(np.int64))]
