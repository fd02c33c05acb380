"""Thousands of sphere contacts: Gauss-Seidel sweeps, over-relaxed for Coulomb, accelerated for the CCP.

The normal of a contact of two spheres passes through both centres: its own block of W is diagonal, with one number for
the tangents, and one contact with the others fixed is solved exactly in world axes (`sphere_kernels`).

    Coulomb  p_n+ = (p_n - omega u_n / w_n)_+,  p_t+ = p_t - omega u_t / w_t back to the disc of radius mu p_n+;
             omega = 1.3
    CCP      omega = 1, the projection on the cone in the metric of (w_n, w_t); with Anderson's acceleration of
             z+ = G(z), G a few sweeps, accepted while |G(z) - z| falls (Walker & Ni 2011)

Sweeps: Jourdan, Alart & Jean 1998. Guarantee: for associated flow the energy falls with every sweep, and a step of the
acceleration that does not reduce the sweeps' changes is rejected. For Coulomb's law there is no proof.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from workbench.algorithms import best
from workbench.algorithms.base import GENERIC, refusal
from workbench.algorithms.sphere_kernels import (
    ARM_A,
    ARM_B,
    BODY,
    CONTACT,
    FRICTION,
    INERTIA,
    INNER,
    MASS,
    MEMORY,
    NORMAL,
    OFFSET,
    RATIO,
    SHARE_N,
    SHARE_T,
    Differences,
    SphereSystem,
    accelerated_sweeps,
    add_impulses,
    inner_sweeps,
    read_pairs,
    sphere_sweeps,
)
from workbench.engine.timing import clock
from workbench.problems.contact_blocks import ContactBlocks, Indices
from workbench.problems.sets import ASSOCIATED, COULOMB, NO_CONE
from workbench.problems.solution import Solution, Status
from workbench.support.arrays import Array

OVER = 1.3
"""Over-relaxation under Coulomb's law: 1 takes several times as many sweeps; from 1.5 on, packings at rest stall."""
FIRST_LOOK, LAST_LOOK = 20, 400
"""Iterations between measurements, at first and later: one measurement takes as long as some twenty iterations."""
STOP, MOST = 1e-7, 20_000
"""Default residual at which it stops, and limit of sweeps."""
ALIKE = 1e-10
"""Relative deviation allowed between the rows of J and those of spheres."""


class SpherePacking:
    """Contact blocks of spheres as data for sweeps. Raises ValueError, with a reason, for other problems.

    pair (B, 2), contact (B, CONTACT) and body (N + 1, BODY) as in `sphere_kernels`, the bodies with their velocities
    without impulses; frame (B, 3, 3) maps impulses in world axes to the unknowns, z = frame P.
    """

    def __init__(self, p: ContactBlocks):
        k = np.diff(p.unknown)
        self.there = _contacts(p, k)
        self.associated = p.cone == ASSOCIATED
        mass = _bodies(p)
        N = mass.shape[0]
        self.pair, rows = np.empty((p.blocks, 2), dtype=np.int32), np.zeros((p.blocks, 6, 6))
        first, column = p.J.indptr.astype(np.int64), p.J.indices.astype(np.int64)
        if not read_pairs(np.array(p.row), first, column, p.J.data, N, self.pair, rows):
            raise ValueError("a contact moves more than two bodies")
        self.frame, arms = _frames(rows.reshape(-1, 2, 3, 6), k == 3)
        self.body = np.zeros((N + 1, BODY))
        self.body[:N, :MASS] = p.b.reshape(N, 6) / np.repeat(mass, 3, axis=1)
        self.body[:N, MASS:] = 1.0 / mass
        light, easy = self.body[self.pair, MASS], self.body[self.pair, INERTIA]
        w_n = light.sum(axis=1)
        w_t = w_n + (arms**2 * easy).sum(axis=1)
        self.contact = np.zeros((p.blocks, CONTACT))
        self.contact[:, NORMAL:ARM_A] = self.frame[:, 0]
        self.contact[:, [ARM_A, ARM_B]] = arms
        self.contact[:, FRICTION] = p.mu
        self.contact[:, SHARE_N] = 1.0 / w_n
        self.contact[:, SHARE_T] = np.where(k == 3, 1.0 / w_t, 0.0)
        self.contact[:, RATIO] = w_t / w_n
        self.contact[:, OFFSET:] = self.spread(p.c)
        self.arrays = SphereSystem(self.pair, self.contact, self.associated, self.body)

    def spread(self, x: Array) -> Array:
        """Convert unknowns (X,) to impulses in world axes (B, 3)."""
        z = np.zeros(self.there.shape)
        z[self.there] = x
        return np.einsum("iab,ia->ib", self.frame, z)

    def gathered(self, P: Array) -> Array:
        """Convert impulses in world axes to unknowns; the inverse of `spread`."""
        z: Array = np.einsum("iab,ib->ia", self.frame, P)[self.there]
        return z

    @property
    def between(self) -> Array:
        """(B, 3) from the centre of the second sphere of every contact to that of the first."""
        arms = abs(self.contact[:, [ARM_A, ARM_B]]).sum(axis=1)
        found: Array = arms[:, None] * self.contact[:, NORMAL:ARM_A]
        return found

    def velocity(self, P: Array) -> Array:
        """Return body (N + 1, BODY) after impulses P."""
        body = self.body.copy()
        add_impulses(self.arrays, P, body)
        return body

    def swept(self, P: Array, count: int) -> Array:
        """Return P after `count` sweeps."""
        P = P.copy()
        over = 1.0 if self.associated.any() else OVER
        sphere_sweeps(self.arrays, over, count, self.velocity(P), P)
        return P


