"""Clarabel, called directly and through CVXPY, and its fellows: convex contact problems only, answers that agree.

Problems are built backwards from a known complementary pair (z, w), q = w - M z, so that they have a solution and
their velocity w = M z + q, which is unique where M is positive semidefinite, is known.
"""

import subprocess
import sys

import clarabel
import numpy as np
import pytest

from workbench.algorithms import find_solver
from workbench.algorithms.quadratic import scaled
from workbench.problems.classes import LCP, MLCP, ConicQP, CoulombNCP
from workbench.problems.solution import Status
from workbench.support.errors import UnknownNameError

INF = np.inf


@pytest.fixture(scope="module", params=["clarabel", "cvxpy:CLARABEL", "cvxpy:SCS"])
def solver(request):
    pytest.importorskip("scs" if request.param == "cvxpy:SCS" else "cvxpy")
    return find_solver(request.param)


def delassus(rng, rows, bodies=2):
    """W = J M^-1 J^T for `rows` rows on rigid bodies of unequal inertia; rank at most 6 per body."""
    J = rng.standard_normal((rows, 6 * bodies))
    A = rng.standard_normal((6 * bodies, 6 * bodies))
    return J @ np.linalg.inv(A @ A.T + np.eye(6 * bodies)) @ J.T


def gram(rng, n, rank):
    F = rng.standard_normal((n, rank))
    return F @ F.T


def some_lcp(rng, n, rank):
    """An LCP with a known w, a fifth of the pairs degenerate (z_i = w_i = 0)."""
    M, kind = gram(rng, n, rank), rng.choice(3, n, p=[0.4, 0.4, 0.2])
    z, w = np.where(kind == 0, rng.random(n), 0.0), np.where(kind == 1, rng.random(n), 0.0)
    return LCP(M, w - M @ z), w


def some_mlcp(rng, n, rank):
    """A box MLCP with a known w and free, half-bounded, boxed and fixed unknowns."""
    lower = np.where(rng.random(n) < 0.3, -INF, -rng.random(n))
    upper = np.where(rng.random(n) < 0.3, INF, rng.random(n))
    upper = np.where((rng.random(n) < 0.2) & np.isfinite(lower), lower, upper)
    M, z = gram(rng, n, rank), np.clip(rng.standard_normal(n), lower, upper)
    w = np.where(z == lower, rng.random(n), 0.0) - np.where(z == upper, rng.random(n), 0.0)
    return MLCP(M, w - M @ z, lower, upper), w


def some_conic(rng, r, d, W=None):
    """A conic QP with a known w: contacts that are open, stick, or slide with u_n = mu |u_t|."""
    W = delassus(rng, r * (1 + d)) if W is None else W
    mu, z_n, fate = rng.uniform(0.1, 1.0, r), rng.random(r), rng.integers(0, 3, r)
    t = rng.standard_normal((r, d))
    t /= np.linalg.norm(t, axis=1)[:, None]
    z_n = np.where(fate == 0, 0.0, z_n)
    z_t = (mu * z_n * np.where(fate == 1, 0.5, 1.0))[:, None] * t
    slip = np.where(fate == 2, rng.random(r), 0.0)
    w_n = np.where(fate == 0, rng.random(r), mu * slip)
    w = np.concatenate([w_n, (-slip[:, None] * t).ravel()])
    return ConicQP(W, w - W @ np.concatenate([z_n, z_t.ravel()]), mu, d), w


def assert_solves(solver, problem, w):
    answer = solver.solve(problem)
    assert answer.claimed is Status.SOLVED, answer.reason
    assert answer.verified
    assert answer.residual <= 1e-6
    np.testing.assert_allclose(problem.M @ answer.z + problem.q, w, atol=1e-4)


@pytest.mark.parametrize("deficiency", [0, 2])
def test_lcp_has_its_unique_velocity(solver, deficiency):
    rng = np.random.default_rng(10 + deficiency)
    for n in (3, 5, 10):
        assert_solves(solver, *some_lcp(rng, n, n - deficiency))


@pytest.mark.parametrize("deficiency", [0, 2])
def test_box_mlcp_with_free_infinite_and_equal_bounds(solver, deficiency):
    rng = np.random.default_rng(20 + deficiency)
    for n in (3, 5, 5, 10):
        problem, w = some_mlcp(rng, n, n - deficiency)
        assert_solves(solver, problem, w)
        fixed = problem.lower == problem.upper
        np.testing.assert_array_equal(solver.solve(problem).z[fixed], problem.lower[fixed])


