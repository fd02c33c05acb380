"""Running a scene under a formulation, step by step, as a `Track`; what goes wrong ends the run with a reason."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from workbench.engine.timing import clock
from workbench.mechanics.instant import row_velocities
from workbench.problems.solution import Status
from workbench.scenes.scene import Scene
from workbench.scenes.steady import NUMBERS, TOO_FAST, Steps
from workbench.scenes.stepper import SceneStepper, Stepped
from workbench.scenes.track import NOWHERE, ContactsByBody, StepContacts, Track, by_body, in_a_row, stacked
from workbench.support.arrays import Array, is_finite
from workbench.support.errors import WorkbenchError

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
    ahead = stepper.ahead if type(stepper) is SceneStepper else None
    while kept.steps < steps:
        begun, x = clock(), None
        try:
            made = ahead(kept.rest(steps)) if ahead else 0
            if not made:
                x = stepper.step(q, v, kept.steps * stepper.h)
        except WorkbenchError as error:
            status, reason = Status.REFUSED, str(error)
            break
        finally:
            seconds += clock() - begun
        if x:
            status, reason = _judged(x)
            if status is not Status.SOLVED:
                break
            kept.add(x)
        else:
            kept.extend(made)
        q, v = kept.state
        if progress:
            progress(kept.steps)
    track = kept.track(stepper.label, stepper.solver, steps, status, reason, seconds)
    return replace(track, others=dict(getattr(stepper, "others", {})))


class TrackRecorder:
    """A run of steps of h [s] while it is made: states, poses, energies and what touches.

    States are written into rows made beforehand; what is worked out of them and of contacts is worked out of many
    steps at once.
    """

    def __init__(self, scene: Scene, q: Array, v: Array, h: float) -> None:
        self.scene, self.h, self.q, self.v = scene, h, [q[None]], [v[None]]
        self.motion, self.numbers = [scene.motion(q[None], v[None])], [np.zeros((0, NUMBERS))]
        self.touched: list[tuple[ContactsByBody, Array, Any]] = []
        self.waiting: list[StepContacts] = []
        self.finished, self.rows = 0, 0
        self._make_room(q, v)

    @property
    def steps(self) -> int:
        return self.finished + len(self.waiting)

    @property
    def state(self) -> tuple[Array, Array]:
        """q and v after the last step."""
        k = len(self.waiting)
        return self.room.q[k], self.room.v[k]

    def rest(self, steps: int) -> Steps:
        """The state after the last step, and room for more, up to so many `steps` in all."""
        return self.room.part(len(self.waiting), steps - self.steps)

    def _make_room(self, q: Array, v: Array) -> None:
        self.room = Steps.unset(AT_ONCE, q.size, v.size)
        self.room.q[0], self.room.v[0] = q, v

    def add(self, x: Stepped) -> None:
        """A finished step."""
        given = x.given.arrays
        contacts = NOWHERE
        if x.given.places:
            u = np.empty(given.R)
            row_velocities(given, x.v, u)
            contacts = StepContacts(given.first, x.P, u, given.phi, x.given.places)
        self.keep(x.q, x.v, contacts, (given.r, x.residual, x.tolerance, x.iterations, x.passes))

    def keep(self, q: Array, v: Array, contacts: StepContacts, numbers: tuple[float, ...]) -> None:
        """A finished step by its state, its contacts and its `NUMBERS`."""
        k = len(self.waiting)
        self.room.q[k + 1], self.room.v[k + 1], self.room.numbers[k] = q, v, numbers
        self._wait([contacts])

    def extend(self, count: int) -> None:
        """So many steps, written into the `rest`, of contacts at unknown positions."""
        self._wait([NOWHERE] * count)

    def _wait(self, contacts: list[StepContacts]) -> None:
        self.waiting += contacts
        self.rows += sum(x.P.size for x in contacts)
        if len(self.waiting) == AT_ONCE or self.rows > ROWS_AT_ONCE:
            self._work_out()

    def _work_out(self) -> None:
        """Poses, energies and contacts by body of the steps that wait."""
        if count := len(self.waiting):
            q, v, numbers = self.room.part(0, count)
            before, after = self.motion[-1], self.scene.motion(q[1:], v[1:])
            centre = np.concatenate([before[0][-1:], after[0][:-1]])
            self.touched.append(by_body(centre, self.waiting, self.h))
            self.q.append(q[1:])
            self.v.append(v[1:])
            self.motion.append(after)
            self.numbers.append(numbers)
            self.waiting, self.finished, self.rows = [], self.finished + count, 0
            self._make_room(q[-1], v[-1])

    def track(self, label: str, solver: str, wanted: int, status: Status, reason: str, seconds: float) -> Track:
        """All of it; where it ended early, `reason` says why."""
        self._work_out()
        q, v, numbers = (np.concatenate(x) for x in (self.q, self.v, self.numbers))
        position, orientation, energy = (np.concatenate(x) for x in zip(*self.motion, strict=True))
        rows, pressing, pressed = zip(*self.touched, strict=True) if self.touched else ((), (), ())
        contacts, residual, tolerance, iterations, _ = numbers.T
        return Track(
            label, solver, self.h, wanted, q, v, position, orientation, energy,
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
    # The Euclidean norm takes a fifth of the time.
    slow = x.v.dot(x.v) < TOO_FAST**2 or abs(x.v).max(initial=0.0) < TOO_FAST
    if not is_finite(x.q):
        return Status.NOT_FINITE, "the motion explodes: coordinates are not finite"
    if not slow:
        return Status.NOT_FINITE, f"the motion explodes: a velocity of {abs(x.v).max(initial=0.0):.1e} m/s or rad/s"
    return Status.SOLVED, ""


def perturbed(scene: Scene, size: float) -> tuple[Array, Array]:
    """The start with coordinates moved by `size` (`shifted`); the velocities stay."""
    q, v = scene.start()
    # A scene may have to see a state before it moves on from there.
    scene.instant(q, v, 0.0, size)
    return shifted(q, v.size, scene.advance, scene.poses, size), v


def shifted(
    q: Array, n: int, advance: Callable[[Array, Array, float], Any], poses: Callable[[Array], Any], size: float
) -> Array:
    """Coordinates moved along a direction of n velocities drawn once for all, the farthest body by `size` [m].

    Bodies that only turn are turned by as much [rad]. `advance` moves coordinates along velocities for a time [s].
    """
    along = np.random.default_rng(16).standard_normal(n)
    (here, turned), (there, turn) = poses(q), poses(advance(q, along, size))
    far = float(np.linalg.norm(there - here, axis=1).max(initial=0.0)) or float(abs(turn - turned).max(initial=0.0))
    return advance(q, along, size * size / far) if far else q
