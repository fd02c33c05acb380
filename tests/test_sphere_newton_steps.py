"""Newton's method for packings, by its answers: fronts, islands, contacts taken out of the step, and limits."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.packings import packing
from workbench.algorithms import find_solver
from workbench.algorithms.sphere_newton import SOLVER


def without_friction(p):
    """Of a packing's blocks, the first and every third contact with their normals alone."""
    smooth = np.arange(p.blocks) % 3 == 0
    kept = ~(smooth[p.block_of_row] & (np.arange(p.s.size) % 3 > 0))
    count = np.where(smooth, 1, 3)
    ends = np.append(0, np.cumsum(count))
    flat = np.concatenate([np.eye(k).ravel() for k in count])
    return replace(
        p, J=p.J[kept], row=ends, unknown=ends, L=flat, R=flat, N=np.zeros(flat.size), c=p.c[kept], s=p.s[kept],
        lower=np.where(smooth[p.block_of_row[kept]], 0.0, p.lower[kept]),
        upper=np.where(smooth[p.block_of_row[kept]], np.inf, p.upper[kept]),
        cone=np.where(smooth, 0, p.cone), mu=np.where(smooth, 0.0, p.mu),
    )  # fmt: skip


@pytest.mark.parametrize("law", ["coulomb", "ccp"])
@pytest.mark.parametrize("state", ["moving", "at rest"])
@pytest.mark.parametrize("smooth", [False, True], ids=["rough", "some smooth"])
def test_packings_in_islands_move_as_the_method_for_all_blocks_says(law, state, smooth):
    """Fewer contacts than the packing has, so that there are islands, and bodies that touch nothing."""
    p = packing(200, state, law).blocks
    p = without_friction(p) if smooth else p
    p = p.among(np.flatnonzero(np.random.default_rng(0).random(p.blocks) < 0.6))
    found = replace(SOLVER, stop=1e-10).solve(p)
    assert found.residual <= 1e-10
    # Steps that were not Newton's would take many more.
    assert found.iterations <= 40
    x = find_solver("nsgs").adjusted(1e-9, 20_000).solve(p).z
    np.testing.assert_allclose(p.velocities(found.z), p.velocities(x), atol=1e-5 * abs(p.velocities(x)).max())


@pytest.mark.parametrize("seed", range(3))
def test_packings_at_rest_that_newton_steps_alone_leave_are_solved(seed):
    p = packing(300, "at rest", "coulomb").blocks
    p = replace(p, mu=p.mu * np.random.default_rng(seed).uniform(0.8, 1.0, p.blocks))
    found = replace(SOLVER, stop=1e-10, most=40).solve(p)
    assert found.residual <= 1e-10
    assert replace(SOLVER, stop=1e-10).solve_from(p, found.z).iterations == 0