@pytest.mark.parametrize("d", [1, 2])
def test_conic_qp_has_its_unique_velocity(solver, d):
    """Up to six contacts on two bodies: with d = 2 and r > 4 the Delassus operator is rank-deficient."""
    rng = np.random.default_rng(30 + d)
    for r in range(1, 7):
        assert_solves(solver, *some_conic(rng, r, d))


def test_repeated_contacts_are_redundant_but_solved(solver):
    rng = np.random.default_rng(40)
    W = delassus(rng, 6)
    twice = np.array([0, 1, 0, 1, 2, 3, 4, 5, 2, 3, 4, 5])  # [n_1 n_2 n_1 n_2, t_1 (2) t_2 (2) t_1 (2) t_2 (2)]
    problem, w = some_conic(rng, 4, 2, W[np.ix_(twice, twice)])
    assert np.linalg.matrix_rank(problem.M) == 6
    assert_solves(solver, problem, w)


def test_one_contact_sticks_below_the_friction_limit(solver):
    m, v = 2.0, np.array([-1.0, 0.3, 0.2])
    answer = solver.solve(ConicQP(np.eye(3) / m, v, np.array([0.5])))
    np.testing.assert_allclose(answer.z, -m * v, atol=1e-6)


@pytest.mark.parametrize("d", [1, 2])
def test_one_contact_slides_on_the_cone_and_lifts_off(solver, d):
    """With W = I / m the answer is the projection of -m v on the cone, and the CCP leaves u_n = mu |u_t|."""
    m, mu, v = 2.0, 0.5, np.array([-1.0, 3.0, -4.0])[: 1 + d]
    slip = np.linalg.norm(v[1:])
    p_n = m * (-v[0] + mu * slip) / (1 + mu**2)
    answer = solver.solve(ConicQP(np.eye(1 + d) / m, v, np.array([mu]), d))
    np.testing.assert_allclose(answer.z, [p_n, *(-mu * p_n * v[1:] / slip)], atol=1e-6)
    u = answer.z / m + v
    assert u[0] == pytest.approx(mu * np.linalg.norm(u[1:]), abs=1e-6)


@pytest.mark.parametrize("d", [1, 2])
def test_frictionless_contacts_are_the_lcp_of_their_normals(solver, d):
    rng = np.random.default_rng(50 + d)
    r = 3
    W, q = delassus(rng, r * (1 + d)), rng.standard_normal(r * (1 + d)) - 0.5
    conic, lcp = solver.solve(ConicQP(W, q, np.zeros(r), d)), solver.solve(LCP(W[:r, :r], q[:r]))
    assert conic.verified
    np.testing.assert_array_equal(conic.z[r:], 0.0)
    np.testing.assert_allclose(conic.z[:r], lcp.z, atol=1e-5 * np.abs(lcp.z).max())


def test_a_frictionless_contact_beside_a_rough_one(solver):
    rng = np.random.default_rng(60)
    problem, _ = some_conic(rng, 3, 2)
    answer = solver.solve(ConicQP(problem.M, problem.q - 1.0, np.array([0.0, 0.7, 0.0])))
    assert answer.verified
    np.testing.assert_array_equal(answer.z[[3, 4, 7, 8]], 0.0)
    assert np.abs(answer.z[5:7]).max() > 0


@pytest.mark.parametrize(("impulse", "speed"), [(1e-6, 1.0), (1.0, 1e-5), (1e4, 1e3), (1e3, 1e-4)])
def test_units_do_not_matter(solver, impulse, speed):
    """z in other units (factor `impulse`) and M z + q in other units (`speed`) is the same answer in those units."""
    rng = np.random.default_rng(70)
    cone, _ = some_conic(rng, 3, 2)
    box, _ = some_mlcp(rng, 6, 6)
    W = speed / impulse * cone.M
    other_box = MLCP(speed / impulse * box.M, speed * box.q, impulse * box.lower, impulse * box.upper)
    for problem, other in ((cone, ConicQP(W, speed * cone.q, cone.mu)), (box, other_box)):
        here, there = solver.solve(problem), solver.solve(other)
        assert here.claimed is there.claimed is Status.SOLVED
        np.testing.assert_allclose(there.z / impulse, here.z, atol=1e-6 * np.abs(here.z).max())


