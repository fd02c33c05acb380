"""Bounds as those of an LCP: z = l + y, or u - y if only u is finite, and a multiplier e for a second bound.

    0 <= y  perp  w + e >= 0,     0 <= e  perp  u - l - y >= 0

Fixed unknowns, l = u, are left out. Source: Cottle, Pang & Stone 1992, section 1.5; `matrices.solutions.equivalent_lcp`
does the same in exact arithmetic.
"""

import numpy as np

from workbench.problems.bridges.bridge import Bridge, Image
from workbench.problems.bridges.free_unknowns import are_free
from workbench.problems.classes import LCP, MLCP
from workbench.problems.mixed import MixedNCP
from workbench.problems.sets import NO_CONE, Sets
from workbench.support.arrays import Array


def applies(problem: MLCP | MixedNCP) -> str | None:
    if count := int(are_free(problem).sum()):
        return f"{count} of the unknowns are free, without a bound that could become zero"
    inside = _inside(problem)
    if not ((problem.lower != 0) | (problem.upper != np.inf))[inside].any():
        return "all bounds are those of an LCP already"
    fixed = (problem.lower == problem.upper) & inside
    return "all unknowns are fixed by their bounds" if fixed.all() else None


def forward(problem: MLCP | MixedNCP) -> Image:
    inside, lower, upper = _inside(problem), problem.lower, problem.upper
    fixed = inside & (lower == upper)
    flipped = inside & (lower == -np.inf)
    kept = ~fixed
    base = np.where(inside, np.where(flipped, upper, lower), 0.0)
    sign = np.where(flipped, -1.0, 1.0)[kept]
    boxes = np.flatnonzero((inside & np.isfinite(lower) & np.isfinite(upper))[kept])
    n, e = int(kept.sum()), boxes.size
    M, q = np.zeros((n + e, n + e)), np.empty(n + e)
    M[:n, :n] = sign[:, None] * problem.M[np.ix_(kept, kept)] * sign
    M[boxes, n + np.arange(e)], M[n + np.arange(e), boxes] = 1.0, -1.0
    q[:n] = sign * (problem.M @ base + problem.q)[kept]
    q[n:] = (upper - lower)[kept][boxes]

    def back(y: Array) -> Array:
        z = base.copy()
        z[kept] += sign * y[:n]
        return z

    def there(z: Array) -> Array:
        w = sign * (problem.M @ z + problem.q)[kept]
        return np.concatenate([sign * (z - base)[kept], np.maximum(-w[boxes], 0.0)])

    if isinstance(problem, MixedNCP):
        s = problem.sets.without(fixed)
        each = np.arange(1, e + 1)
        sets = Sets(
            np.append(s.cone, np.full(e, NO_CONE)), np.append(s.first, n + each), np.append(s.order, n + each - 1),
            np.append(s.at, np.full(e, s.at[-1])),
        )  # fmt: skip
        return Image(MixedNCP(M, q, np.zeros(n + e), np.full(n + e, np.inf), problem.mu, sets), back, there)
    return Image(LCP(M, q), back, there)


def _inside(problem: MLCP | MixedNCP):
    """(n,) mask of the unknowns with bounds; those of cones and discs have none."""
    return problem.sets.in_intervals if isinstance(problem, MixedNCP) else np.ones(problem.size, dtype=bool)


BRIDGE = Bridge(
    "bounds with multipliers",
    {MLCP.kind: frozenset({LCP.kind}), MixedNCP.kind: frozenset({MixedNCP.kind})},
    2,
    applies,
    forward,
)
