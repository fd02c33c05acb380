"""Local steps: single steps of one formulation from the states of a run, possibly under another formulation.

    coulomb = simulate(case, exact, solver, 1e-3)
    local = local_steps(coulomb, box, other, np.arange(coulomb.steps))
    local.v_after - coulomb.v_after          # the error of the box in each step, without errors of earlier steps

Every step begins as if the formulation had made the run itself up to there: state and memory of the step before
(bristles, bounds, relaxation) are those of the run. Nothing is carried from one local step to the next. Compiled
solvers with warm start get the run's own z if the run is of the same formulation, else zero: among several solutions
they then find that of a cold start.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numba import njit, types
from numpy.typing import ArrayLike, NDArray

from workbench.algorithms.base import Solver
from workbench.algorithms.escalation import HOPELESS, Chain, in_steps
from workbench.algorithms.paths import objection
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.interpreted import python_of
from workbench.engine.kernels import INDICES, MATRIX, copy, copy_at, is_finite, set_all
from workbench.engine.scratch import scratch, scratch_indices
from workbench.engine.timing import clock
from workbench.language.assemble.find import compiled
from workbench.language.assemble.plan import Compiled
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.mechanics.relaxation import Relaxation
from workbench.problems.solution import Status
from workbench.step.record import columns
from workbench.step.run import Run
from workbench.step.run_of_parts import PartIndices, RecordOfParts, RunOfParts
from workbench.step.scheme import MIDPOINT, SINCE, count
from workbench.step.stepper import STEPPING, Stepper, evaluate
from workbench.step.stepping import (
    PASSES,
    begin_step,
    is_made_again,
    move,
    solve_passes,
    turn_back,
)
from workbench.step.whole import is_compiled, posing_failure
from workbench.support.arrays import Array
from workbench.support.errors import DataError

SOLVED, INACCURATE = int(Status.SOLVED), int(Status.INACCURATE)
NOT_BEGUN = -1
"""Status of a step before it is taken; of all steps if the solver refuses."""


@dataclass(frozen=True, eq=False)
class LocalSteps(Run):
    """K steps that each begin at a state of another run; quantities of steps are those of `Run`.

    base       that run
    numbers    (K,) the steps of `base` from whose states they begin
    statuses   (K,) `Status` of each; without a solution its impulses and velocities are nan, its residual inf
    after_q    (K, n_q) coordinates after the step, nan without a solution

    `states_q` and `states_v` have the K states before the steps; `status` is the worst, `reason` is that of the first.
    """

    base: Run = field(default=None, repr=False)  # type: ignore[assignment]
    numbers: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    statuses: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    after_q: Array = field(default_factory=lambda: np.zeros((0, 0)), repr=False)

    @property
    def t(self) -> Array:
        """Start of each step [s]."""
        return self.h * self.numbers.astype(float)


@dataclass(frozen=True, eq=False)
class LocalStepsOfParts(LocalSteps, RunOfParts):
    """Local steps of a case with parts, computed part by part."""


class Past(NamedTuple):
    """Initial data of each step of the run, one row per step.

    Row k: the state (q, v) before step k of the run, the solution of the step before it, the guess for z, and the
    scheme's own memory (`RunBuffer`), `since` as (K, 3 r)."""

    q: Array
    v: Array
    answer: Array
    guess: Array
    v_before: Array
    since: NDArray[np.int64]


class LocalStepResults(NamedTuple):
    """Coordinates after each local step, and its `Status`."""

    q: Array
    status: np.ndarray


PAST = argument_type(Past, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, SINCE)
RESULTS = argument_type(LocalStepResults, MATRIX, INDICES)


# The next two are compiled as parts of `each`, and interpreted if the solver or the case is not compiled.


