"""LCPs and MLCPs to a solution or a proof that there is none: known answers, and random problems by definition."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from tests.inequalities import solvable, solvable_between
from workbench.algorithms import escalation
from workbench.algorithms.escalation import default_solver
from workbench.cli.main import main
from workbench.matrices.linear_algebra.rationals import exact
from workbench.matrices.solutions.equivalent_lcp import equivalent_lcp
from workbench.matrices.solutions.solution_set import first_solution, infeasibility
from workbench.problems.classes import LCP, MLCP, ConicQP, CoulombNCP
from workbench.problems.solution import Solution, Status
from workbench.readers.files import write_problem_file

ALWAYS = float("inf")


def solve_or_refute(problem, **options):
    return replace(default_solver(problem.kind), **options).solve(problem)


def proof_of(problem, **options):
    """The proof that the problem has no solution, empty where it is solved, which it must be otherwise."""
    found = solve_or_refute(problem, **options)
    assert found.verified, (problem, found)
    assert (found.claimed is Status.NO_SOLUTION) == bool(found.proof) == np.isnan(found.z).all()
    if found.proof:
        assert found.proof in found.reason
    else:
        assert problem.residual(found.z) <= found.tolerance
    return found.proof


def shuffled(rng, M, q):
    """The same problem with its unknowns in another order and other (binary) units."""
    order, scale = rng.permutation(q.size), 2.0 ** rng.integers(-8, 9, q.size)
    return LCP((scale[:, None] * M * scale)[np.ix_(order, order)], (scale * q)[order])


def infeasible_lcp(rng, n):
    """Columns that add up to at most zero and a q that adds up to less: sum(M z + q) < 0."""
    M = rng.integers(-9, 10, (n, n)).astype(float)
    M[rng.integers(n)] -= np.maximum(M.sum(axis=0), 0.0)
    q = rng.integers(-9, 10, n).astype(float)
    q[rng.integers(n)] -= max(q.sum(), 0.0) + 1.0
    return shuffled(rng, M, q)


def feasible_lcp_without_solution(rng, n):
    """M = [-N P; 0 R], N, R >= 0, P > 0, q = [< 0; > 0]: w_2 > 0, hence z_2 = 0, hence w_1 < 0. z_2 = 9 is feasible."""
    k = n // 2
    N, R = rng.integers(0, 4, (k, k)), rng.integers(0, 4, (n - k, n - k))
    P = rng.integers(1, 4, (k, n - k))
    M = np.block([[-N, P], [np.zeros((n - k, k)), R]]).astype(float)
    q = np.concatenate([-rng.integers(1, 9, k), rng.integers(1, 9, n - k)]).astype(float)
    z = np.concatenate([np.zeros(k), np.full(n - k, 9.0)])
    assert (M @ z + q >= 0).all()
    return shuffled(rng, M, q)


@pytest.mark.parametrize("n", [1, 2, 5, 12, 40])
def test_infeasible_lcps_have_a_certificate(n):
    rng = np.random.default_rng(1)
    for _ in range(2):
        assert "y >= 0" in proof_of(infeasible_lcp(rng, n))


@pytest.mark.parametrize("n", [2, 3, 5, 12, 24])
def test_feasible_lcps_without_a_solution_are_refuted_cone_by_cone(n):
    rng = np.random.default_rng(2)
    for _ in range(2):
        assert f"2^{n} complementary cones" in proof_of(feasible_lcp_without_solution(rng, n))


@pytest.mark.parametrize(
    ("shift", "absent"), [(0.0, False), (1e-4, False), (-1e-4, True), (-1e-8, True), (-1e-12, True), (-1e-14, True)]
)
def test_an_isolated_solution_that_a_perturbation_takes_away(shift, absent):
    """Pang: w_2 = z_1 - 1 and w_3 = 1 - z_1 leave z_1 = 1, so that w_1 = shift - z_2 - z_3 = 0 needs shift >= 0."""
    problem = LCP(np.array([[0.0, -1, -1], [1, 0, 0], [-1, 0, 0]]), np.array([shift, -1.0, 1.0]))
    found = solve_or_refute(problem)
    # Below 1e-13, beside rows of size one, it is a solution in doubles within the tolerance, and that is said.
    assert found.verified
    assert bool(found.proof) == (absent and abs(shift) > 1e-13)
    form = equivalent_lcp(problem, ALWAYS)
    assert (infeasibility(form.M, form.q, ALWAYS) is not None) == absent
    assert (first_solution(form.M, form.q, ALWAYS) is None) == absent


def test_bimatrix_games_have_an_equilibrium():
    """With positive costs LCP([0 A; B^T 0], -1) is solvable, though Lemke's method with a vector of ones can end on a
    ray (Cottle, Pang & Stone 1992, section 4.4)."""
    rng = np.random.default_rng(3)
    rays = 0
    for _ in range(30):
        m, n = rng.integers(1, 5, 2)
        A, B = rng.integers(1, 30, (m, n)), rng.integers(1, 30, (m, n))
        M = np.block([[np.zeros((m, m)), A], [B.T, np.zeros((n, n))]])
        found = solve_or_refute(LCP(M, -np.ones(m + n)))
        assert found.verified
        assert not found.proof
        rays += "lemke RAY" in found.reason
    assert rays > 5


def test_small_lcps_are_decided_as_by_definition():
    rng = np.random.default_rng(4)
    absent = 0
    for _ in range(80):
        n = int(rng.integers(1, 4))
        M, q = rng.integers(-2, 3, (n, n)), rng.integers(-2, 3, n)
        expected = not solvable(M.tolist(), q.tolist())
        assert bool(proof_of(LCP(M.astype(float), q.astype(float)))) == expected, (M, q)
        absent += expected
    assert 16 < absent < 64


def test_exact_arithmetic_alone_decides_as_by_definition():
    """Without the methods before it, which leave it only what they cannot solve."""
    rng = np.random.default_rng(5)
    for _ in range(75):
        n = int(rng.integers(1, 4))
        M, q = rng.integers(-2, 3, (n, n)), rng.integers(-2, 3, n)
        form = equivalent_lcp(LCP(M.astype(float), q.astype(float)), ALWAYS)
        y, z = (f(form.M, form.q, ALWAYS) for f in (infeasibility, first_solution))
        assert (z is not None) == solvable(M.tolist(), q.tolist())
        assert y is None or (z is None and min(y) >= 0 and (np.array(y) @ M).max() <= 0 > np.array(y) @ q)
        if z is not None:
            w = M @ np.array(z) + q
            assert min(z) >= 0
            assert min(w) >= 0
            assert not (w * np.array(z)).any()


def test_solvable_lcps_are_never_refuted():
    """By construction solvable, of any rank, up to eight unknowns; half of them degenerate."""
    rng = np.random.default_rng(6)
    for k in range(160):
        n = int(rng.integers(1, 9))
        rank = int(rng.integers(0, n + 1))
        M = rng.integers(-2, 3, (n, rank)) @ rng.integers(-2, 3, (rank, n))
        z = rng.integers(0, 3, n) * rng.integers(0, 2, n)
        w = np.where(z > 0, 0, rng.integers(0, 3, n) if k % 2 else 1)
        assert not proof_of(LCP(M.astype(float), (w - M @ z).astype(float))), (M, z, w)


def random_mlcp(rng, n):
    """Integers; bounds of every kind, the same bound twice among them."""
    lower, upper = [], []
    for _ in range(n):
        low, kind = int(rng.integers(-2, 2)), rng.integers(5)
        lower.append(None if kind in (0, 1) else low)
        upper.append(None if kind in (0, 2) else low if kind == 3 else low + int(rng.integers(0, 3)))
    return rng.integers(-2, 3, (n, n)), rng.integers(-2, 3, n), lower, upper


def test_small_mlcps_are_decided_as_by_definition():
    rng = np.random.default_rng(7)
    absent = 0
    for _ in range(70):
        n = int(rng.integers(1, 4))
        M, q, lower, upper = random_mlcp(rng, n)
        low = np.array([-np.inf if x is None else x for x in lower], float)
        high = np.array([np.inf if x is None else x for x in upper], float)
        problem = MLCP(M.astype(float), q.astype(float), low, high)
        expected = not solvable_between(M.tolist(), q.tolist(), lower, upper)
        assert bool(proof_of(problem)) == expected, (M, q, lower, upper)
        form = equivalent_lcp(problem, ALWAYS)
        x = first_solution(form.M, form.q, ALWAYS) if form.q else []
        assert (x is None) == expected
        if x is not None:
            assert problem.residual(np.array([float(c.p) / float(c.q) for c in form.point(x)])) < 1e-12
        absent += expected
    assert absent > 6


def test_redundant_and_contradictory_equations():
    """Twice the same equation is one; with another right side it is none."""
    rng = np.random.default_rng(8)
    for n in (2, 5, 20):
        M, q = rng.integers(-5, 6, (n, n)).astype(float), rng.integers(-5, 6, n).astype(float)
        M[1] = 2.0 * M[0]
        bounds = np.where(np.arange(n) < 2, -np.inf, 0.0), np.full(n, np.inf)
        z = np.r_[rng.normal(size=2).round(2), rng.integers(0, 3, n - 2)]
        q = np.where(np.arange(n) < 2, 0.0, (z == 0) * 1.0) - M @ z
        q[1] = 2.0 * q[0]
        assert not proof_of(MLCP(M, q, *bounds))
        q[1] += 1.0
        assert proof_of(MLCP(M, q, *bounds))


def test_what_cannot_be_reported_in_time_is_told_so():
    problem = feasible_lcp_without_solution(np.random.default_rng(9), 6)
    start = time.process_time()
    found = solve_or_refute(problem, seconds=0.0)
    assert time.process_time() - start < 5.0
    assert not found.verified
    assert found.claimed is not Status.NO_SOLUTION
    assert "absence of a solution not proved within 0 s" in found.reason
    assert "proximal SINGULAR" in found.reason


def test_bounds_without_a_number_between_them_are_refuted():
    bounds = np.array([0.0, np.inf]), np.full(2, np.inf)
    found = solve_or_refute(MLCP(np.eye(2), np.ones(2), *bounds))
    assert "bounds of z[1]" in found.proof


def test_large_problems_are_not_begun_in_rationals():
    found = solve_or_refute(feasible_lcp_without_solution(np.random.default_rng(11), 14), most=5)
    assert not found.verified
    assert "not proved beyond 5 unknowns" in found.reason


@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered")
def test_entries_of_absurd_sizes_bring_nothing_down():
    rng = np.random.default_rng(12)
    decided = 0
    for _ in range(100):
        n = int(rng.integers(1, 6))
        M, q = (rng.integers(-2, 3, shape) * 10.0 ** rng.integers(-150, 150, shape) for shape in ((n, n), n))
        found = solve_or_refute(MLCP(M, q, np.where(rng.random(n) < 0.4, -np.inf, 0.0), np.full(n, np.inf)))
        decided += found.verified
    assert decided > 50


def test_a_false_certificate_proves_nothing(monkeypatch):
    monkeypatch.setattr(escalation, "infeasibility", lambda M, q, deadline: [exact(1.0)] * len(q))
    problem = LCP(np.eye(3), -np.ones(3))
    failed = Solution(np.full(3, np.nan), Status.RAY, np.inf, 1e-9, 1, 0.0, "none")
    found = replace(default_solver("LCP"), then=()).take_over(problem, failed)
    assert not found.proof
    assert found.verified


def test_the_command_line_tells_solved_from_refuted(tmp_path, capsys):
    rng = np.random.default_rng(10)
    problems = {
        "a": LCP(np.eye(2), -np.ones(2)),
        "b": infeasible_lcp(rng, 3),
        "c": feasible_lcp_without_solution(rng, 4),
    }
    for name, problem in problems.items():
        write_problem_file(problem, tmp_path / f"{name}.npz")
    assert main(["solve", str(tmp_path), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["claimed"] for row in rows] == ["SOLVED", "NO_SOLUTION", "NO_SOLUTION"]
    assert all(row["verified"] for row in rows)
    assert [row["residual"] for row in rows][1:] == [None, None]
    assert [row["reason"][:11] for row in rows][1:] == ["no solution"] * 2
    assert main(["solve", str(tmp_path)]) == 0
    assert "default: 3 of 3 verified, 2 of them without a solution" in capsys.readouterr().out
    assert main(["solve", str(tmp_path), "--solver", "lemke"]) == 0
    assert "lemke: 1 of 3 verified;" in capsys.readouterr().out


@pytest.mark.thorough
def test_friction_problems_that_no_velocity_solves_are_refuted():
    """A particle between a floor and a ceiling that close, or only slide apart, which the cone problem cannot do."""
    J = np.array([[0.0, 0, 1], [0, 0, -1], [1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0]])
    closing, sliding = np.array([-1.0, -1, 0, 0, 0, 0]), np.array([1.0, -1, 1, 0, -1, 0])
    for q, coulomb_refuted in ((closing, True), (sliding, False)):
        for law, expected in ((CoulombNCP, coulomb_refuted), (ConicQP, True)):
            answer = wb.solve(law(J @ J.T, q, np.full(2, 0.5))).solution
            assert bool(answer.proof) == expected, (law, q)
            assert (answer.claimed is Status.NO_SOLUTION) == expected
            assert answer.verified
            assert not expected or "tried" in answer.reason
    # A solver that is asked for by name is not doubted. This one's impulses of 1e16 hide the velocities.
    assert not wb.solve(ConicQP(J @ J.T, closing, np.full(2, 0.5)), solver="ccp-exact").solution.proof
