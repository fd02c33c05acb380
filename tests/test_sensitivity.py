"""Derivatives of solutions against closed forms, differences of solutions, and the exact inverse."""

from fractions import Fraction

import numpy as np
import pytest

from workbench.algorithms import ROUND_OFF, find_solver
from workbench.algorithms.asking import solved_from
from workbench.derivatives.linearised import change_of
from workbench.derivatives.sensitivity import sensitivity_of
from workbench.problems.classes import LCP, MLCP, ConicQP, CoulombNCP
from workbench.problems.friction_problem import FrictionProblem
from workbench.problems.mixed import MixedNCP
from workbench.problems.sets import APART, ASSOCIATED, COULOMB, DISC, NO_CONE, Sets
from workbench.support.errors import DataError

EXACT = 1e-10


def solution(problem, start=None):
    solver = find_solver(ROUND_OFF[problem.kind])
    found = solved_from(solver, problem, np.zeros(problem.size) if start is None else start)
    assert found.verified, found.why_not
    return found.z


def nearby(problem, change, step):
    """The problem whose data have moved by a step along a change, given as `Sensitivity.along` takes it."""
    data = {
        name: getattr(problem, name)
        for name in ("M", "q", "mu", "lower", "upper", "d", "sets")
        if hasattr(problem, name)
    }
    data |= {name: data[name] + step * np.asarray(value) for name, value in change.items()}
    if type(problem) is LCP:
        data = {name: data[name] for name in ("M", "q")}
    return type(problem)(**data)


def differences(problem, z, change, h):
    """Of the solution, central, of fourth order by two steps."""

    def slope(step):
        ahead, behind = (solution(nearby(problem, change, s), z) for s in (step, -step))
        return (ahead - behind) / (2 * step)

    return (4 * slope(h / 2) - slope(h)) / 3


def one_contact(law, mu=0.5):
    """A point on a body whose inertia couples normal and tangential motion; also M^-1 J^T and J."""
    inverse = np.linalg.inv(np.array([[2, 0, 0.6], [0, 2, 0], [0.6, 0, 2]]))
    J = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]], dtype=float)
    free = np.array([0.6, 0.8, 0.0]) + 0.01 * inverse @ np.array([0.0, 0.0, -2 * 9.81])
    return law(J @ inverse @ J.T, J @ free, np.array([mu]), 2), inverse @ J.T, J


def test_one_sliding_contact_in_space():
    problem, to_velocity, J = one_contact(CoulombNCP)
    s = sensitivity_of(problem, solution(problem))
    assert s.verdict[0].name == "SMOOTH"
    assert [place.mode.name for place in s.places] == ["SLIDES"]
    (by_mu,) = s.along(mu=[1.0])
    np.testing.assert_allclose(to_velocity @ by_mu.z, [-27 / 545, -36 / 545, 0.0], atol=EXACT)
    (by_speed,) = s.along(q=J[:, 0])
    np.testing.assert_allclose([1, 0, 0] + to_velocity @ by_speed.z, [2653 / 2725, 27 / 1090, 0.0], atol=EXACT)
    problem, to_velocity, _ = one_contact(ConicQP)
    (by_mu,) = sensitivity_of(problem, solution(problem)).along(mu=[1.0])
    np.testing.assert_allclose(to_velocity @ by_mu.z, [-0.39763673077, -0.485815930128, 0.425930547574], atol=1e-11)


