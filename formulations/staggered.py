"""Staggered projections: normal impulses for given friction, then friction for these, repeated to convergence.

One pass is one block-triangular LCP. The normal projection uses the last pass's friction `last`. The friction
projection, maximum dissipation within the polygon of mu p_n, uses the new p_n. The first pass starts from the last
step's friction. A fixed point of the passes solves Stewart and Trinkle's LCP; strong coupling of normal and tangent can
prevent convergence.
"""

import numpy as np

from workbench.builtin.formulations.box import SETTLED
from workbench.engine.compiling import kernel
from workbench.engine.lazy import cvxpy as cp
from workbench.language.estimate import has_settled
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import AGAIN, GIVEN, Axes
from workbench.language.modelling import Declaration, Hooks, complements, declare, equals, free, nonneg
from workbench.language.polygon import Directions, polygon
from workbench.mechanics.core import AXES, in_axes, turn_axes


@formulation(
    "staggered",
    friction="polygon inscribed in the Coulomb disc, by staggered projections",
    source="Kaufman, Sueda, James & Pai 2008, ACM Trans. Graph. 27(5), doi 10.1145/1409060.1409117",
)
def staggered(s: ContactSymbols, directions: Directions = 4, axes: Axes = "fixed") -> Declaration:
    A, E = polygon(directions, s.r, s.d)
    last = cp.Parameter(s.d * s.r, name="last")
    v, v_1, p_n, p_t1 = free("v", s.n), free("v_1", s.n), nonneg("p_n", s.r), free("p_t1", s.d * s.r)
    p_b1 = free("p_b1", s.m) if s.m else None
    beta, sigma = nonneg("beta", A.shape[1]), nonneg("sigma", s.r)
    p_t = A @ beta
    return declare(
        equals(p_t1 - last),
        equals(s.balance(v_1, p_n, p_t1, p_b1)),
        *s.bilateral(v_1, p_b1),
        complements(s.un(v_1, p_n), p_n),
        equals(s.balance(v, p_n, p_t)),
        *s.bilateral(v),
        complements(A.T @ s.ut(v, p_t) + E @ sigma, beta),
        complements(cp.multiply(s.mu, p_n) - E.T @ beta, sigma),
        recover=dict(v=v, p_n=p_n, p_t=p_t),
        hooks=Hooks(given, again, own=(last,), numbers=(AXES[axes],)),
    )


@kernel(GIVEN)
def given(core, memory, own, numbers):
    """Start from the last step's friction: own = last (d r), zero in the first step; numbers = [axes]."""
    turn_axes(core, numbers[0])
    last_p_t = memory[core.mu.shape[0] :]
    for i in range(own.shape[0]):
        p = in_axes(core, i, last_p_t)
        own[i] = 0.0 if np.isnan(p) else p


@kernel(AGAIN)
def again(core, memory, own, numbers, v, p_n, p_t):
    """Pass this pass's friction to the next one, until it converges."""
    change, size = 0.0, 0.0
    for i in range(p_n.shape[0]):
        size = max(size, p_n[i])
    for i in range(own.shape[0]):
        change, size = max(change, abs(p_t[i] - own[i])), max(size, abs(p_t[i]))
        own[i] = p_t[i]
    return not has_settled(core, change, size, SETTLED)
