"""Multifrontal factorisation of Newton's matrix M + J^T D J for a packing of spheres, with dense fronts.

Bodies are eliminated in the order of `dissection`. The bodies of a front and those coupled to them form a dense matrix

    F = [[F_11, F_12], [F_21, F_22]],   F_22 - F_21 F_11^-1 F_12

whose Schur complement is added to the front after it. Almost all operations are products of dense matrices, ten times
as fast as a sparse factorisation column by column. Pivots are chosen within F_11 only. For a symmetric positive
definite matrix F_11 = L L^T and F_21 L^-T are stored instead, with half the operations. Source: Duff & Reid 1983.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types
from scipy import sparse
from scipy.linalg.blas import dgemm, dsyrk, dtrsm
from scipy.linalg.lapack import dgetrf, dgetrs, dpotrf, dtrtrs

from workbench.algorithms.block_laws import Laws
from workbench.algorithms.block_newton import OverVelocities
from workbench.algorithms.dissection import Front, dissected, neighbours, places
from workbench.algorithms.sphere_kernels import BLOCKS
from workbench.algorithms.spheres import SpherePacking
from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX
from workbench.problems.contact_blocks import ContactBlocks, Indices
from workbench.support.arrays import Array


@kernel(types.void(INDICES, INDICES, INDICES, BLOCKS, MATRIX))
def add_contacts(contact, a, b, K, F):
    """Add K[contact[k]] (12, 12) to F at the bodies a[k] and b[k], of six rows each; -1 is no body. F is transposed."""
    for k in range(contact.size):
        i = contact[k]
        for s in range(2):
            row = a[k] if s == 0 else b[k]
            for t in range(2):
                column = a[k] if t == 0 else b[k]
                if row < 0 or column < 0:
                    continue
                for p in range(6):
                    for q in range(6):
                        F[6 * column + q, 6 * row + p] += K[i, 6 * s + p, 6 * t + q]


@kernel(types.void(INDICES, MATRIX, MATRIX))
def add_front(place, S, F):
    """Add S to F at the bodies `place`, of six rows each."""
    for j in range(place.size):
        for q in range(6):
            for i in range(place.size):
                for p in range(6):
                    F[6 * place[j] + q, 6 * place[i] + p] += S[6 * j + q, 6 * i + p]


@kernel(types.void(INDICES, MATRIX, MATRIX))
def add_lower(place, S, F):
    """Add the lower triangle of S to that of F, like `add_front`; both are transposed."""
    for j in range(place.size):
        for i in range(j, place.size):
            a, b = place[i], place[j]
            for q in range(6):
                for p in range(6):
                    if a >= b:
                        F[6 * b + q, 6 * a + p] += S[6 * j + q, 6 * i + p]
                    else:
                        F[6 * a + p, 6 * b + q] += S[6 * j + q, 6 * i + p]


@dataclass(frozen=True)
class SymbolicFront:
    """The symbolic part of a front.

    The velocities of its pivots and of the rest, its contacts and the positions of their bodies in it, and the
    positions of the Schur complements of earlier fronts.
    """

    pivots: Indices
    rest: Indices
    contact: Indices
    a: Indices
    b: Indices
    left: list[tuple[int, Indices]]


class FrontalMatrix:
    """Newton's matrix like `block_newton.NewtonMatrix`, in the order of the velocities."""

    def __init__(self, problem: ContactBlocks, J: Any, packed: SpherePacking):
        self.K, self.J, self.J_T = problem.inertia.K, J, sparse.csr_array(J.T)
        self.over = OverVelocities(self.K, J)
        self.rows = np.diff(problem.row)
        pair, N = packed.pair.astype(np.int64), packed.body.shape[0] - 1
        graph, kept = neighbours(pair, N)
        fronts = dissected(places(pair[kept], packed.between[kept], graph), graph)
        entries = J.tocoo()
        contact, body = problem.block_of_row[entries.row], entries.col // 6
        side = body != pair[contact, 0]
        self.H = np.zeros((problem.blocks, 3, 12))
        self.H[contact, entries.row - problem.row[contact], 6 * side + entries.col % 6] = entries.data
        self.plans = plans(fronts, pair, N)

    def factored(self, laws: Laws, D: Array, positive: bool = False) -> Any:
        """Return factors with the blocks D, or None if the matrix is singular. `positive`: D is positive definite."""
        blocks, start, rough = np.zeros((self.rows.size, 3, 3)), laws.at_W[:-1], self.rows == 3
        blocks[rough] = D[start[rough, None] + np.arange(9)].reshape(-1, 3, 3)
        blocks[~rough, 0, 0] = D[start[~rough]]
        K = self.H.transpose(0, 2, 1) @ blocks @ self.H
        diagonal = self.K.diagonal()
        left: dict[int, Array] = {}
        fronts: list[LU | Cholesky] = []
        method, add = (Cholesky, add_lower) if positive else (LU, add_front)
        for k, plan in enumerate(self.plans):
            p, q = plan.pivots.size, plan.rest.size
            F = np.zeros((p + q, p + q), order="F")
            F[np.arange(p), np.arange(p)] = diagonal[plan.pivots]
            add_contacts(plan.contact, plan.a, plan.b, K, F.T)
            for before, place in plan.left:
                add(place, left.pop(before).T, F.T)
            found = method.eliminated(F, p)
            if found is None:
                return None
            front, rest = found
            fronts.append(front)
            if q:
                left[k] = rest
        return Factors(self.plans, fronts)


