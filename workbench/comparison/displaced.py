"""Growth of a displacement of a case's start: how far chance moves bodies in runs that are compared."""

from collections.abc import Callable

import numpy as np

from workbench.comparison.measured import distances
from workbench.comparison.rows import in_window
from workbench.comparison.scenes.horizon import PERTURBATION
from workbench.mechanics.case import Case
from workbench.mechanics.start import beginning
from workbench.scenes.run import shifted
from workbench.step.run import Run
from workbench.support.arrays import Array


def displaced(case: Case, size: float) -> Case:
    """Return the case with its start displaced by `size` [m], as the start of a scene is (`shifted`)."""
    q, v = case.start()

    def advance(q: Array, v: Array, h: float) -> Array:
        found = np.empty_like(q)
        case.advance(q, v, h, case.data(), found)
        return found

    q = shifted(q, v.size, advance, case.poses, size)
    return beginning(case, [(0, i, float(x)) for i, x in enumerate(q)])


def growth(run: Run, make: Callable[[Case], Run], window: tuple[float, float]) -> float:
    """Return how many times a displacement of the start by `PERTURBATION` grows within a window [s]; nan where a run
    does not reach its end. `make` makes the same run of another case."""
    other = make(displaced(run.case, PERTURBATION))
    begins = run.h * np.arange(run.steps_wanted, dtype=float)
    k = in_window(begins, {"window_start": window[0], "window_end": window[1]})
    if not k.size or min(run.steps, other.steps) <= k[-1]:
        return np.nan
    apart = distances(*(run.case.poses(x.states_q[k[0] : k[-1] + 2])[0] for x in (run, other)))
    return float(apart.max() / PERTURBATION)
