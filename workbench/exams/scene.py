"""A trial as a scene of the workbench, and a formulation as its player."""

from typing import Any

import numpy as np

from workbench.algorithms.base import Solver
from workbench.engine.lazy import sparse
from workbench.exams.touching import Shapes, frames
from workbench.exams.trial import Trial
from workbench.language.formulation import Formulation
from workbench.mechanics.instant import Instant, Places, instant
from workbench.mechanics.solids import Plane, Solid, turning
from workbench.problems.solution import Status
from workbench.scenes.grains.contacts import advance
from workbench.scenes.scene import Scene
from workbench.scenes.stepper import SceneStepper, Stepped
from workbench.support.arrays import Array

AHEAD = 1e-3
"""Gap below which a contact is always included [m]."""
STEEP = 0.5
"""Length of the projection on the tangent plane below which a body's first axis gives no yaw."""


class TrialScene(Scene):
    """Coordinates are seven per body, centre and quaternion, scalar first; velocities six, in world axes."""

    def __init__(self, trial: Trial, name: str = "trial") -> None:
        self.trial, self.name, self.step = trial, name, 1e-3
        self.bodies = [body.name for body in trial.bodies]
        self.shapes = Shapes(trial)
        self.mass = np.array([body.mass for body in trial.bodies])
        self.inertia = np.array([body.inertia for body in trial.bodies])
        self.gravity = np.array(trial.gravity)

    def start(self) -> tuple[Array, Array]:
        q = np.array([[*body.position, *body.orientation] for body in self.trial.bodies])
        return q.ravel(), np.zeros(6 * len(q))

    def poses(self, q: Array) -> tuple[Array, Array]:
        state = q.reshape(-1, 7)
        return state[:, :3].copy(), state[:, 3:].copy()

    def instant(self, q: Array, v: Array, t: float, h: float) -> Instant:
        x, orientation = self.poses(q)
        R, u = turning(orientation), v.reshape(-1, 6)
        blocks, f = [], np.zeros_like(u)
        for k, turn in enumerate(R):
            spatial = turn @ np.diag(self.inertia[k]) @ turn.T
            blocks += [self.mass[k] * np.eye(3), spatial]
            f[k, :3] = self.mass[k] * self.gravity
            f[k, 3:] = -np.cross(u[k, 3:], spatial @ u[k, 3:])
        # Contacts that a step may close, or that associated flow may act on.
        fast = np.linalg.norm(u[:, :3], axis=1) + np.linalg.norm(u[:, 3:], axis=1)
        close = self.shapes.close(x, R, AHEAD + 2 * h * (fast + h * np.linalg.norm(self.gravity)))
        frame, r = frames(close.normal), close.gap.size
        J, acts = np.zeros((r, 3, len(x), 6)), np.zeros((r, 3, 6))
        acts[..., :3] = frame
        for body, sign in ((close.a, -1.0), (close.b, 1.0)):
            i = np.flatnonzero(body >= 0)
            arm = close.point[i] - x[body[i]]
            J[i, :, body[i], :3] += sign * frame[i]
            J[i, :, body[i], 3:] += sign * np.cross(arm[:, None], frame[i])
        return instant(
            h, sparse.block_diag(blocks, format="csr"), v, f.ravel(), J=sparse.csr_array(J.reshape(3 * r, v.size)),
            first=3 * np.arange(r + 1), mu=np.full(3 * r, self.trial.mu), phi=close.gap,
            e=np.full(r, self.trial.e), heading=_headings(frame, R[close.b]), key=close.key,
            places=Places(close.point, np.stack([close.a, close.b], axis=-1), acts.reshape(3 * r, 6)),
        )  # fmt: skip

    def advance(self, q: Array, v: Array, h: float) -> Array:
        q_next = np.empty_like(q)
        advance(q, v, h, q_next)
        return q_next

    def solids(self) -> tuple[Solid | Plane, ...]:
        return self.trial.solids()


def _headings(frame: Array, R: Array) -> Array:
    """First axes of bodies with rotations R (C, 3, 3) in the tangents of frames (C, 3, 3); (1, 0) for steep ones."""
    along = (frame[:, 1:] @ R[:, :, :1])[..., 0]
    size = np.linalg.norm(along, axis=1, keepdims=True)
    return np.where(size > STEEP, along / np.where(size > 0, size, 1.0), [1.0, 0.0])


class FormulationWorld:
    """A trial under a formulation, step by step, with the interface of `workbench.exams.protocol`.

    `solver` solves contact blocks, by default exactly; results beyond its own tolerance are refused.
    """

    def __init__(self, trial: Trial, formulation: Formulation, h: float, solver: Solver | None = None) -> None:
        self.scene, self.h, self.steps = TrialScene(trial), h, 0
        # Restitution needs the law of closed contacts; otherwise contacts are included before they close.
        self.stepper = SceneStepper(self.scene, formulation, h, solver, normal="moreau" if trial.e > 0 else "gap")
        self.q, self.v = self.scene.start()
        self.last: Stepped | None = None

    def step(self) -> None:
        done = self.stepper.step(self.q, self.v, self.steps * self.h)
        if done.status is not Status.SOLVED or not done.residual <= done.tolerance:
            raise ValueError(f"at {self.steps * self.h:g} s: {done.reason or done.status.meaning}")
        self.q, self.v, self.last, self.steps = done.q, done.v, done, self.steps + 1

    def push(self, velocity: Array) -> None:
        self.v = velocity.ravel().copy()

    def pull(self, gravity: Array) -> None:
        self.scene.gravity = gravity

    def state(self) -> tuple[Array, Array, Array]:
        return *self.scene.poses(self.q), self.v.reshape(-1, 6)

    def contacts(self) -> list[tuple[int, int, Array, Array]]:
        if self.last is None or self.last.given.places is None:
            return []
        at = self.last.given.places
        force = (self.last.P[:, None] * at.acts[:, :3] / self.h).reshape(-1, 3, 3).sum(axis=1)
        found: list[Any] = [(*pair, point, f) for pair, point, f in zip(at.pair.tolist(), at.point, force, strict=True)]
        return [c for c in found if c[3].any()]
