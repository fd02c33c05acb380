"""Every solver of packings beside the exact one: one velocity for a problem, whatever found it."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.packings import STATES, packing
from workbench.algorithms import find_solver, sphere_gradient, sphere_interior, sphere_newton, spheres
from workbench.problems.solution import Status
from workbench.support.errors import WorkbenchError

SOLVERS = [spheres.SOLVER, sphere_gradient.SOLVER, sphere_newton.SOLVER, sphere_interior.SOLVER]


@pytest.mark.parametrize("law", ["coulomb", "ccp"])
@pytest.mark.parametrize("state", STATES)
def test_a_hundred_spheres_move_as_the_exact_solver_says(state, law, monkeypatch):
    monkeypatch.setattr(sphere_newton, "FIRST", 50)
    p = packing(100, state, law).blocks
    exact = p.velocities(find_solver("blocks-exact").solve(p).z)
    taken = [solver for solver in SOLVERS if solver.why_not(p) is None]
    assert len(taken) == (4 if law == "ccp" else 2)
    for solver in taken:
        found = replace(solver, stop=1e-9).solve(p)
        # Rounding ends interior points before they come to what they are asked for here.
        assert found.claimed is Status.SOLVED or solver is sphere_interior.SOLVER
        np.testing.assert_allclose(p.velocities(found.z), exact, atol=1e-5 * abs(exact).max())


def test_the_energy_of_accelerated_gradients_falls_to_that_of_the_exact_answer():
    p = packing(100, "at rest", "ccp").blocks
    solver, exact = sphere_gradient.SOLVER, find_solver("blocks-exact").solve(p).z

    def energy(z):
        v = p.velocities(z)
        return 0.5 * v @ (p.M @ v) + p.c @ z

    reached = [energy(replace(solver, stop=0.0, most=most).solve(p).z) for most in (20, 200, 2000)]
    assert reached[0] > reached[1] > reached[2] >= energy(exact) - 1e-12 * abs(energy(exact))
    assert reached[2] - energy(exact) < 1e-6 * (reached[0] - energy(exact))
    # Without restarts the momentum runs past the answer again and again: 11,820 iterations in place of 2620.
    assert replace(solver, stop=1e-9).solve(p).iterations < 5000


@pytest.mark.parametrize(
    ("name", "law", "own"),
    [("nsgs", "coulomb", spheres), ("nsgs", "ccp", spheres), ("apgd", "ccp", sphere_gradient)],
)
def test_a_method_that_takes_all_blocks_takes_those_of_spheres_by_its_own_kernels(name, law, own):
    """To the last bit, with its own residual, iterations and name; and other blocks as they are."""
    p, solver = packing(40, "moving", law).blocks, find_solver(name).adjusted(1e-8, 3000)
    found, expected = solver.solve(p), replace(own.SOLVER, stop=1e-8, most=3000).solve(p)
    np.testing.assert_array_equal(found.z, expected.z)
    assert (found.solver, found.iterations, found.residual) == (name, expected.iterations, expected.residual)
    # One row of J that is none of a sphere's.
    other = replace(p, J=p.J * np.where(np.arange(p.J.shape[1]) == p.J.indices[0], 1.01, 1.0))
    assert own.SOLVER.why_not(other)
    assert solver.solve(other).verified


def test_former_names_say_what_to_write_instead():
    with pytest.raises(
        WorkbenchError, match=r"^solver 'spheres-gradient' is now called 'apgd', which solves contacts of sph"
    ):
        find_solver("spheres-gradient")
