"""Sliding contacts: blocks and LCP, the law, the paper's expansion and its errata, refusals, the declaration."""

import re
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

from tests.sliding_systems import SIZES, assert_close, random_system
from workbench.algorithms import find_solver
from workbench.algorithms.enumeration import all_solutions
from workbench.builtin.cases.rod import Rod
from workbench.builtin.formulations import FORMULATIONS, SLIDING
from workbench.builtin.formulations.coulomb import coulomb
from workbench.builtin.formulations.sliding_lcp import sliding_lcp
from workbench.cli.main import main
from workbench.language import notation
from workbench.language.assemble.assembly import stamp
from workbench.language.assemble.find import compiled
from workbench.language.formulation import ContactSymbols, SlidingSymbols
from workbench.problems.solution import Status
from workbench.step.sliding.law import law_residual
from workbench.step.sliding.motion import sliding_motion
from workbench.step.sliding.system import Multipliers, SlidingSystem, pose_sliding, sliding_signs, solve_sliding
from workbench.support.errors import DataError, ModellingError
from workbench.verbs.find import find_case

each_size = pytest.mark.parametrize("size", SIZES, ids=lambda s: f"b{s[0]}-u{s[1]}")
ENUMERATE = find_solver("enumerate")


# Blocks and LCP


@each_size
def test_the_lcp_is_the_mixed_system_with_accelerations_and_positive_parts_eliminated(size):
    for seed in range(10):
        s = random_system(seed, *size)
        m_b, n = s.m_b, len(s.M)
        friction_b, friction_u = s.J_tb.T * (s.mu_b * s.xi_b), s.J_tu.T * (s.mu_u * s.xi_u)
        # Columns a, lambda+; then lambda-, lambda_nu and the constant.
        K = np.block([[s.M, friction_b - s.J_nb.T], [s.J_nb, np.zeros((m_b, m_b))]])
        others = np.block([
            [s.J_nb.T + friction_b, friction_u - s.J_nu.T, -s.f[:, None]],
            [np.zeros((m_b, sum(size))), s.w_nb[:, None]],
        ])  # fmt: skip
        x = -np.linalg.solve(K, others)
        rows = np.vstack([x[n:], s.J_nu @ x[:n]])
        rows[m_b:, -1] += s.w_nu
        assert_close(s.M_mu, rows[:, :-1])
        assert_close(s.z, rows[:, -1])
        problem, _ = pose_sliding(sliding_lcp, s)
        assert_close(problem.M, s.M_mu)
        assert_close(problem.q, s.z)


@each_size
def test_answers_obey_the_law_as_it_stands(size):
    for seed in range(10):
        s = random_system(seed, *size)
        for solver in (ENUMERATE, find_solver("lemke")):
            (lambda_nb, lambda_nu), a, solution = solve_sliding(sliding_lcp, s, solver)
            assert solution.claimed is Status.SOLVED
            assert law_residual(s, a, lambda_nb, lambda_nu).worst <= 1e-13
            z = all_solutions(s.lcp)[0]
            assert_close(np.concatenate(s.multipliers(z)), np.concatenate([lambda_nb, lambda_nu]), 1e-11)


def test_both_signs_of_bilateral_forces_occur_and_rub_alike():
    signs = set()
    for seed in range(10):
        s = random_system(seed, 2, 1)
        (lambda_nb, lambda_nu), *_ = solve_sliding(sliding_lcp, s, ENUMERATE)
        friction = s.friction(Multipliers(lambda_nb, lambda_nu))
        np.testing.assert_allclose(friction.lambda_nb * s.xi_b, -s.mu_b * np.abs(lambda_nb), rtol=1e-14)
        signs |= set(np.sign(lambda_nb))
    assert signs == {-1.0, 1.0}


