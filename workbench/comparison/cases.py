"""Comparing on a case: many formulations, solvers and step sizes, judged against exact Coulomb friction.

The reference is the motion under exact Coulomb friction, followed from event to event, or stepped at a much smaller
step (`reference`). A stepped one has rigid tangential rows, whatever the compliance of the runs, unless that is physics
(`Case.elastic`); its normal rows are relaxed as theirs, which settles how redundant contacts share the load. A run is
away from it for up to four reasons, kept apart by the error budget (formulary, section 7), each a distance of two runs:

    discretisation   exact Coulomb at this step        -  the reference
    formulation      this formulation to round-off     -  exact Coulomb at this step
    compliance       the same relaxed in the tangents  -  the same
    solver           this solver's answer              -  this formulation to round-off

Where a formulation has no answer without the compliance, both are relaxed in its part, and the compliance's is that of
exact Coulomb friction. Step k of a run is compared with the steps of the reference in the same time; all runs of a
comparison share the position update and the normal law. Whatever raises an error is a row with its reason.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from workbench.algorithms import find_solver
from workbench.algorithms.base import Solver
from workbench.algorithms.escalation import default_solver
from workbench.comparison.columns import CASE, DIAGNOSTICS, ONWARD, TRAJECTORIES, framed
from workbench.comparison.contacts import event_rows, timeline
from workbench.comparison.cost import repeated
from workbench.comparison.curves import curves
from workbench.comparison.failure import Failed, failed
from workbench.comparison.jobs import CaseRuns, Job, Settings, is_slow
from workbench.comparison.judged import judged, reference_for
from workbench.comparison.metric import Metric, framed_runs
from workbench.comparison.motion import DrawnMotion, measured_rows, motion
from workbench.comparison.onward import onward_rows
from workbench.comparison.reference import Reference
from workbench.comparison.result import GENERIC_SOLVER, Comparison, chosen_metrics, mathematics, refusals
from workbench.comparison.rows import of_run, windows
from workbench.comparison.several import examined_steps, several_solutions
from workbench.comparison.timeline import EVENTS, TIMELINE
from workbench.comparison.verdicts import sliding_minor, verdicts
from workbench.language.assemble.find import compiled
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case, Truth
from workbench.step.run import Run
from workbench.support.progress import ProgressCallback


# The numbers of a run that blows up end beyond the doubles.
@np.errstate(over="ignore", invalid="ignore")
def compare_case(
    case: Case, formulations: Sequence[Formulation], exact: Formulation, solvers: Sequence[str | Solver] = (),
    settings: Settings | None = None, progress: ProgressCallback | None = None, workers: int = 1,
    metrics: Iterable[Metric | str] | None = None,
) -> Comparison:  # fmt: skip
    """Run every formulation with every solver at every step size and judge all of it against `exact`, exact Coulomb.

    Without `solvers` each formulation gets the solver that takes it to round-off and, where it is a convex QP, a
    generic optimiser for a sample of the steps (`sampling`); without `metrics` all of `METRICS`. `progress(label, done,
    total)` hears of finished steps, and then of judged runs. With `workers` > 1 the runs whose solvers are not compiled
    go to that many processes. Raises WorkbenchError for unusable settings or a reference that its own residual does not
    verify; a run that fails is a row with its reason.
    """
    settings = (settings or Settings()).of_case(case)
    settings.must_fit()
    metrics, chosen = chosen_metrics(CASE, metrics), [find_solver(x) for x in solvers]
    # Made before the declarations: where two processes compile, the other one has compiled those by then.
    reference = reference_for(case, exact, settings, progress)
    refused = refusals(formulations, case.size)
    plan = [
        Job(f, s, h, settings.relaxation)
        for h in settings.steps for f in formulations
        for s in ([None] if f in refused else chosen or solvers_for(case, f))
    ]  # fmt: skip
    # A solver that is slow and that nobody asked for takes a sample of the steps.
    sampled = [] if chosen else [x for x in plan if x.solver and is_slow(x.solver)]
    found = judged(case, plan, reference, settings, metrics, refused, sampled, progress, workers)
    fine, exact_run, runs = reference.fine, reference.run, found.runs
    settings = replace(settings, reference=reference.kind)
    duration = settings.duration or case.duration
    named = of_run(case, exact, exact_run, "reference")
    trajectories, diagnostics = [curves(named, exact_run, reference.beside, duration)], []
    touching, events = [timeline(named, exact_run, exact_run)], [event_rows(named, exact_run, exact_run)]
    drawn: dict[Job, Run] = {}
    further: dict[tuple[Formulation, float], list[dict[str, Any]]] = {}
    lost: list[str] = []
    for k, job in enumerate(plan):
        if progress:
            progress(f"from exact states {job}", k, len(plan))
        run = runs.get(job)
        if not isinstance(run, Run):
            continue
        try:
            minor = sliding_minor(run)
            named = of_run(case, job.subject, run, "run")
            steps = curves(named, run, exact_run, duration, minor=minor)
            own = timeline(named, run, exact_run), event_rows(named, run, exact_run)
            diagnostics += verdicts(run, minor)
            trajectories.append(steps)
            touching.append(own[0])
            events.append(own[1])
            drawn[job] = run
            if (job.subject, job.h) not in further:
                beside = runs.get(replace(fine, h=job.h))
                further[job.subject, job.h], words = _onward(beside, run, windows(job, case, duration)[0])
                lost += words
        except Exception as error:
            spans = windows(job, case, duration)
            found.rows[job] = [w | vars(failed(error)) for w in spans]
    if progress:
        progress("timing short runs", len(plan), len(plan))
    timings = repeated(drawn, CaseRuns(case, settings).make)
    rows = [x | timings.get(job, {}) for job in plan for x in found.rows[job]]
    steps = _together(trajectories)
    shown, without = _motion(case, exact_run, list(drawn.values()))
    return Comparison(
        case.name, tuple(formulations), metrics,
        framed_runs(measured_rows(rows, shown), metrics, CASE),
        framed(steps, [c for c in TRAJECTORIES if c.name in steps], CASE),
        framed(diagnostics, DIAGNOSTICS, CASE).drop_duplicates(["label", "step", "quantity"], ignore_index=True),
        mathematics(formulations, case.size), case, settings, _truths(case, runs[fine]),
        (*_remarks(fine, settings, runs, found.rows), *_of_reference(reference), *without, *lost),
        motion=shown, onward=framed([row for rows in further.values() for row in rows], ONWARD, CASE),
        timeline=framed(_together(touching), TIMELINE, CASE), events=framed(_together(events), EVENTS, CASE),
    )  # fmt: skip


def _together(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    some = [frame for frame in frames if len(frame)]
    return pd.concat(some, ignore_index=True) if some else pd.DataFrame()


def _truths(case: Case, stepped: Run | Failed) -> tuple[Truth, ...]:
    """Return the truths of the case for time stepping at the reference step, to which their bounds apply."""
    return tuple(case.truths(stepped)) if isinstance(stepped, Run) else ()


def _of_reference(reference: Reference) -> tuple[str, ...]:
    """Return the reason why the reference is time-stepped although that was not requested."""
    if not reference.reason:
        return ()
    return (f"The reference is time stepping at {1e3 * reference.run.h:g} ms, not the event-driven motion: "
            f"{reference.reason}.",)  # fmt: skip


def _onward(exact: Run | Failed | None, run: Run, span: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the rows of `onward` from exact states in a window, or a sentence with the reason why there are none."""
    window = span["window_start"], span["window_end"]
    try:
        return (onward_rows(exact, run, window) if isinstance(exact, Run) else []), []
    except Exception as error:
        return [], [f"From exact states {run.formulation.label} cannot be continued: {failed(error).reason}"]


