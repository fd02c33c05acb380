"""Steps of a case under a formulation by a solver, one after the other: from the case's start, or from many states.

The loop over the steps is compiled if the case and the solver are (`stepping.run`); else, and at a step that the
compiled loop does not solve, the same step is made in Python. Parts of a case, and steps from the states of another
run, are runs of one declaration from many starts: one compiled loop makes all steps from one start before the next.
"""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numba import types

from workbench.algorithms.base import Solver
from workbench.algorithms.escalation import HOPELESS, Chain, in_steps
from workbench.algorithms.paths import objection
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.interpreted import interpreting
from workbench.engine.kernels import INDICES, MATRIX, VECTOR, copy, copy_at
from workbench.engine.timing import clock
from workbench.language.assemble.find import compiled
from workbench.language.assemble.plan import WORK
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.mechanics.core import CORE
from workbench.problems.solution import Solution, Status
from workbench.step import stepping
from workbench.step.record import RunRecord, columns, width
from workbench.step.run import Course, Run
from workbench.step.scheme import SINCE
from workbench.step.stepper import STEPPING, Stepper, Stepping, begin_step, end_step
from workbench.step.stepping import SETTINGS, TRACK
from workbench.support.arrays import Array
from workbench.support.errors import DataError

I64 = types.int64
CUBE, COUNTS = types.Array(types.float64, 3, "C"), types.Array(types.int64, 3, "C")
ANSWERED = Status.SOLVED, Status.INACCURATE


class Starts(NamedTuple):
    """What runs begin with, one row for each of B starts.

    The state q (B, n_q), v (B, n); the case's `data`; the formulation's `memory`; `out`, the answer of the step before,
    and the guess z, in the layout of `Work`; the scheme's own memory (`RunBuffer`), `since` as (B, 3 r). `core` (.,)
    are the numbers of the core, the same for all.
    """

    q: Array
    v: Array
    data: Array
    memory: Array
    out: Array
    z: Array
    v_before: Array
    since: np.ndarray
    core: Array

    @classmethod
    def of(cls, s: Stepper, q: Any, v: Any, data: Any) -> "Starts":
        """From states without a past, as `s` follows a case of this kind."""
        t, count = s.track, len(q)
        q, v, data = (np.array(x, dtype=float) for x in (q, v, data))
        memory, out = np.full((count, t.memory.size), np.nan), np.full((count, s.work.out.size), np.nan)
        since = np.repeat(t.since.reshape(1, -1), count, axis=0)
        return cls(q, v, data, memory, out, np.zeros((count, s.work.z.size)), v.copy(), since, s.core.buffer.copy())

    def some(self, rows: Any) -> "Starts":
        """Those in these rows."""
        return self._replace(**{name: getattr(self, name)[rows] for name in self._fields if name != "core"})


class Ends(NamedTuple):
    """What became of B runs of up to K steps: their rows (B, K or more, .) and effort (B, K, 2) as in `RunBuffer`, the
    last q (B, n_q), v (B, n), the `Status` and the number of finished steps `done` (B,).

    The row after the last finished step holds the step that failed, as far as that got.
    """

    rows: Array
    effort: np.ndarray
    q: Array
    v: Array
    status: np.ndarray
    done: np.ndarray

    @classmethod
    def unset(cls, s: "CaseStepper", count: int, spare: int) -> "Ends":
        """Room for so many, with `spare` rows for each; raises DataError if memory does not suffice."""
        t, steps = s.track, s.course.steps
        across = width(s.core, s.work, t.q.size, count * (steps + spare))
        return cls(
            np.empty((count, steps + spare, across)), np.zeros((count, steps, 2), dtype=np.int64),
            np.empty((count, t.q.size)), np.empty((count, t.v.size)),
            *(np.zeros(count, dtype=np.int64) for _ in range(2)),
        )  # fmt: skip


STARTS = argument_type(Starts, *(MATRIX,) * 7, SINCE, VECTOR)
ENDS = argument_type(Ends, CUBE, COUNTS, MATRIX, MATRIX, INDICES, INDICES)


@kernel(types.void(I64, STARTS, CORE, WORK, TRACK, SETTINGS))
def begin_at(b, starts, core, work, track, settings):
    """Go to start b."""
    copy(starts.core, core.whole)
    copy(starts.out[b], work.out)
    copy(starts.z[b], work.z)
    copy(starts.memory[b], track.memory)
    copy(starts.q[b], track.q)
    copy(starts.v[b], track.v)
    copy(starts.data[b], track.data)
    copy(starts.v_before[b], track.v_before)
    track.theta[0] = settings.theta
    for i in range(track.since.shape[0]):
        for j in range(track.since.shape[1]):
            track.since[i, j] = starts.since[b, 3 * i + j]