def test_masses_in_unlike_units_are_equilibrated(solver):
    """M -> D M D over eight decades of diagonal D only renames the unknowns of an LCP."""
    rng = np.random.default_rng(80)
    problem, w = some_lcp(rng, 4, 4)
    D = np.array([1e-4, 1e-2, 1e2, 1e4])
    answer = solver.solve(LCP(D[:, None] * problem.M * D, D * problem.q))
    np.testing.assert_allclose(problem.M @ (D * answer.z) + problem.q, w, atol=1e-4)


@pytest.mark.parametrize("q_size", [1.0, 1e-9])
@pytest.mark.parametrize("far", [1e3, 1e12, 1e20])
def test_far_bounds_do_not_matter(solver, q_size, far):
    rng = np.random.default_rng(90)
    M, q = gram(rng, 5, 5) + np.eye(5), q_size * rng.standard_normal(5)
    near, bounded = solver.solve(LCP(M, q)), solver.solve(MLCP(M, q, np.zeros(5), np.full(5, far)))
    assert bounded.claimed is Status.SOLVED
    np.testing.assert_allclose(bounded.z, near.z, atol=1e-6 * np.abs(near.z).max())


def test_a_far_bound_that_stops_the_unknown_is_met(solver):
    """Nothing resists z here but its upper bound, 1e8 times further away than the gradient suggests."""
    answer = solver.solve(MLCP([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0], [0.0, 0.0], [1e8, 1e8]))
    assert answer.verified
    np.testing.assert_allclose(answer.z, 1e8, rtol=1e-4)


def test_nothing_to_push_against_needs_no_impulse(solver):
    for problem in (LCP(np.eye(2), np.zeros(2)), ConicQP(np.zeros((3, 3)), np.zeros(3), [0.5])):
        answer = solver.solve(problem)
        assert answer.claimed is Status.SOLVED
        np.testing.assert_array_equal(answer.z, 0.0)


@pytest.mark.parametrize(
    "problem",
    [
        LCP([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]),  # q^T (1, 1) < 0 on a null vector of M
        LCP([[0.0]], [-1.0]),
        MLCP([[1.0, 0.0], [0.0, 0.0]], [1.0, 0.5], [0.0, -INF], INF),  # a free unknown without resistance
        ConicQP(np.zeros((3, 3)), [-1.0, 0.0, 0.0], [0.5]),
        ConicQP(np.zeros((2, 2)), [1.0, 5.0], [0.5], 1),  # outside the dual cone only by its tangential part
    ],
)
def test_a_problem_without_solution_is_called_infeasible(solver, problem):
    answer = solver.solve(problem)
    assert answer.claimed is Status.INFEASIBLE
    assert not answer.verified
    assert "unbounded below" in answer.reason


def test_what_is_not_a_convex_qp_is_refused_with_a_number(solver):
    asymmetric, indefinite = LCP([[2.0, 1.0], [0.0, 2.0]], [-1.0, 1.0]), LCP([[1.0, 2.0], [2.0, 1.0]], [-1.0, 1.0])
    for problem, words in (
        (asymmetric, "not symmetric: |M - M^T|_max = 0.5"),
        (indefinite, "smallest eigenvalue -1"),
        (CoulombNCP(np.eye(3), -np.ones(3), [0.5]), "not Coulomb NCP"),
    ):
        assert words in solver.why_not(problem)
        answer = solver.solve(problem)
        assert answer.claimed is Status.REFUSED
        assert words in answer.reason
        assert np.isnan(answer.z).all()


def test_the_scaled_qp_keeps_an_interior_and_definiteness():
    """Equal bounds and mu = 0 pinch the set to measure zero; in scaled form they must not, nor make P singular."""
    rng = np.random.default_rng(105)
    M = gram(rng, 6, 6)
    pinched = MLCP(M, np.ones(6), [0.0, 1.0, -INF, -1.0, 2.0, 0.0], [0.0, 1.0, INF, 1.0, INF, INF])
    for problem in (pinched, ConicQP(M, np.ones(6), [0.0, 0.5])):
        qp = scaled(problem)
        assert (qp.lower < qp.upper).all()
        assert np.linalg.eigvalsh(qp.P)[0] > 1e-12
        np.testing.assert_allclose(qp.factor() @ qp.factor().T, qp.P, atol=1e-12)


