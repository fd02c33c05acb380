"""Mixed problems whose sets are all intervals, as an LCP or MLCP.

A cone of one unknown is z >= 0, and a disc of one is |z| <= its radius.
"""

import numpy as np
from numpy.typing import NDArray

from workbench.problems.bridges.bridge import Bridge, Image, between
from workbench.problems.classes import LCP, MLCP
from workbench.problems.mixed import MixedNCP
from workbench.problems.sets import DISC, NO_CONE
from workbench.support.arrays import Array


def _round(problem: MixedNCP) -> NDArray[np.bool_]:
    """(B,) mask of the sets that are not products of intervals."""
    found: NDArray[np.bool_] = (problem.sets.cone != NO_CONE) & (np.diff(problem.sets.first) > 1)
    return found


def applies(problem: MixedNCP) -> str | None:
    if not (some := _round(problem)).any():
        return None
    directions = (np.diff(problem.sets.first) - (problem.sets.cone != DISC))[some]
    if (directions > 1).any():
        return "a friction cone or a disc in space has no finite set of faces"
    return "a friction cone in the plane is not a product of intervals"


def forward(problem: MixedNCP) -> Image:
    s, lower, upper = problem.sets, problem.lower.copy(), problem.upper.copy()
    alone = np.flatnonzero(s.cone != NO_CONE)
    z, disc = s.order[s.first[alone]], s.cone[alone] == DISC
    lower[z], upper[z] = 0.0, np.inf
    radius = problem.mu[s.at[alone[disc]]]
    lower[z[disc]], upper[z[disc]] = -radius, radius
    return Image(bounded(problem.M, problem.q, lower, upper), lambda z: z, lambda z: z)


def bounded(M: Array, q: Array, lower: Array, upper: Array) -> MLCP:
    """Return an LCP if all unknowns are nonnegative without other bounds, otherwise an MLCP."""
    plain = not np.any(lower) and bool(np.all(upper == np.inf))
    return LCP(M, q) if plain else MLCP(M, q, lower, upper)


BRIDGE = Bridge("intervals as bounds", between([MixedNCP.kind], LCP.kind, MLCP.kind), 1, applies, forward, exact=True)
