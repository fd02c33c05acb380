"""Batches: the same bits as single solves, whatever the solver, the sizes, the threads; what is wrong stays its own."""

from dataclasses import replace

import numpy as np
import pytest

from workbench.algorithms import find_solver
from workbench.algorithms.batch import solve_batch
from workbench.problems.classes import LCP, MLCP
from workbench.problems.solution import Status
from workbench.support.errors import DataError


def contacts(rng, B, r):
    """B Stewart-Trinkle problems of r contacts on one body, some of them redundant: M (B, 6 r, 6 r), q (B, 6 r)."""
    M, q = np.zeros((B, 6 * r, 6 * r)), np.zeros((B, 6 * r))
    A = np.kron(np.eye(r), [[1.0, 0, -1, 0], [0, 1, 0, -1]])
    for k in range(B):
        J_n, J_t = rng.normal(size=(r, 6)), rng.normal(size=(2 * r, 6))
        if k % 3 == 0:
            J_n[-1], J_t[-2:] = J_n[0], J_t[:2]
        J = np.vstack([J_n, A.T @ J_t])
        M[k, : 5 * r, : 5 * r] = J @ J.T
        M[k, r : 5 * r, 5 * r :] = np.kron(np.eye(r), np.ones((4, 1)))
        M[k, 5 * r :, r : 5 * r] = -M[k, r : 5 * r, 5 * r :].T
        M[k, 5 * r :, :r] = np.diag(rng.uniform(0, 1, r))
        q[k, : 5 * r] = J @ rng.normal(size=6)
    return M, q


def boxes(rng, B, n):
    """B box problems with definite matrices."""
    A = rng.normal(size=(B, n, n))
    upper = rng.exponential(size=(B, n))
    return A @ np.swapaxes(A, 1, 2) + 0.1 * np.eye(n), 3 * rng.normal(size=(B, n)), -upper, upper


@pytest.mark.thorough
@pytest.mark.parametrize("r", [1, 2, 4])
@pytest.mark.parametrize("threads", [1, 3])
def test_lcps_have_the_bits_of_single_solves(r, threads):
    M, q = contacts(np.random.default_rng(r), 200, r)
    answer = solve_batch(M, q, threads=threads)
    assert answer.solved.all()
    assert answer.residuals.max() <= 1e-11
    assert answer.solver == "lemke"
    for k in range(0, 200, 7):
        single = find_solver("lemke").solve(LCP(M[k], q[k]))
        np.testing.assert_array_equal(answer.z[k], single.z)
        assert answer.iterations[k] == single.iterations
        assert answer.residuals[k] == pytest.approx(single.residual, rel=1e-6, abs=1e-14)


@pytest.mark.thorough
@pytest.mark.parametrize("n", [1, 2, 3, 8, 9])
def test_eight_in_vector_lanes_have_the_bits_of_one(n):
    """Ties and zeros of whole numbers, rays, no work at all, diagonals of zero, one matrix for all, some left over."""
    rng = np.random.default_rng(n)
    whole = rng.integers(-1, 2, (21, n, n)).astype(float)
    cases = [
        (whole @ np.swapaxes(whole, 1, 2), rng.integers(-1, 2, (21, n)).astype(float)),
        (rng.integers(-2, 3, (21, n, n)).astype(float), rng.integers(-2, 3, (21, n)).astype(float)),
        (rng.normal(size=(21, n, n)) * 10 ** rng.uniform(-5, 5, (21, n, 1)), rng.normal(size=(21, n))),
        (whole[0] @ whole[0].T + np.eye(n), rng.normal(size=(21, n))),
    ]
    lemke = find_solver("lemke")
    for M, q in cases:
        answer = solve_batch(M, q)
        for k in range(21):
            single = lemke.solve(LCP(M if M.ndim == 2 else M[k], q[k]))
            assert answer.status[k] == single.claimed
            np.testing.assert_array_equal(answer.z[k], single.z)
            assert answer.iterations[k] == single.iterations


@pytest.mark.parametrize("solver", ["proximal", "judice-pires", "murty", "keller", "pgs"])
def test_box_problems_have_the_bits_of_single_solves(solver):
    M, q, lower, upper = boxes(np.random.default_rng(3), 60, 7)
    answer = solve_batch(M, q, lower, upper, solver=solver)
    assert answer.solved.all()
    assert answer.residuals.max() <= 1e-11
    for k in range(60):
        single = find_solver(solver).solve(MLCP(M[k], q[k], lower[k], upper[k]))
        np.testing.assert_array_equal(answer.z[k], single.z)
    assert solve_batch(M, q, lower, upper).solver == "proximal"


