"""From declarations to numbers: stamping, elimination and recovery against CVXPY's own `.value` and dense algebra."""

import re
from typing import Literal

import cvxpy as cp
import numpy as np
import pytest
from numba import njit

from cases.wheel import Wheel
from formulations import FORMULATIONS
from workbench import stepping
from workbench.assembly import carry_back, compiled, eliminate, stamp
from workbench.contact import ContactSystem
from workbench.diagnostics.check import check
from workbench.errors import DataError
from workbench.formulation import ContactSymbols, CoreSymbol, formulation
from workbench.hooks import GIVEN
from workbench.modelling import (
    Box,
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
from workbench.notation import relation
from workbench.readers.matrix import Matrix
from workbench.simulation import pose, simulate, solve_system
from workbench.solution import Status
from workbench.solvers.base import KernelSolver
from workbench.solvers.lemke import SOLVER as LEMKE

NAMED = {f.name: f for f in FORMULATIONS}
OTHER_OPTIONS = {
    "stewart-trinkle": [dict(directions=6, axes="sliding")],
    "anitescu-potra": [dict(directions=8, axes="body")],
    "discrete-velocity": [dict(directions=6, axes="sliding")],
    "phantom-inertia": [
        dict(directions=6, axes="fixed", rho=0.7),
        dict(directions=8, lateral="regularised"),
        dict(axes="body"),
    ],
    "box": [dict(bounds="iterated", axes="sliding"), dict(bounds="coupled", axes="body")],
    "hybrid": [dict(bounds="iterated", k_t=1e5), dict(axes="body", k_t=float("inf"))],
}
SPREAD = [f.with_options(**options) for f in FORMULATIONS for options in ({}, *OTHER_OPTIONS.get(f.name, []))]
SIZES = [(3, 0, 1, 1), (6, 1, 1, 2), (4, 2, 2, 1), (8, 0, 2, 2), (7, 1, 4, 1), (12, 2, 4, 2)]
"""(n, m, r, d) with at least as many velocities as bilateral and tangential rows."""

each_formulation = pytest.mark.parametrize("f", SPREAD, ids=lambda f: f.label)
each_size = pytest.mark.parametrize("size", SIZES, ids=lambda s: "n{} m{} r{} d{}".format(*s))


def spd(rng, n: int) -> np.ndarray:
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    return (Q * np.geomspace(0.3, 3.0, n)) @ Q.T


def system_of(rng, n, m, r, d, **given) -> ContactSystem:
    data = dict(
        M=spd(rng, n), v=rng.standard_normal(n), f=rng.standard_normal(n), h=0.01, J_b=rng.standard_normal((m, n)),
        g=0.01 * rng.standard_normal(m), J_n=rng.standard_normal((r, n)), J_t=rng.standard_normal((d * r, n)),
        mu=rng.uniform(0.1, 1.0, r), phi=0.01 * rng.standard_normal(r), r_n=rng.standard_normal(r),
        r_t=rng.standard_normal(d * r), e=rng.uniform(0, 1, r),
    )  # fmt: skip
    return ContactSystem(**(data | given))


class Instance:
    """A compiled formulation with the same random data in its arrays and in the parameters of its declaration."""

    def __init__(self, f, size, seed=0, rigid=False) -> None:
        n, m, r, d = size
        rng = np.random.default_rng([seed, *size])
        self.c = compiled(f, *size)
        self.rng, self.size, self.D = rng, size, self.c.declaration
        self.work, own = self.c.room()
        self.core = self.c.core(self.work, 0.01, False, 0.0)
        for name, value in {
            "M": spd(rng, n), "b": rng.standard_normal(n),
            "J_b": rng.standard_normal((m, n)), "b_b": rng.standard_normal(m), "eps_b": rng.uniform(0, 1, m),
            "J_n": rng.standard_normal((r, n)), "b_n": rng.standard_normal(r), "eps_n": rng.uniform(0, 1, r),
            "J_t": rng.standard_normal((d * r, n)), "b_t": rng.standard_normal(d * r),
            "eps_t": rng.uniform(0, 1, d * r), "mu": rng.uniform(0.1, 1, r),
        }.items():  # fmt: skip
            getattr(self.core, name)[:] = 0.0 if rigid and name.startswith("eps") else value
        own[:] = rng.uniform(0.1, 1, own.size)
        start = 0
        for p in self.D.hooks.own:
            p.value = own[start : start + p.size].reshape(p.shape)
            start += p.size
        for F in (
            *self.D.expressions,
            *self.D.recover.values(),
            *self.bounds("lower"),
            *self.bounds("upper"),
            *self.mu,
        ):
            for p in F.parameters():
                if isinstance(p, CoreSymbol):
                    p.value = getattr(self.core, p.name())
        stamp(self.c.plan, self.work)

    def bounds(self, side: str) -> list[cp.Expression]:
        default = {"lower": 0.0, "upper": np.inf}[side]
        sets = [u.member_of for u in self.D.partners]
        return [cp.Expression.cast_to_const(getattr(x, side) if isinstance(x, Box) else default) for x in sets]

    @property
    def mu(self) -> list[cp.Expression]:
        return [cp.Expression.cast_to_const(r.x.mu) for r in self.D.relations if isinstance(r, ConeComplements)]

    def rows(self) -> list[cp.Expression]:
        """Equations, then the partners' rows, straight from the relations."""
        equations = [r.F for r in self.D.relations if isinstance(r, Equals)]
        others = [r for r in self.D.relations if not isinstance(r, Equals)]
        return equations + [
            F for r in others for F in ((r.F_n, r.F_t) if isinstance(r, ConeComplements) else (r.F,))
        ]  # fmt: skip

    def outputs(self) -> list[cp.Expression]:
        n, m, r, d = self.size
        p_b = [u for u in self.D.free if u.name() == "p_b"]
        known = {"p_b": p_b[0] if p_b else np.zeros(m)} | self.D.recover
        lengths = dict(v=n, p_n=r, p_t=d * r, p_b=m)
        return [cp.Expression.cast_to_const(known.get(key, np.zeros(k))) for key, k in lengths.items() if k]

    def at(self, x: np.ndarray, expressions: list[cp.Expression]) -> np.ndarray:
        start = 0
        for u in self.D.unknowns:
            u.value = x[start : start + u.size]
            start += u.size
        assert start == x.size
        return np.concatenate([np.ravel(F.value) for F in expressions])

    def direct(self, expressions: list[cp.Expression]) -> np.ndarray:
        """[coefficients, constant]: a column for every unit vector, by evaluation."""
        n_x = sum(u.size for u in self.D.unknowns)
        constant = self.at(np.zeros(n_x), expressions)
        columns = [self.at(e, expressions) - constant for e in np.eye(n_x)]
        return np.column_stack([*columns, constant])


# Stamping


@each_size
@each_formulation
def test_stamped_matrix_is_the_declaration_evaluated(f, size):
    x = Instance(f, size)
    n_x = sum(u.size for u in x.D.unknowns)
    rows, outputs = x.direct(x.rows()), x.direct(x.outputs())
    assert rows.shape == (n_x, n_x + 1)
    expected = np.vstack([rows, outputs])
    np.testing.assert_allclose(x.work.A[: len(expected)], expected, rtol=1e-12, atol=1e-12)
    for name, side in (("lower", x.work.lower), ("upper", x.work.upper)):
        entries = [np.broadcast_to(b.value, u.size) for b, u in zip(x.bounds(name), x.D.partners, strict=True)]
        np.testing.assert_allclose(side, np.concatenate(entries), rtol=1e-14)
    np.testing.assert_allclose(x.work.mu, np.concatenate([np.zeros(0), *(mu.value for mu in x.mu)]), rtol=1e-14)


@each_size
@each_formulation
@pytest.mark.parametrize("rigid", [True, False], ids=["rigid", "relaxed"])
def test_elimination_is_the_schur_complement_and_carrying_back_solves_the_equations(f, size, rigid):
    x = Instance(f, size, seed=1, rigid=rigid)
    mixed, n_f = x.direct(x.rows()), sum(u.size for u in x.D.free)
    assert eliminate(x.c.plan, x.work) == 0
    A_ff, A_fc, a_f = mixed[:n_f, :n_f], mixed[:n_f, n_f:-1], mixed[:n_f, -1]
    A_cf, A_cc, a_c = mixed[n_f:, :n_f], mixed[n_f:, n_f:-1], mixed[n_f:, -1]
    tolerance = 1e-14 * np.linalg.cond(A_ff) * (1 + np.abs(mixed).max() ** 2)
    np.testing.assert_allclose(x.work.M, A_cc - A_cf @ np.linalg.solve(A_ff, A_fc), rtol=0, atol=tolerance)
    np.testing.assert_allclose(x.work.q, a_c - A_cf @ np.linalg.solve(A_ff, a_f), rtol=0, atol=tolerance)

    z = 10 * x.rng.standard_normal(x.work.z.size)
    x.work.z[:] = z
    carry_back(x.c.plan, x.work)
    whole = np.concatenate([-np.linalg.solve(A_ff, A_fc @ z + a_f), z])
    np.testing.assert_allclose(x.work.out, x.at(whole, x.outputs()), rtol=1e-9, atol=100 * tolerance)
    # The free unknowns that came back, and no others, satisfy the equations and give F = M z + q to the partners.
    n, _, r, d = size
    back = dict(zip(("v", "p_n", "p_t", "p_b"), np.split(x.work.out, np.cumsum([n, r, d * r])), strict=True))
    whole = np.concatenate([*(back[u.name()] for u in x.D.free), z])
    value, scale = x.at(whole, x.rows()), np.abs(mixed[:, :-1]) @ np.abs(whole) + np.abs(mixed[:, -1])
    assert np.all(np.abs(value[:n_f]) <= 1e-12 * scale.max())
    assert np.all(np.abs(value[n_f:] - (x.work.M @ z + x.work.q)) <= 1e-12 * scale.max() + 10 * tolerance)


@each_size
@each_formulation
def test_balance_and_constraints_hold_whatever_the_impulses(f, size):
    n, m, r, d = size
    rng = np.random.default_rng([2, *size])
    system = system_of(rng, *size, eps_n=0.1, eps_b=rng.uniform(0, 1, m), v_th=0.01)
    stepper = pose(f, system)
    problem = stepper.problem()
    stepper.finish_pass(rng.standard_normal(problem.size))
    v, p_n, p_t, p_b = np.split(stepper.work.out.copy(), np.cumsum([n, r, d * r]))
    stepping.turn_back(stepper.core, p_t)
    s = system
    momentum = s.M @ s.v + s.h * s.f
    scale = np.abs(s.M) @ np.abs(v) + np.abs(momentum) + np.abs(np.vstack([s.J_n, s.J_t])).T @ np.abs([*p_n, *p_t])
    balance = s.M @ v - momentum - s.J_n.T @ p_n - s.J_t.T @ p_t - s.J_b.T @ p_b
    assert np.all(np.abs(balance) <= 1e-12 * scale.max())
    bilateral = s.J_b @ v + s.g / s.h + s.eps_b * p_b
    assert np.all(np.abs(bilateral) <= 1e-12 * (scale.max() + np.abs(s.g / s.h).max(initial=0)))


# Recognition


KINDS = [
    ("frictionless", {}, "LCP"),
    ("stewart-trinkle", {}, "LCP"),
    ("anitescu-potra", dict(directions=8), "LCP"),
    ("discrete-velocity", {}, "LCP"),
    ("phantom-inertia", {}, "LCP"),
    ("box", {}, "MLCP"),
    ("box", dict(bounds="iterated"), "MLCP"),
    ("box", dict(bounds="coupled"), "LCP"),
    ("hybrid", {}, "MLCP"),
    ("ccp", {}, "conic QP"),
    ("coulomb", {}, "Coulomb NCP"),
]


@pytest.mark.parametrize(("name", "options", "kind"), KINDS)
@pytest.mark.parametrize("d", [1, 2])
def test_class_is_recognised(name, options, kind, d):
    f, size = NAMED[name].with_options(**options), (8, 0, 2, d)
    problem = pose(f, system_of(np.random.default_rng(3), *size)).problem()
    assert compiled(f, *size).kind == problem.kind == kind
    if kind in ("conic QP", "Coulomb NCP"):
        assert (problem.size, problem.d) == (2 * (1 + d), d)
    else:
        assert (kind == "LCP") == bool((problem.lower == 0).all() and (problem.upper == np.inf).all())


# What cannot be eliminated


def dependent(function, *args) -> dict[str, set[int]]:
    """Rows that the refusal names, by equation."""
    with pytest.raises(DataError) as caught:
        function(*args)
    message = str(caught.value)
    assert "\n" not in message
    assert "cannot be eliminated" in message
    assert "relaxation" in message
    found = re.findall(r"((?:\d+, )*\d+) of '([^']*) = 0'", message)
    return {equation: {int(i) for i in rows.split(", ")} for rows, equation in found}


def test_redundant_contacts_are_named():
    rng = np.random.default_rng(4)
    f = NAMED["phantom-inertia"].with_options(axes="fixed")
    J_t = rng.standard_normal((6, 9))
    J_t[4:] = J_t[:2]
    system = system_of(rng, 9, 0, 3, 2, J_t=J_t)
    ((equation, rows),) = dependent(pose(f, system).problem).items()
    assert equation.startswith("J_t v")
    assert rows == {0, 1, 4, 5}
    relaxed = system_of(rng, 9, 0, 3, 2, J_t=J_t, eps_t=1e-3)
    assert pose(f, relaxed).problem().size == 15


def test_only_the_dependent_rows_are_named():
    rng = np.random.default_rng(5)
    J_t = rng.standard_normal((4, 7))
    J_t[3] = J_t[0] - 2 * J_t[1]
    ((equation, rows),) = dependent(
        pose(NAMED["discrete-velocity"], system_of(rng, 7, 0, 4, 1, J_t=J_t)).problem
    ).items()
    assert equation.startswith("J_t v")
    assert rows == {0, 1, 3}


def test_rows_of_two_equations_are_named():
    rng = np.random.default_rng(6)
    J_t, J_b = rng.standard_normal((4, 7)), rng.standard_normal((2, 7))
    J_b[1] = J_t[2]
    system = system_of(rng, 7, 2, 4, 1, J_t=J_t, J_b=J_b)
    named = dependent(pose(NAMED["discrete-velocity"], system).problem)
    assert {key.split()[0]: rows for key, rows in named.items()} == {"J_b": {1}, "J_t": {2}}
    # Only J_b enters the elimination of a formulation whose friction is a partner.
    assert pose(NAMED["box"], system).problem().size == 8
    J_b[1] = 3 * J_b[0]
    named = dependent(pose(NAMED["box"], system_of(rng, 7, 2, 4, 1, J_b=J_b)).problem)
    assert {key.split()[0]: rows for key, rows in named.items()} == {"J_b": {0, 1}}
    assert pose(NAMED["box"], system_of(rng, 7, 2, 4, 1, J_b=J_b, eps_b=0.1)).problem().size == 8


@pytest.mark.parametrize(
    ("E", "rows"),
    [(np.zeros((2, 2)), {0, 1}), (np.outer([1, 2], [1, 2]), {0, 1}), (np.diag([1, 0]), {1}), (np.eye(2), None)],
)
def test_an_equation_that_determines_nothing_is_named(E, rows):
    @formulation(f"slack {E}", friction="none", source="this test")
    def build(s: ContactSymbols) -> Declaration:
        v, y, p_n = free("v", s.n), free("y", 2), nonneg("p_n", s.r)
        slack = equals(cp.Constant(E, name="E") @ y - p_n)
        return declare(equals(s.balance(v, p_n)), slack, complements(s.un(v, p_n), p_n), recover=dict(v=v, p_n=p_n))

    problem = pose(build, system_of(np.random.default_rng(7), 4, 0, 2, 1)).problem
    if rows is None:
        assert problem().size == 2
    else:
        ((equation, named),) = dependent(problem).items()
        assert "p_n" in equation
        assert "M" not in equation
        assert named == rows


def test_a_parameter_that_no_hook_sets_is_named():
    first, second = cp.Parameter(2, name="first"), cp.Parameter(2, name="second")

    @formulation("half set", friction="none", source="this test")
    def build(s: ContactSymbols) -> Declaration:
        v, p_n = free("v", s.n), nonneg("p_n", s.r)
        row = s.un(v, p_n) + cp.multiply(first, p_n) + second
        hooks = Hooks(own=(first, second))
        return declare(
            equals(s.balance(v, p_n)), complements(row, p_n), recover=dict(v=v, p_n=p_n), hooks=hooks
        )  # fmt: skip

    first.value = np.ones(2)
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
    verdict = check(Matrix(problem.M))["p_matrix"]["verdict"]
    assert verdict == ("P" if law * balance > 0 else "not P")


# A declaration of the user's own


@njit(GIVEN)
def damping_grows_with_load(core, memory, own, numbers):
    """own = [D (2, 2), row by row]: a skewed damping, stiffer by the last step's p_n."""
    load = 0.0 if np.isnan(memory[0]) else memory[0]
    own[0], own[1], own[2] = numbers[0] * core.h, numbers[1] * core.h, 0.0
    own[3] = numbers[0] * core.h * (1.0 + load)


@formulation("viscous", friction="linear viscous, anisotropic", source="this test")
def viscous(s: ContactSymbols) -> Declaration:
    D = cp.Parameter((2, 2), name="D")
    v, p_n, p_t, u = free("v", s.n), nonneg("p_n", s.r), free("p_t", 2), free("u", 2)
    return declare(
        equals(s.balance(v, p_n, p_t)),
        equals(u - s.ut(v, p_t)),
        equals(p_t + D @ u),
        complements(s.un(v, p_n), p_n),
        recover=dict(v=v, p_n=p_n, p_t=p_t),
        hooks=Hooks(given=damping_grows_with_load, own=(D,), numbers=(3.0, 1.5)),
    )


class InPython:
    """The same solver, hidden from the compiled loop."""

    def __init__(self, solver: KernelSolver) -> None:
        self.name, self.solves, self.tolerance = solver.name, solver.solves, solver.tolerance
        self.guaranteed_for, self.why_not, self.solve = solver.guaranteed_for, solver.why_not, solver.solve


def test_a_users_declaration_compiles_and_its_problem_is_solved():
    rng = np.random.default_rng(10)
    system = system_of(rng, 6, 0, 1, 2)
    D = system.h * np.array([[3.0, 1.5], [0.0, 3.0]])
    W_t = np.linalg.inv(system.M + system.J_t.T @ D @ system.J_t)
    problem = pose(viscous, system).problem()
    assert problem.kind == "LCP"
    np.testing.assert_allclose(problem.M, system.J_n @ W_t @ system.J_n.T, rtol=1e-12)
    answer, solution = solve_system(viscous, system, LEMKE)
    assert solution.claimed is Status.SOLVED
    assert solution.verified
    u = system.J_t @ answer.v + system.r_t
    np.testing.assert_allclose(answer.p_t, -D @ u, rtol=1e-10)
    assert min(answer.p_n[0], solution.z[0]) >= 0


def test_a_users_declaration_steps_the_wheel():
    run = simulate(Wheel(), viscous, LEMKE, 1e-3, 0.1)
    assert (run.status, run.steps) == (Status.SOLVED, 100)
    assert run.residuals.max() <= LEMKE.tolerance
    r = run.record
    impulse = np.einsum("kji,kj->ki", r.J, r.p)
    np.testing.assert_allclose(np.einsum("kij,kj->ki", r.mass, r.v[1:]), r.b + impulse, rtol=1e-10, atol=1e-12)
    load = np.concatenate([[0.0], run.p_n[:-1, 0]])
    u = run.u_t[:, 0]
    expected = -run.h * np.stack([3.0 * u[:, 0] + 1.5 * u[:, 1], 3.0 * (1 + load) * u[:, 1]], axis=1)
    np.testing.assert_allclose(run.p_t[:, 0], expected, rtol=1e-9, atol=1e-13)
    assert load.max() > 0
    assert np.abs(u[:, 1]).min() > 0


def test_compiled_and_python_loops_agree():
    compiled_run, python_run = (simulate(Wheel(), viscous, s, 1e-3, 0.1) for s in (LEMKE, InPython(LEMKE)))
    assert not isinstance(InPython(LEMKE), KernelSolver)
    assert python_run.status is Status.SOLVED
    np.testing.assert_allclose(compiled_run.states_q, python_run.states_q, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(compiled_run.record.p, python_run.record.p, rtol=1e-12, atol=1e-15)


@njit(GIVEN)
def count_calls(core, memory, own, numbers):
    """The last entry of the memory, which `remember_impulses` leaves alone, counts the calls."""
    memory[-1] = 1.0 if np.isnan(memory[-1]) else memory[-1] + 1.0
    own[0] = memory[-1]


@pytest.mark.parametrize("solver", [LEMKE, InPython(LEMKE)], ids=["compiled", "python"])
def test_given_is_called_once_a_step(solver):
    @formulation("counting", friction="none", source="this test")
    def build(s: ContactSymbols) -> Declaration:
        k = cp.Parameter(s.r, name="k")
        v, p_n = free("v", s.n), nonneg("p_n", s.r)
        law = s.un(v, p_n) + cp.multiply(k, p_n)
        hooks = Hooks(given=count_calls, own=(k,), memory=s.r * (1 + s.d) + 1)
        return declare(equals(s.balance(v, p_n)), complements(law, p_n), recover=dict(v=v, p_n=p_n), hooks=hooks)

    run = simulate(Wheel(), build, solver, 1e-3, 0.005)
    np.testing.assert_allclose((run.record.M - run.W[:, :1, :1])[:, 0, 0], np.arange(1, 6), rtol=1e-12)


@njit(GIVEN)
def lost_after_the_first_step(core, memory, own, numbers):
    own[:] = 1.0 if np.isnan(memory[0]) else np.nan


@pytest.mark.parametrize("where", ["equation", "law"])
@pytest.mark.parametrize("solver", [LEMKE, InPython(LEMKE)], ids=["compiled", "python"])
def test_data_lost_on_the_way_end_the_run_with_a_reason(where, solver):
    @formulation(f"lost in the {where}", friction="none", source="this test")
    def build(s: ContactSymbols) -> Declaration:
        c = cp.Parameter(s.n if where == "equation" else s.r, name="damping")
        v, p_n = free("v", s.n), nonneg("p_n", s.r)
        balance, law = s.balance(v, p_n), s.un(v, p_n)
        if where == "equation":
            balance = balance + cp.multiply(c, v)
        else:
            law = law + cp.multiply(c, p_n)
        hooks = Hooks(given=lost_after_the_first_step, own=(c,))
        return declare(equals(balance), complements(law, p_n), recover=dict(v=v, p_n=p_n), hooks=hooks)

    run = simulate(Wheel(), build, solver, 1e-3, 0.01)
    assert run.steps == 1
    assert run.status is not Status.SOLVED
    assert "step 1" in run.reason
    assert "'damping'" in run.reason


def test_values_of_own_parameters_are_where_every_step_starts():
    @formulation("compliant", friction="none", source="this test")
    def build(s: ContactSymbols) -> Declaration:
        c, k = cp.Parameter(s.r, name="c", value=[0.25]), cp.Parameter(s.r, name="k", value=[0.5])
        v, p_n = free("v", s.n), nonneg("p_n", s.r)
        law = s.un(v, p_n) + cp.multiply(c, p_n) + cp.multiply(k, p_n)
        hooks = Hooks(own=(c,))
        return declare(equals(s.balance(v, p_n)), complements(law, p_n), recover=dict(v=v, p_n=p_n), hooks=hooks)

    run = simulate(Wheel(), build, LEMKE, 1e-3, 0.01)
    assert run.steps == 10
    np.testing.assert_allclose(run.record.M[:, 0, 0], run.W[:, 0, 0] + 0.75, rtol=1e-12)
