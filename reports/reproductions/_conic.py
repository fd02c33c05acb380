"""Contact systems of one instant for the page of CND-17-1068, and what the solution set of their CCP looks like."""

from itertools import permutations
from typing import Any

import cvxpy as cp
import numpy as np

from workbench.algorithms import find_solver
from workbench.builtin.formulations.ccp import ccp
from workbench.judge.coulomb import judge
from workbench.mechanics.case import Array
from workbench.mechanics.contact import ContactSolution, ContactSystem
from workbench.step.one_step import solve_system

STEP, GRAVITY = 1e-3, 9.81
EXACT = "ccp-exact"
"""The solver that takes a CCP to round-off."""
SWEPT = 1e-12
"""Residual at which Gauss-Seidel sweeps end."""


def box_on_corners(
    v: tuple[float, float, float], push: float = 0.0, order: tuple[int, ...] = (0, 1, 2, 3)
) -> ContactSystem:
    """A 3 kg box, 0.4 x 0.2 x 0.1 m, on its lower corners at their own gap; velocity v [m/s], a push along x [N]."""
    m, a, b, c, mu = 3.0, 0.2, 0.1, 0.05, 0.4
    corners = np.array([[x, y, -c] for x in (-a, a) for y in (-b, b)])[list(order)]
    J = np.array([np.hstack([np.eye(3), np.cross(np.eye(3), -p)]) for p in corners])
    inertia = m / 3 * np.array([b**2 + c**2, a**2 + c**2, a**2 + b**2])
    return ContactSystem(
        M=np.diag([m, m, m, *inertia]), v=np.array([*v, 0.0, 0.0, 0.0]), f=np.array([push, 0, -m * GRAVITY, 0, 0, 0]),
        h=STEP, J_n=J[:, 2], J_t=J[:, :2].reshape(8, 6), mu=mu, phi=mu * STEP * float(np.hypot(*v[:2])), normal="gap",
    )  # fmt: skip


def random_system(seed: int, r: int, m: int) -> ContactSystem:
    """r contacts and m bilateral constraints on 12 velocities, all approaching or apart at random."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(12, 12))
    return ContactSystem(
        M=A @ A.T + np.eye(12), v=rng.normal(size=12), f=10 * rng.normal(size=12), h=STEP, J_n=rng.normal(size=(r, 12)),
        J_t=rng.normal(size=(2 * r, 12)), mu=rng.uniform(0.1, 1, r), phi=1e-4 * rng.uniform(-1, 1, r),
        J_b=rng.normal(size=(m, 12)), g=1e-4 * rng.normal(size=m), normal="gap",
    )  # fmt: skip


SYSTEMS = {
    "box sliding on four corners": box_on_corners((1.0, 0.5, 0.0)),
    "box pushed, sticking": box_on_corners((0.0, 0.0, 0.0), push=5.0),
    "random, 3 contacts": random_system(1, 3, 0),
    "random, 3 contacts, 2 bilateral": random_system(2, 3, 2),
    "random, 6 contacts (redundant)": random_system(3, 6, 0),
}


def rates(s: ContactSystem, v: Array) -> tuple[Array, Array]:
    """d = D^T v + (phi/h, 0, 0): normal (r,) and tangential (r, d) parts."""
    return s.J_n @ v + s.phi / s.h, (s.J_t @ v).reshape(s.size[2], -1)


def relaxed_verdict(s: ContactSystem, answer: ContactSolution) -> float:
    """Largest of Signorini's, the cone's and the dissipation's residual, with the relaxed normal law of eq. (5d)."""
    d_n, d_t = rates(s, answer.v)
    J = np.vstack([s.J_n, s.J_t])
    free = J @ (s.v + s.h * np.linalg.solve(s.M, s.f))
    p_t = answer.p_t.reshape(d_t.shape)
    relaxed = d_n - s.mu * np.linalg.norm(d_t, axis=1)
    verdict = judge(answer.p_n, p_t, relaxed, d_t, s.mu, J @ np.linalg.solve(s.M, J.T), free)
    scale = float(verdict.normaliser.max())
    speed = float((verdict.normaliser / verdict.rho).max())
    return float(max(verdict.signorini, verdict.cone / scale, verdict.dissipation / (scale * speed)))


def normal_range(system: ContactSystem, v: Array) -> Array:
    """(r, 2) least and most of each normal impulse [N s] among all solutions with velocity v.

    The solution set of the convex programme: impulses in their cones that give v, and orthogonal to d.
    """
    r = system.size[2]
    d_n, d_t = rates(system, v)
    change = system.M @ (v - system.v) - system.h * system.f
    size = np.abs(change).max()
    p_n, p_t = cp.Variable(r), cp.Variable((r, 2))
    constraints = [
        system.J_n.T @ p_n + system.J_t.T @ cp.vec(p_t, order="C") == change / size,
        cp.SOC(cp.multiply(system.mu, p_n), p_t, axis=1),
        d_n @ p_n + cp.sum(cp.multiply(d_t, p_t)) == 0,
    ]
    pick, extremes = cp.Parameter(r), np.zeros((r, 2))
    problem = cp.Problem(cp.Minimize(pick @ p_n), constraints)
    for i in range(r):
        for k, sign in enumerate((1.0, -1.0)):
            pick.value = sign * np.eye(r)[i]
            extremes[i, k] = sign * problem.solve(solver="CLARABEL")
    return size * extremes


def reordered(v: tuple[float, float, float]) -> tuple[Array, Array]:
    """Velocities (24, 6) and normal impulses (24, 4) of the box, its corners listed in every order, by sweeps."""
    sweeps: Any = find_solver("nsgs")
    velocities, impulses, sweeps = [], [], sweeps.adjusted(SWEPT, None)
    for order in permutations(range(4)):
        answer, _ = solve_system(ccp, box_on_corners(v, order=order), sweeps)
        velocities.append(answer.v)
        impulses.append(answer.p_n[np.argsort(order)])
    return np.array(velocities), np.array(impulses)
