"""Solvers step by step: known runs by hand and of textbooks, agreement with the compiled codes, exact ends."""

import json
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

import workbench as wb
from tests.lcps import lemke_workspace
from workbench.algorithms import SOLVERS, keller
from workbench.algorithms.judice_pires import by_pivots
from workbench.algorithms.lemke.path import follow_path
from workbench.algorithms.pgs import relative_step, sweeps_from
from workbench.matrices.solutions.solution_set import solution_set
from workbench.problems.classes import LCP

KOSTREVA = [[1, 2, 0], [0, 1, 2], [2, 0, 1]]
COTTLE = ([[0, -1, 2], [2, 0, -2], [-1, 1, 0]], [-3, 6, -1])
PIVOTING = ("lemke", "murty", "judice-pires", "keller")


def pairs(found):
    name = found.trace.system.name
    return [tuple(" ".join(map(name, some)) for some in (s.entering, s.leaving)) for s in found.trace.pivots[1:]]


def murty_1978(n):
    """Lower triangular with 2 below the unit diagonal, and q_i = -2^n - ... - 2^(n-i)."""
    return np.tril(2 * np.ones((n, n)), -1) + np.eye(n), [-sum(2 ** (n - k) for k in range(i + 1)) for i in range(n)]


def lower_p(rng, n):
    """A P-matrix of small integers: diagonally dominant by rows, with the same diagonal everywhere."""
    M = rng.integers(-2, 3, (n, n)).astype(float)
    np.fill_diagonal(M, 2 * n)
    return M


def general_q(rng, n):
    """Integers without ties."""
    return rng.permutation(np.arange(1, 40 * n + 1))[:n] * np.where(rng.random(n) < 0.7, -1.0, 1.0)


def integers(rng, n):
    """Small integers of no class at all."""
    return rng.integers(-3, 4, (n, n)).astype(float), rng.integers(-5, 3, n).astype(float)


# Known runs


def test_lemke_by_hand_in_two_unknowns():
    """(5, 6) asks for t = 6; then z_1 pushes t to 4, where w_0 is zero, and z_0 the rest of the way."""
    found = wb.trace([[2, 1], [1, 2]], rhs=[-5, -6])
    assert pairs(found) == [("t", "w_1"), ("z_1", "w_0"), ("z_0", "t")]
    assert [s.t for s in found.trace.steps] == [0, 6, 4, 0]
    assert dict(found.trace.steps[2].ratios) == {0: 1, 4: 3}
    assert found.trace.z == [fmpq(4, 3), fmpq(7, 3)]
    assert found.tableau(1).to_numpy().tolist() == [["1", "1", "1", "[-1]"], ["6", "1", "-1", "-2"]]


def test_cottles_example():
    """Floudas et al., Handbook of Test Problems in Local and Global Optimization (1999), problem 10.2.3."""
    found = wb.trace(COTTLE[0], rhs=COTTLE[1])
    assert pairs(found) == [("t", "w_0"), ("z_0", "w_2"), ("z_2", "z_0"), ("w_0", "w_1"), ("z_1", "t")]
    assert [s.t for s in found.trace.steps] == [0, 3, 3, 1, 1, 0]
    assert found.trace.z == [0, 1, 3]


@pytest.mark.parametrize("n", [2, 3, 5])
def test_exponentially_many_pivots(n):
    """Murty 1978: 2^n of Lemke's method, and 2^n - 1 of least-index exchanges on the transposed matrix with q = -e."""
    M, q = murty_1978(n)
    assert len(wb.trace(M, rhs=q).trace.steps) - 1 == 2**n
    assert len(wb.trace(M.T, rhs=[-1] * n, solver="murty").trace.steps) - 1 == 2**n - 1


def test_only_the_lexicographic_rule_keeps_lemke_from_cycling():
    cycling = wb.trace(KOSTREVA, rhs=[-1, -1, -1], ties="first").trace
    assert (cycling.outcome, cycling.again) == ("cycle", 2)
    last, again = cycling.steps[-1], cycling.steps[2]
    assert (last.basis, last.leaving) == (again.basis, again.leaving)
    assert wb.trace(KOSTREVA, rhs=[-1, -1, -1]).trace.z == [fmpq(1, 3)] * 3
    rng = np.random.default_rng(0)
    plain = set()
    for _ in range(300):
        M = rng.integers(-2, 3, (3, 3))
        assert wb.trace(M, rhs=[-1, -1, -1]).trace.outcome in ("solution", "ray")
        plain.add(wb.trace(M, rhs=[-1, -1, -1], ties="first").trace.outcome)
    assert plain == {"solution", "ray", "cycle"}


