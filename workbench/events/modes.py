"""Accelerations and forces while every contact keeps its mode: open, slip in a direction, or stick.

    M a = f + J_b^T lambda_b + J_n^T lambda_n + J_t^T lambda_t,     J_b a + c_b = 0
    open   no force
    slip   J_n a + c_n = 0,  lambda_t = -mu lambda_n e
    stick  J_n a + c_n = 0,  J_t a + c_t = 0

A mode extends smoothly beyond its end: nothing is clamped, so that events are simple roots.
"""

from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from workbench.engine.compiling import kernel
from workbench.engine.kernels import INDICES, MATRIX, VECTOR, copy, lu_factor, lu_solve, set_all
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix
from workbench.mechanics.case import Array
from workbench.mechanics.core import CORE
from workbench.mechanics.second_order import Dynamics
from workbench.support.errors import WorkbenchError

RANK = 1e-10
"""Singular values of balanced rows, relative to the largest, below which rows count as dependent."""
REGULAR = 1e-4
"""If all pivots of balanced rows, relative to the largest, are above this, no row counts as dependent."""
AGREE = 1e-8
"""Relative tolerance within which dependent rows agree and undetermined forces cause no acceleration."""


class Mode(IntEnum):
    """The mode of a contact."""

    OPEN = 0
    SLIP = 1
    STICK = 2


OPEN, SLIP, STICK = map(int, Mode)


Modes = tuple[Mode, ...]


class EventError(WorkbenchError):
    """A motion that cannot be continued beyond this instant; the message says why, in one line."""


class NotUniqueError(EventError):
    """Several motions continue from this moment: `ways`, each in words, and `answers`, the data of each."""

    def __init__(self, message: str, ways: Sequence[str], answers: Sequence[Any]) -> None:
        super().__init__(message)
        self.ways, self.answers = tuple(ways), tuple(answers)


class Rates(NamedTuple):
    """Accelerations a (n,), forces lambda_n (r,), lambda_t (r, d) [N], zero where open; whether these are unique."""

    a: Array
    lambda_n: Array
    lambda_t: Array
    unique: bool


class Rows(NamedTuple):
    """Constrained rows A (k, n) of a mode, their velocities u (k,) and biases c (k,), and the force columns F (n, k).

    The order is: bilateral rows, normals of closed contacts, tangents of sticking contacts.
    """

    A: Array
    u: Array
    c: Array
    F: Array


@lru_cache(maxsize=256)
def closed(modes: Modes) -> NDArray[np.int64]:
    """The contacts that are not open."""
    return np.flatnonzero(np.array(modes) != Mode.OPEN)


@lru_cache(maxsize=256)
def sticking(modes: Modes) -> NDArray[np.int64]:
    """The contacts that stick."""
    return np.flatnonzero(np.array(modes) == Mode.STICK)


def kept_rows(x: Dynamics, modes: Modes, e: Array) -> Rows:
    """The constrained rows and force columns of a mode; e (r, d) unit sliding directions of slipping contacts."""
    n, (r, d), kinds = len(x.M), x.u_t.shape, kinds_of(modes)
    k = count_kept(kinds, len(x.J_b), d)
    A, F, which = np.empty((k, n)), np.empty((k, n)), np.empty(k, dtype=np.int64)
    keep(x.J_b, x.J_n, x.J_t.reshape(d * r, n), x.mu, kinds, e, A, F, which)
    u, c = (np.concatenate([b, n, t.ravel()])[which] for b, n, t in ((x.u_b, x.u_n, x.u_t), (x.c_b, x.c_n, x.c_t)))
    return Rows(A, u, c, F.T)


@lru_cache(maxsize=256)
def kinds_of(modes: Modes) -> NDArray[np.int64]:
    """The modes in the form that kernels take."""
    return np.array(modes, dtype=np.int64)


@kernel(types.int64(INDICES, types.int64, types.int64))
def count_kept(kinds, m, d):
    """Number of constrained rows of a mode."""
    k = m
    for i in range(kinds.shape[0]):
        if kinds[i] != OPEN:
            k += 1
        if kinds[i] == STICK:
            k += d
    return k


