"""Semismooth Newton with sparse factors for many contacts: the Coulomb NCP and the CCP to round-off.

Stages, each from the best iterate so far: block Gauss-Seidel sweeps; bursts of undamped Newton steps; the proximal
point method (Rockafellar 1976), which solves the problem of W + eps I, q - eps z for the next z, by undamped Newton
steps and, where these fail, by damped ones, with a burst in between now and then. The undamped steps work like an
active set method: the error may rise a long way before it falls to round-off. Damped ones creep where they cross kinks.
eps makes the Newton matrix regular however redundant the contacts; it falls where the subproblems are solved, and rises
where not. Cost of a step: one sparse LU, contacts in minimum degree order.

Problems come over W (`BlockProblem`) or over (M, H) (`coulomb_bodies`).

Sources: Alart & Curnier 1991; Acary, Bremond & Huber 2018 (the proximal method around Newton's).
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from workbench.algorithms import best
from workbench.algorithms.block_sets import worst_block
from workbench.algorithms.sparse_contacts import all_contacts, contact_velocity, newton_matrix, sweeps
from workbench.arrays import Array
from workbench.problems.contact_blocks import ASSOCIATED, COULOMB

ENOUGH, MANY = 1e-11, 100
"""Residual at which the stages end if nothing else is asked for; Newton steps after which ten times that is enough."""
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
    """The contacts in an order that keeps factors of matrices with the blocks of W sparse."""
    contact = np.concatenate([np.arange(r), np.repeat(np.arange(r), d)])
    entries = W.tocoo()
    return minimum_degree(contact[entries.row], contact[entries.col], r)


def minimum_degree(row: NDArray[np.integer], column: NDArray[np.integer], size: int) -> NDArray[np.int64]:
    """An order of elimination (minimum degree) for matrices of this size with entries at (row, column)."""
    graph = sparse.csr_array((np.ones(row.size), (row, column)), shape=(size, size))
    dominant = sparse.csc_array(graph + graph.T + (1 + 2 * row.size) * sparse.eye_array(size))
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


class Stages:
    """What the stages ask of a problem, whose unknowns z are impulses; how these are held is up to those derived.

    `unit` is what eps, added to the mobilities, is a share of. `gap` is what `start` has found.
    """

    floors = FLOORS
    unit = 1.0
    gap: Array
    patience = ROUNDS
    """Proximal steps in a row that are solved without halving the residual, after which there is no solution."""

    def __init__(self, asked: float = ENOUGH) -> None:
        self.asked, self.swept, self.factors = asked, 0, 0

    @property
    def enough(self) -> float:
        """The residual at which the stages end: that asked for, less of it after many steps."""
        return self.asked * 10.0 ** min(self.factors // MANY, 2)

    def begin(self, start: Array | None) -> Array:
        """The z of a start that somebody gives, or zero."""
        raise NotImplementedError

    def size(self, z: Array) -> float:
        """The unit of errors: a norm of z, or of the impulses that free velocities ask for."""
        raise NotImplementedError

    def residual(self, z: Array) -> float:
        """What the stages bring down."""
        raise NotImplementedError

    def tidy(self, z: Array) -> None:
        """What z cannot be in any solution is set right before it is judged."""

    def show(self, z: Array) -> None:
        """To whoever watches: z is the best iterate."""
        raise NotImplementedError

    def sweep(self, count: int, z: Array) -> bool:
        """Block Gauss-Seidel sweeps over z, in place; False where the problem is held in a way that forbids them."""
        raise NotImplementedError

    def newton_step(self, eps: float) -> Array | None:
        """- (C + B (W + eps I))^-1 gap; None where there is none."""
        raise NotImplementedError

    def start(self, z: Array, centre: Array, eps: float) -> float:
        """The error at z of the proximal problem, u = W z + q + eps (z - centre); the gap and its slopes follow z."""
        raise NotImplementedError

    def move(self, z: Array, step: Array, centre: Array, eps: float, ceiling: float, halvings: int) -> float:
        """z += length step, length halved until the error falls below `ceiling`; inf if it never does."""
        length = 1.0
        z += step
        for _ in range(halvings + 1):
            error = self.start(z, centre, eps)
            if error < (1.0 - 1e-3 * length) * ceiling:
                return error
            length *= 0.5
            z -= length * step
        return np.inf

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
            error = self.move(iterate, step, centre, eps, ceiling, halvings)
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


class NewtonProblem(Stages):
    """A cone problem contact by contact, as the stages need it; how W is held is up to those derived from this.

    rows (r, m), m = 1 + d: where the unknowns of every contact stand in the problem's vectors, q (n,) and the diagonal
    of W (n,) among them. Elsewhere z, u (r, m), normal first; mu (r,) goes with them.
    """

    def __init__(self, rows: NDArray[np.int64], q: Array, mu: Array, diagonal: Array, associated: bool):
        super().__init__()
        r, m = rows.shape
        self.rows, self.associated = rows, associated
        self.q, self.mu = q[rows], np.array(mu)
        trace = float(diagonal.sum())
        self.unit = trace / (r * m) if trace > 0 else 1.0
        own = diagonal[rows].sum(axis=1)
        self.rho = m / np.where(own > 0, own, m * self.unit)
        self.D = np.sqrt(self.rho)[:, None]
        law, none = np.full(r, ASSOCIATED if associated else COULOMB), np.zeros(0)
        self.sets = m * np.arange(r + 1), law, self.mu, none, none, np.zeros(r, dtype=np.int64)
        self.u, self.gap = np.empty((r, m)), np.empty((r, m))
        self.C, self.B = np.empty((r, m, m)), np.empty((r, m, m))

    def velocity(self, z: Array) -> Array:
        """u = W z + q."""
        raise NotImplementedError

    def terms(self, z: Array) -> Array:
        """|W| |z|"""
        raise NotImplementedError

    def begin(self, start: Array | None) -> Array:
        return np.zeros(self.q.shape) if start is None else start[self.rows]

    def size(self, z: Array) -> float:
        return max(float(np.linalg.norm(z)), float(np.linalg.norm(self.rho[:, None] * self.q)))

    def residual(self, z: Array) -> float:
        """The worst contact's, in units of its own."""
        u, q, x, terms = self.D * self.velocity(z), self.D * self.q, z / self.D, self.D * self.terms(z)
        return float(worst_block(*self.sets, q.ravel(), u.ravel(), x.ravel(), terms.ravel()))

    def plain(self, z: Array) -> Array:
        """z (r, m) as (n,), as the problem orders it."""
        x = np.empty(z.size)
        x[self.rows] = z
        return x

    def tidy(self, z: Array) -> None:
        """Contacts without friction have no tangential impulses."""
        z[self.mu == 0, 1:] = 0.0

    def show(self, z: Array) -> None:
        if best.watched(z.size):
            best.offer(self.plain(z))

    def start(self, z: Array, centre: Array, eps: float) -> float:
        self.u = self.velocity(z)
        self.u += eps * (z - centre)
        return all_contacts(self.mu, self.rho, self.associated, z, self.u, self.gap, self.C, self.B)


