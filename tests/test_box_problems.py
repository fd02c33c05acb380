"""MLCPs with bounds and far more rows than bodies move: drives, pivots and proximal points agree on the motion."""

import numpy as np
import pytest

from workbench.algorithms import find_solver
from workbench.problems.classes import MLCP
from workbench.problems.solution import Status


def redundant(rng, n, rank, spread=1.0):
    """J J^T of n rows in so many dimensions, scaled over `spread` decades, with bounds of every kind and a solution."""
    J = rng.normal(size=(n, rank)) * 10 ** rng.uniform(-spread, spread, (n, 1))
    lower, upper = -rng.exponential(size=n), rng.exponential(size=n)
    kind = rng.integers(0, 4, n)
    lower[kind == 0], upper[kind == 0] = 0.0, np.inf
    upper[kind == 1] = lower[kind == 1]
    return MLCP(J @ J.T, J @ rng.normal(size=rank), lower, upper)


def energy(problem, z):
    return 0.5 * z @ problem.M @ z + problem.q @ z


@pytest.mark.parametrize(("n", "rank"), [(13, 13), (20, 6), (45, 12), (90, 40), (90, 90)])
def test_redundant_rows_are_solved_to_round_off_and_move_the_same(n, rank):
    rng = np.random.default_rng([n, rank])
    for _ in range(8):
        problem = redundant(rng, n, rank)
        ways = [find_solver("keller").solve(problem), find_solver("proximal").solve(problem)]
        # The same problem, its matrix symmetric no more, in a measure that changes no solution by more than rounding.
        M = problem.M * (1 + 1e-9 * np.triu(np.ones((n, n)), 1))
        apart = find_solver("proximal").solve(MLCP(M, problem.q, problem.lower, problem.upper))
        size, unit = np.abs(problem.q).max(), np.sqrt(np.diag(problem.M))
        for solution in ways:
            assert solution.claimed is Status.SOLVED
            assert solution.residual <= 1e-12
            assert ((problem.lower <= solution.z) & (solution.z <= problem.upper)).all()
            # Not much more self-stress than the proximal points', which approach the least.
            assert np.linalg.norm(unit * solution.z) <= 2 * np.linalg.norm(unit * apart.z)
            assert energy(problem, solution.z) <= energy(problem, apart.z) + 1e-6 * abs(energy(problem, apart.z))
        np.testing.assert_allclose(problem.M @ ways[0].z, problem.M @ ways[1].z, atol=1e-9 * size)
        np.testing.assert_allclose(problem.M @ ways[0].z, problem.M @ apart.z, atol=1e-5 * size)


@pytest.mark.parametrize("n", [14, 40])
def test_matrices_that_are_not_symmetric_are_left_to_pivots(n):
    rng = np.random.default_rng(n)
    for _ in range(10):
        A = rng.normal(size=(n, n))
        problem = MLCP(A @ A.T + 3 * (A - A.T) + np.eye(n), 3 * rng.normal(size=n), -1.0, 1.0)
        solution = find_solver("proximal").solve(problem)
        assert solution.claimed is Status.SOLVED
        assert solution.residual <= 1e-12


def test_units_do_not_matter():
    rng = np.random.default_rng(3)
    p = redundant(rng, 40, 12)
    E = 2.0 ** rng.integers(-20, 20, 40)
    scaled = MLCP(E[:, None] * p.M * E, E * p.q, p.lower / E, p.upper / E)
    a, b = find_solver("keller").solve(p), find_solver("keller").solve(scaled)
    assert b.residual <= 1e-12
    assert a.iterations == b.iterations
    np.testing.assert_allclose(E * b.z, a.z, atol=1e-9 * np.abs(a.z).max())
