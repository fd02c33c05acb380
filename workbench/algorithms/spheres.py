"""Contacts of spheres by the thousand: Gauss-Seidel sweeps, over-relaxed for Coulomb, accelerated for the CCP.

A contact of two spheres has its normal through both centres: its own block of W is diagonal, with one number for the
tangents, and one contact with the others held is solved in closed form, exactly. With J in velocities scaled by M^1/2,
V = J: a contact is 36 numbers, read once a sweep.

    Coulomb  z_n+ = (z_n - omega u_n / w_n)_+,  z_t+ = z_t - omega u_t / w_t back to the disc of radius mu z_n+;
             omega = 1.3
    CCP      omega = 1, the projection on the cone in the metric of (w_n, w_t); around every few sweeps z+ = G(z)
             Anderson's acceleration, whose answer is taken while |G(z) - z| falls (Walker & Ni 2011)

Sweeps: Jourdan, Alart & Jean 1998. Guarantee: for associated flow the energy falls with every sweep, and a step of the
acceleration that does not make the sweeps' changes smaller is taken back. For Coulomb's law there is no proof.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba import types

from workbench.algorithms import best
from workbench.algorithms.base import GENERIC, refusal
from workbench.algorithms.sparse_contacts import BLOCKS
from workbench.arrays import Array
from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR
from workbench.engine.timing import clock
from workbench.problems.contact_blocks import ASSOCIATED, COULOMB, NO_CONE, ContactBlocks
from workbench.problems.solution import Solution, Status

WIDTH = 12
"""Velocities of two bodies."""
OVER = 1.3
"""Over-relaxation under Coulomb's law: 1 takes several times as many sweeps, from 1.5 on packings at rest stall."""
INNER, MEMORY = 4, 10
"""Sweeps between accelerations, and differences that an acceleration takes into account."""
SMALL = 1e-12
"""Added to the normal equations of an acceleration, beside their trace."""
FIRST_LOOK, LAST_LOOK = 20, 400
"""Sweeps between measurements, at first and later."""
STOP, MOST = 1e-7, 20_000
"""Residual at which it stops, and sweeps at most, if nothing else is asked for."""
DIAGONAL = 1e-10
"""Of entries that a diagonal block of W may have beside its diagonal."""

COLUMNS = types.Array(types.int32, 2, "C")
FLAGS = types.Array(types.boolean, 1, "C")
COUNT, NUMBER, FLAG = types.int64, types.float64, types.boolean


@kernel(FLAG(INDICES, INDICES, INDICES, VECTOR, VECTOR, COLUMNS, BLOCKS))
def pack(row, first, column, J, scale, columns, values):
    """The rows of every block as values (B, 3, WIDTH) times the scale (n,) of their columns (B, WIDTH).

    False where a block has more than three rows or touches more velocities.
    """
    for i in range(row.shape[0] - 1):
        width = 0
        if row[i + 1] - row[i] > 3:
            return False
        for a in range(row[i], row[i + 1]):
            for p in range(first[a], first[a + 1]):
                at = 0
                while at < width and columns[i, at] != column[p]:
                    at += 1
                if at == width:
                    if width == WIDTH:
                        return False
                    columns[i, at] = column[p]
                    width += 1
                values[i, a - row[i], at] += J[p] * scale[column[p]]
        for at in range(width, WIDTH):
            columns[i, at] = columns[i, 0]
    return True


@kernel(types.void(COLUMNS, BLOCKS, MATRIX, VECTOR))
def add_impulses(columns, values, z, v):
    """v += the sum over contacts of their rows times z (B, 3)."""
    for i in range(z.shape[0]):
        for p in range(WIDTH):
            v[columns[i, p]] += values[i, 0, p] * z[i, 0] + values[i, 1, p] * z[i, 1] + values[i, 2, p] * z[i, 2]


