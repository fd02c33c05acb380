"""Random sliding systems for the page of hal-01224915, and the numbers that its formulas are compared with.

Nothing here uses the blocks or the LCP of `step.sliding.system`, only the mass matrix, the Jacobians and friction.
"""

from itertools import combinations, product

import numpy as np

from workbench.builtin.cases.rod import Rod
from workbench.builtin.cases.rod_in_guide import RodInGuide
from workbench.matrices.p_property.verdict import p_verdict
from workbench.mechanics.case import Array
from workbench.readers.matrix import Matrix
from workbench.step.sliding.law import law_residual
from workbench.step.sliding.system import Multipliers, SlidingSystem

REAL = 1e-9
"""Relative imaginary part up to which an eigenvalue is real."""
LAWFUL = 1e-9
"""Residual of the law up to which forces obey it."""
EXACT = 1e-9
"""Relative difference up to which two roads lead to the same number."""
T = float(np.degrees(np.arctan(2.0)))
"""The most dangerous angle of the rod on its tip [deg]."""


def is_p(s: SlidingSystem) -> bool:
    """The exact verdict on M_mu."""
    return p_verdict(Matrix(s.M_mu).exact).verdict == "P"


def apart(computed: Array, expected: Array) -> float:
    """Largest difference over the largest entry expected."""
    return float(np.abs(computed - expected).max() / np.abs(expected).max())


def at_start(case: Rod | RodInGuide) -> SlidingSystem:
    return case.sliding_system(*case.start())


def critical_friction(angle: Array | float, kappa: float = 1 / 3) -> Array:
    """mu_c of the rod, angle in degrees."""
    t = np.tan(np.radians(angle))
    return np.asarray((1 + kappa * (1 + t**2)) / t)


def random_system(rng: np.random.Generator, m_b: int, m_u: int, mu: float = 0.3) -> SlidingSystem:
    """Independent rows, masses over two decades, friction up to mu, all else random."""
    n = 2 * (m_b + m_u) + 1
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    M = (Q * np.geomspace(0.2, 20.0, n)) @ Q.T

    def side(m: int) -> tuple[Array, ...]:
        J_n, J_t = rng.standard_normal((2, m, n)) / np.sqrt(n)
        return J_n, J_t, rng.uniform(0, mu, m), rng.choice([-1.0, 1.0], m), rng.standard_normal(m)

    return SlidingSystem((M + M.T) / 2, 5 * rng.standard_normal(n), *side(m_b), *side(m_u))


def random_rod(rng: np.random.Generator) -> RodInGuide:
    """A rod in a guide of any mass, length, inertia, angle and friction, falling or rising."""
    return RodInGuide(
        m=rng.uniform(0.1, 10), l=rng.uniform(0.3, 3), kappa=rng.uniform(0.1, 0.9), angle=rng.uniform(15, 85),
        spin=float(rng.choice([-1, 1])), mu_guide=rng.uniform(0.05, 1), mu_wall=rng.uniform(0.05, 1),
    )  # fmt: skip


def eliminated(s: SlidingSystem) -> tuple[Array, Array]:
    """M_mu and z of the LCP (4): the dynamics and the bilateral rows solved for accelerations and lambda+ at once."""
    n, friction_b, friction_u = len(s.M), s.J_tb.T * (s.mu_b * s.xi_b), s.J_tu.T * (s.mu_u * s.xi_u)
    K = np.block([[s.M, friction_b - s.J_nb.T], [s.J_nb, np.zeros((s.m_b, s.m_b))]])
    # Columns lambda-, lambda_nu and the constant.
    others = np.block([
        [s.J_nb.T + friction_b, friction_u - s.J_nu.T, -s.f[:, None]],
        [np.zeros((s.m_b, s.m_b + s.m_u)), np.reshape(s.w_nb, (-1, 1))],
    ])  # fmt: skip
    x = -np.linalg.solve(K, others)
    rows = np.vstack([x[n:], s.J_nu @ x[:n]])
    rows[s.m_b :, -1] += s.w_nu
    return rows[:, :-1], rows[:, -1]


def critical_scales(s: SlidingSystem) -> Array:
    """All x > 0, ascending, at which friction times x may gain or lose unique forces; inf alone where there is none.

    For given signs sigma of lambda_nb and closed contacts c the mixed problem is linear, with the matrix G - x H sigma
    of these rows and columns, G without friction. Forces are unique for every load exactly as long as all these
    determinants keep their sign, which at x = 0 is positive: the first root is the critical scale. Roots are inverse
    eigenvalues.
    """
    J_n, J_t = np.vstack([s.J_nb, s.J_nu]), np.vstack([s.J_tb, s.J_tu])
    G = J_n @ np.linalg.solve(s.M, J_n.T)
    H = J_n @ np.linalg.solve(s.M, J_t.T) * np.concatenate([s.mu_b * s.xi_b, s.mu_u * s.xi_u])
    roots = [np.inf]
    for c in _subsets(s.m_u):
        a = [*range(s.m_b), *(s.m_b + i for i in c)]
        for signs in product([1.0, -1.0], repeat=s.m_b):
            sigma = np.array([*signs, *np.ones(len(c))])
            values = np.linalg.eigvals(np.linalg.solve(G[np.ix_(a, a)], H[np.ix_(a, a)] * sigma))
            real = values.real[np.abs(values.imag) <= REAL * np.abs(values)]
            roots += list(1 / real[real > 0])
    return np.unique(roots)


def solutions_by_cases(s: SlidingSystem) -> list[Multipliers]:
    """Return all (lambda_nb, lambda_nu) that obey the law, trying each sign of lambda_nb with each set of contacts."""
    found = []
    n, J_n = len(s.M), np.vstack([s.J_nb, s.J_nu])
    for c in _subsets(s.m_u):
        a = [*range(s.m_b), *(s.m_b + i for i in c)]
        for signs in map(np.array, product([1.0, -1.0], repeat=s.m_b)):
            push = np.hstack([
                s.J_nb.T - s.J_tb.T * (s.mu_b * s.xi_b * signs), s.J_nu.T - s.J_tu.T * (s.mu_u * s.xi_u)
            ])[:, a]  # fmt: skip
            K = np.block([[s.M, -push], [J_n[a], np.zeros((len(a), len(a)))]])
            x = np.linalg.solve(K, np.concatenate([s.f, -np.concatenate([s.w_nb, s.w_nu])[a]]))
            lam = np.zeros(s.m_b + s.m_u)
            lam[a] = x[n:]
            nb, nu = np.split(lam, [s.m_b])
            if (nb * signs >= 0).all() and law_residual(s, x[:n], nb, nu).worst <= LAWFUL:
                found.append(Multipliers(nb, nu))
    return found


def _subsets(m: int) -> list[tuple[int, ...]]:
    return [c for k in range(m + 1) for c in combinations(range(m), k)]