def test_naive_derivatives_of_one_sliding_contact_are_off():
    """By so much as the theory says, and the sensitivity is not: Coulomb's law as a CCP with its shift held fixed, the
    sliding direction held fixed, the adjoint by the matrix that is not transposed."""
    problem, to_velocity, J = one_contact(CoulombNCP)
    z = solution(problem)
    s = sensitivity_of(problem, z)
    by_mu = to_velocity @ s.along(mu=[1.0])[0].z
    by_speed = [1, 0, 0] + to_velocity @ s.along(q=J[:, 0])[0].z

    def off(naive, right):
        return np.linalg.norm(naive - right) / np.linalg.norm(right)

    W, mu = np.asarray(problem.M), 0.5
    u = W @ z + problem.q
    speed, e = np.hypot(u[1], u[2]), u[1:] / np.hypot(u[1], u[2])
    shifted = sensitivity_of(ConicQP(W, problem.q + np.array([mu * speed, 0, 0]), problem.mu, 2), z)
    assert off(to_velocity @ shifted.along(mu=[1.0], q=[speed, 0, 0])[0].z, by_mu) == pytest.approx(0.46, abs=5e-3)
    assert off([1, 0, 0] + to_velocity @ shifted.along(q=J[:, 0])[0].z, by_speed) == pytest.approx(0.28, abs=5e-3)
    ray = np.array([1.0, *(-mu * e)])
    held = [1, 0, 0] - to_velocity @ ray * J[0, 0] / (W[0] @ ray)
    assert off(held, by_speed) == pytest.approx(0.037, abs=5e-4)
    given = to_velocity[0]
    right, system = s.gradient(given).q, s.system
    wrong = -system.L @ np.linalg.solve(system.S, system.R.T @ given)
    assert np.abs(wrong / right - 1).max() == pytest.approx(0.018, abs=5e-4)
    change = np.array([0.3, -0.2, 0.5])
    assert right @ change == pytest.approx(given @ s.along(q=change)[0].z, abs=EXACT)


def test_a_contact_that_sticks_has_derivative_zero_by_friction():
    problem = CoulombNCP(np.eye(3), np.array([-1.0, 0.1, 0.0]), np.array([0.5]), 2)
    (found,) = sensitivity_of(problem, solution(problem)).along(mu=[1.0])
    assert not found.z.any()
    assert not found.F.any()


def test_one_sliding_contact_in_the_plane_under_three_laws():
    W, q = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([-2.0, 4.0])
    for law, impulse, velocity in (
        (CoulombNCP, 8 / 9, [0.0, -40 / 9]),
        (ConicQP, 48 / 49, [-40 / 49, -360 / 49]),
    ):
        problem = law(W, q, np.array([0.5]), 1)
        (found,) = sensitivity_of(problem, solution(problem)).along(mu=[1.0])
        assert found.z[0] == pytest.approx(impulse, abs=EXACT)
        np.testing.assert_allclose(found.F, velocity, atol=EXACT)
    sets = Sets([NO_CONE, DISC], [0, 1, 2], [0, 1], [0, 0, 1])
    problem = MixedNCP(W, q, np.zeros(2), np.full(2, np.inf), np.array([0.5]), sets)
    (found,) = sensitivity_of(problem, solution(problem)).along(mu=[1.0])
    np.testing.assert_allclose([found.z[0], found.F[1]], [0.5, -2.5], atol=EXACT)


def test_an_lcp_between_two_bases_has_one_sided_derivatives():
    s = sensitivity_of(LCP([[2.0, 1.0], [1.0, 2.0]], [-2.0, -1.0]), [1.0, 0.0])
    assert s.verdict[0].name == "KINK"
    for dq, dz in {
        (1, 0): (-2 / 3, 1 / 3), (1, 1): (-1 / 2, 0), (0, 1): (0, 0), (-1, 1): (1 / 2, 0), (-1, 0): (1 / 2, 0),
        (-1, -1): (1 / 3, 1 / 3), (0, -1): (-1 / 3, 2 / 3), (1, -1): (-1, 1),
    }.items():  # fmt: skip
        (found,) = s.along(q=np.array(dq, dtype=float))
        np.testing.assert_allclose(found.z, dz, atol=EXACT)
    s = sensitivity_of(LCP([[1.0, 2.0], [2.0, 1.0]], [-1.0, -2.0]), [1.0, 0.0])
    assert s.verdict[0].name == "SEVERAL"
    several = sorted(tuple(found.z) for found in s.along(q=[0.0, 1.0]))
    np.testing.assert_allclose(several, [(-2 / 3, 1 / 3), (0, 0)], atol=EXACT)
    assert s.along(q=[0.0, -1.0]) == []
    with pytest.raises(DataError, match="no gradient"):
        s.gradient(np.ones(2))


