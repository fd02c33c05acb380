"""MuJoCo's noslip: soft contact, then sweeps over friction alone without the regulariser, so that it does not creep.

A step has two stages. The first is the soft solve of `mujoco`, or of `mujoco-pyramid`, with impulses p_n, p_t. The
second keeps p_n and makes `sweeps` sweeps over the contacts. Each contact in turn gets the friction q_t that brings its
slip to the reference velocity, without R_t and within the bound of the soft solve, all other impulses fixed. With U the
part of J_t M^-1 J_t^T that belongs to later contacts, a contact sees the final slip less the change that they cause:

    |q_t| <= mu p_n,      u_t+ + b_t - U (q_t - q_t,last) = 0 inside, opposite to q_t on the boundary   cone=elliptic
    |q_t,j| <= mu (beta_j + beta_-j),  the same row by row                                             cone=pyramidal

so that a sweep is one problem with a triangular matrix, hence one solution. Its velocity is v_q; v is that of the soft
solve. The first sweep starts from p_t of the soft solve and is declared together with it as one problem; q_n copies
p_n: with the row q_n - p_n, Coulomb's law gives q_n = p_n and bounds q_t by it.

The row keeps the damping of `mujoco`, whose b_t leaves (1 - h b) of the slip before the step: the slip decays, and a
held contact does not creep. The effect of friction on the normal direction is ignored: a contact may penetrate or open
during the step.

Included: mj_solNoSlip with tolerance 0, in the order of the contacts, on which the result depends. Not included: all
that `mujoco` leaves out. Bilateral constraints hold in every sweep, while MuJoCo keeps the forces of its soft ones.
"""

from typing import Annotated, Literal

import numpy as np
from numba import types

from workbench.builtin.formulations import mujoco as elliptic
from workbench.builtin.formulations import mujoco_pyramid as pyramidal
from workbench.builtin.formulations.gauss_seidel import MOST, delassus
from workbench.builtin.formulations.mujoco import USUAL, Softness
from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR, copy
from workbench.engine.lazy import cvxpy as cp
from workbench.engine.scratch import scratch, scratch_matrix
from workbench.language.estimate import are_equal
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import AGAIN, GIVEN, Axes
from workbench.language.modelling import Declaration, Hooks, complements, declare, equals, free, friction_cone
from workbench.mechanics.core import CORE
from workbench.support.errors import ModellingError


@formulation(
    "mujoco-noslip",
    friction="MuJoCo's soft contact, then friction sweeps without its regulariser, with the normal forces fixed",
    source="mj_solNoSlip of MuJoCo 4.0; MuJoCo documentation, Computation, noslip_iterations",
    condition="contacts may be compliant, and may open while they slide",
)
def mujoco_noslip(
    s: ContactSymbols,
    sweeps: Annotated[int, f"number of sweeps over the friction forces, from 1 to {MOST}"] = 10,
    cone: Annotated[Literal["elliptic", "pyramidal"], "cone of the soft solve and of the sweeps"] = "elliptic",
    soft: Softness = USUAL,
    axes: Axes = "fixed",
) -> Declaration:
    if not 1 <= sweeps <= MOST:
        raise ModellingError(f"sweeps={sweeps}; a number from 1 to {MOST} is needed")
    t, pyramid, names = s.d * s.r, cone == "pyramidal", ("q_n", "q_t")
    if pyramid:
        # Every pair of edges is a contact with one direction, whose normal impulse is the sum of the two.
        solve, mu_t = pyramidal.mujoco_pyramid.build(s, soft, axes), cp.Parameter(t, name="mu_t")
        bound = cp.Constant(np.kron(np.eye(t), [[1.0, 1.0]]), name="P") @ solve.partners[0]
        q, own = friction_cone(mu_t, t, 1, names), (*solve.hooks.own, mu_t)
    else:
        solve = elliptic.mujoco.build(s, soft)
        bound, q, own = solve.recover["p_n"], friction_cone(s.mu, s.r, s.d, names), ()
    p_n, p_t = solve.recover["p_n"], solve.recover["p_t"]
    U, U_soft, c = cp.Parameter((t, t), name="U"), cp.Parameter((t, t), name="U_soft"), cp.Parameter(t, name="c")
    v = free("v_q", s.n)
    q_b = free("q_b", s.m) if s.m else None
    return declare(
        *solve.relations,
        equals(s.balance(v, p_n, q.t, q_b)),
        *s.bilateral(v, q_b),
        complements((q.n - bound, s.J_t @ v + s.b_t - U @ q.t + U_soft @ p_t + c), q, law="coulomb"),
        recover=dict(v=v, p_n=p_n, p_t=q.t) | (dict(p_b=q_b) if s.m else {}),
        hooks=Hooks(
            given_pyramid if pyramid else given,
            again,
            own=(*own, U, U_soft, c),
            numbers=(float(sweeps), *solve.hooks.numbers),
            memory=s.r + t + 1,
        ),
    )


@kernel(GIVEN)
def given(core, memory, own, numbers):
    """Set up the soft solve and the first sweep: numbers = [sweeps, those of `mujoco`]; own ends as in `begin`."""
    elliptic.given(core, memory, own, numbers[1:])
    begin(core, memory, own, core.J_t.shape[0] // core.mu.shape[0])


@kernel(GIVEN)
def given_pyramid(core, memory, own, numbers):
    """Pyramids: numbers = [sweeps, those of `mujoco_pyramid`]; own = [its own, mu_t (d r), as in `begin`]."""
    pyramidal.given(core, memory, own, numbers[1:])
    t, r = core.J_t.shape[0], core.mu.shape[0]
    for i in range(t):
        own[4 * t + i] = core.mu[i // (t // r)]
    begin(core, memory, own, 1)


@kernel(types.void(CORE, VECTOR, VECTOR, types.int64))
def begin(core, memory, own, size):
    """Set up the first sweep over blocks of `size` rows: own ends with U (t, t), U_soft = U and c = 0 (t)."""
    r, t = core.mu.shape[0], core.J_t.shape[0]
    W, start = scratch_matrix(r + t, r + t), own.shape[0] - 2 * t * t - t
    memory[-1] = 0.0
    delassus(core, W)
    for i in range(t):
        for j in range(t):
            entry = W[r + i, r + j] if j // size > i // size else 0.0
            own[start + t * i + j] = own[start + t * t + t * i + j] = entry
        own[start + 2 * t * t + i] = 0.0


@kernel(AGAIN)
def again(core, memory, own, numbers, v, p_n, p_t):
    """Start the next sweep from this one's friction: U_soft = 0, c = U q_t. Stop if that changes nothing."""
    memory[-1] += 1.0
    if memory[-1] >= numbers[0]:
        return False
    t, before = p_t.shape[0], scratch(own.shape[0])
    start = own.shape[0] - 2 * t * t - t
    copy(own, before)
    for i in range(t):
        s = 0.0
        for j in range(t):
            s += own[start + t * i + j] * p_t[j]
            own[start + t * t + t * i + j] = 0.0
        own[start + 2 * t * t + i] = s
    return not are_equal(own, before)
