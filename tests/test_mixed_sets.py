"""Cones, discs and bounds beside one another in one declaration: each obeys its law, convex ones are a minimum."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

from tests import laws
from tests.declared import declared, system_of
from tests.scenes import Balls
from workbench.algorithms import find_solver
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases.block import Block
from workbench.builtin.formulations import FORMULATIONS
from workbench.language.assemble.find import compiled
from workbench.language.assemble.local import local_block
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.modelling import box, complements, declare, disc, equals, free, friction_cone, nonneg
from workbench.language.notation import relation, text_page
from workbench.problems.mixed import MixedNCP
from workbench.problems.sets import Sets
from workbench.problems.solution import Status
from workbench.scenes.stepper import SceneStepper
from workbench.step.local_steps import local_steps
from workbench.step.one_step import pose, solve_system
from workbench.step.simulation import simulate
from workbench.step.sweep import sweep_steps
from workbench.support.errors import DataError, ModellingError

EXACT = default_solver("mixed NCP")
COULOMB = FORMULATIONS.find("coulomb")
ENOUGH = 1e-8
FLAT = ("v", "f", "phi", "r_n", "r_t", "g", "r_b", "mu", "mu_s", "e", "eps_n", "eps_t", "eps_b")


@formulation("tresca", friction="discs of given radius", source="this test")
def tresca(s: ContactSymbols, radius: float = 0.3):
    v, p_n = free("v", s.n), nonneg("p_n", s.r)
    p_t = disc("p_t", s.r, s.d, radius)
    return declare(
        equals(s.balance(v, p_n, p_t)),
        *s.bilateral(v),
        complements(s.un(v, p_n), p_n),
        complements(s.ut(v, p_t), p_t),
        recover=dict(v=v, p_n=p_n, p_t=p_t),
    )


@formulation("dry joints", friction="cones, and bilateral rows that give way at a limit", source="this test")
def dry_joints(s: ContactSymbols, limit: float = 0.2, coulomb: int = 1):
    v, p = free("v", s.n), friction_cone(s.mu, s.r, s.d)
    p_j = box("p_j", s.m, -limit, limit)
    return declare(
        equals(s.balance(v, p.n, p.t, p_j)),
        complements(s.J_b @ v + s.b_b, p_j),
        complements((s.un(v, p.n), s.ut(v, p.t)), p, law="coulomb" if coulomb else "cone"),
        recover=dict(v=v, p_n=p.n, p_t=p.t),
    )


def axes(s: ContactSymbols, ratio: float):
    """Coefficients mu and ratio mu of the directions of every contact."""
    return cp.Constant(np.kron(np.eye(s.r), [[1.0], [ratio]]), name="S") @ s.mu


@formulation("ellipse", friction="an ellipse", source="this test")
def ellipse(s: ContactSymbols, ratio: float = 0.5, coulomb: int = 1):
    v, p = free("v", s.n), friction_cone(axes(s, ratio), s.r, s.d)
    return declare(
        equals(s.balance(v, p.n, p.t)),
        *s.bilateral(v),
        complements((s.un(v, p.n), s.ut(v, p.t)), p, law="coulomb" if coulomb else "cone"),
        recover=dict(v=v, p_n=p.n, p_t=p.t),
    )


def systems(d=2, m=0, **given):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        # Contacts that close, on so many velocities that none is redundant.
        yield system_of(rng, 12, m, 3, d, r_n=-3.0, e=0.0, **given)


def solved(f, system):
    answer, solution = solve_system(f, system, EXACT)
    assert (solution.claimed, solution.verified) == (Status.SOLVED, True)
    r = system.J_n.shape[0]
    u_n = system.J_n @ answer.v + system.r_n + system.phi / system.h
    return answer, answer.p_t.reshape(r, -1), u_n, (system.J_t @ answer.v + system.r_t).reshape(r, -1)


@pytest.mark.parametrize("d", [1, 2])
def test_discs_of_given_radius_bear_what_they_may_against_sliding(d):
    slides = 0
    for system in systems(d):
        answer, p_t, u_n, u_t = solved(tresca, system)
        assert laws.discs(p_t, u_t, np.full(3, 0.3)) < ENOUGH
        assert laws.signorini(answer.p_n, u_n) < ENOUGH
        slides += (np.linalg.norm(u_t, axis=1) > 1e-6).sum()
    assert 0 < slides < 18


def test_cones_stand_beside_boxes():
    held = 0
    for system in systems(m=2):
        answer, p_t, u_n, u_t = solved(dry_joints, system)
        assert laws.discs(p_t, u_t, system.mu * answer.p_n) < ENOUGH
        assert laws.signorini(answer.p_n, u_n) < ENOUGH
        p_j = np.linalg.lstsq(
            system.J_b.T, system.M @ (answer.v - system.v) - system.h * system.f - system.J_n.T @ answer.p_n
            - system.J_t.T @ answer.p_t, rcond=None,
        )[0]  # fmt: skip
        u_j = system.J_b @ answer.v + system.g / system.h
        assert laws.within(p_j, u_j, -0.2, 0.2) < ENOUGH
        held += (np.abs(p_j) < 0.2 - 1e-6).sum()
    assert 0 < held < 12


@pytest.mark.parametrize("f", [
    tresca, dry_joints.with_options(coulomb=0), ellipse.with_options(coulomb=0),
    ellipse.with_options(coulomb=0, ratio=0.0),
], ids=lambda f: f.label)  # fmt: skip
def test_convex_mixtures_are_the_minimum_that_a_conic_solver_finds(f):
    for system in [*systems(m=2 if f.name == "dry joints" else 0)][:2]:
        problem = declared(f, system).problem()
        # The velocity is as close to the minimiser as the square root of the gap.
        problem.solve("CLARABEL", tol_gap_abs=1e-13, tol_gap_rel=1e-13)
        answer, solution = solve_system(f, system, EXACT)
        assert solution.verified
        np.testing.assert_allclose(answer.v, problem.var_dict["v"].value, atol=2e-5)


@pytest.mark.parametrize("f", [tresca, dry_joints, ellipse, ellipse.with_options(ratio=0.0)], ids=lambda f: f.label)
def test_compiled_steps_of_mixtures_are_those_in_python(f):
    """Also of bodies that nothing couples, with more unknowns than others are solved together."""
    m, apart = 2 if f.name == "dry joints" else 0, np.eye(5)
    for one in systems(m=m):
        many = replace(
            one, M=np.kron(apart, one.M), J_n=np.kron(apart, one.J_n), J_t=np.kron(apart, one.J_t),
            J_b=np.kron(apart, one.J_b), heading=np.tile(one.heading, (5, 1)),
            **{name: np.tile(getattr(one, name), 5) for name in FLAT},
        )  # fmt: skip
        for system in (one, many):
            mu = np.linspace(0.1, 0.9, 4)
            found = sweep_steps(f, system, mu=mu)
            assert found.solved.all()
            for k in range(4):
                answer, solution = solve_system(f, replace(system, mu=np.full(system.mu.size, mu[k])), EXACT)
                assert found.residuals[k] == pytest.approx(solution.residual, rel=1e-6, abs=1e-14)
                for name in ("v", "p_n", "p_t"):
                    np.testing.assert_array_equal(getattr(found, name)[k], getattr(answer, name))


@pytest.mark.parametrize("ratio", [0.5, 2.0, 0.0])
def test_ellipses_dissipate_the_most_that_they_allow(ratio):
    for system in systems():
        answer, p_t, u_n, u_t = solved(ellipse.with_options(ratio=ratio), system)
        mu, S = system.mu[:, None], np.array([1.0, ratio])
        scaled = np.divide(p_t, S, out=np.zeros_like(p_t), where=S > 0)
        assert laws.discs(scaled, u_t * S, mu[:, 0] * answer.p_n) < ENOUGH
        assert laws.signorini(answer.p_n, u_n) < ENOUGH
        if not ratio:
            assert not p_t[:, 1].any()


def test_a_round_ellipse_is_coulombs_disc():
    for system in systems():
        round_one = solve_system(ellipse.with_options(ratio=1.0), system, EXACT)[0]
        coulomb = solve_system(COULOMB, system, find_solver("coulomb-exact"))[0]
        np.testing.assert_allclose(round_one.v, coulomb.v, atol=1e-9)


def test_a_case_steps_and_its_residuals_are_the_problems_own():
    # A block that slides and comes to rest, bound by a disc of the impulse that its weight makes.
    case, h = Block(), 1e-3
    run = simulate(case, tresca.with_options(radius=1e-3), EXACT, h, 0.05)
    assert (run.status, run.steps, run.kind) == (Status.SOLVED, 50, "mixed NCP")
    assert run.residuals.shape == (50,)
    assert run.residuals.max() < EXACT.tolerance
    sliding = np.linalg.norm(run.u_t[:, 0], axis=-1) > 1e-6
    np.testing.assert_allclose(np.linalg.norm(run.p_t[sliding, 0], axis=-1), 1e-3, rtol=1e-9)
    again = local_steps(run, run.formulation, EXACT, [0, 20, 49])
    np.testing.assert_allclose(again.v_after, run.v_after[[0, 20, 49]], atol=1e-12)


def test_contacts_of_a_scene_take_a_disc_beside_their_normal_impulse():
    """Balls side by side and on each other: every contact by its own law, and those with nothing near them too."""
    x = [[0.0, 0.0, 0.1], [0.2, 0.0, 0.1], [0.1, 0.0, 0.1 + np.sqrt(0.03)], [1.0, 0.0, 0.1]]
    scene = Balls(x, [[0.0, 0.5, 0.0], [0.0, -0.5, 0.0], [0.3, 0.1, 0.0], [0.1, 0.0, 0.0]], ahead=1e-9)
    stepper = SceneStepper(scene, tresca.with_options(radius=2e-3), 1e-3)
    (q, v), slides = scene.start(), 0
    for _ in range(3):
        step = stepper.step(q, v, 0.0)
        assert (step.status, step.residual < ENOUGH) == (Status.SOLVED, True)
        u, P = (step.given.J @ step.v).reshape(-1, 3), step.P.reshape(-1, 3)
        assert len(P) >= 3
        assert laws.discs(P[:, 1:], u[:, 1:], np.full(len(P), 2e-3)) < ENOUGH
        assert laws.signorini(P[:, 0], u[:, 0] + step.given.phi / 1e-3) < ENOUGH
        slides += (np.linalg.norm(u[:, 1:], axis=1) > 1e-6).sum()
        q, v = step.q, step.v
    assert slides > 0


def coupled(s, v, p_n):
    """A disc whose rows see the normal impulse."""
    p_t = disc("p_t", s.r, s.d, 1.0)
    S = cp.Constant(np.kron(np.eye(s.r), np.ones((s.d, 1))), name="S")
    return complements(s.ut(v, p_t) + S @ p_n, p_t), p_t


def coupled_by_data(s, v, p_n):
    """The same, by as much as the contact's coefficient of friction."""
    p_t = disc("p_t", s.r, s.d, 1.0)
    S = cp.Constant(np.kron(np.eye(s.r), np.ones((s.d, 1))), name="S")
    return complements(s.ut(v, p_t) + S @ cp.multiply(s.mu, p_n), p_t), p_t