@pytest.mark.parametrize("apart", [1e-6, 1e-9, 1e-11])
def test_one_solution_nearby_has_one_derivative_however_nearly_singular(apart):
    """M = [[1, 1 - a], [1 - a, 1]] is a P-matrix; y = (0, 1) and (1, 0) break a sign by a alone."""
    M = np.array([[1.0, 1.0 - apart], [1.0 - apart, 1.0]])
    s = sensitivity_of(LCP(M, np.zeros(2)), np.zeros(2))
    assert s.verdict[0].name == "KINK"
    for shift, dz in {0.0: (0.5, 0.5), 0.5: (0.75, 0.25), 2.0: (1.0, 0.0)}.items():
        (found,) = s.along(q=[-1.0, shift * apart - 1.0])
        np.testing.assert_allclose(found.z, dz, rtol=0, atol=2e-4)


def test_a_schur_complement_of_rounding_is_no_p_matrix():
    """Three rows over two velocities, the first two nearly alike: with the third, which neither bears nor moves, S is
    singular, and its Schur complement a rounding error of either sign."""
    rng = np.random.default_rng(0)
    for turn in 10 ** rng.uniform(-5, -3, 20):
        angle = rng.uniform(0, 6) + turn * np.arange(3)
        J = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        W, z = J @ J.T, np.array([1.0, 1.0, 0.0])
        kind, reason = sensitivity_of(LCP(W, -W @ z), z).verdict
        assert kind.name in ("UNDECIDED", "SEVERAL"), (turn, reason)


def test_redundant_contacts_determine_velocities_only_where_they_do():
    two = sensitivity_of(LCP(np.ones((2, 2)), -np.ones(2)), [0.5, 0.5])
    assert two.verdict[0].name == "SINGULAR"
    with pytest.raises(DataError, match="contradict"):
        two.along(q=[1.0, 0.0])
    (both,) = two.along(q=[1.0, 1.0])
    np.testing.assert_allclose(both.F, 0.0, atol=EXACT)


def test_outputs_are_determined_where_impulses_are_not():
    """The sum of two equal contacts' impulses moves with both gaps; either one of them may be any."""
    two = sensitivity_of(LCP(np.ones((2, 2)), -np.ones(2)), [0.5, 0.5])
    (found,) = two.along(np.ones((1, 2)), q=[1.0, 1.0])
    assert found.z.sum() == pytest.approx(-1.0, abs=EXACT)
    with pytest.raises(DataError, match="outputs are not determined"):
        two.along(np.array([[1.0, 0.0]]), q=[1.0, 1.0])
    # At an end of the solution set one of them stands between its bound and its velocity.
    end = sensitivity_of(LCP(np.ones((2, 2)), -np.ones(2)), [1.0, 0.0])
    (found,) = end.along(np.ones((1, 2)), q=[1.0, 1.0])
    assert found.z.sum() == pytest.approx(-1.0, abs=EXACT)


