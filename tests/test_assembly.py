"""From declarations to numbers: stamping, elimination and recovery against CVXPY's own `.value` and dense algebra."""

import re
from typing import Any, Literal

import cvxpy as cp
import numpy as np
import pytest

from tests.declared import frictionless, spd, system_of
from workbench.builtin.formulations import FORMULATIONS
from workbench.diagnostics.check import check_matrix
from workbench.language.assemble.assembly import carry_back, eliminate, stamp
from workbench.language.assemble.find import compiled
from workbench.language.formulation import ContactSymbols, Formulation, core_shapes, formulation
from workbench.language.leaves import CoreSymbol
from workbench.language.modelling import (
    ConeComplements,
    Declaration,
    Equals,
    Hooks,
    complements,
    declare,
    equals,
    free,
    nonneg,
)
from workbench.language.notation import relation
from workbench.language.sets import Box
from workbench.readers.matrix import Matrix
from workbench.step import stepping
from workbench.step.one_step import pose
from workbench.support.errors import DataError

NAMED = {f.name: f for f in FORMULATIONS}
OTHER_OPTIONS: dict[str, list[dict[str, Any]]] = {
    "stewart-trinkle": [dict(directions=6, axes="sliding")],
    "anitescu-potra": [dict(directions=8, axes="body"), dict(restitution="poisson")],
    "discrete-velocity": [dict(directions=6, axes="sliding")],
    "phantom-inertia": [dict(directions=6, axes="fixed", rho=0.7), dict(directions=8, lateral="regularised")],
    "box": [dict(bounds="iterated", axes="sliding"), dict(bounds="coupled", axes="body")],
    "hybrid": [dict(bounds="iterated", k_t=1e5), dict(axes="body", k_t=float("inf"))],
}


SPREAD = [f.with_options(**options) for f in FORMULATIONS for options in ({}, *OTHER_OPTIONS.get(f.name, []))]
SPREAD.append(frictionless("adhesive", adhesion=0.25))
SIZES = [(3, 0, 1, 1), (6, 1, 1, 2), (4, 2, 2, 1), (8, 0, 2, 2), (7, 1, 4, 1), (12, 2, 4, 2)]
"""(n, m, r, d) with at least as many velocities as bilateral and tangential rows."""

cast: Any = cp.Expression.cast_to_const
each_formulation = pytest.mark.parametrize("f", SPREAD, ids=lambda f: f.label)
each_formulation_in_turn = pytest.mark.parametrize(
    ("f", "size"), [(f, size) for i, f in enumerate(SPREAD) for size in SIZES[i % 2 :: 2]],
    ids=lambda x: x.label if isinstance(x, Formulation) else "n{}-m{}-r{}-d{}".format(*x),
)  # fmt: skip
"""Every formulation in every other size."""


class Instance:
    """A compiled formulation with the same random data in its arrays and in the parameters of its declaration."""

    def __init__(self, f, size, seed=0, rigid=False):
        self.rng, self.size = np.random.default_rng([seed, *size]), size
        self.c = compiled(f, *size)
        self.D = self.c.declaration
        self.work = self.c.workspace()
        core = self.c.core(0.01, False, 0.0)
        self.theta, own = core.theta, core.own
        for name, shape in core_shapes(*size).items():
            eps = name.startswith("eps")
            value = self.rng.uniform(0.1, 1, shape) if eps or name == "mu" else self.rng.standard_normal(shape)
            getattr(core, name)[:] = 0.0 if rigid and eps else spd(self.rng, shape[0]) if name == "M" else value
        own[:] = self.rng.uniform(0.1, 1, own.size)
        start = 0
        for p in self.D.hooks.own:
            p.value = own[start : start + p.size].reshape(p.shape)
            start += p.size
        sets = [(u, u.member_of) for u in self.D.partners]
        self.bounds = {
            side: [cast(getattr(x, side) if isinstance(x, Box) else default) + np.zeros(u.size) for u, x in sets]
            for side, default in (("lower", 0.0), ("upper", np.inf))
        }
        self.mu = [cast(r.x.mu) for r in self.D.relations if isinstance(r, ConeComplements)]
        for F in (*self.rows(), *self.outputs(), *self.bounds["lower"], *self.bounds["upper"], *self.mu):
            for p in F.parameters():
                if isinstance(p, CoreSymbol):
                    p.value = getattr(core, p.name())
        stamp(self.theta, self.work)

    def rows(self):
        """Equations, then the partners' rows, straight from the relations."""
        equations = [r.F for r in self.D.relations if isinstance(r, Equals)]
        laws = [r for r in self.D.relations if not isinstance(r, Equals)]
        return equations + [F for r in laws for F in ([r.F_n, r.F_t] if isinstance(r, ConeComplements) else [r.F])]

    def outputs(self):
        n, m, r, d = self.size
        known = {u.name(): u for u in self.D.free if u.name() == "p_b"} | self.D.recover
        return [cast(known.get(key, np.zeros(k))) for key, k in dict(v=n, p_n=r, p_t=d * r, p_b=m).items() if k]

    def at(self, x, expressions):
        """The expressions' values, one after the other, for the unknowns x."""
        start = 0
        for u in self.D.unknowns:
            u.value = x[start : start + u.size]
            start += u.size
        assert start == x.size
        return np.concatenate([np.zeros(0), *(np.ravel(F.value) for F in expressions)])

    def direct(self, expressions):
        """[coefficients, constant]: a column for every unit vector, by evaluation."""
        n_x = sum(u.size for u in self.D.unknowns)
        constant = self.at(np.zeros(n_x), expressions)
        return np.column_stack([*(self.at(e, expressions) - constant for e in np.eye(n_x)), constant])


