"""Impacts: the impulses of contacts that close, under Coulomb's law for impulses and the case's restitution.

    M (v+ - v-) = J_b^T p_b + J_n^T p_n + J_t^T p_t
    K contains p  perp  (u_n+ + e min(0, u_n-) + mu |u_t+|, u_t+) in K*

over all closed contacts: Newton's law for e > 0, plastic for e = 0. It is the time-stepping problem for h -> 0.
"""

import numpy as np

from workbench.events.answers import distinct, others, solution_to_round_off
from workbench.events.modes import EventError, NotUniqueError
from workbench.mechanics.case import Array
from workbench.mechanics.second_order import Dynamics
from workbench.problems.classes import CoulombNCP

AT_REST = 1e-10
"""Velocity [m/s] after an impact, relative to the approach where that is more than 1 m/s, up to which there is none."""
LEAST = 1e-3
"""Change of velocity [m/s, rad/s] below which differences are relative to this value."""


def impact_problem(x: Dynamics, on: list[int]) -> tuple[CoulombNCP, Array]:
    """The impulse problem of the contacts `on`, unknowns [p_n, p_t], and X (n, unknowns) with v+ = v- + X p."""
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

    Raises EventError where the problem is not solved to round-off, NotUniqueError where several velocities solve it.
    """
    problem, X = impact_problem(x, on)
    found = solution_to_round_off(problem)
    if found is None:
        raise EventError("no verified solution of the impact was found")
    several = distinct(others(problem, found.z, X, LEAST), found.z, X, LEAST) if len(on) > 1 else [found.z]
    answers = [(v + X @ z, z[: len(on)], z[len(on) :].reshape(len(on), -1)) for z in several]
    if len(answers) > 1:
        raise NotUniqueError(
            f"the impact is not unique: {len(answers)} velocities solve the impulses' problem",
            [_in_words(x, on, after - v) for after, *_ in answers], answers,
        )  # fmt: skip
    return answers[0]


def _in_words(x: Dynamics, on: list[int], change: Array) -> str:
    """Return the behaviour of the contacts `on` after their velocities have changed."""
    u_n, u_t = x.u_n + x.J_n @ change, np.linalg.norm(x.u_t + x.J_t @ change, axis=-1)
    still = AT_REST * max(1.0, float(np.abs(x.u_n[on]).max()))
    said = ("opens" if u_n[i] > still else "slides" if u_t[i] > still else "sticks" for i in on)
    return ", ".join(f"contact {i} {what}" for i, what in zip(on, said, strict=True))
