"""One contact with three and five directions of friction: the law itself, turned axes, other methods."""

import cvxpy as cp
import numpy as np
import pytest

from workbench.algorithms.small_cones import solve_small
from workbench.problems.sets import ASSOCIATED, COULOMB, BlockSets

BOTH = pytest.mark.parametrize("associated", [False, True])


def contacts(seed, d, count, share=1.0):
    """Random (W, q, mu) of one contact, of lower rank but with q in the range of W for a share below one."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        rank = 1 + d if rng.random() < share else int(rng.integers(1, 1 + d))
        A = rng.normal(size=(1 + d, rank)) * 10.0 ** rng.uniform(-1, 1, rank)
        q = A @ rng.normal(size=rank)
        yield A @ A.T, -q if q[0] > 0 and rng.random() < 0.7 else q, 10.0 ** rng.uniform(-1.5, 0.5)


def solved(W, q, mu, associated):
    z, info = np.zeros(q.size), np.zeros(1, dtype=np.int64)
    return z, solve_small(W, q, sets(np.array([mu]), np.array([0, q.size]), associated), np.zeros(q.size), z, info)


def sets(mu, first, associated):
    free = np.full(int(first[-1]), np.inf)
    return BlockSets(first, np.full(mu.size, ASSOCIATED if associated else COULOMB), mu, -free, free)


def violation(W, q, mu, associated, z):
    """How far z is from the law as it is stated, in its own units: cone, dual cone, complementarity, direction."""
    u = W @ z + q
    slip, rho = np.linalg.norm(u[1:]), q.size / np.trace(W)
    u_n = u[0] - (mu * slip if associated else 0.0)
    size = max(np.linalg.norm(z), rho * np.linalg.norm(q))
    terms = [-z[0], -rho * u_n, np.linalg.norm(z[1:]) - mu * z[0], min(abs(z[0]), abs(rho * u_n))]
    opposed = mu * z[0] * u[1:] + slip * z[1:]
    return max(0.0, *terms, np.linalg.norm(opposed) * rho / size) / size


@BOTH
@pytest.mark.parametrize("d", [3, 5])
def test_the_law_holds_in_every_mode(d, associated):
    modes = set()
    for W, q, mu in contacts(1, d, 1500):
        z, residual = solved(W, q, mu, associated)
        assert residual <= 1e-12
        assert violation(W, q, mu, associated, z) <= 1e-10
        slides = np.linalg.norm(z[1:]) > mu * z[0] * (1 - 1e-9)
        modes.add("open" if z[0] == 0 else "slide" if slides else "stick")
    assert modes == {"open", "slide", "stick"}


def test_coulombs_law_holds_where_the_bodies_cannot_move_along_some_directions():
    for W, q, mu in contacts(2, 5, 3000, share=0.3):
        z, _ = solved(W, q, mu, False)
        assert violation(W, q, mu, False, z) <= 1e-10


@BOTH
def test_a_contact_that_can_stick_sticks_although_impulses_inside_of_it_are_not_determined(associated):
    rng = np.random.default_rng(7)
    for _ in range(200):
        # One direction in which the bodies move: its smallest impulse may lie outside of the cone.
        A, mu = rng.normal(size=(4, 1)), 0.5
        inside = np.append(1.0, 0.1 * rng.normal(size=3))
        if A[:, 0] @ inside * A[0, 0] <= 0:
            continue
        z, _ = solved(A @ A.T, -A @ (A.T @ inside), mu, associated)
        assert violation(A @ A.T, -A @ (A.T @ inside), mu, associated, z) <= 1e-10


@BOTH
def test_turned_axes_turn_the_impulse(associated):
    rng = np.random.default_rng(4)
    for W, q, mu in contacts(4, 3, 50):
        Q = np.eye(4)
        Q[1:, 1:] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        z, _ = solved(W, q, mu, associated)
        turned, _ = solved(Q @ W @ Q.T, Q @ q, mu, associated)
        np.testing.assert_allclose(Q.T @ turned, z, atol=1e-7 * max(1.0, np.linalg.norm(z)))


def test_associated_flow_is_the_minimum_over_the_cone():
    for W, q, mu in contacts(5, 5, 8):
        z, _ = solved(W, q, mu, True)
        x = cp.Variable(6)
        energy = cp.quad_form(x, cp.psd_wrap(W)) / 2 + q @ x
        least = cp.Problem(cp.Minimize(energy), [cp.SOC(mu * x[0], x[1:])]).solve(solver="CLARABEL")
        assert z @ W @ z / 2 + q @ z <= least + 1e-7 * abs(least)


@BOTH
def test_a_contact_of_lower_rank_is_solved_together_with_others(associated):
    # What sweeps leave undone Newton's method does.
    for W, q, mu in contacts(6, 3, 200, share=0.0):
        z, info = np.empty(4), np.zeros(1, dtype=np.int64)
        alone = sets(np.array([mu]), np.array([0, 4]), associated)
        solve_small(W, q, alone, np.zeros(4), z, info)
        assert violation(W, q, mu, associated, z) <= 1e-9


@BOTH
def test_contacts_of_all_kinds_at_once_each_hold_to_their_law(associated):
    rng = np.random.default_rng(8)
    for _ in range(20):
        directions = rng.permutation([0, 1, 2, 2, 3, 5])
        first = np.append(0, np.cumsum(1 + directions))
        # 19 rows, 12 velocities.
        J = rng.normal(size=(first[-1], 12))
        # A velocity that opens all contacts: whatever they hold, there is an answer.
        J[:, 0] = 0.0
        J[first[:-1], 0] = 1.0
        W, q = J @ J.T, J @ rng.normal(size=12)
        mu = np.where(directions > 0, rng.uniform(0.1, 1.0, 6), 0.0)
        q[first[:-1]] -= 1.0
        z, info = np.empty(q.size), np.zeros(1, dtype=np.int64)
        residual = solve_small(W, q, sets(mu, first, associated), np.zeros(q.size), z, info)
        assert residual <= 1e-9
        for i in range(6):
            own = slice(first[i], first[i + 1])
            block = W[own, own]
            free = W[own] @ z + q[own] - block @ z[own]
            assert violation(block, free, mu[i], associated, z[own]) <= 1e-8


@BOTH
def test_a_direction_that_nothing_drives_leaves_the_contact_as_it_is(associated):
    """Two directions have a polynomial, three a multiplier."""
    compared = 0
    for W, q, mu in contacts(3, 2, 300):
        z, _ = solved(W, q, mu, associated)
        more = np.diag([0.0, 0.0, 0.0, np.trace(W) / 3])
        more[:3, :3] = W
        by_multiplier, _ = solved(more, np.append(q, 0.0), mu, associated)
        assert by_multiplier[3] == pytest.approx(0.0, abs=1e-9 * np.linalg.norm(z))
        # Coulomb's law may have several answers.
        if z[0] > 0 and (associated or np.linalg.norm(by_multiplier[:3] - z) < 0.1 * np.linalg.norm(z)):
            np.testing.assert_allclose(by_multiplier[:3], z, rtol=1e-7, atol=1e-9 * np.linalg.norm(z))
            compared += 1
    assert compared > 80
