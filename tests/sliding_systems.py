"""Random systems of sliding contacts, for several test modules, and what all of them ask of such a system."""

import numpy as np

from workbench.diagnostics.painleve import painleve as painleve
from workbench.diagnostics.sliding_regime import regime as regime
from workbench.step.sliding.system import SlidingSystem

SIZES = [(1, 0), (0, 1), (1, 1), (2, 1), (1, 2), (3, 2), (2, 3), (3, 0), (0, 3)]


def random_system(seed: int, m_b: int, m_u: int, mu: float = 0.3, **given) -> SlidingSystem:
    """Independent rows, M with eigenvalues over two decades, friction up to mu, all else random."""
    rng = np.random.default_rng([seed, m_b, m_u])
    n = 2 * (m_b + m_u) + 1
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    M = (Q * np.geomspace(0.2, 20.0, n)) @ Q.T
    data = dict(M=(M + M.T) / 2, f=5 * rng.standard_normal(n))
    for side, m in (("b", m_b), ("u", m_u)):
        data |= {f"J_{x}{side}": rng.standard_normal((m, n)) / np.sqrt(n) for x in "nt"}
        data |= {f"mu_{side}": rng.uniform(0, mu, m), f"xi_{side}": rng.choice([-1.0, 1.0], m)}
        data[f"w_n{side}"] = rng.standard_normal(m)
    return SlidingSystem(**(data | given))


def assert_close(computed, expected, rtol=1e-12):
    """Equal to rtol of the largest entry."""
    np.testing.assert_allclose(computed, expected, rtol=0, atol=rtol * np.abs(expected).max(initial=1e-300))


def heap(seed: int, contacts: int, space: bool = False) -> SlidingSystem:
    """Bodies of random mass, inertia and size that slide on each other, each on one met before, in a plane or in space.

    One body in four leans on a further one, and one in ten on the ground.
    """
    rng = np.random.default_rng([seed, contacts, space])
    dim, turns = (3, 3) if space else (2, 1)
    size = dim + turns
    pairs: list[tuple[int, int]] = []
    bodies = 1
    while len(pairs) < contacts:
        pairs.append((bodies, -1 if bodies == 1 or rng.random() < 0.1 else int(rng.integers(1, bodies))))
        if bodies > 2 and rng.random() < 0.25 and len(pairs) < contacts:
            pairs.append((bodies, int(rng.integers(1, bodies))))
        bodies += 1
    n = size * bodies
    M = np.zeros((n, n))
    for b in range(bodies):
        k, mass = size * b, rng.uniform(0.5, 2.0)
        M[range(k, k + dim), range(k, k + dim)] = mass
        Q = np.linalg.qr(rng.standard_normal((turns, turns)))[0]
        M[k + dim : k + size, k + dim : k + size] = mass * (Q * rng.uniform(0.1, 0.3, turns)) @ Q.T
    J_n, J_t = np.zeros((contacts, n)), np.zeros((contacts, n))
    for i, bodies_met in enumerate(pairs):
        normal = rng.standard_normal(dim)
        normal /= np.linalg.norm(normal)
        across = rng.standard_normal(dim)
        across -= normal * (normal @ across)
        across /= np.linalg.norm(across)
        for b, sign in zip(bodies_met, (1.0, -1.0), strict=True):
            if b < 0:
                continue
            # The contact lies roughly on the body's side that faces the other.
            arm = rng.uniform(0.3, 0.6) * (-sign * normal + 0.8 * rng.standard_normal(dim))
            for J, e in ((J_n, normal), (J_t, across)):
                turn = np.cross(arm, e) if space else [arm[0] * e[1] - arm[1] * e[0]]
                J[i, size * b : size * b + size] = sign * np.concatenate([e, turn])
    f = -9.81 * M @ np.tile(np.eye(size)[dim - 1], bodies)
    return SlidingSystem((M + M.T) / 2, f, J_nu=J_n, J_tu=J_t, mu_u=rng.uniform(0.5, 1.0, contacts),
                         xi_u=rng.choice([-1.0, 1.0], contacts))  # fmt: skip