class BlockProblem(NewtonProblem):
    """Over W (n, n) dense or sparse, in blocks; the pattern of Newton's matrix is worked out once."""

    def __init__(self, W: Array | sparse.sparray, q: Array, mu: Array, d: int, associated: bool):
        r = mu.size
        W = sparse.csr_array(W)
        order = contact_order(W, r, d)
        rows = np.column_stack([order, r + d * order[:, None] + np.arange(d)])
        super().__init__(rows, q, mu[order], W.diagonal(), associated)
        blocks = block_rows(W, self.rows)
        first, column = blocks.indptr.astype(np.int64), blocks.indices.astype(np.int64)
        self.W = (first, column, np.ascontiguousarray(blocks.data))
        self.matrix, self.place = by_columns(blocks)

    def velocity(self, z: Array) -> Array:
        u = np.empty_like(z)
        contact_velocity(*self.W, self.q, z, u)
        return u

    def terms(self, z: Array) -> Array:
        first, column, blocks = self.W
        found = np.empty_like(z)
        contact_velocity(first, column, abs(blocks), np.zeros_like(z), abs(z), found)
        return found

    def sweep(self, count: int, z: Array) -> bool:
        sweeps(*self.W, self.q, self.mu, self.associated, count, z)
        self.swept += count
        return True

    def newton_step(self, eps: float) -> Array | None:
        newton_matrix(*self.W, self.place, self.C, self.B, eps, self.matrix.data)
        try:
            factors = splu(self.matrix, permc_spec="NATURAL", diag_pivot_thresh=PIVOTING, options=SYMMETRIC)
        except RuntimeError:
            return None
        self.factors += 1
        step = factors.solve(-self.gap.ravel()).reshape(self.gap.shape)
        return step if np.isfinite(step).all() else None


@dataclass
class Search:
    """The best iterate z and its residual, as the stages go; `report` has a line for every stage."""

    problem: Stages
    z: Array
    residual: float
    report: list[str] = field(default_factory=list)

    def offer(self, z: Array) -> float:
        """The residual of z, which is kept if it is the best."""
        self.problem.tidy(z)
        residual = self.problem.residual(z)
        if residual < self.residual:
            self.residual, self.z = residual, z.copy()
            self.problem.show(z)
        return residual

    def burst(self, number: int, size: float) -> None:
        """Undamped Newton steps from the best iterate."""
        z, p = self.z.copy(), self.problem
        floor, slope = p.floors[number % len(p.floors)], SLOPE if number else FIRST_SLOPE
        p.newton(z, z.copy(), 0.0, 1e-17 * size, RISE * size, floor=floor, slope=slope)
        self.offer(z)


def proximal(search: Search, size: float) -> int:
    """The proximal stage, in place; returns the number of its steps."""
    p = search.problem
    centre, at_centre = search.z.copy(), search.residual
    eps, streak, idle, before_idle = p.unit * min(search.residual, 0.1), 0, 0, search.residual
    for k in range(ROUNDS):
        if search.residual <= p.enough or idle == p.patience:
            return k
        if k % EVERY == EVERY - 1:
            before = search.residual
            search.burst(1 + k // EVERY, size)
            if search.residual < before:
                centre, at_centre = search.z.copy(), search.residual
        z = centre.copy()
        goal = max(SHARE * p.start(z, centre, eps), 1e-16 * size)
        error = p.newton(z, centre, eps, goal, RISE * size)
        if error > goal:
            error = p.newton(z, centre, eps, goal, size, damped=True, slope=SLOPE)
        residual = search.offer(z)
        if error <= goal:
            streak += 1
            eps *= 0.5 if streak > 1 else 1.0
        else:
            streak = 0
            eps = min(3.0 * eps, p.unit)
        if error <= goal or residual < at_centre:
            centre, at_centre = z, residual
        idle = idle + 1 if error <= goal else 0
        if search.residual < 0.5 * before_idle:
            idle, before_idle = 0, search.residual
    return ROUNDS
