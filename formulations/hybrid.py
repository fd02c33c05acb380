"""Peiret's hybrid regularised friction: a box with compliance C, a bristle in stick, viscous across the sliding
direction.

The declaration is that of the box: u_t + C (p_t - p~) enters as constraint relaxation, eps_t = C and b_t = r_t - C p~.
Sticking, axes along the last friction impulse: C = 1/(k_T h^2) and p~ is that impulse. Sliding, axes along the sliding
direction: along it, C = 1/(k_T h^2) and p~ = -mu p_bar; across it, C = |u_t| / (mu p_bar) and p~ = 0, so that force and
velocity stay parallel. k_t=inf means C = 0. With axes=fixed or body there is no sliding axis, and every contact is a
bristle.
"""

from typing import Annotated, Literal

import numpy as np
from numba import types

from workbench.builtin.formulations.box import bounded
from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR, set_all
from workbench.engine.lazy import cvxpy as cp
from workbench.language.estimate import NEGLIGIBLE, has_settled, momentum
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import AGAIN, GIVEN, Axes
from workbench.language.modelling import Declaration
from workbench.mechanics.core import (
    AXES,
    BODY,
    CORE,
    SLIDING,
    across_row,
    in_axes,
    rate,
    turn,
    turn_axes,
    turn_to_sliding,
)
from workbench.support.errors import ModellingError

SETTLED = 1e-11
"""Relative change of p_bar below which iterated bounds count as converged. The formulary's 1e-12 (section 3) cannot
be reached where bristles hold redundant contacts, whose impulses are known to fewer digits than their velocities."""


@formulation(
    "hybrid",
    friction="box regularised by a bristle in stick and by viscosity across the sliding direction",
    source="Peiret, Gholami, Kövecses & Font-Llagunes, IDETC2016-60064, eqs. (11)-(31)",
)
def hybrid(
    s: ContactSymbols,
    bounds: Annotated[
        Literal["last", "iterated"],
        "normal impulses that bound friction: the last step's, or this step's by iteration",
    ] = "last",
    axes: Axes = "sliding",
    k_t: Annotated[float, "tangential stiffness of the bristle [N/m]; inf: rigid"] = 1e10,
) -> Declaration:
    if not k_t > 0:
        raise ModellingError(f"k_t={k_t}; a positive tangential stiffness [N/m], or inf, is needed")
    # The last r entries of the memory hold the sliding speeds found by `given`, for `again`; 0 for sticking contacts.
    memory = s.r * (2 + s.d)
    shift, viscous = cp.Parameter(s.d * s.r, name="shift"), cp.Parameter(s.d * s.r, nonneg=True, name="viscous")
    by_limit = (shift, viscous) if bounds == "iterated" else ()
    return bounded(s, given, bounds, again, (1.0 / k_t, AXES[axes]), memory, by_limit)


@kernel(types.float64(types.float64, types.float64, types.float64))
def viscosity(speed, limit, largest):
    """Compliance |u_t| / (mu p_bar) [1/kg] across the sliding direction; 0 where the contact's impulse is round-off."""
    return speed / limit if limit > NEGLIGIBLE * largest else 0.0


@kernel(types.void(CORE, VECTOR, types.int64, types.float64, types.float64, types.float64))
def slide(core, own, i, speed, limit, largest):
    """Set what depends on the friction bound of a sliding contact: -C p~ along the sliding direction, C across it.

    Iterated bounds have it in own = [limit, shift, viscous] (d r each), where passes may change it.
    """
    t, along, across = core.b_t.shape[0], core.eps_t[2 * i] * limit, viscosity(speed, limit, largest)
    if own.shape[0] > t:
        own[t + 2 * i], own[2 * t + 2 * i + 1] = along, across
    else:
        core.b_t[2 * i] = rate(core, 2 * i) + along
        across_row(core, i, across)


@kernel(GIVEN)
def given(core, memory, own, numbers):
    """Set bounds and compliances by stick or slip: own = limit (d r), and shift, viscous (`slide`); numbers =
    [1 / k_T, axes]."""
    r = core.mu.shape[0]
    d = core.b_t.shape[0] // r
    last_p_t, speeds = memory[r : r + d * r], memory[r + d * r :]
    largest = momentum(core)
    if numbers[1] == BODY:
        turn_axes(core, BODY)
    set_all(0.0, own)
    for i in range(r):
        # Where the run's relaxation already makes friction compliant, it replaces the bristle of k_T.
        bristle = numbers[0] / core.h**2 if core.eps_t[d * i] == 0.0 else 0.0
        limit = core.mu[i] * core.p_bar[i]
        for j in range(d * i, d * (i + 1)):
            own[j] = limit
            core.eps_t[j] += bristle
        speeds[i] = 0.0
        if numbers[1] == SLIDING and d == 2:
            speed = turn_to_sliding(core, i)
            if speed > core.v_th:
                speeds[i] = speed
                core.b_t[2 * i] = rate(core, 2 * i)
                across_row(core, i, 0.0)
                slide(core, own, i, speed, limit, core.mu[i] * largest)
                continue
            force = np.sqrt(last_p_t[2 * i] ** 2 + last_p_t[2 * i + 1] ** 2)
            if force > 0.0:
                turn(core, i, last_p_t[2 * i] / force, last_p_t[2 * i + 1] / force)
        for j in range(d):
            p = in_axes(core, d * i + j, last_p_t)
            # In the first step there is no last friction impulse: the memory is NaN, and the bristle starts unloaded.
            core.b_t[d * i + j] -= bristle * (0.0 if np.isnan(p) else p)


@kernel(AGAIN)
def again(core, memory, own, numbers, v, p_n, p_t):
    """Update all that depends on p_bar from this pass's p_n, until p_bar converges."""
    r = core.mu.shape[0]
    d = core.b_t.shape[0] // r
    change, size, largest = 0.0, 0.0, momentum(core)
    for i in range(r):
        old, limit = own[d * i], core.mu[i] * p_n[i]
        change, size = max(change, abs(limit - old)), max(size, limit)
        for j in range(d * i, d * (i + 1)):
            own[j] = limit
        speed = memory[r + d * r + i]
        if speed > 0.0:
            slide(core, own, i, speed, limit, core.mu[i] * largest)
    return not has_settled(core, change, size, SETTLED)