@njit(inline="always")
def recall(k, past, core, work, track, functions):
    """Restore state, memory and guess of step k of the run, as if the formulation had made the step before it."""
    n, r, t = core.v.shape[0], core.mu.shape[0], core.b_t.shape[0]
    copy(past.q[k], track.q)
    copy(past.v[k], track.v)
    copy(past.answer[k], work.out)
    if k > 0:
        v, p_n, p_t = work.out[:n], work.out[n : n + r], work.out[n + r : n + r + t]
        functions.remember(core, track.memory, core.own, track.numbers, v, p_n, p_t)
    copy(past.guess[k], work.z)
    copy(past.v_before[k], track.v_before)
    for i in range(r):
        for j in range(3):
            track.since[i, j] = past.since[k, 3 * i + j]


@njit(inline="always")
def end_local(row, status, core, work, track, functions, settings, results):
    """Record the solution, or nan if there is none."""
    n, r, t = core.v.shape[0], core.mu.shape[0], core.b_t.shape[0]
    results.status[row] = status
    if status in (SOLVED, INACCURATE):
        turn_back(core, work.out[n + r : n + r + t])
        move(core, work.out[:n], track, functions, settings, results.q[row])
    else:
        set_all(np.nan, work.out)
        set_all(np.nan, work.z)
        set_all(np.nan, results.q[row])
        # Residuals are computed for all rows at once, and must not see data that are not finite.
        if not is_finite(work.posed):
            set_all(0.0, work.posed)
    copy_at(work.recorded, track.rows[row], track.q.shape[0] + core.recorded.shape[0])
    track.theta[0] = settings.theta


@kernel(types.void(INDICES, INDICES, PAST, STEPPING, RESULTS))
def each(visited, wanted, past, stepper, results):
    """Visit the steps `visited` of the run, and solve those that are `wanted`."""
    # One by one: where functions are inlined, numba loses writes through a tuple that was unpacked.
    core, work, track = stepper.core, stepper.work, stepper.track
    functions, settings = stepper.functions, stepper.settings
    info, kept, row = scratch_indices(1), scratch(track.memory.shape[0]), 0
    info[0] = 0
    for i in range(visited.shape[0]):
        recall(visited[i], past, core, work, track, functions)
        status, again = NOT_BEGUN, True
        # A loop, although a step is repeated at most once: its body is compiled as often as it is written.
        while again:
            begin_step(row, core, work, track, functions, settings)
            again = False
            if wanted[i]:
                copy(track.memory, kept)
                status = solve_passes(row, core, work, track, functions, settings, info)
                again = status in (SOLVED, INACCURATE) and is_made_again(core, work, track, settings)
        if wanted[i]:
            end_local(row, status, core, work, track, functions, settings, results)
            copy(kept, track.memory)
            row += 1


recall_in_python, end_in_python, again_in_python = python_of(recall), python_of(end_local), python_of(is_made_again)


def local_steps(
    base: Run, formulation: Formulation, solver: Solver, steps: ArrayLike, relaxation: Relaxation | None = None,
    passes: int = PASSES,
) -> LocalSteps:  # fmt: skip
    """Make one step under `formulation` from the state of `base` before each of `steps` (K,), in increasing order.

    Step size, normal law and scheme are those of `base`, and so is the relaxation unless one is given. A failed step is
    a row of nan with its status, and the others continue. Raises DataError for steps that `base` does not have.
    """
    at = np.asarray(steps, dtype=np.int64).ravel()
    if at.size and not (at[0] >= 0 and at[-1] < base.steps and (np.diff(at) > 0).all()):
        raise DataError(f"steps {at[0]} to {at[-1]}; increasing numbers from 0 to {base.steps - 1} are needed")
    relaxation = base.relaxation if relaxation is None else relaxation
    if not isinstance(base, RunOfParts):
        return _of_whole(base, formulation, solver, at, relaxation, passes)
    parts = tuple(_of_whole(part, formulation, solver, at, relaxation, passes) for part in base.parts)
    worst = max(parts, key=lambda p: (p.status is not Status.SOLVED, p.status is not Status.INACCURATE))
    statuses = np.array([p.statuses for p in parts])
    # The status of a step is the worst among its parts.
    order = np.where(statuses == SOLVED, 0, np.where(statuses == INACCURATE, 1, 2))
    record: Any = RecordOfParts([p.record for p in parts], PartIndices([p.case.size for p in parts]))
    q = np.concatenate([p.after_q for p in parts], axis=1)
    others = dict(sum((Counter(p.others) for p in parts), Counter()))
    return LocalStepsOfParts(
        base.case, formulation, solver.name, worst.kind, solver.tolerance, base.h, base.scheme, base.normal,
        relaxation, worst.status, worst.reason, at.size, worst.build_time, sum(p.solve_time for p in parts), record,
        None, others, parts=parts, base=base, numbers=at, after_q=q,
        statuses=statuses[order.argmax(axis=0), np.arange(at.size)],
    )  # fmt: skip


