"""Stewart and Trinkle's time step: a friction polygon inscribed in the Coulomb disc, impulses along its vertices.

The original states the normal law with the gap, u_n + phi/h; here the normal law is a property of the run.
"""

from typing import Any, NamedTuple

from workbench.engine.lazy import cvxpy as cp
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import Axes
from workbench.language.modelling import Declaration, Hooks, complements, declare, equals, free, nonneg
from workbench.language.polygon import Directions, polygon
from workbench.mechanics.core import AXES


@formulation(
    "stewart-trinkle",
    friction="polygon inscribed in the Coulomb disc",
    source="Stewart & Trinkle 1996, Int. J. Numer. Methods Eng. 39; Trinkle's notes p. 6",
)
def stewart_trinkle(s: ContactSymbols, directions: Directions = 4, axes: Axes = "fixed") -> Declaration:
    return inscribed(s, directions, Hooks(numbers=(AXES[axes],)))


class Before(NamedTuple):
    """Impulses P_n (r,), P_t (d r,) that a step already has when an LCP is posed, and their effects: on the friction
    limit (r,), on momentum (n,), and on the rows of J_n (r,), J_t (d r,)."""

    P_n: Any
    P_t: Any
    bounce: Any
    kick: Any
    across_n: Any
    across_t: Any


def inscribed(s: ContactSymbols, directions: int, hooks: Hooks, before: Before | None = None):
    """Declare the LCP of the inscribed polygon, for what is left of a step that has impulses `before`."""
    A, E = polygon(directions, s.r, s.d)
    v, p_n = free("v", s.n), nonneg("p_n", s.r)
    beta, sigma = nonneg("beta", A.shape[1]), nonneg("sigma", s.r)
    p_t, limit = A @ beta, cp.multiply(s.mu, p_n)
    balance, u_n, u_t, recover = s.balance(v, p_n, p_t), s.un(v, p_n), s.ut(v, p_t), dict(v=v, p_n=p_n, p_t=p_t)
    if before:
        balance, limit = balance - before.kick, limit + before.bounce
        u_n, u_t = u_n + before.across_n, u_t + before.across_t
        recover |= dict(p_n=before.P_n + p_n, p_t=before.P_t + p_t)
    return declare(
        equals(balance),
        *s.bilateral(v),
        complements(u_n, p_n),
        complements(A.T @ u_t + E @ sigma, beta),
        complements(limit - E.T @ beta, sigma),
        recover=recover,
        hooks=hooks,
    )
