"""One step of a scene and its derivative along a direction of its state, forces, friction coefficients or the scene.

The blocks of the contact problem are written as one dense problem, whose data are differentiated by differences of the
scene's instants (`differences`), MuJoCo's kinematics and forces included; the derivative of its solution is that of
`sensitivity`. Contacts that come or go within reach of the differences leave no derivative.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from workbench.algorithms.escalation import default_solver
from workbench.derivatives.differences import differences, size_of, slopes
from workbench.derivatives.one_step import DATA, by_name, derivative_of_solution, with_rows
from workbench.derivatives.sensitivity import Sensitivity, sensitivity_of
from workbench.language.formulation import Formulation
from workbench.problems.bridges.dense import BRIDGE
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.mixed import MixedNCP
from workbench.problems.problem import Indices
from workbench.problems.solution import Status
from workbench.scenes.posing import Memory, Posed, Poser
from workbench.scenes.scene import Scene
from workbench.support.arrays import Array
from workbench.support.errors import DataError

VARIED = 1e-3
"""Share by which the memory is varied to see whether a problem depends on it."""
DIRECTION, OUTSIDE = 1e-3, 1e-7
"""Length [m, rad] of differences of coordinates; part of their change that may lie off the directions of velocities."""


@dataclass(frozen=True, eq=False)
class SceneTangent:
    """Tangents of the coordinates and velocities after a step, q (n_q,), v (n,), and whether they are one-sided, or
    the data jump or have a kink within reach."""

    q: Array
    v: Array
    is_kink: bool
    is_rough: bool


class SceneStep:
    """A step of h [s] (default: the scene's) of a scene under a formulation, from q, v at t [s] and what contacts
    remember.

    `v_next` (n,) is the velocity after it. Raises DataError where the step has no solution, and for a formulation that
    iterates, ModellingError for one that is not local to its contacts.
    """

    def __init__(
        self, scene: Scene, formulation: Formulation, q: Array, v: Array, t: float = 0.0, h: float | None = None,
        memory: Memory | None = None,
    ) -> None:  # fmt: skip
        self.formulation = formulation.name
        self.scene, self.h = scene.under(formulation.name), scene.step if h is None else h
        self.q, self.v, self.t, self.memory = q.copy(), v.copy(), t, memory
        self.poser = Poser(formulation, "gap", scene.v_th, scene.recovery)
        none, self.names = np.zeros(v.size), DATA[MixedNCP.kind]
        self.instant = self.scene.instant(q, v, t, self.h)
        posed, problem = self._posed(0.0, none, none, none, np.zeros(self.instant.mu.size))
        if posed.iterates:
            raise DataError(f"{formulation.label} iterates, and derivatives of its steps in scenes are not formed")
        found = default_solver(ContactBlocks.kind).solve(posed.blocks)
        if found.claimed is not Status.SOLVED:
            raise DataError(found.why_not)
        self.posed, self.problem = posed, problem
        self.sensitivity: Sensitivity | None = sensitivity_of(problem, found.z) if found.z.size else None
        self.z = found.z if self.sensitivity is None else self.sensitivity.z
        self.v_next = posed.velocity(self.z)
        self.v_free = posed.velocity(np.zeros(self.z.size))
        columns = [posed.velocity(e) - self.v_free for e in np.eye(self.z.size)]
        self.outputs = np.stack(columns, axis=1) if columns else np.zeros((v.size, 0))

    @property
    def modes(self) -> Indices:
        """The modes of the problem's sets."""
        return np.zeros(0, dtype=int) if self.sensitivity is None else self.sensitivity.system.at.mode

    @cached_property
    def q_next(self) -> Array:
        """The coordinates after the step."""
        # What the scene steps with its coordinates is that of the last instant.
        self.scene.instant(self.q, self.v, self.t, self.h)
        return self.scene.advance(self.q, self.v_next, self.h)

    def remembers(self) -> bool:
        """Whether the problem depends on what contacts remember of the step before."""
        if self.memory is None:
            return False
        other = Memory()
        for sort, (keys, rows) in self.memory.kept.items():
            other.keep(sort, keys, (1.0 + VARIED) * rows + VARIED * np.abs(np.nan_to_num(rows)).max(initial=0.0))
        beside = BRIDGE.forward(self.poser.pose(self.instant, other).problem()).problem
        return any(
            not np.array_equal(getattr(beside, name), getattr(self.problem, name), equal_nan=True)
            for name in self.names
        )

    def remembered(self) -> Memory:
        """What contacts remember after the step."""
        memory = Memory() if self.memory is None else self.memory
        self.posed.memory = memory
        self.posed.remember(self.z)
        return memory

    def velocities_of(self, q: Array) -> Array:
        """The velocities (n,) along which the coordinates after the step change by q (n_q,).

        Raises DataError where they change otherwise, as activations do.
        """
        found = np.asarray(np.linalg.lstsq(self._directions, q)[0], dtype=float)
        if np.abs(self._directions @ found - q).max(initial=0.0) > OUTSIDE * (1.0 + np.abs(q).max(initial=0.0)):
            raise DataError("coordinates other than positions change, and their derivatives are not formed")
        return found

    @cached_property
    def _directions(self) -> Array:
        """Changes (n_q, n) of the coordinates after the step along velocities."""

        def of(e: Array, s: float) -> list[Array]:
            return [moved_coordinates(self.scene, self.q_next, e, s)]

        return np.stack([differences(partial(of, e), DIRECTION)[0][0] for e in np.eye(self.v.size)], axis=1)

    def along(
        self, q: Array, v: Array, f: Array | None = None, mu: Array | None = None,
        moved: Callable[[float], Scene] | None = None, unit: float = np.inf,
    ) -> SceneTangent:  # fmt: skip
        """The tangents after the step along those of the state, q, v (n,), of forces f (n,) and of the friction
        coefficients mu (R,) of the contacts' rows, all at once with a parameter of the scene, `moved`, of this unit.

        Raises DataError where there is no derivative.
        """
        none, plain = np.zeros(self.v.size), np.zeros(self.instant.mu.size)
        f, mu = none if f is None else f, plain if mu is None else mu
        reach = min(unit, *((1.0 + abs(x)) / abs(dx) for x, dx in self._scales(q, v, f, mu)))

        def own(s: float) -> Scene:
            return self.scene if moved is None else moved(s).under(self.formulation)

        # By state and scene apart: scenes are varied by the same numbers at every step, so that each is built once.
        by_state = _Way(partial(self._posed, q=q, v=v, f=f, mu=mu), partial(self._coordinates, q=q), reach)
        by_scene = _Way(lambda s: self._posed(0.0, none, none, none, plain, own(s)), lambda s: self.q, unit, own)
        ways = [by_state] if moved is None else [by_state, by_scene]
        # Where contacts rest, all velocities of the problem are rounding errors of those before.
        speed = max(float(np.abs(x).max(initial=0.0)) for x in (self.v, self.v_free))
        sizes = [size_of(getattr(self.problem, name), speed) for name in self.names]
        change, is_rough = _sum(slopes(partial(self._data, way), way.unit, sizes) for way in ways)
        dz, is_kink = np.zeros(0), False
        if self.sensitivity is not None:
            dz, is_kink = derivative_of_solution(self.sensitivity, self.outputs, by_name(self.names, change, self.z))

        def after(s: float, way: _Way) -> list[Array]:
            v_next = way.posed(s)[0].velocity(self.z + s * dz if way is by_state else self.z)
            return [(way.scene(s) if way.scene else self.scene).advance(way.coordinates(s), v_next, self.h), v_next]

        (dq, dv), too = _sum(slopes(partial(after, way=way), way.unit, (speed, speed)) for way in ways)
        return SceneTangent(dq, dv, is_kink, is_rough or too)

    def _data(self, way: "_Way", s: float) -> list[Array]:
        problem = way.posed(s)[1]
        return with_rows(self.names, [np.array(getattr(problem, name)) for name in self.names], self.z)

    def _scales(self, q: Array, v: Array, f: Array, mu: Array) -> list[tuple[float, float]]:
        """Pairs of a size and a change of what moves along a direction."""
        here = np.concatenate([np.zeros(q.size), self.v, self.instant.f, self.instant.mu])
        moved = np.concatenate([q, v, f, mu])
        return [(float(x), float(dx)) for x, dx in zip(here, moved, strict=True) if dx] or [(0.0, 1.0)]

    def _coordinates(self, s: float, q: Array) -> Array:
        return moved_coordinates(self.scene, self.q, q, s)

    def _posed(
        self, s: float, q: Array, v: Array, f: Array, mu: Array, scene: Scene | None = None
    ) -> tuple[Posed, MixedNCP]:
        """The step moved by s along a direction, of the scene or a varied one, and its dense problem."""
        given = (scene or self.scene).instant(self._coordinates(s, q), self.v + s * v, self.t, self.h)
        if not np.array_equal(given.key, self.instant.key):
            raise DataError("contacts come or go here")
        given = replace(given, f=given.f + s * f, mu=given.mu + s * mu)
        posed = self.poser.pose(given, self.memory)
        blocks = posed.problem()
        if reason := BRIDGE.applies(blocks):
            raise DataError(reason)
        return posed, BRIDGE.forward(blocks).problem


class _Way(NamedTuple):
    """How a step is varied by a number of this unit: its problem and coordinates, and its scene if that is varied."""

    posed: Callable[[float], tuple[Posed, MixedNCP]]
    coordinates: Callable[[float], Array]
    unit: float
    scene: Callable[[float], Scene] | None = None


def moved_coordinates(scene: Scene, q: Array, along: Array, s: float) -> Array:
    """Coordinates q (n_q,) moved by s along velocities (n,); what is stepped with them, such as activations, stays."""
    return q + scene.advance(q, along, s) - scene.advance(q, along, 0.0) if s else q


def _sum(parts: Iterable[tuple[list[Array], bool]]) -> tuple[list[Array], bool]:
    """The sum of slopes of the same arrays, and whether any of them is rough."""
    found, rough = zip(*parts, strict=True)
    return [np.sum(each, axis=0) for each in zip(*found, strict=True)], any(rough)
