"""Comparing on a case: many formulations, solvers and step sizes, judged against exact Coulomb friction.

The error budget (formulary, section 7) keeps three sources apart, each an RMS of the normalised friction:

    discretisation   exact Coulomb at this step        -  the reference, exact Coulomb at a much smaller step
    formulation      this formulation to round-off     -  exact Coulomb at this step
    solver           this solver's answer              -  this formulation to round-off

Step k of a run is compared with the reference step that starts at the same t_k; all runs of a comparison share the
position update and the normal law. Whatever raises an error is a row with its reason.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.algorithms import default_solver, find_solver, is_quadratic_program
from workbench.algorithms.base import Solver
from workbench.arrays import Array
from workbench.assemble.find import compiled
from workbench.comparison.columns import CASE, DIAGNOSTICS, RUNS, TRAJECTORIES, framed
from workbench.comparison.failure import Failed, failed
from workbench.comparison.jobs import Job, Progress, Settings, run_jobs
from workbench.comparison.measured import MeasuredRun, friction, misalignment
from workbench.comparison.metric import Metric, evaluate
from workbench.comparison.result import GENERIC_SOLVER, Comparison, chosen_metrics, mathematics
from workbench.comparison.verdicts import sliding_minor, verdicts
from workbench.errors import WorkbenchError
from workbench.language.formulation import Formulation
from workbench.matrices.rank import rank, ranks
from workbench.mechanics.case import Case
from workbench.problems.solution import Status
from workbench.step.one_step import first_problem
from workbench.step.run import Run


def compare(
    case: Case, formulations: Sequence[Formulation], exact: Formulation, solvers: Sequence[str | Solver] = (),
    settings: Settings | None = None, progress: Progress | None = None, workers: int = 1,
    metrics: Iterable[Metric | str] | None = None,
) -> Comparison:  # fmt: skip
    """Run every formulation with every solver at every step size and judge all of it against `exact`, exact Coulomb.

    Without `solvers` each formulation gets the solver that takes it to round-off and, where it is a convex QP,
    a generic optimiser too; without `metrics` all of `METRICS`. `progress(label, done, total)` hears of finished steps.
    With `workers` > 1 the runs whose solvers are not compiled go to that many processes. Raises WorkbenchError for
    unusable settings or a reference that its own residual does not verify; a run that fails is a row with its reason.
    """
    settings = (settings or Settings()).of_case(case)
    strides, metrics = settings.strides(), chosen_metrics(CASE, metrics)
    chosen = [find_solver(x) for x in solvers]
    cards = mathematics(formulations, case.size)
    refused = {f: card["failure"] for f, card in zip(formulations, cards, strict=True) if not card["compiled"]}
    plan = [
        Job(f, s, h)
        for h in settings.steps for f in formulations
        for s in ([None] if f in refused else chosen or solvers_for(case, f, h, settings))
    ]  # fmt: skip
    fine = Job(exact, default_solver("Coulomb NCP"), settings.reference_step)
    reference = _verified(run_jobs(case, [fine], settings, progress)[fine])
    beside = {job: (replace(fine, h=job.h), _to_round_off(case, job)) for job in plan if job.formulation not in refused}
    needed = dict.fromkeys(x for job, others in beside.items() for x in (job, *others) if x != fine)
    runs = run_jobs(case, list(needed), settings, progress, workers) | {fine: reference}
    rows, trajectories, diagnostics = [], [_trajectory(reference, "reference")], []
    for job in plan:
        found = refused[job.formulation] if job.formulation in refused else runs[job]
        windows = _windows(job, case, settings.duration or case.duration)
        try:
            if isinstance(found, Run):
                minor, (exactly, to_round_off) = sliding_minor(found), (runs[x] for x in beside[job])
                own = [w | _row(found, w, reference, exactly, to_round_off, strides[job.h], metrics) for w in windows]
                steps = _trajectory(found, "run", minor, reference, strides[job.h])
                diagnostics += verdicts(found, minor)
                trajectories.append(steps)
                rows += own
        except Exception as error:
            found = failed(error)
        if isinstance(found, Failed):
            rows += [w | {"claimed": found.claimed, "reason": found.reason} for w in windows]
    steps = pd.concat([frame for frame in trajectories if len(frame)], ignore_index=True)
    return Comparison(
        case.name, tuple(formulations), metrics, framed(rows, [*RUNS, *(m.column for m in metrics)], CASE),
        framed(steps, [c for c in TRAJECTORIES if c.name in steps], CASE),
        framed(diagnostics, DIAGNOSTICS, CASE).drop_duplicates(["label", "step", "quantity"], ignore_index=True),
        cards, case, settings, tuple(case.truths(reference)),
    )  # fmt: skip


def _verified(reference: Run | Failed) -> Run:
    if isinstance(reference, Failed):
        raise WorkbenchError(f"there is no reference run: {reference.reason}")
    if reference.steps < reference.steps_wanted or reference.residuals.max() > reference.tolerance:
        worst = f"residual {reference.residuals.max():.1e}" if reference.steps else "no step was made"
        raise WorkbenchError(f"the reference run is not verified ({worst}): {reference.reason}")
    return reference


def _to_round_off(case: Case, job: Job) -> Job:
    return replace(job, solver=default_solver(compiled(job.formulation, *case.size).kind))


def solvers_for(case: Case, f: Formulation, h: float, settings: Settings) -> list[Solver]:
    """The solver that takes the formulation to round-off and, for a convex QP, the generic one."""
    chosen = [default_solver(compiled(f, *case.size).kind)]
    try:
        problem = first_problem(case, f, h, settings.normal or case.normal, settings.relaxation)
        if problem is not None and is_quadratic_program(problem):
            chosen.append(find_solver(GENERIC_SOLVER))
    except Exception:
        # The run will raise the same, and tell.
        return chosen
    return chosen


def _windows(job: Job, case: Case, duration: float) -> list[dict[str, Any]]:
    """What is known of a job's rows beforehand, a row for each window."""
    f = job.formulation
    base = {
        "case": case.name, "formulation": f.name, "label": f.label, "options": f.listed_options,
        "solver": job.solver_name,
        "problem_class": "", "step": job.h, "steps": 0, "verified": False, "iterations": 0, "passes_max": 0,
        "notes": "",
    }  # fmt: skip
    return [
        base | {"window": name, "window_start": start, "window_end": min(end, duration), "clipped": duration < end}
        for name, (start, end) in (dict(case.windows) | {"all": (0.0, duration)}).items()
    ]


