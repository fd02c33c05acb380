"""Pivoting and projected solvers: promised classes, agreement with enumeration, degeneracy, rays, textbook cases."""

import numpy as np
import pytest

from tests.lcps import assert_solved, h_plus, m_matrix, nonsymmetric_pd, p_not_pd, symmetric_pd
from workbench.algorithms import find_solver
from workbench.algorithms.base import kernel_arguments
from workbench.algorithms.enumeration import all_solutions
from workbench.problems.classes import LCP, MLCP
from workbench.problems.solution import Status
from workbench.support.errors import DataError

NAMES = "lemke", "murty", "judice-pires", "keller", "pgs", "enumerate"
SOLVERS = {name: find_solver(name) for name in NAMES}
SAME = 1e-9


CLASSES = {
    symmetric_pd: ("lemke", "murty", "judice-pires", "keller", "pgs"),
    nonsymmetric_pd: ("lemke", "murty", "judice-pires"),
    p_not_pd: ("lemke", "murty", "judice-pires"),
    h_plus: ("lemke", "murty", "judice-pires", "pgs"),
    m_matrix: ("lemke", "murty", "judice-pires", "pgs"),
}


@pytest.mark.parametrize(
    ("family", "name"), [(f, s) for f, names in CLASSES.items() for s in names], ids=lambda x: getattr(x, "__name__", x)
)
def test_solves_its_class_and_agrees_with_enumeration(family, name):
    rng = np.random.default_rng(1)
    for _ in range(40):
        n = rng.integers(2, 9)
        problem = LCP(family(rng, n), rng.normal(size=n))
        solution = SOLVERS[name].solve(problem)
        assert_solved(solution)
        (unique,) = all_solutions(problem)
        np.testing.assert_allclose(solution.z, unique, rtol=SAME, atol=SAME * np.abs(unique).max())


def random_bounds(rng, n):
    """Finite, half-infinite either way, free and equal bounds, in random places."""
    lower, upper = -rng.exponential(size=n), rng.exponential(size=n)
    kind = rng.integers(0, 5, n)
    lower[(kind == 1) | (kind == 2)] = -np.inf
    upper[(kind == 2) | (kind == 3)] = np.inf
    upper[kind == 4] = lower[kind == 4]
    return lower, upper


@pytest.mark.parametrize(
    ("family", "name"),
    [(symmetric_pd, s) for s in ("murty", "judice-pires", "keller", "pgs")]
    + [(nonsymmetric_pd, s) for s in ("murty", "judice-pires")],
)
def test_box_problems_agree_with_enumeration(family, name):
    rng = np.random.default_rng(2)
    for _ in range(60):
        n = rng.integers(1, 7)
        problem = MLCP(family(rng, n), 3 * rng.normal(size=n), *random_bounds(rng, n))
        solution = SOLVERS[name].solve(problem)
        assert_solved(solution)
        np.testing.assert_array_equal(solution.z, np.clip(solution.z, problem.lower, problem.upper))
        oracle = SOLVERS["enumerate"].solve(problem)
        assert_solved(oracle)
        np.testing.assert_allclose(solution.z, oracle.z, rtol=SAME, atol=SAME * (1 + np.abs(oracle.z).max()))


def semidefinite(rng, n, whole_numbers):
    """M = A A^T of any rank, often with two opposed contacts (a pinched body); whole numbers make exact ties."""
    shape = (n, rng.integers(0, n + 1))
    A = rng.integers(-2, 3, shape).astype(float) if whole_numbers else rng.normal(size=shape)
    if rng.random() < 0.5 and n > 1:
        A[-1] = -A[0]
    return A @ A.T


@pytest.mark.thorough
@pytest.mark.parametrize("whole_numbers", [False, True])
@pytest.mark.parametrize("name", ["lemke", "keller"])
def test_singular_semidefinite_problems_with_a_solution(name, whole_numbers):
    rng = np.random.default_rng(15)
    for _ in range(600):
        n = rng.integers(1, 9)
        M = semidefinite(rng, n, whole_numbers)
        z, w = np.maximum(rng.integers(-2, 3, (2, n)) if whole_numbers else rng.normal(size=(2, n)), 0.0)
        w[z > 0] = 0
        solution = SOLVERS[name].solve(LCP(M, w - M @ z))
        assert_solved(solution)
        np.testing.assert_allclose(M @ solution.z, M @ z, atol=1e-8 * (1 + np.abs(M @ z).max()))