def sliding_box(mu):
    """A box of 1 kg, sliding at 1 m/s on four feet of friction mu (4,) half a metre below its centre; W and J."""
    feet = [(x, y) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    J = np.zeros((12, 6))
    for i, (x, y) in enumerate(feet):
        J[i] = [0, 0, 1, y, -x, 0]
        J[4 + 2 * i] = [1, 0, 0, 0, -0.5, -y]
        J[5 + 2 * i] = [0, 1, 0, 0.5, 0, x]
    v = np.array([1.0, 0, -0.0981, 0, 0, 0])
    return CoulombNCP(J @ J.T, J @ v, np.asarray(mu, dtype=float)), J


def test_a_load_shared_between_bodies_that_press_against_each_other_is_said_to_be_redundant():
    """Two normals press against each other with what just keeps a third row at its bound. They share the load in other
    ways as long as it stays there, although the three together are regular."""
    M = np.array([[1.0, -1, -1], [-1, 1, -1], [1, 1, 1]])
    z = np.array([1.0, 1, 0])
    s = sensitivity_of(LCP(M, -M @ z), z)
    (found,) = s.along(q=[1.0, 1, 0])
    np.testing.assert_allclose(found.z, [-0.5, -0.5, 1], atol=EXACT)
    with pytest.raises(DataError, match="contacts are redundant"):
        s.along(q=[-1.0, -1, 0])


def test_a_sliding_box_has_a_velocity_whose_load_sharing_is_open():
    problem, J = sliding_box(np.full(4, 0.5))
    s = sensitivity_of(problem, solution(problem))
    assert s.verdict[0].name == "SINGULAR"
    (found,) = s.along(mu=np.ones(4))
    slip = np.linalg.lstsq(J, found.F)[0]
    np.testing.assert_allclose(slip, [-0.0981, 0, 0, 0, 0, 0], atol=EXACT)
    with pytest.raises(DataError, match="share the load"):
        s.along(mu=[1.0, 0, 0, 0])
    problem, _ = sliding_box([0.3, 0.4, 0.5, 0.6])
    with pytest.raises(DataError, match="velocities are not determined"):
        sensitivity_of(problem, solution(problem)).along(mu=np.ones(4))


def random_mixed(rng, cones, between=()):
    """A problem of contacts in space with a solution of given modes, W positive definite; and that solution."""
    first = np.append(0, np.cumsum([m for m, _, _ in cones]))
    n = int(first[-1])
    X = rng.normal(size=(n, n + 2))
    W, z, F = X @ X.T / n, np.zeros(n), np.zeros(n)
    mu = []
    for i, (m, law, mode) in enumerate(cones):
        a = slice(first[i], first[i + 1])
        e = rng.normal(size=m - (law != DISC))
        e /= np.linalg.norm(e)
        c, p, s = rng.uniform(0.3, 1.0), rng.uniform(0.5, 2.0), rng.uniform(0.5, 2.0)
        k = c if law == ASSOCIATED else 0.0
        if law == DISC:
            z[a] = {"slides": -c * e, "sticks": -0.5 * c * e, "edge": -c * e}[mode]
            F[a] = s * e if mode == "slides" else 0.0
        else:
            z[a] = {"slides": [p, *(-c * p * e)], "edge": [p, *(-c * p * e)], "sticks": [p, *(-0.5 * c * p * e)]}.get(
                mode, 0.0
            )
            F[a] = {"slides": [k * s, *(s * e)], "open": [k * s + 1.0, *(s * e)], "touch": [k * s, *(s * e)]}.get(
                mode, 0.0
            )
        mu.append(c)
    sets = Sets([law for _, law, _ in cones], first, np.arange(n), np.arange(len(cones) + 1))
    return MixedNCP(W, F - W @ z, np.full(n, -np.inf), np.full(n, np.inf), np.array(mu), sets), z


@pytest.mark.parametrize("law", [ASSOCIATED, COULOMB, DISC])
def test_smooth_derivatives_are_those_of_differences(law):
    rng = np.random.default_rng(21)
    tried = 0
    for _ in range(12):
        modes = ["slides", "sticks"] if law == DISC else ["slides", "sticks", "open"]
        problem, z = random_mixed(rng, [(2 if law == DISC else 3, law, rng.choice(modes)) for _ in range(3)])
        s = sensitivity_of(problem, z)
        if s.verdict[0].name != "SMOOTH" or s.system.condition > 1e4:
            continue
        tried += 1
        n = problem.size
        for change in (
            {"q": rng.normal(size=n)}, {"mu": rng.normal(size=3)}, {"M": (lambda X: X + X.T)(rng.normal(size=(n, n)))},
        ):  # fmt: skip
            (found,) = s.along(**change)
            by_differences = differences(problem, z, change, 1e-3 * min(1.0, s.margin))
            scale = np.abs(by_differences).max()
            np.testing.assert_allclose(found.z, by_differences, atol=1e-6 * scale, rtol=0)
            # The gradient of a weighted sum, by one transposed solve.
            weight = rng.normal(size=n)
            given, back = change_of(problem, **change), s.gradient(weight)
            total = sum(float((x * y).sum()) for x, y in zip(given, back, strict=True))
            assert total == pytest.approx(weight @ found.z, rel=1e-9, abs=1e-12 * scale)
    assert tried >= 8


@pytest.mark.parametrize("law", [ASSOCIATED, COULOMB])
def test_an_ellipse_of_friction_coefficients_has_the_derivatives_of_differences(law):
    """An ellipse beside a round cone, their unknowns in any order: every direction of the ellipse has its own unit."""
    rng, tried = np.random.default_rng(3), 0
    for _ in range(8):
        plain, z = random_mixed(rng, [(3, law, rng.choice(["slides", "sticks"])) for _ in range(2)])
        unit, order = np.array([1.0, 1.0, rng.uniform(0.3, 0.8), 1.0, 1.0, 1.0]), rng.permutation(6)
        back = np.argsort(order)
        M, q, z = (plain.M / np.outer(unit, unit))[np.ix_(back, back)], (plain.q / unit)[back], (unit * z)[back]
        mu = np.array([*(plain.mu[0] * unit[1:3]), plain.mu[1]])
        problem = MixedNCP(M, q, plain.lower, plain.upper, mu, Sets([law, law], [0, 3, 6], order, [0, 2, 3]))
        s = sensitivity_of(problem, z)
        if s.verdict[0].name != "SMOOTH" or s.system.condition > 1e4:
            continue
        tried += 1
        weight, h = rng.normal(size=6), 1e-3 * min(1.0, s.margin)
        gradient = s.gradient(weight)
        # The coefficients of an ellipse do not change.
        for change in ({"q": rng.normal(size=6)}, {"mu": [0.0, 0.0, 1.0]}, {"M": rng.normal(size=(6, 6))}):
            (found,) = s.along(**change)
            by_differences = differences(problem, z, change, h)
            scale = np.abs(by_differences).max()
            np.testing.assert_allclose(found.z, by_differences, atol=1e-6 * scale, rtol=0)
            ends = [nearby(problem, change, t).velocity(z + t * found.z) for t in (h, -h)]
            np.testing.assert_allclose(found.F, (ends[0] - ends[1]) / (2 * h), atol=1e-9 * scale, rtol=0)
            total = sum(float((x * y).sum()) for x, y in zip(change_of(problem, **change), gradient, strict=True))
            assert total == pytest.approx(weight @ found.z, rel=1e-9, abs=1e-12 * scale)
    assert tried >= 6


@pytest.mark.parametrize("law", [ASSOCIATED, COULOMB, DISC])
def test_one_sided_derivatives_are_those_of_differences(law):
    rng = np.random.default_rng(4)
    tried = 0
    for _ in range(12):
        mode = "edge" if law == DISC else rng.choice(["edge", "touch"])
        m, other = (2, "slides") if law == DISC else (3, rng.choice(["slides", "sticks", "open"]))
        problem, z = random_mixed(rng, [(m, law, mode), (m, law, other)])
        s = sensitivity_of(problem, z)
        assert s.places[0].mode.name == {"edge": "EDGE", "touch": "TOUCHES"}[mode]
        if s.verdict[0].name != "KINK" or s.system.condition > 1e4:
            continue
        for change in ({"q": rng.normal(size=problem.size)}, {"mu": rng.normal(size=2)}):
            tried += 1
            (found,) = s.along(**change)
            step = 1e-6
            one_sided = (solution(nearby(problem, change, step), z + step * found.z) - z) / step
            np.testing.assert_allclose(found.z, one_sided, atol=2e-4 * np.abs(one_sided).max() + 1e-9, rtol=0)
    assert tried >= 12


def test_a_contact_with_neither_force_nor_velocity_is_recognised():
    rng = np.random.default_rng(6)
    for law in (ASSOCIATED, COULOMB):
        problem, z = random_mixed(rng, [(3, law, "nothing"), (3, law, "slides")])
        s = sensitivity_of(problem, z)
        assert s.places[0].mode.name == "NOTHING"
        assert s.margin == 0.0
        kind, _ = s.verdict
        assert kind.name == ("KINK" if law == ASSOCIATED else "UNDECIDED")
        dq = rng.normal(size=6)
        found = s.along(q=dq)
        step = 1e-6
        one_sided = (solution(nearby(problem, {"q": dq}, step), z + step * found[0].z) - z) / step
        np.testing.assert_allclose(found[0].z, one_sided, atol=2e-4 * np.abs(one_sided).max(), rtol=0)


def test_what_does_not_prove_one_solution_nearby_proves_none():
    rng = np.random.default_rng(9)
    problem, z = random_mixed(rng, [(3, COULOMB, "nothing"), (3, COULOMB, "sticks")])
    assert sensitivity_of(problem, z).verdict[0].name == "UNDECIDED"
    twice = ConicQP(np.kron(np.diag([1.0, 2.0, 2.0]), np.ones((2, 2))), np.zeros(6), np.full(2, 0.5), 2)
    assert sensitivity_of(twice, np.zeros(6)).verdict[0].name == "UNDECIDED"


def test_the_margin_is_that_of_the_weakest_inequality():
    """With W = 1 impulses and velocities have one unit: pressed by 1 a contact slides at 1e-6, or holds by as much."""
    for beyond in (1e-6, -1e-6):
        problem = CoulombNCP(np.eye(2), np.array([-1.0, 0.5 + beyond]), np.array([0.5]), 1)
        s = sensitivity_of(problem, solution(problem))
        assert s.places[0].mode.name == ("SLIDES" if beyond > 0 else "STICKS")
        assert s.margin == pytest.approx(1e-6 / np.hypot(1.0, 0.5), rel=1e-5)


def test_rows_with_bounds():
    """Bounds that move carry what stands at them; equal bounds have one velocity or may be left."""
    M, q = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]]), np.array([-9.0, 1.0, -1.0])
    problem = MLCP(M, q, np.array([0.0, 0.5, -np.inf]), np.array([2.0, 0.5, np.inf]))
    s = sensitivity_of(problem, solution(problem))
    assert [place.mode.name for place in s.places] == ["AT_UPPER", "FIXED", "INSIDE"]
    (found,) = s.along(upper=[1.0, 0.0, 0.0], lower=[0.0, 0.0, 0.0])
    np.testing.assert_allclose(found.z, [1.0, 0.0, 0.0], atol=EXACT)
    back = s.gradient(np.array([1.0, 10.0, 100.0]))
    np.testing.assert_allclose(back.upper, [1.0, 0.0, 0.0], atol=EXACT)
    # z_3 = (1 - z_2) / 2
    np.testing.assert_allclose(back.lower, [0.0, 10.0 - 50.0, 0.0], atol=EXACT)
    loose = MLCP(np.eye(1), np.array([-1.0]), np.ones(1), np.ones(1))
    s = sensitivity_of(loose, np.ones(1))
    assert s.places[0].mode.name == "LOOSE"
    for given, expected in ((0.5, 0.5), (2.0, 1.0), (-2.0, -0.25)):
        (found,) = s.along(q=[-given], lower=[-0.25], upper=[1.0])
        assert found.z[0] == pytest.approx(expected, abs=EXACT)


