"""Jittered packings of spheres, one step each, as problems with the residual that goals for packings are stated in.

Contact by contact |p - P_K(p - m_c u~)| / (m_c max(|u_free|, g h)), m_c = 3 / tr W_cc, and of these the worst; u~ is u
with De Saxce's term mu |u_t| on the normal under Coulomb's law, and u itself for the CCP.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from workbench.algorithms import spheres
from workbench.problems.contact_blocks import ContactBlocks, Indices
from workbench.problems.sets import ASSOCIATED, normals_first
from workbench.problems.solution import Solution
from workbench.scenes.posing import Poser
from workbench.scenes.stepper import SceneStepper
from workbench.support.arrays import Array
from workbench.verbs.find import find_formulation
from workbench.verbs.registries import BY_KIND

GRAVITY = 9.81
STATES: dict[str, tuple[float, dict[str, float]]] = {
    "moving": (1e-3, {}),
    "moving, h = 10 ms": (1e-2, {}),
    "at rest": (1e-3, {"speed": 0.0}),
    "sheared": (1e-3, {"speed": 0.0, "shear": 2.0}),
}
"""Step [s], and what else the case `packing` is given."""


SETTLED = "settled"
"""A state besides: grains of 5 mm in a bin as high as wide, 0.3 s after they were let go, with the last impulses."""
FALL = ((2e-3, 145), (1e-3, 10))
"""Steps [s] until then, and how many of each."""


@dataclass(frozen=True, eq=False)
class Packing:
    """A step of h [s]; z (3 r,) has the normal impulses of all r contacts first, as `FrictionProblem` has them.

    `start` (3 r,), contact by contact, are those that the same contacts had a step before; None where there was none.
    """

    blocks: ContactBlocks
    h: float
    start: Array | None = None
    d = 2

    @property
    def size(self) -> int:
        return self.blocks.size

    @property
    def mu(self) -> Array:
        return self.blocks.mu

    @property
    def contacts(self) -> int:
        return self.mu.size

    @property
    def associated(self) -> bool:
        return bool((self.blocks.cone == ASSOCIATED).all())

    @property
    def kind(self) -> str:
        return "conic QP" if self.associated else "Coulomb NCP"

    @property
    def order(self) -> Indices:
        """Where the unknowns of `blocks` stand, normals first."""
        return normals_first(self.contacts, self.d)

    @cached_property
    def free(self) -> Array:
        """u (r, 3) without impulses."""
        p = self.blocks
        found: Array = (p.J @ (p.b / p.M.diagonal()) + p.c).reshape(-1, 3)
        return found

    def by_contacts(self) -> tuple[Any, Array]:
        """W sparse and q, contact by contact."""
        p = self.blocks
        return sparse.csr_array(p.J @ sparse.diags_array(1.0 / p.M.diagonal()) @ p.J.T), self.free.ravel()

    @property
    def q(self) -> Array:
        return self.free.ravel()[self.order]

    @property
    def M(self) -> Array:
        """W, dense, normals first."""
        dense: Array = self.by_contacts()[0].toarray()[np.ix_(self.order, self.order)]
        return dense

    def residual(self, z: Array) -> float:
        p = np.empty(self.size)
        p[self.order] = z
        u = (self.blocks.J @ self.blocks.velocities(p) + self.blocks.c).reshape(-1, 3)
        if not self.associated:
            u[:, 0] += self.mu * np.linalg.norm(u[:, 1:], axis=1)
        W = self.blocks.own[0].reshape(-1, 3, 3)
        m = 3.0 / np.trace(W, axis1=1, axis2=2)
        p = p.reshape(-1, 3)
        gap = np.linalg.norm(p - on_cones(p - m[:, None] * u, self.mu), axis=1)
        return float((gap / (m * np.maximum(np.linalg.norm(self.free, axis=1), GRAVITY * self.h))).max())


def on_cones(y: Array, mu: Array) -> Array:
    """y (r, 3) projected on the friction cones."""
    radius = np.linalg.norm(y[:, 1:], axis=1)
    n = np.where(radius <= mu * y[:, 0], y[:, 0], np.maximum(0.0, (y[:, 0] + mu * radius) / (1.0 + mu**2)))
    share = np.minimum(1.0, mu * n / np.where(radius > 0, radius, 1.0))
    return np.column_stack([n, share[:, None] * y[:, 1:]])


def packing(N: int, state: str, law: str, seed: int = 0) -> Packing:
    """N spheres in one of `STATES`, or `SETTLED`, under `coulomb` or `ccp`."""
    if state == SETTLED:
        return settled(N, law, seed)
    h, given = STATES[state]
    scene = BY_KIND["scenes"][0].find("packing")(N=N, seed=seed, **given).scene()
    q, v = scene.start()
    poser = Poser(find_formulation(law), recovery=scene.recovery)
    return Packing(poser.pose(scene.instant(q, v, 0.0, h)).problem(), h)


@dataclass(frozen=True, eq=False)
class Overheard:
    """Sweeps that keep the last problem that they were asked, and where they were to start."""

    asked: dict[str, Any]
    name = "spheres"
    solves = spheres.SOLVER.solves
    guaranteed_for, tolerance = spheres.SOLVER.guaranteed_for, spheres.SOLVER.tolerance

    def why_not(self, problem: Any) -> str | None:
        return spheres.SOLVER.why_not(problem)

    def solve(self, problem: Any) -> Solution:
        return self.solve_from(problem, np.zeros(problem.size))

    def solve_from(self, problem: Any, start: Array) -> Solution:
        self.asked.update(problem=problem, start=start.copy())
        return replace(spheres.SOLVER, stop=1e-4, most=400).solve_from(problem, start)


def settled(N: int, law: str, seed: int) -> Packing:
    """What N spheres in a bin ask for when they have come to rest, or nearly."""
    bin_of_spheres = BY_KIND["scenes"][0].find("silo")(N=N, seed=seed, bin=0.01 * np.cbrt(N), rising=0.0)
    scene, asked = bin_of_spheres.scene(), dict[str, Any]()
    q, v = scene.start()
    for h, steps in FALL:
        stepper = SceneStepper(scene, find_formulation(law), h, Overheard(asked))
        for _ in range(steps):
            x = stepper.step(q, v, 0.0)
            q, v = x.q, x.v
    return Packing(replace(asked["problem"]), h, asked["start"])