@kernel(types.void(MATRIX, MATRIX, MATRIX, VECTOR, INDICES, MATRIX, MATRIX, MATRIX, INDICES))
def keep(J_b, J_n, J_t, mu, kinds, e, A, F, which):
    """Rows A (k, n) of a mode (`Rows`), the columns F (k, n) of their forces, and their indices among all rows (k,)."""
    m, r, d, n = J_b.shape[0], J_n.shape[0], e.shape[1], A.shape[1]
    for i in range(m):
        copy(J_b[i], A[i])
        copy(J_b[i], F[i])
        which[i] = i
    k = m
    for i in range(r):
        if kinds[i] == OPEN:
            continue
        copy(J_n[i], A[k])
        copy(J_n[i], F[k])
        which[k] = m + i
        if kinds[i] == SLIP:
            for j in range(d):
                for col in range(n):
                    F[k, col] -= mu[i] * e[i, j] * J_t[d * i + j, col]
        k += 1
    for i in range(r):
        if kinds[i] == STICK:
            for row in range(d * i, d * (i + 1)):
                copy(J_t[row], A[k])
                copy(J_t[row], F[k])
                which[k] = m + r + row
                k += 1


def _balanced(W: Array) -> tuple[Array, Array]:
    """Scale rows and columns of W by the roots of its diagonal; return the result and those roots."""
    size = np.sqrt(np.abs(np.diag(W)))
    size[size == 0] = 1.0
    return W / np.outer(size, size), size


@kernel(types.float64(VECTOR, VECTOR), linked=True)
def along(x, y):
    """x . y."""
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * y[i]
    return s


@kernel(types.boolean(MATRIX, VECTOR, MATRIX, MATRIX, VECTOR, VECTOR, VECTOR))
def independent_forces(M, f, A, F, c, a, lam):
    """Solve M a = f + F^T lam, A a + c = 0 for a (n,), lam (k,), with a second pass on the remainder after cancellation
    between heavy and light bodies; return whether the rows are regular (otherwise nothing is written)."""
    n, k = M.shape[0], A.shape[0]
    LU, order, free = scratch_matrix(n, n), scratch_indices(n), scratch(n)
    X, W, size = scratch_matrix(k, n), scratch_matrix(k, k), scratch(k)
    pivots, off, change = scratch_indices(k), scratch(k), scratch(k)
    for i in range(n):
        copy(M[i], LU[i])
    if lu_factor(LU, order):
        return False
    lu_solve(LU, order, f, free)
    for j in range(k):
        lu_solve(LU, order, F[j], X[j])
    for j in range(k):
        for i in range(k):
            W[i, j] = along(A[i], X[j])
        size[j] = np.sqrt(abs(W[j, j])) or 1.0
    for i in range(k):
        for j in range(k):
            W[i, j] /= size[i] * size[j]
    if lu_factor(W, pivots):
        return False
    least, most = np.inf, 0.0
    for i in range(k):
        least, most = min(least, abs(W[i, i])), max(most, abs(W[i, i]))
    if not least > REGULAR * most:
        return False
    copy(free, a)
    set_all(0.0, lam)
    for _ in range(2):
        for i in range(k):
            off[i] = -(along(A[i], a) + c[i]) / size[i]
        lu_solve(W, pivots, off, change)
        for j in range(k):
            lam[j] += change[j] / size[j]
            for i in range(n):
                a[i] += X[j, i] * change[j] / size[j]
    return True


@kernel(types.boolean(CORE, VECTOR, INDICES, MATRIX, VECTOR, VECTOR, VECTOR))
def accelerate(core, c, kinds, e, a, force, turns):
    """Accelerations a (n,), forces (r + d r,), tangential accelerations turns = J_t a + c_t (d r,) of a mode, for the
    mechanics in `core` and the biases c of all rows; return whether the mode's rows are regular (`rates` takes all
    modes)."""
    n, m, r, d = a.shape[0], core.J_b.shape[0], kinds.shape[0], e.shape[1]
    k = count_kept(kinds, m, d)
    A, F, which = scratch_matrix(k, n), scratch_matrix(k, n), scratch_indices(k)
    lam, own = scratch(k), scratch(k)
    keep(core.J_b, core.J_n, core.J_t, core.mu, kinds, e, A, F, which)
    for i in range(k):
        own[i] = c[which[i]]
    if not independent_forces(core.M, core.f, A, F, own, a, lam):
        return False
    set_all(0.0, force)
    for i in range(m, k):
        force[which[i] - m] = lam[i]
    for i in range(r):
        for j in range(d):
            row = d * i + j
            if kinds[i] == SLIP:
                force[r + row] = -core.mu[i] * force[i] * e[i, j]
            turns[row] = along(core.J_t[row], a) + c[m + r + row]
    return True


