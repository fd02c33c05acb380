"""Many throws of one body at once, in compiled loops without Python between them; only poses are kept.

    states, status = Thrower(body, 1 / 592, 4).throw(subject, starts, samples, mu=0.18, e=0.0)

A run of the workbench keeps every step's problem, which for a million steps does not fit into memory. If the
compiled method fails at a step, the other methods of its chain take over (`escalation`).
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import types

from workbench.algorithms.escalation import default_solver
from workbench.engine.compiling import argument_type, kernel
from workbench.engine.kernels import INDICES, copy
from workbench.exams.recorded.body import Body
from workbench.exams.recorded.tossed import MU, tossed
from workbench.language.assemble.find import compiled
from workbench.language.formulation import Formulation
from workbench.mechanics.relaxation import RIGID, Relaxation
from workbench.problems.solution import Status
from workbench.step import stepping
from workbench.step.loops import STARTS, CaseStepper, Starts, begin_at
from workbench.step.run import Course
from workbench.step.scheme import SYMPLECTIC
from workbench.step.simulation import simulate
from workbench.step.stepper import STEPPING
from workbench.support.arrays import Array
from workbench.support.errors import DataError

CUBE = types.Array(types.float64, 3, "C")
I64 = types.int64
STATE = 13
"""Numbers of a state: position, quaternion, velocity, angular velocity."""
CHUNK = 64
"""Number of throws between two reports of progress."""


class ThrowResults(NamedTuple):
    """States (B, 1 + most samples, 13) of throws, the number of states requested of each, samples (B,), and the final
    status (B,) of each."""

    states: Array
    samples: np.ndarray
    status: np.ndarray


RESULTS = argument_type(ThrowResults, CUBE, INDICES, INDICES)


@kernel(types.void(I64, STARTS, STEPPING, RESULTS), nogil=True)
def throw_each(substeps, starts, stepper, results):
    """Throws from all starts, each independent of the others: samples[b] states (13,) after the first of throw b.

    States after a step without a solution are left unchanged.
    """
    # One by one: where functions are inlined, numba loses writes through a tuple that was unpacked.
    core, work, track = stepper.core, stepper.work, stepper.track
    functions, settings = stepper.functions, stepper.settings
    states, finished = results.states, np.zeros(1, dtype=np.int64)
    for b in range(states.shape[0]):
        begin_at(b, starts, core, work, track, settings)
        for k in range(1, results.samples[b] + 1):
            results.status[b] = stepping.run(0, substeps, core, work, track, functions, settings, finished)
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
        found[:, 0], status, samples = states, np.zeros(count, dtype=np.int64), samples.astype(np.int64)
        course = Course(self.h, self.substeps, SYMPLECTIC, self.normal, subject.relaxation)
        s = CaseStepper(case, subject.formulation, self.solver(subject), course)
        data = np.tile(case.data(), (count, 1))
        data[:, MU], data[:, MU + 1] = mu, e
        for a in range(0, count, CHUNK):
            some = slice(a, min(count, a + CHUNK))
            starts = Starts.of(s, found[some, 0, :7], found[some, 0, 7:], data[some])
            throw_each(self.substeps, starts, s.stepping, ThrowResults(found[some], samples[some], status[some]))
            for k in np.flatnonzero(status[some]):
                begin_at(k, starts, s.core, s.work, s.track, s.stepping.settings)
                status[a + k] = self._by_chain(s, found[a + k, : 1 + samples[a + k]])
            if progress:
                progress(int(samples[some].sum()))
        return found, status

    def _by_chain(self, s: CaseStepper, states: Array) -> Status:
        """Complete a throw at whose steps the first method fails, by the loop in which others take over.

        `states` (1 + samples, 13) is filled after the first; a throw ends at a step that no method solves.
        """
        worst = Status.SOLVED
        for state in states[1:]:
            status, _, done = s.loop(Counter())
            if done < self.substeps:
                return status
            worst, state[:7], state[7:] = max(worst, status), s.track.q, s.track.v
        return worst
