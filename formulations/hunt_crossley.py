"""Hunt and Crossley's springs with regularised Coulomb friction: contact as a smooth function of the velocity.

A contact that at the end of the step has the penetration x = -(phi + h z) and the approach speed -z has normal impulse
n(z) and friction opposite to the slip:

    n(z) = h k x_+ (1 - d z)_+                                     p_t = -mu n u_t / sqrt(|u_t|^2 + eps^2)

    friction=implicit   p_n = n(u_n), n = n(u_n)                    all at the end of the step
    friction=lagged     p_n = n(u_n), n = n_0 before the step       convex; Drake's kLagged
    friction=similar    both n(u_n - mu (sqrt(|u_t|^2 + eps^2) - eps))    convex, associated flow; Drake's kSimilar

n_0 = h k (-phi)_+ (1 - d u_n)_+, with u_n before the step, is the last step's normal impulse. eps = max(v_s,
sigma mu w n_0), where w = |W_ii|_F / (1 + d) is the mobility of the contact. `implicit` is the result of an engine with
smooth forces and implicit Euler steps; as h tends to 0 it tends to the continuous law of Hunt and Crossley. There is no
complementarity: each pass replaces the law by its tangent, p = g - D u (Newton's method), until law and impulses agree
to 1e-12 or to round-off. Contacts with phi > 0 have no impulse. The springs replace the gap term, the restitution and
the run's constraint relaxation of contacts. Defaults are Drake's.
"""

from typing import Annotated, Literal

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import MATRIX, VECTOR, copy
from workbench.engine.scratch import scratch, scratch_matrix
from workbench.language.estimate import are_equal
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import AGAIN, GIVEN
from workbench.language.mobility import mean_mobility, mobilities
from workbench.language.modelling import Declaration, Hooks, declare, equals, free
from workbench.language.newton import agree, largest_impulse, smooth_contact, turns_back, velocity_at, write_tangent
from workbench.mechanics.core import CORE, open_contact, rate
from workbench.support.errors import ModellingError

IMPLICIT, LAGGED, SIMILAR = 0.0, 1.0, 2.0
FRICTION = {"implicit": IMPLICIT, "lagged": LAGGED, "similar": SIMILAR}


@formulation(
    "hunt-crossley",
    friction="Coulomb's disc regularised by a smooth function of the slip",
    source="Hunt & Crossley 1975, J. Appl. Mech. 42; Castro, Han & Masterjohn 2023, arXiv 2312.03908",
    condition="contacts may be compliant",
)
def hunt_crossley(
    s: ContactSymbols,
    friction: Annotated[
        Literal["implicit", "lagged", "similar"], "friction bound: normal impulse after the step, before it, or convex"
    ] = "implicit",
    stiffness: Annotated[float, "stiffness k of a contact [N/m]"] = 1e6,
    dissipation: Annotated[float, "dissipation d [s/m]; the normal force vanishes at a separation speed of 1/d"] = 50.0,
    v_s: Annotated[float, "slip speed at which friction reaches 1/sqrt(2) of its limit [m/s]"] = 1e-3,
    sigma: Annotated[float, "regularisation of friction at large impulses"] = 1e-3,
) -> Declaration:
    for name, value in dict(stiffness=stiffness, v_s=v_s).items():
        if not (np.isfinite(value) and value > 0):
            raise ModellingError(f"{name}={value:g}; a positive number is needed")
    for name, value in dict(dissipation=dissipation, sigma=sigma).items():
        if not (np.isfinite(value) and value >= 0):
            raise ModellingError(f"{name}={value:g}; a number from 0 on is needed")
    v, p_n, p_t = free("v", s.n), free("p_n", s.r), free("p_t", s.d * s.r)
    relations, own = smooth_contact(s, v, p_n, p_t)
    numbers = (FRICTION[friction], stiffness, dissipation, v_s, sigma)
    return declare(
        equals(s.balance(v, p_n, p_t)),
        *s.bilateral(v),
        *relations,
        recover=dict(v=v, p_n=p_n, p_t=p_t),
        hooks=Hooks(given, again, own=tuple(own), numbers=numbers, memory=s.r * (3 + 2 * s.d)),
    )


@kernel(types.float64(CORE, VECTOR, types.int64, types.float64, types.boolean))
def normal_impulse(core, numbers, i, z, slope):
    """Return n(z) [N s] of contact i, or its slope dn/dz if `slope`."""
    k, d = numbers[1], numbers[2]
    force, share = -k * (core.phi[i] + core.h * z), 1.0 - d * z
    if force <= 0.0 or share <= 0.0:
        return 0.0
    return -core.h * (k * core.h * share + d * force) if slope else core.h * force * share