def test_the_judge_sees_every_kind_of_mistake_whatever_the_units():
    s = random_system(1, 2, 2)
    (lambda_nb, lambda_nu), a, _ = solve_sliding(sliding_lcp, s, ENUMERATE)
    closed = int(np.argmax(lambda_nu))
    wrong = {
        "dynamics": (a + 1e-3 * np.abs(a).max(), lambda_nb, lambda_nu),
        "bilateral": (s.acceleration(Multipliers(1.1 * lambda_nb, lambda_nu)), 1.1 * lambda_nb, lambda_nu),
        "complementarity": (a, lambda_nb, lambda_nu - 2 * lambda_nu[closed] * np.eye(2)[closed]),
    }
    scale = np.array([1e3, 1e-4])
    other = replace(s, J_nu=scale[:, None] * s.J_nu, J_tu=scale[:, None] * s.J_tu, w_nu=scale * s.w_nu)
    for kind, (a, nb, nu) in wrong.items():
        residual = law_residual(s, a, nb, nu)
        assert getattr(residual, kind) > 1e-5
        assert residual.worst == max(residual.dynamics, residual.bilateral, residual.complementarity)
        rescaled = law_residual(other, a, nb, nu / scale)
        assert getattr(rescaled, kind) == pytest.approx(getattr(residual, kind), rel=1e-9)
    # Friction that pushes on instead of holding back leaves the other rows as they are.
    turned = replace(s, xi_b=-s.xi_b)
    assert law_residual(turned, *(solve_sliding(sliding_lcp, s, ENUMERATE)[1], lambda_nb, lambda_nu)).dynamics > 1e-4
    assert law_residual(s, np.full(len(s.M), np.nan), lambda_nb, lambda_nu).worst == np.inf


# The paper's expansion, and its errata


def test_the_block_expansion_holds_as_corrected_and_not_as_printed():
    """K = sum of (A_nb^-1 A_tb [mu xi])^i; 2 K comes with C in the third line, and -2 A_nutb [mu xi] stays single."""
    for seed in range(10):
        s = random_system(seed, 2, 3, mu=0.1)
        a, m = s.inverse, s.mu_b * s.xi_b
        G = np.linalg.solve(a.nb, a.tb * m)
        K = np.linalg.solve(np.eye(2) - G, G)
        series = sum(np.linalg.matrix_power(G, i) for i in range(1, 200))
        assert_close(K, series)
        mixed, rub = np.linalg.solve(a.nb, a.nbnu), np.linalg.solve(a.nb, a.nbtu * (s.mu_u * s.xi_u))
        C, N = s.blocks.C, a.nutb * m
        bracket = (np.eye(2) + K) @ rub - K @ mixed
        lines = {
            (0, 0): np.eye(2) + 2 * K,
            (0, 1): -mixed + bracket,
            (1, 0): -2 * N + 2 * C @ K,
            (1, 1): a.nu - a.nbnu.T @ mixed - a.tu * (s.mu_u * s.xi_u) + N @ mixed + C @ bracket,
        }
        cut = (slice(0, 2), slice(2, 5))
        for (i, j), expected in lines.items():
            assert_close(s.M_mu[cut[i], cut[j]], expected)
        printed = -2 * N + C @ K
        assert np.abs(printed - s.M_mu[2:, :2]).max() > 1e-3 * np.abs(printed).max()


def test_the_second_row_of_the_mixed_problem_needs_cbar_and_not_c_twice():
    for seed in range(10):
        s = random_system(seed, 2, 2, mu_b=0.3)
        b = s.blocks
        minus, nu = np.random.default_rng(seed).uniform(0, 1, (2, 2))
        plus = np.linalg.solve(b.A, b.Abar @ minus - b.B @ nu - b.w1)
        force = s.f + s.J_nb.T @ (plus - minus) + s.J_nu.T @ nu
        # With both parts positive |lambda| is their sum, as the split has it.
        force = force - s.J_tb.T @ (s.mu_b * s.xi_b * (plus + minus)) - s.J_tu.T @ (s.mu_u * s.xi_u * nu)
        u = s.J_nu @ np.linalg.solve(s.M, force) + s.w_nu
        assert_close(b.C @ plus - b.Cbar @ minus + b.D @ nu + b.w2, u)
        printed = b.C @ plus - b.C @ minus + b.D @ nu + b.w2
        assert np.abs(printed - u).max() > 1e-3 * np.abs(u).max()


