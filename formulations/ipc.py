"""IPC's friction: Coulomb's disc mollified near zero slip, with lagged normal forces.

    p_t = -mu p_bar f_1(|u_t|) u_t / |u_t|,    f_1(y) = 2 y/eps_v - (y/eps_v)^2 up to y = eps_v, then 1

p_bar is the normal impulse of the last step, as for the box (bounds=last), or the step's own, the limit of IPC's
friction iterations (bounds=iterated). For a given p_bar friction is the gradient of a convex potential of the slip. A
load below mu p_bar is held while creeping slower than eps_v. Each pass replaces f_1 by its tangent (Newton's method)
until law and impulses agree to 1e-12.

IPC's own normal force, a barrier on the distance of surfaces, needs positive distances. Here the normal law is that of
the run, Signorini's, so that the comparison concerns friction alone. eps_v replaces the run's relaxation of friction.
"""

from typing import Annotated, Literal

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import MATRIX, VECTOR, copy, set_all
from workbench.engine.scratch import scratch, scratch_matrix
from workbench.language.estimate import are_equal
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import AGAIN, GIVEN
from workbench.language.modelling import Declaration, Hooks, complements, declare, equals, free, nonneg
from workbench.language.newton import agree, largest_impulse, smooth_friction, turns_back, velocity_at, write_tangent
from workbench.mechanics.core import rate
from workbench.support.errors import ModellingError

LAST, ITERATED = 0.0, 1.0


@formulation(
    "ipc",
    friction="Coulomb's disc mollified at small slips, bounded by lagged normal impulses",
    source="Li, Ferguson, Schneider, Langlois, Zorin, Panozzo, Jiang & Kaufman 2020, ACM Trans. Graph. 39(4)",
)
def ipc(
    s: ContactSymbols,
    bounds: Annotated[
        Literal["last", "iterated"],
        "normal impulses that bound friction: the last step's, or this step's by iteration",
    ] = "last",
    eps_v: Annotated[float, "slip speed above which friction reaches its limit [m/s]"] = 1e-3,
) -> Declaration:
    if not (np.isfinite(eps_v) and eps_v > 0):
        raise ModellingError(f"eps_v={eps_v:g}; a positive speed [m/s] is needed")
    v, p_n, p_t = free("v", s.n), nonneg("p_n", s.r), free("p_t", s.d * s.r)
    _, F_t, relations, own = smooth_friction(s, v, p_t)
    iterated = bounds == "iterated"
    return declare(
        equals(s.balance(v, p_n, p_t)),
        *s.bilateral(v),
        complements(s.un(v, p_n), p_n),
        *relations,
        equals(F_t),
        recover=dict(v=v, p_n=p_n, p_t=p_t),
        hooks=Hooks(
            given,
            again,
            own=tuple(own),
            numbers=(eps_v, ITERATED if iterated else LAST),
            memory=s.r * (1 + 2 * s.d),
            estimate="start" if iterated else "last",
        ),
    )


@kernel(types.void(types.float64, types.float64, VECTOR, VECTOR, MATRIX))
def mollified(limit, eps_v, u, p, D):
    """Compute p (1 + d) at u (1 + d), and D = -dp/du, for friction bounded by limit [N s]; zero along the normal."""
    d, y = u.shape[0] - 1, 0.0
    for j in range(d):
        y += u[1 + j] ** 2
    y = np.sqrt(y)
    # f_1 / y and f_1': what D is across the slip and along it.
    inside = y < eps_v
    across, ahead = ((2.0 - y / eps_v) / eps_v, 2.0 * (1.0 - y / eps_v) / eps_v) if inside else (1.0 / y, 0.0)
    p[0] = D[0, 0] = 0.0
    for row in range(d):
        p[1 + row] = -limit * across * u[1 + row]
        D[0, 1 + row] = D[1 + row, 0] = 0.0
        for j in range(d):
            along = (u[1 + row] / y) * (u[1 + j] / y) if y > 0.0 else 0.0
            D[1 + row, 1 + j] = limit * (across * ((row == j) - along) + ahead * along)


@kernel(GIVEN)
def given(core, memory, own, numbers):
    """Set up the first pass: numbers = [eps_v, bounds]; memory = [p_n, p_t, u_t]."""
    r, t = core.mu.shape[0], core.J_t.shape[0]
    d = t // r
    u, p, D = scratch(1 + d), scratch(1 + d), scratch_matrix(1 + d, 1 + d)
    for i in range(r):
        for j in range(d * i, d * (i + 1)):
            core.eps_t[j], core.b_t[j] = 0.0, rate(core, j)
        velocity_at(core, core.v, i, 0.0, u)
        for j in range(d):
            memory[r + t + d * i + j] = u[1 + j]
        mollified(core.mu[i] * core.p_bar[i], numbers[0], u, p, D)
        write_tangent(own[:0], own, i, u, p, D)


@kernel(AGAIN)
def again(core, memory, own, numbers, v, p_n, p_t):
    """Take another pass until friction agrees with the law at its own slip and with the requested bounds."""
    r, t = core.mu.shape[0], core.J_t.shape[0]
    d = t // r
    u, p, D, before = scratch(1 + d), scratch(1 + d), scratch_matrix(1 + d, 1 + d), scratch(own.shape[0])
    copy(own, before)
    apart, largest, steepest = 0.0, largest_impulse(core, p_n, p_t), 0.0
    for i in range(r):
        p_bar = p_n[i] if numbers[1] == ITERATED else core.p_bar[i]
        size = velocity_at(core, v, i, largest, u)
        mollified(core.mu[i] * p_bar, numbers[0], u, p, D)
        for j in range(d):
            apart = max(apart, abs(p[1 + j] - p_t[d * i + j]))
            steepest = max(steepest, D[1 + j, 1 + j] * size)
        if turns_back(u[1:], memory[r + t + d * i : r + t + d * (i + 1)]):
            set_all(0.0, u)
            mollified(core.mu[i] * p_bar, numbers[0], u, p, D)
        write_tangent(own[:0], own, i, u, p, D)
    # Elimination may round by more, as at open contacts of bodies that are coupled: the same data give the same again.
    return not (agree(core, v, apart, largest, steepest) or are_equal(own, before))
