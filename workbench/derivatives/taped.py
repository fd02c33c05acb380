"""Compiled sweeps over a recorded motion, with a tape of each step's data.

A tape holds for all steps whose evaluations take the same branches. The first step that takes others is recorded, and
all tapes are kept for later motions with the same mechanics and hooks.
"""

from collections.abc import Callable, Hashable
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from workbench.derivatives import slopes, sweep
from workbench.derivatives.columns import padded
from workbench.derivatives.one_step import DataSlope
from workbench.derivatives.recording import (
    UNRECORDABLE,
    BetweenModesError,
    Recorder,
    frictionless,
    recordable,
    with_numbers,
)
from workbench.derivatives.slopes import Machine, Sweep
from workbench.derivatives.system import empty_system
from workbench.derivatives.tape import OTHER, SAME, TIED, Tape, evaluate, path
from workbench.problems.problem import Indices
from workbench.problems.sets import APART, NO_CONE, Sets
from workbench.step.stepper import Stepper
from workbench.step.stepping import Functions, StepSettings
from workbench.support.arrays import Array

WAYS, FAILURES = 64, 3
"""Tapes kept for a system; failures to record a step after which no other is tried."""


@lru_cache(maxsize=64)
def _tapes(system: Hashable) -> list[Tape]:
    """The tapes of a system so far."""
    return []


def system_of(m: Machine) -> Hashable:
    """What the data of a step depend on beside its inputs."""
    core, f, t = m.core, m.functions, m.track
    numbers = [np.array([core.h, core.law, core.v_th]), t.numbers, t.own_start, t.relaxation]
    sizes = *core._sizes, m.sweep.n_w, m.sweep.n_y
    return f.fill, f.advance, f.given, f.again, m.settings, sizes, b"".join(x.tobytes() for x in numbers)


def are_supported(sets: Sets) -> bool:
    """Return whether compiled derivatives take a problem's sets: none has several coefficients or separate discs."""
    return not (APART in sets.cone or (np.diff(sets.at) > 1).any())


def machine_of(
    s: Stepper, functions: Functions, settings: StepSettings, n_w: int, others: int, K: int = 0
) -> Machine:  # fmt: skip
    """Data of compiled derivatives of a stepper's steps of n_w inputs, with room for K tangents; `others` counts the
    data of a step besides the parameters of its mixed system and the axes in use."""
    work, core, sets = s.work, s.core, s.c.sets
    room = Sweep(
        n_o=work.out.size, n_w=n_w, n_y=core.theta.size + core.frame.size + others, n_f=work.X.shape[0],
        X=sets.order.size, B=sets.cone.size, columns=work.A.shape[1], nnz=work.at.size, K=padded(K),
    )  # fmt: skip
    room.order, room.coefficient = sets.order, np.where(sets.cone == NO_CONE, -1, sets.at[:-1])
    room.row_of, room.column_of = np.divmod(work.at, work.A.shape[1])
    system = empty_system(sets.first, sets.cone)
    system.still = s.c.still[sets.order]
    return Machine(core, work, s.track, functions, settings, system, room, widened(None, K))


def to_record(m: Machine) -> Any:
    """The data of a step and its functions, to be interpreted with recorded numbers."""
    f = m.functions
    of = {name: recordable(getattr(f, name)) for name in ("fill", "advance", "given", "again")}
    return SimpleNamespace(
        core=with_numbers(m.core), work=SimpleNamespace(out=m.work.out.astype(object)), track=with_numbers(m.track),
        functions=f._replace(**of, lcp=frictionless(f.lcp)), settings=m.settings,
    )  # fmt: skip


def recorded(m: Machine, x: Array, passes: int = 0, settles: bool = False) -> Tape:
    """The tape of a step's data and of its passes at the inputs x [those of the step; own data of the settling pass,
    outputs of all passes], without tangents. Raises one of `UNRECORDABLE`."""
    n_w, n_o, n_q, n_own = m.sweep.n_w, m.work.out.size, m.track.q.size, m.core.own.size
    n, r, t = m.core.v.size, m.core.mu.size, m.core.b_t.size
    sizes = np.abs(x)
    # Coordinates and velocities; impulses and data have their own size.
    sizes[: n_q + n] += 1.0
    for p in range(passes):
        sizes[n_w + n_own + p * n_o :][:n] += 1.0
    recorder, with_tape = Recorder(x, sizes), to_record(m)
    given, y = np.array(recorder.x, dtype=object), np.full(m.sweep.n_y, 0.0, dtype=object)
    core, memory, after = with_tape.core, with_tape.track.memory, []
    with np.errstate(all="ignore"):
        recordable(slopes.contact_data)(with_tape, given[:n_w], y)
        if settles:
            core.own[:] = given[n_w : n_w + n_own]
        for p in range(passes):
            out = given[n_w + n_own + p * n_o :][:n_o]
            v, p_n, p_t = out[:n], out[n : n + r], out[n + r : n + r + t]
            with_tape.functions.again(core, memory, core.own, with_tape.track.numbers, v, p_n, p_t)
            after.append(core.own.copy())
        # Passes change the memory behind the last impulses.
        rest = memory[r + t :]
        y[y.size - n_q - rest.size : y.size - n_q] = rest
        late = len(recorder.operations)
        recordable(slopes.coordinates_after)(with_tape, given[:n_w], y)
    return recorder.tape(np.concatenate([y, *after]), late)


