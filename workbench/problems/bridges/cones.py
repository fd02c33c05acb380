"""Mixed problems of cones under one law as a friction-cone problem; a nonnegative unknown is a cone without friction.

An unknown z_i >= 0 is the normal impulse of a contact with mu = 0 and uncoupled tangents, which have |M_ii| on the
diagonal and zero impulse. So LCPs are friction-cone problems, too. Ellipsoids are round cones in other units (`mixed`).
"""

from functools import partial

import numpy as np

from workbench.problems.bridges.bridge import Bridge, Image, between
from workbench.problems.classes import ConicQP, CoulombNCP, is_symmetric
from workbench.problems.mixed import MixedNCP
from workbench.problems.sets import APART, ASSOCIATED, COULOMB, DISC, NO_CONE
from workbench.support.arrays import Array

NAMES = {
    ASSOCIATED: "a cone with associated flow is not one under Coulomb's law",
    COULOMB: "a cone under Coulomb's law has no associated flow",
    APART: "a cone with separate torsion and rolling bounds is not a friction cone",
    DISC: "a disc of given radius is not a friction cone",
}
"""Reasons against a set that does not belong to the requested law."""


def applies(law: int, problem: MixedNCP) -> str | None:
    s, p, inside = problem.sets, problem.by_set, problem.sets.in_intervals
    one, directions = np.diff(s.first) == 1, _directions(problem)
    # Without friction, or in a cone of one unknown, both laws agree; a disc is not a cone, whatever its radius.
    others = (s.cone != law) & (s.cone != NO_CONE) & ((s.cone == DISC) | ((p.sets.mu > 0) & ~one))
    if others.any():
        return NAMES[int(s.cone[others][0])]
    if (directions > 2).any() or np.unique(directions[directions > 0]).size > 1:
        return "all friction cones must have one direction, or all two"
    if (p.unit == 0).any():
        return "a cone has friction in one direction and none in the other"
    if (problem.lower[inside] != 0).any() or (problem.upper[inside] != np.inf).any():
        return "an interval other than z >= 0 is not a friction cone"
    return "the matrix is not symmetric" if law == ASSOCIATED and not is_symmetric(p.matrix) else None


def _directions(problem: MixedNCP):
    """(B,) number of tangential directions of every cone, 0 for intervals."""
    return np.where(problem.sets.cone == NO_CONE, 0, np.diff(problem.sets.first) - 1)


def forward(law: int, problem: MixedNCP) -> Image:
    s, p = problem.sets, problem.by_set
    d = max(int(_directions(problem).max()), 1)
    begins = s.begins
    r = int(begins.sum())
    contact = np.cumsum(begins) - 1
    # Positions in [n (r), t (d r)] of the unknowns x, which are set by set.
    within = np.arange(problem.size) - np.flatnonzero(begins)[contact]
    place = np.where(begins, contact, r + d * contact + within - 1)
    W, q, mu = np.zeros((r * (1 + d), r * (1 + d))), np.zeros(r * (1 + d)), np.zeros(r)
    W[np.ix_(place, place)], q[place] = p.matrix, p.q
    mu[contact] = p.sets.mu[s.set_of]
    unused = np.setdiff1d(np.arange(r * (1 + d)), place)
    W[unused, unused] = abs(W.diagonal()[(unused - r) // d])

    def there(z: Array) -> Array:
        y = np.zeros(r * (1 + d))
        y[place] = p.unknowns(z)
        return y

    made = ConicQP if law == ASSOCIATED else CoulombNCP
    return Image(made(W, q, mu, d), lambda y: p.plain(y[place]), there)


ASSOCIATED_CONES = Bridge(
    "friction cones with associated flow", between([MixedNCP.kind], ConicQP.kind), 2,
    partial(applies, ASSOCIATED), partial(forward, ASSOCIATED),
)  # fmt: skip
COULOMB_CONES = Bridge(
    "friction cones under Coulomb's law", between([MixedNCP.kind], CoulombNCP.kind), 2,
    partial(applies, COULOMB), partial(forward, COULOMB),
)  # fmt: skip
