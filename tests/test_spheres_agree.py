"""Every solver of packings beside the exact one: one velocity for a problem, whatever found it."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.packings import STATES, packing
from workbench.algorithms import find_solver
from workbench.problems.solution import Status

SOLVERS = ["spheres", "spheres-newton", "spheres-interior"]


@pytest.mark.parametrize("law", ["coulomb", "ccp"])
@pytest.mark.parametrize("state", STATES)
def test_a_hundred_spheres_move_as_the_exact_solver_says(state, law):
    p = packing(100, state, law).blocks
    exact = p.velocities(find_solver("blocks-exact").solve(p).z)
    solvers = [find_solver(name) for name in SOLVERS]
    taken = [solver for solver in solvers if solver.why_not(p) is None]
    assert len(taken) == (3 if law == "ccp" else 2)
    for solver in taken:
        found = replace(solver, stop=1e-9).solve(p)
        # Rounding ends interior points before they come to what they are asked for here.
        assert found.claimed is Status.SOLVED or solver.name == "spheres-interior"
        np.testing.assert_allclose(p.velocities(found.z), exact, atol=1e-5 * abs(exact).max())
