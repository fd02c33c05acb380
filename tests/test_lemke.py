"""Lemke's method: redundant contacts, degeneracy, rays, guesses, textbook cases."""

import numpy as np
import pytest

from benchmarks.comparisons.lcp import STEWART_TRINKLE
from benchmarks.towers import tower
from cases.stacked_cubes import StackedCubes
from tests.lcps import assert_solved, nonsymmetric_pd
from workbench.algorithms import find_solver
from workbench.algorithms.base import EXACT, kernel_arguments
from workbench.algorithms.batch import solve_batch
from workbench.algorithms.enumeration import all_solutions
from workbench.problems.classes import LCP
from workbench.problems.solution import Status
from workbench.step.one_step import first_problem, pose
from workbench.support.errors import DataError
from workbench.verbs.find import find_formulation

LEMKE = find_solver("lemke")
SAME = 1e-9
SMALL = 16
"""Unknowns up to which a guess is not looked at."""


def anitescu_potra(J_n, J_t, M_inv, v, mu, directions):
    """Lead matrix [[W, 0/E], [mu, -E^T, 0]] and q = [J v; 0] of the velocity-level polygon."""
    r = len(J_n)
    angle = 2 * np.pi * np.arange(directions) / directions
    A = np.kron(np.eye(r), [np.cos(angle), np.sin(angle)])
    E = np.kron(np.eye(r), np.ones((directions, 1)))
    J = np.vstack([J_n, A.T @ J_t])
    W, zero = J @ M_inv @ J.T, np.zeros((r, r))
    M = np.block([[W, np.vstack([zero, E])], [np.diag(mu), -E.T, zero]])
    return M, np.concatenate([J @ v, np.zeros(r)])


def contact_jacobians(rng, r, layout):
    """J_n (r, 6), J_t (2r, 6) of one rigid body: corners of a box, one point repeated, or points at random."""
    if layout == "box":
        points = np.array([[1.0, 1, -0.5], [1, -1, -0.5], [-1, 1, -0.5], [-1, -1, -0.5], [0, 0, -0.5]])[:r]
    elif layout == "repeated":
        points = np.tile(rng.normal(size=3), (r, 1))
    else:
        points = rng.normal(size=(r, 3))
    frames = [np.linalg.qr(rng.normal(size=(3, 3)))[0] if layout == "random" else np.eye(3) for _ in points]
    rows = [[np.concatenate([a, np.cross(x, a)]) for a in frame.T] for x, frame in zip(points, frames, strict=True)]
    return np.array([row[2] for row in rows]), np.array([t for row in rows for t in row[:2]])


@pytest.mark.parametrize("directions", [4, 8, 16])
@pytest.mark.parametrize("layout", ["box", "repeated", "random"])
def test_lemke_solves_frictional_contact_with_redundant_contacts(layout, directions):
    rng = np.random.default_rng(6)
    for k in range(40):
        r = 1 + k % 5
        resting, sliding = [0, 0, -0.0981, 0, 0, 0], [1, 0, -0.0981, 0, 0, 0]
        v = np.array((rng.normal(size=6), resting, sliding, 1e-6 * rng.normal(size=6))[k % 4])
        J_n, J_t = contact_jacobians(rng, r, layout)
        mass, inertia = 10 ** rng.uniform(-3, 3), 10 ** rng.uniform(-2, 2)
        M_inv = np.diag(1 / (mass * np.concatenate([np.ones(3), inertia * rng.uniform(0.5, 2, 3)])))
        mu = np.zeros(r) if k % 7 == 0 else rng.uniform(0, 1.5, r)
        problem = LCP(*anitescu_potra(J_n, J_t, M_inv, v, mu, directions))
        assert_solved(LEMKE.solve(problem))