# Stamping


@pytest.mark.share(3)
@each_formulation_in_turn
def test_stamped_matrix_is_the_declaration_evaluated(f, size):
    x = Instance(f, size)
    n_x = sum(u.size for u in x.D.unknowns)
    expected = x.direct([*x.rows(), *x.outputs()])
    assert len(expected) == n_x + x.work.out.size
    np.testing.assert_allclose(x.work.A[: len(expected)], expected, rtol=1e-12, atol=1e-12)
    for stamped, data in ((x.work.lower, x.bounds["lower"]), (x.work.upper, x.bounds["upper"]), (x.work.mu, x.mu)):
        np.testing.assert_allclose(stamped, x.at(np.zeros(n_x), data), rtol=1e-14)


@each_formulation
def test_a_step_stamps_over_the_last_one_without_a_trace(f):
    first, second = (Instance(f, (4, 1, 2, 2), seed) for seed in (0, 1))
    fresh = second.work.A.copy()
    stamp(second.theta, first.work)
    np.testing.assert_array_equal(first.work.A, fresh)


def test_a_constant_beside_data_at_one_place_is_stamped_with_it():
    f = frictionless("stiffer", law=lambda s, p: 3.0 * p)
    for seed in (0, 1):
        x = Instance(f, (3, 0, 2, 1), seed)
        stamp(x.theta, x.work)
        eps = x.c.views(x.theta)["eps_n"]
        np.testing.assert_allclose(x.work.A[3:5, 3:5], np.diag(eps + 3.0), rtol=1e-15)


@pytest.mark.share(3)
@each_formulation_in_turn
@pytest.mark.parametrize("rigid", [True, False], ids=["rigid", "relaxed"])
def test_elimination_is_the_schur_complement_and_carrying_back_solves_the_equations(f, size, rigid):
    x = Instance(f, size, seed=1, rigid=rigid)
    mixed, n_f = x.direct(x.rows()), sum(u.size for u in x.D.free)
    assert eliminate(x.work) == 0
    A_ff, A_fc, a_f = mixed[:n_f, :n_f], mixed[:n_f, n_f:-1], mixed[:n_f, -1]
    A_cf, A_cc, a_c = mixed[n_f:, :n_f], mixed[n_f:, n_f:-1], mixed[n_f:, -1]
    tolerance = 1e-14 * np.linalg.cond(A_ff) * (1 + np.abs(mixed).max() ** 2)
    assert tolerance < 1e-8
    np.testing.assert_allclose(x.work.M, A_cc - A_cf @ np.linalg.solve(A_ff, A_fc), rtol=0, atol=tolerance)
    np.testing.assert_allclose(x.work.q, a_c - A_cf @ np.linalg.solve(A_ff, a_f), rtol=0, atol=tolerance)
    x.work.z[:] = z = 10 * x.rng.standard_normal(x.work.z.size)
    carry_back(x.work)
    whole = np.concatenate([-np.linalg.solve(A_ff, A_fc @ z + a_f), z])
    np.testing.assert_allclose(x.work.out, x.at(whole, x.outputs()), rtol=1e-9, atol=100 * tolerance)
    # The free unknowns that came back satisfy the equations and give F = M z + q to the partners.
    n, _, r, d = size
    back = dict(zip(("v", "p_n", "p_t", "p_b"), np.split(x.work.out, np.cumsum([n, r, d * r])), strict=True))
    solved = np.split(whole[:n_f], np.cumsum([u.size for u in x.D.free])[:-1])
    # A model in stages has an unknown of the first one under a name that is recovered from the last.
    came = [back.get(u.name()) if x.D.recover.get(u.name(), u) is u else None for u in x.D.free]
    whole = np.concatenate([*(s if v is None else v for v, s in zip(came, solved, strict=True)), z])
    value, scale = x.at(whole, x.rows()), np.abs(mixed[:, :-1]) @ np.abs(whole) + np.abs(mixed[:, -1])
    assert np.all(np.abs(value[:n_f]) <= 1e-12 * scale.max())
    assert np.all(np.abs(value[n_f:] - (x.work.M @ z + x.work.q)) <= 1e-12 * scale.max() + 10 * tolerance)