def _contacts(p: ContactBlocks, k: Indices) -> NDArray[np.bool_]:
    """Mask of the unknowns, out of three, that a contact has (B, 3); k (B,) is their number."""
    alone = (p.cone == NO_CONE) & (k == 1)
    cones = (p.cone == COULOMB) | (p.cone == ASSOCIATED)
    if not ((cones & (k == 3)) | alone).all() or (np.diff(p.row) != k).any():
        raise ValueError("blocks are needed that are cones of three unknowns or one unknown")
    one = np.repeat(alone, k)
    if (p.lower[one] != 0).any() or (p.upper[one] != np.inf).any():
        raise ValueError("a block of one unknown must be a contact without friction")
    identity = np.ones(p.L.size)
    identity[~np.repeat(alone, k * k)] = np.tile(np.eye(3).ravel(), int((~alone).sum()))
    if any((x != identity).any() for x in (p.L, p.R)) or p.N.any() or p.s.any():
        raise ValueError("rigid contacts are needed whose rows are their own unknowns, L = R = 1, N = 0, s = 0")
    return np.arange(3) < k[:, None]


def _bodies(p: ContactBlocks) -> Array:
    """Mass and moment of inertia (N, 2) of spheres with six velocities each."""
    if p.b.size % 6 or p.M.nnz != p.b.size or (p.M.indices != np.arange(p.b.size)).any():
        raise ValueError("a diagonal M is needed, of bodies with six velocities each")
    M = p.M.data.reshape(-1, 2, 3)
    if np.any(abs(M - M[:, :, :1]) > ALIKE * M):
        raise ValueError("bodies are needed that are as inert along every axis, as spheres are")
    mass: Array = M[:, :, 0]
    return mass


