"""Cost of a step: timings of runs, repeated in turns if they are short.

The first run of a solver loads its code, and a machine is slow at times: short runs are repeated one after the other,
round by round, so that what slows a round slows all of them.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from statistics import median
from typing import TypeVar

from workbench.step.run import Run

AGAIN, SECONDS = 5, 0.5
"""Number of repetitions of a run, and the time [s] of its steps above which it is not repeated."""
SAME_COST, SAME_COST_ONCE = 1.5, 3.0
"""Ratios up to which two costs count as equal; the second one applies if one of them was timed once. Costs with
overlapping ranges of timings are equal, too."""
K = TypeVar("K")


def costs(timings: Sequence[float], steps: int) -> dict[str, float]:
    """Return the cost columns of a run from the seconds that its steps took in each repetition."""
    each = [x / steps for x in timings]
    return {"cost": median(each), "cost_low": min(each), "cost_high": max(each), "timings": len(each)}


def repeated(runs: Mapping[K, Run], again: Callable[[K], Run]) -> dict[K, dict[str, float]]:
    """Return by key the cost columns of the runs that finished and are short enough to be repeated by `again`."""
    timings: dict[K, list[float]] = {
        key: [] for key, run in runs.items() if run.steps == run.steps_wanted and 0 < run.solve_time < SECONDS
    }
    for _ in range(AGAIN):
        for key, found in timings.items():
            # A solver of somebody's own may fail the second time: the run is there.
            with suppress(Exception):
                found.append(again(key).solve_time)
    return {key: costs(found, runs[key].steps) for key, found in timings.items() if found}
