"""Steps of one formulation from the states of a run, possibly under another: local steps, and runs onward from there.

    coulomb = simulate(case, exact, solver, 1e-3)
    local = local_steps(coulomb, box, other, np.arange(coulomb.steps))
    local.v_after - coulomb.v_after          # the error of the box in each step, without errors of earlier steps
    (cone,) = onward(coulomb, ccp, other, [40], 100)
    cone.record.phi[30] - coulomb.record.phi[70]      # how far contacts have opened within 30 steps from step 40

Every step begins as if the formulation had made the run itself up to there: state and memory of the step before
(bristles, bounds, relaxation) are those of the run. Nothing is carried from one local step to the next, and the first
step onward equals the local step from there, bit for bit. Compiled solvers with warm start get the run's own z if the
run is of the same formulation, else zero: among several solutions they then find that of a cold start.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numba import njit, types
from numpy.typing import ArrayLike, NDArray

from workbench.algorithms.base import Solver
from workbench.engine.compiling import kernel
from workbench.engine.interpreted import python_of
from workbench.engine.kernels import copy, is_finite
from workbench.language.formulation import Formulation
from workbench.mechanics.relaxation import Relaxation
from workbench.problems.solution import Status
from workbench.step.loops import STARTS, CaseStepper, Starts, begin_at
from workbench.step.parts import RecordOfParts, RunOfParts
from workbench.step.record import columns
from workbench.step.run import Run
from workbench.step.scheme import MIDPOINT, count
from workbench.step.stepper import STEPPING, evaluate
from workbench.step.stepper import begin_step as begin_in_python
from workbench.step.stepping import PASSES, begin_step
from workbench.support.arrays import Array
from workbench.support.errors import DataError

SOLVED, INACCURATE = int(Status.SOLVED), int(Status.INACCURATE)


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


@njit(inline="always")
def remember_at(b, core, track, functions, starts):
    """Write the memory at start b: what is in `track` and, if there is a step before, what that leaves."""
    n, r, t = core.v.shape[0], core.mu.shape[0], core.b_t.shape[0]
    v, p_n, p_t = starts.out[b, :n], starts.out[b, n : n + r], starts.out[b, n + r : n + r + t]
    if is_finite(starts.out[b]):
        functions.remember(core, track.memory, core.own, track.numbers, v, p_n, p_t)
    copy(track.memory, starts.memory[b])


@kernel(types.void(types.boolean, STEPPING, STARTS))
def remember_each(begins, stepper, starts):
    """Write the memory at each start; with `begins` they are those of consecutive steps, and what a beginning step
    leaves in the memory remains."""
    # One by one: where functions are inlined, numba loses writes through a tuple that was unpacked.
    core, work, track = stepper.core, stepper.work, stepper.track
    functions, settings = stepper.functions, stepper.settings
    for b in range(starts.out.shape[0]):
        remember_at(b, core, track, functions, starts)
        if begins:
            begin_at(b, starts, core, work, track, settings)
            begin_step(0, core, work, track, functions, settings)


remember_in_python = python_of(remember_at)


def starts_of(base: Run, s: CaseStepper, at: NDArray[np.int64]) -> Starts:
    """Return the starts before the steps `at` of a run, as if the formulation of `s` had made it up to there."""
    case, hooks, p = base.case, s.c.hooks, base.record.p
    # A memory of the formulation's own may reach further back than the last step.
    keeps = bool(at.size) and (hooks.remember is not None or hooks.memory is not None)
    k, r = np.arange(at[-1] + 1) if keeps else at, case.size[2]
    starts, later = Starts.of(s, base.states_q[k], base.states_v[k], np.tile(case.data(), (k.size, 1))), k > 0
    # Round-off may leave a normal impulse below zero, which is not allowed for a bound on friction.
    answers = np.concatenate([base.v_after, np.maximum(p[:, :r], 0.0), p[:, r:]], axis=1)
    starts.out[later] = answers[k[later] - 1]
    if s.c.formulation == base.formulation:
        starts.z[later] = base.record.z[k[later] - 1]
    v_before, since = schemes_memory(base, s)
    starts = starts._replace(v_before=v_before[k], since=since[k])
    if s.is_compiled:
        remember_each(keeps, s.stepping, starts)
    else:
        for b in range(k.size):
            remember_in_python(b, s.core, s.track, s.stepping.functions, starts)
            if keeps:
                begin_at(b, starts, s.core, s.work, s.track, s.stepping.settings)
                begin_in_python(0, *s.stepping)
    return starts.some(at) if keeps else starts


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
    parts = base.parts if isinstance(base, RunOfParts) else (base,)
    found = [_of_part(part, formulation, solver, at, relaxation, passes) for part in parts]
    if not isinstance(base, RunOfParts):
        return found[0]
    worst = max(found, key=lambda x: (x.status is not Status.SOLVED, x.status is not Status.INACCURATE))
    statuses = np.array([x.statuses for x in found])
    # The status of a step is the worst among its parts.
    order = np.where(statuses == SOLVED, 0, np.where(statuses == INACCURATE, 1, 2))
    record: Any = RecordOfParts(found)
    return LocalStepsOfParts(
        base.case, formulation, solver.name, worst.kind, solver.tolerance, worst.course, worst.status, worst.reason,
        worst.build_time, sum(x.solve_time for x in found), record, None,
        dict(sum((Counter(x.others) for x in found), Counter())), parts=tuple(found), base=base, numbers=at,
        after_q=np.concatenate([x.after_q for x in found], axis=1),
        statuses=statuses[order.argmax(axis=0), np.arange(at.size)],
    )  # fmt: skip


def _of_part(
    base: Run, formulation: Formulation, solver: Solver, at: NDArray[np.int64], relaxation: Relaxation | None,
    passes: int,
) -> LocalSteps:  # fmt: skip
    """`local_steps` of a case without parts."""
    case, course = base.case, replace(base.course, steps=1, passes=passes)
    if relaxation is not None:
        course = replace(course, relaxation=relaxation)
    s = CaseStepper(case, formulation, solver, course)
    made = s.run_from(starts_of(base, s, at), spare=0)
    ends, failing = made.ends, np.flatnonzero(made.ends.done == 0)
    ends.q[failing], rows = np.nan, ends.rows[:, 0]
    without_answers(s, rows[:, s.track.q.size + s.core.recorded.size :], failing)
    status, reason = Status(max(ends.status, default=SOLVED)), ""
    if failing.size:
        k, status = int(at[failing[0]]), Status(ends.status[failing[0]])
        reason = f"step {k} (t = {k * base.h:.4g} s): {made.reasons[failing[0]] or status.meaning}"
    return LocalSteps(
        case, formulation, s.solver.name, s.c.kind, s.solver.tolerance, replace(course, steps=at.size), status, reason,
        s.c.seconds, made.seconds, columns(s.core, s.work, rows, ends.effort[:, 0]), s.c,
        dict(sum(made.others.values(), Counter())), base, at, ends.status, ends.q,
    )  # fmt: skip


def onward(base: Run, formulation: Formulation, solver: Solver, starts: Sequence[int], steps: int) -> list[Run]:
    """Return runs of `steps` steps from the state before each of the steps `starts` of `base`, a run without parts.

    They begin as if the formulation had made `base` up to there: its memory of the step before is that of `base`, as
    are step size [s], normal law, position update and relaxation. A run that fails ends early, with its status. Raises
    DataError unless `starts` are numbers of steps of `base` in increasing order.
    """
    if any(not 0 <= k < base.steps for k in starts) or list(starts) != sorted(set(starts)):
        raise DataError(f"starts {list(starts)}; increasing numbers from 0 to {base.steps - 1} are needed")
    s = CaseStepper(base.case, formulation, solver, replace(base.course, steps=steps, passes=PASSES))
    made = s.run_from(starts_of(base, s, np.array(starts, dtype=np.int64)))
    return [made.run(b, base.case) for b in range(len(starts))]


def without_answers(s: CaseStepper, solved: Array, failing: NDArray[np.int64]) -> None:
    """Take the answers out of the rows `solved` (K, .) of `Work.recorded` that are `failing`."""
    start, some = s.work.place("recorded").start, solved[failing]
    for name, place in ((x, s.work.place(x)) for x in ("out", "z", "posed")):
        part = some[:, place.start - start : place.stop - start]
        if name != "posed":
            part[:] = np.nan
        else:
            # Residuals are computed for all rows at once, and must not see data that are not finite.
            part[~np.isfinite(part).all(axis=1)] = 0.0
    solved[failing] = some


def schemes_memory(base: Run, s: CaseStepper) -> tuple[Array, NDArray[np.int64]]:
    """Return `Starts.v_before` and `Starts.since` of all steps of a run; `s` follows its case."""
    r, v, t = base.case.size[2], base.states_v, s.track
    before, since = v[:-1].copy(), np.zeros((base.steps, 3 * r), dtype=np.int64)
    if base.scheme.kind != MIDPOINT:
        return before, since
    theta = np.where((base.v_after == v[1:]).all(axis=1), 1.0, base.scheme.theta)
    before[1:] = np.where(theta[:-1, None] < 1.0, v[:-2], v[1:-1])
    functions, settings = s.stepping.functions, s.stepping.settings
    since[:1] = t.since.ravel()
    for k in range(1, base.steps):
        t.q, t.v, t.v_before, t.theta = base.states_q[k - 1], v[k - 1], before[k - 1], theta[k - 1]
        evaluate(s.core, t, functions, settings)
        s.core.b = base.record.b[k - 1]
        count(s.core, t.since, base.v_after[k - 1].copy(), base.p_n[k - 1].copy())
        since[k] = t.since.ravel()
    t.theta = base.scheme.theta
    return before, since