def _of_whole(
    base: Run, formulation: Formulation, solver: Solver, at: NDArray[np.int64], relaxation: Relaxation, passes: int
) -> LocalSteps:
    """`local_steps` of a case without parts."""
    case, count = base.case, at.size
    c = compiled(formulation, *case.size)
    s = Stepper(c, base.h, base.normal, case.v_th, passes, base.scheme)
    s.follow(case, relaxation, count)
    past = past_of(base, formulation, s)
    visited = np.arange(at[-1] + 1) if keeps_memory(c) and count else at
    wanted = np.isin(visited, at).astype(np.int64)
    results = LocalStepResults(np.full((count, past.q.shape[1]), np.nan), np.full(count, NOT_BEGUN))
    others: Counter[str] = Counter()
    solver, start, reason = in_steps(solver, c.kind), clock(), ""
    if count and is_compiled(case, solver, c.kind):
        reason = _compiled(s, base, solver, visited, wanted, past, results)
        left = isinstance(solver, Chain) and not reason
    else:
        left = True
    if left and (results.status != SOLVED).any():
        reason = _interpreted(s, base, solver, visited, wanted, past, results, others)
    seconds = clock() - start
    if (results.status == NOT_BEGUN).any():
        for row, k in enumerate(at):
            _begin(int(k), row, s, case, past)
            end_in_python(row, Status.REFUSED, s.core, s.work, s.track, s.functions(case), s.settings(solver), results)
    failing = np.flatnonzero(~np.isin(results.status, (SOLVED, INACCURATE)))
    status = Status(results.status[failing[0]] if failing.size else max(results.status, default=SOLVED))
    if failing.size:
        reason = f"step {at[failing[0]]} (t = {at[failing[0]] * base.h:.4g} s): {reason or status.meaning}"
    track = s.track
    record = columns(s.core, s.work, track, track.rows[:count], track.effort[:count])
    return LocalSteps(
        case, formulation, solver.name, c.kind, solver.tolerance, base.h, base.scheme, base.normal, relaxation,
        status, reason, count, c.seconds, seconds, record, c, dict(others), base, at, results.status, results.q,
    )  # fmt: skip


def keeps_memory(c: Compiled) -> bool:
    """Return whether a formulation has a memory of its own, which may reach further back than the last step."""
    return c.hooks.remember is not None or c.hooks.memory is not None


def past_of(base: Run, formulation: Formulation, s: Stepper) -> Past:
    """Return what each step of the run began with."""
    r, p = base.case.size[2], base.record.p
    # Round-off may leave a normal impulse below zero, which is not allowed for a bound on friction.
    before = np.concatenate([base.v_after, np.maximum(p[:, :r], 0.0), p[:, r:]], axis=1)[:-1]
    answer = np.concatenate([np.full((1, before.shape[1]), np.nan), before])
    guess = np.zeros((base.steps, s.work.z.size))
    if formulation == base.formulation:
        guess[1:] = base.record.z[:-1]
    own = schemes_memory(base, s)
    return Past(*(np.ascontiguousarray(x) for x in (base.states_q[:-1], base.states_v[:-1], answer, guess, *own)))


