"""Number of solutions of Coulomb's law for one q, in floating point: a second way beside the verifier's rationals."""

from itertools import product

import numpy as np

BORDER = 1e-9
"""Distance from a border between modes, in the problem's own units, within which the number is not told."""
DIRECTIONS = np.linspace(0.0, 2.0 * np.pi, 4097)
"""Directions of sliding of a contact in space between which slips are told by changes of sign."""
OPEN, STICK = "open", "stick"


def number_of_solutions(W: np.ndarray, q: np.ndarray, mu: np.ndarray, d: int) -> int | None:
    """Return the number; None near a border between modes, where modes are singular, and of several contacts in space.

    W (r (1 + d), r (1 + d)), q and mu (r,), with d directions a contact: by all modes in the plane; in space slips are
    changes of sign around the circle of directions.
    """
    r, found = len(mu), 0
    if d == 2 and r > 1:
        return None
    for modes in product(*((OPEN, STICK, *((1, -1) if d == 1 and m else ())) for m in mu)):
        margins = _margins(W, q, mu, d, modes)
        least = min(margins, default=0.0)
        if abs(least) <= BORDER:
            return None
        found += least > 0.0
    slips = _slips(W, q, mu[0]) if d == 2 and mu[0] else 0
    return None if slips is None else found + slips


def _margins(W: np.ndarray, q: np.ndarray, mu: np.ndarray, d: int, modes: tuple) -> list[float]:
    """How far the only point of a mode is inside all its inequalities; none where the mode is singular."""
    r = len(mu)
    generators, rows = [], []
    for i, (mode, m) in enumerate(zip(modes, mu, strict=True)):
        tangents = range(r + d * i, r + d * (i + 1))
        if mode != OPEN:
            generator = np.eye(len(q))[i]
            if mode != STICK:
                # Sliding along `mode`, friction against it.
                generator[tangents[0]] = -mode * m
            generators.append(generator)
            rows.append(i)
        if mode == STICK and m:
            generators += list(np.eye(len(q))[list(tangents)])
            rows += tangents
    p = np.zeros(len(q))
    if rows:
        B = np.array(generators).T
        A = W[rows] @ B
        if abs(np.linalg.det(A)) < BORDER:
            return []
        p = B @ np.linalg.solve(A, -q[rows])
    u, margins = W @ p + q, []
    for i, (mode, m) in enumerate(zip(modes, mu, strict=True)):
        own = slice(r + d * i, r + d * (i + 1))
        if mode == OPEN:
            margins.append(u[i])
        elif mode == STICK:
            margins += [p[i], *([m * p[i] - np.linalg.norm(p[own])] if m else [])]
        else:
            margins += [p[i], mode * u[own][0]]
    return [float(x) for x in margins]


def _slips(W: np.ndarray, q: np.ndarray, mu: float) -> int | None:
    e = np.array([np.cos(DIRECTIONS), np.sin(DIRECTIONS)])
    D = W[0, 0] - mu * W[0, 1:] @ e
    # D u_t, with p_n = -q_n / D and p_t = -mu p_n e.
    moved = D * q[1:, None] - q[0] * (W[1:, :1] - mu * W[1:, 1:] @ e)
    across, along = e[0] * moved[1] - e[1] * moved[0], (e * moved).sum(axis=0)
    signs = np.sign(across)
    turns = np.flatnonzero(signs[1:] != signs[:-1])
    inside = np.minimum(-q[0] * D, -q[0] * D * along) > 0.0
    size = abs(across).max()
    nearly = (abs(across[1:-1]) <= np.minimum(abs(across[:-2]), abs(across[2:]))) & (abs(across[1:-1]) < 1e-5 * size)
    if (inside[turns] != inside[turns + 1]).any() or (signs == 0.0).any() or (nearly & (signs[:-2] == signs[2:])).any():
        return None
    return int(inside[turns].sum())