def test_the_frictionless_matrix_has_the_transpose_in_its_lower_left():
    s = random_system(0, 2, 3)
    J = np.vstack([s.J_nb, s.J_nu])
    full = J @ np.linalg.solve(s.M, J.T)
    a = s.inverse
    assert_close(np.block([[a.nb, a.nbnu], [a.nbnu.T, a.nu]]), full)
    # As printed it would not even have the right shape.
    assert a.nbnu.shape != full[2:, :2].shape
    assert_close(s.M_0[2:, 2:], a.nu - a.nbnu.T @ np.linalg.solve(a.nb, a.nbnu))
    assert_close(s.with_friction(0.0).M_mu, s.M_0)


def test_friction_enters_to_first_order():
    s = random_system(3, 2, 2)
    near, far = (np.linalg.norm(s.with_friction(x).Theta, 2) for x in (1e-5, 2e-5))
    assert far / near == pytest.approx(2, abs=1e-3)


# Refusals


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(mu_b=-0.1), "mu_b = -0.1 is negative; mu_b >= 0 is needed"),
        (dict(mu_u=[0.1, -0.2]), "mu_u = -0.2 is negative"),
        (dict(xi_u=[1.0, 0.5]), "xi_u[1] = 0.5; the sign of a sliding velocity is +1 or -1"),
        (dict(xi_b=0.0), "xi_b[0] = 0"),
        (dict(M=-np.eye(9)), "not positive definite"),
        (dict(M=np.eye(9) + np.eye(9, k=1)), "not symmetric"),
        (dict(M=np.ones((9, 3))), "M has shape (9, 3); a square mass matrix is needed"),
        (dict(J_tb=np.ones((1, 9))), "J_tb has shape (1, 9); (2, 9) is needed"),
        (dict(J_tb=np.zeros(0)), "J_tb has shape (0,); (2, 9) is needed"),
        (dict(J_nu=np.ones((2, 4))), "J_nu has shape (2, 4); (rows, 9) is needed"),
        (dict(f=np.full(9, np.nan)), "f[0] is not finite"),
        (dict(mu_b="rough"), "mu_b = 'rough' is not an array of real numbers"),
        (dict(J_nb=np.ones((2, 9))), "bilateral rows of J_nb are dependent: 0, 1"),
        (dict(J_nb=np.zeros(0), J_nu=np.zeros(0)), "at least one contact is needed"),
    ],
)
def test_data_that_are_no_sliding_system_are_refused_in_one_line(change, words):
    with pytest.raises(DataError, match=re.escape(words)) as caught:
        random_system(0, 2, 2, **change)
    assert "\n" not in str(caught.value)


def test_signs_of_sliding_velocities():
    np.testing.assert_array_equal(sliding_signs(np.array([0.1, -3.0])), [1, -1])
    for v_t in ([1.0, 0.0], [1.0, np.nan]):
        with pytest.raises(DataError, match=r"v_t\[1\].*must slide"):
            sliding_signs(np.array(v_t))


def test_a_singular_a_is_refused_where_the_lcp_is_asked_for():
    """One bilateral contact with A_nb = mu A_tb, exactly in whole numbers."""
    s = SlidingSystem(np.eye(2), np.ones(2), np.array([[1.0, 0.0]]), np.array([[2.0, 1.0]]), 0.5, 1.0)
    assert s.blocks.A.item() == 0.0
    for ask in (lambda: s.M_mu, lambda: s.z, lambda: pose_sliding(sliding_lcp, s)):
        with pytest.raises(DataError, match=r"A = A_nb - A_tb diag.* singular") as caught:
            ask()
        assert "\n" not in str(caught.value)


def test_a_solver_without_an_answer_leaves_nan():
    system = Rod(mu=1.4, angle=np.degrees(np.arctan(2))).sliding_system(*Rod(angle=np.degrees(np.arctan(2))).start())
    (_, lambda_nu), a, solution = solve_sliding(sliding_lcp, system, ENUMERATE)
    assert solution.claimed is Status.INFEASIBLE
    assert np.isnan([*lambda_nu, *a]).all()


# The declaration