@kernel(types.void(I64, I64, CORE, WORK, TRACK, ENDS))
def end_at(b, done, core, work, track, ends):
    """Take what `track` and `work` hold for run b, of which so many steps are done."""
    for k in range(min(done + 1, ends.effort.shape[1])):
        copy(track.rows[k], ends.rows[b, k])
        ends.effort[b, k, 0], ends.effort[b, k, 1] = track.effort[k, 0], track.effort[k, 1]
    if done < ends.effort.shape[1]:
        copy_at(work.recorded, ends.rows[b, done], track.q.shape[0] + core.recorded.shape[0])
    copy(track.q, ends.q[b])
    copy(track.v, ends.v[b])
    ends.done[b] = done


@kernel(types.void(I64, I64, STARTS, STEPPING, ENDS), nogil=True)
def run_each(first, last, starts, stepper, ends):
    """Call `stepping.run` from the starts `first` to `last`, each independently."""
    # One by one: where functions are inlined, numba loses writes through a tuple that was unpacked.
    core, work, track = stepper.core, stepper.work, stepper.track
    functions, settings = stepper.functions, stepper.settings
    finished, steps = np.zeros(1, dtype=np.int64), ends.effort.shape[1]
    for b in range(first, last):
        begin_at(b, starts, core, work, track, settings)
        ends.status[b] = stepping.run(0, steps, core, work, track, functions, settings, finished)
        end_at(b, finished[0], core, work, track, ends)