def _in_window(t: Array, window: dict[str, Any]) -> NDArray[np.bool_]:
    # Half a nanosecond of slack: t_k = k h is not exact.
    return (t >= window["window_start"] - 5e-10) & (t < window["window_end"] - 5e-10)


def _row(
    run: Run, window: dict[str, Any], reference: Run, exact: Run | Failed, round_off: Run | Failed, stride: int,
    metrics: Sequence[Metric],
) -> dict[str, Any]:  # fmt: skip
    """What a run came to in a window; no metrics where it does not finish it."""
    inside = _in_window(run.t, window)
    wanted = int(_in_window(run.h * np.arange(run.steps_wanted, dtype=float), window).sum())
    complete = bool(inside.sum() == wanted and wanted > 0)
    residual = float(run.residuals[inside].max(initial=0.0)) if complete else np.nan
    # A run that fails after the window has still solved all of the window.
    claimed = Status.SOLVED if complete and run.status is not Status.INACCURATE else run.status
    row: dict[str, Any] = {
        "solver": run.solver, "problem_class": run.kind, "steps": int(inside.sum()), "size": run.record.z.shape[1],
        "claimed": claimed.name, "verified": complete and residual <= run.tolerance, "residual": residual,
        "tolerance": run.tolerance, "reason": "" if claimed is Status.SOLVED else run.reason,
        "iterations": int(run.record.effort[inside, 0].sum()),
        "passes_max": int(run.record.effort[inside, 1].max(initial=0)),
        "build_time": run.build_time, "solve_time": run.solve_time,
    }  # fmt: skip
    if run.steps and run.record.M[0].size:
        first, least = rank(run.record.M[0]), ranks(run.record.M[inside]).min() if inside.any() else np.nan
        row |= {"rank": first.value, "rank_min": least, "rank_tolerance": first.tolerance}
    if not complete:
        return row
    k = np.flatnonzero(inside)

    def reaching(other: Run | Failed) -> Run | None:
        return other if isinstance(other, Run) and other.steps > k[-1] else None

    contacts = np.ones(run.case.size[2], dtype=bool)
    m = MeasuredRun(run, reference, reaching(exact), reaching(round_off), k, k * stride, contacts)
    return row | evaluate(metrics, m)


def _trajectory(
    run: Run, role: str, minor: Array | None = None, reference: Run | None = None, stride: int = 1
) -> pd.DataFrame:
    """One row per step and contact; the reference is thinned to every tenth step to keep files small."""
    if not run.steps:
        return pd.DataFrame()
    thin = slice(None, None, 10 if role == "reference" else 1)
    _, _, r, d = run.case.size
    ratio, angle, judged = friction(run), misalignment(run), run.judged
    with np.errstate(over="ignore", invalid="ignore"):
        energy = run.case.energy(run.states_q, run.states_v)[1:]
    centre = run.case.centre(run.states_q)[1:]
    frames = []
    for i in range(r):
        columns: dict[str, Any] = {
            "case": run.case.name, "formulation": run.formulation.name, "label": run.formulation.label, "role": role,
            "solver": run.solver,
            "step": run.h, "contact": i, "t": run.t, "x": centre[:, 0], "y": centre[:, 1], "z": centre[:, 2],
            "gap": run.record.phi[:, i], "p_n": run.p_n[:, i], "u_n": run.u_n[:, i], "normalised_friction": ratio[:, i],
            "misalignment": angle[:, i], "energy": energy,
            "sliding_minor": sliding_minor(run) if minor is None else minor, "residual": run.residuals,
            "natural_map": judged.natural_map, "iterations": run.record.effort[:, 0],
        }  # fmt: skip
        for j in range(d):
            columns[f"p_t{j + 1}"], columns[f"u_t{j + 1}"] = run.p_t[:, i, j], run.u_t[:, i, j]
        if reference is not None:
            k = (np.arange(run.steps) + 1) * stride
            columns["position_error"] = np.linalg.norm(centre - run.case.centre(reference.states_q[k]), axis=-1)
            columns["energy_error"] = np.abs(energy - run.case.energy(reference.states_q[k], reference.states_v[k]))
        frames.append(pd.DataFrame(columns).iloc[thin])
    return pd.concat(frames, ignore_index=True)