def test_the_gradient_of_rows_with_bounds_is_the_derivative_of_their_closed_form():
    """An unsymmetric M: rows at bounds move with these, the one between them by its own equation. Equal bounds hold by
    a velocity of either sign, and then it is the lower or the upper one that holds."""
    rng = np.random.default_rng(12)
    for _ in range(10):
        M = rng.normal(size=(5, 5)) + 4 * np.eye(5)
        # At the lower bound, at the upper one, fixed by a velocity of either sign, inside.
        z, F = rng.normal(size=5), np.array([1.0, -1.0, 1.0, -1.0, 0.0]) * rng.uniform(0.5, 2.0, size=5)
        lower, upper = z - np.array([0, 1, 0, 0, 1]), z + np.array([1, 0, 0, 0, 1])
        s = sensitivity_of(MLCP(M, F - M @ z, lower, upper), z)
        assert [place.mode.name for place in s.places] == ["AT_LOWER", "AT_UPPER", "FIXED", "FIXED", "INSIDE"]
        weight, held = rng.normal(size=5), {"lower": [0, 2], "upper": [1, 3]}
        back = s.gradient(weight)
        for name in ("M", "q", "lower", "upper"):
            change = rng.normal(size=(5, 5) if name == "M" else 5)
            moved = change @ z if name == "M" else change if name == "q" else np.zeros(5)
            dz = np.zeros(5)
            if name in held:
                dz[held[name]] = change[held[name]]
            dz[4] = -(M[4] @ dz + moved[4]) / M[4, 4]
            (found,) = s.along(**{name: change})
            np.testing.assert_allclose(found.z, dz, atol=EXACT, err_msg=name)
            np.testing.assert_allclose(found.F, M @ dz + moved, atol=EXACT, err_msg=name)
            given = change_of(s.problem, **{name: change})
            total = sum(float((x * y).sum()) for x, y in zip(given, back, strict=True))
            assert total == pytest.approx(weight @ dz, abs=EXACT), name