def test_the_lexicographic_rule_is_that_of_a_small_perturbation():
    """Of q + (s, s^2, ..., s^n) with s = 10^-9, which has no ties; but t leaves as soon as it can."""
    rng, tied = np.random.default_rng(8), 0
    for _ in range(60):
        n = int(rng.integers(2, 5))
        M, q = rng.integers(-2, 3, (n, n)), rng.integers(-2, 1, n)
        found = wb.trace(M, rhs=q).trace
        if min(q) == 0:
            continue
        assert [s.t == 0 for s in found.steps[1:-1]] == [False] * (len(found.steps) - 2)
        nearby = wb.trace(M, rhs=[Fraction(int(x)) + Fraction(1, 10**9) ** (i + 1) for i, x in enumerate(q)]).trace
        alike = len(found.steps) - (found.outcome == "solution")
        assert [s.leaving for s in nearby.steps[:alike]] == [s.leaving for s in found.steps[:alike]]
        assert not any("a tie of" in s.rule for s in nearby.steps)
        tied += any("a tie of" in s.rule for s in found.steps[:alike])
    assert tied > 20


def test_t_leaves_as_soon_as_it_can():
    """z_0 is zero with it, and the lexicographic rule would take that one."""
    found = wb.trace([[2, 2], [0, 1]], rhs=[-2, -1]).trace
    assert [s.t for s in found.steps] == [0, 2, 1, 0]
    assert len({ratio for _, ratio in found.steps[-1].ratios}) < len(found.steps[-1].ratios)


def test_keller_by_hand_drives_the_greatest_promise():
    """6^2 / 2 is more than 5^2 / 2; driven, z_1 ends at 3, and then z_0 grows by 4/3 while z_1 falls to 7/3."""
    found = wb.trace([[2, 1], [1, 2]], rhs=[-5, -6], solver="keller")
    assert pairs(found) == [("z_1", "w_1"), ("z_0", "w_0")]
    assert [s.z for s in found.trace.steps] == [[0, 0], [0, 3], [fmpq(4, 3), fmpq(7, 3)]]
    assert dict(found.trace.steps[2].ratios) == {0: fmpq(4, 3), 3: 6}


# Ends


def test_a_ray_with_a_proof_and_one_without():
    none = wb.trace([[1, -1], [-1, 1]], rhs=[-5, 4]).trace
    assert (none.outcome, none.ray.dz, none.ray.dt, none.proof) == ("ray", [1, 1], 0, [1, 1])
    some = wb.trace([[-2, 2], [-2, -1]], rhs=[-2, -1])
    assert (some.trace.outcome, some.trace.proof) == ("ray", None)
    assert "proves nothing" in some.text
    # Floudas et al., Handbook of Test Problems in Local and Global Optimization (1999), problem 10.2.4.
    blocks = [[0, 0, 10, 20], [0, 0, 30, 15], [10, 20, 0, 0], [30, 15, 0, 0]]
    game = wb.trace(blocks, rhs=[-1] * 4).trace
    assert (game.outcome, game.proof, len(game.steps)) == ("ray", None, 2)
    np.testing.assert_allclose(np.array(blocks) @ [1 / 90, 2 / 45, 1 / 90, 2 / 45], 1)
    # The solution of this one is (1, 1).
    indefinite = wb.trace([[0, 1], [1, 0]], rhs=[-1, -1], solver="keller")
    assert (indefinite.trace.ray.dz, indefinite.trace.proof) == ([1, 0], None)


