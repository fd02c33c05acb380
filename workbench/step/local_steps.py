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
from typing import Any

import numpy as np
from numba import njit, types
from numpy.typing import ArrayLike, NDArray

from workbench.algorithms.base import Solver
from workbench.algorithms.escalation import in_steps
from workbench.engine.compiling import kernel
from workbench.engine.interpreted import python_of
from workbench.engine.kernels import copy, is_finite
from workbench.engine.timing import clock
from workbench.language.assemble.find import compiled
from workbench.language.formulation import Formulation
from workbench.mechanics.relaxation import Relaxation
from workbench.problems.solution import Status
from workbench.step.record import columns
from workbench.step.run import Run
from workbench.step.run_of_parts import PartIndices, RecordOfParts, RunOfParts
from workbench.step.scheme import MIDPOINT, count
from workbench.step.starts import STARTS, Ends, Starts, begin_at, run_from
from workbench.step.stepper import STEPPING, Stepper, evaluate
from workbench.step.stepping import PASSES, begin_step
from workbench.step.whole import is_compiled
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


def starts_of(base: Run, formulation: Formulation, s: Stepper, solver: Solver, at: NDArray[np.int64]) -> Starts:
    """Return the starts before the steps `at` of a run, as if `formulation` had made it up to there."""
    case, c, p = base.case, s.c, base.record.p
    # A memory of the formulation's own may reach further back than the last step.
    keeps = bool(at.size) and (c.hooks.remember is not None or c.hooks.memory is not None)
    k, r = np.arange(at[-1] + 1) if keeps else at, case.size[2]
    starts, later = Starts.of(s, base.states_q[k], base.states_v[k], np.tile(case.data(), (k.size, 1))), k > 0
    # Round-off may leave a normal impulse below zero, which is not allowed for a bound on friction.
    answers = np.concatenate([base.v_after, np.maximum(p[:, :r], 0.0), p[:, r:]], axis=1)
    starts.out[later] = answers[k[later] - 1]
    if formulation == base.formulation:
        starts.z[later] = base.record.z[k[later] - 1]
    v_before, since = schemes_memory(base, s)
    starts = starts._replace(v_before=v_before[k], since=since[k])
    if is_compiled(case, solver, c.kind):
        remember_each(keeps, s.stepping(case, solver), starts)
    else:
        functions, settings = s.functions(case), s.settings()
        for b in range(k.size):
            remember_in_python(b, s.core, s.track, functions, starts)
            if keeps:
                begin_at(b, starts, s.core, s.work, s.track, settings)
                s.begin_case(case, 0)
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
    s.follow(case, relaxation, 1)
    solver, ends = in_steps(solver, c.kind), Ends.unset(s, count, 1)
    starts, begun = starts_of(base, formulation, s, solver, at), clock()
    reasons, others = run_from(case, s, solver, starts, ends)
    seconds, failing = clock() - begun, np.flatnonzero(ends.done == 0)
    ends.q[failing], rows = np.nan, ends.rows[:, 0]
    without_answers(s, rows[:, s.track.q.size + s.core.recorded.size :], failing)
    status, reason = Status(max(ends.status, default=SOLVED)), ""
    if failing.size:
        k, status = int(at[failing[0]]), Status(ends.status[failing[0]])
        reason = f"step {k} (t = {k * base.h:.4g} s): {reasons[failing[0]] or status.meaning}"
    return LocalSteps(
        case, formulation, solver.name, c.kind, solver.tolerance, base.h, base.scheme, base.normal, relaxation,
        status, reason, count, c.seconds, seconds, columns(s.core, s.work, s.track, rows, ends.effort[:, 0]), c,
        dict(sum(others.values(), Counter())), base, at, ends.status, ends.q,
    )  # fmt: skip


def without_answers(s: Stepper, solved: Array, failing: NDArray[np.int64]) -> None:
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


def schemes_memory(base: Run, s: Stepper) -> tuple[Array, NDArray[np.int64]]:
    """Return `Starts.v_before` and `Starts.since` of all steps of a run; `s` follows its case."""
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