@pytest.mark.share(2)
@each_formulation_in_turn
def test_balance_and_constraints_hold_whatever_the_impulses(f, size):
    n, m, r, d = size
    rng = np.random.default_rng([2, *size])
    # Closed contacts: one that a hook has opened lets no impulse through.
    s = system_of(rng, *size, phi=-1e-3, eps_n=0.1, eps_b=rng.uniform(0, 1, m), v_th=0.01)
    stepper = pose(f, s)
    again = stepper.finish_pass(rng.standard_normal(stepper.problem().size))
    # The balance of a step is that of both phases; bounds would never settle on impulses at random.
    if again and f.options.get("restitution") == "poisson":
        stepper.finish_pass(rng.standard_normal(stepper.problem().size))
    v, p_n, p_t, p_b = np.split(stepper.work.out.copy(), np.cumsum([n, r, d * r]))
    stepping.turn_back(stepper.core, p_t)
    momentum = s.M @ s.v + s.h * s.f
    scale = np.abs(s.M) @ np.abs(v) + np.abs(momentum) + np.abs(np.vstack([s.J_n, s.J_t])).T @ np.abs([*p_n, *p_t])
    balance = s.M @ v - momentum - s.J_n.T @ p_n - s.J_t.T @ p_t - s.J_b.T @ p_b
    assert np.all(np.abs(balance) <= 1e-12 * scale.max())
    bilateral = s.J_b @ v + s.g / s.h + s.eps_b * p_b
    assert np.all(np.abs(bilateral) <= 1e-12 * (scale.max() + np.abs(s.g / s.h).max(initial=0)))


# Recognition

LCPS = ("frictionless", "stewart-trinkle", "anitescu-potra", "discrete-velocity", "phantom-inertia", "staggered")
OTHERS = {"box": "MLCP", "hybrid": "MLCP", "ccp": "conic QP", "mujoco": "conic QP", "coulomb": "Coulomb NCP"}
KINDS = [(NAMED[name], kind) for name, kind in (dict.fromkeys(LCPS, "LCP") | OTHERS).items()]
KINDS += [(NAMED["box"].with_options(bounds=b), kind) for b, kind in (("iterated", "MLCP"), ("coupled", "LCP"))]


@pytest.mark.parametrize(("f", "kind"), KINDS, ids=lambda x: getattr(x, "label", x))
@pytest.mark.parametrize("d", [1, 2])
def test_class_is_recognised(f, kind, d):
    size = (8, 0, 2, d)
    problem: Any = pose(f, system_of(np.random.default_rng(3), *size)).problem()
    assert compiled(f, *size).kind == problem.kind == kind
    if kind in ("LCP", "MLCP"):
        assert (kind == "LCP") == bool((problem.lower == 0).all() and (problem.upper == np.inf).all())
    else:
        assert (problem.size, problem.d) == (2 * (1 + d), d)


# What cannot be eliminated


def dependent(f, system) -> dict[str, set[int]]:
    """Rows that the refusal names, by the first symbol of their equation."""
    with pytest.raises(DataError) as caught:
        pose(f, system).problem()
    message = str(caught.value)
    assert "\n" not in message
    assert "cannot be eliminated" in message
    assert "relaxation" in message
    found: dict[str, set[int]] = {}
    for rows, symbol in re.findall(r"((?:\d+, )*\d+) of '[−+]?(\w+)[^']* = 0'", message):
        found.setdefault(symbol, set()).update(int(i) for i in rows.split(", "))
    return found