def test_an_lcp_moves_by_the_exact_inverse_of_its_basis():
    """Rationals: dz of the basis is -M_aa^-1 (dq + dM z)_a."""
    rng = np.random.default_rng(8)
    for _ in range(20):
        n = 4
        X = rng.integers(-3, 4, size=(n, n))
        M = (X @ X.T + np.eye(n, dtype=int) * 2).astype(float)
        M[0, 1] += 1
        q = rng.integers(-5, 3, size=n).astype(float)
        problem = LCP(M, q)
        s = sensitivity_of(problem, solution(problem))
        if s.verdict[0].name != "SMOOTH":
            continue
        dq = rng.integers(-4, 5, size=n)
        a = [k for k, place in enumerate(s.places) if place.mode.name == "INSIDE"]
        rows = [[Fraction(int(M[i, j])) for j in a] + [Fraction(-int(dq[i]))] for i in a]
        for k in range(len(a)):
            pivot = next(i for i in range(k, len(a)) if rows[i][k])
            rows[k], rows[pivot] = rows[pivot], rows[k]
            rows[k] = [x / rows[k][k] for x in rows[k]]
            for i in range(len(a)):
                if i != k:
                    rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
        expected = np.zeros(n)
        expected[a] = [float(row[-1]) for row in rows]
        (found,) = s.along(q=dq)
        np.testing.assert_allclose(found.z, expected, atol=1e-12)