@kernel(types.void(COLUMNS, BLOCKS, MATRIX, MATRIX, VECTOR, FLAGS, NUMBER, COUNT, VECTOR, MATRIX))
def sphere_sweeps(columns, values, c, own, mu, associated, over, count, v, z):
    """`count` sweeps over z (B, 3); v (n,), scaled, follows it. own (B, 2) is (w_n, w_t), w_t = 0 without tangents."""
    for _ in range(count):
        for i in range(mu.shape[0]):
            u_n, u_1, u_2 = c[i, 0], c[i, 1], c[i, 2]
            for p in range(WIDTH):
                speed = v[columns[i, p]]
                u_n += values[i, 0, p] * speed
                u_1 += values[i, 1, p] * speed
                u_2 += values[i, 2, p] * speed
            w_n, w_t = own[i, 0], own[i, 1]
            n = z[i, 0] - (1.0 if associated[i] else over) * u_n / w_n
            x, y = 0.0, 0.0
            if w_t > 0.0:
                share = (1.0 if associated[i] else over) / w_t
                x, y = z[i, 1] - share * u_1, z[i, 2] - share * u_2
            radius = np.sqrt(x * x + y * y)
            if associated[i] and radius > mu[i] * n:
                # In units in which W is 1 the cone has the slope mu (w_t / w_n)^1/2.
                ratio = w_t / w_n
                n = max(0.0, (n + mu[i] * ratio * radius) / (1.0 + mu[i] * mu[i] * ratio))
            n = max(n, 0.0)
            if radius > mu[i] * n:
                x, y = x * (mu[i] * n / radius), y * (mu[i] * n / radius)
            d_n, d_1, d_2 = n - z[i, 0], x - z[i, 1], y - z[i, 2]
            if d_n != 0.0 or d_1 != 0.0 or d_2 != 0.0:
                for p in range(WIDTH):
                    v[columns[i, p]] += values[i, 0, p] * d_n + values[i, 1, p] * d_1 + values[i, 2, p] * d_2
                z[i, 0], z[i, 1], z[i, 2] = n, x, y


class Packed:
    """Contact blocks of spheres as the sweeps take them. Raises ValueError, with a reason, for other problems."""

    def __init__(self, p: ContactBlocks):
        k, B = np.diff(p.unknown), p.blocks
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
        if p.M.nnz != p.b.size or (p.M.indices != np.arange(p.b.size)).any():
            raise ValueError("a diagonal M is needed")
        self.scale = 1.0 / np.sqrt(p.M.data)
        self.columns, self.values = np.zeros((B, WIDTH), dtype=np.int32), np.zeros((B, 3, WIDTH))
        first, column = p.J.indptr.astype(np.int64), p.J.indices.astype(np.int64)
        if not pack(np.array(p.row), first, column, p.J.data, self.scale, self.columns, self.values):
            raise ValueError(f"a contact moves more than {WIDTH} velocities; two bodies have as many")
        W = np.einsum("iap,ibp->iab", self.values, self.values)
        self.own = np.stack([W[:, 0, 0], W[:, 1, 1]], axis=-1)
        W -= self.own[:, [0, 1, 1]][:, :, None] * np.eye(3)
        if (np.abs(W).max(axis=(1, 2), initial=0.0) > DIAGONAL * self.own[:, 0]).any():
            raise ValueError("a contact's own W is not diag(w_n, w_t, w_t), which that of spheres is")
        self.free, self.mu, self.associated = self.scale * p.b, np.array(p.mu), p.cone == ASSOCIATED
        self.there = np.arange(3) < k[:, None]
        self.c = self.spread(p.c)

    def spread(self, x: Array) -> Array:
        """Unknowns (X,) as (B, 3), zero where there are none."""
        z = np.zeros(self.there.shape)
        z[self.there] = x
        return z

    def velocity(self, z: Array) -> Array:
        """v (n,), scaled, of z."""
        v = self.free.copy()
        add_impulses(self.columns, self.values, z, v)
        return v

    def swept(self, z: Array, count: int) -> Array:
        """z after `count` sweeps."""
        z = z.copy()
        over = 1.0 if self.associated.any() else OVER
        law = self.c, self.own, self.mu, self.associated
        sphere_sweeps(self.columns, self.values, *law, over, count, self.velocity(z), z)
        return z


