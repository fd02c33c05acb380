"""Impacts: the impulses of contacts that close, under Coulomb's law for impulses and the case's restitution.

    M (v+ - v-) = J_b^T p_b + J_n^T p_n + J_t^T p_t
    K contains p  perp  (u_n+ + e min(0, u_n-) + mu |u_t+|, u_t+) in K*

over all closed contacts: Newton's law where e > 0, plastic where e = 0. It is the time stepping's problem for h -> 0.
"""

import numpy as np

from workbench.events.answers import has_another, solved
from workbench.events.modes import EventError
from workbench.mechanics.case import Array
from workbench.mechanics.second_order import Dynamics
from workbench.problems.classes import CoulombNCP

LEAST = 1e-3
"""Change of velocity [m/s, rad/s] below which differences count as those of so large a one."""


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
    found = solved(problem)
    if found is None:
        raise EventError("the impulses of the impact are not found: no answer is verified")
    if len(on) > 1 and has_another(problem, found.z, X, LEAST):
        raise EventError("the impact is not unique: two velocities solve the impulses' problem")
    return v + X @ found.z, found.z[: len(on)], found.z[len(on) :].reshape(len(on), -1)