@kernel(types.void(CORE, VECTOR, types.int64, types.float64, types.float64, VECTOR, VECTOR, MATRIX))
def contact_law(core, numbers, i, n_0, eps, u, p, D):
    """Compute p (1 + d) of contact i at u (1 + d), and D = -dp/du."""
    kind, mu, d = numbers[0], core.mu[i], u.shape[0] - 1
    root = eps**2
    for j in range(d):
        root += u[1 + j] ** 2
    root = np.sqrt(root)
    associated = mu if kind == SIMILAR else 0.0
    z = u[0] - associated * (root - eps)
    p[0], slope = normal_impulse(core, numbers, i, z, False), normal_impulse(core, numbers, i, z, True)
    lagged = kind == LAGGED
    n, slope_n = (n_0, 0.0) if lagged else (p[0], slope)
    D[0, 0] = -slope
    for row in range(d):
        e = u[1 + row] / root
        p[1 + row] = -mu * n * e
        D[0, 1 + row], D[1 + row, 0] = associated * slope * e, mu * slope_n * e
        for j in range(d):
            f = u[1 + j] / root
            D[1 + row, 1 + j] = mu * (n * ((row == j) - e * f) / root - associated * slope_n * e * f)


@kernel(GIVEN)
def given(core, memory, own, numbers):
    """First pass: numbers = [friction, stiffness, dissipation, v_s, sigma]; memory = [p_n, p_t, u_t, n_0, eps]."""
    r, t = core.mu.shape[0], core.J_t.shape[0]
    d = t // r
    W = scratch_matrix(r, (1 + d) ** 2)
    mobilities(core, W)
    u, p, D = scratch(1 + d), scratch(1 + d), scratch_matrix(1 + d, 1 + d)
    for i in range(r):
        if core.phi[i] > 0.0:
            open_contact(core, i)
        # The springs replace the run's gap term and compliance.
        core.eps_n[i], core.b_n[i] = 0.0, core.r_n[i]
        for j in range(d * i, d * (i + 1)):
            core.eps_t[j], core.b_t[j] = 0.0, rate(core, j)
        velocity_at(core, core.v, i, 0.0, u)
        n_0 = core.h * numbers[1] * max(0.0, -core.phi[i]) * max(0.0, 1.0 - numbers[2] * u[0])
        eps = max(numbers[3], numbers[4] * core.mu[i] * mean_mobility(W[i]) * n_0)
        memory[r + 2 * t + i], memory[2 * r + 2 * t + i] = n_0, eps
        for j in range(d):
            memory[r + t + d * i + j] = u[1 + j]
        contact_law(core, numbers, i, n_0, eps, u, p, D)
        write_tangent(own[: 2 * r + 2 * t], own[2 * r + 2 * t :], i, u, p, D)


@kernel(AGAIN)
def again(core, memory, own, numbers, v, p_n, p_t):
    """Take another pass until the impulses agree with the law at their velocity."""
    r, t = core.mu.shape[0], core.J_t.shape[0]
    d = t // r
    u, p, D, before = scratch(1 + d), scratch(1 + d), scratch_matrix(1 + d, 1 + d), scratch(own.shape[0])
    copy(own, before)
    apart, largest, steepest = 0.0, largest_impulse(core, p_n, p_t), 0.0
    for i in range(r):
        n_0, eps = memory[r + 2 * t + i], memory[2 * r + 2 * t + i]
        size = velocity_at(core, v, i, largest, u)
        contact_law(core, numbers, i, n_0, eps, u, p, D)
        apart, slope = max(apart, abs(p[0] - p_n[i])), D[0, 0]
        for j in range(d):
            apart = max(apart, abs(p[1 + j] - p_t[d * i + j]))
            slope = max(slope, D[1 + j, 1 + j])
        steepest = max(steepest, slope * (size + abs(core.phi[i]) / core.h))
        if turns_back(u[1:], memory[r + t + d * i : r + t + d * (i + 1)]):
            for j in range(d):
                u[1 + j] = 0.0
            contact_law(core, numbers, i, n_0, eps, u, p, D)
        write_tangent(own[: 2 * r + 2 * t], own[2 * r + 2 * t :], i, u, p, D)
    # Elimination may round by more, as at open contacts of bodies that are coupled: the same data give the same again.
    return not (agree(core, v, apart, largest, steepest) or are_equal(own, before))
