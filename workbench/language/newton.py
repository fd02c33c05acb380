"""Contact laws that are smooth functions of the velocity, solved by Newton's method: one tangent a pass.

A law p = f(u) of each contact, u = (u_n, u_t), is declared as p = g - D u, its tangent at u_0: D = -df/du and
g = f(u_0) + D u_0. A hook writes g and D (`write_tangent`), compares after the pass (`velocity_at`, `agree`), and takes
the next tangent at the pass's solution, or at zero slip if the slip has reversed (`turns_back`).
"""

from typing import Any

import numpy as np
from numba import types

from workbench.engine.compiling import kernel
from workbench.engine.kernels import MATRIX, VECTOR
from workbench.engine.lazy import cvxpy as cp
from workbench.language.estimate import UNIT_ROUND_OFF, momentum
from workbench.language.formulation import ContactSymbols
from workbench.language.modelling import Equals, equals, free
from workbench.mechanics.core import CORE, rate

SETTLED = 1e-12
"""Relative difference between the law's impulses and the pass's at which the passes have settled (`agree`)."""


def smooth_friction(s: ContactSymbols, v: Any, p_t: Any) -> tuple[Any, Any, list[Equals], list[Any]]:
    """Return p_t = g_t - K u_t as the unknown K u_t + p_t - g_t, its relations, and the parameters g_t, K_1, ..., K_d.

    K_j (d r,) holds the j-th column of every contact's K.
    """
    t = s.d * s.r
    u_t, g_t = free("u_t", t), cp.Parameter(t, name="g_t")
    columns = [cp.Parameter(t, name=f"K_{j + 1}") for j in range(s.d)]
    F = p_t - g_t
    for j, K_j in enumerate(columns):
        one = np.zeros((s.d, s.d))
        one[:, j] = 1.0
        F = F + cp.multiply(K_j, cp.Constant(np.kron(np.eye(s.r), one), name=f"S_{j + 1}") @ u_t)
    return u_t, F, [equals(u_t - s.ut(v, p_t))], [g_t, *columns]


def smooth_contact(s: ContactSymbols, v: Any, p_n: Any, p_t: Any) -> tuple[list[Equals], list[Any]]:
    """Return p = g - D u of normal and friction impulses: its relations, and the parameters.

    The parameters are g_n, D_nn, D_nt and D_tn, then those of `smooth_friction`.
    """
    S = cp.Constant(np.kron(np.eye(s.r), np.ones((s.d, 1))), name="S")
    u_t, F_t, relations, own = smooth_friction(s, v, p_t)
    u_n, g_n, D_nn = free("u_n", s.r), cp.Parameter(s.r, name="g_n"), cp.Parameter(s.r, name="D_nn")
    D_nt, D_tn = (cp.Parameter(s.d * s.r, name=name) for name in ("D_nt", "D_tn"))
    return [
        equals(u_n - s.un(v, p_n)),
        *relations,
        equals(p_n - g_n + cp.multiply(D_nn, u_n) + S.T @ cp.multiply(D_nt, u_t)),
        equals(F_t + cp.multiply(D_tn, S @ u_n)),
    ], [g_n, D_nn, D_nt, D_tn, *own]


@kernel(types.void(VECTOR, VECTOR, types.int64, VECTOR, VECTOR, MATRIX))
def write_tangent(normal, friction, i, u, p, D):
    """Write the tangent at u (1 + d) of contact i, whose law gives p (1 + d) there, with D = -dp/du.

    `normal` = [g_n, D_nn, D_nt, D_tn], empty if the contact has another normal law; `friction` = [g_t, K_1, ..., K_d].
    """
    d = u.shape[0] - 1
    t = friction.shape[0] // (1 + d)
    for row in range(d):
        g = p[1 + row]
        for j in range(d):
            friction[(1 + j) * t + d * i + row] = D[1 + row, 1 + j]
            g += D[1 + row, 1 + j] * u[1 + j]
        friction[d * i + row] = g
    if normal.shape[0] == 0:
        return
    r = t // d
    normal[i], normal[r + i] = p[0] + D[0, 0] * u[0], D[0, 0]
    for j in range(d):
        normal[i] += D[0, 1 + j] * u[1 + j]
        normal[2 * r + d * i + j], normal[2 * r + t + d * i + j] = D[0, 1 + j], D[1 + j, 0]
        friction[d * i + j] += D[1 + j, 0] * u[0]