def reversed_order(s, v, p_n):
    """The same law, its friction before its normal impulse."""
    p_t = disc("p_t", s.r, s.d, 1.0)
    return complements(s.ut(v, p_t), p_t), p_t


@pytest.mark.parametrize(("friction", "said"), [
    (coupled, "scenes take discs whose rows are their own"),
    (coupled_by_data, "scenes take discs whose rows are their own"),
    (reversed_order, "scenes take a cone for these alone"),
])  # fmt: skip
def test_what_a_scene_does_not_take_is_refused(friction, said):
    @formulation("odd", friction="a disc", source="this test")
    def odd(s: ContactSymbols):
        v, p_n = free("v", s.n), nonneg("p_n", s.r)
        rubs, p_t = friction(s, v, p_n)
        rows = [complements(s.un(v, p_n), p_n), rubs]
        ordered = rows[::-1] if friction is reversed_order else rows
        balance = equals(s.balance(v, p_n, p_t))
        return declare(balance, *s.bilateral(v), *ordered, recover=dict(v=v, p_n=p_n, p_t=p_t))

    with pytest.raises(ModellingError, match=said):
        local_block(odd, 2)
    with pytest.raises(ModellingError, match="is not local to its contacts"):
        local_block(ellipse, 2)


def test_the_residual_sees_every_law_broken():
    system = next(systems(m=2))
    for f in (tresca, dry_joints, ellipse):
        problem = pose(f, next(systems()) if f is not dry_joints else system).problem()
        z = EXACT.solve(problem).z
        assert problem.residual(z) < 1e-12
        batch = problem.residual(np.stack([z, z]))
        np.testing.assert_array_equal(batch, [problem.residual(z)] * 2)
        for i in range(z.size):
            off = z.copy()
            off[i] += 0.1 * np.abs(z).max()
            assert problem.residual(off) > 1e-3
        assert problem.residual(np.full(z.size, np.nan)) == np.inf


