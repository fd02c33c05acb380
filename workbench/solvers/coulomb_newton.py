"""Semismooth Newton with sparse factors for many contacts: the Coulomb NCP and the CCP to round-off.

Stages, each from the best iterate so far: block Gauss-Seidel sweeps; bursts of undamped Newton steps; the proximal
point method (Rockafellar 1976), which solves the problem of W + eps I, q - eps z for the next z, by undamped Newton
steps and, where these fail, by damped ones, with a burst in between now and then. The undamped steps work like an
active set method: the error may rise a long way before it falls to round-off. Damped ones creep where they cross kinks.
eps makes the Newton matrix regular however redundant the contacts; it falls where the subproblems are solved, and rises
where not. Cost of a step: one sparse LU, contacts in minimum degree order.

Sources: Alart & Curnier 1991; Acary, Bremond & Huber 2018 (the proximal method around Newton's).
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from workbench.solvers.one_contact import natural_gap
from workbench.solvers.sparse_contacts import all_contacts, contact_velocity, move, newton_matrix, sweeps

Array = NDArray[np.float64]

ENOUGH = 1e-14
"""Natural-map residual at which the stages end; a last burst then takes what round-off leaves."""
SWEEPS, BURST, STEPS, ROUNDS, EVERY = 5, 20, 15, 400, 5
"""Sweeps at the start, Newton steps of a burst and of a subproblem, proximal steps at most and between bursts."""
HALVINGS, MEMORY, CREEP, RISE = 7, 3, 5, 10.0
"""Of a damped step's length; errors of which the largest must be undercut; damped steps that must halve the error; the
error, in units of z, that ends a burst."""
SHARE = 0.1
"""Error of a subproblem, beside its first one, at which it counts as solved."""
ROUND_OFF = 1e-14
"""Error, in units of z, below which Newton's method ends once it gains less than a digit a step."""
PIVOTING = 1e-6
"""Share of the largest entry of a column that a diagonal pivot must have: small, since pivoting fills the factors."""
SYMMETRIC = {"SymmetricMode": True}
FLOORS = (1e-13, 1e-9, 1e-6)
"""Shares of tr W / n added to the diagonal of W in a burst's matrix, in turn: redundant contacts make W singular."""
FIRST_SLOPE, SLOPE = 30.0, 0.1
"""The same per error in units of z, in the first burst and later: far away a stiff W leads astray."""


def contact_order(W: sparse.csr_array, r: int, d: int) -> NDArray[np.int64]:
    """The contacts in an order that keeps factors of matrices with the blocks of W sparse (minimum degree)."""
    contact = np.concatenate([np.arange(r), np.repeat(np.arange(r), d)])
    entries = W.tocoo()
    graph = sparse.csr_array((np.ones(entries.nnz), (contact[entries.row], contact[entries.col])), shape=(r, r))
    dominant = sparse.csc_array(graph + graph.T + (1 + 2 * entries.nnz) * sparse.eye_array(r))
    return np.argsort(splu(dominant, permc_spec="MMD_AT_PLUS_A", options=SYMMETRIC).perm_c)


def block_rows(W: sparse.csr_array, rows: NDArray[np.int64]) -> sparse.bsr_array:
    """W with its rows and columns in the order `rows` (r, m), as m x m blocks, all diagonal ones stored."""
    r, m = rows.shape
    new = np.empty(r * m, dtype=np.int64)
    new[rows.ravel()] = np.arange(r * m)
    entries = W.tocoo()
    # Zeros that are stored complete the diagonal blocks, which Newton's matrix fills.
    contact, a, b = np.indices((r, m, m)).reshape(3, -1)
    i, j = np.r_[new[entries.row], m * contact + a], np.r_[new[entries.col], m * contact + b]
    full = sparse.coo_array((np.r_[entries.data, np.zeros(r * m * m)], (i, j)), shape=W.shape)
    blocks = sparse.bsr_array(full.tocsr(), blocksize=(m, m))
    blocks.sort_indices()
    return blocks


