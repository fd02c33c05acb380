"""Drake's SAP: compliant contact with regularised friction, one unconstrained convex problem per step.

A spring and damper k (-phi - tau_d u_n)_+ at the end of the step, and friction that is viscous in stick. With y the
impulses of compliance and regularisation alone, gamma = P_K(y) is their projection in the norm of R:

    gamma_n = h k (-phi_0 - (h + tau_d) u_n) = (v_hat - u_n) / R_n,    R_n = 1 / (h k (h + tau_d))
    v_hat = -phi_0 / (h + tau_d),                                       gamma_t = -u_t / R_t,    R_t = sigma w

This is the CCP with the compliance R and the constant -v_hat instead of the gap term: (u - v_hat) + R gamma in K* is
complementary to gamma in K. w = |W_ii|_F / (1 + d) measures a contact's mobility. A stiffness whose period is shorter
than beta steps is treated as near rigid: R_n >= beta^2 w / (4 pi^2).

Contacts with phi > 0 have no force, since Drake reports overlapping bodies only. Spring and damper replace the gap
term, the restitution and the run's relaxation of contacts. Defaults are Drake's for point contact. Not included:
Drake's later w, one for the normal and one for the tangents, from the diagonal of W_ii alone (sqrt(3) larger for a
particle; sigma can be scaled accordingly).
"""

from dataclasses import replace
from typing import Annotated

import numpy as np

from workbench.builtin.formulations.ccp import ccp
from workbench.engine.compiling import kernel
from workbench.engine.scratch import scratch_matrix
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import GIVEN
from workbench.language.mobility import mean_mobility, mobilities
from workbench.language.modelling import Declaration, Hooks
from workbench.mechanics.core import open_contact, rate
from workbench.support.errors import ModellingError


@formulation(
    "sap",
    friction="Coulomb's cone with associated flow, compliant, with viscous sticking",
    source="Castro, Permenter & Han 2022, arXiv 2110.10107, IEEE Trans. Robotics 39(2)",
    condition="contacts may be compliant, and may open while they slide",
)
def sap(
    s: ContactSymbols,
    stiffness: Annotated[float, "stiffness k of a contact [N/m]; inf: near-rigid"] = 1e6,
    tau_d: Annotated[float, "time scale of dissipation [s]: damping over stiffness"] = 0.1,
    beta: Annotated[float, "a contact whose period is shorter than this number of steps counts as rigid"] = 1.0,
    sigma: Annotated[float, "regularisation of friction: R_t over the mobility of the contact"] = 1e-3,
) -> Declaration:
    if not stiffness > 0:
        raise ModellingError(f"stiffness={stiffness:g}; a positive number is needed, or inf")
    for name, value in dict(beta=beta, sigma=sigma).items():
        if not (np.isfinite(value) and value > 0):
            raise ModellingError(f"{name}={value:g}; a positive number is needed")
    if not (np.isfinite(tau_d) and tau_d >= 0):
        raise ModellingError(f"tau_d={tau_d:g}; a number from 0 on is needed")
    return replace(ccp.build(s), hooks=Hooks(given, numbers=(stiffness, tau_d, beta, sigma)))


@kernel(GIVEN)
def given(core, memory, own, numbers):
    """Set SAP's rows: numbers = [stiffness, tau_d, beta, sigma]."""
    k, tau_d, beta, sigma = numbers[0], numbers[1], numbers[2], numbers[3]
    r = core.mu.shape[0]
    d = core.J_t.shape[0] // r
    W = scratch_matrix(r, (1 + d) ** 2)
    mobilities(core, W)
    for i in range(r):
        if core.phi[i] > 0.0:
            open_contact(core, i)
            continue
        w = mean_mobility(W[i])
        # This compliance replaces the run's relaxation.
        core.eps_n[i] = max(beta**2 / (4.0 * np.pi**2) * w, 1.0 / (core.h * k * (core.h + tau_d)))
        core.b_n[i] = core.r_n[i] + core.phi[i] / (core.h + tau_d)
        for j in range(d * i, d * (i + 1)):
            core.eps_t[j] = sigma * w
            core.b_t[j] = rate(core, j)
