"""One step of a scene and its derivative along a direction of its state, forces and friction coefficients.

The blocks of the contact problem are written as one dense problem, whose data are differentiated by differences of the
scene's instants (`differences`), MuJoCo's kinematics and forces included; the derivative of its solution is that of
`sensitivity`. Contacts that come or go within reach of the differences leave no derivative.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from workbench.algorithms.escalation import default_solver
from workbench.derivatives.differences import slopes
from workbench.derivatives.one_step import DATA, derivative_of_solution
from workbench.derivatives.sensitivity import Sensitivity, sensitivity_of
from workbench.language.formulation import Formulation
from workbench.problems.bridges.dense import BRIDGE
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.mixed import MixedNCP
from workbench.problems.solution import Status
from workbench.scenes.posing import Memory, Posed, Poser
from workbench.scenes.scene import Scene
from workbench.support.arrays import Array
from workbench.support.errors import DataError


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
        self.scene, self.h = scene.under(formulation.name), scene.step if h is None else h
        self.q, self.v, self.t, self.memory = q.copy(), v.copy(), t, memory
        self.poser = Poser(formulation, "gap", scene.v_th, scene.recovery)
        none = np.zeros(v.size)
        self.instant = self.scene.instant(q, v, t, self.h)
        posed, problem = self._posed(0.0, none, none, none, np.zeros(self.instant.mu.size))
        if posed.iterates:
            raise DataError(f"{formulation.label} iterates, and derivatives of its steps in scenes are not formed")
        found = default_solver(ContactBlocks.kind).solve(posed.blocks)
        if found.claimed is not Status.SOLVED:
            raise DataError(found.why_not)
        self.sensitivity: Sensitivity = sensitivity_of(problem, found.z)
        self.z = self.sensitivity.z
        self.v_next = posed.velocity(self.z)
        unit = posed.velocity(np.zeros(self.z.size))
        self.outputs = np.stack([posed.velocity(e) - unit for e in np.eye(self.z.size)], axis=1)

    def along(self, q: Array, v: Array, f: Array, mu: Array) -> SceneTangent:
        """The tangents after the step along those of the state, q, v (n,), of forces f (n,) and of the friction
        coefficients mu (R,) of the contacts' rows; raises DataError where there is no derivative."""
        posed = partial(self._posed, q=q, v=v, f=f, mu=mu)

        def data(s: float) -> list[Array]:
            return [np.array(getattr(posed(s)[1], name)) for name in names]

        reach = min((1.0 + abs(x)) / abs(dx) for x, dx in self._scales(q, v, f, mu))
        names = DATA[MixedNCP.kind]
        change, is_rough = slopes(data, reach)
        dz, is_kink = derivative_of_solution(self.sensitivity, self.outputs, dict(zip(names, change, strict=True)))

        def after(s: float) -> list[Array]:
            v_next = posed(s)[0].velocity(self.z + s * dz)
            return [self.scene.advance(self._coordinates(s, q), v_next, self.h), v_next]

        (dq, dv), too = slopes(after, reach)
        return SceneTangent(dq, dv, is_kink, is_rough or too)

    def _scales(self, q: Array, v: Array, f: Array, mu: Array) -> list[tuple[float, float]]:
        """Pairs of a size and a change of what moves along a direction."""
        here = np.concatenate([np.zeros(q.size), self.v, self.instant.f, self.instant.mu])
        moved = np.concatenate([q, v, f, mu])
        return [(float(x), float(dx)) for x, dx in zip(here, moved, strict=True) if dx] or [(0.0, 1.0)]

    def _coordinates(self, s: float, q: Array) -> Array:
        # What the scene steps with its coordinates, such as activations, stays.
        return self.q + self.scene.advance(self.q, q, s) - self.scene.advance(self.q, q, 0.0) if s else self.q

    def _posed(self, s: float, q: Array, v: Array, f: Array, mu: Array) -> tuple[Posed, MixedNCP]:
        """The step moved by s along a direction, and its dense problem."""
        given = self.scene.instant(self._coordinates(s, q), self.v + s * v, self.t, self.h)
        if not np.array_equal(given.key, self.instant.key):
            raise DataError("contacts come or go here")
        given = replace(given, f=given.f + s * f, mu=given.mu + s * mu)
        posed = self.poser.pose(given, self.memory)
        blocks = posed.problem()
        if reason := BRIDGE.applies(blocks):
            raise DataError(reason)
        return posed, BRIDGE.forward(blocks).problem