def by_columns(blocks: sparse.bsr_array) -> tuple[sparse.csc_array, NDArray[np.int64]]:
    """A matrix of the same pattern stored by columns, and the place of every block's entries among its values."""
    numbers = np.arange(1.0, blocks.data.size + 1).reshape(blocks.data.shape)
    matrix = sparse.bsr_array((numbers, blocks.indices, blocks.indptr), shape=blocks.shape).tocsc()
    matrix.sort_indices()
    place = np.empty(matrix.nnz, dtype=np.int64)
    place[matrix.data.astype(np.int64) - 1] = np.arange(matrix.nnz)
    return matrix, place.reshape(blocks.data.shape)


class BlockProblem:
    """A cone problem contact by contact: what Newton's method needs, with the pattern of its matrix worked out once.

    W (n, n) dense or sparse, q (n,), mu (r,), ordered [n (r), t (d r)] as in `problems`.
    """

    def __init__(self, W: Array | sparse.sparray, q: Array, mu: Array, d: int, associated: bool):
        r, m = mu.size, 1 + d
        W = sparse.csr_array(W)
        order = contact_order(W, r, d)
        self.rows = np.column_stack([order, r + d * order[:, None] + np.arange(d)])
        self.q, self.mu = q[self.rows], mu[order]
        self.trace = float(W.diagonal().sum())
        self.law = (W.diagonal(), np.array(q), np.array(mu), d, associated)
        self.associated = associated
        blocks = block_rows(W, self.rows)
        self.first, self.column = blocks.indptr.astype(np.int64), blocks.indices.astype(np.int64)
        self.blocks = np.ascontiguousarray(blocks.data)
        self.W = (self.first, self.column, self.blocks)
        self.matrix, self.place = by_columns(blocks)
        self.unit = self.trace / (r * m) if self.trace > 0 else 1.0
        own = self.blocks[np.repeat(np.arange(r), np.diff(self.first)) == self.column].trace(axis1=1, axis2=2)
        self.rho = m / np.where(own > 0, own, m * self.unit)
        self.u, self.gap = np.empty((r, m)), np.empty((r, m))
        self.C, self.B = np.empty((r, m, m)), np.empty((r, m, m))
        self.factors = 0

    def residual(self, z: Array) -> float:
        """The problem's own, as in `problems`; z (r, 1 + d)."""
        u = np.empty_like(z)
        contact_velocity(*self.W, self.q, z, u)
        return natural_gap(*self.law, self.plain(z), self.plain(u))

    def plain(self, z: Array) -> Array:
        """z (r, 1 + d) as (n,), ordered [n, t]."""
        x = np.empty(z.size)
        x[self.rows] = z
        return x

    def start(self, z: Array, centre: Array, eps: float) -> float:
        """The error at z of the proximal problem; u, gap, C and B follow z."""
        contact_velocity(*self.W, self.q, z, self.u)
        self.u += eps * (z - centre)
        return all_contacts(self.mu, self.rho, self.associated, z, self.u, self.gap, self.C, self.B)

    def newton_step(self, eps: float) -> Array | None:
        """- (C + B (W + eps I))^-1 gap, (r, 1 + d); None where there is none."""
        newton_matrix(*self.W, self.place, self.C, self.B, eps, self.matrix.data)
        try:
            factors = splu(self.matrix, permc_spec="NATURAL", diag_pivot_thresh=PIVOTING, options=SYMMETRIC)
        except RuntimeError:
            return None
        self.factors += 1
        step = factors.solve(-self.gap.ravel()).reshape(self.gap.shape)
        return step if np.isfinite(step).all() else None

    def newton(
        self, z: Array, centre: Array, eps: float, goal: float, limit: float, damped: bool = False, floor: float = 0.0,
        slope: float = 0.0,
    ) -> float:  # fmt: skip
        """Newton steps on the proximal problem from z, which becomes the best iterate; returns its error.

        To eps the matrix adds floor + slope min(1, error / limit), in units of tr W / n. Ends below `goal`, above
        `limit` or after STEPS steps; BURST where eps = 0, when there is no subproblem.
        """
        error = self.start(z, centre, eps)
        best, found, errors, iterate = error, z.copy(), [error], z.copy()
        for _ in range(STEPS if eps else BURST):
            if not goal < error < limit:
                break
            step = self.newton_step(eps + self.unit * (floor + slope * min(1.0, error / limit)))
            if step is None:
                break
            ceiling, halvings = (max(errors[-MEMORY:]), HALVINGS) if damped else (np.inf, 0)
            error = move(
                *self.W, self.q, self.mu, self.rho, self.associated, centre, eps, step, ceiling, halvings,
                iterate, self.u, self.gap, self.C, self.B,
            )  # fmt: skip
            errors.append(error)
            if error < best:
                best = error
                found[:] = iterate
            if damped and len(errors) > CREEP and error > 0.5 * errors[-1 - CREEP]:
                break
            if errors[-2] < ROUND_OFF * limit and error > 0.1 * errors[-2]:
                break
        z[:] = found
        return best