@pytest.mark.parametrize("solver", PIVOTING)
def test_every_end_is_what_it_says(solver):
    """Solutions are among all solutions, proofs leave none, rays stay complementary, cycles come to the same basis."""
    rng, ends = np.random.default_rng(1), set()
    for _ in range(150):
        M, q = integers(rng, rng.integers(1, 5))
        M = M @ M.T if solver == "keller" else M
        found = wb.trace(M, rhs=q, solver=solver).trace
        ends.add(found.outcome)
        everything = solution_set(found.system.M, found.system.q, np.inf)
        if found.outcome == "solution":
            z = np.array([float(Fraction(str(x))) for x in found.z])
            assert everything.count != 0
            assert np.minimum(z, M @ z + q) == pytest.approx(0, abs=1e-9)
        if found.proof is not None:
            assert everything.count == 0
        if found.ray is not None:
            last, system = found.steps[-1], found.system
            z = [a + 7 * b for a, b in zip(last.z, found.ray.dz, strict=True)]
            t = 0 if last.t is None else last.t + 7 * found.ray.dt
            w = [sum((system.M[i, j] * z[j] for j in range(len(q))), system.q[i]) + t for i in range(len(q))]
            assert solver == "keller" or all(x >= 0 and y >= 0 and x * y == 0 for x, y in zip(z, w, strict=True))
        if found.outcome == "cycle":
            assert found.steps[found.again].basis == found.steps[-1].basis
            assert found.again < found.steps[-1].number
    assert ends == {
        "lemke": {"solution", "ray"}, "keller": {"solution", "ray"},
        "murty": {"solution", "cycle", "singular"}, "judice-pires": {"solution", "cycle", "singular"},
    }[solver]  # fmt: skip


@pytest.mark.parametrize("solver", [*PIVOTING, "pgs"])
def test_steps_at_most(solver):
    """All of them take more for this one."""
    M, q = ([[-2, 2], [-2, -1]], [-2, -1]) if solver == "judice-pires" else ([[2, 1], [1, 2]], [-5, -6])
    found = wb.trace(M, rhs=q, solver=solver, max_steps=1).trace
    assert (found.outcome, len(found.steps)) == ("stopped", 2)


def test_a_tableau_is_the_system_solved_for_its_basis():
    """Whatever the nonbasic unknowns are, w = q + M z + t e."""
    found = wb.trace(*COTTLE[:1], rhs=COTTLE[1]).trace
    M, q = np.array(COTTLE[0]), np.array(COTTLE[1])
    rng = np.random.default_rng(2)
    for step in found.steps:
        tableau, x = found.tableau(step.number), np.zeros(7)
        free = rng.integers(-9, 10, 4)
        x[list(tableau.nonbasic)] = free
        entries = [[float(y) for y in row] for row in tableau.entries]
        x[list(tableau.basic)] = np.array([float(y) for y in tableau.constants]) + entries @ free
        np.testing.assert_allclose(x[:3], q + M @ x[3:6] + x[6], atol=1e-12)


# The compiled codes take the same steps


@pytest.mark.parametrize("kind", ["P", "any"])
def test_lemke_takes_the_compiled_path_pivot_by_pivot(kind):
    rng, compared = np.random.default_rng(3), 0
    for _ in range(40):
        n = int(rng.integers(2, 7))
        M = lower_p(rng, n) if kind == "P" else integers(rng, n)[0]
        q = general_q(rng, n)
        found = wb.trace(M, rhs=q).trace
        if min(q) >= 0 or any("a tie of" in step.rule for step in found.steps):
            continue
        for step in found.pivots[1:]:
            work, info = lemke_workspace(M), np.zeros(1, dtype=np.int64)
            follow_path(M, q, 1.0, work, step.number, info)
            named = {2 * n if j == n else n + j if j >= 0 else i for i, j in enumerate(work.basic[:n])}
            assert (named, info[0]) == (set(step.basis), step.number)
            compared += 1
        if kind == "P":
            solution = SOLVERS.find("lemke").solve(LCP(M, q))
            assert solution.iterations == len(found.steps) - 1
            np.testing.assert_allclose(solution.z, [float(x) for x in found.z], rtol=1e-12)
    assert compared > 60


@pytest.mark.parametrize("kind", ["P", "any"])
def test_judice_pires_takes_the_compiled_exchanges_one_by_one(kind):
    rng, rules = np.random.default_rng(4), set()
    for k in range(40):
        n = int(rng.integers(2, 6))
        M, q = integers(rng, n) if kind == "any" else (lower_p(rng, n), general_q(rng, n))
        if k == 0 and kind == "any":
            n, M, q = 2, np.array([[1.0, -2.0], [2.0, -2.0]]), np.array([-3.0, -1.0])
        found = wb.trace(M, rhs=q, solver="judice-pires").trace
        for step in found.steps[1:20]:
            z, info = np.zeros(n), np.zeros(1, dtype=np.int64)
            by_pivots(M, q, np.zeros(n), np.full(n, np.inf), 1e-12, step.number, False, z, info)
            assert info[0] == step.number
            np.testing.assert_allclose(z, [float(x) for x in step.z], rtol=1e-9, atol=1e-9)
            rules.add(step.rule.split()[0].strip(":") + (" back" if "taken back" in step.rule else ""))
    assert rules == ({"block"} if kind == "P" else {"block", "block back", "single"})


