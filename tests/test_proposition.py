"""Proposition 1 of hal-01224915 against brute force, closed forms and the exact P verdict."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from tests.sliding_systems import SIZES, assert_close, random_system
from workbench.algorithms import find_solver
from workbench.builtin.formulations.sliding_lcp import sliding_lcp
from workbench.diagnostics.proposition import balanced, beta_2, bilateral_limit, bounds, proposition
from workbench.matrices.p_property.verdict import p_verdict
from workbench.readers.matrix import Matrix
from workbench.step.sliding.system import SlidingSystem, solve_sliding
from workbench.support.errors import DataError

each_size = pytest.mark.parametrize("size", SIZES, ids=lambda s: f"b{s[0]}-u{s[1]}")
ENUMERATE = find_solver("enumerate")


@pytest.mark.parametrize("size", [(0, 3), (1, 2), (2, 2), (3, 1), (2, 3), (2, 0)])
def test_sets_that_hold_the_whole_bilateral_block_suffice_for_beta(size):
    rng = np.random.default_rng(size)
    n = sum(size)
    for seed in range(10):
        M = random_system(seed, *size).M_0
        brute = max(
            1 / np.linalg.norm(M[np.ix_(a, a)], -2)
            for k in range(1, n + 1)
            for a in itertools.combinations(range(n), k)
        )
        assert beta_2(M, size[0]) == pytest.approx(brute, rel=1e-12)
        assert beta_2(M) == pytest.approx(brute, rel=1e-12)
        # The definition's maximum over the cube, at its vertices and inside.
        for d in [*rng.uniform(0, 1, (50, n)), *itertools.product([0.0, 1.0], repeat=n)]:
            inside = np.linalg.norm(np.linalg.solve(np.eye(n) - np.diag(d) + np.diag(d) @ M, np.diag(d)), 2)
            assert inside <= brute * (1 + 1e-12)


def test_subsets_of_the_unilateral_block_are_needed():
    """The largest index set alone would not do: a smaller one can have the larger inverse."""
    M = np.array([[1.0, -100.0, -100.0], [0.0, 1.0, 0.9], [0.0, 0.9, 1.0]])
    assert beta_2(M, 1) == pytest.approx(1 / np.linalg.norm(M[:2, :2], -2), rel=1e-12)
    assert beta_2(M, 1) > 1.1 / np.linalg.norm(M, -2)


@pytest.mark.thorough
def test_whenever_proposition_1_holds_the_matrix_is_p():
    held = [0, 0]
    for seed, size in itertools.product(range(25), SIZES):
        mu = 10 ** np.random.default_rng(seed).uniform(-2, 0.5)
        p = proposition(random_system(seed, *size, mu=mu))
        for i, b in enumerate((p.plain, p.balanced)):
            held[i] += b.holds
            assert not b.holds or p.verdict.verdict == "P"
            assert b.holds <= (b.scale > 1)
        assert p.independent
        assert p.holds == (p.plain.holds or p.balanced.holds)
    # It says yes and no often enough to mean something, and the exact verdict differs from it.
    assert min(held) > 40
    assert max(held) < 25 * len(SIZES) - 40


@pytest.mark.thorough
@each_size
def test_the_guaranteed_scale_is_the_end_of_the_first_interval(size):
    for seed in range(4):
        s = random_system(seed, *size)
        for system in (s, balanced(s)):
            b = bounds(system)

            def slack(x, system=system, b=b):
                return min(
                    1 / b.beta - np.linalg.norm(system.with_friction(x).Theta, 2),
                    b.mu_max_b - np.max(system.with_friction(x).mu_b, initial=0.0),
                )

            assert 0 < b.scale < np.inf
            assert min(slack(x) for x in np.linspace(0, 1, 50)[:-1] * b.scale) > 0
            assert abs(slack(b.scale * (1 - 1e-12))) <= 1e-7
            assert slack(b.scale * (1 + 1e-6)) < 0
            assert b.scale == pytest.approx(bounds(system.with_friction(2.0)).scale * 2, rel=1e-7)


def test_scales_in_closed_form():
    """Without bilateral contacts Theta is linear in mu; with one alone it is 2 m / (1 - m), m = mu A_tb / A_nb."""
    s = random_system(5, 0, 3)
    b = bounds(s)
    assert b.mu_max_b == np.inf
    assert b.scale == pytest.approx(1 / (b.beta * b.theta), rel=1e-9)
    s = random_system(6, 1, 0)
    m = (s.inverse.tb * s.mu_b * s.xi_b).item() / s.inverse.nb.item()
    assert bounds(s).scale == pytest.approx(1 / (3 * m) if m > 0 else -1 / m, rel=1e-9)
    assert bilateral_limit(s) == pytest.approx(abs(s.inverse.nb.item() / s.inverse.tb.item()), rel=1e-12)
    assert bounds(s.with_friction(0.0)).scale == np.inf


def test_balancing_keeps_the_verdict_and_forgets_units_while_the_plain_bound_does_not():
    differs = 0
    for seed in range(20):
        s = random_system(seed, 1, 2, mu=1.0)
        p, other = proposition(s), proposition(replace(s, M=100 * s.M, f=100 * s.f))
        assert p.verdict.verdict == other.verdict.verdict == p_verdict(Matrix(balanced(s).M_mu).exact).verdict
        assert other.balanced.scale == pytest.approx(p.balanced.scale, rel=1e-6)
        assert other.balanced.beta == pytest.approx(p.balanced.beta, rel=1e-9)
        differs += abs(other.plain.scale / p.plain.scale - 1) > 0.1
        same = balanced(s)
        assert_close(np.concatenate([np.diag(same.inverse.nb), np.diag(same.inverse.nu)]), np.ones(3))
        if p.verdict.verdict == "P":
            assert_close(*(solve_sliding(sliding_lcp, x, ENUMERATE)[1] for x in (same, s)), 1e-11)
    assert differs > 10


def test_dependent_constraints_and_too_many_contacts_are_reported():
    s = random_system(0, 1, 2)
    p = proposition(replace(s, J_nu=np.vstack([s.J_nu[:1], s.J_nb])))
    assert (p.independent, p.plain, p.balanced, p.holds) == (False, None, None, False)
    # One bilateral contact with A_nb = mu A_tb, exactly in whole numbers.
    singular = SlidingSystem(np.eye(2), np.ones(2), np.array([[1.0, 0.0]]), np.array([[2.0, 1.0]]), 0.5, 1.0)
    assert (proposition(singular).verdict, proposition(singular).holds) == (None, False)
    n = 15
    many = SlidingSystem(np.eye(n), np.zeros(n), J_nu=np.eye(n), J_tu=np.ones((n, n)))
    with pytest.raises(DataError, match=r"m_u = 15.*m_u <= 14"):
        proposition(many)
