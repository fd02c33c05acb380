"""Problems that fall into parts: found as a graph search finds them, solved as the parts are, put together in order."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from workbench.algorithms import find_solver
from workbench.algorithms.base import kernel_arguments
from workbench.algorithms.components import solve_apart
from workbench.problems.classes import LCP, MLCP, ConicQP, CoulombNCP
from workbench.problems.solution import Status

SIZES = (1, 7, 2, 12, 20, 1, 5)
"""Unknowns, or contacts, of the parts; together more than `FEW`."""


def shuffled(rng, blocks, d=0):
    """Blocks side by side in a random order of unknowns, or of contacts with d tangents: the matrix and the rows."""
    size = sum(len(b) for b in blocks) // (1 + d)
    contact = rng.permutation(size)
    rows = contact if not d else np.concatenate([contact, (size + d * contact[:, None] + np.arange(d)).ravel()])
    M, places, done = np.zeros((len(rows), len(rows))), [], 0
    for b in blocks:
        mine = np.arange(done, done + len(b) // (1 + d))
        if d:
            mine = np.concatenate([mine, (size + d * mine[:, None] + np.arange(d)).ravel()])
        places.append(rows[mine])
        M[np.ix_(places[-1], places[-1])] = b
        done += len(b) // (1 + d)
    return M, places


def definite(rng, n, skew=0.0):
    """A positive definite matrix with a skew part."""
    A, S = rng.normal(size=(n, n)), rng.normal(size=(n, n))
    return A @ A.T / n + 0.5 * np.eye(n) + skew * (S - S.T)


def undivided(solver, problem):
    """The kernel's own answer."""
    z, info = np.zeros(problem.size), np.zeros(1, dtype=np.int64)
    return z, Status(solver.kernel(*kernel_arguments(problem), z, info)), info[0]


@pytest.mark.parametrize("seed", range(10))
def test_parts_are_the_components_of_the_contacts_that_a_graph_search_finds(seed):
    rng, r = np.random.default_rng(seed), 24
    A = rng.normal(size=(3 * r, 3 * r)) * (rng.uniform(size=(3 * r, 3 * r)) < rng.choice([0.1, 0.3]) / r)
    W, contact = A @ A.T + np.eye(3 * r), np.append(np.arange(r), np.repeat(np.arange(r), 2))
    i, j = np.nonzero(W)
    count, _ = connected_components(sparse.csr_array((np.ones(i.size), (contact[i], contact[j])), shape=(r, r)), False)
    q, mu = rng.normal(size=3 * r), np.full(r, 0.4)
    for M in (W, sparse.csr_array(W)):
        stages = find_solver("ccp-exact").solve(ConicQP(M, q, mu)).stages
        assert count == 1 or stages[0].startswith(f"{count} parts")


@pytest.mark.parametrize("name", ["lemke", "proximal", "murty", "judice-pires", "keller"])
def test_an_lcp_has_the_answer_of_the_undivided_one(name):
    rng, solver = np.random.default_rng(1), find_solver(name)
    skew = 0.0 if name == "keller" else 1.0
    for _ in range(5):
        M, places = shuffled(rng, [definite(rng, n, skew) for n in SIZES])
        problem = LCP(M, rng.normal(size=len(M)))
        found, (z, status, _) = solver.solve(problem), undivided(solver, problem)
        assert found.claimed is status is Status.SOLVED
        assert found.residual < 1e-14
        np.testing.assert_allclose(found.z, z, atol=1e-12)
        alone = [undivided(solver, LCP(M[np.ix_(i, i)], problem.q[i])) for i in map(np.sort, places)]
        for i, (z_k, _, _) in zip(map(np.sort, places), alone, strict=True):
            np.testing.assert_array_equal(found.z[i], z_k)
        assert found.iterations == sum(count for *_, count in alone)


@pytest.mark.parametrize("name", ["proximal", "judice-pires", "keller"])
def test_bounds_go_with_their_unknowns(name):
    rng, solver = np.random.default_rng(2), find_solver(name)
    for _ in range(5):
        M, _ = shuffled(rng, [definite(rng, n) for n in SIZES])
        n = len(M)
        lower, upper = -rng.uniform(0, 0.5, n), rng.uniform(0, 0.5, n)
        lower[rng.uniform(size=n) < 0.2], upper[rng.uniform(size=n) < 0.2] = -np.inf, np.inf
        problem = MLCP(M, rng.normal(size=n), lower, upper)
        found, (z, status, _) = solver.solve(problem), undivided(solver, problem)
        assert found.claimed is status is Status.SOLVED
        assert found.residual < 1e-14
        np.testing.assert_allclose(found.z, z, atol=1e-12)


