"""Cross-checks by solvers that are not compiled: a sample of steps, each from a state of the run to round-off.

A generic optimiser takes milliseconds for a step that a compiled solver makes in microseconds, and says in every step
the same: how far its answer is from the formulation's own. Forty steps say that as well as thousands do. There is no
trajectory, so what is about one is not defined, nor is what is about all steps of a window: of the metrics only the
solver's part of those errors is left that single problems have too.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.comparison.columns import BOTH
from workbench.comparison.failure import Failed
from workbench.comparison.jobs import Job
from workbench.comparison.measured import AnswerPair, MeasuredRun, closed
from workbench.comparison.metric import Metric, evaluate
from workbench.comparison.rows import facts, in_window
from workbench.problems.classes import is_psd
from workbench.problems.solution import Status
from workbench.step.local_steps import LocalSteps, local_steps
from workbench.step.parts import RecordOfParts, RunOfParts
from workbench.step.run import Run
from workbench.support.arrays import evenly

MOST = 40
"""Steps in a sample, over all windows."""


class MeasuredSample(MeasuredRun):
    """Input of a metric for a sample: `run` has solutions in the `steps` alone, and only its solver is judged."""

    @property
    def pairs(self) -> dict[str, AnswerPair]:
        return {} if self.round_off is None else {"solver": AnswerPair((self.run, self.round_off))}

    @property
    def span(self) -> int:
        return 1


def sample(run: Run, windows: Sequence[dict[str, Any]]) -> NDArray[np.int64]:
    """`MOST` steps of a run, or all of fewer, spread evenly.

    Some are such that a contact opens, closes, begins to slide or comes to rest, some of each window, and the others
    anywhere.
    """
    mode = np.where(closed(run), 1 + (np.linalg.norm(run.u_t, axis=-1) > run.v_th), 0)
    found = evenly(1 + np.flatnonzero((mode[1:] != mode[:-1]).any(axis=1)), MOST // 4)
    for window in windows:
        found = np.union1d(found, evenly(in_window(run.t, window), MOST // (2 * len(windows))))
    others = np.setdiff1d(np.arange(run.steps), found)
    return np.union1d(found, evenly(others, MOST - len(found)))


def sampled_rows(
    job: Job, rows: Sequence[dict[str, Any]], exact: Run | Failed, measured: Callable[..., MeasuredRun],
    metrics: Sequence[Metric],
) -> list[dict[str, Any]]:  # fmt: skip
    """The rows of `runs`, one a window, of a job that takes a sample of `exact`, the run to round-off.

    There are none where that run has no step, which its own row says, nor where a problem of the sample is empty or no
    convex quadratic program, since such solvers do not apply then. `measured` returns steps of a run beside others.
    """
    if not isinstance(exact, Run) or not exact.steps:
        return []
    assert job.solver
    k = sample(exact, rows)
    if not exact.record.M.shape[-1] or not is_psd(exact.record.M[k]):
        return []
    local = local_steps(exact, job.subject, job.solver, k)
    run, found = in_place(local, exact), []
    of_steps = [x for x in metrics if x.parts and x.column.of == BOTH]
    for row in rows:
        inside = in_window(local.t, row)
        statuses = {Status(x) for x in local.statuses[inside]}
        complete = bool(inside.size) and statuses <= {Status.SOLVED, Status.INACCURATE}
        claimed = next(iter(statuses - {Status.SOLVED}), Status.SOLVED if inside.size else local.status)
        k = local.numbers[inside]
        values = evaluate(of_steps, measured(run, k)) if complete else {}
        found.append(row | {"sampled": True} | facts(run, k, complete, claimed) | values)
    return found


def in_place(local: LocalSteps, base: Run) -> Run:
    """Local steps as a run as long as the one that they were taken from, without answers in its other steps."""
    changed: dict[str, Any] = {
        "solver": local.solver, "tolerance": local.tolerance, "status": local.status, "reason": local.reason,
        "build_time": local.build_time, "solve_time": local.solve_time,
    }  # fmt: skip
    if isinstance(base, RunOfParts) and isinstance(local, RunOfParts):
        parts = tuple(in_place(own, part) for own, part in zip(local.parts, base.parts, strict=True))  # type: ignore[arg-type]
        record: Any = RecordOfParts(parts)
        return replace(base, parts=parts, record=record, **changed)
    columns = {name: np.array(x) for name, x in base.record._asdict().items()}
    for name in ("p", "after", "z"):
        columns[name][:] = np.nan
    for name, x in local.record._asdict().items():
        columns[name][local.numbers] = x
    columns["q"][local.numbers + 1], columns["v"][local.numbers + 1] = local.after_q, local.v_after
    return replace(base, record=base.record._replace(**columns), **changed)
