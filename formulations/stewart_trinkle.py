"""Stewart and Trinkle's time step: a friction polygon inscribed in the Coulomb disc, impulses along its vertices.

The original states the normal law with the gap, u_n + phi/h; here the normal law is a property of the run.
"""

from typing import Any

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


def inscribed(s: ContactSymbols, directions: int, hooks: Hooks, before: tuple[Any, Any, Any] | None = None):
    """Declare the LCP of the inscribed polygon.

    `before` are impulses that the step already has when this LCP is posed, and that its constants contain: (P_n, P_t,
    bounce). bounce (r,) adds to the friction limit mu p_n the share of P_n that still bears friction.
    """
    A, E = polygon(directions, s.r, s.d)
    v, p_n = free("v", s.n), nonneg("p_n", s.r)
    beta, sigma = nonneg("beta", A.shape[1]), nonneg("sigma", s.r)
    p_t, limit = A @ beta, cp.multiply(s.mu, p_n)
    P_n, P_t, bounce = before or (None, None, None)
    return declare(
        equals(s.balance(v, p_n, p_t)),
        *s.bilateral(v),
        complements(s.un(v, p_n), p_n),
        complements(A.T @ s.ut(v, p_t) + E @ sigma, beta),
        complements(limit - E.T @ beta if bounce is None else limit + bounce - E.T @ beta, sigma),
        recover=dict(v=v, p_n=p_n if P_n is None else P_n + p_n, p_t=p_t if P_t is None else P_t + p_t),
        hooks=hooks,
    )
