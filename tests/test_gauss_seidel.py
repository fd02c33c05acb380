"""Block Gauss-Seidel: one sweep, and rows in which nothing moves."""

import numpy as np
import pytest

from tests.block_problems import cone, intervals, pose, random_blocks
from workbench.algorithms import find_solver
from workbench.algorithms.small_cones import solve_small
from workbench.problems.bridges.dense import of_one_kind
from workbench.problems.mixed import MixedNCP
from workbench.problems.sets import ASSOCIATED, COULOMB, NO_CONE, BlockSets, Sets

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
        sets = Sets([NO_CONE], [0, 1], [0], [0, 0])
        found = find_solver("mixed-exact").solve(MixedNCP([[-1.0]], [u], [-2.0], [3.0], [], sets))
        assert found.verified
        assert found.z[0] == (-2.0 if u > 0 else 3.0)


def test_a_contact_without_friction_directions_has_its_normal_impulse_whatever_mu():
    for W, q, expected in ((2.0, -1.0, 0.5), (2.0, 1.0, 0.0), (0.0, 1.0, 0.0)):
        for law in (COULOMB, ASSOCIATED):
            sets = BlockSets(np.array([0, 1]), np.array([law]), np.array([0.5]), np.zeros(1), np.full(1, np.inf))
            z, info = np.array([7.0]), np.zeros(1, dtype=np.int64)
            assert solve_small(np.array([[W]]), np.array([q]), sets, z, z, info) <= 1e-12
            assert z[0] == pytest.approx(expected, rel=1e-12)


def test_a_sweep_over_one_cone_of_many_directions_solves_it_at_once():
    rng = np.random.default_rng(3)
    for law in (COULOMB, ASSOCIATED):
        for _ in range(10):
            p = pose(np.eye(9), rng.normal(size=9), rng.normal(size=(6, 9)), [cone(6, 0.6, law, c=-2.0)])
            assert find_solver("nsgs").adjusted(1e-9, 1).solve(p).residual <= 1e-9


@pytest.mark.parametrize("kinds", [["coulomb"], ["ccp"], ["planar"]])
def test_sweeps_over_bodies_reach_what_the_exact_method_over_w_finds(kinds):
    for seed in range(3):
        p = random_blocks(np.random.default_rng(seed), kinds, count=8)
        swept = find_solver("nsgs").adjusted(1e-10, 20_000).solve(p)
        assert swept.residual <= 1e-10
        image = of_one_kind(p)
        assert image.problem.residual(image.there(swept.z)) <= 1e-8