def test_unknown_name_lists_the_installed_solvers():
    with pytest.raises(UnknownNameError, match=r"unknown CVXPY solver 'nosuch'; known: .*CLARABEL"):
        find_solver("cvxpy:nosuch")


def test_names_are_taken_in_any_case():
    assert {find_solver(f"cvxpy:{name}").name for name in ("clarabel", "Clarabel", "CLARABEL")} == {"cvxpy:CLARABEL"}


def test_a_qp_solver_takes_planar_friction_and_refuses_spatial():
    pytest.importorskip("osqp")
    osqp, rng = find_solver("cvxpy:osqp"), np.random.default_rng(110)
    assert "second-order cones" in osqp.why_not(some_conic(rng, 1, 2)[0])
    assert_solves(osqp, *some_conic(rng, 3, 1))
    assert_solves(osqp, *some_mlcp(rng, 5, 3))


def test_a_linear_programming_solver_is_refused():
    pytest.importorskip("cvxpy")
    scipy = find_solver("cvxpy:scipy")
    assert not scipy.solves
    assert "no quadratic objectives" in scipy.solve(LCP(np.eye(1), [-1.0])).reason


@pytest.mark.parametrize("name", ["clarabel", "scs"])
def test_programmes_remember_no_numbers(name):
    pytest.importorskip(name)
    solver, rng = find_solver(f"cvxpy:{name}"), np.random.default_rng(120)
    first, second = some_conic(rng, 2, 2)[0], some_conic(rng, 2, 2)[0]
    before = solver.solve(first).z
    solver.solve(second)
    np.testing.assert_array_equal(solver.solve(first).z, before)


def test_the_iteration_limit_is_reported():
    problem, _ = some_lcp(np.random.default_rng(130), 5, 5)
    for solver in (find_solver("clarabel"), find_solver("cvxpy:clarabel")):
        answer = solver.adjusted(None, 1).solve(problem)
        assert answer.claimed is Status.ITERATION_LIMIT
        assert answer.iterations <= 1
        assert answer.reason


def test_foreign_exceptions_become_a_status(monkeypatch):
    def explode(*_):
        raise RuntimeError("numbers\nfell out")

    monkeypatch.setattr(clarabel, "DefaultSolver", explode)
    for solver in (find_solver("clarabel"), find_solver("cvxpy:clarabel")):
        answer = solver.solve(LCP(np.eye(1), [-1.0]))
        assert answer.claimed is Status.INACCURATE
        assert not answer.verified
        assert answer.reason == f"{solver.name} raised RuntimeError: numbers fell out"


def test_importing_the_module_does_not_import_cvxpy():
    code = "import sys, workbench.algorithms.cvxpy_conic; sys.exit('cvxpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", ["clarabel", "cvxpy:CLARABEL"])
@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_contacts_that_nothing_couples_and_nothing_pushes_have_no_impulse_and_set_no_scale(name, mu):
    """Open contacts of the cube under MuJoCo's formulation: relaxation alone on the diagonal, gaps of any size."""
    gaps = np.array([8.8, 4e-6, 0.0, 3.0])
    W = np.diag(np.repeat([9e-6, 1.0], [4, 8]))
    # The third one is pushed.
    W[2, 2], W[2, 8] = 1.0, 0.5
    W[8, 2] = 0.5
    q = np.concatenate([gaps, np.zeros(8)])
    q[2] = -1e-3
    problem = ConicQP(W, q, np.full(4, mu))
    solution = find_solver(name).solve(problem)
    assert solution.verified
    assert not solution.z[[0, 1, 3, 4, 5, 6, 7, 10, 11]].any()
    assert solution.z[2] > 5e-4
    # Of two coupled contacts one is pushed, and pushes the other.
    W[0, 1] = W[1, 0] = -5e-6
    solution = find_solver(name).solve(ConicQP(W, np.concatenate([[1e-7, -1e-6], q[2:]]), np.full(4, mu)))
    assert solution.verified
    assert solution.z[0] > 0.01


def test_round_off_in_a_redundant_delassus_operator_is_no_reason_to_refuse():
    rng = np.random.default_rng(100)
    W = gram(rng, 9, 6)
    v = np.linalg.eigh(W)[1][:, 0]
    rounded = W - 1e-12 * np.linalg.norm(W, 2) * np.outer(v, v)
    assert find_solver("clarabel").why_not(ConicQP(rounded, np.ones(9), np.full(3, 0.5))) is None