@dataclass
class Search:
    """The best iterate z (r, 1 + d) and its residual, as the stages go; `report` has a line for every stage."""

    problem: BlockProblem
    z: Array
    residual: float
    report: list[str] = field(default_factory=list)

    def offer(self, z: Array) -> float:
        """The residual of z, which is kept if it is the best."""
        z[self.problem.mu == 0, 1:] = 0.0
        residual = self.problem.residual(z)
        if residual < self.residual:
            self.residual, self.z = residual, z.copy()
        return residual

    def burst(self, number: int, size: float) -> None:
        """Undamped Newton steps from the best iterate."""
        z, p = self.z.copy(), self.problem
        floor, slope = FLOORS[number % len(FLOORS)], SLOPE if number else FIRST_SLOPE
        p.newton(z, z.copy(), 0.0, 1e-17 * size, RISE * size, floor=floor, slope=slope)
        self.offer(z)


def solve_blocks(p: BlockProblem) -> Search:
    """All stages; the residual says how far they came."""
    z = np.zeros(p.q.shape)
    best = Search(p, z, p.residual(z))
    sweeps(*p.W, p.q, p.mu, p.associated, SWEEPS, z)
    best.offer(z)
    size = max(float(np.linalg.norm(z)), float(np.linalg.norm(p.rho[:, None] * p.q)))
    best.report.append(f"{SWEEPS} sweeps: {best.residual:.1e}")
    if best.residual > ENOUGH:
        best.burst(0, size)
        best.report.append(f"{p.factors} Newton steps: {best.residual:.1e}")
    if best.residual > ENOUGH:
        rounds = proximal(best, size)
        best.report.append(f"{rounds} proximal steps, {p.factors} Newton steps: {best.residual:.1e}")
    return best


def proximal(best: Search, size: float) -> int:
    """The proximal stage, in place; returns the number of its steps."""
    p = best.problem
    centre, at_centre = best.z.copy(), best.residual
    eps, streak = p.unit * min(best.residual, 0.1), 0
    for k in range(ROUNDS):
        if best.residual <= ENOUGH:
            return k
        if k % EVERY == EVERY - 1:
            before = best.residual
            best.burst(1 + k // EVERY, size)
            if best.residual < before:
                centre, at_centre = best.z.copy(), best.residual
        z = centre.copy()
        goal = max(SHARE * p.start(z, centre, eps), 1e-16 * size)
        error = p.newton(z, centre, eps, goal, RISE * size)
        if error > goal:
            error = p.newton(z, centre, eps, goal, size, damped=True, slope=SLOPE)
        residual = best.offer(z)
        if error <= goal:
            streak += 1
            eps *= 0.5 if streak > 1 else 1.0
        else:
            streak = 0
            eps = min(3.0 * eps, p.unit)
        if error <= goal or residual < at_centre:
            centre, at_centre = z, residual
    return ROUNDS
