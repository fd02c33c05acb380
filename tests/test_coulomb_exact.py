"""Exact friction-cone solvers: closed forms, invariances, independent methods, and verified rates on random systems."""

import itertools

import cvxpy as cp
import numpy as np
import pytest

from workbench.algorithms import find_solver
from workbench.algorithms.base import EXACT
from workbench.judge.coulomb import judge
from workbench.problems.classes import ConicQP, CoulombNCP
from workbench.problems.solution import Status

COULOMB, CCP = find_solver("coulomb-exact"), find_solver("ccp-exact")
LAWS = [(COULOMB, CoulombNCP), (CCP, ConicQP)]
FRICTION = [0.0, 0.3, 1.0, 2.0]


def tangential(x, r, d):
    return x[r:].reshape(r, d)


def contact_rows(rng, d, tilt):
    """Rows [J_n; J_t] of one contact for the twist of its body: random point, normal within `tilt` rad of vertical."""
    point = rng.normal(size=1 + d) * 0.4
    if d == 1:
        angle = np.pi / 2 + rng.uniform(-tilt, tilt)
        frame = np.array([[np.cos(angle), np.sin(angle)], [np.sin(angle), -np.cos(angle)]])
        return np.hstack([frame, (point[0] * frame[:, 1] - point[1] * frame[:, 0])[:, None]])
    angle, heading = rng.uniform(0, tilt), rng.uniform(0, 2 * np.pi)
    normal = np.array([np.sin(angle) * np.cos(heading), np.sin(angle) * np.sin(heading), np.cos(angle)])
    tangent = np.cross(normal, rng.normal(size=3))
    tangent /= np.linalg.norm(tangent)
    frame = np.stack([normal, tangent, np.cross(normal, tangent)])
    return np.hstack([frame, np.cross(point, frame)])


def stack(rng, r, d, bodies, tilt=0.3):
    """(W, q) of a falling stack: body b touches the floor or a lower body, r contacts in all.

    With normals within 0.3 rad of vertical, lifting body b at speed b + 1 opens every contact at more than mu |u_t|,
    mu <= 2: the problem is strictly feasible, so the CCP and Coulomb's problem have solutions however redundant it is.
    """
    size = 3 * d
    J, inverse_mass = np.zeros((r * (1 + d), bodies * size)), np.empty(bodies * size)
    for b in range(bodies):
        inverse_mass[b * size : (b + 1) * size] = rng.uniform(0.3, 2)
        inverse_mass[b * size + 1 + d : (b + 1) * size] *= rng.uniform(1, 30)
    for i in range(r):
        upper = i % bodies
        lower = int(rng.integers(-1, upper)) if upper else -1
        at = [i, *range(r + d * i, r + d * (i + 1))]
        J[at, upper * size : (upper + 1) * size] = contact_rows(rng, d, tilt)
        if lower >= 0:
            J[at, lower * size : (lower + 1) * size] = -J[at, upper * size : (upper + 1) * size]
    W = J * inverse_mass @ J.T
    v = rng.normal(size=bodies * size)
    v[d::size] -= 1
    return (W + W.T) / 2, J @ v


def random_friction(rng, r):
    return rng.choice(FRICTION, size=r) if rng.random() < 0.5 else np.full(r, rng.choice(FRICTION))


def violation(W, q, z, mu, d, associated):
    """Largest violation of p in K, u in K* (or u_n >= 0) and p.u~ = 0, relative; no projection is involved."""
    r, u = len(mu), W @ z + q
    friction, slip = (np.linalg.norm(tangential(x, r, d), axis=1) for x in (z, u))
    shift = np.zeros(r) if associated else mu * slip
    work = z[:r] * (u[:r] + shift) + (tangential(z, r, d) * tangential(u, r, d)).sum(axis=1)
    p, w = max(np.linalg.norm(z), 1e-300), np.linalg.norm(W, 2) * np.linalg.norm(z) + np.linalg.norm(q)
    parts = (friction - mu * z[:r]) / p, -z[:r] / p, (mu * slip - u[:r] - shift) / w, np.abs(work) / (p * w)
    return max(part.max() for part in parts)


