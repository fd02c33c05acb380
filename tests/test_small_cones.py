"""A few contacts in one go: contacts of different numbers of directions, redundant ones, warm starts."""

import numpy as np
import pytest

from benchmarks import robots
from tests.block_problems import random_blocks
from workbench.algorithms import find_solver
from workbench.algorithms.base import EXACT
from workbench.algorithms.small_cones import solve_small
from workbench.problems.classes import ConicQP, CoulombNCP
from workbench.problems.sets import ASSOCIATED, COULOMB, NO_CONE, BlockSets, normals_first

BOTH = pytest.mark.parametrize("associated", [False, True])


def faces(rng, count, bodies=3):
    """`count` contacts of redundant corners between bodies with six velocities: W (3 count, 3 count) of lower rank."""
    J = np.zeros((3 * count, 6 * bodies))
    for i in range(count):
        corner = np.array([i & 1, (i >> 1) & 1, 0.0]) - [0.5, 0.5, 0.5]
        body = (i // 4) % bodies
        arm = np.cross(np.eye(3)[[2, 0, 1]], -corner)
        J[3 * i : 3 * i + 3, 6 * body : 6 * body + 6] = np.column_stack([np.eye(3)[[2, 0, 1]], arm])
        if body:
            J[3 * i : 3 * i + 3, 6 * body - 6 : 6 * body] = -J[3 * i : 3 * i + 3, 6 * body : 6 * body + 6]
    inertia = 10.0 ** rng.uniform(-1, 1, 6 * bodies)
    return (J / inertia) @ J.T, J @ rng.normal(size=6 * bodies) - np.tile([0.3, 0, 0], count)


def solved(W, q, mu, first, associated, start=None):
    z, info = np.full(q.size, np.nan), np.full(1, 99)
    start = np.zeros(q.size) if start is None else start
    return z, solve_small(W, q, sets(mu, first, associated), start, z, info), int(info[0])


def sets(mu, first, associated):
    cone = np.full(mu.size, ASSOCIATED if associated else COULOMB)
    free = np.full(int(first[-1]), np.inf)
    return BlockSets(first, cone, mu, -free, free)


def uniform(W, q, mu, d, associated):
    """The same problem as the classes have it, all normals first, and the order of its unknowns."""
    order = normals_first(mu.size, d)
    return (ConicQP if associated else CoulombNCP)(W[np.ix_(order, order)], q[order], mu, d), order


@BOTH
def test_redundant_corners_are_solved_to_the_problems_own_residual(associated):
    rng = np.random.default_rng(3)
    for count in (1, 4, 8, 12):
        for _ in range(5):
            W, q = faces(rng, count)
            assert count == 1 or np.linalg.matrix_rank(W) < q.size
            mu = rng.choice([0.0, 0.1, 0.5, 1.0], count)
            z, residual, _ = solved(W, q, mu, 3 * np.arange(count + 1), associated)
            problem, order = uniform(W, q, mu, 2, associated)
            assert residual <= EXACT
            assert problem.residual(z[order]) <= 1e-9
            if associated:
                # Impulses of redundant contacts are not unique, velocities of a convex problem are.
                u = W @ find_solver("ccp-exact").solve(problem).z[np.argsort(order)] + q
                np.testing.assert_allclose(W @ z + q, u, atol=1e-7 * abs(q).max())


@BOTH
def test_a_contact_with_fewer_directions_is_one_that_does_not_move_along_the_others(associated):
    rng = np.random.default_rng(4)
    for _ in range(10):
        W, q = faces(rng, 6)
        directions = rng.integers(0, 3, 6)
        kept = np.array([a <= directions[i] for i in range(6) for a in range(3)])
        still = np.where(kept, 1.0, 0.0)
        mu = rng.uniform(0.1, 1, 6)
        first = np.append(0, np.cumsum(1 + directions))
        z, residual, _ = solved(W[np.ix_(kept, kept)], q[kept], np.where(directions > 0, mu, 0.0), first, associated)
        assert residual <= EXACT
        problem, order = uniform(W * still * still[:, None], q * still, mu, 2, associated)
        padded = np.zeros(18)
        padded[kept] = z
        assert problem.residual(padded[order]) <= 1e-9


@BOTH
def test_a_start_at_the_solution_needs_no_step_and_units_do_not_count(associated):
    rng = np.random.default_rng(5)
    W, q = faces(rng, 8)
    mu, first = np.full(8, 0.4), 3 * np.arange(9)
    z, _, steps = solved(W, q, mu, first, associated)
    assert steps > 0
    again, _, none = solved(W, q, mu, first, associated, z)
    assert none == 0
    np.testing.assert_allclose(again, z, rtol=1e-14)
    # Impulses in other units: 2^k changes no rounding.
    other, _, _ = solved(4.0 * W, 2.0 * q, mu, first, associated)
    np.testing.assert_array_equal(2.0 * other, z)


def test_data_that_are_not_finite_have_no_residual():
    W, q = faces(np.random.default_rng(6), 4)
    for k, value in ((0, np.nan), (5, np.inf)):
        bad = q.copy()
        bad[k] = value
        z, residual, _ = solved(W, bad, np.full(4, 0.5), 3 * np.arange(5), False, np.ones(12))
        assert residual == np.inf
        # The start is kept, which is at least a number.
        np.testing.assert_allclose(z, 1.0, rtol=1e-14)


@BOTH
def test_contacts_that_nothing_moves_leave_the_others_as_they_are(associated):
    """Between bodies that are held; and an interval of such a row, which any impulse within it satisfies."""
    W, q = faces(np.random.default_rng(9), 3)
    mu, first = np.full(3, 0.4), 3 * np.arange(4)
    alone, _, _ = solved(W, q, mu, first, associated)
    held, moves = np.zeros((13, 13)), np.r_[0:3, 6:12]
    held[np.ix_(moves, moves)] = W
    given = np.zeros(13)
    given[moves], given[3] = q, 0.2
    first, cone, mu, lower, upper = sets(np.full(5, 0.4), np.array([0, 3, 6, 9, 12, 13]), associated)
    cone[4], mu[4], lower[12], upper[12] = NO_CONE, 0.0, -1.0, 1.0
    z, info = np.zeros(13), np.zeros(1, dtype=np.int64)
    assert solve_small(held, given, BlockSets(first, cone, mu, lower, upper), z, z, info) <= 1e-10
    np.testing.assert_allclose((held @ z)[moves], W @ alone, atol=1e-8 * abs(q).max())
    assert not z[3:6].any()
    assert z[12] == 0.0


def test_where_nothing_moves_nothing_is_asked():
    W, q = faces(np.random.default_rng(10), 4)
    z, residual, steps = solved(W, np.zeros(q.size), np.full(4, 0.5), 3 * np.arange(5), False)
    assert (residual, steps) == (0.0, 0)
    assert not z.any()


def intervals(seed, size=8):
    """W (size, size) of rows that move apart by decades, q, and bounds that some come to."""
    rng = np.random.default_rng([11, seed])
    A = rng.normal(size=(size, size))
    unit = 10.0 ** rng.uniform(-3, 3, size)
    W = (A @ A.T + np.eye(size)) * unit * unit[:, None]
    lower, upper = rng.uniform(-1, -0.1, size) / unit, rng.uniform(0.1, 1, size) / unit
    return W, unit * rng.normal(size=size) * 10, lower, upper, unit


def test_intervals_of_many_rows_are_held_row_by_row():
    kinds = set()
    for seed in range(30):
        W, q, lower, upper, unit = intervals(seed)
        found = []
        for first in (np.array([0, 8]), np.arange(9)):
            count = first.size - 1
            z, info = np.zeros(8), np.zeros(1, dtype=np.int64)
            law = np.full(count, NO_CONE), np.zeros(count), lower, upper
            assert solve_small(W, q, BlockSets(first, *law), z, z, info) <= 1e-10
            u = W @ z + q
            gap = z - np.clip(z - u / unit**2, lower, upper)
            assert abs(unit * gap).max() <= 1e-8
            kinds |= {
                "low" if a == b else "high" if a == c else "free" for a, b, c in zip(z, lower, upper, strict=True)
            }
            found.append(z)
        np.testing.assert_allclose(unit * found[0], unit * found[1], atol=1e-7)
    assert kinds == {"low", "high", "free"}


@BOTH
def test_contacts_that_are_not_redundant_take_sweeps_and_a_few_newton_steps(associated):
    rng = np.random.default_rng(12)
    for _ in range(10):
        W, q = faces(rng, 24, bodies=6)
        W, q, mu = W + np.eye(72), q - np.tile([1.0, 0, 0], 24), np.full(24, 0.5)
        z, residual, steps = solved(W, q, mu, 3 * np.arange(25), associated)
        problem, order = uniform(W, q, mu, 2, associated)
        assert residual <= 1e-12
        assert problem.residual(z[order]) <= 1e-11
        assert 5 < steps <= 40


@BOTH
def test_a_few_contacts_take_newton_steps_alone(associated):
    """No sweeps go before them."""
    rng = np.random.default_rng(12)
    for _ in range(10):
        W, q = faces(rng, 4)
        W, q, mu = W + np.eye(12), q - np.tile([1.0, 0, 0], 4), np.full(4, 0.5)
        _, residual, steps = solved(W, q, mu, 3 * np.arange(5), associated)
        assert residual <= 1e-12
        assert steps <= 8


def test_limits_boxes_and_bilateral_rows_beside_cones_of_both_laws():
    rng = np.random.default_rng(8)
    for _ in range(30):
        p = random_blocks(rng, ["coulomb", "ccp", "planar", "rolling", "limit", "dry", "bilateral"], count=5, bodies=4)
        W = np.column_stack([p.moved(e) for e in np.eye(p.size)])
        z, info = np.zeros(p.size), np.zeros(1, dtype=np.int64)
        residual = solve_small(W, p.free[1], BlockSets(p.unknown, p.cone, p.mu, p.lower, p.upper), z, z, info)
        assert residual <= EXACT
        assert p.residual(z) <= 1e-9


def test_steps_of_a_robot_are_solved_from_the_impulses_of_the_step_before():
    pytest.importorskip("mujoco")
    compared = 0
    for step in robots.steps("robot", 25):
        z = robots.solve(step, step.start)
        problem, order = uniform(step.W, step.q, step.mu, 2, False)
        assert problem.residual(z[order]) <= 1e-9
        assert np.linalg.matrix_rank(step.W) < step.q.size
        compared += 1
    assert compared > 15
