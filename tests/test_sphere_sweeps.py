"""The sweeps over contacts of spheres: answers of exact methods, warm starts, limits, and what they refuse."""

from dataclasses import replace

import numpy as np
import pytest

from workbench.algorithms import find_solver
from workbench.algorithms.in_turn import InTurn
from workbench.algorithms.spheres import SOLVER, SpherePacking
from workbench.builtin.cases import SCENES
from workbench.builtin.formulations import FORMULATIONS
from workbench.problems.classes import LCP
from workbench.problems.solution import Status
from workbench.scenes.grains.scene import Grains
from workbench.scenes.grains.walls import Flat
from workbench.scenes.posing import Poser

LAWS = pytest.mark.parametrize("law", ["coulomb", "ccp"])


def posed(law, N=40, h=1e-3, scene=None, **given):
    scene = scene or SCENES.find("packing")(N=N, **given).scene()
    q, v = scene.start()
    return Poser(FORMULATIONS.find(law), recovery=scene.recovery).pose(scene.instant(q, v, 0.0, h)).problem()


@LAWS
@pytest.mark.parametrize("given", [{}, {"speed": 0.0}, {"shear": 2.0, "mu": 0.2}], ids=["moving", "at rest", "sheared"])
def test_packings_are_solved_to_the_residual_that_was_asked_for(law, given):
    p = posed(law, **given)
    found = replace(SOLVER, stop=1e-9).solve(p)
    assert found.claimed is Status.SOLVED
    assert found.residual == p.residual(found.z) <= 1e-9


def test_associated_flow_has_one_velocity_whoever_finds_it():
    p = posed("ccp", N=12)
    x, y = (s.solve(p).z for s in (replace(SOLVER, stop=1e-11), find_solver("blocks-exact")))
    np.testing.assert_allclose(p.velocities(x), p.velocities(y), atol=1e-8)


@LAWS
def test_a_start_that_solves_is_the_answer_and_a_near_one_is_quick(law):
    p = posed(law)
    solver = replace(SOLVER, stop=1e-8)
    cold = solver.solve(p)
    assert solver.solve_from(p, cold.z).iterations == 0
    assert solver.solve_from(p, 1.0001 * cold.z).iterations < cold.iterations


@LAWS
def test_at_the_limit_the_best_iterate_comes_and_says_so(law):
    p = posed(law, N=100, speed=0.0)
    few, more = (replace(SOLVER, stop=1e-12, most=most).solve(p) for most in (40, 80))
    assert few.claimed is Status.ITERATION_LIMIT
    assert few.reason
    assert few.iterations == 40
    assert more.residual < few.residual < p.residual(np.zeros(p.size))
    # Single sweeps go up and down; what comes out only down.
    found = [replace(SOLVER, stop=1e-12, most=most).solve(p).residual for most in (20, 60, 140, 300, 620, 1020, 1420)]
    assert found == sorted(found, reverse=True)


def test_the_acceleration_takes_a_fraction_of_the_sweeps():
    p = posed("ccp", N=100, speed=0.0)
    found, packed = replace(SOLVER, stop=1e-8).solve(p), SpherePacking(p)
    plain = packed.swept(np.zeros((p.blocks, 3)), 3 * found.iterations)
    assert p.residual(packed.gathered(plain)) > 1e-8 >= found.residual


def test_contacts_without_friction_beside_others():
    flat = Flat(0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    scene = Grains([1.0, 1.0], [(0, 0, 1.0), (0, 0, 3.0)], [[1, 0, -1, 0, 0, 0], [0, 0, -2, 0, 0, 0]], walls=[flat])
    p = posed("coulomb", scene=scene)
    found = replace(SOLVER, stop=1e-12).solve(p)
    assert found.residual <= 1e-12
    v = p.velocities(found.z)
    np.testing.assert_allclose(v[[2, 8]], 0, atol=1e-9)
    # Nothing on the floor drags the lower sphere but the upper one.
    mass = scene.mass
    assert mass @ v[[0, 6]] == pytest.approx(mass[0], rel=1e-12)


def test_other_problems_are_refused_with_a_reason():
    assert "not those of two spheres" in SOLVER.why_not(edited(posed("coulomb"), "J", lambda J: J + 0.1 * abs(J)))
    assert "L = R = 1" in SOLVER.why_not(edited(posed("coulomb"), "N", lambda N: N + 1.0))
    assert "three unknowns or one" in SOLVER.why_not(posed("box"))
    assert SOLVER.solve(posed("box")).claimed is Status.REFUSED
    assert SOLVER.why_not(posed("coulomb")) is None
    lcp = LCP(np.eye(2), np.ones(2))
    assert SOLVER.why_not(lcp) == SOLVER.solve(lcp).reason == "spheres solves contact blocks, not LCP"


@LAWS
def test_where_sweeps_do_not_suffice_the_next_solver_goes_on(law):
    p = posed(law, N=12, speed=0.0)
    few = replace(SOLVER, stop=1e-8, most=20)
    both = InTurn([few, find_solver("blocks-exact")], 1e-8).solve(p)
    assert few.solve(p).residual > 1e-8 >= both.residual == p.residual(both.z)
    assert both.claimed is Status.SOLVED
    alone = InTurn([few, replace(few, most=40, tolerance=1e-2)], 1e-14).solve(p)
    assert alone.claimed is Status.INACCURATE
    assert alone.reason
    assert alone.iterations == 60
    assert alone.residual <= few.solve(p).residual
    box = posed("box", N=12)
    assert "three unknowns or one" in InTurn([few], 1e-8).why_not(box)
    after = InTurn([few, find_solver("blocks-exact")], 1e-8)
    assert after.why_not(box) is None
    assert after.solve(box).claimed is Status.SOLVED


def edited(p, name, change):
    return replace(p, **{name: change(getattr(p, name))})


def test_a_sweep_goes_to_every_contact_however_many_there_are():
    """Pairs that are alone are solved by one visit."""
    for pairs in range(1, 20):
        x = [(3.0 * i, 0, 2.0 * side) for i in range(pairs) for side in range(2)]
        v = [[0.3, 0, 1 - 2 * side, 0, 0.1, 0] for i in range(pairs) for side in range(2)]
        p = posed("ccp", scene=Grains(np.ones(2 * pairs), x, v))
        assert p.blocks == pairs
        assert replace(SOLVER, stop=1e-12, most=1).solve(p).residual < 1e-12