class Acceleration:
    """Anderson's acceleration of z+ = G(z), G some sweeps, on its way; `answer` is the last G(z) that was taken."""

    def __init__(self, packed: Packed, z: Array):
        self.packed, self.weight = packed, np.sqrt(packed.own[:, [0, 1, 1]])
        self.changes, self.answers = (np.empty((MEMORY, z.size)) for _ in range(2))
        self.gram, self.known, self.next = np.empty((MEMORY, MEMORY)), 0, 0
        self.answer, self.change = self._look(z)

    def _look(self, z: Array) -> tuple[Array, Array]:
        """G(z), and G(z) - z in units of impulses, flat."""
        answer = self.packed.swept(z, INNER)
        return answer, (self.weight * (answer - z)).ravel()

    def advance(self) -> None:
        """One acceleration, or the plain sweeps where that makes nothing smaller."""
        answer, change = self._look(self._guess())
        if self.known and _square(change) > _square(self.change):
            self.known = self.next = 0
            answer, change = self._look(self.answer)
        else:
            k = self.next
            np.subtract(change, self.change, out=self.changes[k])
            np.subtract(answer.ravel(), self.answer.ravel(), out=self.answers[k])
            self.known, self.next = max(self.known, k + 1), (k + 1) % MEMORY
            self.gram[k, : self.known] = self.gram[: self.known, k] = self._along(self.changes[k])
        self.answer, self.change = answer, change

    def _guess(self) -> Array:
        """Where the changes would vanish if they were linear, by least squares."""
        m = self.known
        A = self.gram[:m, :m] + SMALL * np.trace(self.gram[:m, :m]) * np.eye(m)
        if not A.any():
            return self.answer
        share = np.linalg.solve(A, self._along(self.change))
        return self.answer - np.einsum("k,kx->x", share, self.answers[:m]).reshape(self.answer.shape)

    def _along(self, change: Array) -> Array:
        """Products of the differences kept with a change. The threads of `@` wait for longer than this takes."""
        return np.einsum("kx,x->k", self.changes[: self.known], change)


def _square(x: Array) -> float:
    return float(np.einsum("x,x->", x, x))


@dataclass(frozen=True)
class SphereSweeps:
    """See the module. `stop` is the residual at which it stops, `most` the number of sweeps."""

    stop: float = STOP
    most: int = MOST
    name: str = "spheres"
    solves: frozenset[str] = frozenset({ContactBlocks.kind})
    guaranteed_for: str = "contacts of spheres with associated flow, in the limit; Coulomb's law: no proof"
    source: str = "Jourdan, Alart & Jean 1998; Walker & Ni 2011"
    tolerance: float = GENERIC

    def adjusted(self, tolerance: float | None, max_iterations: int | None) -> "SphereSweeps":
        """Another residual at which it stops and up to which it counts as solved, and another number of sweeps."""
        given = self if tolerance is None else replace(self, stop=tolerance, tolerance=max(tolerance, self.tolerance))
        return replace(given, most=max_iterations or self.most)

    def why_not(self, problem: Any) -> str | None:
        """Contact blocks of spheres are taken."""
        found = self._packed(problem)
        return found if isinstance(found, str) else None

    def _packed(self, problem: Any) -> "Packed | str":
        """The problem as the sweeps take it, or why they do not."""
        if problem.kind not in self.solves:
            return f"{self.name} solves contact blocks, not {problem.kind}"
        try:
            return Packed(problem)
        except ValueError as error:
            return f"{self.name}: {error}"

    def solve(self, problem: Any) -> Solution:
        """From zero."""
        return self.solve_from(problem, np.zeros(problem.size))

    def solve_from(self, problem: Any, start: Array) -> Solution:
        """From a start (X,); what stops at the limit is the best iterate."""
        begun = clock()
        packed = self._packed(problem)
        if isinstance(packed, str):
            return refusal(self, problem, packed)
        z = packed.spread(np.where(np.isfinite(start), start, 0.0))
        found, x, sweeps = problem.residual(z[packed.there]), z[packed.there], 0
        accelerated = Acceleration(packed, z) if packed.associated.all() else None
        look = FIRST_LOOK
        while found > self.stop and sweeps < self.most:
            look = min(look, self.most - sweeps)
            if accelerated is None:
                z = packed.swept(z, look)
            else:
                for _ in range(max(look // INNER, 1)):
                    accelerated.advance()
                z = accelerated.answer
            sweeps, look = sweeps + look, min(2 * look, LAST_LOOK)
            residual = problem.residual(z[packed.there])
            if residual < found:
                found, x = residual, z[packed.there]
                if best.watched(x.size):
                    best.offer(x)
        status = Status.SOLVED if found <= self.tolerance else Status.ITERATION_LIMIT
        reason = "" if status is Status.SOLVED else status.meaning
        return Solution(x, status, found, self.tolerance, sweeps, clock() - begun, self.name, reason)


SOLVER = SphereSweeps()