@pytest.mark.parametrize("whole_numbers", [False, True])
def test_semidefinite_problems_without_a_solution_are_recognised(whole_numbers):
    rng = np.random.default_rng(4)
    infeasible = 0
    for _ in range(200):
        n = rng.integers(1, 7)
        problem = LCP(semidefinite(rng, n, whole_numbers), rng.integers(-2, 3, n))
        if all_solutions(problem):
            assert_solved(SOLVERS["keller"].solve(problem))
            assert_solved(SOLVERS["lemke"].solve(problem))
        else:
            infeasible += 1
            ray = SOLVERS["keller"].solve(problem)
            assert ray.claimed is Status.INFEASIBLE
            assert np.abs(ray.z).max() < 1e8, "rounding was taken for a blocking unknown far along the ray"
            assert SOLVERS["lemke"].solve(problem).claimed is Status.RAY
            assert SOLVERS["enumerate"].solve(problem).claimed is Status.INFEASIBLE
    assert infeasible > 60


def test_keller_solves_consistent_box_problems_with_redundant_free_rows():
    rng = np.random.default_rng(5)
    for _ in range(280):
        n = rng.integers(1, 9)
        M = semidefinite(rng, n, whole_numbers=False)
        problem = MLCP(M, M @ rng.normal(size=n), *random_bounds(rng, n))
        assert_solved(SOLVERS["keller"].solve(problem))


def test_keller_on_an_indefinite_matrix_reports_a_ray_without_a_certificate():
    solution = SOLVERS["keller"].solve(LCP([[1.0, -2], [-2, 1]], [-1.0, -1]))
    assert solution.claimed is Status.RAY


def test_murty_exponential_example():
    """Murty 1978: with 2 above the unit diagonal and q = -e, least-index pivoting visits all 2^n bases."""
    for n in range(2, 9):
        M = np.eye(n) + 2 * np.triu(np.ones((n, n)), 1)
        problem = LCP(M, -np.ones(n))
        solution = SOLVERS["murty"].solve(problem)
        assert_solved(solution)
        assert solution.iterations == 2**n - 1
        assert SOLVERS["judice-pires"].solve(problem).iterations <= n
        np.testing.assert_array_equal(solution.z, np.eye(n)[-1])


@pytest.mark.parametrize("name", ["lemke", "murty", "judice-pires", "enumerate"])
def test_kostreva_example(name):
    """Kostreva 1979: a P-matrix on which Bard's rule, and Lemke's without a rule for ties, can cycle."""
    solution = SOLVERS[name].solve(LCP([[1.0, 2, 0], [0, 1, 2], [2, 0, 1]], -np.ones(3)))
    assert_solved(solution)
    np.testing.assert_allclose(solution.z, 1 / 3, rtol=SAME)


def test_chandrasekaran_pivots_at_most_n_times():
    """Chandrasekaran 1970: for an M-matrix no unknown leaves the basis again; Murty's method needs at most n pivots."""
    rng = np.random.default_rng(8)
    for _ in range(40):
        n = rng.integers(2, 30)
        solution = SOLVERS["murty"].solve(LCP(m_matrix(rng, n), rng.normal(size=n)))
        assert_solved(solution)
        assert solution.iterations <= n


def block_exchanges_cycle(M, q):
    active, seen = np.zeros(len(q), dtype=bool), set()
    while active.tobytes() not in seen:
        seen.add(active.tobytes())
        z = np.zeros(len(q))
        z[active] = np.linalg.solve(M[np.ix_(active, active)], -q[active])
        wrong = np.where(active, z, M @ z + q) < 0
        if not wrong.any():
            return False
        active ^= wrong
    return True


def test_judice_pires_leaves_the_cycles_of_plain_block_exchanges():
    rng = np.random.default_rng(9)
    cycles = 0
    for _ in range(80):
        K = rng.normal(size=(12, 12))
        M, q = np.eye(12) + 3 * (K - K.T), rng.normal(size=12)
        if block_exchanges_cycle(M, q):
            cycles += 1
            assert_solved(SOLVERS["judice-pires"].solve(LCP(M, q)))
    assert cycles >= 5


def test_enumeration_lists_every_solution():
    """M = -I, q = e: each unknown is 0 or 1. The rod of Painleve, a < 0 < b, is the scalar case."""
    found = all_solutions(LCP(-np.eye(3), np.ones(3)))
    assert {tuple(z) for z in found} == {tuple(z) for z in np.ndindex(2, 2, 2)}
    box = MLCP([[-1.0]], [0.0], [-1.0], [1.0])
    assert sorted(float(z[0]) for z in all_solutions(box)) == [-1, 0, 1]
    assert len(all_solutions(LCP(np.eye(3), np.zeros(3)))) == 1, "eight bases, one point"


