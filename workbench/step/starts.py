"""Runs of one declaration from many starts: the parts of a case, and steps from the states of another run.

One compiled loop makes all steps from one start before the next. Where a solver or a case is not compiled, and from
starts where the compiled loop ends early, the loop over the steps of a whole case takes over (`whole.loop_of`).
"""

from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numba import types

from workbench.algorithms.base import Solver
from workbench.algorithms.escalation import HOPELESS, Chain
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR, copy, copy_at
from workbench.language.assemble.plan import WORK
from workbench.mechanics.case import Case
from workbench.mechanics.core import CORE
from workbench.problems.solution import Status
from workbench.step import stepping
from workbench.step.record import RunRecord, columns, width
from workbench.step.scheme import SINCE
from workbench.step.stepper import STEPPING, Stepper
from workbench.step.stepping import SETTINGS, TRACK
from workbench.step.whole import is_compiled, loop_of
from workbench.support.arrays import Array

I64 = types.int64
CUBE, COUNTS = types.Array(types.float64, 3, "C"), types.Array(types.int64, 3, "C")


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
    def unset(cls, s: Stepper, count: int, steps: int, more: int = 0) -> "Ends":
        """Room for so many, with `more` rows for each; raises DataError if memory does not suffice."""
        t = s.track
        across = width(s.core, s.work, t.q.size, count * (steps + more))
        return cls(
            np.empty((count, steps + more, across)), np.zeros((count, steps, 2), dtype=np.int64),
            np.empty((count, t.q.size)), np.empty((count, t.v.size)),
            *(np.zeros(count, dtype=np.int64) for _ in range(2)),
        )  # fmt: skip

    def record(self, s: Stepper, b: int) -> RunRecord:
        """The finished steps of run b, whose last state takes a row of `rows`."""
        k, n_q = self.done[b], self.q.shape[1]
        self.rows[b, k, :n_q], self.rows[b, k, n_q : n_q + self.v.shape[1]] = self.q[b], self.v[b]
        return columns(s.core, s.work, s.track, self.rows[b, : k + 1], self.effort[b, :k])


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


def run_from(
    case: Case, s: Stepper, solver: Solver, starts: Starts, ends: Ends, progress: Callable[[int], None] | None = None
) -> tuple[list[str], dict[int, Counter[str]]]:
    """Make the runs of a case from all starts, `s` following the case for as many steps.

    `solver` is that of a step (`escalation.in_steps`). `ends` receives the steps. Returns the reason for each run that
    ended early, "" for the others, and for some runs how many steps other methods have solved, by their names. The loop
    over a whole case makes the first run; a solver that refuses it refuses all. After `HOPELESS` starts in a row
    without a verified answer a compiled method goes on alone. `progress` is called with the number of runs made.
    """
    count, steps = len(starts.q), ends.effort.shape[1]
    loop, fast = loop_of(case, solver, s.c.kind), is_compiled(case, solver, s.c.kind)
    settings, others = s.settings(solver), defaultdict[int, Counter[str]](Counter)
    reasons, lost, chunk = [""] * count, 0, max(1, count if progress is None else count // 50)
    for a, end in pairwise([0, *range(min(1, count), count, chunk), count]):
        if fast and a:
            run_each(a, end, starts, s.stepping(case, solver), ends)
        for b in range(a, end):
            if fast and a and ends.done[b] == steps:
                lost = 0
                continue
            hopeless = lost >= HOPELESS
            if hopeless and fast:
                alone = s.stepping(case, solver)._replace(settings=settings._replace(strict=False))
                run_each(b, b + 1, starts, alone, ends)
                continue
            begin_at(b, starts, s.core, s.work, s.track, settings)
            if hopeless:
                s.begin_case(case, 0)
                status, done = Status.REFUSED, 0
            else:
                status, reasons[b], done = loop(case, s, solver, steps, None, others[b])
            end_at(b, done, s.core, s.work, s.track, ends)
            ends.status[b] = status
            lost = lost + 1 if status is not Status.SOLVED and (fast or isinstance(solver, Chain)) else 0
            if not a and status is Status.REFUSED:
                fast, lost = False, HOPELESS
        if progress:
            progress(end)
    return reasons, others
