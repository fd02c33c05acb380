"""Newton steps between sweeps: packings that sweeps alone do not finish, exact answers, units, limits, refusals."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.packings import STATES, on_cones, packing
from workbench.algorithms import find_solver, sphere_newton
from workbench.algorithms.sphere_newton import SOLVER
from workbench.algorithms.spheres import SOLVER as SWEEPS
from workbench.builtin.formulations import FORMULATIONS
from workbench.problems.solution import Status
from workbench.scenes.grains.scene import Grains
from workbench.scenes.grains.walls import Flat
from workbench.scenes.posing import Poser


@pytest.fixture(autouse=True)
def few_sweeps(monkeypatch):
    """At first, so that there is something left to do for Newton's steps."""
    monkeypatch.setattr(sphere_newton, "FIRST", 50)


LAWS = pytest.mark.parametrize("law", ["coulomb", "ccp"])


@LAWS
@pytest.mark.parametrize("state", STATES)
def test_packings_are_solved_where_as_many_sweeps_are_not_enough(law, state):
    p = packing(60, state, law)
    found = replace(SOLVER, stop=1e-11).solve(p.blocks)
    assert found.claimed is Status.SOLVED
    assert found.residual == p.blocks.residual(found.z) <= 1e-11
    assert p.residual(found.z[p.order]) <= 1e-9
    few = replace(SWEEPS, stop=1e-11, most=50).solve(p.blocks)
    assert few.residual > 1e-6


def test_associated_flow_has_the_velocity_that_the_exact_solver_finds():
    p = packing(40, "at rest", "ccp").blocks
    x, y = (s.solve(p).z for s in (replace(SOLVER, stop=1e-12), find_solver("blocks-exact")))
    np.testing.assert_allclose(p.velocities(x), p.velocities(y), atol=1e-8)


@LAWS
def test_units_do_not_matter(law):
    p = packing(30, "moving", law).blocks
    # Twice the length unit and a thousandth of that of mass; powers of two change no digit.
    scaled = replace(p, M=p.M / 1024, b=p.b / 1024 * 2, c=2 * p.c)
    x, y = (replace(SOLVER, stop=1e-10).solve(q) for q in (p, scaled))
    np.testing.assert_array_equal(y.z, x.z / 512)


def test_at_the_limit_the_best_iterate_comes_and_says_so():
    p = packing(60, "at rest", "coulomb").blocks
    found = [replace(SOLVER, stop=0.0, tolerance=0.0, most=most).solve(p) for most in (1, 4)]
    assert [f.iterations for f in found] == [1, 4]
    assert all(f.claimed is Status.ITERATION_LIMIT and f.reason for f in found)
    assert found[1].residual <= found[0].residual < p.residual(np.zeros(p.size))


def test_what_solves_is_the_answer_at_once_and_others_are_refused():
    p = packing(20, "moving", "coulomb").blocks
    solved = SOLVER.solve(p)
    again = SOLVER.solve_from(p, solved.z)
    assert again.iterations == 0
    np.testing.assert_allclose(again.z, solved.z, rtol=1e-9, atol=1e-9)
    assert replace(SOLVER, largest=100).solve(p).reason == "spheres-newton: 120 velocities; up to 100 are possible"
    assert "N = 0" in SOLVER.why_not(replace(p, N=np.ones(p.N.size)))


def test_the_goals_residual_projects_on_cones():
    y = np.random.default_rng(0).normal(size=(50, 3))
    mu = np.linspace(0.0, 1.0, 50)
    z = on_cones(y, mu)
    assert (np.linalg.norm(z[:, 1:], axis=1) <= mu * z[:, 0] + 1e-14).all()
    # What is left is in the polar cone and at a right angle to the projection.
    left = y - z
    assert (left[:, 0] + mu * np.linalg.norm(left[:, 1:], axis=1) <= 1e-14).all()
    np.testing.assert_allclose((left * z).sum(axis=1), 0.0, atol=1e-14)


def test_radii_over_four_decades():
    rng = np.random.default_rng(0)
    radius = 10.0 ** rng.uniform(-4, 0, 100)
    height = np.cumsum(radius) + np.append(0.0, np.cumsum(radius[:-1]))
    scene = Grains(radius, np.outer(height, [0, 0, 1]), walls=[Flat(0.5, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))])
    q, v = scene.start()
    p = Poser(FORMULATIONS.find("coulomb"), recovery=scene.recovery).pose(scene.instant(q, v, 0.0, 1e-3)).problem()
    found = replace(SOLVER, stop=1e-8).solve(p)
    assert found.residual == p.residual(found.z) <= 1e-8
    assert replace(SWEEPS, stop=1e-8, most=2000).solve(p).residual > 1e-6
