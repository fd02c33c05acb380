"""Block Gauss-Seidel: one sweep however W is held, and rows in which nothing moves."""

from dataclasses import replace

import numpy as np
import pytest

from tests.block_problems import cone, intervals, pose, random_blocks
from workbench.algorithms import find_solver
from workbench.algorithms.block_newton import BlockNewton
from workbench.algorithms.first_order import blocks_of
from workbench.algorithms.gauss_seidel import sweeps_of_dense
from workbench.algorithms.nsgs import Sweeps
from workbench.algorithms.one_contact import one_contact
from workbench.problems.sets import APART, ASSOCIATED, DISC, NO_CONE, BlockSets


def over_W(blocks):
    """W (X, X) of `first_order.ScaledBlocks`."""
    J, V = np.zeros((2, blocks.size, blocks.velocities))
    for dense, (first, column, values) in ((J, blocks.J), (V, blocks.V)):
        dense[np.repeat(np.arange(blocks.size), np.diff(first)), column] = values
    return J @ V.T


@pytest.mark.parametrize("kinds", [["coulomb", "planar", "rolling", "frictionless"], ["ccp", "limit", "dry", "box"]])
def test_sweeps_over_bodies_are_those_over_W(kinds):
    for seed in range(5):
        p = random_blocks(np.random.default_rng(seed), kinds, count=8)
        blocks = blocks_of(p)
        method = Sweeps(blocks, np.zeros(p.size))
        method.advance(4)
        x = np.zeros(p.size)
        sweeps_of_dense(over_W(blocks), blocks.q, blocks.sets, 4, x)
        assert x.any()
        np.testing.assert_allclose(method.x, x, atol=1e-9 * abs(x).max())


@pytest.mark.parametrize("law", [APART, DISC])
def test_what_newtons_method_solves_block_by_block_is_swept_alike_too(law):
    for seed in range(5):
        p = random_blocks(np.random.default_rng(seed), ["coulomb", "limit"], count=6)
        p = replace(p, cone=np.where(p.cone == NO_CONE, NO_CONE, law), mu=p.mu + 0.1)
        blocks = blocks_of(p)
        D, W = blocks.D, over_W(blocks)
        newton = BlockNewton(p)
        z, x = np.zeros(p.s.size), np.zeros(p.size)
        assert newton.sweep(4, z)
        mu = np.where(p.cone == DISC, p.mu / D[p.unknown[:-1]], p.mu)
        sweeps_of_dense(W, blocks.q, BlockSets(p.unknown, p.cone, mu, *blocks.sets[3:]), 4, x)
        assert x.any()
        np.testing.assert_allclose(newton.now * newton.unit_of_x, D * x, atol=1e-9 * abs(D * x).max())


FREE = np.inf
STILL = [
    (0.5, -0.3, 0.4, -0.3),
    (-0.5, -0.3, 0.4, 0.4),
    (0.0, -0.3, 0.4, 0.1),
    (0.5, 0.0, FREE, 0.0),
    (-0.5, 0.0, FREE, 0.1),
    (-0.5, -FREE, FREE, 0.1),
    (0.5, -FREE, 0.4, 0.1),
]
"""The velocity of a row in which nothing moves, its bounds, and where it ends from 0.1: complementary to the velocity
where a finite bound is, and where it was elsewhere."""


@pytest.mark.parametrize(("u", "lower", "upper", "end"), STILL)
def test_where_nothing_moves_the_sign_of_the_velocity_decides_between_finite_bounds(u, lower, upper, end):
    W, q = np.array([[0.0, 0.0], [0.0, 2.0]]), np.array([u, -1.0])
    alone = BlockSets(
        np.array([0, 1, 2]), np.zeros(2, dtype=np.int64), np.zeros(2), *np.array([[lower] * 2, [upper] * 2])
    )
    together = alone._replace(first=np.array([0, 2]), cone=np.zeros(1, dtype=np.int64), mu=np.zeros(1))
    for sets in (alone, together):
        x = np.full(2, 0.1)
        sweeps_of_dense(W, q, sets, 2, x)
        np.testing.assert_array_equal(x, [end, min(0.5, upper)])


@pytest.mark.parametrize(("u", "lower", "upper", "end"), STILL)
def test_nsgs_goes_by_the_same_rule(u, lower, upper, end):
    p = pose(np.eye(2), np.array([0.0, 1.0]), np.array([[0.0, 0.0], [0.0, 1.0]]), [
        intervals([lower], [upper], c=u), intervals([0.0], [FREE], c=-2.0),
    ])  # fmt: skip
    found = find_solver("nsgs").adjusted(1e-9, 20).solve_from(p, np.array([0.1, 0.1]))
    # Where no step is an answer none is better than the start, whose other row may keep its number.
    assert found.z[0] == end
    assert np.isfinite(found.z).all()


def test_an_unknown_that_moves_its_own_row_the_wrong_way_goes_to_a_bound_where_it_is_a_solution():
    for u in (-1.0, 1.0):
        x = np.zeros(1)
        sets = BlockSets(np.array([0, 1]), np.zeros(1, dtype=np.int64), np.zeros(1), np.array([-2.0]), np.array([3.0]))
        sweeps_of_dense(np.array([[-1.0]]), np.array([u]), sets, 1, x)
        assert x[0] == (-2.0 if u > 0 else 3.0)
        assert (u - x[0]) * u > 0


def test_a_contact_without_friction_directions_has_its_normal_impulse_whatever_mu():
    for W, q, expected in ((2.0, -1.0, 0.5), (2.0, 1.0, 0.0), (0.0, -1.0, 0.0)):
        for associated in (False, True):
            z = np.array([7.0])
            one_contact(np.array([[W]]), np.array([q]), 0.5, associated, z)
            assert z[0] == expected


def test_a_sweep_over_one_cone_of_many_directions_solves_it_at_once():
    rng = np.random.default_rng(3)
    for law in (1, ASSOCIATED):
        for _ in range(10):
            J = rng.normal(size=(6, 9))
            p = pose(np.eye(9), rng.normal(size=9), J, [cone(6, 0.6, law, c=-2.0)])
            newton = BlockNewton(p)
            assert newton.sweep(1, np.zeros(6))
            assert newton.least <= 1e-12
