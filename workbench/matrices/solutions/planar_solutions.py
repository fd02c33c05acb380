"""All solutions of Coulomb's law at contacts in the plane, in exact arithmetic.

Every contact is open, sticks, or slips forwards or backwards; without friction it is open or closed. In each
combination of modes the law is linear: p solves n equations and lies in a polyhedron. A combination is excluded if a
verified floating-point solution certainly violates an inequality, and computed in rationals otherwise.

Rounding in floating point is bounded by `ROUNDING` times the sums of absolute terms.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from workbench.engine.timing import check_clock
from workbench.matrices.linear_algebra.in_time import all_solutions
from workbench.matrices.linear_algebra.rationals import dot, doubles
from workbench.matrices.solutions.contact_modes import BACK, FORTH, FRICTIONLESS, OPEN, STICK, Modes
from workbench.matrices.solutions.friction_cones import RationalFriction
from workbench.matrices.solutions.solution_set import Piece, polyhedron
from workbench.problems.classes import Array

ROUNDING = 1e-13
"""Error of sums of up to 40 products, relative to the sum of their absolute values; far larger than it can be."""
TOGETHER = 4096
"""Number of combinations whose equations are solved at once in floating point."""

Rows = list[list[fmpq]]


@dataclass(frozen=True, eq=False)
class PlanarPiece:
    """The solutions p (n) of some modes, a polyhedron."""

    modes: Modes
    piece: Piece


def planar_pieces(friction: RationalFriction, deadline: float) -> Iterator[PlanarPiece]:
    """The solutions of every combination of modes that has some. Raises OutOfTimeError."""
    for modes in _candidates(friction, deadline):
        check_clock(deadline)
        found = _of_modes(friction, modes, deadline)
        if found is not None:
            yield found


def choices(friction: RationalFriction) -> list[Modes]:
    """The modes that each contact may have."""
    return [(OPEN, STICK, FORTH, BACK) if mu else (OPEN, FRICTIONLESS) for mu in friction.mu]


def rows_of(friction: RationalFriction, modes: Modes) -> tuple[Rows, Rows]:
    """Equations (n, n + 1) and inequalities >= 0 of modes, as rows over (p, 1)."""
    r, n = len(friction.mu), len(friction.q)
    W = friction.W.tolist()
    equations: Rows = [[] for _ in range(n)]
    inequalities: Rows = []
    for i, mode in enumerate(modes):
        mu, p_n, p_t = friction.mu[i], _unit(i, n), _unit(r + i, n)
        u_n, u_t = ([*W[k], friction.q[k]] for k in (i, r + i))
        if mode == OPEN:
            equations[i], equations[r + i] = p_n, p_t
            inequalities.append(u_n)
        elif mode == STICK:
            equations[i], equations[r + i] = u_n, u_t
            inequalities += [p_n, _sum(p_n, mu, p_t, 1), _sum(p_n, mu, p_t, -1)]
        else:
            sense = {FORTH: 1, BACK: -1, FRICTIONLESS: 0}[mode]
            equations[i], equations[r + i] = u_n, _sum(p_t, 1, p_n, mu * sense)
            inequalities += [p_n, *([[sense * x for x in u_t]] if sense else [])]
    return equations, inequalities


def _unit(k: int, n: int) -> list[fmpq]:
    return [fmpq(k == j) for j in range(n + 1)]


def _sum(x: list[fmpq], a: fmpq | int, y: list[fmpq], b: fmpq | int) -> list[fmpq]:
    return [a * s + b * t for s, t in zip(x, y, strict=True)]


def holds(friction: RationalFriction, modes: Modes, p: tuple[fmpq, ...]) -> bool:
    """Whether p (n) is a solution in these modes, exactly."""
    equations, inequalities = rows_of(friction, modes)
    point = [*p, fmpq(1)]
    return not any(dot(row, point) for row in equations) and all(dot(row, point) >= 0 for row in inequalities)


def _of_modes(friction: RationalFriction, modes: Modes, deadline: float) -> PlanarPiece | None:
    equations, inequalities = rows_of(friction, modes)
    found = all_solutions(fmpq_mat([[*row[:-1], -row[-1]] for row in equations]), deadline)
    if found is None:
        return None
    free, basis = found
    span = fmpq_mat([*basis, [*([fmpq(0)] * len(free)), fmpq(1)]])
    limits = (fmpq_mat(inequalities) * span).tolist()
    if not free and any(row[0] < 0 for row in limits):
        return None
    piece = polyhedron(fmpq_mat(basis), limits, deadline)
    return None if piece is None else PlanarPiece(modes, piece)


def _candidates(friction: RationalFriction, deadline: float) -> Iterator[Modes]:
    """The combinations of modes that floating point does not exclude."""
    r, n = len(friction.mu), len(friction.q)
    W, q, mu = doubles(friction.W), doubles(friction.q), doubles(friction.mu)
    combinations = itertools.product(*choices(friction))
    while chunk := list(itertools.islice(combinations, TOGETHER)):
        check_clock(deadline)
        A, b = np.zeros((len(chunk), n, n)), np.zeros((len(chunk), n))
        names = np.array(chunk)
        for i in range(r):
            closed, sticks = names[:, i] != OPEN, names[:, i] == STICK
            A[:, i], A[:, r + i] = np.where(closed[:, None], W[i], np.eye(n)[i]), np.eye(n)[r + i]
            A[sticks, r + i] = W[r + i]
            b[:, i], b[:, r + i] = np.where(closed, -q[i], 0.0), np.where(sticks, -q[r + i], 0.0)
            A[:, r + i, i] += mu[i] * (names[:, i] == FORTH) - mu[i] * (names[:, i] == BACK)
        excluded = _excluded(A, b, W, q, mu, names)
        yield from (modes for modes, out in zip(chunk, excluded, strict=True) if not out)


def _excluded(A: Array, b: Array, W: Array, q: Array, mu: Array, names: NDArray) -> NDArray[np.bool_]:
    """Whether each of the systems A p = b certainly has one solution only, which violates an inequality."""
    with np.errstate(all="ignore"):
        p, error = enclosed_systems(A, b)
        u = p @ W.T + q
        slack = error @ np.abs(W).T + ROUNDING * (np.abs(p) @ np.abs(W).T + np.abs(q))
        out = np.zeros(len(A), dtype=bool)
        r = len(mu)
        for i in range(r):
            p_n, p_t, u_n, u_t = p[:, i], p[:, r + i], u[:, i], u[:, r + i]
            opened, sticks = names[:, i] == OPEN, names[:, i] == STICK
            sense = 1.0 * (names[:, i] == FORTH) - 1.0 * (names[:, i] == BACK)
            out |= opened & (u_n < -slack[:, i])
            out |= ~opened & (p_n < -error[:, i])
            beyond = np.abs(p_t) - mu[i] * p_n
            allowed = error[:, r + i] + mu[i] * error[:, i] + ROUNDING * (np.abs(p_t) + mu[i] * np.abs(p_n))
            out |= sticks & (beyond > allowed)
            out |= (sense != 0) & (sense * u_t < -slack[:, r + i])
    return out


def enclosed_systems(A: Array, b: Array) -> tuple[Array, Array]:
    """Solutions (N, n) of A p = b, A (N, n, n), b (N, n), and bounds of their errors; infinite where A may be singular.

    The entries of A and b may themselves have one rounding error.
    """
    R, bound = enclosed_inverses(A)
    p = np.einsum("nij,nj->ni", R, b)
    defect = np.abs(b - np.einsum("nij,nj->ni", A, p))
    defect += ROUNDING * (np.abs(b) + np.einsum("nij,nj->ni", np.abs(A), np.abs(p))) + np.finfo(float).tiny
    error = (1 + ROUNDING) * np.einsum("nij,nj->ni", bound, defect)
    return p, np.where(np.isfinite(error), error, np.inf)


def enclosed_inverses(A: Array) -> tuple[Array, Array]:
    """Approximate inverses R (N, n, n) and bounds of |A^-1|, infinite where A may be singular.

    With |I - R A| <= E and |E| < 1: A^-1 - R = E A^-1, row i of which is at most |E_i| max |R| / (1 - |E|).
    """
    n = A.shape[-1]
    try:
        R: Array = np.linalg.inv(A).astype(float)
    except np.linalg.LinAlgError:
        R = np.stack([_inverse(one) for one in A])
    absolute = np.abs(R)
    E = np.abs(np.eye(n) - R @ A) + ROUNDING * (absolute @ np.abs(A) + np.eye(n))
    row = (1 + ROUNDING) * E.sum(axis=2)
    norm = row.max(axis=1, initial=0.0)[:, None, None]
    bound = absolute + row[:, :, None] * absolute.max(axis=1, initial=0.0)[:, None, :] / (1 - norm)
    return R, np.asarray(np.where((norm < 0.9) & np.isfinite(bound), (1 + ROUNDING) * bound, np.inf))


def _inverse(A: Array) -> Array:
    try:
        return np.asarray(np.linalg.inv(A), dtype=float)
    except np.linalg.LinAlgError:
        return np.full_like(A, np.nan)
