"""Overlaps and violated limits that no motion can undo at once, since what they press apart is held from other sides.

Rigid contact is to undo an overlap phi < 0 within a step, no faster than `recovery`, J_n v + max(phi / h, -recovery)
>= 0 for all contacts and limits at once, beside the equalities J_b v + g / h = 0. Where no v does that, no rigid
formulation has an answer, whatever the friction. The least sum of what is to be forgiven, a linear programme, says who
is in the way.

Coulomb's law has an answer where some v opens all contacts faster than they slide, u_n > mu |u_t| with the same
constants beside u_n (Acary, Cadoux, Lemarechal and Malick, A formulation of the linear discrete Coulomb friction
problem via convex optimization, ZAMM 2011). Where that cannot be, impulses within the friction cones hold each other
without moving anything, however large they are: friction wedges the bodies, and an answer need not exist. What is asked
here is less, u_n >= mu u_t along some tangents, so that what is found wedged is.
"""

import numpy as np
from numpy.typing import NDArray

from workbench.engine.lazy import sparse
from workbench.mechanics.instant import Instant
from workbench.support.arrays import Array

FORGIVEN = 1e-3
"""Share of the fastest recovery that is asked for from which on a contact is in the way."""
NOTHING = 1e-9
"""Speed [m/s, rad/s] of recovery up to which nothing is to be undone."""


def jammed(s: Instant, recovery: float, friction: bool = False) -> NDArray[np.bool_]:
    """Which contacts and limits (r,), and behind them which equalities (m,), cannot be undone with all others at
    `recovery` [m/s, rad/s]; with `friction` which it wedges."""
    n, r, m, normals = s.v.size, s.contacts, s.g.size, s.first[:-1]
    asked = np.clip(s.phi / s.h, -recovery, None) + s.rate[normals]
    off = np.clip(s.g / s.h, -recovery, recovery) + s.r_b
    least = max(-asked.min(initial=0.0), abs(off).max(initial=0.0))
    if least <= NOTHING:
        return np.zeros(r + m, dtype=bool)
    # Lazy, since few models need it and it takes as long to import as a model to load.
    from scipy.optimize import linprog

    faces, of = _faces(s) if friction else (sparse.eye_array(s.mu.size, format="csr")[normals], np.arange(r))
    constants, eye = s.rate.copy(), sparse.eye_array(m, format="csr")
    constants[normals] = asked
    # Unknowns: velocities, what is forgiven of contacts, of equalities from above and from below.
    own = sparse.csr_array((np.ones(of.size), (np.arange(of.size), of)), shape=(of.size, r))
    contacts = sparse.hstack([-(faces @ s.J), -own, sparse.csr_array((of.size, 2 * m))])
    equalities = sparse.hstack([s.J_b, sparse.csr_array((m, r)), eye, -eye])
    forgiven = [(0.0, float(most)) for most in [*np.maximum(-asked, 0.0), *abs(off), *abs(off)]]
    found = linprog(
        np.append(np.zeros(n), np.ones(r + 2 * m)), A_ub=contacts, b_ub=faces @ constants,
        A_eq=equalities if m else None, b_eq=-off if m else None, bounds=[(None, None)] * n + forgiven,
    )  # fmt: skip
    if found.x is None:
        return np.zeros(r + m, dtype=bool)
    above, below = found.x[n + r :].reshape(2, m)
    return np.append(found.x[n : n + r], above + below) > FORGIVEN * least


def _faces(s: Instant) -> tuple["sparse.csr_array", NDArray[np.int64]]:
    """u_n + mu u_t over rows of contacts along tangents, (k, R), and of which contacts they are, (k,)."""
    values, column, of = [], [], []
    for i, (first, d) in enumerate(zip(s.first, s.directions, strict=False)):
        tangents = _tangents(int(d))
        values += [np.append(1.0, x * s.mu[first + 1 : first + 1 + d]) for x in tangents]
        column += [first + np.arange(d + 1)] * len(tangents)
        of += [i] * len(tangents)
    start = np.cumsum([0, *(x.size for x in values)])
    entries = np.concatenate([np.zeros(0), *values]), np.concatenate([np.zeros(0, dtype=np.int64), *column]), start
    return sparse.csr_array(entries, shape=(len(of), s.mu.size)), np.array(of, dtype=np.int64)


def _tangents(d: int) -> Array:
    """Unit vectors (k, d): along the axes, both ways, and between the first two."""
    both = np.vstack([np.eye(d), -np.eye(d)]) if d else np.zeros((1, 0))
    if d < 2:
        return both
    between = np.zeros((4, d))
    between[:, :2] = np.sqrt(0.5) * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    return np.vstack([both, between])
