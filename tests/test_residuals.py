"""The residuals, of the problems and of the judge, contact by contact: nothing large elsewhere hides what is wrong.

The mutation tests spread masses over twelve decades and gaps over six, and spoil one contact's impulse in the exact
answer of a random system: whatever that makes wrong beside the contact's own impulse is not verified.
"""

import numpy as np
import pytest

from workbench.algorithms import find_solver
from workbench.algorithms.base import EXACT
from workbench.algorithms.escalation import default_solver
from workbench.builtin.formulations import FORMULATIONS
from workbench.judge.coulomb import judge
from workbench.mechanics.contact import ContactSystem
from workbench.problems.classes import LCP, MLCP, ConicQP, CoulombNCP
from workbench.problems.mixed import MixedNCP
from workbench.problems.sets import COULOMB, Sets
from workbench.problems.solution import Solution, Status
from workbench.step.one_step import pose

GENERIC = 1e-6
"""Tolerance of optimisation codes."""
FAINT, FAINT_SCALED, FAR_SCALED, ROUNDING, QUIET = 1e-5, 1e-4, 1e3, 1e-13, 1e-6
"""The weights of the formulary's definition."""

LAWS = [(ConicQP, "ccp-exact"), (CoulombNCP, "coulomb-exact")]
RESIDUALS = ("signorini", "cone", "dissipation", "natural_map", "law")


def rows_of(i, r, d):
    return np.r_[i, r + d * i : r + d * (i + 1)]


def judged(problem, z):
    r, d, u = problem.mu.size, problem.d, problem.M @ z + problem.q
    return judge(z[:r], z[r:].reshape(r, d), u[:r], u[r:].reshape(r, d), problem.mu, problem.M, problem.q)


def particles(masses, q, mu=0.5, d=2):
    """W and q of particles, each on a floor of its own, q (r, 1 + d) contact by contact."""
    r = len(masses)
    inverse = 1 / np.asarray(masses)
    return np.diag(np.r_[inverse, np.repeat(inverse, d)]), np.r_[q[:, 0], q[:, 1:].ravel()], np.full(r, mu), d


@pytest.mark.parametrize(("law", "solver"), LAWS)
@pytest.mark.parametrize("height", [0.0, 1e-3, 1.0, 100.0, 1e9])
def test_an_idle_contact_far_away_hides_nothing(law, solver, height):
    """An answer that is too large by 5 % is wrong by 5 %, whatever hangs at any height beside the particle."""
    q = np.array([[-0.0981, 1.0, 0.0], [height / 0.01 - 0.0981, 0.0, 0.0]])
    problem = law(*particles([1.0, 1.0], q))
    solution = find_solver(solver).solve(problem)
    assert solution.residual < 1e-14
    wrong = 1.05 * solution.z
    assert 2e-2 < problem.residual(wrong) < 5e-2
    assert law is ConicQP or 2e-2 < judged(problem, wrong).natural_map < 5e-2


@pytest.mark.parametrize("law", [ConicQP, CoulombNCP])
@pytest.mark.parametrize("ratio", [1.0, 2e6, 1e10, 1e12, 1e100])
def test_a_heavy_contact_hides_no_light_one(law, ratio):
    """The light particle is not stopped: a metre per second too much, on a floor of its own."""
    problem = law(*particles([ratio, 1.0], np.array([[-1.0, 0, 0], [-1.0, 0, 0]])))
    assert problem.residual([ratio, 1, 0, 0, 0, 0]) < 1e-15
    assert problem.residual([ratio, 0, 0, 0, 0, 0]) == 1.0
    assert judged(problem, np.array([ratio, 0, 0, 0, 0, 0])).natural_map == pytest.approx(1.0)
    assert judged(problem, np.array([ratio, 0, 0, 0, 0, 0])).signorini == pytest.approx(1.0)


def test_two_contacts_of_one_body_do_not_hide_each_other():
    """A light body on a heavy one, W_12 = -1/m: the light one's impulse is wrong beside its own weight."""
    light, heavy = 1e-6, 1e6
    W = np.array([[1 / light + 1 / heavy, -1 / heavy], [-1 / heavy, 1 / heavy]])
    problem = CoulombNCP(np.kron(np.eye(2), W), [0, -0.0981, 0, 0], [0.5, 0.5], 1)
    right = np.array([light * 0.0981, (light + heavy) * 0.0981, 0, 0])
    assert problem.residual(right) < EXACT
    wrong = right * [1.001, 1, 1, 1]
    assert 1e-5 < problem.residual(wrong) < 1e-2
    assert judged(problem, wrong).law == pytest.approx(float(problem.residual(wrong)), rel=1e-9)


