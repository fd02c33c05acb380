"""The contact problem of an instant in the form that files hold, FCLIB's: Coulomb's law at every contact over M and H.

    M v+ = H p + G p_b + f,   u = H^T v+ + w,   G^T v+ + b = 0      f = M v + h f,  w_n = rate + phi/h,  b = r_b + g/h

What the form has no place for is converted, or left out, and said.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.engine.lazy import sparse
from workbench.mechanics.instant import Instant
from workbench.problems.friction_problem import GlobalFrictionProblem
from workbench.support.arrays import Array
from workbench.support.errors import DataError


class InstantProblem(NamedTuple):
    """The problem of an instant's contacts, contact by contact in its order, and what is otherwise in it, in words."""

    problem: GlobalFrictionProblem
    changes: list[str]


def exported(s: Instant, recovery: float = np.inf) -> InstantProblem:
    """The problem with d = 1 direction where no contact slides in two, else 2; overlaps undone at `recovery` at most.

    Raises DataError without contacts, and where contacts have a compliance or a restitution.
    """
    if not s.contacts:
        raise DataError("there is no contact, open or closed, and no joint is at its limit; choose another time")
    if s.eps.any() or s.eps_b.any() or s.e.any():
        raise DataError("a friction problem's file cannot hold compliance or restitution")
    contact = np.repeat(np.arange(s.contacts), s.directions + 1)
    normal = np.zeros(s.mu.size, dtype=bool)
    normal[s.first[:-1]] = True
    along: NDArray[np.bool_] = ~normal if s.places is None else ~normal & s.places.acts[:, :3].any(axis=1)
    place = np.cumsum(along) - np.concatenate([[0], np.cumsum(np.bincount(contact, along)).astype(int)])[contact]
    d = max(1, int(place[along].max(initial=1)))
    if d > 2:
        raise DataError("the instant does not say which of its directions slide; its places are needed")
    mu = np.zeros(s.contacts)
    mu[contact[along & (place == 1)]] = s.mu[along & (place == 1)]
    scale = np.where(along, s.mu / np.where(mu > 0, mu, 1.0)[contact], 1.0)
    row = np.flatnonzero(normal | along)
    position = ((1 + d) * contact + np.where(normal, 0, place))[row]
    put = sparse.csr_array((scale[row], (position, row)), shape=((1 + d) * s.contacts, s.mu.size))
    constant = s.rate.copy()
    constant[normal] += np.maximum(s.phi / s.h, -recovery)
    error = s.r_b + np.clip(s.g / s.h, -recovery, recovery)
    problem = GlobalFrictionProblem.from_contacts(
        s.M, (put @ s.J).T, s.M @ s.v + s.h * s.f, put @ constant, mu, d, s.J_b.T, error
    )
    return InstantProblem(problem, _changes(s, contact, along, scale, mu, recovery))


def _changes(
    s: Instant, contact: NDArray[np.int64], along: NDArray[np.bool_], scale: Array, mu: Array, recovery: float
) -> list[str]:
    """What is otherwise in the file, and at how many contacts."""
    turning = ~along
    turning[s.first[:-1]] = False
    off = (s.phi / s.h < -recovery).sum() + (np.abs(s.g) / s.h > recovery).sum()
    counts = {
        "contacts whose torsional and rolling friction is left out": np.unique(contact[turning]).size,
        "contacts whose second direction is scaled, since it has a friction coefficient of its own": np.unique(
            contact[along & (np.abs(scale - 1) > 1e-12)]
        ).size,
        "contacts and limits without friction, which have mu = 0 and tangent columns of zeros": (mu == 0).sum(),
        "joints' and tendons' dry friction that is left out": s.limit.size,
        f"overlaps and errors that are undone at {recovery:g} m/s instead of in one step": off,
    }
    return [f"{words}: {count}" for words, count in counts.items() if count]
