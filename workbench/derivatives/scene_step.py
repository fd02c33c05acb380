"""One step of a scene and its derivative along a direction of its state, forces, friction coefficients or the scene.

The blocks of the contact problem are written as one dense problem, whose data are differentiated by differences of the
scene's instants (`differences`), MuJoCo's kinematics and forces included; the derivative of its solution is that of
`sensitivity`. Contacts that come or go within reach of the differences leave no derivative.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from workbench.algorithms.escalation import default_solver
from workbench.derivatives.differences import differences, size_of, slopes
from workbench.derivatives.one_step import DATA, by_name, derivative_of_solution, is_one_sided, with_rows
from workbench.derivatives.sensitivity import Sensitivity, sensitivity_of
from workbench.language.formulation import Formulation
from workbench.mechanics.instant import pushed
from workbench.problems.bridges.dense import BRIDGE, numbers
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.mixed import MixedNCP
from workbench.problems.problem import Indices
from workbench.problems.solution import Status
from workbench.scenes.posing import Memory, Posed, Poser
from workbench.scenes.scene import Scene
from workbench.support.arrays import Array
from workbench.support.errors import DataError

VARIED = 1e-3
"""Share by which the memory is varied to see whether a problem depends on it, and impulses to see what it keeps."""
DIRECTION, OUTSIDE = 1e-3, 1e-7
"""Length [m, rad] of differences of coordinates; part of their change that may lie off the directions of velocities."""


@dataclass(frozen=True, eq=False)
class SceneTangent:
    """Tangents of the coordinates and velocities after a step, q (n_q,), v (n,), and of what contacts remember, rows of
    numbers by sort as in `posing.Memory`, and the reason why this is not determined, if it is not; whether they are
    one-sided, or the data jump or have a kink within reach."""

    q: Array
    v: Array
    memory: dict[int, Array]
    undetermined: str
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
        self.names = DATA[MixedNCP.kind]
        self.beside: Posed | None = None
        self.instant = self.scene.instant(q, v, t, self.h)
        posed = self.poser.pose(self.instant, memory)
        blocks = posed.problem()
        if reason := BRIDGE.applies(blocks):
            raise DataError(reason)
        if posed.iterates:
            raise DataError(f"{formulation.label} iterates, and derivatives of its steps in scenes are not formed")
        problem: MixedNCP = BRIDGE.forward(blocks).problem
        found = default_solver(ContactBlocks.kind).solve(blocks)
        if found.claimed is not Status.SOLVED:
            raise DataError(found.why_not)
        self.posed, self.problem = posed, problem
        self.sensitivity: Sensitivity | None = sensitivity_of(problem, found.z) if found.z.size else None
        self.z = found.z if self.sensitivity is None else self.sensitivity.z
        self.v_next = posed.velocity(self.z)
        self.v_free = posed.velocity(np.zeros(self.z.size))
        columns = [posed.velocity(e) - self.v_free for e in np.eye(self.z.size)]
        self.outputs = np.stack(columns, axis=1) if columns else np.zeros((v.size, 0))
        self.sorts = [kind.d for kind, _ in posed.groups if not kind.forgetful]

    @property
    def closed(self) -> Indices:
        """The keys of the contacts that the formulation has closed."""
        return np.asarray(self.instant.key[self.posed.rows.closed != 0])

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
        beside = numbers(self.poser.pose(self.instant, other).problem())
        return any(not np.array_equal(beside[x], getattr(self.problem, x), equal_nan=True) for x in self.names)

    def remembered(self) -> Memory:
        """What contacts remember after the step."""
        memory = Memory() if self.memory is None else self.memory
        self.posed.memory = memory
        self.posed.remember(self.z)
        return memory

    def _kept(self, posed: Posed, z: Array) -> Array:
        """The numbers that contacts remember after an answer z, one sort after the other."""
        before, memory, posed.memory = [x.memory.copy() for _, x in posed.groups], posed.memory, Memory()
        posed.remember(z)
        rows = [posed.memory.kept[sort][1].ravel() for sort in self.sorts]
        posed.memory = memory
        for (_, cores), own in zip(posed.groups, before, strict=True):
            cores.memory[:] = own
        return np.concatenate([np.zeros(0), *rows])

    @cached_property
    def _kept_by(self) -> Array:
        """Derivatives of `_kept` by the answer."""
        reach = VARIED * float(np.abs(self.z).max(initial=0.0)) or 1.0

        def of(e: Array, s: float) -> list[Array]:
            return [self._kept(self.posed, self.z + s * e)]

        found = [differences(partial(of, e), reach)[0][0] for e in np.eye(self.z.size)]
        return np.stack(found, axis=1) if found else np.zeros((self._kept(self.posed, self.z).size, 0))

    def velocities_of(self, q: Array) -> Array:
        """The velocities (n,) along which the coordinates before the step change by q (n_q,).

        Raises DataError where they change otherwise, as activations do.
        """
        directions, inverse = self._directions
        found: Array = inverse @ q
        if np.abs(directions @ found - q).max(initial=0.0) > OUTSIDE * (1.0 + np.abs(q).max(initial=0.0)):
            raise DataError("coordinates other than positions change, and their derivatives are not formed")
        return found

    @cached_property
    def _directions(self) -> tuple[Array, Array]:
        """Changes (n_q, n) of the coordinates before the step along velocities, and their pseudo-inverse."""

        def of(e: Array, s: float) -> list[Array]:
            return [self.scene.advance(self.q, e, s)]

        found = np.stack([differences(partial(of, e), DIRECTION)[0][0] for e in np.eye(self.v.size)], axis=1)
        return found, np.asarray(np.linalg.pinv(found), dtype=float)

    def along(
        self, q: Array, v: Array, f: Array | None = None, mu: Array | None = None,
        moved: Callable[[float], Scene] | None = None, unit: float = np.inf, memory: dict[int, Array] | None = None,
    ) -> SceneTangent:  # fmt: skip
        """The tangents after the step along those of the state, q, v (n,), of forces f (n,), of the friction
        coefficients mu (R,) of the contacts' rows and of their memory, as the step before has them, all at once with a
        parameter of the scene, `moved`, of this unit.

        Raises DataError where there is no derivative.
        """
        none, plain = np.zeros(self.v.size), np.zeros(self.instant.mu.size)
        f, mu, memory = none if f is None else f, plain if mu is None else mu, memory or {}
        reach = min(unit, *((1.0 + abs(x)) / abs(dx) for x, dx in self._scales(q, v, f, mu, memory)))

        def by_state(s: float) -> list[Array]:
            if not s:
                return self._here
            at = self._coordinates(s, q), self.v + s * v, self._memory(s, memory)
            return self._after(self.scene, *at, s * f, s * mu)

        def by_scene(s: float) -> list[Array]:
            assert moved
            own = moved(s).under(self.formulation)
            return self._after(own, self.q, self.v, self.memory, none, plain) if s else self._here

        # Where contacts rest, all velocities of the problem are rounding errors of those before.
        speed = max(float(np.abs(x).max(initial=0.0)) for x in (self.v, self.v_free))
        sizes = [*(size_of(getattr(self.problem, name), speed) for name in self.names), speed, speed, 0.0]
        # By state and scene apart: scenes are varied by the same numbers at every step, so that each is built once.
        change, is_rough = slopes(by_state, reach, sizes)
        if moved is not None:
            of_scene, too = slopes(by_scene, unit, sizes)
            change, is_rough = [one + other for one, other in zip(change, of_scene, strict=True)], is_rough or too
        *change, dq, dv, rows = change
        dz, is_kink, undetermined = self._solution(by_name(self.names, change, self.z))
        by_impulses = self.outputs @ dz
        after = dq + self._advanced(by_impulses), dv + by_impulses, self._rows(rows + self._kept_by @ dz)
        return SceneTangent(*after, undetermined, is_kink, is_rough)

    def _solution(self, change: dict[str, Array]) -> tuple[Array, bool, str]:
        """The derivative of the answer along a change of the data, whether it is one-sided, and why what contacts
        remember of it is not determined, if it is not."""
        if self.sensitivity is None:
            return np.zeros(0), False, ""
        outputs, undetermined = np.vstack([self.outputs, self._kept_by]) if self.sorts else self.outputs, ""
        try:
            dz = derivative_of_solution(self.sensitivity, outputs, change)
        except DataError as reason:
            if not self.sorts:
                raise
            outputs, undetermined = self.outputs, str(reason)
            dz = derivative_of_solution(self.sensitivity, outputs, change)
        return dz, is_one_sided(self.sensitivity, outputs, change, dz), undetermined

    def _rows(self, kept: Array) -> dict[int, Array]:
        """Numbers as `_kept` has them by sort, in rows."""
        found, start = {}, 0
        for kind, cores in self.posed.groups:
            if not kind.forgetful:
                end = start + cores.memory.size
                found[kind.d], start = kept[start:end].reshape(cores.memory.shape), end
        return found

    def _memory(self, s: float, along: dict[int, Array]) -> Memory | None:
        """The memory before the step moved by s."""
        if not along or self.memory is None:
            return self.memory
        found = Memory()
        found.kept = {sort: (keys, rows + s * along[sort]) for sort, (keys, rows) in self.memory.kept.items()}
        return found

    @cached_property
    def _here(self) -> list[Array]:
        data = self._data(numbers(self.posed.blocks))
        return [*data, self.q_next, self.v_next, self._kept(self.posed, self.z)]

    def _after(self, scene: Scene, q: Array, v: Array, memory: Memory | None, f: Array, mu: Array) -> list[Array]:
        """The data of the step of a scene from another state, with forces f (n,) and coefficients mu (R,) added; the
        coordinates, the velocities and what contacts remember after it with the impulses of this one."""
        given = scene.instant(q, v, self.t, self.h)
        if not np.array_equal(given.key, self.instant.key):
            raise DataError("contacts come or go here")
        if f.any() or mu.any():
            given = pushed(given, f, mu)
        # Nobody needs the one before any more.
        posed = self.beside = self.poser.pose(given, memory, before=self.beside)
        blocks = posed.problem()
        if not np.array_equal(posed.rows.closed, self.posed.rows.closed):
            raise DataError("contacts open or close here")
        v_next = posed.velocity(self.z)
        data = self._data(numbers(blocks))
        return [*data, scene.advance(q, v_next, self.h), v_next, self._kept(posed, self.z)]

    def _data(self, given: dict[str, Array]) -> list[Array]:
        return with_rows(self.names, [given[name].copy() for name in self.names], self.z)

    def _advanced(self, v: Array) -> Array:
        """The change (n_q,) of the coordinates after the step along a change v (n,) of the velocities."""
        size = float(np.abs(v).max(initial=0.0))
        if not size:
            return np.zeros(self.q.size)
        return slopes(lambda s: [self.scene.advance(self.q, self.v_next + s * v, self.h)], 1.0 / size)[0][0]

    def _scales(self, q: Array, v: Array, f: Array, mu: Array, memory: dict[int, Array]) -> list[tuple[float, float]]:
        """Pairs of a size and a change of what moves along a direction."""
        kept = {} if self.memory is None else self.memory.kept
        rows = [np.nan_to_num(kept[sort][1].ravel()) for sort in memory]
        here = np.concatenate([np.zeros(q.size), self.v, self.instant.f, self.instant.mu, *rows])
        moved = np.concatenate([q, v, f, mu, *(x.ravel() for x in memory.values())])
        return [(float(x), float(dx)) for x, dx in zip(here, moved, strict=True) if dx] or [(0.0, 1.0)]

    def _coordinates(self, s: float, q: Array) -> Array:
        """Those before the step moved by s along velocities; what is stepped with them, such as activations, stays."""
        moved = self.scene.advance(self.q, q, s)
        return self.q + moved - self.scene.advance(self.q, q, 0.0) if s and q.any() else self.q
