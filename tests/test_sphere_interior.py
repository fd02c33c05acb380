"""Interior points for packings: the algebra of cones, answers of the exact solver, contacts without friction."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.packings import STATES, packing
from workbench.algorithms import dissection, find_solver
from workbench.algorithms.sphere_interior import SOLVER, Scaling, depth, longest, product, quotient
from workbench.builtin.formulations import FORMULATIONS
from workbench.problems.solution import Status
from workbench.scenes.grains.scene import Grains
from workbench.scenes.grains.walls import Flat
from workbench.scenes.posing import Poser


def inside(rng, count=50):
    x = rng.normal(size=(count, 3))
    x[:, 0] = np.linalg.norm(x[:, 1:], axis=1) * (1.0 + 10.0 ** rng.uniform(-3, 1, count))
    return x


def test_scaling_takes_both_sides_to_one_point():
    rng = np.random.default_rng(0)
    p, s, x = inside(rng), inside(rng), rng.normal(size=(50, 3))
    W = Scaling(p, s)
    np.testing.assert_allclose(W.times(p), W.divided(s), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(W.times(W.divided(x)), x, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(np.einsum("iab,ib->ia", W.inverse_square, W.times(W.times(x))), x, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(product(p, quotient(p, x)), x, rtol=1e-8, atol=1e-8)


def test_the_longest_step_ends_on_the_cone():
    rng = np.random.default_rng(1)
    ended = 0
    for _ in range(100):
        x, step = inside(rng, 1), rng.normal(size=(1, 3))
        length = longest(x, 10 * step)
        assert (depth(x + 0.999 * length * 10 * step) > 0).all()
        if length < 1:
            ended += 1
            beyond = x + 1.001 * length * 10 * step
            assert depth(beyond)[0] < 0 or beyond[0, 0] < 0
    assert ended > 50


@pytest.mark.parametrize("state", STATES)
def test_packings_move_as_the_exact_solver_says(state, monkeypatch):
    monkeypatch.setattr(dissection, "FEW", 10)
    p = packing(90, state, "ccp").blocks
    found = SOLVER.solve(p)
    assert found.claimed is Status.SOLVED
    assert found.residual == p.residual(found.z) <= SOLVER.stop
    exact = find_solver("blocks-exact").solve(p).z
    v = p.velocities(exact)
    np.testing.assert_allclose(p.velocities(found.z), v, atol=1e-4 * abs(v).max())


def test_contacts_without_friction_have_normal_impulses_alone():
    p = packing(40, "moving", "ccp").blocks
    mu = np.where(np.arange(p.blocks) % 3 == 0, 0.0, p.mu)
    p = replace(p, mu=mu)
    found = SOLVER.solve(p)
    assert found.residual <= SOLVER.stop
    assert not found.z.reshape(-1, 3)[mu == 0, 1:].any()
    assert found.z.reshape(-1, 3)[mu == 0, 0].max() > 0
    v = p.velocities(find_solver("blocks-exact").solve(p).z)
    np.testing.assert_allclose(p.velocities(found.z), v, atol=1e-4 * abs(v).max())


def test_what_is_no_ccp_is_refused_and_an_answer_is_left_as_it_is():
    assert "associated flow" in SOLVER.why_not(packing(10, "moving", "coulomb").blocks)
    p = packing(20, "moving", "ccp").blocks
    solved = SOLVER.solve(p)
    assert solved.iterations > 5
    assert SOLVER.solve_from(p, solved.z).iterations == 0
    few = replace(SOLVER, most=4).solve(p)
    assert few.iterations == 4
    assert few.claimed is Status.ITERATION_LIMIT


def test_a_way_through_the_apex_ends_there():
    rng = np.random.default_rng(2)
    for _ in range(100):
        x, k = inside(rng, 1), rng.uniform(1, 10)
        np.testing.assert_allclose(longest(x, -k * x), 1.0 / k, rtol=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", [0, 1])
def test_radii_over_four_decades(seed):
    radius = 10.0 ** np.random.default_rng(seed).uniform(-4, 0, 100)
    height = np.cumsum(radius) + np.append(0.0, np.cumsum(radius[:-1]))
    scene = Grains(radius, np.outer(height, [0, 0, 1]), walls=[Flat(0.5, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))])
    q, v = scene.start()
    p = Poser(FORMULATIONS.find("ccp"), recovery=scene.recovery).pose(scene.instant(q, v, 0.0, 1e-3)).problem()
    found = SOLVER.solve(p)
    assert found.claimed is Status.SOLVED
    assert found.residual == p.residual(found.z) <= SOLVER.stop
