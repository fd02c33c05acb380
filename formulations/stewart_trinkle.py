"""Stewart and Trinkle's time step: a friction polygon inscribed in the Coulomb disc, impulses along its vertices.

The original states the normal law with the gap, u_n + phi/h; here the normal law belongs to the run.
"""

from typing import Literal

import cvxpy as cp

from workbench.formulation import ContactSymbols, formulation
from workbench.friction import polygon
from workbench.hooks import AXES
from workbench.modelling import Declaration, Hooks, complements, declare, equals, free, nonneg


@formulation(
    "stewart-trinkle",
    friction="polygon inscribed in the Coulomb disc",
    source="Stewart & Trinkle 1996, Int. J. Numer. Methods Eng. 39; Trinkle's notes p. 6",
)
def stewart_trinkle(
    s: ContactSymbols, directions: int = 4, axes: Literal["fixed", "sliding", "body"] = "fixed"
) -> Declaration:
    A, E = polygon(directions, s.r, s.d)
    v, p_n = free("v", s.n), nonneg("p_n", s.r)
    beta, sigma = nonneg("beta", A.shape[1]), nonneg("sigma", s.r)
    p_t = A @ beta
    return declare(
        equals(s.balance(v, p_n, p_t)),
        *s.bilateral(v),
        complements(s.un(v, p_n), p_n),
        complements(A.T @ s.ut(v, p_t) + E @ sigma, beta),
        complements(cp.multiply(s.mu, p_n) - E.T @ beta, sigma),
        recover=dict(v=v, p_n=p_n, p_t=p_t),
        hooks=Hooks(numbers=(AXES[axes],)),
    )
