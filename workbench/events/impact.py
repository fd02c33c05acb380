"""Impacts: the impulses of contacts that close, under Coulomb's law for impulses and the case's restitution.

    M (v+ - v-) = J_b^T p_b + J_n^T p_n + J_t^T p_t
    K contains p  perp  (u_n+ + e min(0, u_n-) + mu |u_t+|, u_t+) in K*

over all closed contacts: Newton's law where e > 0, plastic where e = 0. It is the time stepping's problem for h -> 0.
"""

import numpy as np

from workbench.algorithms import ROUND_OFF, find_solver
from workbench.events.modes import EventError
from workbench.mechanics.case import Array
from workbench.mechanics.second_order import Dynamics
from workbench.problems.classes import CoulombNCP

STARTS = 8
"""Random starts from which a second solution is looked for."""


def impact_problem(x: Dynamics, on: list[int]) -> tuple[CoulombNCP, Array]:
    """The impulses' problem of the contacts `on`, unknowns [p_n, p_t], and X (n, unknowns) with v+ = v- + X p."""
    n, d = len(x.M), x.u_t.shape[1]
    J = np.concatenate([x.J_n[on], x.J_t[on].reshape(-1, n)])
    X = np.linalg.solve(x.M, J.T)
    if len(x.J_b):
        B = np.linalg.solve(x.M, x.J_b.T)
        X = X - B @ np.linalg.lstsq(x.J_b @ B, x.J_b @ X)[0]
    u_n = x.u_n[on]
    q = np.concatenate([u_n + x.e[on] * np.minimum(0.0, u_n), x.u_t[on].ravel()])
    return CoulombNCP(J @ X, q, x.mu[on], d), X


def impact(x: Dynamics, v: Array, on: list[int]) -> tuple[Array, Array, Array]:
    """Velocities after an impact and the impulses p_n (k,), p_t (k, d) [N s] of the contacts `on`.

    Raises EventError where the problem is not solved to round-off, or a second velocity solves it.
    """
    problem, X = impact_problem(x, on)
    solver = find_solver(ROUND_OFF[problem.kind])
    found = solver.solve(problem)
    if not found.residual <= found.tolerance:
        raise EventError(f"the impulses of the impact are not found: residual {found.residual:.1e}")
    change, rng = X @ found.z, np.random.default_rng(0)
    if len(on) > 1:
        scale = float(np.abs(found.z).max())
        for _ in range(STARTS):
            other = solver.solve_from(problem, scale * rng.normal(size=problem.size))  # type: ignore[attr-defined]
            off = float(np.abs(X @ other.z - change).max())
            if other.residual <= other.tolerance and off > 1e-7 * max(1e-3, float(np.abs(change).max())):
                raise EventError("the impact is not unique: two velocities solve the impulses' problem")
    return v + change, found.z[: len(on)], found.z[len(on) :].reshape(len(on), -1)
