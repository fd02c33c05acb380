"""Newton's matrix of a packing by fronts: the same steps as by a sparse factorisation, and how bodies are dissected."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

from benchmarks.packings import packing
from workbench.algorithms import dissection
from workbench.algorithms.block_newton import BlockNewton
from workbench.algorithms.dissection import cover, dissected, neighbours, places
from workbench.algorithms.sphere_newton import PackedNewton
from workbench.algorithms.spheres import SpherePacking
from workbench.builtin.cases import SCENES


@pytest.fixture
def small_fronts(monkeypatch):
    monkeypatch.setattr(dissection, "FEW", 3)


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
@pytest.mark.parametrize("smooth", [False, True], ids=["rough", "some smooth"])
def test_steps_are_those_of_a_sparse_factorisation(law, smooth, small_fronts):
    p = packing(70, "moving", law).blocks
    p = without_friction(p) if smooth else p
    # Some contacts less, so that there are islands and bodies that touch nothing.
    p = p.among(np.flatnonzero(np.random.default_rng(0).random(p.blocks) < 0.6))
    packed = SpherePacking(p)
    x = packed.gathered(packed.swept(packed.spread(np.zeros(p.size)), 30))
    steps = []
    for newton in (PackedNewton(p, packed), BlockNewton(p, most=1)):
        z = newton.begin(x)
        newton.start(z, z, 1e-4)
        steps.append(newton.newton_step(1e-4))
    assert np.linalg.norm(steps[1]) > 0
    np.testing.assert_allclose(steps[0], steps[1], rtol=1e-7, atol=1e-9 * abs(steps[1]).max())


def test_many_right_hand_sides_at_once_and_some_that_leave_fronts_out(small_fronts):
    p = packing(70, "moving", "coulomb").blocks
    newton = PackedNewton(p, SpherePacking(p))
    z = newton.begin(np.zeros(p.size))
    newton.start(z, z, 1e-4)
    newton.newton_step(1e-4)
    b = np.random.default_rng(0).normal(size=(p.b.size, 4))
    b[12:, 0] = 0.0
    x = newton.last.solve(b)
    np.testing.assert_allclose(x, np.column_stack([newton.last.solve(column) for column in b.T]), atol=1e-12)
    J = newton.matrix.J.toarray()
    D = np.zeros((p.s.size, p.s.size))
    for i in range(p.blocks):
        D[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] = newton.D[9 * i : 9 * i + 9].reshape(3, 3)
    K = newton.matrix.K.toarray() + J.T @ D @ J
    np.testing.assert_allclose(K @ x, b, atol=1e-8 * abs(x).max())


def test_half_the_work_is_enough_where_the_matrix_is_positive_definite(small_fronts):
    p = packing(70, "moving", "ccp").blocks
    newton = PackedNewton(p, SpherePacking(p))
    rng = np.random.default_rng(0)
    A = rng.normal(size=(p.blocks, 3, 3))
    D = (A @ A.transpose(0, 2, 1)).ravel()
    b = rng.normal(size=p.b.size)
    x, y = (newton.matrix.factored(newton.laws, D, positive=positive).solve(b) for positive in (False, True))
    np.testing.assert_allclose(y, x, rtol=1e-10, atol=1e-12 * abs(x).max())
    assert newton.matrix.factored(newton.laws, -D) is not None
    assert newton.matrix.factored(newton.laws, -D, positive=True) is None


def test_a_singular_matrix_has_no_factors():
    p = packing(10, "moving", "ccp").blocks
    newton = PackedNewton(p, SpherePacking(p))
    newton.start(np.zeros(p.s.size), np.zeros(p.s.size), 0.0)
    newton.matrix.K = 0 * newton.matrix.K
    assert newton.matrix.factored(newton.laws, np.zeros_like(newton.D)) is None


def test_places_are_the_centres_of_the_spheres():
    scene = SCENES.find("packing")(N=60).scene()
    centres = scene.start()[0].reshape(60, -1)[:, :3]
    packed = SpherePacking(packing(60, "moving", "ccp").blocks)
    graph, kept = neighbours(packed.pair, 60)
    x = places(packed.pair[kept], packed.between[kept], graph)
    _, island = csgraph.connected_components(graph)
    for k in np.unique(island):
        some = island == k
        np.testing.assert_allclose(np.ptp(x[some] - centres[some], axis=0), 0.0, atol=1e-12)


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
def test_every_body_is_eliminated_once_with_those_that_it_is_coupled_to(count, small_fronts):
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
