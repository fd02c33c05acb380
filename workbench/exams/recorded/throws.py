"""Many throws of one body at once, in compiled loops without Python between them; only poses are kept.

    states, status = Thrower(body, 1 / 592, 4).throw(subject, starts, samples, mu=0.18, e=0.0)

A run of the workbench keeps every step's problem, which for a million steps does not fit into memory. If the
compiled method fails at a step, the other methods of its chain take over (`escalation`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import types

from workbench.algorithms.escalation import Chain, default_solver
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR, copy, set_all
from workbench.exams.recorded.body import Body
from workbench.exams.recorded.tossed import MU, tossed
from workbench.language.assemble.find import compiled
from workbench.language.assemble.plan import WORK
from workbench.language.formulation import Formulation
from workbench.mechanics.relaxation import RIGID, Relaxation
from workbench.problems.solution import Status
from workbench.step import stepping
from workbench.step.simulation import simulate
from workbench.step.stepper import STEPPING, Stepper, Stepping
from workbench.step.stepping import TRACK
from workbench.step.whole import posing_failure, take_over
from workbench.support.arrays import Array
from workbench.support.errors import DataError

CUBE = types.Array(types.float64, 3, "C")
I64 = types.int64
STATE = 13
"""Numbers of a state: position, quaternion, velocity, angular velocity."""
CHUNK = 64
"""Number of throws between two reports of progress."""


class ThrowStarts(NamedTuple):
    """Initial data of throws: states (B, 13), mu and e (B, 2), the initial `buffer` of their core; and the number of
    states requested of each, samples (B,)."""

    states: Array
    law: Array
    core: Array
    buffer: Array
    samples: np.ndarray


class ThrowResults(NamedTuple):
    """States (B, 1 + most samples, 13) of throws, and the final status (B,) of each."""

    states: Array
    status: np.ndarray


STARTS = argument_type(ThrowStarts, MATRIX, MATRIX, VECTOR, VECTOR, INDICES)
RESULTS = argument_type(ThrowResults, CUBE, INDICES)


@kernel(types.void(I64, STARTS, WORK, TRACK))
def begin_throw(b, starts, work, track):
    """Set throw b to its start."""
    copy(starts.core, starts.buffer)
    set_all(np.nan, work.out)
    set_all(0.0, work.z)
    set_all(np.nan, track.memory)
    copy(starts.states[b, :7], track.q)
    copy(starts.states[b, 7:], track.v)
    copy(starts.law[b], track.data[MU : MU + 2])


@kernel(types.void(I64, I64, I64, STARTS, STEPPING, RESULTS), nogil=True)
def throw_each(first, last, substeps, starts, stepper, results):
    """Throws `first` to `last`, each independent of the others: samples[k] states (13,) after the first of throw k.

    States after a step without a solution are left unchanged.
    """
    # One by one: where functions are inlined, numba loses writes through a tuple that was unpacked.
    core, work, track = stepper.core, stepper.work, stepper.track
    functions, settings = stepper.functions, stepper.settings
    (states, status), finished = results, np.zeros(1, dtype=np.int64)
    for b in range(first, last):
        begin_throw(b, starts, work, track)
        copy(starts.states[b], states[b, 0])
        for k in range(1, starts.samples[b] + 1):
            status[b] = stepping.run(0, substeps, core, work, track, functions, settings, finished)
            if finished[0] < substeps:
                break
            copy(track.q, states[b, k, :7])
            copy(track.v, states[b, k, 7:])


@dataclass(frozen=True)
class Subject:
    """A subject of the comparison: a formulation with rigid or relaxed rows."""

    formulation: Formulation
    relaxation: Relaxation = RIGID

    @property
    def label(self) -> str:
        return self.formulation.label if self.relaxation == RIGID else f"{self.formulation.label} relaxed"


@dataclass(frozen=True)
class Thrower:
    """Throws of a body at step h [s] under a normal law, with `substeps` steps between stored states."""

    body: Body
    h: float
    substeps: int
    normal: str = "moreau"

    def refusal(self, subject: Subject) -> str:
        """Return why a subject cannot be thrown, from its first step; empty if it can."""
        solver = self.solver(subject)
        case = tossed(self.body)
        try:
            if not hasattr(solver, "kernel"):
                raise DataError(f"{solver.name} is not compiled, and millions of steps are needed")
            run = simulate(
                case, subject.formulation, solver, self.h, self.h, normal=self.normal, relaxation=subject.relaxation
            )
        except DataError as error:
            return str(error)
        return "" if run.status in (Status.SOLVED, Status.INACCURATE) else run.reason

    def solver(self, subject: Subject) -> Any:
        return default_solver(compiled(subject.formulation, *tossed(self.body).size).kind)

    def throw(
        self, subject: Subject, states: Array, samples: np.ndarray, mu: Any, e: Any,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[Array, np.ndarray]:  # fmt: skip
        """B throws from `states` (B, 13) with mu, e (B,) or numbers, each for its `samples` (B,).

        Returns their states (B, 1 + most samples, 13), NaN after the last, and their final `Status` (B,).
        `progress` is called with the samples of the throws that are done.
        """
        case, count = tossed(self.body), len(states)
        found = np.full((count, 1 + int(samples.max(initial=0)), STATE), np.nan)
        status = np.zeros(count, dtype=np.int64)
        c = compiled(subject.formulation, *case.size)
        s = Stepper(c, self.h, self.normal, case.v_th)
        s.follow(case, subject.relaxation, self.substeps)
        law = np.stack(np.broadcast_arrays(mu, e, np.zeros(count))[:2], axis=1)
        buffer, wanted = s.core.buffer, samples.astype(np.int64)
        starts = ThrowStarts(np.array(states, dtype=float), law, buffer.copy(), buffer, wanted)
        results = ThrowResults(found, status)
        chain = self.solver(subject)
        stepper = s.stepping(case, chain)
        for a in range(0, count, CHUNK):
            b = min(count, a + CHUNK)
            throw_each(a, b, self.substeps, starts, stepper, results)
            for k in a + np.flatnonzero(status[a:b]):
                begin_throw(k, starts, s.work, s.track)
                status[k] = self._by_chain(s, chain, stepper, found[k, : 1 + samples[k]])
            if progress:
                progress(int(samples[a:b].sum()))
        return found, status

    def _by_chain(self, s: Stepper, chain: Chain, stepper: Stepping, states: Array) -> Status:
        """Complete a throw at whose steps the first method fails, with the methods that take over.

        `states` (1 + samples, 13) is filled after the first; a throw ends at a step that no method solves.
        """
        worst, done = Status.SOLVED, np.zeros(1, dtype=np.int64)
        for state in states[1:]:
            done[0] = 0
            while done[0] < self.substeps:
                k = int(done[0])
                status = Status(stepping.run(k, self.substeps, *stepper, done))
                if done[0] < self.substeps:
                    if status is Status.NO_FIXED_POINT:
                        return status
                    if s.pose() is not Status.SOLVED:
                        return posing_failure(s)
                    solution, _ = take_over(int(done[0]), s, chain, stepper.functions, stepper.settings)
                    status, done[0] = solution.claimed, done[0] + 1
                if status not in (Status.SOLVED, Status.INACCURATE):
                    return status
                worst = max(worst, status)
            state[:7], state[7:] = s.track.q, s.track.v
        return worst