def test_every_form_is_printed():
    s = ContactSymbols(3, 0, 1, 2)
    words = text_page(tresca.declaration(3, 0, 1, 2), "mixed NCP")
    assert "|p_t| ≤ 0.3  ⊥  J_t v⁺ + b_t + ε_t∘p_t" in words
    assert "p_t      disc, 2 entries" in words
    assert r"\lVert p_{t} \rVert \le 0.3 \;\perp\; " in relation(tresca.declaration(3, 0, 1, 2).relations[-1], "latex")
    cone = ellipse.declaration(3, 0, 1, 2).relations[1]
    assert "b_n + ε_n∘p_n + |(S μ) ∘ u_t|, u_t) ∈ K_μ*" in relation(cone)
    p = friction_cone(s.mu, 1, 5, apart=True)
    apart = complements((p.n, p.t), p, law="coulomb")
    assert "(p_n + μ (|u_t_sliding| + |u_t_torsion| + |u_t_rolling|), u_t)" in relation(apart)
    assert r"\mu (\lVert u_{\mathrm{t,sliding}} \rVert + " in relation(apart, "latex")


def test_mistakes_are_one_line():
    s = ContactSymbols(3, 0, 2, 2)
    for wrong, said in (
        (lambda: disc("p_t", 2, 2, -1.0), "'p_t' has the radius -1; a number >= 0 is needed"),
        (lambda: disc("p_t", 2, 2, np.nan), "'p_t' has the radius nan; a number >= 0 is needed"),
        (lambda: disc("p_t", 2, 2, np.ones(3)), "the radius of 'p_t' has 3 entries; 2 are needed"),
        (
            lambda: disc("p_t", 2, 2, cp.multiply(s.mu, nonneg("p_n", 2))),
            "the radius of 'p_t' contains the unknown 'p_n'; "
            "it is data, so declare the coupling as relations of its own",
        ),
        (
            lambda: friction_cone(np.ones(3), 2, 2),
            "the friction coefficient of ('p_n', 'p_t') has 3 entries; 2 are needed, or 4, one for every direction",
        ),
    ):
        with pytest.raises(ModellingError) as error:
            wrong()
        assert str(error.value) == said