@pytest.mark.parametrize("name", list(SOLVERS))
def test_solution_follows_a_change_of_units(name):
    """z solves (M, q) if and only if c D^-1 z solves (D M D, c D q)."""
    rng = np.random.default_rng(10)
    for _ in range(40):
        n = rng.integers(2, 9)
        M, q = symmetric_pd(rng, n), rng.normal(size=n)
        D, c = 10 ** rng.uniform(-7, 7, n), 10 ** rng.uniform(-6, 6)
        z = SOLVERS[name].solve(LCP(M, q)).z
        scaled = SOLVERS[name].solve(LCP(D[:, None] * M * D, c * D * q))
        assert scaled.claimed is Status.SOLVED
        np.testing.assert_allclose(scaled.z * D / c, z, rtol=SAME, atol=SAME * np.abs(z).max())


@pytest.mark.parametrize("name", list(SOLVERS))
def test_what_is_claimed_is_true_whatever_the_matrix(name):
    rng = np.random.default_rng(11)
    claimed = 0
    for k in range(80):
        n = rng.integers(1, 6)
        M = rng.normal(size=(n, n)) if k % 2 else rng.integers(-2, 3, (n, n)).astype(float)
        M = (M + M.T) / 2 if k % 3 else M
        problem = LCP(M, rng.integers(-2, 2, n))
        solution = SOLVERS[name].solve(problem)
        if solution.claimed is Status.SOLVED:
            claimed += 1
            assert solution.verified
        else:
            assert solution.reason
    assert claimed > 8


@pytest.mark.parametrize(
    ("name", "problem", "reason"),
    [
        ("lemke", MLCP(np.eye(1), [1.0], [-1.0], [1.0]), "lemke solves LCP, not MLCP"),
        ("keller", LCP([[1.0, 2], [0, 1]], [1.0, 1]), "symmetric"),
        ("pgs", LCP([[1.0, 0], [0, 0]], [1.0, 1]), r"M[1, 1] = 0.0"),
        ("enumerate", LCP(np.eye(13), np.ones(13)), "n = 13"),
    ],
)
def test_refusals_give_their_reason(name, problem, reason):
    solution = SOLVERS[name].solve(problem)
    assert solution.claimed is Status.REFUSED
    assert reason in solution.reason
    if name == "enumerate":
        with pytest.raises(DataError, match="n = 13"):
            all_solutions(problem)


@pytest.mark.parametrize("name", list(SOLVERS))
def test_nothing_negative_and_nothing_at_all(name):
    for q in (np.zeros(0), np.zeros(4), np.ones(4)):
        solution = SOLVERS[name].solve(LCP(np.eye(len(q)), q))
        assert_solved(solution)
        assert not solution.z.any()


@pytest.mark.parametrize("name", list(SOLVERS))
def test_kernels_overwrite_what_z_held(name):
    M, q = symmetric_pd(np.random.default_rng(12), 5), np.array([-1.0, 1, -1, 1, 0])
    problem = LCP(M, q)
    z, info = np.full(5, np.nan), np.full(1, -7)
    assert SOLVERS[name].kernel(*kernel_arguments(problem), z, info) == Status.SOLVED
    assert info[0] >= 0
    np.testing.assert_array_equal(z, SOLVERS[name].solve(problem).z)


@pytest.mark.parametrize("name", list(SOLVERS))
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_kernels_stop_at_data_that_are_not_finite(name, bad):
    kernel, zero, inf = SOLVERS[name].kernel, np.zeros(2), np.full(2, np.inf)
    z, info = np.zeros(2), np.zeros(1, dtype=np.int64)
    for M, q, lower in (
        (np.array([[1, 0], [bad, 1]]), -np.ones(2), zero),
        (np.eye(2), np.array([-1, bad]), zero),
        (np.eye(2), -np.ones(2), np.array([0, bad])),
    ):
        assert kernel(M, q, lower, inf, np.zeros(0), 2, z, info) == Status.NOT_FINITE
        assert np.isnan(z).all()


def test_pgs_that_diverges_claims_nothing():
    """A positive definite matrix, but not symmetric: each sweep multiplies the error by -9."""
    solution = SOLVERS["pgs"].solve(MLCP([[1.0, -3], [3, 1]], [1.0, 1], -np.inf, np.inf))
    assert solution.claimed is Status.NOT_FINITE
    assert not solution.verified


def test_free_unknowns_with_a_singular_block():
    """judice-pires and murty need the free block regular; keller solves a consistent one all the same."""
    problem = MLCP([[1.0, 1], [1, 1]], [1.0, 1], -np.inf, np.inf)
    assert SOLVERS["judice-pires"].solve(problem).claimed is Status.SINGULAR
    assert SOLVERS["murty"].solve(problem).claimed is Status.SINGULAR
    assert_solved(SOLVERS["keller"].solve(problem))