@kernel(types.float64(CORE, VECTOR, VECTOR))
def largest_impulse(core, p_n, p_t):
    """Return the largest impulse [N s], including `core.p_beyond` of the contacts outside this part."""
    largest = core.p_beyond
    for i in range(p_n.shape[0]):
        largest = max(largest, abs(p_n[i]))
    for i in range(p_t.shape[0]):
        largest = max(largest, abs(p_t[i]))
    return largest


@kernel(types.float64(CORE, VECTOR, types.int64, types.float64, VECTOR))
def velocity_at(core, v, i, largest, u):
    """Compute u (1 + d) [m/s] of contact i at v, rates included; returns the sum of the absolute values of its terms.

    The terms include the velocity change by impulses of size `largest`, computed with the diagonal of M.
    """
    size = 0.0
    for row in range(u.shape[0]):
        u[row] = core.r_n[i] if row == 0 else rate(core, (u.shape[0] - 1) * i + row - 1)
        terms = abs(u[row])
        for j in range(v.shape[0]):
            J = core.J_n[i, j] if row == 0 else core.J_t[(u.shape[0] - 1) * i + row - 1, j]
            u[row] += J * v[j]
            terms += abs(J * v[j]) + J**2 / core.M[j, j] * largest
        size = max(size, terms)
    return size


@kernel(types.float64(CORE))
def stopping_impulse(core):
    """Return the largest impulse [N s] that would stop a row of a contact, by the sizes of its velocity's terms at
    M v + h f, computed with the diagonal of M."""
    largest, r = 0.0, core.J_n.shape[0]
    for i in range(r + core.J_t.shape[0]):
        terms = mobility = 0.0
        for j in range(core.b.shape[0]):
            J = core.J_n[i, j] if i < r else core.J_t[i - r, j]
            terms += abs(J * core.b[j]) / core.M[j, j]
            mobility += J**2 / core.M[j, j]
        largest = max(largest, terms / mobility) if mobility > 0.0 else largest
    return largest


@kernel(types.boolean(CORE, VECTOR, types.float64, types.float64, types.float64))
def agree(core, v, apart, largest, steepest):
    """Return whether impulses, the largest being `largest`, satisfy their law; `apart` [N s] is the largest difference.

    The tolerance is the largest of: the share `SETTLED` of the largest impulse; round-off in the velocity's terms seen
    through the law (`steepest` is its slope times these terms); and, if all of these vanish, round-off of the momentum
    before the pass and after it, which joints may change, with the velocities v; and of the impulses that would stop
    the contacts: of a body that spins these are its momentum over a lever arm.
    """
    after = 0.0
    for i in range(v.shape[0]):
        total = 0.0
        for j in range(v.shape[0]):
            total += core.M[i, j] * v[j]
        after = max(after, abs(total))
    least = 8.0 * UNIT_ROUND_OFF * max(momentum(core), after, stopping_impulse(core))
    return apart <= max(SETTLED * largest, 64.0 * UNIT_ROUND_OFF * steepest, least)


@kernel(types.boolean(VECTOR, VECTOR))
def turns_back(u, start):
    """Return whether the slip u_t (d,) has reversed since the last pass, start (d,); if so, start becomes zero.

    Where friction no longer grows with the slip, its tangent overshoots zero back and forth. From zero, where friction
    is steepest, the passes converge from one side. If the slip has not reversed, start becomes u_t.
    """
    product = 0.0
    for j in range(u.shape[0]):
        product += u[j] * start[j]
    for j in range(u.shape[0]):
        start[j] = u[j] if product >= 0.0 else 0.0
    return product < 0.0
