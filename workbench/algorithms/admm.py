"""The alternating direction method of multipliers (ADMM) for friction cones, discs and intervals, over bodies.

For min 1/2 x.W x + (q + s).x over the sets: with a copy z of x that is held in them, and multipliers g of x = z,

    (W + (rho + eta) I) x = rho z + eta x_before - q - s - g
    z = P(x + g / rho),   g <- g + rho (x - z)

with x over-relaxed in the second line. On convergence -g is u + s. Coulomb's law uses De Saxce's shift s = mu |g_t| n,
updated in every iteration. rho decreases if the dual residual dominates and increases if the primal one does; only then
is a matrix factored, that of the velocities, rho + eta + V^T J, since W may be large and dense.

Source: Carpentier, Montaut & Le Lidec 2024, algorithm 3 (Boyd et al. 2011). Guarantee: for associated flow, W symmetric
PSD and a solvable problem, ADMM converges for every rho, linearly at best; with the shift there is no proof.
"""

from typing import Any

import numpy as np
from numpy.linalg import norm
from scipy import sparse
from scipy.sparse.linalg import splu

from workbench.algorithms.block_sets import project_blocks
from workbench.algorithms.first_order import FirstOrder, ScaledBlocks, gather, scatter
from workbench.problems.sets import ASSOCIATED, COULOMB, DISC
from workbench.support.arrays import Array

AT_ONCE, MOST = 10, 5000
NEAR = 1e-6
"""eta, in units in which W has about ones on its diagonal: it makes W + eta I nonsingular."""
RELAXED = 1.6
"""Over-relaxation factor of the step from the last copy to x."""
APART, FACTOR, PATIENCE = 2.0, 10.0, 20
"""Ratio of the two relative residuals at which rho changes; the largest factor of a change; and iterations between two
changes."""
RANGE = (1e-9, 1e9)
"""Range of rho, if W has about ones on its diagonal."""


class Alternating:
    """State of the method; x is the copy in the sets."""

    def __init__(self, blocks: ScaledBlocks, x: Array):
        self.blocks, self.x, self.free = blocks, x, x.copy()
        first, cone, self.mu, *_ = blocks.sets
        shifted = cone == COULOMB
        self.block = np.repeat(np.arange(cone.size), np.diff(first))
        self.normals, self.shifted = first[:-1][shifted], shifted
        self.v, u = np.empty(blocks.velocities), np.empty(blocks.size)
        blocks.velocity(x, self.v, u)
        self.g = -u
        self.g[self.normals] -= self.shift()
        shape = x.size, self.v.size
        J, V = (sparse.csr_array((values, column, first), shape) for first, column, values in (blocks.J, blocks.V))
        self.coupled = sparse.csc_array(V.T @ J)
        self.iterations, self.rho = 0, 1.0
        self.factor()

    def factor(self) -> None:
        """Factor the matrix for the current rho."""
        one = sparse.eye_array(self.v.size, format="csc")
        matrix = sparse.csc_array(self.coupled + (self.rho + NEAR) * one)
        self.factors: Any = splu(
            matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=1e-3, options={"SymmetricMode": True}
        )

    def shift(self) -> Array:
        """De Saxce's shift mu |g_t| for every cone under Coulomb's law."""
        square = self.g**2
        square[self.normals] = 0.0
        return (self.mu * np.sqrt(np.bincount(self.block, square, self.mu.size)))[self.shifted]

    def advance(self, count: int) -> None:
        b = self.blocks
        for _ in range(count):
            right = self.rho * self.x + NEAR * self.free - b.q - self.g
            right[self.normals] -= self.shift()
            # (W + c I)^-1 = (I - J (c I + V^T J)^-1 V^T) / c, W = J V^T.
            scatter(b.V, right, self.v)
            free = np.empty_like(right)
            gather(b.J, -self.factors.solve(self.v), right, free)
            free /= self.rho + NEAR
            ahead = RELAXED * free + (1.0 - RELAXED) * self.x
            x = ahead + self.g / self.rho
            project_blocks(b.sets, x)
            self.g += self.rho * (ahead - x)
            primal, dual = norm(free - x) * norm(self.g), self.rho * norm(x - self.x) * norm(x)
            self.x, self.free = x, free
            self.iterations += 1
            if self.iterations % PATIENCE == 0 and not dual <= APART * primal <= APART**2 * dual:
                change = np.sqrt(primal / dual) if dual else FACTOR
                self.rho = float(np.clip(self.rho * np.clip(change, 1.0 / FACTOR, FACTOR), *RANGE))
                self.factor()


SOLVER = FirstOrder(
    name="admm",
    solves=frozenset({"conic QP", "global conic QP", "Coulomb NCP", "global Coulomb NCP", "contact blocks"}),
    guaranteed_for="associated flow, discs and intervals with W symmetric PSD, in the limit; Coulomb's law: no proof",
    source="Carpentier, Montaut & Le Lidec 2024",
    laws=frozenset({COULOMB, ASSOCIATED, DISC}),
    begin=Alternating,
    at_once=AT_ONCE,
    most=MOST,
)