def stacks(formulation, count):
    """LCPs of a heavy cube on a light one, each of whose entries has been rounded up or down once more."""
    rng = np.random.default_rng(11)
    for _ in range(count):
        case = StackedCubes(
            m=rng.uniform(0.1, 5), ratio=10 ** rng.uniform(4, 8), edge=rng.uniform(0.05, 0.5), mu=rng.uniform(0.05, 1.5)
        )
        problem = first_problem(case, find_formulation(formulation), 10 ** rng.uniform(-4, -2), case.normal)
        for _ in range(20):
            yield LCP(*(a * (1 + 2.0**-52 * rng.integers(-1, 2, a.shape)) for a in (problem.M, problem.q)))


def test_stacks_of_redundant_contacts_are_solved_however_their_data_are_rounded():
    """Pivots of rounding size separate the bases of such a stack, and forces that the corners of one cube exert on each
    other, in which nothing moves, a path in doubles cannot tell from a solution."""
    for problem in stacks("stewart-trinkle", 40):
        assert_solved(LEMKE.solve(problem))


@pytest.mark.thorough
def test_small_problems_far_from_the_solution_are_not_called_solved():
    problems = list(stacks("frictionless", 200))
    M, q = np.array([p.M for p in problems]), np.array([p.q for p in problems])
    answer = solve_batch(M, q)
    assert answer.solved.mean() > 0.99
    assert answer.residuals[answer.solved].max() <= EXACT


def test_lemke_needs_exponentially_many_pivots_on_the_transpose():
    """The transposed example with q_i = -2^n - ... - 2^(n-i+1) (Murty 1978, for Lemke's method)."""
    n = 8
    M = np.eye(n) + 2 * np.tril(np.ones((n, n)), -1)
    solution = LEMKE.solve(LCP(M, -np.cumsum(2.0 ** np.arange(n, 0, -1))))
    assert_solved(solution)
    assert solution.iterations >= 2 ** (n - 1)


def test_a_ray_is_called_a_ray():
    """It proves nothing: the last problem has the solution z = (0, 2), w = 0, the others have none."""
    missed = LCP([[-3.0, 1], [3, -1]], [-2.0, 2])
    for problem in (LCP([[-1.0]], [-1.0]), LCP([[0.0, -1], [-1, 0]], [-1.0, 1]), LCP([[0.0]], [-1.0]), missed):
        solution = LEMKE.solve(problem)
        assert solution.claimed is Status.RAY
        assert not solution.verified
        assert "neither" in solution.reason
        assert bool(all_solutions(problem)) == (problem is missed)


def test_other_covering_vectors_avoid_a_ray():
    """With d = e the path of this problem ends on a ray; it has the solutions (1, 0) and (3/4, 1/2)."""
    assert_solved(LEMKE.solve(LCP([[-2.0, -1], [2, -1]], [2.0, -1])))


def family_of_contacts(rng, k):
    """Stewart-Trinkle problems of one body on up to five corners, at rest, sliding or in motion."""
    J_n, J_t = contact_jacobians(rng, 1 + k % 5, ("box", "random")[k % 2])
    v = np.array((rng.normal(size=6), [0, 0, -0.0981, 0, 0, 0], [1, 0, -0.0981, 0, 0, 0])[k % 3])
    return LCP(*anitescu_potra(J_n, J_t, np.eye(6), v, rng.uniform(0.1, 1, len(J_n)), 4))


def test_lemke_takes_a_guess():
    """The solution itself is checked and kept, without a pivot; any other guess, sensible or not, does no harm."""
    rng = np.random.default_rng(14)
    for k in range(60):
        problem = family_of_contacts(rng, k)
        n = problem.size
        data, info = kernel_arguments(problem), np.zeros(1, dtype=np.int64)
        cold = np.zeros(n)
        assert LEMKE.kernel(*data, cold, info) == Status.SOLVED
        if not cold.any():
            continue
        if n <= SMALL:
            warm = rng.normal(size=n)
            assert LEMKE.kernel(*data, warm, info) == Status.SOLVED
            np.testing.assert_array_equal(warm, cold)
            continue
        warm = cold.copy()
        assert LEMKE.kernel(*data, warm, info) == Status.SOLVED
        assert info[0] == 0
        np.testing.assert_array_equal(warm, cold)
        for guess in (rng.normal(size=n), np.full(n, np.nan), np.full(n, np.inf), np.ones(n), -cold, cold / 3):
            z = guess.copy()
            assert LEMKE.kernel(*data, z, info) == Status.SOLVED
            assert problem.residual(z) <= 1e-12
    for _ in range(40):
        n = int(rng.integers(SMALL + 1, 30))
        problem = LCP(nonsymmetric_pd(rng, n), rng.normal(size=n))
        data, z, cold = kernel_arguments(problem), np.zeros(n), np.zeros(n)
        assert LEMKE.kernel(*data, cold, info) == Status.SOLVED
        z[:] = cold * rng.uniform(0.1, 10, n)
        assert LEMKE.kernel(*data, z, info) == Status.SOLVED
        assert info[0] == 0, "the support is the basis where no basic unknown is zero"
        np.testing.assert_allclose(z, cold, rtol=1e-12, atol=1e-12 * cold.max())