def _motion(case: Case, reference: Run, runs: Sequence[Run]) -> tuple[DrawnMotion | None, tuple[str, ...]]:
    """Return the motion, or a sentence with the reason why user-defined shapes give none."""
    try:
        return motion(case, reference, runs), ()
    except Exception as error:
        return None, (f"The motion is not shown: {failed(error).reason}",)


def _remarks(
    fine: Job, settings: Settings, runs: dict[Job, Run | Failed], rows: dict[Job, list[dict[str, Any]]]
) -> tuple[str, ...]:
    """Return remarks on what Coulomb's law does not determine at each step size."""
    found = []
    for h in settings.steps:
        run = runs.get(replace(fine, h=h))
        if isinstance(run, Run):
            own: dict[str, dict[str, Any]] = {}
            for job, some in rows.items():
                if job.h == h and some:
                    own.setdefault(job.label, some[0])
            found.append(several_solutions(examined_steps(run), own))
    return tuple(filter(None, found))


def solvers_for(case: Case, f: Formulation) -> list[Solver]:
    """Return the solver that takes the formulation to round-off and the generic one, if it solves this class.

    Where problems are not convex, the generic solver's job has no rows (`sampling`).
    """
    kind, generic = compiled(f, *case.size).kind, find_solver(GENERIC_SOLVER)
    return [default_solver(kind), *([generic] if kind in generic.solves else [])]
