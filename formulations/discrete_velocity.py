"""Glocker's discrete-velocity model: sliding velocity along axes, friction polygon circumscribed about the disc.

The lead matrix is rank-deficient, since w_up and w_lo enter through the same columns; phantom inertia removes this.
"""

from workbench.engine.lazy import cvxpy as cp
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import Axes
from workbench.language.modelling import Declaration, Hooks, complements, declare, equals, free, nonneg
from workbench.language.polygon import Directions, half_plane
from workbench.mechanics.core import AXES


@formulation(
    "discrete-velocity",
    friction="polygon circumscribed about the Coulomb disc",
    source="Glocker 2001, Set-Valued Force Laws; DETC2017-67988",
)
def discrete_velocity(s: ContactSymbols, directions: Directions = 4, axes: Axes = "fixed") -> Declaration:
    E, S = half_plane(directions, s.r, s.d)
    k_r = E.shape[1]
    v, p_n, p_t = free("v", s.n), nonneg("p_n", s.r), free("p_t", s.d * s.r)
    w_up, w_lo = nonneg("w_up", k_r), nonneg("w_lo", k_r)
    limit = S @ cp.multiply(s.mu, p_n)
    return declare(
        equals(s.balance(v, p_n, p_t)),
        *s.bilateral(v),
        equals(s.ut(v, p_t) - E @ w_up + E @ w_lo),
        complements(s.un(v, p_n), p_n),
        complements(limit + E.T @ p_t, w_up),
        complements(limit - E.T @ p_t, w_lo),
        recover=dict(v=v, p_n=p_n, p_t=p_t),
        hooks=Hooks(numbers=(AXES[axes],)),
    )
