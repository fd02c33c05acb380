"""MuJoCo's default, pyramidal cones: its soft contact with 2 d edges instead of the cone.

The impulses beta >= 0 act along the edges n +- mu t_j of a contact. Their rates have the constants, spring and damper
of `mujoco` and one compliance R_e,

    0 <= beta  perp  u_n' +- mu u_t,j' + R_e beta >= 0        u' = J v+ + b, b as in `mujoco`
    p_n = sum of beta,    p_t,j = mu (beta_j - beta_-j)
    R_e = 2 mu^2 / impratio (1 - d)/d A_e                     A_e the mobility along the first edge, n + mu t_1

so that friction is as soft as with the cone of `mujoco`: R_e / (2 mu^2) equals R_t except for A_e. Friction is bounded
by a pyramid in the tangent axes, which are those of the case. The softness of the normal depends on mu: with all edges
loaded its compliance is R_e / (2 d), whereas the cone has R_n.

From mj_makeImpedance and mj_diagApprox; A_e is exact, as with MuJoCo's flag diagexact. See `mujoco` for what is not
included.
"""

import numpy as np

from workbench.builtin.formulations import mujoco as elliptic
from workbench.builtin.formulations.mujoco import USUAL, Softness, impedance
from workbench.engine.compiling import kernel
from workbench.engine.lazy import cvxpy as cp
from workbench.engine.scratch import scratch_matrix
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import GIVEN, Axes
from workbench.language.mobility import mobilities
from workbench.language.modelling import Declaration, Hooks, complements, declare, equals, free, nonneg
from workbench.mechanics.core import AXES, turn_axes


@formulation(
    "mujoco-pyramid",
    friction="pyramid of 2 d edges with associated flow, softened by MuJoCo's regulariser",
    source="MuJoCo documentation, Computation and Solver parameters; Todorov 2014, ICRA",
    condition="contacts may be compliant, and may open while they slide",
)
def mujoco_pyramid(
    s: ContactSymbols,
    soft: Softness = USUAL,
    axes: Axes = "fixed",
) -> Declaration:
    # The edge directions +t_1, -t_1, +t_2, ...: A (d r, 2 d r), and E, which repeats the entry of a contact.
    A = cp.Constant(np.kron(np.eye(s.d * s.r), [[1.0, -1.0]]), name="A")
    E = cp.Constant(np.kron(np.eye(s.r), np.ones((2 * s.d, 1))), name="E")
    R_e, mu_e = cp.Parameter(2 * s.d * s.r, name="R_e"), cp.Parameter(2 * s.d * s.r, name="mu_e")
    v, u_t, p_t = free("v", s.n), free("u_t", s.d * s.r), free("p_t", s.d * s.r)
    beta = nonneg("beta", 2 * s.d * s.r)
    return declare(
        equals(s.balance(v, E.T @ beta, p_t)),
        *s.bilateral(v),
        equals(p_t - A @ cp.multiply(mu_e, beta)),
        equals(u_t - s.J_t @ v - s.b_t),
        complements(E @ (s.J_n @ v + s.b_n) + cp.multiply(mu_e, A.T @ u_t) + cp.multiply(R_e, beta), beta),
        recover=dict(v=v, p_n=E.T @ beta, p_t=p_t),
        hooks=Hooks(given, own=(R_e, mu_e), numbers=(*soft.numbers(), AXES[axes])),
    )


@kernel(GIVEN)
def given(core, memory, own, numbers):
    """Set the edges' compliance: own = [R_e (2 d r), mu_e (2 d r)]; numbers = those of `mujoco` and axes."""
    turn_axes(core, numbers[9])
    elliptic.given(core, memory, own, numbers)
    r = core.mu.shape[0]
    d = core.J_t.shape[0] // r
    W = scratch_matrix(r, (1 + d) ** 2)
    mobilities(core, W)
    for i in range(r):
        # mu = 0 removes the edges of an open contact.
        mu = core.mu[i]
        along_edge = W[i, 0] + 2.0 * mu * W[i, 1] + mu**2 * W[i, d + 2]
        x = impedance(max(0.0, -core.phi[i]), numbers[2], numbers[3], numbers[4], numbers[6], numbers[7])
        for j in range(2 * d * i, 2 * d * (i + 1)):
            own[j] = 2.0 * mu**2 / numbers[5] * (1.0 - x) / x * along_edge
            own[2 * d * r + j] = mu
