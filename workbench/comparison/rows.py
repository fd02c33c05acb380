"""Rows of `runs`: results of a run of a case or a scene in each window, with the metrics evaluated there."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.comparison.cost import costs
from workbench.comparison.jobs import Job, Settings
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.problems.rank import rank, ranks
from workbench.problems.solution import Status
from workbench.scenes.scene import Scene
from workbench.scenes.track import Track
from workbench.step.run import Run
from workbench.step.simulation import whole_steps
from workbench.support.arrays import Array
from workbench.support.errors import DataError

SLACK = 5e-10
"""[s], since t_k = k h is not exact."""


def labels(what: Case | Scene | str, subject: Any) -> dict[str, str]:
    """Return the columns `LABELS` of a formulation or an engine on a case, a scene, or the problem of this name."""
    place = {"file": what} if isinstance(what, str) else {"case" if isinstance(what, Case) else "scene": what.name}
    name = subject.name if isinstance(subject, Formulation) else subject.label
    return place | {"formulation": name, "label": subject.label}


def of_run(what: Case | Scene, subject: Any, run: Run | Track, role: str) -> dict[str, Any]:
    """Return the first columns of rows about a run; its role is "run", or "reference" for Coulomb's law."""
    return labels(what, subject) | {"role": role, "solver": run.solver, "step": run.h}


def declared(subject: Any, d: int) -> dict[str, Any]:
    """Return the columns that describe a formulation or an engine with d tangents."""
    if not isinstance(subject, Formulation):
        return {"options": "", "law": "", "axes": "", "condition": ""}
    f = subject
    axes = (f.axes or "") if d == 2 else ""
    return {"options": f.listed_options, "law": f.law.name, "axes": axes, "condition": f.condition(d)}


def windows(case: Case, duration: float, h: float) -> dict[str, tuple[float, float]]:
    """Return start and end [s] of the windows of a case in which a step of at most h begins, by name."""
    steps, found = whole_steps(duration, h), {}
    for name, (start, end) in case.windows.items():
        first = max(0, math.ceil((start - SLACK) / h))
        if first < steps and h * first < end - SLACK:
            found[name] = start, end
    return found | {"all": (0.0, duration)}


def must_hold_a_step(case: Case, settings: Settings) -> None:
    """Raise DataError if a step is longer than the first window, in which formulations are ranked."""
    h = max(settings.steps)
    start, end = next(iter(windows(case, settings.duration or case.duration, h).values()))
    if h > end - start + 1e-9:
        raise DataError(f"step {h:g} s is longer than the time compared, {end - start:g} s; steps are in seconds")


def rows_before(
    what: Case | Scene, job: Job, windows: Mapping[str, tuple[float, float]], until: float
) -> list[dict[str, Any]]:
    """Return a job's rows before its run, one for each window; the comparison goes up to a time [s]."""
    d = what.size[3] if isinstance(what, Case) else 2
    subject = {**labels(what, job.subject), **declared(job.subject, d), "solver": job.solver_name, "problem_class": ""}
    return [
        {
            **subject, "step": job.h, "window": name, "window_start": start, "window_end": min(end, until),
            "clipped": until < end - 1e-9, "steps": 0, "sampled": False, "verified": False, "iterations": 0,
            "passes_max": 0, "taken_over": "", "notes": "",
        }
        for name, (start, end) in windows.items()
    ]  # fmt: skip


def in_window(t: Array, window: Mapping[str, Any]) -> NDArray[np.int64]:
    """Return the indices of the times t at which steps within the window begin."""
    return np.flatnonzero((t >= window["window_start"] - SLACK) & (t < window["window_end"] - SLACK))


def steps_in(window: Mapping[str, Any], run: Run | Track) -> tuple[NDArray[np.int64], bool]:
    """Return the steps of a run in a window, and whether these are all that the window has."""
    k, wanted = (in_window(run.h * np.arange(n, dtype=float), window) for n in (run.steps, run.steps_wanted))
    return k, bool(k.size and k.size == wanted.size)


def came_to(run: Run | Track, k: NDArray[np.int64], complete: bool) -> dict[str, Any]:
    """Return status and cost columns of a run for its steps k, `complete` if they cover the whole window."""
    return facts(run, k, complete, status_in(run, complete)) | costs([run.solve_time], max(1, run.steps))


def status_in(run: Run | Track, complete: bool) -> Status:
    """Return the status of a run in a window, `complete` if its steps cover it."""
    # A run that fails after the window has still solved all of it; one of a case goes on where it is inaccurate.
    goes_on = isinstance(run, Run) and run.status is Status.INACCURATE
    return Status.SOLVED if complete and not goes_on else run.status


def listed(others: Mapping[str, int]) -> str:
    """Return the methods and the number of steps that each solved, in words."""
    return ", ".join(f"{name}: {count}" for name, count in others.items())


def facts(run: Run | Track, k: NDArray[np.int64], complete: bool, claimed: Status) -> dict[str, Any]:
    """Return the solver's columns for the steps k of a run, `complete` if all have a solution."""
    found = solver_columns(run, k, complete, claimed)
    return found | (_of_problems(run, k) if isinstance(run, Run) else {})


def solver_columns(run: Run | Track, k: NDArray[np.int64], complete: bool, claimed: Status) -> dict[str, Any]:
    """Return the solver's columns without those of `_of_problems`, whose ranks take long."""
    residual = float(run.residuals[k].max(initial=0.0)) if complete else np.nan
    reason = "" if claimed is Status.SOLVED else run.reason
    # A run of a scene has no step that is not verified by its own tolerance.
    verified = complete and (isinstance(run, Track) or residual <= run.tolerance)
    if complete and not verified and residual > run.tolerance:
        claimed, reason = Status.INACCURATE, f"residual {residual:.1e} above {run.tolerance:.0e}"
    return {
        "solver": run.solver, "steps": k.size, "claimed": claimed.name, "verified": verified, "residual": residual,
        "tolerance": run.tolerance, "reason": reason, "iterations": int(run.iterations[k].sum()),
        "taken_over": listed(run.others), "solve_time": run.solve_time,
    }  # fmt: skip


def _of_problems(run: Run, k: NDArray[np.int64]) -> dict[str, Any]:
    """Return the columns on the problems of a case, which all have the same class and size."""
    found: dict[str, Any] = {
        "problem_class": run.kind, "size": run.record.z.shape[1], "build_time": run.build_time,
        "passes_max": int(run.record.effort[k, 1].max(initial=0)),
    }  # fmt: skip
    if run.steps and run.record.M[0].size:
        first, least = rank(run.record.M[0]), ranks(run.record.M[k]).min() if k.size else np.nan
        found |= {"rank": first.value, "rank_min": least, "rank_tolerance": first.tolerance}
    return found