def cones(rng, d, rank=100):
    """W of at most this rank a part, q, mu; of six groups of contacts one is a contact that moves nothing, W_ii = 0."""
    blocks = []
    for r in (1, 3, 2, 5, 1, 6):
        J = rng.normal(size=((1 + d) * r, min(rank, 2 * (1 + d) * r)))
        blocks.append(J @ J.T)
    blocks[4] = np.zeros((1 + d, 1 + d))
    W, places = shuffled(rng, blocks, d)
    q = W @ rng.normal(size=len(W))
    q[places[4][0]] = 1.0
    return 0.5 * (W + W.T), q, rng.uniform(0.1, 0.5, len(W) // (1 + d)), places


@pytest.mark.parametrize("d", [1, 2], ids=["plane", "space"])
@pytest.mark.parametrize(("kind", "name"), [(ConicQP, "ccp-exact"), (CoulombNCP, "coulomb-exact")])
def test_friction_problems_have_the_answer_of_the_undivided_ones(kind, name, d):
    rng, solver = np.random.default_rng(3), find_solver(name)
    for _ in range(4):
        W, q, mu, places = cones(rng, d)
        problem = kind(W, q, mu, d)
        found, (z, status, _) = solver.solve(problem), undivided(solver, problem)
        assert found.claimed is Status.SOLVED
        assert found.residual <= 1e-12
        if status is Status.SOLVED:
            np.testing.assert_allclose(found.z, z, atol=1e-9)
        for i in map(np.sort, places):
            alone = solver.solve(kind(W[np.ix_(i, i)], q[i], mu[i[i < len(mu)]], d))
            np.testing.assert_array_equal(found.z[i], alone.z)
        assert found.stages[0].startswith("6 parts")
        also = solver.solve(kind(sparse.csr_array(W), q, mu, d))
        np.testing.assert_array_equal(also.z, found.z)
        assert (also.residual, also.iterations) == (pytest.approx(found.residual, abs=1e-15), found.iterations)


def test_velocities_of_redundant_contacts_stay():
    """Impulses are not unique there; a CCP's velocities are."""
    rng, solver = np.random.default_rng(4), find_solver("ccp-exact")
    for _ in range(4):
        W, q, mu, _ = cones(rng, 2, rank=6)
        problem = ConicQP(W, q, mu)
        found, (z, status, _) = solver.solve(problem), undivided(solver, problem)
        assert found.claimed is status is Status.SOLVED
        np.testing.assert_allclose(W @ found.z, W @ z, atol=1e-7 * np.abs(q).max())


def test_a_whole_whose_part_comes_to_no_end_is_tried_as_one(monkeypatch):
    """As one of its parts may be solved by chance only, and the whole by another; the better answer counts."""
    rng, solver = np.random.default_rng(11), find_solver("coulomb-exact")
    W, q, mu, _ = cones(rng, 2)
    problem = CoulombNCP(W, q, mu)
    expected = solver.solve(problem)
    stages, asked = type(solver).in_stages, []

    def poor(self, part):
        z, residual, count, said = stages(self, part)
        asked.append(part.size)
        return (0.9 * z, 1e-3, count, said) if part.size == 9 else (z, residual, count, said)

    monkeypatch.setattr(type(solver), "in_stages", poor)
    found = solver.solve(problem)
    assert asked.count(problem.size) == 2
    assert found.claimed is Status.SOLVED
    np.testing.assert_allclose(found.z, expected.z, atol=1e-9)


def test_zeros_that_are_stored_couple_nothing():
    rng = np.random.default_rng(10)
    W, q, mu, _ = cones(rng, 2)
    i, j = np.indices(W.shape).reshape(2, -1)
    stored = sparse.coo_array((W.ravel(), (i, j)), shape=W.shape).tocsr()
    assert stored.nnz == W.size
    found, solver = [], find_solver("coulomb-exact")
    for A in (W, stored):
        found.append(solver.solve(CoulombNCP(A, q, mu)))
    np.testing.assert_array_equal(found[0].z, found[1].z)
    assert found[1].stages[0].startswith("6 parts")


def test_large_parts_of_a_sparse_matrix_stay_sparse():
    """Two parts beyond the dense kernels and one within, by dense blocks and by sparse ones."""
    rng = np.random.default_rng(5)
    blocks = []
    for r in (200 // 3 + 3, 4, 200 // 3 + 1):
        J = rng.normal(size=(3 * r, 9 * r)) * (rng.uniform(size=(3 * r, 9 * r)) < 1 / r) + np.eye(3 * r, 9 * r)
        blocks.append(J @ J.T + 0.1 * np.eye(3 * r) + 1e-6)
    W, _ = shuffled(rng, blocks, 2)
    q, mu = rng.normal(size=len(W)), np.full(len(W) // 3, 0.4)
    solver = find_solver("ccp-exact")
    one, other = (solver.solve(ConicQP(A, q, mu)) for A in (W, sparse.csr_array(W)))
    assert one.stages[0].startswith("3 parts")
    assert max(one.residual, other.residual) < 1e-12
    np.testing.assert_allclose(one.z, other.z, atol=1e-9)


def test_a_large_problem_that_is_mostly_one_part_stays_whole():
    rng = np.random.default_rng(12)
    W, _ = shuffled(rng, [definite(rng, 3 * r) for r in (20, 3, 16)], 2)
    problem = ConicQP(0.5 * (W + W.T), rng.normal(size=len(W)), np.full(39, 0.4))
    found = find_solver("ccp-exact").solve(problem)
    assert found.claimed is Status.SOLVED
    assert "parts" not in found.stages[0]


def test_compiled_code_divides_as_python_does():
    rng = np.random.default_rng(6)
    W, q, mu, _ = cones(rng, 2)
    for problem, name in ((ConicQP(W, q, mu), "ccp-exact"), (LCP(W, q), "lemke"), (LCP(W, q), "proximal")):
        solver, z, info = find_solver(name), np.zeros(len(q)), np.zeros(1, dtype=np.int64)
        status = solve_apart(solver.kernel, *kernel_arguments(problem), z, info)
        found = solver.solve(problem)
        assert (status, info[0]) == (found.claimed, found.iterations)
        np.testing.assert_array_equal(z, found.z)


def test_a_guess_goes_to_the_parts():
    rng, solver = np.random.default_rng(7), find_solver("lemke")
    M, _ = shuffled(rng, [definite(rng, 12) for _ in range(4)])
    problem = LCP(M, rng.normal(size=48))
    cold = solver.solve(problem)
    warm = solver.solve(problem, cold.z)
    assert cold.iterations > 0
    assert warm.iterations == 0
    np.testing.assert_array_equal(warm.z, cold.z)


def test_a_part_without_a_solution_leaves_the_whole_without_one():
    """Keller's method proves it; the other parts are solved all the same."""
    rng, solver = np.random.default_rng(8), find_solver("keller")
    blocks = [definite(rng, 20), np.array([[1.0, -1.0], [-1.0, 1.0]]), definite(rng, 15)]
    M, places = shuffled(rng, blocks)
    q = rng.normal(size=len(M))
    q[places[1]] = -1.0
    found = solver.solve(LCP(M, q))
    assert found.claimed is Status.INFEASIBLE
    for i in (places[0], places[2]):
        assert LCP(M[np.ix_(i, i)], q[i]).residual(found.z[i]) < 1e-14


def test_one_part_and_none():
    rng = np.random.default_rng(9)
    M = definite(rng, 40)
    problem = LCP(M, rng.normal(size=len(M)))
    z, _, pivots = undivided(find_solver("lemke"), problem)
    found = find_solver("lemke").solve(problem)
    np.testing.assert_array_equal(found.z, z)
    assert found.iterations == pivots
    assert find_solver("lemke").solve(LCP(np.zeros((0, 0)), np.zeros(0))).claimed is Status.SOLVED


def test_contacts_that_move_nothing_are_parts_of_their_own():
    M, q = np.zeros((42, 42)), np.ones(42)
    for name in ("lemke", "proximal", "keller"):
        found = find_solver(name).solve(LCP(M, q))
        assert found.claimed is Status.SOLVED
        assert not found.z.any()
    q[3] = -1.0
    assert find_solver("lemke").solve(LCP(M, q)).claimed is Status.RAY
