"""Peiret's phantom inertia: Glocker's model with a mass rho between w_up and w_lo that makes the lead matrix regular.

A sliding contact (|u_t| > v_th) turns its axes to the sliding direction and keeps two of them, along and across (chi).
lateral=none removes friction across the sliding direction, mu_i = [mu, 0]; lateral=regularised keeps it, mu_i = [mu,
mu], and makes the row across compliant, eps_l = |u_t| / (mu p_n) with the last step's p_n (DETC2017-67988, eq. (43)).
axes=fixed or body has no such switch: the model is then the coupled box.
"""

from typing import Annotated, Literal

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import copy, largest_eigenvalue, lu_factor, lu_solve
from workbench.engine.lazy import cvxpy as cp
from workbench.engine.scratch import scratch, scratch_indices, scratch_matrix
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import GIVEN, Axes
from workbench.language.modelling import Declaration, Hooks, complements, declare, equals, free, nonneg
from workbench.language.polygon import Directions, half_plane
from workbench.mechanics.core import AXES, BODY, CORE, SLIDING, across_row, turn_axes, turn_to_sliding
from workbench.support.errors import ModellingError


@formulation(
    "phantom-inertia",
    friction="polygon circumscribed about the Coulomb disc, with phantom inertia",
    source="Peiret, Kövecses & Font-Llagunes, DETC2017-67988",
)
def phantom_inertia(
    s: ContactSymbols,
    directions: Directions = 4,
    axes: Axes = "sliding",
    rho: Annotated[float | Literal["auto"], "phantom inertia [kg]; auto: 1 / the largest eigenvalue of W_tt"] = "auto",
    lateral: Annotated[
        Literal["none", "regularised"], "friction across the sliding direction: none, or regularised by viscosity"
    ] = "none",
) -> Declaration:
    if rho != "auto" and not (np.isfinite(rho) and rho > 0):
        raise ModellingError(f"rho={rho}; a positive phantom inertia [kg] is needed (discrete-velocity is rho = 0)")
    if axes == "sliding" and s.d == 2 and directions % 4:
        raise ModellingError(
            f"directions={directions} with axes=sliding; a multiple of 4 is needed, so that one axis lies across"
        )
    E, S = half_plane(directions, s.r, s.d)
    k_r = E.shape[1]
    phantom = cp.Parameter(nonneg=True, name="rho")
    mu_w, chi = cp.Parameter(k_r, name="mu_w"), cp.Parameter(k_r, name="chi")
    v, p_n, p_t = free("v", s.n), nonneg("p_n", s.r), free("p_t", s.d * s.r)
    w_up, w_lo = nonneg("w_up", k_r), nonneg("w_lo", k_r)
    limit, drive = cp.multiply(mu_w, S @ p_n), cp.multiply(chi, E.T @ p_t)
    return declare(
        equals(s.balance(v, p_n, p_t)),
        *s.bilateral(v),
        equals(s.ut(v, p_t) - E @ cp.multiply(chi, w_up) + E @ cp.multiply(chi, w_lo)),
        complements(s.un(v, p_n), p_n),
        complements(limit + drive + phantom * w_lo, w_up),
        complements(limit - drive + phantom * w_up, w_lo),
        recover=dict(v=v, p_n=p_n, p_t=p_t),
        hooks=Hooks(
            given=given,
            own=(phantom, mu_w, chi),
            numbers=(0.0 if rho == "auto" else float(rho), AXES[axes], float(lateral == "regularised")),
        ),
    )


@kernel(types.float64(CORE))
def default_rho(core):
    """Default rho 1 / lambda_max(W_tt + diag eps_t) [kg]: half the value where the P-property is lost for two axes."""
    n, t = core.J_t.shape[1], core.J_t.shape[0]
    LU, pivots, X, x, W = (
        scratch_matrix(n, n),
        scratch_indices(n),
        scratch_matrix(n, t),
        scratch(n),
        scratch_matrix(t, t),
    )
    for i in range(n):
        copy(core.M[i], LU[i])
    if lu_factor(LU, pivots):
        return np.nan
    for j in range(t):
        lu_solve(LU, pivots, core.J_t[j], x)
        for i in range(n):
            X[i, j] = x[i]
    for i in range(t):
        for j in range(t):
            s = core.eps_t[i] if i == j else 0.0
            for k in range(n):
                s += core.J_t[i, k] * X[k, j]
            W[i, j] = s
    largest = largest_eigenvalue(W)
    return 1.0 / largest if largest > 0.0 else 1.0


@kernel(GIVEN)
def given(core, memory, own, numbers):
    """Set own = [rho, mu_w (k r), chi (k r)]; numbers = [rho or 0 for the default, axes, regularised]."""
    r = core.mu.shape[0]
    k = (own.shape[0] - 1) // (2 * r)
    spatial = core.J_t.shape[0] == 2 * r
    mu_w, chi = own[1 : 1 + k * r], own[1 + k * r :]
    if numbers[1] == BODY:
        turn_axes(core, BODY)
    for i in range(r):
        for j in range(k * i, k * (i + 1)):
            mu_w[j], chi[j] = core.mu[i], 1.0
        if not spatial or numbers[1] != SLIDING:
            continue
        speed = turn_to_sliding(core, i)
        if speed > core.v_th:
            across = k * i + k // 2
            for j in range(k * i, k * (i + 1)):
                if j not in (k * i, across):
                    chi[j] = 0.0
            limit = core.mu[i] * memory[i]
            if numbers[2] == 1.0 and limit > 0.0:
                across_row(core, i, speed / limit)
            else:
                mu_w[across] = 0.0
    # Last, since it depends on the axes and on the compliance that the switch sets.
    own[0] = numbers[0] if numbers[0] > 0.0 else default_rho(core)
