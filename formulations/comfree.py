"""ComFree: contact in closed form, without complementarity; every facet of the dual cone acts as a separate spring.

It is the dual of the CCP over a polyhedral cone with n_d facets, with the matrix (all facets of all contacts) replaced
by a diagonal one, so that the facets are decoupled. With the velocity without contacts v_f, the predicted facet rates w
and the impulses are

    w = u_n(v_f) + phi/h - mu a^T u_t(v_f)          a: each of n_d directions of the tangent plane
    beta = max(0, -kappa w)                         p_n = sum of beta,    p_t = -mu times the sum of a beta

where kappa = K h^2 [kg] and K is the paper's stiffness. The paper leaves K open; kappa=auto is 1 / (n_d W_nn), which
stops a single contact at the surface. Contacts on the same body ignore each other, so their total impulse is too large,
by up to a factor of their number. Friction always lies within the polyhedral cone. Kappa replaces the restitution and
the run's constraint relaxation of contacts. Not included: the softplus instead of max and the extra damping of the
authors' programs.
"""

from typing import Annotated, Literal

import numpy as np

from workbench.engine.compiling import kernel
from workbench.engine.lazy import cvxpy as cp
from workbench.engine.scratch import scratch_matrix
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import GIVEN, Axes
from workbench.language.mobility import mobilities
from workbench.language.modelling import Declaration, Hooks, complements, declare, equals, free, nonneg
from workbench.language.polygon import Directions, polygon
from workbench.mechanics.core import AXES, rate, turn_axes
from workbench.support.errors import ModellingError


@formulation(
    "comfree",
    friction="polyhedral cone with associated flow, one spring per facet",
    source="Jin 2024, arXiv 2408.07855",
    condition="contacts may be compliant, and may open while they slide",
)
def comfree(
    s: ContactSymbols,
    directions: Directions = 4,
    axes: Axes = "fixed",
    kappa: Annotated[
        float | Literal["auto"], "stiffness of a facet times h^2 [kg]; auto: the value that stops an isolated contact"
    ] = "auto",
) -> Declaration:
    if kappa != "auto" and not (np.isfinite(kappa) and kappa > 0):
        raise ModellingError(f"kappa={kappa}; a positive mass [kg] is needed")
    A, E = polygon(directions, s.r, s.d)
    eps_f, mu_f = cp.Parameter(A.shape[1], name="eps_f"), cp.Parameter(A.shape[1], name="mu_f")
    v_f, u_t = free("v_f", s.n), free("u_t", s.d * s.r)
    p_bf = free("p_bf", s.m) if s.m else None
    v, p_t, beta = free("v", s.n), free("p_t", s.d * s.r), nonneg("beta", A.shape[1])
    p_n = E.T @ beta
    return declare(
        equals(s.balance(v_f, np.zeros(s.r), None, p_bf)),
        *s.bilateral(v_f, p_bf),
        equals(u_t - s.J_t @ v_f - s.b_t),
        complements(E @ (s.J_n @ v_f + s.b_n) - cp.multiply(mu_f, A.T @ u_t) + cp.multiply(eps_f, beta), beta),
        equals(p_t + A @ cp.multiply(mu_f, beta)),
        equals(s.balance(v, p_n, p_t)),
        *s.bilateral(v),
        recover=dict(v=v, p_n=p_n, p_t=p_t),
        hooks=Hooks(given, own=(eps_f, mu_f), numbers=(0.0 if kappa == "auto" else float(kappa), AXES[axes])),
    )


@kernel(GIVEN)
def given(core, memory, own, numbers):
    """Set facet compliances: own = [eps_f = 1/kappa (n_d r), mu_f (n_d r)]; numbers = [kappa or 0 for auto, axes]."""
    turn_axes(core, numbers[1])
    r = core.mu.shape[0]
    d, facets = core.J_t.shape[0] // r, own.shape[0] // (2 * r)
    W = scratch_matrix(r, (1 + d) ** 2)
    mobilities(core, W)
    for i in range(r):
        # Use this formulation's compliance and gap term instead of the run's.
        core.b_n[i] = core.r_n[i] + core.phi[i] / core.h
        for j in range(d * i, d * (i + 1)):
            core.b_t[j] = rate(core, j)
        # An open contact has no normal row and no impulse, whatever its compliance.
        auto = facets * W[i, 0] if W[i, 0] > 0.0 else 1.0
        for j in range(facets * i, facets * (i + 1)):
            own[j] = 1.0 / numbers[0] if numbers[0] > 0.0 else auto
            own[facets * r + j] = core.mu[i]