def test_no_residual_takes_an_adhesive_impulse_for_a_solution():
    """Without friction |p_t| <= mu p_n reads 0 <= 0 whatever the sign of p_n."""
    for _, problem in LAWS:
        for mu in (0.0, 0.3):
            assert problem(np.eye(3), [1.0, 0.0, 0.0], [mu]).residual(np.array([-1.0, 0.0, 0.0])) == 1


@pytest.mark.parametrize(("solver", "problem"), LAWS)
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("mu", FRICTION)
def test_one_contact_is_solved_to_round_off(solver, problem, d, mu):
    rng = np.random.default_rng(13)
    for k in range(60):
        B, q = rng.normal(size=(1 + d, int(rng.integers(1 + d, 7)))), rng.normal(size=1 + d)
        # The weaker the coupling, the fewer solutions; without it there is one.
        B[:, : 1 + d] = np.eye(1 + d) + (0.1, 0.4, 1.0, 1.5)[k % 4] * B[:, : 1 + d]
        found = solver.solve(problem(B @ B.T, q, np.array([mu]), d))
        assert found.residual <= 1e-12
        # No stage is needed after the contact's own equations.
        assert found.iterations == 1


def test_no_sliding_direction_is_lost_however_the_contact_is_coupled():
    """Maps that are not symmetric, to which a sliding solution is planted; directions close together among them."""
    rng, sliding = np.random.default_rng(12), 0
    for _ in range(80):
        W, mu, theta, slip = (
            rng.normal(size=(3, 3)),
            rng.choice([0.3, 1.0, 2.0]),
            rng.uniform(0, 2 * np.pi),
            rng.uniform(),
        )
        e = np.array([np.cos(theta), np.sin(theta)])
        z, u = np.append(1.0, mu * e), np.append(0.0, -slip * e)
        found = COULOMB.solve(CoulombNCP(W + 2 * np.eye(3), u - (W + 2 * np.eye(3)) @ z, np.array([mu])))
        assert found.residual <= 1e-10
        sliding += np.allclose(found.z, z, rtol=1e-6)
    assert sliding > 40


@pytest.mark.parametrize("v_x", [0.0, 0.01, -0.02, 1.0, -4.0])
def test_block_on_a_plane_sticks_or_slides_as_the_textbook_says(v_x):
    m, g, h, slope, mu = 2.0, 9.81, 1e-2, 0.2, 0.3
    q = np.array([-g * h * np.cos(slope), v_x + g * h * np.sin(slope), 0.0])
    W, normal = np.eye(3) / m, m * g * h * np.cos(slope)
    held = abs(q[1]) <= mu * abs(q[0])
    coulomb = COULOMB.solve(CoulombNCP(W, q, np.array([mu]))).z
    p_x = -m * q[1] if held else -mu * normal * np.sign(q[1])
    np.testing.assert_allclose(coulomb, [normal, p_x, 0.0], rtol=1e-14, atol=1e-15)
    # The CCP projects the sticking impulse onto the cone: its sliding block presses harder, and lifts off.
    ccp = CCP.solve(ConicQP(W, q, np.array([mu]))).z
    p_n = normal if held else (normal + mu * m * abs(q[1])) / (1 + mu**2)
    np.testing.assert_allclose(ccp, [p_n, p_x * p_n / normal, 0.0], rtol=1e-14, atol=1e-15)


def test_friction_on_a_particle_opposes_its_motion():
    rng = np.random.default_rng(14)
    for _ in range(50):
        m, mu, q = rng.uniform(0.1, 10), rng.uniform(0.1, 1), rng.normal(size=3)
        q[0] = -abs(q[0])
        z = COULOMB.solve(CoulombNCP(np.eye(3) / m, q, np.array([mu]))).z
        u = z / m + q
        slip = np.linalg.norm(u[1:])
        if slip > 1e-12:
            np.testing.assert_allclose(z[1:], -mu * z[0] * u[1:] / slip, rtol=1e-12)
        else:
            np.testing.assert_allclose(z, -m * q)


