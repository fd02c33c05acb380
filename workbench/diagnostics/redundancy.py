"""The impulses of a step that are unique, and the ranges of the others.

The velocity after a step of exact Coulomb friction fixes the generalised impulse J_n^T p_n + J_t^T p_t + J_b^T p_b and
each contact's mode: open (p_n = 0), sliding (p_t = -mu p_n u_t/|u_t|), sticking (|p_t| <= mu p_n). What remains is the
convex set of all impulses with that resultant and these modes: a point where the rows of the possible impulses are
independent, a larger set where they are not (hyperstatic). The extremes of every entry over the set are linear
objectives over cones.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.mechanics.contact import ContactSolution
from workbench.mechanics.core import Core
from workbench.problems.rank import rank
from workbench.support.arrays import Array
from workbench.support.errors import DataError

MODE = 1e-9
"""Fraction of the largest velocity at the contacts, after the step or without impulses, that counts as zero."""
NEAR_ZERO = 1e-7
"""Fraction of the largest impulse within which the end of a range counts as zero."""
SAME_END = 1e-6
"""Fraction of the largest impulse within which the two ends of a range count as equal."""


@dataclass(frozen=True, eq=False)
class Redundancy:
    """`dimension` of the set of impulses with the same effect and modes; names, values, ranges, and which are unique.

    `entries` are names like "p_n[2]", `values` the impulses found [N s], `ranges` (k, 2) their extremes, infinite where
    unbounded, `determined` where both ends agree. `modes` gives each contact's: open, sliding or sticking.
    """

    dimension: int
    entries: tuple[str, ...]
    values: Array
    ranges: Array
    determined: NDArray[np.bool_]
    modes: tuple[str, ...]


def redundancy(core: Core, answer: ContactSolution) -> Redundancy:
    """Ranges of the impulses of a step of exact Coulomb friction, from its data and one solution."""
    r, t, m = core.mu.size, core.b_t.size, core.g.size
    d = t // r
    u_n = core.J_n @ answer.v + core.b_n + core.eps_n * answer.p_n
    u_t = (core.J_t @ answer.v + core.b_t + core.eps_t * answer.p_t).reshape(r, d)
    # Includes the velocity without impulses: for a body at rest that of one step's fall.
    free = np.linalg.solve(core.M, core.b)
    scale = max(np.abs(J @ x).max() for J in (core.J_n, core.J_t) for x in (answer.v, free))
    modes, slip = contact_modes(u_n, u_t, MODE * scale), np.linalg.norm(u_t, axis=1)
    p = np.concatenate([answer.p_n, answer.p_t, answer.p_b])
    entries = tuple([f"p_n[{i}]" for i in range(r)] + [f"p_t[{i}]" for i in range(t)] + [f"p_b[{i}]" for i in range(m)])
    J = np.vstack([core.J_n, core.J_t, core.J_b])
    C = directions(core.mu, modes, u_t, m)
    if not C.shape[1]:
        nothing = np.column_stack([p, p])
        return Redundancy(0, entries, p, nothing, np.ones(p.size, dtype=bool), modes)
    eps = np.concatenate([core.eps_n, core.eps_t, core.eps_b])
    # Compliant rows have two effects: J^T p, and the compliance eps p of every row.
    effect = np.vstack([J.T @ C / np.abs(J).max(), np.diag(eps > 0).astype(float) @ C])
    sigma = np.linalg.svd(effect, compute_uv=False)
    dimension = C.shape[1] - int((sigma > max(effect.shape) * np.finfo(float).eps * sigma.max(initial=0.0)).sum())
    if dimension == 0:
        return Redundancy(0, entries, p, np.column_stack([p, p]), np.ones(p.size, dtype=bool), modes)
    ranges = _ranges(J, p, core.mu, modes, u_t, slip)
    size = np.abs(p).max()
    return Redundancy(dimension, entries, p, ranges, np.ptp(ranges, axis=1) <= SAME_END * size, modes)


def contact_modes(u_n: Array, u_t: Array, slow: float | Array) -> tuple[str, ...]:
    """Return the mode of each contact from its velocity u_n (r,), u_t (r, d) after the step.

    Velocities up to `slow` [m/s], one for all or (r,), count as zero.
    """
    slow, slip = np.broadcast_to(slow, u_n.shape), np.linalg.norm(u_t, axis=1)
    return tuple(
        "open" if normal > least else "sliding" if tangent > least else "sticking"
        for normal, tangent, least in zip(u_n, slip, slow, strict=True)
    )


def freedom(W: Array, mu: Array, modes: tuple[str, ...], u_t: Array, tolerance: float | None = None) -> int:
    """Dimension of the set of impulses with the same velocity and modes: 0 where they are unique.

    W (r + d r, r + d r) [1/kg]; singular values up to `tolerance` count as zero (default: rounding).
    """
    C = directions(mu, modes, u_t)
    return C.shape[1] - (rank(W @ C, tolerance).value if C.shape[1] else 0)


def directions(mu: Array, modes: tuple[str, ...], u_t: Array, m: int = 0) -> Array:
    """Columns (r + d r + m, k): directions in which Coulomb's law lets [p_n, p_t, p_b] vary in these modes."""
    r, d = u_t.shape
    unit = np.eye(r + d * r + m)
    slip = np.linalg.norm(u_t, axis=1)
    columns = [unit[r + d * r + j] for j in range(m)]
    for i, mode in enumerate(modes):
        normal, tangents = unit[i], unit[r + d * i : r + d * (i + 1)]
        if mode == "sticking" and mu[i] > 0:
            columns += [normal, *tangents]
        elif mode != "open":
            columns.append(normal - mu[i] * (u_t[i] / max(slip[i], 1e-300)) @ tangents if mode == "sliding" else normal)
    return np.array(columns).T if columns else unit[:, :0]


def _ranges(J: Array, p: Array, mu: Array, modes: tuple[str, ...], u_t: Array, slip: Array) -> Array:
    """Extremes (k, 2) of every impulse over the set; infinite where it is unbounded."""
    import cvxpy as cp

    r, d = u_t.shape
    size = np.abs(p).max() or 1.0
    x, objective = cp.Variable(p.size), cp.Parameter(p.size)
    limits = [J.T @ x == J.T @ (p / size), x[:r] >= 0]
    for i, mode in enumerate(modes):
        own = x[r + d * i : r + d * (i + 1)]
        if mode == "open":
            limits += [x[i] == 0, own == 0]
        elif mode == "sliding":
            limits.append(own == -mu[i] * x[i] * (u_t[i] / slip[i]))
        else:
            limits.append(cp.norm(own) <= mu[i] * x[i])
    programme = cp.Problem(cp.Minimize(objective @ x), limits)
    ranges = np.empty((p.size, 2))
    for k in range(p.size):
        for side, sign in enumerate((1.0, -1.0)):
            objective.value = sign * np.eye(p.size)[k]
            try:
                programme.solve(solver=cp.CLARABEL)
            except cp.SolverError:
                raise DataError(
                    f"no range of impulses was found; are the coefficients {mu.min():g} to {mu.max():g} meant?"
                ) from None
            value = programme.value if programme.value is not None else np.nan
            ranges[k, side] = sign * size * float(value)
    # An interior-point method only approximates an end at zero.
    return np.where(np.abs(ranges) <= NEAR_ZERO * size, 0.0, ranges)