def schemes_memory(base: Run, s: Stepper) -> tuple[Array, NDArray[np.int64]]:
    """Return `Past.v_before` and `Past.since` of a run; `s` follows its case."""
    r, v, t = base.case.size[2], base.states_v, s.track
    before, since = v[:-1].copy(), np.zeros((base.steps, 3 * r), dtype=np.int64)
    if base.scheme.kind != MIDPOINT:
        return before, since
    theta = np.where((base.v_after == v[1:]).all(axis=1), 1.0, base.scheme.theta)
    before[1:] = np.where(theta[:-1, None] < 1.0, v[:-2], v[1:-1])
    functions, settings = s.functions(base.case), s.settings()
    since[:1] = t.since.ravel()
    for k in range(1, base.steps):
        t.q, t.v, t.v_before, t.theta = base.states_q[k - 1], v[k - 1], before[k - 1], theta[k - 1]
        evaluate(s.core, t, functions, settings)
        s.core.b = base.record.b[k - 1]
        count(s.core, t.since, base.v_after[k - 1].copy(), base.p_n[k - 1].copy())
        since[k] = t.since.ravel()
    t.theta = base.scheme.theta
    return before, since


def _begin(k: int, row: int, s: Stepper, case: Case, past: Past) -> None:
    recall_in_python(k, past, s.core, s.work, s.track, s.functions(case))
    s.begin_case(case, row)


def _compiled(s, base, solver, visited, wanted, past, results) -> str:
    # As in a run, `why_not` is called once: kernels themselves never refuse.
    memory = s.memory.copy()
    _begin(int(visited[0]), 0, s, base.case, past)
    if reason := _objection(s, solver):
        return reason
    s.memory[:] = memory
    each(visited, wanted, past, s.stepping(base.case, solver), results)
    return ""


def _interpreted(s, base, solver, visited, wanted, past, results, others) -> str:
    """Make the steps that no compiled solver has solved; returns the first reason for a failure."""
    functions, settings, first, row, lost = s.functions(base.case), s.settings(solver), "", -1, 0
    keeps = len(visited) > wanted.sum()
    for k, solved in zip(visited, wanted, strict=True):
        row += int(solved)
        needed = solved and results.status[row] != SOLVED and lost < HOPELESS
        if needed or keeps:
            # A step that is only visited leaves its data in the row of the next wanted one.
            _begin(int(k), row + 1 - int(solved), s, base.case, past)
        if not needed:
            continue
        if results.status[row] == NOT_BEGUN and row == 0 and (reason := _objection(s, solver)):
            return reason
        kept, status, reason = s.memory.copy(), Status.NOT_FINITE, ""
        try:
            solution, *effort = s.solve(solver)
            answered = solution.claimed in (SOLVED, INACCURATE)
            if answered and again_in_python(s.core, s.work, s.track, settings):
                s.begin_case(base.case, row)
                kept, (solution, *effort) = s.memory.copy(), s.solve(solver)
            status, reason = solution.claimed, solution.reason
            s.track.effort[row] = effort
            if solution.solver != solver.name and status in (SOLVED, INACCURATE):
                others[solution.solver] += 1
            lost = 0 if solution.verified or not isinstance(solver, Chain) else lost + 1
        except DataError as error:
            status, reason = posing_failure(s), str(error)
        if status in (SOLVED, INACCURATE) and not np.isfinite(s.work.out).all():
            status = Status.NOT_FINITE
        end_in_python(row, status, s.core, s.work, s.track, functions, settings, results)
        first = first or ("" if status in (SOLVED, INACCURATE) else reason)
        s.memory[:] = kept
    return first


def _objection(s: Stepper, solver: Solver) -> str:
    """Return why the solver does not accept the problem in the work arrays, or "" if there is none."""
    try:
        return objection(solver, s.problem()) or ""
    except DataError:
        return ""