class CaseStepper(Stepper):
    """A stepper that follows a case, with the solver of its steps, and the loops over these.

    `stepping` is what the loops make steps with, compiled where `is_compiled`: bridges between kinds of problems, and
    cases in Python, need Python.
    """

    def __init__(self, case: Case, formulation: Formulation, solver: Solver, course: Course) -> None:
        c = compiled(formulation, *case.size)
        super().__init__(c, course.h, course.normal, case.v_th, course.passes, course.scheme)
        self.follow(case, course.relaxation, course.steps)
        self.course, self.solver = course, in_steps(solver, c.kind)
        solve: Any = getattr(self.solver, "kernel", None)
        self.is_compiled = solve is not None and c.kind in self.solver.solves and case.is_compiled
        functions, settings = self.functions(case, solve if self.is_compiled else None), self.settings(self.solver)
        self.stepping = Stepping(self.core, self.work, self.track, functions, settings)

    def record(self, rows: np.ndarray, effort: np.ndarray, q: Array, v: Array) -> RunRecord:
        """Return the columns of k steps from their rows and efforts (k, 2); the state q, v takes a row more."""
        k, n_q = len(effort), q.size
        rows[k, :n_q], rows[k, n_q : n_q + v.size] = q, v
        return columns(self.core, self.work, rows[: k + 1], effort)

    def as_run(
        self, case: Case, status: Status, reason: str, seconds: float, record: RunRecord, others: Counter[str]
    ) -> Run:
        """The finished steps of a case of this kind as a `Run`; if they are not all, the reason says after which."""
        k, course = len(record.p), self.course
        if status is not Status.SOLVED and k < course.steps:
            reason = f"step {k} (t = {k * course.h:.4g} s): {reason or status.meaning}"
        return Run(
            case, self.c.formulation, self.solver.name, self.c.kind, self.solver.tolerance, course, status, reason,
            self.c.seconds, seconds, record, self.c, dict(others),
        )  # fmt: skip

    def run_from(self, starts: Starts, progress: Callable[[int], None] | None = None, *, spare: int = 1) -> "RunsMade":
        """Make the runs from all starts.

        The loop over a whole case makes the first run; a solver that refuses it refuses all. After `HOPELESS` starts in
        a row without a verified answer a compiled method goes on alone. `progress` is called with the number of runs
        made, `spare` is that of `Ends.unset`.
        """
        count, steps, begun = len(starts.q), self.course.steps, clock()
        ends, others = Ends.unset(self, count, spare), defaultdict[int, Counter[str]](Counter)
        alone = self.stepping._replace(settings=self.stepping.settings._replace(strict=False))
        reasons, lost, chunk = [""] * count, 0, max(1, count if progress is None else count // 50)
        fast = self.is_compiled
        for a, end in pairwise([0, *range(min(1, count), count, chunk), count]):
            if fast and a:
                run_each(a, end, starts, self.stepping, ends)
            for b in range(a, end):
                if fast and a and ends.done[b] == steps:
                    lost = 0
                    continue
                hopeless = lost >= HOPELESS
                if hopeless and fast:
                    run_each(b, b + 1, starts, alone, ends)
                    continue
                begin_at(b, starts, self.core, self.work, self.track, self.stepping.settings)
                if hopeless:
                    begin_step(0, *self.stepping)
                    status, done = Status.REFUSED, 0
                else:
                    status, reasons[b], done = self.loop(others[b])
                end_at(b, done, self.core, self.work, self.track, ends)
                ends.status[b] = status
                unsolved = status is not Status.SOLVED and (fast or isinstance(self.solver, Chain))
                lost = lost + 1 if unsolved else 0
                if not a and status is Status.REFUSED:
                    fast, lost = False, HOPELESS
            if progress:
                progress(end)
        return RunsMade(self, ends, reasons, others, clock() - begun)

    def loop(self, others: Counter[str], progress: Callable[[int], None] | None = None) -> tuple[Status, str, int]:
        """Make the steps from the state of `track`: returns the status, the reason, and how many were finished.

        `others` receives how many steps other methods have solved, by their names; `progress` is called occasionally
        with the number of finished steps.
        """
        return (self._compiled_loop if self.is_compiled else self._python_loop)(others, progress)

    def _compiled_loop(self, others: Counter[str], progress: Callable[[int], None] | None) -> tuple[Status, str, int]:
        # `why_not` is called once, with the first step's problem: kernels themselves never refuse. `run` begins that
        # step again, so memory written by its hooks must be restored.
        steps, solver, track, memory = self.course.steps, self.solver, self.track, self.memory.copy()
        with interpreting(self.work.out.size):
            begin_step(0, *self.stepping)
            self.memory[:] = memory
            try:
                reason = solver.why_not(self.problem())
            except DataError as error:
                return self._posing_failure(), str(error), 0
        if reason:
            return Status.REFUSED, reason, 0
        chunk, now = steps if progress is None else max(200, steps // 50), self.stepping
        worst, done, lost = Status.SOLVED, np.zeros(1, dtype=np.int64), 0
        while done[0] < steps:
            end = min(steps, int(done[0]) + chunk)
            status = Status(stepping.run(int(done[0]), end, *now, done))
            k = int(done[0])
            if k < end:
                posed = self.pose()
                if posed is not Status.SOLVED:
                    return self._posing_failure(), self.why_not_posed(posed), k
                if status is Status.NO_FIXED_POINT or not now.settings.strict:
                    return status, self.why_unsettled(solver) if status is Status.NO_FIXED_POINT else "", k
                # From the pass that the compiled loop did not solve.
                solution, finished = self._step(k, others, (track.effort[k, 0], track.effort[k, 1]))
                status, done[0] = solution.claimed, k + finished
                if status not in ANSWERED:
                    return status, solution.reason, k
                lost = 0 if solution.verified else lost + 1
                now = now._replace(settings=now.settings._replace(strict=lost < HOPELESS))
            if progress is not None:
                progress(int(done[0]))
            if status is Status.INACCURATE:
                worst = status
        return worst, "", steps

    def _python_loop(self, others: Counter[str], progress: Callable[[int], None] | None) -> tuple[Status, str, int]:
        worst, k = Status.SOLVED, 0
        while k < self.course.steps:
            begin_step(k, *self.stepping)
            try:
                if k == 0 and (reason := objection(self.solver, self.problem())):
                    return Status.REFUSED, reason, k
                solution, finished = self._step(k, others)
            except DataError as error:
                return self._posing_failure(), str(error), k
            if solution.claimed not in ANSWERED:
                return solution.claimed, solution.reason, k
            worst = max(worst, solution.claimed, key=ANSWERED.index)
            if progress is not None and k % 100 == 99:
                progress(k + 1)
            k += finished
        return worst, "", self.course.steps

    def _step(self, k: int, others: Counter[str], done: tuple[int, int] = (0, 0)) -> tuple[Solution, bool]:
        """Make step k, which has begun, in Python; `done` are its iterations and passes so far.

        The second result is False if there is no answer, or the step must be repeated (`end_step`).
        """
        solution, *effort = self.solve(self.solver, done)
        if solution.claimed in ANSWERED and not np.isfinite(self.work.out).all():
            solution = replace(solution, claimed=Status.NOT_FINITE, reason="")
        if solution.claimed not in ANSWERED:
            return solution, False
        finished = end_step(k, *self.stepping)
        self.track.effort[k] = effort
        if solution.solver != self.solver.name:
            others[solution.solver] += 1
        return solution, finished

    def _posing_failure(self) -> Status:
        """Return why there is no problem in the work arrays."""
        return Status.SINGULAR if np.isfinite(self.work.A).all() else Status.NOT_FINITE


@dataclass(frozen=True, eq=False)
class RunsMade:
    """Runs that a stepper has made from B starts, in so many seconds: their `ends`, the reason for each that ended
    early, "" for the others, and for some how many steps other methods have solved, by their names."""

    stepper: CaseStepper
    ends: Ends
    reasons: list[str]
    others: dict[int, Counter[str]]
    seconds: float

    def run(self, b: int, case: Case) -> Run:
        """Run b, which is one of this case; its last state takes a spare row."""
        s, x, k = self.stepper, self.ends, self.ends.done[b]
        record = s.record(x.rows[b], x.effort[b, :k], x.q[b], x.v[b])
        return s.as_run(case, Status(x.status[b]), self.reasons[b], self.seconds / len(x.q), record, self.others[b])
