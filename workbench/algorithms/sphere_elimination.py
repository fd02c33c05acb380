"""Nonlinear elimination: if a Newton step fails, a few contacts are solved nonlinearly, the others by linear laws.

A Newton step linearises every contact's law. If it fails, a few contacts open, slide or change direction in a way that
their linear laws did not predict, and drag the others along: nine tenths of the error after a step are often in three
to ten contacts of thousands. Those are taken out. All others then respond linearly to changes of the impulses of the
contacts S that are out, so that impulses z and velocities u of S, relative to z_1, u_1 of any state in which the others
obey their linear laws, satisfy

    u = u_1 + W_S (z - z_1),   W_S = U Z^-1 + eps,   U = J_S K^-1 J_S^T,   Z = 1 - D_S U,   K = M + J^T D J

with the blocks D = (C + eps B)^-1 B of the step. That is a friction problem of |S| contacts, dense and not symmetric,
solved by the stages of `coulomb_newton`. Then the contacts with the largest errors are taken out too, a few at a time,
with the previous solution as a good start. K is factored once; each contact taken out costs three solves.

Sources: Lanzkron, Rose & Wilkes 1996; Cai & Li 2011 (elimination of the most nonlinear unknowns).
"""

from typing import Any

import numpy as np
from scipy.linalg.lapack import dgesv

from workbench.algorithms.block_newton import BlockNewton
from workbench.algorithms.coulomb_newton import ContactStages, units
from workbench.algorithms.gauss_seidel import sweeps_of_dense
from workbench.algorithms.small_cones import SWEEPS
from workbench.algorithms.stages import BestIterate, approach, irregular_steps
from workbench.problems.contact_blocks import ContactBlocks, Indices
from workbench.problems.sets import ASSOCIATED, COULOMB
from workbench.support.arrays import Array

AT_ONCE, MOST = 10, 200
"""Contacts taken out at a time, and in total."""
WORST = 0.99
"""Contacts are taken out among the worst ones that together have this share of the squared error."""
ENOUGH, FALL = 0.1, 0.5
"""Shares of the error before the step: below the first no more contacts are taken out, nor below the second if the
error falls by less than FALL."""
SOLVED, EXACT = 1e-9, 1e-15
"""Residual at which the contacts that are out count as solved, and the share of their size at which steps end."""
ROUNDS, LARGEST, FIRST_EPS, LEAST_EPS = 12, 150, 0.1, 1e-6
"""For the contacts that are out: maximum number of proximal points, of contacts for which these are tried, and the
range of initial eps."""
CORRECTIONS, OFF = 3, 0.1
"""Times that the contacts that are out are solved if round-off leaves more than a share OFF of the worst error."""
VAIN = 3
"""Consecutive times that they may be left unsolved."""


class DenseContacts(ContactStages):
    """u = W z + q of r spatial contacts, W (3 r, 3 r) dense, not symmetric."""

    def __init__(self, W: Array, q: Array, mu: Array, associated: bool):
        r = mu.size
        diagonal = W.diagonal().reshape(r, 3)
        D = units(diagonal.sum(axis=1), 3)
        super().__init__(np.arange(3 * r).reshape(r, 3), diagonal, D[:, None], q, mu, associated)
        D = np.repeat(D, 3)
        self.W = D[:, None] * W * D

    def velocity(self, z: Array) -> Array:
        return self.q + (self.W @ z.ravel()).reshape(z.shape)

    def terms(self, z: Array) -> Array:
        return (abs(self.W) @ abs(z).ravel()).reshape(z.shape)

    def show(self, z: Array) -> None:
        """A part is never watched."""

    def sweep(self, count: int, z: Array) -> bool:
        sweeps_of_dense(self.W, self.q.ravel(), self.sets, count, z.reshape(-1))
        return True

    def newton_step(self, eps: float) -> Array | None:
        r, m = self.gap.shape
        A = (self.B @ self.W.reshape(r, m, r * m)).reshape(r, m, r, m)
        A[np.arange(r), :, np.arange(r)] += self.C + eps * self.B
        *_, step, failed = dgesv(A.reshape(r * m, r * m), -self.gap.ravel(), overwrite_a=True)
        self.factors += 1
        return None if failed or not np.isfinite(step).all() else step.reshape(r, m)


