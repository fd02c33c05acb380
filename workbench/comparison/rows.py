"""Rows of `runs`: what a run of a case came to in each window, and the metrics that are evaluated there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import Array
from workbench.comparison.cost import costs
from workbench.comparison.failure import Failed
from workbench.comparison.jobs import Job
from workbench.comparison.measured import MeasuredRun
from workbench.comparison.metric import Metric, evaluate
from workbench.matrices.linear_algebra.rank import rank, ranks
from workbench.mechanics.case import Case
from workbench.problems.solution import Status
from workbench.step.local_steps import LocalSteps
from workbench.step.run import Run


@dataclass(frozen=True, eq=False)
class ReferenceRuns:
    """What a run is compared with: see `measured.MeasuredRun`. Failed runs are left out where they end too early."""

    local: LocalSteps | Failed
    reference: Run
    second: Run | Failed
    exact: Run | Failed
    exact_alike: Run | Failed
    unrelaxed: Run | Failed
    round_off: Run | Failed


def windows(job: Job, case: Case, duration: float) -> list[dict[str, Any]]:
    """What is known of a job's rows beforehand, a row for each window."""
    f = job.formulation
    base = {
        "case": case.name, "formulation": f.name, "label": f.label, "options": f.listed_options,
        "law": f.law.name, "axes": (f.axes or "") if case.size[3] == 2 else "",
        "condition": f.condition(case.size[3]), "solver": job.solver_name,
        "problem_class": "", "step": job.h, "steps": 0, "sampled": False, "verified": False, "iterations": 0,
        "passes_max": 0, "taken_over": "", "notes": "",
    }  # fmt: skip
    return [
        base | {"window": name, "window_start": start, "window_end": min(end, duration), "clipped": duration < end}
        for name, (start, end) in (dict(case.windows) | {"all": (0.0, duration)}).items()
    ]


def in_window(t: Array, window: dict[str, Any]) -> NDArray[np.int64]:
    """Which of the times t begin steps that lie in the window."""
    # Half a nanosecond of slack: t_k = k h is not exact.
    return np.flatnonzero((t >= window["window_start"] - 5e-10) & (t < window["window_end"] - 5e-10))


def row(run: Run, window: dict[str, Any], beside: ReferenceRuns, metrics: Sequence[Metric]) -> dict[str, Any]:
    """What a run came to in a window; no metrics where it does not finish it."""
    k = in_window(run.t, window)
    complete = bool(k.size and k.size == in_window(run.h * np.arange(run.steps_wanted, dtype=float), window).size)
    # A run that fails after the window has still solved all of the window.
    claimed = Status.SOLVED if complete and run.status is not Status.INACCURATE else run.status
    found = facts(run, k, complete, claimed) | costs([run.solve_time], max(1, run.steps))
    return found | evaluate(metrics, measured_run(run, k, beside)) if complete else found


def listed(others: Mapping[str, int]) -> str:
    """Methods and how many steps they solved, in words."""
    return ", ".join(f"{name}: {count}" for name, count in others.items())


def facts(run: Run, k: NDArray[np.int64], complete: bool, claimed: Status) -> dict[str, Any]:
    """What the solver came to in the steps k of a run, whose answers are `complete` where they are."""
    residual = float(run.residuals[k].max(initial=0.0)) if complete else np.nan
    reason = "" if claimed is Status.SOLVED else run.reason
    if complete and residual > run.tolerance:
        claimed, reason = Status.INACCURATE, f"residual {residual:.1e} above {run.tolerance:.0e}"
    found: dict[str, Any] = {
        "solver": run.solver, "problem_class": run.kind, "steps": k.size, "size": run.record.z.shape[1],
        "claimed": claimed.name, "verified": complete and residual <= run.tolerance, "residual": residual,
        "tolerance": run.tolerance, "reason": reason,
        "iterations": int(run.record.effort[k, 0].sum()), "passes_max": int(run.record.effort[k, 1].max(initial=0)),
        "taken_over": listed(run.others), "build_time": run.build_time, "solve_time": run.solve_time,
    }  # fmt: skip
    if run.steps and run.record.M[0].size:
        first, least = rank(run.record.M[0]), ranks(run.record.M[k]).min() if k.size else np.nan
        found |= {"rank": first.value, "rank_min": least, "rank_tolerance": first.tolerance}
    return found


def measured_run(
    run: Run, k: NDArray[np.int64], beside: ReferenceRuns, kind: type[MeasuredRun] = MeasuredRun
) -> MeasuredRun:
    """The steps k of a run beside what they are compared with."""

    def reaching(other: Run | Failed) -> Run | None:
        steps = round((k[-1] + 1) * run.h / other.h) if isinstance(other, Run) else 0
        return other if isinstance(other, Run) and other.steps >= steps else None

    return kind(
        run, beside.reference, reaching(beside.exact), reaching(beside.round_off), k, reaching(beside.second),
        reaching(beside.unrelaxed), reaching(beside.exact_alike),
        beside.local if isinstance(beside.local, LocalSteps) and reaching(beside.local.base) else None,
    )  # fmt: skip
