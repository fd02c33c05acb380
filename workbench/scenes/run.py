"""Running a scene under a formulation, step by step, as a `Track`; what goes wrong ends the run with a reason."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from workbench.arrays import Array
from workbench.engine.timing import clock
from workbench.errors import WorkbenchError
from workbench.mechanics.instant import Places
from workbench.problems.solution import Status
from workbench.scenes.scene import Scene
from workbench.scenes.stepper import Stepped
from workbench.scenes.track import ContactsByBody, Track, by_body, in_a_row, stacked

TOO_FAST = 1e6
"""Speed [m/s, rad/s] beyond which a run has exploded and ends."""


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
    kept, seconds = TrackRecorder(scene, q, v), 0.0
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
        kept.add(x, stepper.h)
        q, v = x.q, x.v
        if progress:
            progress(kept.steps)
    track = kept.track(stepper.label, stepper.solver, stepper.h, steps, status, reason, seconds)
    return replace(track, others=dict(getattr(stepper, "others", {})))


class TrackRecorder:
    """A run while it is made: states, poses, energies and what touches, step by step."""

    def __init__(self, scene: Scene, q: Array, v: Array) -> None:
        self.scene = scene
        self.states = [(q, v, *scene.poses(q), scene.energy(q, v))]
        self.rows: list[tuple[ContactsByBody, Array, int, float, float, int]] = []

    @property
    def steps(self) -> int:
        return len(self.rows)

    def add(self, x: Stepped, h: float) -> None:
        """A finished step of h [s]."""
        given = x.given
        places = given.places or Places.unknown(given.contacts, given.mu.size)
        centre, u = self.states[-1][2], given.J @ x.v + given.rate
        touched = by_body(len(self.scene.bodies), centre, places, given.first, x.P, u, given.phi, h)
        self.keep(x.q, x.v, touched, given.contacts, x.residual, x.tolerance, x.iterations)

    def keep(
        self, q: Array, v: Array, touched: tuple[ContactsByBody, Array], contacts: int, residual: float,
        tolerance: float, iterations: int,
    ) -> None:  # fmt: skip
        """A finished step by its state, what touched (`by_body`), and what it took."""
        self.rows.append((*touched, contacts, residual, tolerance, iterations))
        self.states.append((q, v, *self.scene.poses(q), self.scene.energy(q, v)))

    def track(
        self, label: str, solver: str, h: float, wanted: int, status: Status, reason: str, seconds: float
    ) -> Track:
        """All of it; where it ended early, `reason` says why."""
        q, v, position, orientation, energy = (np.array(x) for x in zip(*self.states, strict=True))
        rows, pressing, *numbers = zip(*self.rows, strict=True) if self.rows else ((), (), (), (), (), ())
        contacts, residual, tolerance, iterations = (np.array(x, dtype=float) for x in numbers)
        return Track(
            label, solver, h, wanted, q, v, position, orientation, energy, stacked(rows, len(self.scene.bodies)),
            contacts.astype(np.int64), residual, tolerance.min(initial=np.inf), iterations.astype(np.int64), status,
            f"at {self.steps * h:g} s: {reason}" if reason else "", seconds, in_a_row(pressing),
            np.array([len(x) for x in pressing], dtype=np.int64),
        )  # fmt: skip


def _judged(x: Stepped) -> tuple[Status, str]:
    """Whether a step counts; why not, where it does not."""
    if x.status is not Status.SOLVED:
        return x.status, x.reason or x.status.meaning
    if not x.residual <= x.tolerance:
        return Status.INACCURATE, f"residual {x.residual:.1e} above {x.tolerance:.0e}"
    if not (np.isfinite(x.q).all() and abs(x.v).max(initial=0.0) < TOO_FAST):
        return Status.NOT_FINITE, f"the motion explodes: a velocity of {abs(x.v).max(initial=0.0):.1e} m/s or rad/s"
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
