"""Random systems of sliding contacts, for several test modules."""

import numpy as np

from workbench.sliding import SlidingSystem

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


def close(computed, expected, rtol=1e-12):
    """Equal to rtol of the largest entry."""
    np.testing.assert_allclose(computed, expected, rtol=0, atol=rtol * np.abs(expected).max(initial=1e-300))