def _frames(rows: Array, rough: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Frames (B, 3, 3) and arms (B, 2) of the rows (B, 2, 3, 6) of contacts, with tangents if they are `rough`."""
    frame = np.ascontiguousarray(rows[:, 0, :, :3])
    turns = np.cross(frame[:, :1], frame)
    arms = np.einsum("isk,ik->is", rows[:, :, 1, 3:], turns[:, 1])
    other: Any = rows[:, 1].any(axis=(1, 2))
    fits = np.stack([frame, np.where(other[:, None, None], -frame, 0.0)], axis=1)
    turned = arms[:, :, None, None] * turns[:, None]
    lengths = np.where(rough[:, None], 1.0, [1.0, 0.0, 0.0])
    square = frame @ frame.transpose(0, 2, 1) - lengths[:, :, None] * np.eye(3)
    size = np.maximum(abs(arms), abs(rows[:, :, :, 3:]).max(axis=(2, 3)))[:, :, None, None]
    off = [abs(square).max(), abs(rows[..., :3] - fits).max(), (abs(rows[..., 3:] - turned) - ALIKE * size).max()]
    if rows.size and (max(off[:2]) > ALIKE or off[2] > 0):
        raise ValueError("the rows of a contact are not those of two spheres, with the normal through both centres")
    return frame, arms


class Acceleration:
    """State of Anderson's acceleration of z+ = G(z), G some sweeps; `answer` is the last accepted G(z)."""

    def __init__(self, packed: SpherePacking, z: Array):
        weight, change = 1.0 / np.sqrt(packed.contact[:, SHARE_N]), np.empty(z.size)
        self.packing, self.answer = packed.arrays, np.empty_like(z)
        inner_sweeps(self.packing, weight, z, self.answer, change)
        answers, changes, gram = np.empty((MEMORY, z.size)), np.empty((MEMORY, z.size)), np.empty((MEMORY, MEMORY))
        self.on = Differences(weight, self.answer, change, answers, changes, gram, np.zeros(2, dtype=np.int64))

    def advance(self, count: int) -> None:
        """Make `count` accelerations, or plain sweeps if one is not accepted."""
        accelerated_sweeps(self.packing, count, self.on)


@dataclass(frozen=True)
class OfSpheres:
    """Base of solvers for sphere contacts. `stop` is the residual at which one stops, `most` its iteration limit.

    A method is `search(problem, packed, x)`: from the start x (X,) it returns the best solution, its residual, and the
    number of iterations.
    """

    stop: float
    most: int
    name: str
    guaranteed_for: str
    source: str
    tolerance: float = GENERIC
    solves: frozenset[str] = frozenset({ContactBlocks.kind})
    largest: int | None = None
    """Largest number of velocities of an accepted problem, if there is a limit."""
    associated: bool = False
    """Whether only associated flow is accepted."""

    def search(self, problem: ContactBlocks, packed: SpherePacking, x: Array) -> tuple[Array, float, int]:
        raise NotImplementedError

    def adjusted(self, tolerance: float | None, max_iterations: int | None) -> Self:
        """Return the solver with another residual for termination and as tolerance, and another iteration limit."""
        given = self if tolerance is None else replace(self, stop=tolerance, tolerance=max(tolerance, self.tolerance))
        return replace(given, most=max_iterations or self.most)

    def why_not(self, problem: Any) -> str | None:
        """Return why a problem is not accepted: only contact blocks of spheres are."""
        found = self.packed(problem)
        return found if isinstance(found, str) else None

    def packed(self, problem: Any) -> SpherePacking | str:
        """Return the problem as data for sweeps, or the reason why it has none."""
        if problem.kind not in self.solves:
            return f"{self.name} solves contact blocks, not {problem.kind}"
        if self.largest is not None and problem.b.size > self.largest:
            return f"{self.name}: {problem.b.size} velocities; up to {self.largest} are possible"
        if self.associated and not np.isin(problem.cone, (ASSOCIATED, NO_CONE)).all():
            return f"{self.name}: associated flow is needed in every contact with friction"
        try:
            return SpherePacking(problem)
        except ValueError as error:
            return f"{self.name}: these are not contacts of spheres: {error}"

    def solve(self, problem: Any) -> Solution:
        """Solve from zero."""
        return self.solve_from(problem, np.zeros(problem.size))

    def solve_from(self, problem: Any, start: Array) -> Solution:
        """Solve from a start (X,); at the iteration limit, the best iterate is returned."""
        packed = self.packed(problem)
        return refusal(self, problem, packed) if isinstance(packed, str) else self.solve_packed(problem, packed, start)

    def solve_packed(self, problem: ContactBlocks, packed: SpherePacking, start: Array) -> Solution:
        """As `solve_from`, with the problem's data for sweeps."""
        begun = clock()
        x, found, iterations = self.search(problem, packed, np.where(np.isfinite(start), start, 0.0))
        status = Status.SOLVED if found <= self.tolerance else Status.ITERATION_LIMIT
        reason = "" if status is Status.SOLVED else status.meaning
        return Solution(x, status, found, self.tolerance, iterations, clock() - begun, self.name, reason)


class InLooks(OfSpheres):
    """A method with cheap iterations: the residual is measured occasionally, and the best iterate kept and offered."""

    def begin(self, packed: SpherePacking, z: Array) -> Callable[[int], Array]:
        """Return a function of a number of iterations from z (B, 3), which it may overwrite, to the iterate."""
        raise NotImplementedError

    def search(self, problem: ContactBlocks, packed: SpherePacking, x: Array) -> tuple[Array, float, int]:
        advance, found = self.begin(packed, packed.spread(x)), problem.residual(x)
        done, look = 0, FIRST_LOOK
        while found > self.stop and done < self.most:
            look = min(look, self.most - done)
            reached = packed.gathered(advance(look))
            done, look = done + look, min(2 * look, LAST_LOOK)
            residual = problem.residual(reached)
            if residual < found:
                found, x = residual, reached
                best.offer(x)
        return x, found, done


class SphereSweeps(InLooks):
    """Solver by sweeps (see the module); its iterations are sweeps."""

    def begin(self, packed: SpherePacking, z: Array) -> Callable[[int], Array]:
        if packed.associated.all():
            on = Acceleration(packed, z)

            def accelerate(count: int) -> Array:
                on.advance(max(count // INNER, 1))
                return on.answer

            return accelerate

        def sweep(count: int) -> Array:
            z[:] = packed.swept(z, count)
            return z

        return sweep


SOLVER = SphereSweeps(
    STOP, MOST, "spheres", "contacts of spheres with associated flow, in the limit; Coulomb's law: no proof",
    "Jourdan, Alart & Jean 1998; Walker & Ni 2011",
)  # fmt: skip