def test_torsion_apart_with_associated_flow_is_convex_and_not_solved_exactly():
    @formulation("apart", friction="associated", source="this test")
    def apart(s: ContactSymbols):
        v, p = free("v", s.n), friction_cone(s.mu, s.r, s.d, apart=True)
        F = s.un(v, p.n), s.ut(v, p.t)
        return declare(equals(s.balance(v, p.n, p.t)), complements(F, p), recover=dict(v=v, p_n=p.n, p_t=p.t))

    with pytest.raises(ModellingError, match=r"solved under law='coulomb' alone; .* is declaration.problem\(\)"):
        compiled(apart, 6, 0, 1, 5)
    declaration = apart.declaration(6, 0, 1, 5)
    for name, p in declaration.parameters.items():
        p.value = np.eye(6) if name == "M" else np.zeros(p.shape)
    values = declaration.parameters
    values["J_n"].value, values["J_t"].value = np.eye(6)[:1], np.eye(6)[1:]
    values["b"].value, values["mu"].value = np.array([-1.0, 3.0, 4.0, 3.0, 0.0, 5.0]), np.array([0.5])
    problem = declaration.problem()
    problem.solve("CLARABEL")
    p_n, p_t = problem.var_dict["p_n"].value[0], problem.var_dict["p_t"].value
    sizes = [np.linalg.norm(p_t[:2]), abs(p_t[2]), np.linalg.norm(p_t[3:])]
    np.testing.assert_allclose(sizes, 0.5 * p_n, rtol=1e-4)


def test_sets_and_problems_are_checked():
    sets = Sets(np.array([0, 4]), np.array([0, 1, 3]), np.arange(3), np.array([0, 0, 1]))
    M, q = np.eye(3), np.zeros(3)
    with pytest.raises(DataError, match="mu = -1 is negative; friction coefficients and radii are >= 0"):
        MixedNCP(M, q, np.zeros(3), np.ones(3), [-1.0], sets)
    with pytest.raises(DataError, match=r"q has 2 entries and mu \(1,\); the sets have 3 unknowns and 1 coefficients"):
        MixedNCP(np.eye(2), np.zeros(2), np.zeros(2), np.ones(2), [1.0], sets)
    with pytest.raises(DataError, match="lower must not exceed upper"):
        MixedNCP(M, q, np.ones(3), np.zeros(3), [1.0], sets)
    with pytest.raises(DataError, match="share out the unknowns among the sets"):
        Sets(np.array([0, 4]), np.array([0, 1, 3]), np.array([0, 1, 1]), np.array([0, 0, 1]))
    with pytest.raises(DataError, match="a disc one radius"):
        Sets(np.array([0, 4]), np.array([0, 1, 3]), np.arange(3), np.array([0, 0, 2]))
    with pytest.raises(DataError, match="set 1 has 2 unknowns and cone 5; 1 or more and 0 to 4 are needed"):
        Sets(np.array([0, 5]), np.array([0, 1, 3]), np.arange(3), np.array([0, 0, 1]))
