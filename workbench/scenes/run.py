"""Running a scene under a formulation, step by step, as a `Track`; what goes wrong ends the run with a reason."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from workbench.engine.timing import clock
from workbench.mechanics.instant import Places, row_velocities
from workbench.problems.solution import Status
from workbench.scenes.scene import Scene
from workbench.scenes.stepper import Stepped
from workbench.scenes.track import ContactsByBody, StepContacts, Track, by_body, in_a_row, stacked
from workbench.support.arrays import Array, is_finite
from workbench.support.errors import WorkbenchError

TOO_FAST = 1e6
"""Speed [m/s, rad/s] beyond which a run has exploded and ends."""

AT_ONCE, ROWS_AT_ONCE = 256, 100_000
"""Steps, and rows of their contacts, that wait until something is worked out of them."""


class SteppingScheme(Protocol):
    """What steps a scene: a formulation with a solver, at a step h [s]. A step may remember the one before it."""

    label: str
    solver: str
    h: float

    def begin(self) -> None:
        """Another run: what the steps of the last one left is forgotten."""
        ...

    def step(self, q: Array, v: Array, t: float) -> Stepped: ...


def run(
    scene: Scene, stepper: SteppingScheme, steps: int, start: tuple[Array, Array] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Track:  # fmt: skip
    """So many steps of a scene from its start, or from other q and v, as far as every step is verified.

    A step without a verified answer, a state that has none (`DataError`) and a motion that explodes end the run, with
    status and reason. `progress` is called with the number of finished steps.
    """
    q, v = scene.start() if start is None else start
    stepper.begin()
    kept, seconds = TrackRecorder(scene, q, v, stepper.h), 0.0
    status, reason = Status.SOLVED, ""
    while kept.steps < steps:
        begun = clock()
        try:
            x = stepper.step(q, v, kept.steps * stepper.h)
        except WorkbenchError as error:
            status, reason = Status.REFUSED, str(error)
            break
        finally:
            seconds += clock() - begun
        status, reason = _judged(x)
        if status is not Status.SOLVED:
            break
        kept.add(x)
        q, v = x.q, x.v
        if progress:
            progress(kept.steps)
    track = kept.track(stepper.label, stepper.solver, steps, status, reason, seconds)
    return replace(track, others=dict(getattr(stepper, "others", {})))


class TrackRecorder:
    """A run of steps of h [s] while it is made: states, poses, energies and what touches.

    What is worked out of states and contacts is worked out of many steps at once.
    """

    def __init__(self, scene: Scene, q: Array, v: Array, h: float) -> None:
        self.scene, self.h, self.q, self.v = scene, h, [q], [v]
        self.motion = [scene.motion(q[None], v[None])]
        self.numbers: list[tuple[int, float, float, int]] = []
        self.waiting: list[StepContacts] = []
        self.rows = 0
        self.touched: list[tuple[ContactsByBody, Array, Any]] = []

    @property
    def steps(self) -> int:
        return len(self.numbers)

    def add(self, x: Stepped) -> None:
        """A finished step."""
        given = x.given.arrays
        u = np.empty(given.R)
        row_velocities(given, x.v, u)
        places = x.given.places or Places.unknown(given.r, given.R)
        contacts = StepContacts(given.first, x.P, u, given.phi, places)
        self.keep(x.q, x.v, contacts, given.r, x.residual, x.tolerance, x.iterations)

    def keep(
        self, q: Array, v: Array, contacts: StepContacts, count: int, residual: float, tolerance: float,
        iterations: int,
    ) -> None:  # fmt: skip
        """A finished step by its state, its contacts, and what it took."""
        self.q.append(q)
        self.v.append(v)
        self.numbers.append((count, residual, tolerance, iterations))
        self.waiting.append(contacts)
        self.rows += contacts.P.size
        if len(self.waiting) == AT_ONCE or self.rows > ROWS_AT_ONCE:
            self._work_out()

    def _work_out(self) -> None:
        """Poses, energies and contacts of the steps that wait."""
        if self.waiting:
            count = len(self.waiting)
            before, after = self.motion[-1], self.scene.motion(np.array(self.q[-count:]), np.array(self.v[-count:]))
            self.motion.append(after)
            centre = np.concatenate([before[0][-1:], after[0][:-1]])
            self.touched.append(by_body(centre, self.waiting, self.h))
            self.waiting, self.rows = [], 0

    def track(self, label: str, solver: str, wanted: int, status: Status, reason: str, seconds: float) -> Track:
        """All of it; where it ended early, `reason` says why."""
        self._work_out()
        position, orientation, energy = (np.concatenate(x) for x in zip(*self.motion, strict=True))
        rows, pressing, pressed = zip(*self.touched, strict=True) if self.touched else ((), (), ())
        contacts, residual, tolerance, iterations = np.array(self.numbers, dtype=float).reshape(-1, 4).T
        return Track(
            label, solver, self.h, wanted, np.array(self.q), np.array(self.v), position, orientation, energy,
            stacked(rows, len(self.scene.bodies)), contacts.astype(np.int64), residual.copy(),
            tolerance.min(initial=np.inf), iterations.astype(np.int64), status,
            f"at {self.steps * self.h:g} s: {reason}" if reason else "", seconds, in_a_row(pressing),
            np.concatenate([np.zeros(0, dtype=np.int64), *pressed]),
        )  # fmt: skip


def _judged(x: Stepped) -> tuple[Status, str]:
    """Whether a step counts; why not, where it does not."""
    if x.status is not Status.SOLVED:
        return x.status, x.reason or x.status.meaning
    if not x.residual <= x.tolerance:
        return Status.INACCURATE, f"residual {x.residual:.1e} above {x.tolerance:.0e}"
    fastest = abs(x.v).max(initial=0.0)
    if not (fastest < TOO_FAST and is_finite(x.q)):
        return Status.NOT_FINITE, f"the motion explodes: a velocity of {fastest:.1e} m/s or rad/s"
    return Status.SOLVED, ""


def perturbed(scene: Scene, size: float) -> tuple[Array, Array]:
    """The start with coordinates moved along a direction drawn once for all, the farthest body by `size` [m].

    The velocities stay. Bodies that only turn are turned by as much [rad].
    """
    q, v = scene.start()
    along = np.random.default_rng(16).standard_normal(v.size)
    # A scene may have to see a state before it moves on from there.
    scene.instant(q, v, 0.0, size)
    moved: Any = scene.advance(q, along, size)
    (here, turned), (there, turn) = scene.poses(q), scene.poses(moved)
    far = float(np.linalg.norm(there - here, axis=1).max(initial=0.0)) or float(abs(turn - turned).max(initial=0.0))
    return (scene.advance(q, along, size * size / far) if far else q), v