@pytest.mark.parametrize("size", [1.0, 1e-100, 1e-300, 5e-324])
def test_nothing_is_lost_to_underflow(size):
    """M = -1 has no solution for q < 0, however small; units do not matter down to the smallest number there is."""
    assert LCP([[-1.0]], [-size]).residual(np.zeros(1)) == 1.0
    assert LCP([[1.0]], [-size]).residual(np.zeros(1)) == 1.0
    assert LCP([[1.0]], [-size]).residual(np.array([size])) == 0.0
    assert MLCP([[1.0]], [-size], -np.inf, np.inf).residual(np.zeros(1)) == 1.0
    assert LCP([[1e150]], [-size]).residual(np.zeros(1)) == 1.0
    for law in (ConicQP, CoulombNCP):
        contact = law(np.eye(3), [-size, 0, 0], [0.5])
        assert contact.residual(np.zeros(3)) == 1.0
        assert contact.residual(np.array([size, 0, 0])) == 0.0
        assert judged(contact, np.zeros(3)).natural_map == 1.0
        heavy = law(*particles([1.0, 1e300], np.array([[-size, 0, 0], [0.0, 0, 0]])))
        assert heavy.residual(np.array([size, 1e-20, 0, 0, 0, 0])) > 0.1


@pytest.mark.parametrize("law", [ConicQP, CoulombNCP])
def test_huge_impulses_that_cancel_do_not_hide_a_free_velocity(law):
    """A closing clamp has no solution: beside impulses of 1e16 its free velocities were lost to rounding."""
    J = np.array([[0, 0, 1.0], [0, 0, -1.0], [1.0, 0, 0], [0, 1.0, 0], [1.0, 0, 0], [0, 1.0, 0]])
    problem = law(J @ J.T, np.array([-1.0, -1.0, 0, 0, 0, 0]), np.full(2, 0.5), 2)
    for size in (1.0, 1e8, 9.7e15, 1.7e16, 1e20, 1e100):
        assert problem.residual(np.array([size, size, 0, 0, 0, 0])) > 1e-6


def test_what_has_no_scale_is_no_solution():
    """Where nothing pushes and nothing moves z = 0 is the solution, and no number else is small."""
    for problem in (LCP([[0.0]], [0.0]), CoulombNCP(np.zeros((3, 3)), np.zeros(3), [0.5])):
        assert problem.residual(np.zeros(problem.size)) == 0.0
        assert problem.residual(-1e-30 * np.ones(problem.size)) == np.inf
    still = CoulombNCP(np.zeros((3, 3)), [1.0, 0, 0], [0.5])
    assert still.residual(np.zeros(3)) == 0.0
    for size in (1e-30, 1.0, 1e30):
        assert still.residual(np.array([size, 0, 0])) > 0.1
        assert judged(still, np.array([size, 0, 0])).natural_map > 0.1


def random_rows(rng):
    """M, q, bounds and a point: on bounds and off them, far out, in parts, with diagonals of zero."""
    n = int(rng.integers(1, 7))
    M = rng.standard_normal((n, n)) * (rng.random((n, n)) < rng.choice([0.2, 1.0])) * 10.0 ** rng.uniform(-3, 3)
    M[np.diag_indices(n)] = np.where(rng.random(n) < 0.6, np.abs(np.diag(M)), rng.choice([0.0, 1e-17], n))
    lower = np.where(rng.random(n) < 0.8, 0.0, -np.inf)
    upper = np.where(rng.random(n) < 0.7, np.inf, rng.uniform(0.5, 2.0, n))
    z = np.where(rng.random(n) < 0.5, np.clip(0.0, lower, upper), rng.random(n) * 10.0 ** rng.uniform(-2, 8))
    return MLCP(M, rng.standard_normal(n), lower, upper), np.clip(z, lower, upper)


