"""Contact data of one instant for compiled code, signatures of a case's mechanics, and rotation of tangent axes."""

import math
from typing import TYPE_CHECKING, Any, ClassVar

from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR
from workbench.engine.layout import Packed

SHARED: dict[str, tuple] = {
    "M": ("n", "n"), "b": ("n",), "J_b": ("m", "n"), "b_b": ("m",), "eps_b": ("m",), "J_n": ("r", "n"),
    "J_t": ("t", "n"), "b_n": ("r",), "b_t": ("t",), "eps_n": ("r",), "eps_t": ("t",), "mu": ("r",),
}  # fmt: skip
"""Data shared by declarations, in their order in `Core` and at the start of the parameter vector theta."""


class Core(Packed):
    """Contact data of one instant for compiled code: formulary section 1, and quantities derived by the step.

    Sizes are n velocities, m bilateral rows, r contacts, t = d r tangents. A case fills M, f, J_b, g, r_b, J_n, phi,
    r_n, J_t, r_t, mu, mu_s, e, heading; entries of r_b, r_n, r_t, mu_s, e, heading that it does not write are unchanged
    (initially zero, heading (1, 0)). `stepping.discretise` derives b, b_b, b_n, b_t, `relaxation.relax` the
    compliances; `turn` rotates a contact's tangent axes and records it in `frame`. Declarations are stamped from
    `theta`: the shared data, the formulation's own parameters, and constants. If the core is a part of a larger system,
    such as one contact of a scene, b_beyond and p_beyond give the scale of the rest, against which quantities count as
    small; otherwise they are zero.
    """

    sizes = ("n", "m", "r", "t", "n_own", "n_rest")
    fields: ClassVar[dict[str, tuple]] = {
        "h": (),  # step [s]
        "law": (),  # normal law, one of `NORMAL_LAWS`
        "v_th": (),  # stick threshold [m/s]
        "b_beyond": (),  # largest entry of M v + h f beyond these velocities [N s]
        "p_beyond": (),  # largest impulse at contacts beyond these, after a pass [N s]
        "f": ("n",),  # applied minus Coriolis forces
        "g": ("m",),  # position error of the bilateral constraints
        "r_b": ("m",),  # prescribed rate dg/dt at fixed configuration
        "r_n": ("r",),  # prescribed normal rate [m/s]
        "e": ("r",),  # restitution
        "mu_s": ("r",),  # static friction coefficient; not used if below mu (zero)
        "heading": ("r", 2),  # unit tangent that rotates with the body, in the case's axes; (1, 0) if nothing rotates
        "frame": ("r", 2),  # first axis in use, in the case's axes
        "p_bar": ("r",),  # estimated normal impulses [N s], if `modelling.Hooks.estimate` asks for them
        "v": ("n",),  # velocity before the step
        "phi": ("r",),  # gap [m]
        "r_t": ("t",),  # prescribed sliding rate [m/s]
        **SHARED,  # b = M v + h f; mu is the kinetic coefficient if there is a static one
        "own": ("n_own",),
        "rest": ("n_rest",),
    }
    spans: ClassVar[dict[str, tuple[str, str]]] = {
        "recorded": ("v", "mu"), "theta": ("M", "rest"), "whole": ("h", "rest")
    }  # fmt: skip

    def __init__(
        self, size: tuple[int, ...], h: float, law: float, v_th: float, n_own: int = 0, n_rest: int = 0
    ) -> None:
        n, m, r, d = size
        super().__init__(n=n, m=m, r=r, t=d * r, n_own=n_own, n_rest=n_rest)
        self.h, self.law, self.v_th = h, law, v_th
        self.heading[:] = self.frame[:] = 1.0, 0.0

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


CORE = Core.compiled

VELOCITY, GAP, MOREAU = 0.0, 1.0, 2.0
NORMAL_LAWS = {"velocity": VELOCITY, "gap": GAP, "moreau": MOREAU}
"""u_n >= 0 on every contact; u_n + phi/h >= 0; u_n >= 0 on closed contacts (phi <= 0). All include Newton's restitution
e min(0, u_n-), which needs Moreau's law for flight and rebound."""
FILL = types.void(VECTOR, VECTOR, VECTOR, CORE)
"""A case's mechanics: fill(q, v, data, core) writes the fields of `Core` that belong to a case."""
ADVANCE = types.void(VECTOR, VECTOR, types.float64, VECTOR, VECTOR)
"""A case's kinematics: advance(q, v, h, data, q_next) writes q + h Gamma(q) v."""

FILL_T, ADVANCE_T = (types.FunctionType(t) for t in (FILL, ADVANCE))


@kernel(ADVANCE)
def advance_by_rates(q, v, h, data, q_next):
    """Write q + h v, for cases whose velocities are the rates of their coordinates."""
    for i in range(q.shape[0]):
        q_next[i] = q[i] + h * v[i]