def test_what_has_no_sensitivity_says_why():
    problem, z = LCP(np.eye(2), -np.ones(2)), np.ones(2)
    s = sensitivity_of(problem, z)
    for change, words in (
        ({"mu": np.ones(2)}, "has no 'mu'"), ({"q": np.ones(3)}, r"shape \(3,\)"), ({"q": [np.nan, 0.0]}, "not finite"),
    ):  # fmt: skip
        with pytest.raises(DataError, match=words):
            s.along(**change)
    with pytest.raises(DataError, match="not a solution: its residual is"):
        sensitivity_of(problem, np.zeros(2))
    with pytest.raises(DataError, match="not a batch"):
        sensitivity_of(
            LCP(np.eye(2), -np.ones((3, 2))) if False else LCP(np.tile(np.eye(2), (3, 1, 1)), -np.ones((3, 2))), z
        )
    apart = MixedNCP(
        np.eye(3), -np.ones(3), np.zeros(3), np.zeros(3), np.ones(2), Sets([APART], [0, 3], range(3), [0, 2])
    )
    with pytest.raises(DataError, match="separate torsion and rolling bounds"):
        sensitivity_of(apart, np.zeros(3), 0.0)
    empty = sensitivity_of(CoulombNCP(np.zeros((0, 0)), np.zeros(0), np.zeros(0)), np.zeros(0))
    assert empty.verdict[0].name == "SMOOTH"
    assert empty.along()[0].z.size == 0