def by_definition(problem, z):
    """The residual of an MLCP as the formulary states it, without care for underflow."""
    from workbench.problems.classes import equilibration

    M, D = problem.M, equilibration(problem.M)
    y, low, high, free = z / D, problem.lower / D, problem.upper / D, D * problem.q
    moved, terms = D * (M @ z), D * (np.abs(M) @ np.abs(z))
    gap = np.clip(moved + free, y - high, y - low)
    slack = (gap == 0) & ~((low < y) & (y < high))
    motion = np.where(slack, np.minimum(np.abs(moved), np.abs(free)), np.maximum(np.abs(moved), np.abs(free)))
    motion = np.maximum(motion, np.where(np.isfinite(low) & np.isfinite(high), np.abs(y), 0.0))
    reach = np.linalg.matrix_power((M != 0) | (M != 0).T | np.eye(len(M), dtype=bool), len(M)) > 0
    own = np.maximum(np.abs(free), terms)
    here, there, faint, around = (
        np.where(reach, x, 0.0).max(axis=1) for x in (motion, FAINT_SCALED * terms, FAINT * np.abs(free), own)
    )
    answered = np.maximum(np.minimum(-free, np.maximum(high, 0)), np.minimum(free, np.maximum(-low, 0)))
    scale = np.maximum(answered, faint)
    scale = np.maximum(scale, np.minimum(np.maximum(terms, there), FAR_SCALED * here))
    scale = np.maximum(scale, np.where(around <= ROUNDING * own.max(), FAINT_SCALED * own.max(), 0.0))
    scale = np.maximum(scale, QUIET * scale.max())
    return np.divide(np.abs(gap), scale, out=np.where(gap == 0, 0.0, np.inf), where=scale > 0).max()


def test_the_residual_of_rows_is_the_formularys():
    rng = np.random.default_rng(2)
    for _ in range(120):
        problem, z = random_rows(rng)
        np.testing.assert_allclose(problem.residual(z), by_definition(problem, z), rtol=1e-9)


def random_contacts(rng, law):
    """A cone problem in parts or not, redundant or not, and a point near or far out, where it moves much or little."""
    r, d = int(rng.integers(1, 5)), int(rng.integers(1, 3))
    n = r * (1 + d)
    A = rng.standard_normal((n, int(rng.integers(1, n + 1)))) * rng.choice([0.0, 1e-3, 1.0, 1.0, 1e3], (n, 1))
    if rng.random() < 0.4:
        contact = np.r_[np.arange(r), np.repeat(np.arange(r), d)]
        part = rng.integers(0, 2, r)
        A = np.hstack([np.where((part == k)[contact][:, None], A, 0.0) for k in (0, 1)])
    q = rng.standard_normal(n) * 10.0 ** rng.uniform(-9, 2, n)
    z = rng.standard_normal(n) * (rng.random(n) < 0.8) * 10.0 ** rng.uniform(-3, 12)
    return law(A @ A.T, q, rng.choice([0.0, 0.3, 1.2], r), d), z


def test_the_judge_and_the_problem_agree_though_they_share_no_code():
    rng = np.random.default_rng(3)
    for _ in range(160):
        problem, z = random_contacts(rng, CoulombNCP)
        np.testing.assert_allclose(judged(problem, z).law, problem.residual(z), rtol=1e-5)


@pytest.mark.parametrize("law", [ConicQP, CoulombNCP])
def test_order_units_and_axes_do_not_matter(law):
    rng = np.random.default_rng(4)
    for _ in range(60):
        problem, z = random_contacts(rng, law)
        r, d, found = problem.mu.size, problem.d, float(problem.residual(z))
        order = rng.permutation(r)
        P = np.concatenate([order, (r + d * order[:, None] + np.arange(d)).ravel()])
        other = law(problem.M[np.ix_(P, P)], problem.q[P], problem.mu[order], d)
        assert other.residual(z[P]) == pytest.approx(found, rel=1e-6)
        mass, speed = 10.0 ** rng.uniform(-9, 9, 2)
        other = law(problem.M / mass, speed * problem.q, problem.mu, d)
        assert other.residual(mass * speed * z) == pytest.approx(found, rel=1e-6)
        if d == 2 and not (np.diag(problem.M) == 0).any():
            a, R = rng.uniform(0, 7, r), np.eye(r * 3)
            for i in range(r):
                k = r + 2 * i
                R[k : k + 2, k : k + 2] = [[np.cos(a[i]), -np.sin(a[i])], [np.sin(a[i]), np.cos(a[i])]]
            other = law(0.5 * (R @ problem.M @ R.T + (R @ problem.M @ R.T).T), R @ problem.q, problem.mu, d)
            assert other.residual(R @ z) == pytest.approx(found, rel=1e-4)