def test_murty_takes_as_many_exchanges_as_the_compiled_method():
    rng = np.random.default_rng(5)
    for _ in range(30):
        n = int(rng.integers(2, 8))
        M, q = np.triu(rng.integers(-3, 4, (n, n)), 1) + np.eye(n) + np.eye(n, k=1 - n), general_q(rng, n)
        found, solution = wb.trace(M, rhs=q, solver="murty").trace, SOLVERS.find("murty").solve(LCP(M, q))
        if found.outcome == "solution":
            assert solution.iterations == len(found.steps) - 1
            np.testing.assert_allclose(solution.z, [float(x) for x in found.z], rtol=1e-9, atol=1e-12)


def test_keller_takes_the_compiled_drives_from_zero():
    rng, goes_on = np.random.default_rng(6), 0
    for _ in range(60):
        n = int(rng.integers(4, 8))
        A = rng.integers(0, 5, (n, n)).astype(float)
        M = A @ A.T + np.eye(n)
        q = -M @ rng.integers(-2, 6, n) + rng.integers(-3, 4, n)
        found = wb.trace(M, rhs=q, solver="keller").trace
        goes_on += any("continues" in step.rule for step in found.steps)
        z, U, y, x, w = np.zeros(n), np.zeros((n, n)), np.empty(n), np.empty(n), q.copy()
        basis, active = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        info, m = np.zeros(1, dtype=np.int64), 0
        lower, upper = np.zeros(n), np.full(n, np.inf)
        while True:
            active[:] = [i in basis[:m] for i in range(n)]
            w = np.where(np.abs(M @ z + q) < 1e-9, 0, M @ z + q)
            i, _ = keller.most_promising(M, w, lower, upper, z, active)
            if i < 0:
                break
            problem, on = keller.Bounded(M, q, lower, upper), keller.Pivots(U, basis, z, w, y, x)
            m = keller.drive(problem, on, m, i, info)
            step = found.steps[info[0]]
            assert found.system.index_set(step.basis) == tuple(sorted(basis[:m]))
            np.testing.assert_allclose(z, [float(x) for x in step.z], rtol=1e-9, atol=1e-9)
        assert (info[0], found.outcome) == (len(found.steps) - 1, "solution")
    assert goes_on > 2


def test_sweeps_are_the_compiled_ones_bit_by_bit():
    rng = np.random.default_rng(7)
    A = rng.normal(size=(5, 5))
    M, q = A @ A.T + np.eye(5), rng.normal(size=5)
    found = wb.trace(M, rhs=q, solver="pgs").trace
    z, info = np.zeros(5), np.zeros(1, dtype=np.int64)
    for sweep in found.sweeps[1:]:
        sweeps_from(M, q, np.zeros(5), np.full(5, np.inf), z, 0.0, 1, info)
        assert z.tolist() == sweep.z
        residual = relative_step(M, q, np.zeros(5), np.full(5, np.inf), z.copy(), False)
        assert sweep.residual == pytest.approx(residual, rel=1e-12, abs=1e-18)
    solution = SOLVERS.find("pgs").solve(LCP(M, q))
    assert (solution.iterations, solution.z.tolist(), found.outcome) == (len(found.steps) - 1, found.z, "settled")


def test_exact_sweeps_are_fractions():
    found = wb.trace([[2, 1], [1, 2]], rhs=[-5, -6], solver="pgs", exact=True)
    assert found.trace.sweeps[2].z == [fmpq(13, 8), fmpq(35, 16)]
    assert (found.trace.outcome, len(found.trace.steps)) == ("stopped", 11)
    assert wb.trace([[2, 0], [1, "1/3"]], rhs=[-1, -1], solver="pgs", exact=True).trace.z == [fmpq(1, 2), fmpq(3, 2)]


def test_sweeps_that_diverge_are_reported():
    found = wb.trace([[1, -1e200], [-1e200, 1]], rhs=[-1e200, 1], solver="pgs")
    assert "leave the range of doubles" in found.text
    assert json.loads(json.dumps(found.data))["z"] is None
