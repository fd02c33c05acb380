"""Declarations of a user in a run: hooks, parameters of their own, data lost on the way."""

import re

import cvxpy as cp
import numpy as np
import pytest

from tests.declared import each_loop, frictionless, system_of
from workbench.algorithms.lemke.method import SOLVER as LEMKE
from workbench.builtin.cases.wheel import Wheel
from workbench.engine.compiling import kernel
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import GIVEN
from workbench.language.modelling import (
    Declaration,
    Hooks,
    complements,
    declare,
    equals,
    free,
    nonneg,
)
from workbench.problems.solution import Status
from workbench.step.one_step import pose, solve_system
from workbench.step.simulation import simulate

# A declaration of the user's own


@kernel(GIVEN)
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


def test_a_users_declaration_compiles_and_its_problem_is_solved():
    system = system_of(np.random.default_rng(10), 6, 0, 1, 2, r_n=-9.0)
    D = system.h * np.array([[3.0, 1.5], [0.0, 3.0]])
    W_t = np.linalg.inv(system.M + system.J_t.T @ D @ system.J_t)
    problem = pose(viscous, system).problem()
    assert problem.kind == "LCP"
    np.testing.assert_allclose(problem.M, system.J_n @ W_t @ system.J_n.T, rtol=1e-12)
    answer, solution = solve_system(viscous, system, LEMKE)
    assert (solution.claimed, solution.verified) == (Status.SOLVED, True)
    u = system.J_t @ answer.v + system.r_t
    np.testing.assert_allclose(answer.p_t, -D @ u, rtol=1e-10)
    assert answer.p_n[0] == solution.z[0] > 0


@each_loop
def test_a_users_declaration_steps_the_wheel(solver):
    run = simulate(Wheel(), viscous, solver, 1e-3, 0.1)
    assert (run.status, run.steps) == (Status.SOLVED, 100)
    assert run.residuals.max() <= LEMKE.tolerance
    r = run.record
    impulse = np.einsum("kji,kj->ki", r.J, r.p)
    np.testing.assert_allclose(np.einsum("kij,kj->ki", r.mass, r.v[1:]), r.b + impulse, rtol=1e-10, atol=1e-12)
    u, load = run.u_t[:, 0], np.concatenate([[0.0], run.p_n[:-1, 0]])
    expected = -run.h * np.stack([3.0 * u[:, 0] + 1.5 * u[:, 1], 3.0 * (1 + load) * u[:, 1]], axis=1)
    np.testing.assert_allclose(run.p_t[:, 0], expected, rtol=1e-9, atol=1e-13)
    assert min(load.max(), np.abs(u[:, 1]).min()) > 0
    np.testing.assert_allclose(run.states_q, simulate(Wheel(), viscous, LEMKE, 1e-3, 0.1).states_q, rtol=1e-12)


@kernel(GIVEN)
def count_calls(core, memory, own, numbers):
    """The last entry of the memory, which `remember_impulses` leaves alone, counts the calls."""
    memory[-1] = 1.0 if np.isnan(memory[-1]) else memory[-1] + 1.0
    own[0] = memory[-1]


@each_loop
def test_given_is_called_once_a_step(solver):
    k = cp.Parameter(1, name="k")
    hooks = Hooks(given=count_calls, own=(k,), memory=4)
    build = frictionless("counting", lambda s, p_n: cp.multiply(k, p_n), hooks=hooks)
    run = simulate(Wheel(), build, solver, 1e-3, 0.005)
    np.testing.assert_allclose((run.record.M - run.W[:, :1, :1])[:, 0, 0], np.arange(1, 6), rtol=1e-12)


@kernel(GIVEN)
def lost_after_the_first_step(core, memory, own, numbers):
    own[:] = 1.0 if np.isnan(memory[0]) else np.nan


@pytest.mark.parametrize("where", ["balance", "law"])
@each_loop
def test_data_lost_on_the_way_end_the_run_with_a_reason(where, solver):
    c = cp.Parameter(6 if where == "balance" else 1, name="damping")
    change = {where: lambda s, unknown: cp.multiply(c, unknown)}
    build = frictionless("lost", hooks=Hooks(given=lost_after_the_first_step, own=(c,)), **change)
    run = simulate(Wheel(), build, solver, 1e-3, 0.01)
    assert (run.steps, run.status is Status.SOLVED) == (1, False)
    assert re.search("step 1 .*'damping'", run.reason)


def test_values_of_own_parameters_are_where_every_step_starts():
    c, k = cp.Parameter(1, name="c", value=[0.25]), cp.Parameter(1, name="k", value=[0.5])
    build = frictionless("compliant", lambda s, p_n: cp.multiply(c + k, p_n), hooks=Hooks(own=(c,)))
    run = simulate(Wheel(), build, LEMKE, 1e-3, 0.01)
    np.testing.assert_allclose(run.record.M[:, 0, 0], run.W[:, 0, 0] + 0.75, rtol=1e-12)