@dataclass(frozen=True)
class LU:
    """Factors of one front: those of F_11, then F_21 and F_11^-1 F_12."""

    factors: Array
    swaps: Array
    low: Array
    up: Array

    @classmethod
    def eliminated(cls, F: Array, p: int) -> "tuple[LU, Array] | None":
        """Eliminate the first p rows of F; returns factors and Schur complement, or None if F_11 is singular."""
        factors, swaps, failed = dgetrf(F[:p, :p])
        if failed:
            return None
        low, rest = F[p:, :p].copy(order="F"), F[p:, p:].copy(order="F")
        up = np.zeros(low.T.shape, order="F")
        if rest.size:
            up = dgetrs(factors, swaps, F[:p, p:])[0]
            rest = dgemm(-1.0, low, up, 1.0, rest, overwrite_c=True)
        return cls(factors, swaps, low, up), rest

    def down(self, x: Array, plan: SymbolicFront) -> None:
        x[plan.pivots] = dgetrs(self.factors, self.swaps, x[plan.pivots])[0]
        x[plan.rest] -= self.low @ x[plan.pivots]

    def back(self, x: Array, plan: SymbolicFront) -> None:
        x[plan.pivots] -= self.up @ x[plan.rest]


@dataclass(frozen=True)
class Cholesky:
    """Factors of one front: L, with F_11 = L L^T, and F_21 L^-T. Only lower triangles of symmetric matrices are set."""

    L: Array
    low: Array

    @classmethod
    def eliminated(cls, F: Array, p: int) -> "tuple[Cholesky, Array] | None":
        """Eliminate the first p rows of F; returns factors and Schur complement, or None unless F_11 is SPD."""
        L, failed = dpotrf(F[:p, :p], lower=1)
        if failed:
            return None
        low, rest = F[p:, :p].copy(order="F"), F[p:, p:].copy(order="F")
        if rest.size:
            low = dtrsm(1.0, L, low, side=1, lower=1, trans_a=1, overwrite_b=True)
            rest = dsyrk(-1.0, low, 1.0, rest, lower=1, overwrite_c=True)
        return cls(L, low), rest

    def down(self, x: Array, plan: SymbolicFront) -> None:
        x[plan.pivots] = dtrtrs(self.L, x[plan.pivots], lower=1)[0]
        x[plan.rest] -= self.low @ x[plan.pivots]

    def back(self, x: Array, plan: SymbolicFront) -> None:
        x[plan.pivots] = dtrtrs(self.L, x[plan.pivots] - self.low.T @ x[plan.rest], lower=1, trans=1)[0]


@dataclass(frozen=True)
class Factors:
    """Factors of all fronts."""

    plans: list[SymbolicFront]
    fronts: list[LU | Cholesky]

    def solve(self, b: Array) -> Array:
        """Solve the matrix for a right-hand side b, (n,) or (n, k)."""
        x = b.copy(order="F")
        for plan, front in zip(self.plans, self.fronts, strict=True):
            if x[plan.pivots].any():
                front.down(x, plan)
        for plan, front in zip(self.plans[::-1], self.fronts[::-1], strict=True):
            front.back(x, plan)
        return x


def plans(fronts: list[Front], pair: Indices, N: int) -> list[SymbolicFront]:
    """Return the symbolic part of every front. A contact belongs to the front of its first eliminated body."""
    # The missing body, number N, comes after all others.
    front = np.full(N + 1, len(fronts))
    for k, some in enumerate(fronts):
        front[some.pivots] = k
    owner = front[pair].min(axis=1)
    order = np.argsort(owner, kind="stable")
    first = np.searchsorted(owner[order], np.arange(len(fronts) + 1))
    place, found = np.full(N + 1, -1), []
    for k, some in enumerate(fronts):
        bodies = np.r_[some.pivots, some.rest]
        place[bodies] = np.arange(bodies.size)
        contact = order[first[k] : first[k + 1]]
        a, b = (np.ascontiguousarray(place[pair[contact, s]]) for s in range(2))
        left = [(j, place[fronts[j].rest]) for j in some.before if fronts[j].rest.size]
        found.append(SymbolicFront(velocities(some.pivots), velocities(some.rest), contact, a, b, left))
        place[bodies] = -1
    return found


def velocities(bodies: Indices) -> Indices:
    """Return the six velocities of each body."""
    return (6 * bodies[:, None] + np.arange(6)).ravel()