def test_redundant_contacts_are_named():
    rng, f = np.random.default_rng(4), NAMED["phantom-inertia"].with_options(axes="fixed")
    J_t = rng.standard_normal((6, 9))
    J_t[4:] = J_t[:2]
    assert dependent(f, system_of(rng, 9, 0, 3, 2, J_t=J_t)) == {"J_t": {0, 1, 4, 5}}
    assert pose(f, system_of(rng, 9, 0, 3, 2, J_t=J_t, eps_t=1e-3)).problem().size == 15


def test_only_the_dependent_rows_are_named():
    rng, f = np.random.default_rng(5), NAMED["discrete-velocity"]
    J_t, J_b = rng.standard_normal((4, 7)), rng.standard_normal((2, 7))
    J_t[3] = J_t[0] - 2 * J_t[1]
    assert dependent(f, system_of(rng, 7, 2, 4, 1, J_t=J_t, J_b=J_b)) == {"J_t": {0, 1, 3}}
    J_t[3], J_b[1] = 0.0, J_t[2]
    assert dependent(f, system_of(rng, 7, 2, 4, 1, J_t=J_t, J_b=J_b)) == {"J_b": {1}, "J_t": {2, 3}}
    # Only J_b enters the elimination of a formulation whose friction is a partner.
    assert pose(NAMED["box"], system_of(rng, 7, 2, 4, 1, J_t=J_t, J_b=J_b)).problem().size == 8
    J_b[1] = 3 * J_b[0]
    assert dependent(NAMED["box"], system_of(rng, 7, 2, 4, 1, J_b=J_b)) == {"J_b": {0, 1}}
    assert pose(NAMED["box"], system_of(rng, 7, 2, 4, 1, J_b=J_b, eps_b=0.1)).problem().size == 8


@pytest.mark.parametrize(("E", "rows"), [(0 * np.eye(2), {0, 1}), (np.ones((2, 2)), {0, 1}), (np.diag([1, 0]), {1})])
def test_an_equation_that_determines_nothing_is_named(E, rows):
    build = frictionless("slack", more=lambda s, p_n: [equals(cp.Constant(E, name="E") @ free("y", 2) - p_n)])
    assert dependent(build, system_of(np.random.default_rng(7), 4, 0, 2, 1)) == {"E" if E.any() else "p": rows}


def test_a_parameter_that_no_hook_sets_is_named():
    first, second = cp.Parameter(2, name="first", value=np.ones(2)), cp.Parameter(2, name="second")
    build = frictionless("half set", lambda s, p_n: cp.multiply(first, p_n) + second, hooks=Hooks(own=(first, second)))
    with pytest.raises(DataError, match="'second' is left without a value"):
        pose(build, system_of(np.random.default_rng(8), 4, 0, 2, 1)).problem()


# One sign, seen everywhere


@formulation("signed", friction="none", source="this test")
def signed(s: ContactSymbols, law: Literal[1, -1] = 1, balance: Literal[1, -1] = 1) -> Declaration:
    v, p_n = free("v", s.n), nonneg("p_n", s.r)
    return declare(
        equals(s.M @ v - s.b - balance * (s.J_n.T @ p_n)),
        complements(law * (s.J_n @ v) + s.b_n, p_n),
        recover=dict(v=v, p_n=p_n),
    )


@pytest.mark.parametrize("law", [1, -1])
@pytest.mark.parametrize("balance", [1, -1])
def test_a_sign_changes_print_matrix_and_verdict_together(law, balance):
    f, size = signed.with_options(law=law, balance=balance), (5, 0, 2, 1)
    system = system_of(np.random.default_rng(9), *size)
    printed = [relation(r) for r in f.declaration(*size).relations]
    assert printed[0] == f"M v⁺ − b {'−' if balance > 0 else '+'} J_nᵀ p_n = 0"
    assert printed[1] == f"0 ≤ p_n  ⊥  {'' if law > 0 else '−'}J_n v⁺ + b_n ≥ 0"
    stepper = pose(f, system)
    problem = stepper.problem()
    np.testing.assert_allclose(stepper.work.A[5:7, :5], law * system.J_n, rtol=1e-14)
    np.testing.assert_allclose(stepper.work.A[:5, 5:7], -balance * system.J_n.T, rtol=1e-14)
    N = system.J_n @ np.linalg.solve(system.M, system.J_n.T)
    np.testing.assert_allclose(problem.M, law * balance * N, rtol=1e-12)
    assert check_matrix(Matrix(problem.M))["p_matrix"]["verdict"] == ("P" if law * balance > 0 else "not P")