def solved(p: DenseContacts, begin: Array) -> tuple[Array, float]:
    """Return the best impulses (3 r,) and their residual, by Newton steps and then proximal points.

    Newton steps begin at the given start, proximal points from there and from zero.
    """
    z = p.begin(begin)
    search, size, stepped = BestIterate(p, z, p.residual(z)), p.size(z), z.copy()
    irregular_steps(p, stepped, z.copy(), 0.0, EXACT * size, size)
    search.offer(stepped)
    for start in (stepped, np.zeros_like(z)):
        if search.residual <= SOLVED or len(z) > LARGEST:
            break
        again = BestIterate(p, start, p.residual(start))
        first = FIRST_EPS if not start.any() else min(max(again.residual, LEAST_EPS), FIRST_EPS)
        p.sweep(SWEEPS, start)
        again.offer(start)
        approach(again, size, first, ROUNDS)
        search.offer(again.z)
    return p.plain(search.z), search.residual


class Elimination:
    """Iteration from the last Newton step of `newton`, at z (R,) with eps, towards the solution of the contacts' laws.

    `z` (R,) is the current iterate, `gaps` (B,) are the sizes of its gaps, `best` (R,) has the `least` error so far,
    and `unsolved` counts consecutive failures to solve the contacts that are out.
    """

    def __init__(self, newton: BlockNewton, z: Array, eps: float, step: Array):
        self.newton, self.centre, self.eps, self.factors = newton, z, eps, newton.last
        p = newton.problem
        self.able, self.associated = able(p)
        self.D = newton.D.copy()
        self.out = np.zeros(0, dtype=np.int64)
        self.responses = np.zeros((p.b.size, 0))
        self.take(z + step)
        self.best, self.least, self.unsolved = self.z, self.error, 0

    def take(self, z: Array) -> None:
        """Set the current iterate."""
        self.z, self.error = z, self.newton.start(z, self.centre, self.eps)
        self.gaps = np.sqrt(np.add.reduceat(self.newton.gap**2, self.newton.laws.row[:-1]))

    def worst(self) -> Indices:
        """Return the contacts to be taken out next."""
        order = np.argsort(-self.gaps)
        share = np.cumsum(self.gaps[order] ** 2)
        many = np.searchsorted(share, WORST * share[-1]) + 1
        found = order[:many]
        return found[self.able[found] & ~np.isin(found, self.out)][:AT_ONCE]

    def advance(self, error: float) -> bool:
        """Take a few more contacts out; returns False if that is no longer useful. `error` is that before the step."""
        new = self.worst()
        if not new.size or self.out.size + new.size > MOST or self.unsolved == VAIN:
            return False
        before = self.error
        self.eliminate(new)
        if self.error < self.least:
            self.best, self.least = self.z, self.error
        return self.error > ENOUGH * error and not (FALL * before < self.error < FALL * error)

    def eliminate(self, new: Indices) -> None:
        """Take the contacts `new` out, and solve all that are out as far as possible (`unsolved`)."""
        matrix, laws = self.newton.matrix, self.newton.laws
        self.out = np.append(self.out, new)
        self.responses = np.hstack([self.responses, self.factors.solve(matrix.J_T[:, of(laws.row, new)].toarray())])
        rows, r = of(laws.row, self.out), self.out.size
        D = self.D[laws.at_W[self.out, None] + np.arange(9)].reshape(r, 3, 3)
        U = matrix.J[rows] @ self.responses
        Z = np.eye(3 * r) - (D @ U.reshape(r, 3, 3 * r)).reshape(3 * r, 3 * r)
        try:
            inverse = np.linalg.inv(Z)
        except np.linalg.LinAlgError:
            # Without these contacts' linear laws the others' response is not unique.
            self.unsolved = VAIN
            return
        W = U @ inverse + self.eps * np.eye(3 * r)
        for _ in range(CORRECTIONS):
            u = self.newton.free[rows] + matrix.J[rows] @ self.newton.problem.inertia.response(matrix.J_T @ self.z)
            u += self.eps * (self.z - self.centre)[rows]
            now = self.z[rows]
            p = DenseContacts(W, u - W @ now, laws.mu[self.out], self.associated)
            found, residual = solved(p, now)
            added = inverse @ (found - now)
            z = self.z - self.newton.each(self.D, matrix.J @ (self.responses @ added))
            z[rows] += added
            self.take(z)
            if residual > SOLVED or self.gaps[self.out].max() <= OFF * self.gaps.max():
                break
        self.unsolved = self.unsolved + 1 if residual > SOLVED else 0


def able(p: ContactBlocks) -> tuple[Any, bool]:
    """Return the contacts (B,) that can be taken out, all of one flow rule, and whether that is the associated one."""
    associated = not (p.cone == COULOMB).any()
    return p.cone == (ASSOCIATED if associated else COULOMB), associated


def of(row: Indices, contacts: Indices) -> Indices:
    """Return the three rows of each of some contacts."""
    return (row[contacts, None] + np.arange(3)).ravel()
