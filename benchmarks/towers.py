"""Towers of boxes at random instants: the contact problems of the LCP and MLCP comparisons."""

import numpy as np

from workbench.mechanics.contact import ContactSystem
from workbench.problems.classes import Array
from workbench.problems.friction_problem import FrictionProblem

SIZES = (6, 24, 60, 180, 600)
"""Sizes of the LCPs with four friction directions: 1, 4, 10, 30 and 100 contacts."""
STATES = ("resting", "sliding", "spinning", "pushed", "tumbling", "tilted", "on the edge of sliding", "shaken")
GRAVITY, HALF = 9.81, 0.5


def tower(contacts: int, seed: int) -> ContactSystem:
    """Unit boxes, four contacts (corners) below each but the topmost, which takes what is left over.

    The state is `STATES[seed % 8]`; masses are 1 kg times up to ten either way, the step is 0.1 to 10 ms. Boxes of a
    tower are shifted by up to a tenth of an edge; five of eight towers touch exactly (gap 0), the others nearly.
    """
    rng = np.random.default_rng([contacts, seed])
    state = STATES[seed % len(STATES)]
    bodies = -(-contacts // 4)
    shift = np.cumsum(rng.uniform(-0.1, 0.1, (bodies, 2)), axis=0)
    J_n, J_t = jacobians(contacts, shift)
    m = 10 ** rng.uniform(-1, 1, bodies)
    h = 10 ** rng.uniform(-4, -2)
    f = np.zeros((bodies, 6))
    f[:, 2] = -m * GRAVITY
    return ContactSystem(
        # The moment of inertia of a unit cube is m / 6.
        M=np.diag(np.concatenate([np.r_[np.full(3, k), np.full(3, k / 6)] for k in m])),
        v=velocity(state, rng, bodies, h).ravel(), f=f.ravel(), h=h, J_n=J_n, J_t=J_t,
        mu=rng.uniform(0.1, 1.2, contacts), phi=1e-6 * rng.normal(size=contacts) * (seed % 8 > 4), normal="gap",
    )  # fmt: skip


def velocity(state: str, rng: np.random.Generator, bodies: int, h: float) -> Array:
    """Velocities (bodies, 6) [m/s, rad/s] before the step."""
    v = np.zeros((bodies, 6))
    if state == "sliding":
        v[:, 0] = 1.0
    elif state == "spinning":
        v[:, 1], v[:, 5] = 5.0, 2 * np.pi
    elif state == "pushed":
        v[rng.integers(bodies), 0] = h * rng.uniform(0, 20)
    elif state == "tumbling":
        v = rng.normal(size=v.shape)
    elif state == "tilted":
        v[-1, 3:5] = rng.normal(size=2)
    elif state == "on the edge of sliding":
        v[:, 0] = 0.5 * h * GRAVITY
    elif state == "shaken":
        v = 1e-6 * rng.normal(size=v.shape)
    return v


def jacobians(contacts: int, shift: Array) -> tuple[Array, Array]:
    """J_n (r, 6 b) and J_t (2 r, 6 b) of horizontal contacts; box k stands on box k - 1, the first on the ground."""
    corner = HALF * np.array([[-1, -1, -1], [1, -1, -1], [-1, 1, -1], [1, 1, -1]], dtype=float)
    J_n, J_t = np.zeros((contacts, 6 * len(shift))), np.zeros((2 * contacts, 6 * len(shift)))
    for i in range(contacts):
        k = i // 4
        copy(J_n, J_t, i, k, corner[i % 4], 1.0)
        if k:
            copy(J_n, J_t, i, k - 1, corner[i % 4] + np.append(shift[k] - shift[k - 1], 2 * HALF), -1.0)
    return J_n, J_t


def copy(J_n: Array, J_t: Array, i: int, body: int, arm: Array, sign: float) -> None:
    """The rows of contact i for a body whose centre is `arm` (3,) before the contact point: a . (v + w x arm)."""
    for row, a in ((J_n[i], [0, 0, 1]), (J_t[2 * i], [1, 0, 0]), (J_t[2 * i + 1], [0, 1, 0])):
        row[6 * body : 6 * body + 6] = sign * np.concatenate([a, np.cross(arm, a)])


def tower_problem(contacts: int, seed: int) -> FrictionProblem:
    """The same instant as a friction problem: W = J M^-1 J^T, q = J (v + h M^-1 f) + (phi / h, 0)."""
    system = tower(contacts, seed)
    J = np.vstack([system.J_n, system.J_t])
    inverse = 1.0 / np.diag(system.M)
    q = J @ (system.v + system.h * inverse * system.f)
    q[:contacts] += system.phi / system.h
    W = J @ (inverse[:, None] * J.T)
    return FrictionProblem(0.5 * (W + W.T), q, system.mu)
