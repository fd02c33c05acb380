"""Newton's method for packings, by its answers: fronts, islands, contacts taken out of the step, and limits."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

from benchmarks.packings import packing
from workbench.algorithms import find_solver
from workbench.algorithms.dissection import cover, dissected
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


def test_a_cover_holds_every_entry_and_is_as_small_as_a_matching():
    rng = np.random.default_rng(0)
    for _ in range(50):
        cut = sparse.csr_array(rng.random(rng.integers(1, 12, 2)) < 0.2).astype(float)
        rows, columns = cover(cut)
        entries = cut.tocoo()
        assert (rows[entries.row] | columns[entries.col]).all()
        matched = (csgraph.maximum_bipartite_matching(cut) >= 0).sum()
        assert rows.sum() + columns.sum() == matched


@pytest.mark.parametrize("count", [0, 1, 200])
def test_every_body_is_eliminated_once_with_those_that_it_is_coupled_to(count):
    rng = np.random.default_rng(1)
    x = rng.random((count, 3))
    near = np.linalg.norm(x[:, None] - x, axis=2) < 0.2
    graph = sparse.csr_array((near & ~np.eye(count, dtype=bool)).astype(float))
    fronts = dissected(x, graph) if count else []
    assert sorted(i for f in fronts for i in f.pivots) == list(range(count))
    done = np.zeros(count, dtype=bool)
    for k, f in enumerate(fronts):
        done[f.pivots] = True
        coupled = np.unique(graph[f.pivots].indices)
        assert set(coupled[~done[coupled]]) <= set(f.rest)
        assert not done[f.rest].any()
        assert all(j < k for j in f.before)