def test_the_symbols_own_their_sizes_and_other_sizes_are_refused():
    assert {f.symbols for f in FORMULATIONS} == {ContactSymbols}
    assert {f.symbols for f in SLIDING} == {SlidingSymbols}
    with pytest.raises(ModellingError, match=re.escape("of size (m_b, m_u); (3, 0, 1, 1) was given")):
        compiled(sliding_lcp, 3, 0, 1, 1)
    with pytest.raises(ModellingError, match=re.escape("of size (n, m, r, d); (1, 1) was given")):
        compiled(coulomb, 1, 1)
    with pytest.raises(ModellingError, match="at least one"):
        compiled(sliding_lcp, 0, 0)
    assert compiled(sliding_lcp, 2, 3).kind == "LCP"


@each_size
def test_the_block_matrix_in_print_is_the_stamped_one(size):
    c = compiled(sliding_lcp, *size)
    work, theta = c.workspace(), c.theta.copy()
    rng = np.random.default_rng(0)
    values = {name: rng.standard_normal(view.shape) for name, view in c.views(theta).items()}
    for name, view in c.views(theta).items():
        view[:] = values[name]
    stamp(theta, work)
    i = 0
    labels, columns, blocks, constants = notation.block_matrix(c.declaration)
    assert (["λ⁺", "λ⁻"] if size[0] else []) + (["λ_nu"] if size[1] else []) == columns
    for F, line, constant in zip(c.declaration.expressions, blocks, constants, strict=True):
        j = 0
        for u, text in zip(c.declaration.unknowns, line, strict=True):
            sign, name = (-1 if text[0] == "−" else 1), text.lstrip("−")
            known = {"0": np.zeros((F.size, u.size)), "I": np.eye(F.size)} | values
            np.testing.assert_array_equal(work.A[i : i + F.size, j : j + u.size], sign * known[name])
            j += u.size
        known = {"0": np.zeros(F.size)} | values
        np.testing.assert_array_equal(work.A[i : i + F.size, j], known[constant])
        i += F.size
    assert len(labels) == len(blocks)
    data = {p.name() for F in c.declaration.expressions for p in F.parameters()}
    assert {name for name, meaning in notation.glossary(c.declaration) if "in every step" not in meaning} == data
    assert isinstance(c.declaration.recover[{True: "lambda_nu", False: "lambda_nb"}[size[1] > 0]], cp.Expression)


def test_signs_and_bars_are_printed():
    for name, latex in (
        ("lambda+", r"\lambda^{+}"),
        ("lambda-", r"\lambda^{-}"),
        ("Abar", r"\bar{A}"),
        ("v+", "v^{+}"),
    ):
        assert notation.latex_name(name) == latex


def test_the_command_line_shows_it_and_refuses_to_step_it(capsys, tmp_path):
    assert main(["show", "sliding-lcp", "--numbers"]) == 0
    text = capsys.readouterr().out
    assert "A λ⁺ − Abar λ⁻ + B λ_nu + w_1 = 0" in text
    assert "0 ≤ λ⁻  ⊥  λ⁺ ≥ 0" in text
    assert "size of rod-in-guide: m_b = 1 bilateral contacts, m_u = 1" in text
    assert "LCP, rod-in-guide, at the start" in text
    assert main(["show", "sliding-lcp", "--case", "rod", "--latex"]) == 0
    assert r"D \lambda_{\mathrm{nu}} + w_{2}" in capsys.readouterr().out
    for command, words in (
        (["show", "sliding-lcp", "--case", "wheel"], "cases that do: drawer, rod, rod-in-guide"),
        (["compare", "rod", "-f", "sliding-lcp", "--out", str(tmp_path / "x")], "makes no time steps"),
    ):
        assert main(command) == 2
        error = capsys.readouterr().err
        assert (error.count("\n"), words in error) == (1, True)
    assert "sliding-lcp" not in [f.name for f in FORMULATIONS]


def test_a_slip_that_reverses_is_refused_and_not_followed_in_ever_smaller_steps():
    """The rod sticks at 0.04244546 s; a step later friction would throw its tip back and forth."""
    case = find_case("rod", speed=0.5)
    q, v = case.start()
    near, _ = sliding_motion(case.sliding_system, q, v, 0.0424)
    assert near[2] == pytest.approx(q[2], abs=0.1)
    with pytest.raises(DataError, match=r"a slip reverses after 0\.04244"):
        sliding_motion(case.sliding_system, q, v, 0.0425)