def test_without_friction_a_contact_has_no_direction_to_turn_in():
    W = np.diag([1.0, 2.0, 3.0])
    problem = FrictionProblem(W, np.array([-1.0, 0.5, 0.0]), np.zeros(1)).coulomb()
    s = sensitivity_of(problem, solution(problem))
    (by_q,) = s.along(q=[1.0, 1.0, 1.0])
    np.testing.assert_allclose(by_q.z, [-1.0, 0.0, 0.0], atol=EXACT)
    # Friction that begins opposes the slip, which is along the first direction.
    (by_mu,) = s.along(mu=[1.0])
    np.testing.assert_allclose(by_mu.z, [0.0, -1.0, 0.0], atol=EXACT)


def test_modes_that_the_solution_does_not_tell_apart_are_said_to_be_vague():
    """A row at its lower bound moves with 1e-9, or 1e-5, beside two rows that are redundant but for 1e-7."""
    M = np.array([[1.0, 1.0, 0.0], [1.0, 1.0 + 1e-7, 0.0], [0.0, 0.0, 1.0]])
    lower, upper, z = np.array([-np.inf, -np.inf, -1.0]), np.array([np.inf, np.inf, 1.0]), np.array([1.0, 0.5, -1.0])
    for speed, is_vague in ((1e-9, True), (1e-5, False)):
        found = sensitivity_of(MLCP(M, np.array([0.0, 0.0, speed]) - M @ z, lower, upper), z)
        assert found.is_vague == is_vague
        assert (found.margin == 0.0) == is_vague


@pytest.mark.parametrize("z", [(0.5, 0.5), (1.0, 0.0)], ids=["both bear", "one bears"])
def test_gradients_of_redundant_contacts_are_those_of_what_their_load_sharing_does_not_move(z):
    """Two equal contacts: z_1 + z_2 = -q where both have the same q, and nothing is known of z_1 alone."""
    s = sensitivity_of(LCP(np.ones((2, 2)), -np.ones(2)), np.array(z))
    found = s.gradient(np.ones(2), limiting=True)
    assert found.q.sum() == pytest.approx(-1)
    with pytest.raises(DataError, match="load sharing is not determined"):
        s.gradient(np.array([1.0, 0.0]), limiting=True)


def test_where_several_solutions_meet_there_is_no_gradient_of_one_side():
    """M is no P-matrix, and both unknowns are zero without velocity."""
    s = sensitivity_of(LCP(np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros(2)), np.zeros(2))
    assert s.verdict[0] == "not the only solution nearby, or none nearby"
    for limiting in (False, True):
        with pytest.raises(DataError, match=r"no gradient: .*is not a P-matrix"):
            s.gradient(np.ones(2), limiting)


def test_a_solution_is_improved_to_round_off_first():
    """By 1e-8; the derivative of a contact that slides depends on it."""
    problem, exact = (
        CoulombNCP(np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([-2.0, 4.0]), np.array([0.5]), 1),
        (4 / 3, -2 / 3),
    )
    found = sensitivity_of(problem, np.array(exact) + 1e-8)
    np.testing.assert_allclose(found.z, exact, rtol=0, atol=1e-15)
