"""Runs with which a run of a case is compared, if they reach the end of the comparison."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.comparison.failure import Failed
from workbench.comparison.measured import MeasuredRun
from workbench.step.local_steps import LocalSteps
from workbench.step.run import Run


@dataclass(frozen=True, eq=False)
class ReferenceRuns:
    """Runs with which a run is compared (see `measured.MeasuredRun`); failed runs that end too early are left out."""

    local: LocalSteps | Failed
    reference: Run
    second: Run | Failed
    exact: Run | Failed
    exact_alike: Run | Failed
    unrelaxed: Run | Failed
    round_off: Run | Failed


def reaching(other: Any, run: Any, k: NDArray[np.int64]) -> Any:
    """Return `other`, a run of a case or a scene, or None if it failed or ends before the steps k of a run do."""
    if not k.size or isinstance(other, Failed) or other.steps < round((k[-1] + 1) * run.h / other.h):
        return None
    return other


def measured_run(
    run: Run, k: NDArray[np.int64], beside: ReferenceRuns, kind: type[MeasuredRun] = MeasuredRun
) -> MeasuredRun:
    """Return the steps k of a run with the solutions with which they are compared."""
    second, exact, alike, unrelaxed, round_off = (
        reaching(x, run, k)
        for x in (beside.second, beside.exact, beside.exact_alike, beside.unrelaxed, beside.round_off)
    )
    local = beside.local if isinstance(beside.local, LocalSteps) and reaching(beside.local.base, run, k) else None
    return kind(run, beside.reference, exact, round_off, k, second, unrelaxed, alike, local)
