"""Every solver of packings beside the exact one: one velocity for a problem, whatever found it."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.packings import STATES, packing
from workbench.algorithms import find_solver, sphere_newton
from workbench.problems.solution import Status

SOLVERS = ["spheres", "spheres-gradient", "spheres-newton", "spheres-interior"]


@pytest.mark.parametrize("law", ["coulomb", "ccp"])
@pytest.mark.parametrize("state", STATES)
def test_a_hundred_spheres_move_as_the_exact_solver_says(state, law, monkeypatch):
    monkeypatch.setattr(sphere_newton, "FIRST", 50)
    p = packing(100, state, law).blocks
    exact = p.velocities(find_solver("blocks-exact").solve(p).z)
    solvers = [find_solver(name) for name in SOLVERS]
    taken = [solver for solver in solvers if solver.why_not(p) is None]
    assert len(taken) == (4 if law == "ccp" else 2)
    for solver in taken:
        found = replace(solver, stop=1e-9).solve(p)
        # Rounding ends interior points before they come to what they are asked for here.
        assert found.claimed is Status.SOLVED or solver.name == "spheres-interior"
        np.testing.assert_allclose(p.velocities(found.z), exact, atol=1e-5 * abs(exact).max())


def test_the_energy_of_accelerated_gradients_falls_to_that_of_the_exact_answer():
    p = packing(100, "at rest", "ccp").blocks
    solver, exact = find_solver("spheres-gradient"), find_solver("blocks-exact").solve(p).z

    def energy(z):
        v = p.velocities(z)
        return 0.5 * v @ (p.M @ v) + p.c @ z

    reached = [energy(replace(solver, stop=0.0, most=most).solve(p).z) for most in (20, 200, 2000)]
    assert reached[0] > reached[1] > reached[2] >= energy(exact) - 1e-12 * abs(energy(exact))
    assert reached[2] - energy(exact) < 1e-6 * (reached[0] - energy(exact))
    # Without restarts the momentum runs past the answer again and again: 11,820 iterations in place of 2620.
    assert replace(solver, stop=1e-9).solve(p).iterations < 5000
