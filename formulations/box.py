"""Lacoursière's box friction: bounds +-mu p_bar from an estimate of the normal impulse; an MLCP with bounds.

With bounds=last, p_bar is the last step's normal impulse (in the first step, that of the frictionless step);
bounds=iterated repeats the step until p_bar equals its own p_n; bounds=coupled puts mu p_n itself into the bounds,
which gives a friction pyramid and another declaration.
"""

from typing import Annotated, Literal

import numpy as np

from workbench.engine.compiling import kernel
from workbench.engine.lazy import cvxpy as cp
from workbench.language.estimate import has_settled
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import AGAIN, GIVEN, Axes
from workbench.language.modelling import Declaration, Hooks, box, complements, declare, equals, free, nonneg
from workbench.mechanics.core import AXES, turn_axes

SETTLED = 1e-12
"""Relative change of p_bar below which iterated bounds count as converged (formulary, section 3)."""


@formulation(
    "box",
    friction="a separate bound for each friction component",
    source="Lacoursière 2006, A regularized time stepper for multibody systems, UMINF 06.04",
)
def box_friction(
    s: ContactSymbols,
    bounds: Annotated[
        Literal["last", "iterated", "coupled"],
        "normal impulses that bound friction: the last step's, this step's by iteration, or coupled (pyramid)",
    ] = "last",
    axes: Axes = "fixed",
) -> Declaration:
    if bounds == "coupled":
        return pyramid(s, axes)
    return bounded(s, given, bounds, again_until_settled, (AXES[axes],))


def bounded(
    s: ContactSymbols, given, bounds: str, again, numbers: tuple[float, ...], memory=None, by_limit=()
) -> Declaration:  # fmt: skip
    """Declare friction within +-limit, which `given` sets; the compliance of s.ut is zero for plain box friction.

    `by_limit` are parameters (shift, viscous), (d r,) each, for u_t + shift + viscous p_t in place of u_t.
    """
    limit = cp.Parameter(s.d * s.r, nonneg=True, name="limit")
    v, p_n = free("v", s.n), nonneg("p_n", s.r)
    p_t = box("p_t", s.d * s.r, -limit, limit)
    iterated = bounds == "iterated"
    estimate: Literal["start", "last"] = "start" if iterated else "last"
    hooks = Hooks(given, again if iterated else None, None, (limit, *by_limit), numbers, memory, estimate)
    u_t = s.ut(v, p_t)
    if by_limit:
        shift, viscous = by_limit
        u_t = u_t + shift + cp.multiply(viscous, p_t)
    return declare(
        equals(s.balance(v, p_n, p_t)),
        *s.bilateral(v),
        complements(s.un(v, p_n), p_n),
        complements(u_t, p_t),
        recover=dict(v=v, p_n=p_n, p_t=p_t),
        hooks=hooks,
    )


def pyramid(s: ContactSymbols, axes: str) -> Declaration:
    """Declare |p_t| <= mu p_n entry by entry, with p_t = alpha - mu p_n and alpha in [0, 2 mu p_n]."""
    S = cp.Constant(np.kron(np.eye(s.r), np.ones((s.d, 1))), name="S")
    v, p_n, p_t = free("v", s.n), nonneg("p_n", s.r), free("p_t", s.d * s.r)
    alpha, sigma = nonneg("alpha", s.d * s.r), nonneg("sigma", s.d * s.r)
    limit = S @ cp.multiply(s.mu, p_n)
    return declare(
        equals(s.balance(v, p_n, p_t)),
        *s.bilateral(v),
        equals(p_t - alpha + limit),
        complements(s.un(v, p_n), p_n),
        complements(s.ut(v, p_t) + sigma, alpha),
        complements(2 * limit - alpha, sigma),
        recover=dict(v=v, p_n=p_n, p_t=p_t),
        hooks=Hooks(numbers=(AXES[axes],)),
    )


@kernel(GIVEN)
def given(core, memory, own, numbers):
    """Set the bounds mu p_bar: own = limit (d r); numbers = [axes]."""
    turn_axes(core, numbers[0])
    d = own.shape[0] // core.mu.shape[0]
    for i in range(own.shape[0]):
        own[i] = core.mu[i // d] * core.p_bar[i // d]


@kernel(AGAIN)
def again_until_settled(core, memory, own, numbers, v, p_n, p_t):
    """Update the bounds from this pass's p_n until they converge."""
    r = core.mu.shape[0]
    d = own.shape[0] // r
    change, size = 0.0, 0.0
    for i in range(r):
        limit = core.mu[i] * p_n[i]
        change, size = max(change, abs(limit - own[d * i])), max(size, limit)
        for j in range(d):
            own[d * i + j] = limit
    return not has_settled(core, change, size, SETTLED)
