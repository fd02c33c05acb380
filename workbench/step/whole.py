"""A run of a case in one piece: the loop over its steps, compiled where the case and the solver are."""

from typing import Any

import numpy as np

from workbench.algorithms.base import KernelSolver, Solver
from workbench.assemble.find import compiled
from workbench.engine.timing import clock
from workbench.errors import DataError
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.mechanics.relaxation import Relaxation
from workbench.problems.solution import Status
from workbench.step import stepping
from workbench.step.record import record
from workbench.step.run import Run
from workbench.step.stepper import Stepper, end_step


def run_whole(
    case: Case, formulation: Formulation, solver: Solver, h: float, steps: int, explicit: bool, normal: str,
    relaxation: Relaxation, passes: int, progress: Any = None,
) -> Run:  # fmt: skip
    """`simulation.simulate` of a case in one piece."""
    c = compiled(formulation, *case.size)
    stepper = Stepper(c, h, normal, case.v_th, passes)
    stepper.follow(case, relaxation, steps)
    start = clock()
    loop = _compiled_loop if is_compiled(case, solver) else _python_loop
    status, reason, k = loop(case, stepper, solver, explicit, steps, progress)
    seconds = clock() - start
    if status is not Status.SOLVED and k < steps:
        reason = f"step {k} (t = {k * h:.4g} s): {reason or status.meaning}"
    return Run(
        case, formulation, solver.name, c.kind, solver.tolerance, h, explicit, normal, relaxation, status, reason,
        steps, c.seconds, seconds, record(stepper.core, stepper.work, stepper.track, k), c,
    )  # fmt: skip


def is_compiled(case: Case, solver: Solver) -> bool:
    """Whether the loop over the steps can be."""
    return isinstance(solver, KernelSolver) and all(hasattr(f, "py_func") for f in (case.fill, case.advance))


def _compiled_loop(case, s, solver, explicit, steps, progress) -> tuple[Status, str, int]:
    # The objection is asked once, at the first step's problem: kernels themselves never refuse. `run` begins that step
    # again, so what its hooks have noted must not stay.
    memory = s.memory.copy()
    s.begin_case(case, 0)
    s.memory[:] = memory
    try:
        reason = solver.why_not(s.problem())
    except DataError as error:
        return posing_failure(s), str(error), 0
    if reason:
        return Status.REFUSED, reason, 0
    args = s.core, s.work, s.track, s.functions(case, solver.kernel), s.settings(explicit)
    chunk = steps if progress is None else max(200, steps // 50)
    worst, done = Status.SOLVED, np.zeros(1, dtype=np.int64)
    while done[0] < steps:
        k = int(done[0])
        status = Status(stepping.run(k, min(steps, k + chunk), *args, done))
        if progress is not None:
            progress(int(done[0]))
        if status is Status.INACCURATE:
            worst = status
        elif status is not Status.SOLVED:
            posed = s.pose()
            if posed is Status.SOLVED:
                return status, s.why_unsettled(solver) if status is Status.NO_FIXED_POINT else "", int(done[0])
            return posing_failure(s), s.why_not_posed(posed), int(done[0])
    return worst, "", steps


def posing_failure(s: Stepper) -> Status:
    """Why no problem stands in the work arrays."""
    return Status.SINGULAR if np.isfinite(s.work.A).all() else Status.NOT_FINITE


def _python_loop(case, s, solver, explicit, steps, progress) -> tuple[Status, str, int]:
    worst = Status.SOLVED
    for k in range(steps):
        s.begin_case(case, k)
        try:
            if k == 0 and (reason := solver.why_not(s.problem())):
                return Status.REFUSED, reason, k
            solution, *effort = s.solve(solver)
        except DataError as error:
            return posing_failure(s), str(error), k
        if solution.claimed is Status.INACCURATE:
            worst = Status.INACCURATE
        elif solution.claimed is not Status.SOLVED:
            return solution.claimed, solution.reason, k
        end_step(k, s.core, s.work, s.track, s.functions(case), s.settings(explicit))
        s.track.effort[k] = effort
        if progress is not None and k % 100 == 99:
            progress(k + 1)
    return worst, "", steps