def test_what_nothing_couples_has_the_residual_of_its_worst_part():
    rng = np.random.default_rng(5)
    for law in (ConicQP, CoulombNCP):
        for _ in range(40):
            (one, z), (other, y) = random_contacts(rng, law), random_contacts(rng, law)
            if one.d != other.d:
                continue
            r, s, d = one.mu.size, other.mu.size, one.d
            first = np.r_[np.arange(r), r + s + np.arange(d * r)]
            second = np.r_[r + np.arange(s), r + s + d * r + np.arange(d * s)]
            M, q, x = np.zeros((one.size + other.size,) * 2), np.zeros(one.size + other.size), np.zeros(len(z) + len(y))
            for rows, p, v in ((first, one, z), (second, other, y)):
                M[np.ix_(rows, rows)], q[rows], x[rows] = p.M, p.q, v
            both = law(M, q, np.r_[one.mu, other.mu], d)
            assert both.residual(x) == pytest.approx(max(one.residual(z), other.residual(y)), rel=1e-9)


def test_what_is_not_finite_is_never_verified():
    bad = (np.nan, np.inf, -np.inf)
    for problem in (LCP(np.eye(3), -np.ones(3)), ConicQP(np.eye(3), -np.ones(3), [0.5])):
        for x in bad:
            assert problem.residual(np.array([1.0, x, 1.0])) == np.inf
    for x in bad:
        assert not Solution(np.array([x]), Status.SOLVED, 0.0, EXACT, 1, 0.0, "mine").verified
    assert not Solution(np.zeros(1), Status.SOLVED, np.nan, EXACT, 1, 0.0, "mine").verified


def test_an_answer_is_verified_up_to_its_tolerance_and_no_further():
    for tolerance in (EXACT, GENERIC):
        for share, verified in ((0.0, True), (1.0, True), (1.001, False), (10.0, False), (999.0, False)):
            answer = Solution(np.zeros(1), Status.SOLVED, share * tolerance, tolerance, 1, 0.0, "mine")
            assert answer.verified is verified
    assert not Solution(np.zeros(1), Status.NO_FIXED_POINT, 0.0, EXACT, 1, 0.0, "mine").verified


# Mutation: random systems over twelve decades of mass and six of gaps, solved, and one contact's impulse spoilt.


def random_tree(rng, r, h=1e-2):
    """Bodies of 1e-6 to 1e6 kg: some rest or slide on the floor, others on a heavier one, others hang above it."""
    mass = 10.0 ** rng.uniform(-6, 6, r)
    below = [-1 if rng.random() < 0.6 or mass[i] == mass.max() else int(rng.choice(np.flatnonzero(mass > mass[i])))
             for i in range(r)]  # fmt: skip
    v = rng.normal(size=(r, 3)) * [1.0, 1.0, 0.05]
    J = np.zeros((r, 3, 3 * r))
    for i in range(r):
        J[i, :, 3 * i : 3 * i + 3] = np.roll(np.eye(3), 1, axis=0)
        if below[i] >= 0:
            J[i, :, 3 * below[i] : 3 * below[i] + 3] = -np.roll(np.eye(3), 1, axis=0)
    J = np.concatenate([J[:, 0], J[:, 1:].reshape(2 * r, 3 * r)])
    gap = np.where(rng.random(r) < 0.3, 10.0 ** rng.uniform(-3, 3, r), 0.0)
    free = v - [0, 0, 9.81 * h]
    q = J @ free.ravel()
    q[:r] += gap / h
    return J @ (np.repeat(1 / mass, 3)[:, None] * J.T), q, rng.uniform(0.1, 0.8, r)


def spoilt(rng, z, r, d):
    """Pairs of an impulse that differs at one contact, and that contact."""
    for i in range(r):
        rows = rows_of(i, r, d)
        for factor in (0.0, 0.5, 1 - 1e-4, 1 + 1e-4, 1.05, 2.0, -1.0):
            other = z.copy()
            other[rows] *= factor
            yield other, i
        for angle in (1e-4, 0.1, np.pi / 2, np.pi):
            other = z.copy()
            x, y = z[rows[1:]]
            other[rows[1:]] = np.cos(angle) * x - np.sin(angle) * y, np.sin(angle) * x + np.cos(angle) * y
            yield other, i
        k = int(rng.integers(0, r))
        other = z.copy()
        other[rows], other[rows_of(k, r, d)] = z[rows_of(k, r, d)], z[rows]
        yield other, i


