"""Bounds of the impulses of all solutions of Coulomb's law for one q.

Let S = (W + W^T)/2 be positive semidefinite. Under Coulomb's law p . u <= 0, hence p . S p + q . p <= 0. If S is
regular, p is in an ellipsoid around -S^-1 q / 2. If some w = S x + q is in the interior of K*, the weights
c_i = w_n,i - mu_i |w_t,i| are positive, c . p_n <= w . p, and q . p = w . p - x . S p, so that

    c . p_n <= x . S p - p . S p <= x . S x / 4.
"""

from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat, ctx

from workbench.matrices.linear_algebra.rationals import dot
from workbench.matrices.solutions.cone_programmes import interior_velocity
from workbench.matrices.solutions.contact_modes import BITS
from workbench.matrices.solutions.friction_cones import RationalFriction
from workbench.problems.classes import Array

UNBOUNDED = 1e200
"""An impulse beyond the range of the search."""
ROUNDED_UP = 1 + 1e-12


@dataclass(frozen=True, eq=False)
class ImpulseBound:
    """|p| <= most (n), and weights . p_n <= total where `weights` (r) are known; `UNBOUNDED` where nothing is known."""

    most: Array
    weights: Array | None = None
    total: float = UNBOUNDED


def impulse_bound(friction: RationalFriction, deadline: float) -> ImpulseBound:
    """Bounds for all solutions. Raises OutOfTimeError."""
    most = np.full(len(friction.q), UNBOUNDED)
    friction.decide(deadline)
    if not friction.psd:
        return ImpulseBound(most)
    x = interior_velocity(friction, lambda x: friction.in_dual(friction.reached(x), interior=True))
    with ctx.workprec(BITS):
        inside = _in_ellipsoid(friction)
        if inside is not None:
            most = inside
        if x is None:
            return ImpulseBound(most)
        w = friction.reached(x)
        weights = [float((n - mu * arb(t).sqrt()).lower()) / ROUNDED_UP for n, t, mu in friction.contacts(w)]
        moved = [a - b for a, b in zip(w, friction.q, strict=True)]
        total = float((arb(dot(x, moved)) / 4).upper()) * ROUNDED_UP
    if not min(weights) > 0:
        return ImpulseBound(most)
    c, mu = np.array(weights), np.array([float(arb(m).upper()) for m in friction.mu])
    normal = total / c * ROUNDED_UP
    return ImpulseBound(np.minimum(most, np.concatenate([normal, np.repeat(mu * normal, 2) * ROUNDED_UP])), c, total)


def _in_ellipsoid(friction: RationalFriction) -> Array | None:
    """Bounds (n) of |p|, if W is positive definite."""
    S, q = arb_mat(friction.S), arb_mat(len(friction.q), 1, friction.q)
    try:
        inverse = S.inv()
    except ZeroDivisionError:
        return None
    middle = inverse * q
    energy = (q.transpose() * middle)[0, 0]
    far = [abs(middle[i, 0]) / 2 + (abs(energy) * abs(inverse[i, i])).sqrt() / 2 for i in range(len(friction.q))]
    return np.array([float(x.upper()) for x in far]) * ROUNDED_UP
