"""Impulses that the laws of engines give at a velocity, written out without CVXPY, kernels or Newton's method.

The laws follow the formulary contact by contact. Each takes a formulation's options, the system, the answer (of which
it uses the velocity alone) and the contacts of `systems.contacts`, and returns p_n (r,), p_t (r, d) [N s].
"""

from typing import Any

import numpy as np
from scipy.optimize import brentq

from tests.systems import Array, Contact, delassus, impedance, slip
from workbench.algorithms.escalation import default_solver
from workbench.builtin.formulations import FORMULATIONS
from workbench.language.assemble.find import compiled
from workbench.mechanics.contact import ContactSolution, ContactSystem
from workbench.step.one_step import solve_system

Impulses = tuple[Array, Array]


def own_block(s: ContactSystem, i: int, Q: Array) -> Array:
    """W_ii (1 + d, 1 + d) of one contact in the axes Q, the bilateral rows left out."""
    d = len(s.J_t) // len(s.J_n)
    J = np.vstack([s.J_n[i], Q @ s.J_t[d * i : d * (i + 1)]])
    return J @ np.linalg.solve(s.M, J.T)


def mobility(s: ContactSystem, i: int) -> float:
    """|W_ii|_F / (1 + d)."""
    W = own_block(s, i, np.eye(len(s.J_t) // len(s.J_n)))
    return float(np.sqrt((W**2).sum())) / len(W)


def sap(o: dict[str, Any], s: ContactSystem, a: ContactSolution, contacts: list[Contact]) -> Impulses:
    """gamma = P_K(y) in the norm of R, by the three regions of the projection (Castro et al. 2022, eq. (20))."""
    u_n, u_t = s.J_n @ a.v + s.r_n, slip(s, a.v)
    p_n, p_t = np.zeros(len(u_n)), np.zeros_like(u_t)
    for i in np.flatnonzero(s.phi <= 0):
        mu, w = s.mu[i], mobility(s, i)
        R_n = max(o["beta"] ** 2 / (4 * np.pi**2) * w, 1 / (s.h * o["stiffness"] * (s.h + o["tau_d"])))
        R_t = o["sigma"] * w
        y_n, y_t = (-s.phi[i] / (s.h + o["tau_d"]) - u_n[i]) / R_n, -u_t[i] / R_t
        size = np.linalg.norm(y_t)
        if size <= mu * y_n:
            p_n[i], p_t[i] = y_n, y_t
        elif -mu * R_t / R_n * size < y_n:
            p_n[i] = (y_n + mu * R_t / R_n * size) / (1 + mu**2 * R_t / R_n)
            p_t[i] = mu * p_n[i] * y_t / size
    return p_n, p_t


def mujoco_pyramid(o: dict[str, Any], s: ContactSystem, a: ContactSolution, contacts: list[Contact]) -> Impulses:
    """What the edges of the pyramid bear, added up."""
    beta, d = edges(o, s, a, contacts), len(s.J_t) // len(s.J_n)
    along = [c.mu * (b[:, 0] - b[:, 1]) @ c.Q for b, c in zip(beta, contacts, strict=True)]
    return beta.sum(axis=(1, 2)), np.array(along).reshape(-1, d)


def edges(o: dict[str, Any], s: ContactSystem, a: ContactSolution, contacts: list[Contact]) -> Array:
    """beta (r, d, 2) = max(0, -w / R_e) of the edges n +- mu t_j, w = h (a - a_ref) of its own row."""
    after, before = (np.hstack([(s.J_n @ v + s.r_n)[:, None], slip(s, v)]) for v in (a.v, s.v))
    found = np.zeros((len(after), after.shape[1] - 1, 2))
    timeconst = max(o["timeconst"], 2 * s.h)
    b, k = 2 / (o["dmax"] * timeconst), 1 / (o["dmax"] * timeconst * o["dampratio"]) ** 2
    for i in np.flatnonzero(s.phi <= 0):
        d = impedance(o, -s.phi[i])
        mu, Q, W = s.mu[i], contacts[i].Q, own_block(s, i, contacts[i].Q)
        first = np.array([1.0, mu, *np.zeros(len(W) - 2)])
        R_e = 2 * mu**2 / o["impratio"] * (1 - d) / d * (first @ W @ first)
        for j, axis in enumerate(Q):
            for side, t in enumerate((axis, -axis)):
                edge = np.concatenate([[1.0], mu * t])
                w = edge @ after[i] - (1 - s.h * b) * (edge @ before[i]) + s.h * k * d * s.phi[i]
                found[i, j, side] = max(0.0, -w / R_e)
    return found


def mujoco_noslip(o: dict[str, Any], s: ContactSystem, a: ContactSolution, contacts: list[Contact]) -> Impulses:
    """The soft solve, then friction contact by contact, or row by row, without compliance, in its bounds."""
    pyramid = o["cone"] == "pyramidal"
    f = FORMULATIONS.find("mujoco-pyramid" if pyramid else "mujoco")
    f = f.with_options(**{name: o[name] for name in f.options if name in o})
    soft = solve_system(f, s, default_solver(compiled(f, *s.size).kind))[0]
    W, q = delassus(s)
    r = len(contacts)
    d = len(s.J_t) // r
    T = np.zeros((r * d, r * d))
    for i, c in enumerate(contacts):
        T[d * i : d * (i + 1), d * i : d * (i + 1)] = c.Q
    timeconst = max(o["timeconst"], 2 * s.h)
    rest = q[r:] + W[r:, :r] @ soft.p_n - (1 - s.h * 2 / (o["dmax"] * timeconst)) * slip(s, s.v).ravel()
    rest, W, p = T @ rest, T @ W[r:, r:] @ T.T, T @ soft.p_t
    size = 1 if pyramid else d
    bound = np.repeat(s.mu, d) * edges(o, s, soft, contacts).sum(axis=2).ravel() if pyramid else s.mu * soft.p_n
    for _ in range(o["sweeps"]):
        for i in range(len(bound)):
            rows = slice(size * i, size * (i + 1))
            own = W[rows, rows]
            p[rows] = in_ball(own, W[rows] @ p + rest[rows] - own @ p[rows], bound[i])
    return soft.p_n, (T.T @ p).reshape(r, d)


def in_ball(A: Array, b: Array, radius: float) -> Array:
    """The x with |x| <= radius at which A x + b vanishes, or is against x on the rim."""

    def x(shift: float) -> Array:
        return np.linalg.solve(A + shift * np.eye(len(b)), -b)

    if np.linalg.norm(x(0.0)) <= radius:
        return x(0.0)
    if radius <= 1e-12 * np.linalg.norm(x(0.0)):
        return 0.0 * b
    # |x| <= |b| / shift.
    most = 2.0 * np.linalg.norm(b) / radius
    return x(brentq(lambda shift: np.linalg.norm(x(shift)) - radius, 0.0, most, xtol=1e-15 * most, rtol=1e-14))


def genesis(o: dict[str, Any], s: ContactSystem, a: ContactSolution, contacts: list[Contact]) -> Impulses:
    """Spring and damper along the normal; friction is what they make of the slip, cut to the disc of mu p_n."""
    u_n, u_t, before = s.J_n @ a.v + s.r_n, slip(s, a.v), slip(s, s.v)
    p_n, p_t = np.zeros(len(u_n)), np.zeros_like(u_t)
    timeconst = max(o["timeconst"], 2 * s.h)
    b, k = 2 / (o["dmax"] * timeconst), 1 / (o["dmax"] * timeconst * o["dampratio"]) ** 2
    for i in np.flatnonzero(s.phi <= 0):
        d = impedance(o, -s.phi[i])
        R = (1 - d) / d * own_block(s, i, np.eye(u_t.shape[1]))[0, 0]
        p_n[i] = max(0.0, -(u_n[i] - (1 - s.h * b) * (s.J_n @ s.v + s.r_n)[i] + s.h * k * d * s.phi[i]) / R)
        p_t[i] = -(u_t[i] - (1 - s.h * b) * before[i]) * o["impratio"] / R
        p_t[i] *= min(1.0, s.mu[i] * p_n[i] / max(np.linalg.norm(p_t[i]), 1e-300))
    return p_n, p_t


def comfree(o: dict[str, Any], s: ContactSystem, a: ContactSolution, contacts: list[Contact]) -> Impulses:
    """beta = max(0, -kappa w) at the velocity without contacts."""
    n = len(s.M)
    K = np.block([[s.M, -s.J_b.T], [s.J_b, np.diag(s.eps_b)]])
    free = np.linalg.solve(K, np.concatenate([s.M @ s.v + s.h * s.f, -s.g / s.h]))[:n]
    u_n, u_t = s.J_n @ free + s.r_n + s.phi / s.h, slip(s, free)
    p_n, p_t = np.zeros(len(u_n)), np.zeros_like(u_t)
    sides = o["directions"] if u_t.shape[1] == 2 else 2
    for i in range(len(u_n)):
        auto = 1 / (sides * own_block(s, i, contacts[i].Q)[0, 0])
        kappa = auto if o["kappa"] == "auto" else o["kappa"]
        for j in range(sides):
            angle = 2 * np.pi * j / sides
            unit = np.array([np.cos(angle), np.sin(angle)])[: u_t.shape[1]] @ contacts[i].Q
            beta = max(0.0, -kappa * (u_n[i] - s.mu[i] * unit @ u_t[i]))
            p_n[i] += beta
            p_t[i] -= s.mu[i] * beta * unit
    return p_n, p_t


def gauss_seidel(o: dict[str, Any], s: ContactSystem, a: ContactSolution, contacts: list[Contact]) -> Impulses:
    """Sweeps row by row, friction before the normal of each contact, in the contacts' axes."""
    W, q = delassus(s)
    r = len(contacts)
    d = len(s.J_t) // r
    T = np.eye(r * (1 + d))
    for i, c in enumerate(contacts):
        T[r + d * i : r + d * (i + 1), r + d * i : r + d * (i + 1)] = c.Q
    W, q, p = T @ W @ T.T + np.diag([*s.eps_n, *s.eps_t]), T @ q, np.zeros(r * (1 + d))
    if o["start"] == "last":
        p = T @ np.concatenate([[c.last_n for c in contacts], *(c.last_t for c in contacts)])
    for _ in range(o["sweeps"]):
        for i in range(r):
            limit = s.mu[i] * p[i]
            for j in range(r + d * i, r + d * (i + 1)):
                p[j] = np.clip(p[j] - (W[j] @ p + q[j]) / W[j, j], -limit, limit)
            p[i] = max(0.0, p[i] - (W[i] @ p + q[i]) / W[i, i])
    p = T.T @ p
    return p[:r], p[r:].reshape(r, d)


def hunt_crossley(o: dict[str, Any], s: ContactSystem, a: ContactSolution, contacts: list[Contact]) -> Impulses:
    """Spring, damper and regularised friction at the end of the step."""

    def n(i: int, z: float) -> float:
        return s.h * o["stiffness"] * max(0.0, -s.phi[i] - s.h * z) * max(0.0, 1 - o["dissipation"] * z)

    before, u_n, u_t = s.J_n @ s.v + s.r_n, s.J_n @ a.v + s.r_n, slip(s, a.v)
    p_n, p_t = np.zeros(len(u_n)), np.zeros_like(u_t)
    for i in np.flatnonzero(s.phi <= 0):
        n_0 = s.h * o["stiffness"] * -s.phi[i] * max(0.0, 1 - o["dissipation"] * before[i])
        eps = max(o["v_s"], o["sigma"] * s.mu[i] * mobility(s, i) * n_0)
        root = np.sqrt(u_t[i] @ u_t[i] + eps**2)
        p_n[i] = n(i, u_n[i] - (s.mu[i] * (root - eps) if o["friction"] == "similar" else 0.0))
        p_t[i] = -s.mu[i] * (n_0 if o["friction"] == "lagged" else p_n[i]) * u_t[i] / root
    return p_n, p_t


def ipc(o: dict[str, Any], s: ContactSystem, a: ContactSolution, contacts: list[Contact]) -> Impulses:
    """Friction alone; of the normal impulses those of the answer, whose law is the run's."""
    u_t = slip(s, a.v)
    p_t = np.zeros_like(u_t)
    for i, c in enumerate(contacts):
        speed = np.linalg.norm(u_t[i])
        y = min(1.0, speed / o["eps_v"])
        limit = s.mu[i] * (c.estimate if o["bounds"] == "last" else a.p_n[i])
        p_t[i] = -limit * (2 * y - y**2) * u_t[i] / max(speed, 1e-300)
    return a.p_n, p_t


LAWS = {
    "sap": sap,
    "mujoco-pyramid": mujoco_pyramid,
    "mujoco-noslip": mujoco_noslip,
    "genesis": genesis,
    "comfree": comfree,
    "gauss-seidel": gauss_seidel,
    "hunt-crossley": hunt_crossley,
    "ipc": ipc,
}
"""Name of a formulation: the impulses of its law."""