class Tapes:
    """The tapes of a system, which are kept for the process, and failures to record another one.

    is_between: whether the last one was sought on the border of two modes.
    """

    def __init__(self, system: Hashable) -> None:
        self.known, self.failures, self.is_between = _tapes(system), 0, False

    def at(self, x: Array, record: Callable[[], Tape]) -> Tape | None:
        """A tape that holds at the inputs x, recorded if need be; None if there is none."""
        # A tape of a step whose conditions hold just so holds there no better when it is recorded again.
        found = next((tape for wanted in (SAME, TIED) for tape in self.known if _path(tape, x) == wanted), None)
        self.is_between = False
        if found is None and self.failures < FAILURES:
            try:
                found = record()
            except BetweenModesError:
                self.is_between = True
            except UNRECORDABLE:
                self.failures += 1
            else:
                self.known.append(found)
                del self.known[:-WAYS]
        return found if found is not None and _path(found, x) != OTHER else None


class TapedSweeps:
    """Sweeps of a machine over the steps of a record (`sweep`), K tangents at once, with the tapes that hold there."""

    def __init__(self, machine: Machine, K: int) -> None:
        self.machine, self.K, self.tapes = machine._replace(tape=widened(None, K)), K, Tapes(system_of(machine))

    @property
    def room(self) -> Any:
        """The work space."""
        return self.machine.sweep

    def ahead(self, start: int, end: int, rows: Array, tangents: Array, modes: Indices, notes: Indices) -> int:
        """`sweep.ahead`: the first step that is left to the caller, or `end`."""

        def by(machine: Machine, k: int, end: int) -> int:
            return int(sweep.ahead(k, end, rows, tangents, modes[k - start :], notes[k - start :], machine))

        k, untaped = start, self.machine._replace(tape=widened(None, self.K))
        while k < end:
            if self._begin(k, rows):
                k = by(self.machine, k, end)
                if k == end or (self.room.way[0] == OTHER and self._fit()):
                    continue
            # Differences serve on the border of two tapes, and where the data amplify rounding.
            if not self._is_off_tape() or by(untaped, k, k + 1) == k:
                return k
            notes[k - start] |= sweep.BESIDE
            k += 1
        return k

    def back(self, end: int, start: int, rows: Array, given: Array, due: Array) -> int:
        """`sweep.back`: the step after the one that is left to the caller, or `start`."""
        if not self._begin(end - 1, rows):
            return end
        k = end
        while True:
            k = int(sweep.back(k, start, rows, given, due, np.empty(due.size), self.machine))
            if k == start or self.room.way[0] != OTHER or not self._fit():
                return k

    def slopes(self, tangents: Array) -> list[DataSlope] | None:
        """The tangents of the data of the step that was left to the caller, along those of its inputs (K, n_x); None
        without a tape, and at a kink."""
        if self._is_off_tape() or not sweep.slopes_along(self.machine, tangents):
            return None
        return [DataSlope(along.copy(), self.room.way[0] == TIED) for along in self.room.dy[:, : len(tangents)].T]

    def _is_off_tape(self) -> bool:
        """Return whether the step that was left has no tape, or other data than its tape."""
        m = self.machine
        return m.tape.n_out == 0 or not sweep.is_on_tape(m) or self.room.way[0] == OTHER

    def _begin(self, k: int, rows: Array) -> bool:
        """Look for a tape of step k if there is none so far; return False where the step is between two modes."""
        if self.machine.tape.n_out:
            return True
        sweep.recall(k, rows, self.machine)
        return self._fit() or not self.tapes.is_between

    def _fit(self) -> bool:
        """Take a tape that holds at the inputs in the work space; return whether there is one."""
        found = self.tapes.at(self.room.x, lambda: recorded(self.machine, self.room.x))
        self.machine = self.machine._replace(tape=widened(found, self.K))
        return found is not None


def _path(tape: Tape, x: Array) -> int:
    evaluate(tape, x)
    return int(path(tape))


def widened(tape: Tape | None, K: int) -> Tape:
    """The tape with room for K tangents, or an empty one."""
    if tape is None:
        return Tape(n_in=0, n_out=0, N=0, n_if=0, n_ties=0, K=padded(K))
    found = Tape(**dict(zip(Tape.sizes, tape._sizes, strict=True)) | {"K": padded(K)})
    # The tangents come last.
    found.buffer[: tape.buffer.size] = tape.buffer
    return found
