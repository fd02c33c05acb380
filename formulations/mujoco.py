"""MuJoCo's soft contact with elliptic cones: the CCP with a compliance and a spring and damper of its own.

With A = J M^-1 J^T and the reference acceleration a_ref = -b u - k d phi (no k in the tangents), a closed contact has
K contains f perp a + R f - a_ref in K*. Times h, with a = (u+ - u)/h and p = h f, that is the CCP's own row with

    eps = R,    R_n = (1 - d)/d A_nn,    R_t = R_n / impratio
    u_n+ + eps_n p_n - (1 - h b) u_n + h k d phi            b = 2 / (dmax timeconst)
    u_t+ + eps_t p_t - (1 - h b) u_t                        k = 1 / (dmax timeconst dampratio)^2

The impedance d(phi) rises from dmin to dmax over a penetration of `width` [m]; timeconst [s] is at least 2 h
(refsafe). An open contact, phi > 0, exerts nothing (margin 0).

Taken over: the above, from mj_makeImpedance and mj_referenceConstraint, with MuJoCo's defaults, among them the
sigmoid of midpoint 1/2 and power 2. Not taken over: A_nn is exact (MuJoCo's flag diagexact) where MuJoCo by default
takes the bodies' mean translational mobility in the first configuration; a contact at phi = 0 is closed, as MuJoCo's
documentation says and its code does not; no solreffriction, no negative solref, no torsional or rolling friction.
The restitution and the gap term of the run's normal law give way to the spring and damper. Bilateral constraints are
as the run relaxes them, where MuJoCo softens them as it does contacts.

The associated flow of a slip at u_t asks for a height of about phi = mu b |u_t| / (k d), where spring and damper are in
balance; above phi = 0 there is no contact, so that a sliding contact hops. A sticking one creeps at R_t |f_t| / b.
"""

from dataclasses import replace
from typing import Annotated

import numpy as np
from numba import types

from workbench.builtin.formulations.ccp import ccp
from workbench.engine.compiling import kernel
from workbench.engine.scratch import scratch_matrix
from workbench.errors import ModellingError
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import GIVEN
from workbench.language.mobility import mobilities
from workbench.language.modelling import Declaration, Hooks
from workbench.mechanics.core import open_contact, rate, sliding

IMPEDANCES = 0.0001, 0.9999
"""MuJoCo's mjMINIMP and mjMAXIMP."""
TimeConstant = Annotated[float, "time constant of the spring and damper [s], at least two steps"]
DampingRatio = Annotated[float, "damping ratio; 1 is critical"]
LeastImpedance = Annotated[float, "impedance at no penetration"]
MostImpedance = Annotated[float, "impedance from a penetration of width on"]
Width = Annotated[float, "penetration over which the impedance rises [m]"]
ImpedanceRatio = Annotated[float, "ratio of frictional to normal impedance"]


@formulation(
    "mujoco",
    friction="Coulomb's cone with associated flow, softened by MuJoCo's regulariser",
    source="Todorov 2014, ICRA, doi 10.1109/ICRA.2014.6907751; MuJoCo documentation, Computation and Solver parameters",
)
def mujoco(
    s: ContactSymbols,
    timeconst: TimeConstant = 0.02,
    dampratio: DampingRatio = 1.0,
    dmin: LeastImpedance = 0.9,
    dmax: MostImpedance = 0.95,
    width: Width = 0.001,
    impratio: ImpedanceRatio = 1.0,
) -> Declaration:
    numbers = soft_numbers(timeconst, dampratio, dmin, dmax, width, impratio)
    return replace(ccp.build(s), hooks=Hooks(given, numbers=numbers))


def soft_numbers(timeconst: float, dampratio: float, dmin: float, dmax: float, width: float, impratio: float):
    """The options as numbers of the hook; raises ModellingError for what MuJoCo does not take."""
    for name, value in dict(timeconst=timeconst, dampratio=dampratio, width=width, impratio=impratio).items():
        if not (np.isfinite(value) and value > 0):
            raise ModellingError(f"{name}={value:g}; a positive number is needed")
    for name, d in dict(dmin=dmin, dmax=dmax).items():
        if not IMPEDANCES[0] <= d <= IMPEDANCES[1]:
            raise ModellingError(f"{name}={d:g}; an impedance from {IMPEDANCES[0]:g} to {IMPEDANCES[1]:g} is needed")
    return timeconst, dampratio, dmin, dmax, width, impratio


@kernel(types.float64(types.float64, types.float64, types.float64, types.float64))
def impedance(depth, dmin, dmax, width):
    """d at a penetration `depth` >= 0 [m]: two parabolas that meet half-way."""
    x = min(depth / width, 1.0)
    return dmin + (dmax - dmin) * (2.0 * x * x if x <= 0.5 else 1.0 - 2.0 * (1.0 - x) ** 2)


@kernel(GIVEN)
def given(core, memory, own, numbers):
    """numbers = [timeconst, dampratio, dmin, dmax, width, impratio]."""
    dampratio, dmin, dmax, width, impratio = numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]
    timeconst = max(numbers[0], 2.0 * core.h)
    k, b = 1.0 / (dmax * timeconst * dampratio) ** 2, 2.0 / (dmax * timeconst)
    r = core.mu.shape[0]
    d_t = core.J_t.shape[0] // r
    W = scratch_matrix(r, (1 + d_t) ** 2)
    mobilities(core, W)
    for i in range(r):
        if core.phi[i] > 0.0:
            open_contact(core, i)
            continue
        d = impedance(-core.phi[i], dmin, dmax, width)
        R = (1.0 - d) / d * W[i, 0]
        u_n = core.r_n[i]
        for j in range(core.v.shape[0]):
            u_n += core.J_n[i, j] * core.v[j]
        # Its own compliance, in the place of whatever the run relaxes.
        core.eps_n[i] = R
        core.b_n[i] = core.r_n[i] - (1.0 - core.h * b) * u_n + core.h * k * d * core.phi[i]
        for j in range(d_t * i, d_t * (i + 1)):
            core.eps_t[j] = R / impratio
            core.b_t[j] = rate(core, j) - (1.0 - core.h * b) * sliding(core, j)
