"""What a step costs: timings of a run, repeated where it is short, since the first one loads its code."""

from collections.abc import Callable
from statistics import median

from workbench.step.run import Run

AGAIN, SECONDS = 3, 0.5
"""How often a run is repeated, and the time of its steps from which on it is not."""
SAME, SAME_ONCE = 1.5, 3.0
"""Two costs are the same up to this ratio, as they are where the ranges of their timings meet; and up to the second
where one of them was timed once."""


def costs(seconds: float, steps: int, again: Callable[[], float] | None = None) -> dict[str, float]:
    """The columns on cost of a run whose steps took so many seconds; `again` makes it once more and returns the
    same."""
    timings = [seconds]
    if again is not None and 0 < seconds < SECONDS:
        timings = [again() for _ in range(AGAIN)]
    each = [x / steps for x in timings]
    return {"cost": median(each), "cost_low": min(each), "cost_high": max(each), "timings": len(each)}


def timed(run: Run, again: Callable[[], Run]) -> dict[str, float]:
    """The same of a run of a case; nothing of one that has not finished."""
    if not run.steps or run.steps < run.steps_wanted:
        return {}
    return costs(run.solve_time, run.steps, lambda: again().solve_time)