@kernel(types.void(CORE, types.int64, types.float64, types.float64))
def turn(core, i, c, s):
    """Rotate the tangent axes of contact i, its first two directions, by the angle of cosine c and sine s (d >= 2)."""
    a = i * (core.J_t.shape[0] // core.mu.shape[0])
    b = a + 1
    for j in range(core.J_t.shape[1]):
        x, y = core.J_t[a, j], core.J_t[b, j]
        core.J_t[a, j], core.J_t[b, j] = c * x + s * y, c * y - s * x
    x, y = core.b_t[a], core.b_t[b]
    core.b_t[a], core.b_t[b] = c * x + s * y, c * y - s * x
    x, y = core.frame[i, 0], core.frame[i, 1]
    core.frame[i, 0], core.frame[i, 1] = c * x - s * y, s * x + c * y


@kernel(types.void(CORE, types.int64))
def open_contact(core, i):
    """Disable contact i under any formulation: no normal row, no restitution, and no friction cone.

    Its tangent rows are kept, since some formulations eliminate p_t and need them independent.
    """
    for j in range(core.J_n.shape[1]):
        core.J_n[i, j] = 0.0
    core.b_n[i] = core.phi[i] / core.h
    core.mu[i] = core.e[i] = 0.0


@kernel(types.float64(CORE, types.int64), linked=True)
def approach(core, i):
    """Return min(0, u_n-): the normal rate of contact i before the step [m/s], zero if it does not approach."""
    s = core.r_n[i]
    for j in range(core.v.shape[0]):
        s += core.J_n[i, j] * core.v[j]
    return min(0.0, s)


@kernel(types.float64(CORE, types.int64, VECTOR), linked=True)
def in_axes(core, row, given):
    """Return the entry of a row in the current axes, for tangent vectors `given` (t,) in the case's own axes."""
    d = core.J_t.shape[0] // core.mu.shape[0]
    i = row // d
    # Directions after the first two, torsion and rolling, do not rotate.
    if d == 1 or row > d * i + 1:
        return given[row]
    x, y = given[d * i], given[d * i + 1]
    c, s = core.frame[i, 0], core.frame[i, 1]
    return c * x + s * y if row == d * i else c * y - s * x


@kernel(types.float64(CORE, types.int64), linked=True)
def rate(core, row):
    """Return the prescribed sliding rate r_t of a row [m/s], in the current axes."""
    return in_axes(core, row, core.r_t)


@kernel(types.void(CORE, types.int64, types.float64), linked=True)
def across_row(core, i, eps):
    """Make the row across the sliding direction of contact i viscous, with compliance eps [1/kg]."""
    row = i * (core.J_t.shape[0] // core.mu.shape[0]) + 1
    core.eps_t[row] = eps
    core.b_t[row] = rate(core, row)


@kernel(types.float64(CORE, types.int64), linked=True)
def sliding(core, row):
    """Return a row of J_t v + r_t before the step [m/s], in the current axes."""
    s = rate(core, row)
    for j in range(core.v.shape[0]):
        s += core.J_t[row, j] * core.v[j]
    return s


@kernel(types.float64(CORE, types.int64))
def friction_coefficient(core, i):
    """Return the coefficient of contact i: the static one if there is one and the contact sticks before the step."""
    static = core.mu_s[i] > core.mu[i] and sticks(core, i)
    return core.mu_s[i] if static else core.mu[i]


@kernel(types.boolean(CORE, types.int64))
def sticks(core, i):
    """Return whether contact i sticks before the step; few contacts need this and have it compiled."""
    speed, d = 0.0, core.J_t.shape[0] // core.mu.shape[0]
    for j in range(d * i, d * (i + 1)):
        speed += sliding(core, j) ** 2
    return speed <= core.v_th**2


@kernel(types.float64(CORE, types.int64))
def turn_to_sliding(core, i):
    """Align contact i with its sliding direction before the step, if it slides; returns its speed [m/s]."""
    if core.J_t.shape[0] == core.mu.shape[0]:
        return abs(sliding(core, i))
    row = i * (core.J_t.shape[0] // core.mu.shape[0])
    x, y = sliding(core, row), sliding(core, row + 1)
    speed = math.sqrt(x * x + y * y)
    if speed > core.v_th:
        turn(core, i, x / speed, y / speed)
    return speed


FIXED, BODY, SLIDING = 0.0, 1.0, 2.0
AXES = {"fixed": FIXED, "body": BODY, "sliding": SLIDING}
"""Tangent axes: fixed in space; along the body's heading; along the sliding velocity before the step."""


@kernel(types.void(CORE, types.float64))
def turn_axes(core, axes):
    """Rotate the tangent axes of every contact of a spatial system according to `AXES`."""
    if core.J_t.shape[0] == core.mu.shape[0]:
        return
    for i in range(core.mu.shape[0]):
        if axes == BODY:
            turn(core, i, core.heading[i, 0], core.heading[i, 1])
        elif axes == SLIDING:
            turn_to_sliding(core, i)