@pytest.mark.parametrize(("law", "solver"), LAWS)
def test_every_exact_answer_is_verified_however_light_its_contacts(law, solver):
    """In three of these systems a light contact is wrong where the whole natural map has fallen to round-off."""
    rng = np.random.default_rng(6)
    for _ in range(130):
        W, q, mu = random_tree(rng, int(rng.integers(1, 6)))
        problem, z, none = law(W, q, mu), np.zeros(q.size), np.zeros(0)
        solution = find_solver(solver).solve(problem)
        assert solution.verified, (solution, W, q, mu)
        assert solution.claimed is Status.SOLVED
        # What runs call.
        status = find_solver(solver).kernel(W, q, none, none, mu, 2, z, np.zeros(1, dtype=np.int64))
        assert (status, problem.residual(z) <= EXACT) == (Status.SOLVED, True)


@pytest.mark.parametrize(("law", "solver"), LAWS)
def test_many_light_bodies_on_a_heavy_one_are_all_solved(law, solver):
    """Masses over nine decades: sparse factors, whose rounding is that of the whole, leave the lightest ones wrong."""
    for seed in (1, 2):
        rng, r = np.random.default_rng(seed), 80
        inverse = np.r_[1.0, 10.0 ** rng.uniform(0, 9, r - 1)]
        J = np.eye(r)
        J[1:, 0] = -1.0
        v = rng.normal(size=(r, 3)) * [1.0, 1.0, 0.05] - [0, 0, 0.0981]
        W, u = J @ (inverse[:, None] * J.T), J @ v
        q = np.r_[u[:, 2], u[:, :2].ravel()]
        tangents = np.kron(W, np.eye(2))
        W = np.block([[W, np.zeros((r, 2 * r))], [np.zeros((2 * r, r)), tangents]])
        solution = find_solver(solver).solve(law(W, q, rng.uniform(0.1, 0.8, r)))
        assert solution.verified, solution.stages
        assert solution.claimed is Status.SOLVED


@pytest.mark.parametrize(("law", "solver"), LAWS)
def test_no_spoilt_impulse_is_verified_and_every_right_one_is(law, solver):
    rng, seen = np.random.default_rng(6), 0
    for _ in range(60):
        r = int(rng.integers(1, 6))
        W, q, mu = random_tree(rng, r)
        problem = law(W, q, mu)
        solution = find_solver(solver).solve(problem)
        assert solution.verified, (solution, problem)
        assert law is ConicQP or judged(problem, solution.z).natural_map <= EXACT
        for other, i in spoilt(rng, solution.z, r, 2):
            rows = rows_of(i, r, 2)
            wrong = np.linalg.norm((other - solution.z)[rows])
            # What is wrong beside the larger impulse of the two.
            share = wrong / max(*(np.linalg.norm(x[rows]) for x in (other, solution.z)), 1e-300)
            tolerance = GENERIC if share > 1e-2 else EXACT
            if share > 1e-5:
                seen += 1
                assert problem.residual(other) > tolerance, (problem, solution.z, other, i)
                assert law is ConicQP or judged(problem, other).natural_map > tolerance
    assert seen > 1000


@pytest.mark.parametrize("name", ["stewart-trinkle", "box"])
def test_no_spoilt_unknown_of_an_lcp_is_verified(name):
    """The same of the rows of LCPs and MLCPs, over the masses of one step: normal impulses are spoilt."""
    rng, seen = np.random.default_rng(7), 0
    formulation = next(f for f in FORMULATIONS if f.name == name)
    for _ in range(25):
        r = int(rng.integers(1, 4))
        mass = 10.0 ** rng.uniform(-6, 6, r)
        v = rng.normal(size=(r, 3)) * [1, 1, 0.05]
        J = np.kron(np.eye(r), np.roll(np.eye(3), 1, axis=0)).reshape(r, 3, 3 * r)
        gap = np.where(rng.random(r) < 0.4, 10.0 ** rng.uniform(-3, 3, r), 0.0)
        system = ContactSystem(
            np.diag(np.repeat(mass, 3)), v.ravel(), np.tile([0, 0, -9.81], r) * np.repeat(mass, 3), 0.01,
            J[:, 0], J[:, 1:].reshape(2 * r, 3 * r), rng.uniform(0.1, 0.8, r), phi=gap, normal="gap",
        )  # fmt: skip
        problem = pose(formulation, system).problem()
        solution = default_solver(problem.kind).solve(problem)
        assert solution.verified
        for i in range(r):
            for factor in (0.0, 0.5, 1 - 1e-3, 1 + 1e-3, 2.0):
                other = solution.z.copy()
                other[i] *= factor
                if other[i] != solution.z[i]:
                    seen += 1
                    assert problem.residual(other) > GENERIC, (i, factor, mass)
    assert seen > 50