@pytest.mark.thorough
def test_one_matrix_and_one_pair_of_bounds_serve_all():
    rng = np.random.default_rng(4)
    for n in (3, 12):
        M, q, lower, upper = boxes(rng, 50, n)
        for given, bounds in (((), ()), ((lower[0], upper[0]), (lower[0], upper[0])), ((-1.0, 2.0), (-1.0, 2.0))):
            shared = solve_batch(M[0], q, *given)
            bounds = [np.broadcast_to(b, (50, n)) for b in bounds]
            np.testing.assert_array_equal(shared.z, solve_batch(np.repeat(M[:1], 50, 0), q, *bounds).z)
            assert shared.residuals.max() <= 1e-12


@pytest.mark.thorough
@pytest.mark.parametrize("n", [2, 15])
def test_what_is_not_finite_spoils_its_own_problem_alone(n):
    rng = np.random.default_rng(5)
    M, q, _, _ = boxes(rng, 9, n)
    good = solve_batch(M, q)
    M[2, 0, 1], q[4, 1], q[6, 0], M[8, 1, 0] = np.nan, np.inf, np.nan, -np.inf
    q[8] = 1.0
    answer = solve_batch(M, q)
    for k in range(9):
        if k in (2, 4, 6, 8):
            assert answer.status[k] == Status.NOT_FINITE
            assert np.isnan(answer.z[k]).all()
            assert answer.residuals[k] == np.inf
        else:
            np.testing.assert_array_equal(answer.z[k], good.z[k])
    bounds = np.zeros((9, n))
    bounds[3, 0] = np.nan
    status = solve_batch(good.M, np.ones((9, n)), bounds, 1.0).status
    assert (status != Status.SOLVED).nonzero()[0].tolist() == [2, 3, 8]


def test_residuals_are_those_of_the_problem():
    """On any z, solution or not, for any bounds, zero diagonals, rows and data."""
    rng = np.random.default_rng(6)
    for n in (1, 4, 9):
        M, q, lower, upper = boxes(rng, 60, n)
        M *= 10 ** rng.uniform(-6, 6, (60, n, 1)) * (rng.random((60, n, 1)) < 0.9)
        M[::3, 0, 0] = 0.0
        M[::7], q[::5] = 0.0, 0.0
        lower[rng.random((60, n)) < 0.3] = -np.inf
        upper[rng.random((60, n)) < 0.3] = np.inf
        answer = replace(solve_batch(M, q, lower, upper), z=rng.normal(size=(60, n)))
        np.testing.assert_allclose(answer.residuals, MLCP(M, q, lower, upper).residual(answer.z), rtol=1e-10)


@pytest.mark.thorough
def test_no_solution_is_a_status():
    answer = solve_batch([[-1.0]], [[-1.0], [1.0], [0.0]])
    assert answer.status.tolist() == [Status.RAY, Status.SOLVED, Status.SOLVED]
    np.testing.assert_array_equal(answer.z, 0)


def test_empty_batches_and_empty_problems():
    for B, n in ((0, 3), (4, 0), (0, 0)):
        for bounds in ((), (0.0, 1.0)):
            answer = solve_batch(np.zeros((B, n, n)), np.zeros((B, n)), *bounds)
            assert answer.z.shape == (B, n)
            assert answer.solved.shape == answer.residuals.shape == (B,)
            assert answer.solved.all()


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((np.eye(2), np.ones(2)), {}, r"q has shape \(2,\)"),
        ((np.eye(3), np.ones((4, 2))), {}, r"M has shape \(3, 3\).*\(4, 2, 2\)"),
        ((np.ones((3, 2, 2)), np.ones((4, 2))), {}, r"M has shape \(3, 2, 2\)"),
        ((np.eye(2), np.ones((4, 2)), np.zeros(3), 1.0), {}, r"lower has shape \(3,\)"),
        ((np.eye(2), np.ones((4, 2)), 1.0, 0.0), {}, "lower bound exceeds the upper one by 1"),
        ((np.eye(2), np.ones((4, 2))), {"threads": 0}, "threads = 0"),
        ((np.eye(2), np.ones((4, 2))), {"solver": "clarabel"}, "not compiled"),
        ((np.eye(2), np.ones((4, 2)), 0.0, 1.0), {"solver": "lemke"}, "lemke solves LCP, not MLCP"),
        (([[1.0, 2], [0, 1]], np.ones((4, 2))), {"solver": "keller"}, "symmetric"),
        ((np.zeros((4, 2, 2)), np.ones((4, 2))), {"solver": "pgs"}, r"M\[0, 0\] = 0"),
        ((np.eye(2), "ab"), {}, "q is not an array of real numbers"),
    ],
)
def test_what_makes_no_batch_is_refused_in_one_line(arguments, options, words):
    with pytest.raises(DataError, match=words) as error:
        solve_batch(*arguments, **options)
    assert "\n" not in str(error.value)