@pytest.mark.parametrize(("solver", "problem"), LAWS)
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("redundant", [False, True])
def test_every_strictly_feasible_system_is_solved_and_verified(solver, problem, d, redundant):
    rng = np.random.default_rng(15)
    deficient = 0
    for _ in range(60):
        r = int(rng.integers(1, 9))
        W, q = stack(rng, r, d, 1 + r // 4 if redundant else r)
        deficient += np.linalg.matrix_rank(W) < len(q)
        mu = random_friction(rng, r)
        solution = solver.solve(problem(W, q, mu, d))
        assert solution.claimed is Status.SOLVED
        assert solution.residual <= 1e-10
        assert violation(W, q, solution.z, mu, d, solver is CCP) <= EXACT
    assert (deficient > 15) == redundant


@pytest.mark.parametrize("d", [1, 2])
def test_coulomb_copes_with_strong_coupling(d):
    """Normals in all directions and mu = 2: the sweeps cycle on some of these."""
    rng = np.random.default_rng(16)
    for _ in range(60):
        r = int(rng.integers(4, 9))
        W, q = stack(rng, r, d, r, tilt=np.pi)
        assert COULOMB.solve(CoulombNCP(W, q, np.full(r, 2.0), d)).residual <= 1e-10


def test_ccp_copes_with_large_internal_stress():
    """Few bodies under many contacts in all directions: the alternation stalls on some."""
    rng = np.random.default_rng(17)
    for _ in range(40):
        r = int(rng.integers(4, 9))
        W, q = stack(rng, r, 2, 2, tilt=1.0)
        assert CCP.solve(ConicQP(W, q, np.full(r, 1.0))).residual <= 1e-10


def judged(W, q, z, mu, d):
    r, u = len(mu), W @ z + q
    return judge(z[:r], tangential(z, r, d), u[:r], tangential(u, r, d), mu, W, q)


@pytest.mark.parametrize("d", [1, 2])
def test_coulomb_answers_pass_the_judge_and_ccp_answers_lift_off_when_sliding(d):
    rng = np.random.default_rng(18)
    slides = 0
    for _ in range(60):
        r = int(rng.integers(1, 6))
        W, q = stack(rng, r, d, r)
        mu = np.full(r, 0.3)
        z = COULOMB.solve(CoulombNCP(W, q, mu, d)).z
        verdict = judged(W, q, z, mu, d)
        size = max(np.linalg.norm(z), np.linalg.norm(q), 1.0)
        assert verdict.natural_map <= 1e-10
        assert max(verdict.signorini, verdict.cone / size, verdict.dissipation / size**2) <= 1e-11
        z = CCP.solve(ConicQP(W, q, mu, d)).z
        u = W @ z + q
        slip = np.linalg.norm(tangential(u, r, d), axis=1)
        sliding = (slip > 1e-6) & (z[:r] > 1e-6)
        slides += sliding.sum()
        np.testing.assert_allclose(u[:r][sliding], 0.3 * slip[sliding], atol=1e-10 * size)
    assert slides > 20


def planar_coulomb_by_enumeration(W, q, mu):
    """All nondegenerate solutions of planar Coulomb contact: every contact open, sticking, sliding forth or back."""
    r, found = len(mu), []
    for modes in itertools.product(("open", "stick", 1.0, -1.0), repeat=r):
        A, b = np.zeros((2 * r, 2 * r)), np.zeros(2 * r)
        for i, mode in enumerate(modes):
            if mode == "open":
                A[i, i] = A[r + i, r + i] = 1
                continue
            A[i], b[i] = W[i], -q[i]
            if mode == "stick":
                A[r + i], b[r + i] = W[r + i], -q[r + i]
            else:
                A[r + i, r + i], A[r + i, i] = 1, -mode * mu[i]
        z = np.linalg.solve(A, b)
        u = W @ z + q
        valid = (z[:r] >= -1e-12) & (u[:r] >= -1e-12) & (np.abs(z[r:]) <= mu * z[:r] + 1e-12)
        against = np.array([1.0 if isinstance(m, str) else -m * u[r + i] for i, m in enumerate(modes)])
        if valid.all() and (against >= -1e-12).all():
            found.append(z)
    return found


def test_planar_coulomb_agrees_with_enumeration_of_the_modes():
    rng = np.random.default_rng(19)
    for _ in range(60):
        r = int(rng.integers(1, 4))
        W, q = stack(rng, r, 1, r)
        mu = rng.choice([0.3, 1.0, 2.0], size=r)
        z = COULOMB.solve(CoulombNCP(W, q, mu, 1)).z
        solutions = planar_coulomb_by_enumeration(W, q, mu)
        assert min(np.abs(z - s).max() for s in solutions) <= 1e-9 * max(1.0, np.abs(z).max())


@pytest.mark.parametrize("redundant", [False, True])
def test_ccp_has_the_velocity_that_clarabel_finds_and_satisfies_kkt(redundant):
    rng = np.random.default_rng(20)
    for r in (1, 2, 4, 6):
        W, q = stack(rng, r, 2, 1 if redundant else r)
        mu = np.full(r, 0.5)
        z = CCP.solve(ConicQP(W, q, mu)).z
        u, size = W @ z + q, max(1.0, np.abs(z).max())
        assert (np.linalg.norm(tangential(z, r, 2), axis=1) <= mu * z[:r] + 1e-11 * size).all()
        assert (mu * np.linalg.norm(tangential(u, r, 2), axis=1) <= u[:r] + 1e-11 * size).all()
        assert abs(z @ u) <= 1e-11 * size
        eigenvalues, vectors = np.linalg.eigh(W)
        factor = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
        x = cp.Variable(3 * r)
        cones = [cp.norm(x[r + 2 * i : r + 2 * i + 2]) <= mu[i] * x[i] for i in range(r)]
        cp.Problem(cp.Minimize(cp.sum_squares(factor.T @ x) / 2 + q @ x), cones).solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(u, W @ x.value + q, atol=1e-4)


@pytest.mark.parametrize(("solver", "problem"), LAWS)
def test_velocity_does_not_depend_on_the_tangent_frames(solver, problem):
    rng = np.random.default_rng(21)
    for _ in range(40):
        r = int(rng.integers(1, 5))
        W, q = stack(rng, r, 2, r)
        T = np.eye(3 * r)
        for i in range(r):
            angle, at = rng.uniform(0, 2 * np.pi), slice(r + 2 * i, r + 2 * i + 2)
            T[at, at] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        turned_W, mu = T @ W @ T.T, np.full(r, 0.3)
        u = W @ solver.solve(problem(W, q, mu)).z + q
        turned = turned_W @ solver.solve(problem((turned_W + turned_W.T) / 2, T @ q, mu)).z + T @ q
        np.testing.assert_allclose(turned, T @ u, atol=1e-9)


@pytest.mark.parametrize(("solver", "problem"), LAWS)
@pytest.mark.parametrize("scale", [(1e6, 1.0), (1e-6, 1e3), (1.0, 1e-8)])
def test_units_scale_the_answer(solver, problem, scale):
    rng = np.random.default_rng(22)
    s, c = scale
    for _ in range(30):
        r = int(rng.integers(1, 5))
        W, q = stack(rng, r, 2, r)
        mu = np.full(r, 0.3)
        z, scaled = solver.solve(problem(W, q, mu)).z, solver.solve(problem(s * W, c * q, mu)).z
        np.testing.assert_allclose(scaled * s / c, z, atol=1e-9 * max(1.0, np.abs(z).max()))


@pytest.mark.parametrize("d", [1, 2])
def test_without_friction_both_laws_are_the_normal_lcp(d):
    rng = np.random.default_rng(23)
    for _ in range(40):
        r = int(rng.integers(1, 8))
        W, q = stack(rng, r, d, r)
        coulomb, ccp = (s.solve(p(W, q, np.zeros(r), d)).z for s, p in LAWS)
        assert not coulomb[r:].any()
        assert np.abs(np.minimum(coulomb[:r], (W @ coulomb + q)[:r])).max() <= 1e-11 * max(1.0, np.abs(coulomb).max())
        np.testing.assert_allclose(coulomb, ccp, atol=1e-9 * max(1.0, np.abs(ccp).max()))


def test_coulomb_takes_maps_that_are_not_symmetric():
    rng = np.random.default_rng(24)
    for _ in range(40):
        r = int(rng.integers(1, 5))
        W, q = stack(rng, r, 2, r)
        W = W + 0.05 * np.abs(W).max() * rng.normal(size=W.shape) / np.sqrt(len(q)) + 0.2 * np.eye(len(q))
        assert COULOMB.solve(CoulombNCP(W, q, np.full(r, 0.3))).residual <= 1e-10


def test_one_contact_of_a_body_that_cannot_move_sideways():
    """W_tt = 0: no impulse changes the tangential velocity; the friction impulse is Coulomb's all the same."""
    W, q = np.diag([0.5, 0.0, 0.0]), np.array([-1.0, 3.0, 4.0])
    z = COULOMB.solve(CoulombNCP(W, q, np.array([0.5]))).z
    np.testing.assert_allclose(z, [2.0, -0.6, -0.8], rtol=1e-12)


@pytest.mark.parametrize(("solver", "problem"), LAWS)
def test_a_direction_without_motion_carries_no_friction(solver, problem):
    """A block between lateral guides, in space: whatever their friction, the smallest sticking impulse is taken."""
    W, q = np.diag([0.5, 0.4, 0.0]), np.array([-1.0, 0.1, 0.0])
    solution = solver.solve(problem(W, q, np.array([0.5])))
    np.testing.assert_allclose(solution.z, [2.0, -0.25, 0.0], atol=1e-14)
    assert solution.residual <= 1e-10


def test_jammed_rod_has_a_verified_solution():
    """W_nn + mu W_nt < 0 for one slide direction, as in Painleve's rod: any of the solutions will do."""
    W = np.array([[1.0, -0.8], [-0.8, 1.0]])
    for q_n in (-0.1, 0.1):
        solution = COULOMB.solve(CoulombNCP(W, np.array([q_n, -1.0]), np.array([2.0]), 1))
        assert solution.residual <= 1e-10


@pytest.mark.parametrize(("solver", "problem"), LAWS)
def test_problems_without_a_solution_are_not_claimed(solver, problem):
    """No impulse acts on a body of infinite mass, yet it approaches."""
    for r in (1, 2):
        solution = solver.solve(problem(np.zeros((3 * r, 3 * r)), -np.ones(3 * r), np.full(r, 0.3)))
        assert solution.claimed is Status.INACCURATE
        assert not solution.verified
        assert np.isfinite(solution.z).all()


@pytest.mark.parametrize("solver", [COULOMB, CCP])
@pytest.mark.parametrize("where", ["W", "q", "mu"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_kernels_called_directly_recognise_data_that_are_not_finite(solver, where, bad):
    W, q, mu, none = np.eye(6), -np.ones(6), np.full(2, 0.3), np.zeros(0)
    {"W": W, "q": q, "mu": mu}[where].flat[1] = bad
    assert solver.kernel(W, q, none, none, mu, 2, np.empty(6), np.zeros(1, dtype=np.int64)) == Status.NOT_FINITE


def test_nothing_to_solve_is_solved():
    none = np.zeros(0)
    info = np.zeros(1, dtype=np.int64)
    for solver, _ in LAWS:
        assert solver.kernel(np.zeros((0, 0)), none, none, none, none, 2, np.zeros(0), info) == Status.SOLVED


def test_a_solver_refuses_the_other_law_with_a_reason():
    solution = COULOMB.solve(ConicQP(np.eye(3), -np.ones(3), np.array([0.3])))
    assert solution.claimed is Status.REFUSED
    assert "Coulomb NCP" in solution.reason


@pytest.mark.parametrize("law", ["coulomb", "ccp"])
def test_a_start_that_is_the_solution_is_the_answer_at_once(law):
    """Few contacts, in one go; from nothing the same problem takes steps."""
    rng = np.random.default_rng(5)
    (W, q), mu = stack(rng, 3, 2, 3), np.full(3, 0.5)
    problem, solver = (CoulombNCP(W, q, mu, 2), COULOMB) if law == "coulomb" else (ConicQP(W, q, mu, 2), CCP)
    cold = solver.solve(problem)
    again = solver.solve_from(problem, cold.z)
    assert cold.verified
    assert again.verified
    assert again.iterations == 0 < cold.iterations
    assert again.z == pytest.approx(cold.z, abs=1e-12)
    # From a start that leads nowhere it begins again from zero.
    assert solver.solve_from(problem, np.full(problem.size, 1e6)).verified