MU = [0.0, 1e-3, 0.5, 1.0, 30.0, 1e3, 1e6, 1e9, 1e16, 1e100, 1e300]


def planted(rng, mu, d, modes, mass, h):
    """W, q and z of contacts of bodies of very different masses that are open, stick or slide; z solves the problem.

    Impulses are masses times h g, so that velocities are h g too. A slide's friction is of that size, its normal
    impulse 1/mu of it where mu is large.
    """
    r, speed = len(modes), 9.81 * h
    n = r * (1 + d)
    contact = np.r_[np.arange(r), np.repeat(np.arange(r), d)]
    # Every contact's own body, and one light body that all of them share.
    J = np.hstack([np.eye(n), rng.standard_normal((n, 1 + d))])
    W = J @ np.diag(1.0 / np.r_[np.asarray(mass)[contact], np.full(1 + d, max(mass) * 1e3)]) @ J.T
    z, u = np.zeros(n), np.zeros(n)
    for i, mode in enumerate(modes):
        rows = rows_of(i, r, d)
        e = rng.standard_normal(d)
        e /= np.linalg.norm(e)
        size = mass[i] * speed * rng.uniform(0.5, 2.0)
        if mode == "open":
            u[rows] = speed * np.r_[rng.uniform(0.1, 1.0), rng.standard_normal(d)]
        elif mode == "stick":
            z[rows] = size * np.r_[1.0, 0.5 * min(mu, 1.0) * e]
        else:
            p_n = size / max(1.0, mu)
            z[rows], u[rows[1:]] = np.r_[p_n, -mu * p_n * e], speed * rng.uniform(0.5, 2.0) * e
    return W, u - W @ z, z, u


def broken(rng, z, u, mu, d, i, mode):
    """z with the impulse of contact i against its law, by as much as it carries or moves.

    Where mu is tiny, friction is rounding beside the pressure. Where it is huge, a slide without any impulse is hardly
    wrong: its pressure was 1/mu of its friction.
    """
    rows, wrong = rows_of(i, z.size // (1 + d), d), z.copy()
    if mode == "open":
        wrong[i] = -np.abs(u[rows]).max()
        return wrong
    # Factors of pressure and friction.
    ways = {"slide": [(0.0, 1.0), (1.0, -1.0), (1.0, 0.5)], "stick": [(-1.0, 1.0), (0.0, 0.0), (0.5, 1.0), (1.0, 0.0)]}
    pressure, friction = rng.choice(ways[mode] if mu > 1e-6 else [(-1.0, 0.0), (0.0, 0.0)])
    wrong[rows] *= [pressure] + [friction] * d
    return wrong


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("mu", MU)
def test_planted_answers_are_verified_when_right_and_only_then(mu, d):
    """Masses over 24 decades, steps from 1e-9 to 1 s; contacts open, sticking and sliding, beside one another.

    Every class with friction cones has the same law. What is planted at an open contact is an impulse that pulls.
    """
    rng = np.random.default_rng([17, d, MU.index(mu)])
    for _ in range(40):
        r = int(rng.integers(1, 4))
        modes, mass = rng.choice(["open", "stick", "slide"], r).tolist(), 10.0 ** rng.uniform(-12, 12, r)
        W, q, z, u = planted(rng, mu, d, modes, mass, 10.0 ** rng.uniform(-9, 0))
        dense = CoulombNCP(W, q, np.full(r, mu), d)
        first = (1 + d) * np.arange(r + 1)
        order = np.concatenate([rows_of(i, r, d) for i in range(r)])
        sets = Sets(np.full(r, COULOMB), first, order, np.arange(r + 1))
        none = np.zeros(r * (1 + d))
        mixed = MixedNCP(W, q, none - np.inf, none + np.inf, np.full(r, mu), sets)
        for problem in (dense, mixed):
            assert problem.residual(z) <= EXACT, (modes, mass)
        assert judged(dense, z).law <= EXACT
        for i, mode in enumerate(modes):
            wrong = broken(rng, z, mass[i] * u, mu, d, i, mode)
            for problem in (dense, mixed):
                assert problem.residual(wrong) > GENERIC, (mode, modes, mass)
            assert judged(dense, wrong).law > GENERIC
