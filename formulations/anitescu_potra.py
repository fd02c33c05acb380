"""Anitescu and Potra's time step: Stewart and Trinkle's LCP at velocity level, solvable by Lemke's method.

For the same normal law (velocity or gap, a property of the run) both are the same LCP, from one declaration.

With restitution=newton the normal law gives the rebound, u_n + e u_n-. restitution=poisson is the paper's own
scheme: two passes of this LCP. The compression pass takes the impact alone, without the step's forces, and gives p_c.
The decompression pass starts from its result, adds the forces and returns at least the impulse e p_c,

    p_n = (1 + e) p_c + x,     0 <= x perp u_n >= 0,     with friction up to mu (e p_c + x).

A contact at rest has nothing to compress and does not hop. If e <= 1 is the same at all contacts, no step without
forces and prescribed rates gains energy; without friction, this holds for any e <= 1. Newton's rebound guarantees
neither.
"""

from typing import Annotated, Literal

from workbench.builtin.formulations.stewart_trinkle import Before, inscribed
from workbench.engine.compiling import kernel
from workbench.engine.kernels import set_all
from workbench.engine.lazy import cvxpy as cp
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import AGAIN, GIVEN, Axes
from workbench.language.modelling import Declaration, Hooks
from workbench.language.polygon import Directions
from workbench.mechanics.core import AXES, approach, turn_axes


@formulation(
    "anitescu-potra",
    friction="polygon inscribed in the Coulomb disc",
    source="Anitescu & Potra 1997, Nonlinear Dynamics 14; IDETC2016-60064 refers to it as the polygonal model",
)
def anitescu_potra(
    s: ContactSymbols,
    directions: Directions = 4,
    axes: Axes = "fixed",
    restitution: Annotated[
        Literal["newton", "poisson"],
        "restitution: Newton's, by the normal law of the run, or Poisson's, with a second LCP per step",
    ] = "newton",
) -> Declaration:
    numbers = (AXES[axes],)
    if restitution == "newton":
        return inscribed(s, directions, Hooks(numbers=numbers))
    r, t = s.r, s.d * s.r
    sizes = dict(P_n=r, P_t=t, bounce=r, kick=s.n, across_n=r, across_t=t)
    before = Before(**{name: cp.Parameter(size, name=name) for name, size in sizes.items()})
    # The last entry of the memory marks the compression pass; `again` reads it.
    hooks = Hooks(given, again, own=before, numbers=numbers, memory=s.r * (1 + s.d) + 1)
    return inscribed(s, directions, hooks, before)


@kernel(GIVEN)
def given(core, memory, own, numbers):
    """Set up the first pass: own = `Before`, zero for compression but for the forces, which it leaves out; numbers =
    [axes]."""
    turn_axes(core, numbers[0])
    set_all(0.0, own)
    compression, r, t, n = False, core.mu.shape[0], core.b_t.shape[0], core.b.shape[0]
    for i in range(r):
        core.b_n[i] -= core.e[i] * approach(core, i)
        compression = compression or core.e[i] > 0.0
    if compression:
        for j in range(n):
            own[2 * r + t + j] = -core.h * core.f[j]
    memory[-1] = 1.0 if compression else 0.0


@kernel(AGAIN)
def again(core, memory, own, numbers, v, p_n, p_t):
    """Go from compression to decompression: fix its impulses and the bounce as constants, add the forces again."""
    if memory[-1] == 0.0:
        return False
    memory[-1] = 0.0
    r, t, n = core.mu.shape[0], core.b_t.shape[0], core.b.shape[0]
    at_t, at_n = r + t, r + t + r
    P_n, P_t, bounce, kick = own[:r], own[r:at_t], own[at_t:at_n], own[at_n : at_n + n]
    across_n, across_t = own[at_n + n : at_n + n + r], own[at_n + n + r :]
    set_all(0.0, kick)
    for i in range(r):
        P_n[i] = (1.0 + core.e[i]) * p_n[i]
        bounce[i] = core.mu[i] * core.e[i] * p_n[i]
        across_n[i] = core.eps_n[i] * P_n[i]
        for j in range(n):
            kick[j] += core.J_n[i, j] * P_n[i]
    for i in range(t):
        P_t[i] = p_t[i]
        across_t[i] = core.eps_t[i] * P_t[i]
        for j in range(n):
            kick[j] += core.J_t[i, j] * P_t[i]
    return True
