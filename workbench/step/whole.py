"""The run of a case without parts: the loop over its steps, compiled if the case and the solver are."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.algorithms.base import Solver
from workbench.algorithms.escalation import HOPELESS, in_steps
from workbench.algorithms.paths import objection
from workbench.engine.interpreted import interpreting
from workbench.engine.timing import clock
from workbench.language.assemble.find import compiled
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.problems.solution import Solution, Status
from workbench.step import stepping
from workbench.step.record import RunRecord, record
from workbench.step.run import Course, Run
from workbench.step.stepper import Stepper, end_step
from workbench.step.stepping import Functions, StepSettings
from workbench.support.errors import DataError

ANSWERED = Status.SOLVED, Status.INACCURATE


def run_whole(case: Case, formulation: Formulation, solver: Solver, course: Course, progress: Any = None) -> Run:
    """Call `simulation.simulate` for a case without parts."""
    c = compiled(formulation, *case.size)
    stepper, steps = Stepper(c, course.h, course.normal, case.v_th, course.passes, course.scheme), course.steps
    stepper.follow(case, course.relaxation, steps)
    solver, start = in_steps(solver, c.kind), clock()
    loop = loop_of(case, solver, c.kind)
    others: Counter[str] = Counter()
    status, reason, k = loop(case, stepper, solver, steps, progress, others)
    kept = record(stepper.core, stepper.work, stepper.track, k)
    return run_of(case, course, stepper, solver, status, reason, clock() - start, kept, others)


def run_of(
    case: Case, course: Course, s: Stepper, solver: Solver, status: Status, reason: str, seconds: float,
    kept: RunRecord, others: Counter[str],
) -> Run:  # fmt: skip
    """The finished steps as a `Run`; if they are not all, the reason says after which."""
    c, k, h = s.c, len(kept.p), course.h
    if status is not Status.SOLVED and k < course.steps:
        reason = f"step {k} (t = {k * h:.4g} s): {reason or status.meaning}"
    return Run(
        case, c.formulation, solver.name, c.kind, solver.tolerance, h, course.scheme, course.normal,
        course.relaxation, status, reason, course.steps, c.seconds, seconds, kept, c, dict(others),
    )  # fmt: skip


def loop_of(case: Case, solver: Solver, kind: str) -> Any:
    """Return the loop over the steps of a case, compiled if possible."""
    return _compiled_loop if is_compiled(case, solver, kind) else _python_loop


def is_compiled(case: Case, solver: Solver, kind: str) -> bool:
    """Return whether the loop over steps with problems of this kind can be compiled; bridges need Python."""
    return hasattr(solver, "kernel") and kind in solver.solves and case.is_compiled


def _compiled_loop(case, s, solver, steps, progress, others) -> tuple[Status, str, int]:
    # `why_not` is called once, with the first step's problem: kernels themselves never refuse. `run` begins that step
    # again, so memory written by its hooks must be restored.
    memory = s.memory.copy()
    with interpreting(s.work.out.size):
        s.begin_case(case, 0)
        s.memory[:] = memory
        try:
            reason = solver.why_not(s.problem())
        except DataError as error:
            return posing_failure(s), str(error), 0
    if reason:
        return Status.REFUSED, reason, 0
    functions, settings = s.functions(case, solver.kernel), s.settings(solver)
    chunk = steps if progress is None else max(200, steps // 50)
    worst, done, lost = Status.SOLVED, np.zeros(1, dtype=np.int64), 0
    while done[0] < steps:
        end = min(steps, int(done[0]) + chunk)
        status = Status(stepping.run(int(done[0]), end, s.core, s.work, s.track, functions, settings, done))
        k = int(done[0])
        if k < end:
            posed = s.pose()
            if posed is not Status.SOLVED:
                return posing_failure(s), s.why_not_posed(posed), k
            if status is Status.NO_FIXED_POINT or not settings.strict:
                return status, s.why_unsettled(solver) if status is Status.NO_FIXED_POINT else "", k
            # From the pass that the compiled loop did not solve.
            effort = s.track.effort[k, 0], s.track.effort[k, 1]
            solution, finished = _step(k, s, solver, functions, settings, others, effort)
            status, done[0] = solution.claimed, k + finished
            if status not in ANSWERED:
                return status, solution.reason, k
            lost = 0 if solution.verified else lost + 1
            settings = settings._replace(strict=lost < HOPELESS)
        if progress is not None:
            progress(int(done[0]))
        if status is Status.INACCURATE:
            worst = status
    return worst, "", steps


def _step(
    k: int, s: Stepper, solver: Solver, functions: Functions, settings: StepSettings, others: Counter[str],
    done: tuple[int, int] = (0, 0),
) -> tuple[Solution, bool]:  # fmt: skip
    """Make step k, which has begun, in Python; `done` are its iterations and passes so far.

    The second result is False if there is no answer, or the step must be repeated (`end_step`).
    """
    solution, *effort = s.solve(solver, done)
    if solution.claimed in ANSWERED and not np.isfinite(s.work.out).all():
        solution = replace(solution, claimed=Status.NOT_FINITE, reason="")
    if solution.claimed not in ANSWERED:
        return solution, False
    finished = end_step(k, s.core, s.work, s.track, functions, settings)
    s.track.effort[k] = effort
    if solution.solver != solver.name:
        others[solution.solver] += 1
    return solution, finished


def posing_failure(s: Stepper) -> Status:
    """Return why there is no problem in the work arrays."""
    return Status.SINGULAR if np.isfinite(s.work.A).all() else Status.NOT_FINITE


def _python_loop(case, s, solver, steps, progress, others) -> tuple[Status, str, int]:
    worst, functions, settings, k = Status.SOLVED, s.functions(case), s.settings(solver), 0
    while k < steps:
        s.begin_case(case, k)
        try:
            if k == 0 and (reason := objection(solver, s.problem())):
                return Status.REFUSED, reason, k
            solution, finished = _step(k, s, solver, functions, settings, others)
        except DataError as error:
            return posing_failure(s), str(error), k
        if solution.claimed not in ANSWERED:
            return solution.claimed, solution.reason, k
        worst = max(worst, solution.claimed, key=ANSWERED.index)
        if progress is not None and k % 100 == 99:
            progress(k + 1)
        k += finished
    return worst, "", steps