def rates(x: Dynamics, modes: Modes, e: Array) -> Rates:
    """Accelerations and forces of a mode. Where rows are dependent the forces have minimum norm (of balanced rows).

    Raises EventError where the rows cannot be satisfied, or the acceleration is not unique.
    """
    rows = kept_rows(x, modes, e)
    k, m, (r, d) = len(rows.A), len(x.J_b), x.u_t.shape
    a, lam, unique = np.empty(len(x.M)), np.empty(k), True
    if not independent_forces(x.M, x.f, rows.A, rows.F.T, rows.c, a, lam):
        X: Array = np.linalg.solve(x.M, np.column_stack([x.f, rows.F])).astype(float)
        a, lam = X[:, 0], np.zeros(k)
        W, size = _balanced(rows.A @ X[:, 1:])
        left, values, right = np.linalg.svd(W)
        rank = int(np.sum(values > RANK * values[0]))
        unique = rank == k
        wanted = -(rows.A @ a + rows.c) / size
        # The second pass takes the remainder, which is large where heavy and light bodies cancel.
        for _ in range(2):
            off = -(rows.A @ a + rows.c) / size
            change = right[:rank].T @ ((left[:, :rank].T @ off) / values[:rank]) / size
            lam, a = lam + change, a + X[:, 1:] @ change
        if not unique:
            terms = (np.abs(rows.A) @ np.abs(X[:, 0]) + np.abs(rows.c)) / size
            if np.abs(W @ (lam * size) - wanted).max() > AGREE * terms.max():
                raise EventError("dependent constraints contradict each other: no acceleration keeps all of them")
            _must_not_move(np.sqrt(np.diag(x.M))[:, None] * X[:, 1:], right[rank:] / size)
    lambda_n, lambda_t = np.zeros(r), np.zeros((r, d))
    on = closed(modes)
    lambda_n[on] = lam[m : m + len(on)]
    at = m + len(on)
    for i in on:
        if modes[i] == Mode.STICK:
            lambda_t[i], at = lam[at : at + d], at + d
        else:
            lambda_t[i] = -x.mu[i] * lambda_n[i] * e[i]
    return Rates(a, lambda_n, lambda_t, unique)


def _must_not_move(X: Array, free: Array) -> None:
    """Raise EventError if undetermined forces (k', k) accelerate the bodies, relative to the terms that cancel;
    X (n, k) are the accelerations by each force, in common units."""
    if np.abs(X @ free.T).max() > AGREE * (np.abs(X) @ np.abs(free.T)).max():
        raise EventError(
            "the motion is not unique: contacts are redundant, and how they share the load decides the friction"
        )


def sliding_matrix(x: Dynamics, modes: Modes, e: Array) -> Array:
    """W_s (s, s) of the slipping contacts: normal accelerations by normal forces with their friction, under bilateral
    and sticking constraints [1/kg]; the matrix of the slip-only LCP."""
    rows = kept_rows(x, modes, e)
    slips = len(x.J_b) + np.flatnonzero([modes[i] == Mode.SLIP for i in closed(modes)])
    others = np.setdiff1d(np.arange(len(rows.A)), slips)
    order = np.concatenate([others, slips])
    return eliminated((rows.A @ np.linalg.solve(x.M, rows.F))[np.ix_(order, order)], len(others))


def eliminated(W: Array, k: int) -> Array:
    """Eliminate the first k rows of W by the first k unknowns (minimum norm where rows are dependent): the Schur
    complement W_22 - W_21 W_11^+ W_12. Constants may be a last column of W."""
    left: Array = W[k:, k:]
    return left - W[k:, :k] @ np.linalg.lstsq(W[:k, :k], W[:k, k:])[0] if k else left
