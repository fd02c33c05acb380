"""Overlaps and violated limits that no motion can undo at once, since what they press apart is held from other sides.

Rigid contact is to undo an overlap phi < 0 within a step, no faster than `recovery`, J_n v + max(phi / h, -recovery)
>= 0 for all contacts and limits at once, beside the equalities J_b v + g / h = 0. Where no v does that, no rigid
formulation has an answer, whatever the friction. The least sum of what is to be forgiven, a linear programme, says who
is in the way.
"""

import numpy as np
from numpy.typing import NDArray

from workbench.engine.lazy import sparse
from workbench.mechanics.instant import Instant

FORGIVEN = 1e-3
"""Share of the fastest recovery that is asked for from which on a contact is in the way."""


def jammed(s: Instant, recovery: float) -> NDArray[np.bool_]:
    """Which contacts and limits (r,) cannot be undone with all others at `recovery` [m/s, rad/s]."""
    asked = np.clip(s.phi / s.h, -recovery, None) + s.rate[s.first[:-1]]
    none = np.zeros(s.contacts, dtype=bool)
    if not (asked < 0).any():
        return none
    # Lazy, since few models need it and it takes as long to import as a model to load.
    from scipy.optimize import linprog

    n, r, m = s.v.size, s.contacts, s.g.size
    off, eye = np.clip(s.g / s.h, -recovery, recovery) + s.r_b, sparse.eye_array(m, format="csr")
    # Unknowns: velocities, what is forgiven of contacts, of equalities from above and from below.
    contacts = sparse.hstack([-s.J[s.first[:-1]], -sparse.eye_array(r), sparse.csr_array((r, 2 * m))])
    equalities = sparse.hstack([s.J_b, sparse.csr_array((m, r)), eye, -eye])
    forgiven = [(0.0, float(most)) for most in [*np.maximum(-asked, 0.0), *abs(off), *abs(off)]]
    found = linprog(
        np.append(np.zeros(n), np.ones(r + 2 * m)), A_ub=contacts, b_ub=asked, A_eq=equalities if m else None,
        b_eq=-off if m else None, bounds=[(None, None)] * n + forgiven,
    )  # fmt: skip
    return none if found.x is None else found.x[n : n + r] > FORGIVEN * -asked.min()
