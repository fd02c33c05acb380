"""Interior points for packings: answers of the exact solver, contacts without friction."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.packings import STATES, packing
from workbench.algorithms import find_solver
from workbench.builtin.formulations import FORMULATIONS
from workbench.problems.solution import Status
from workbench.scenes.grains.scene import Grains
from workbench.scenes.grains.walls import Flat
from workbench.scenes.posing import Poser

SOLVER = find_solver("interior-point")


@pytest.mark.parametrize("state", STATES)
def test_packings_move_as_the_exact_solver_says(state):
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
