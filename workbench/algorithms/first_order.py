"""Common parts of first-order methods: blocks of cones and intervals over bodies, W never formed, and the outer loop.

    v = V^T x,   u = J v + q,   u complementary to x in its set, block by block

with the rows of J (X, n) and of V = J M^-1 stored; a compliance is a velocity of its own. A problem over W has J = W
and V = 1. Blocks are friction cones, normal first, discs or intervals. Every block has its own units, those of the
residual: rho_i = m_i / tr W_ii for a cone or disc, 1 / W_ii for an interval; methods see D W D with D = sqrt(rho).

A method has x (X,), the last iterate, and `advance(count)`. After every few iterations the residual is measured and the
best iterate stored and offered to watchers, until the residual meets the tolerance.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numba import types
from numpy.typing import NDArray
from scipy import sparse

from workbench.algorithms import best
from workbench.algorithms.base import GENERIC, refusal
from workbench.algorithms.block_sets import own_diagonal, own_mobilities
from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR
from workbench.engine.stored import STORED, Stored, as_stored
from workbench.engine.timing import clock
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.problem import Problem, block_places
from workbench.problems.residual import Iterate, measure
from workbench.problems.sets import APART, COULOMB, DISC, BlockSets
from workbench.problems.solution import Solution, Status
from workbench.support.arrays import Array

STOP = 1e-7
"""Default residual at which a method stops."""

NOT_TAKEN = {
    COULOMB: "Coulomb's law minimises no energy, unlike associated flow",
    APART: "separate torsion and rolling bounds are another law, whose solution is not a projection on one cone",
}
"""Laws that a method may not accept, with the reason."""

Indices = NDArray[np.int64]


@kernel(types.void(STORED, VECTOR, VECTOR))
def scatter(V, x, v):
    """Compute v = V^T x."""
    for j in range(v.shape[0]):
        v[j] = 0.0
    for i in range(x.shape[0]):
        if x[i] != 0.0:
            for p in range(V.pointer[i], V.pointer[i + 1]):
                v[V.column[p]] += V.data[p] * x[i]


@kernel(types.void(STORED, VECTOR, VECTOR, VECTOR))
def gather(J, v, q, u):
    """Compute u = J v + q."""
    for i in range(q.shape[0]):
        moved = 0.0
        for p in range(J.pointer[i], J.pointer[i + 1]):
            moved += J.data[p] * v[J.column[p]]
        u[i] = moved + q[i]


@dataclass(frozen=True, eq=False)
class ScaledBlocks:
    """A problem in the methods' units; `order` (X,) are the positions of its unknowns in the original problem.

    J, V: sparse rows over that many `velocities`; own: the diagonal blocks of W, k_i k_i numbers for block i; part (B,)
    the islands.
    """

    J: Stored
    V: Stored
    velocities: int
    own: Array
    q: Array
    sets: BlockSets
    part: Indices
    order: Indices
    D: Array

    @property
    def size(self) -> int:
        return self.q.size

    def velocity(self, x: Array, v: Array, u: Array) -> None:
        """Compute v = V^T x and u = J v + q."""
        scatter(self.V, x, v)
        gather(self.J, v, self.q, u)

    def measure(self, x: Array) -> float:
        """Return the residual of x (X,)."""
        v, u, terms = np.empty(self.velocities), np.empty(self.size), np.empty(self.size)
        self.velocity(x, v, u)
        gather(self.J._replace(data=abs(self.J.data)), abs(v), np.zeros(self.size), terms)
        rows = Iterate(x, u, self.q, self.q, terms, own_diagonal(self.own, self.sets.first))
        return measure(self.sets, self.part, self.part, rows, np.empty(self.part.size))

    def plain(self, x: Array) -> Array:
        """Convert x (X,) to unknowns of the problem."""
        z = np.empty(self.size)
        z[self.order] = self.D * x
        return z

    def scaled(self, z: Array) -> Array:
        """Convert unknowns of the problem to x; the inverse of `plain`."""
        return z[self.order] / self.D


def in_units(J: Any, V: Any, own: Array, q: Array, sets: tuple, part: Indices, order: Indices) -> ScaledBlocks:
    """Return `ScaledBlocks` for unscaled data."""
    first, cone, mu, lower, upper = sets
    mobility = own_mobilities(own, first, cone)
    D = 1.0 / np.sqrt(np.where(mobility > 0, mobility, 1.0))
    scale = sparse.diags_array(D)
    J, V = sparse.csr_array(scale @ J), sparse.csr_array(scale @ V)
    row, column = block_places(first)
    # The radius of a disc is an impulse, unlike a friction coefficient.
    sets = BlockSets(first, cone, np.where(cone == DISC, mu / D[first[:-1]], mu), lower / D, upper / D)
    return ScaledBlocks(as_stored(J), as_stored(V), J.shape[1], own * D[row] * D[column], D * q, sets, part, order, D)


def blocks_of(problem: Problem) -> ScaledBlocks:
    """Return the blocks of a problem that `why_not_taken` accepts."""
    p = problem.by_set
    J, V = p.operator.factors()
    return in_units(J, V, p.operator.own, p.q, p.sets, p.part, p.order)


def why_not_taken(problem: Problem, laws: frozenset[int]) -> str | None:
    """Return why a problem does not suit a method for these laws, or None if it does."""
    if problem.is_batch:
        return "one problem at a time is needed, not a batch"
    for law, reason in NOT_TAKEN.items():
        if law not in laws and (problem.laws == law).any():
            return reason
    return problem.by_set.operator.why_no_factors()


class Method(Protocol):
    """State of a first-order method."""

    x: Array

    def advance(self, count: int) -> None:
        """Make `count` iterations."""
        ...


@dataclass(frozen=True)
class FirstOrder:
    """A first-order method as a Solver. `stop` is the residual at which it stops, `most` the iteration limit."""

    name: str
    solves: frozenset[str]
    guaranteed_for: str
    source: str
    laws: frozenset[int]
    begin: Callable[[ScaledBlocks, Array], Method]
    at_once: int
    most: int
    stop: float = STOP
    tolerance: float = GENERIC
    of_spheres: Callable[[], Any] | None = None
    """Returns the same method for contact blocks of a packing of spheres (`spheres.OfSpheres`), if there is one."""

    def adjusted(self, tolerance: float | None, max_iterations: int | None) -> "FirstOrder":
        """Return the solver with another residual for termination, and another iteration limit."""
        return replace(self, stop=tolerance or self.stop, most=max_iterations or self.most)

    def why_not(self, problem: Any) -> str | None:
        """Return the reason, in words, why it cannot take the problem, or None if it can."""
        if problem.kind not in self.solves:
            return f"{self.name} solves {', '.join(sorted(self.solves))}, not {problem.kind}"
        found = why_not_taken(problem, self.laws)
        return found and f"{self.name}: {found}"

    def solve(self, problem: Any) -> Solution:
        """Solve from zero."""
        return self.solve_from(problem, np.zeros(problem.size))

    def solve_from(self, problem: Any, start: Array) -> Solution:
        """Solve from a start (n,); at the iteration limit, the best iterate is returned."""
        if reason := self.why_not(problem):
            return refusal(self, problem, reason)
        if self.of_spheres and problem.kind == ContactBlocks.kind:
            of_spheres = replace(self.of_spheres(), name=self.name, stop=self.stop, most=self.most)
            if of_spheres.why_not(problem) is None:
                return of_spheres.solve_from(problem, start)
        begun = clock()
        blocks = blocks_of(problem)
        x = blocks.scaled(np.array(start, dtype=float))
        method, residual, iterations = self.begin(blocks, x.copy()), blocks.measure(x), 0
        ending = Status.ITERATION_LIMIT
        while residual > self.stop and iterations < self.most:
            count = min(self.at_once, self.most - iterations)
            try:
                method.advance(count)
            except RuntimeError:
                # SciPy's message for a singular matrix is "Factor is exactly singular".
                ending = Status.SINGULAR
                break
            iterations += count
            reached = blocks.measure(method.x)
            if reached < residual:
                residual, x = reached, method.x.copy()
                if best.watched(x.size):
                    best.offer(blocks.plain(x))
        z = blocks.plain(x)
        status = Status.SOLVED if residual <= self.stop else ending
        reason = "" if status is Status.SOLVED else status.meaning
        own, elapsed = float(problem.residual(z)), clock() - begun
        return Solution(z, status, own, self.tolerance, iterations, elapsed, self.name, reason)