@pytest.mark.parametrize("contacts", [4, 10, 30])
def test_the_basis_is_found_again_in_a_degenerate_answer(contacts):
    """Towers rest, stick and slide with unknowns that are basic and zero: the answer's positive entries have them."""
    for k in range(8):
        first = pose(STEWART_TRINKLE, tower(contacts, k)).problem()
        solution = LEMKE.solve(first)
        assert_solved(solution)
        again = LEMKE.solve(LCP(first.M, 1.01 * first.q), solution.z)
        assert again.residual <= 1e-12
        assert again.iterations == 0
        np.testing.assert_array_equal(again.z > 0, solution.z > 0)


def test_symmetric_towers_take_one_path():
    """Thirty contacts, many redundant: with equal entries of the covering vector some take three paths, 3 n pivots."""
    for k in range(24):
        problem = pose(STEWART_TRINKLE, tower(30, k)).problem()
        solution = LEMKE.solve(problem)
        assert_solved(solution)
        assert solution.iterations <= 1.2 * problem.size


def planted(rng, n, block):
    """A problem and its solution z: M = L L^T + K of blocks that overlap, in any order; in every fourth row w = 0."""
    near = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) < block
    L, K = np.tril(rng.normal(size=(n, n)) * near), np.triu(rng.normal(size=(n, n)) * near, 1)
    order = rng.permutation(n)
    M = np.ascontiguousarray((L @ L.T + np.eye(n) + K - K.T)[np.ix_(order, order)])
    z = np.where(rng.random(n) < 0.5, rng.uniform(0.5, 2, n), 0.0)
    return M, np.where((z > 0) | (np.arange(n) % 4 == 0), 0.0, rng.uniform(0.1, 1, n)) - M @ z, z


@pytest.mark.parametrize("block", [2, 4, 30])
def test_a_guess_is_solved_on_its_support(block):
    """Whatever the numbering, narrow or full; a column twice over keeps the basis short, and only their sum counts."""
    rng = np.random.default_rng(15)
    for n in (12, 40, 90, 150):
        M, q, z = planted(rng, n, block)
        solution = LEMKE.solve(LCP(M, q), z * rng.uniform(0.5, 1.5, n))
        assert solution.iterations == 0
        np.testing.assert_allclose(solution.z, z, rtol=1e-11, atol=1e-12)
        twice = np.append(np.arange(n), np.flatnonzero(z)[:3])
        solution = LEMKE.solve(LCP(M[np.ix_(twice, twice)], q[twice]), np.append(0.5 * z, 0.4 * z[twice[n:]]))
        assert solution.iterations == 0
        assert_solved(solution)
        both = np.bincount(twice, solution.z)
        np.testing.assert_allclose(both, z, rtol=1e-11, atol=1e-12)


def test_a_guess_of_another_size_is_refused():
    with pytest.raises(DataError, match=r"guess has shape \(3,\).*\(2,\)"):
        LEMKE.solve(LCP(np.eye(2), -np.ones(2)), np.ones(3))
    solution = LEMKE.solve(LCP(np.eye(20), -np.ones(20)), np.ones(20))
    assert solution.iterations == 0
    assert_solved(solution)
