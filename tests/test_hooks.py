"""What hooks receive, how many passes they may ask for, and which of them are refused."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

from tests.declared import each_loop
from tests.tosses import THROWER, starts
from workbench.algorithms.lemke.method import SOLVER as LEMKE
from workbench.builtin.cases.wheel import Wheel
from workbench.engine.compiling import kernel
from workbench.exams.recorded.throws import Subject
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.hooks import AGAIN, GIVEN, REMEMBER
from workbench.language.modelling import Declaration, Hooks, complements, declare, equals, free, nonneg
from workbench.mechanics.contact import ContactSystem
from workbench.problems.solution import Status
from workbench.step.one_step import solve_system
from workbench.step.simulation import simulate
from workbench.step.sweep import sweep_steps
from workbench.support.errors import DataError, ModellingError


def compliant(hooks_of, name="compliant") -> Declaration:
    """A frictionless step with a compliance that hooks set; `hooks_of` takes that parameter."""

    @formulation(name, friction="none", source="this test")
    def build(s: ContactSymbols) -> Declaration:
        k = cp.Parameter(s.r, name="k")
        v, p_n = free("v", s.n), nonneg("p_n", s.r)
        return declare(
            equals(s.balance(v, p_n)),
            *s.bilateral(v),
            complements(s.un(v, p_n) + cp.multiply(k, p_n), p_n),
            recover=dict(v=v, p_n=p_n),
            hooks=hooks_of(k),
        )

    return build


@kernel(GIVEN)
def remembered(core, memory, own, numbers):
    for i in range(own.shape[0]):
        own[i] = 0.0 if np.isnan(memory[i]) else memory[i]


@kernel(REMEMBER)
def scaled(core, memory, own, numbers, v, p_n, p_t):
    """The share numbers[0] of p_n, on top of the step's own compliance."""
    for i in range(own.shape[0]):
        memory[i] = own[i] + numbers[0] * p_n[i]


@each_loop
def test_remember_receives_the_numbers_and_the_own_parameters(solver):
    f = compliant(lambda k: Hooks(remembered, None, scaled, own=(k,), numbers=(0.25,)))
    run = simulate(Wheel(), f, solver, 1e-3, 0.01)
    compliance = (run.record.M - run.W[:, :1, :1])[:, 0, 0]
    expected = np.concatenate([[0.0], np.cumsum(0.25 * run.p_n[:-1, 0])])
    assert expected[-1] > 0
    np.testing.assert_allclose(compliance, expected, rtol=1e-10, atol=1e-13)


@kernel(AGAIN)
def for_some_passes(core, memory, own, numbers, v, p_n, p_t):
    """Another compliance at every pass, of which there are numbers[0]."""
    own[0] += 1.0
    return own[0] < numbers[0]


@kernel(GIVEN)
def stiff(core, memory, own, numbers):
    own[:] = 0.0


def settling_after(wanted: int):
    return compliant(lambda k: Hooks(stiff, for_some_passes, own=(k,), numbers=(float(wanted),)), f"{wanted} passes")


@each_loop
def test_the_permitted_passes_are_an_option_of_a_run(solver):
    f, run = settling_after(60), dict(h=1e-3, duration=0.003)
    stopped = simulate(Wheel(), f, solver, **run)
    assert (stopped.status, stopped.steps) == (Status.NO_FIXED_POINT, 0)
    assert "did not settle within 50 passes" in stopped.reason
    assert "changes the impulses by" in stopped.reason
    finished = simulate(Wheel(), f, solver, **run, passes=60)
    assert finished.status is Status.SOLVED
    assert set(finished.record.effort[:, 1]) == {60}
    assert "within 59 passes" in simulate(Wheel(), f, solver, **run, passes=59).reason


def test_throws_whose_passes_do_not_settle_end_as_runs_do():
    start = starts(2, seed=5)
    states, status = THROWER.throw(Subject(settling_after(60)), start, np.array([3, 3]), 0.3, 0.1)
    assert (status == Status.NO_FIXED_POINT).all()
    np.testing.assert_array_equal(states[:, 0], start)
    assert np.isnan(states[:, 1:]).all()


def test_the_message_says_how_far_from_settled():
    """W = 1 and compliance k at pass k + 1: p_n = 1/(1 + k), and the fourth pass changes that by a quarter."""
    system = ContactSystem(np.eye(2), [0, -1.0], [0, 0], 0.01, [[0, 1.0]], [[1.0, 0]], 0.5)
    assert solve_system(settling_after(4), system, LEMKE, passes=4)[0].p_n == pytest.approx(1 / 4)
    answer, solution = solve_system(settling_after(9), system, LEMKE, passes=3)
    assert solution.claimed is Status.NO_FIXED_POINT
    assert "within 3 passes (another one changes the impulses by 0.25 of the largest)" in solution.reason
    assert np.isnan(answer.v).all()


def test_the_time_and_the_iterations_of_a_step_are_those_of_all_passes():
    class Counted:
        name, solves, guaranteed_for = "counted", LEMKE.solves, LEMKE.guaranteed_for
        tolerance, why_not = LEMKE.tolerance, LEMKE.why_not

        def solve(self, problem):
            return replace(LEMKE.solve(problem), solve_time=2.0, iterations=3)

    system = ContactSystem(np.eye(2), [0, -1.0], [0, 0], 0.01, [[0, 1.0]], [[1.0, 0]], 0.5)
    for passes, claimed in ((5, Status.SOLVED), (4, Status.NO_FIXED_POINT)):
        _, solution = solve_system(settling_after(5), system, Counted(), passes=passes)
        assert (solution.claimed, solution.solve_time, solution.iterations) == (claimed, 2.0 * passes, 3 * passes)


def test_sweeps_take_the_option():
    system = ContactSystem(np.eye(2), [0, -1.0], [0, 0], 0.01, [[0, 1.0]], [[1.0, 0]], 0.5)
    for passes, status in ((2, Status.NO_FIXED_POINT), (3, Status.SOLVED)):
        found = sweep_steps(settling_after(3), system, mu=[0.1, 0.2], passes=passes)
        assert (found.status == status).all()
        assert (found.passes == passes).all()


@pytest.mark.parametrize("passes", [0, -1, 2.5, "many", None])
def test_passes_that_are_no_number_of_passes(passes):
    with pytest.raises(DataError, match="passes"):
        simulate(Wheel(), settling_after(2), LEMKE, 1e-3, 0.002, passes=passes)


def test_hooks_of_another_signature_are_refused_with_the_right_one():
    @kernel(REMEMBER)
    def old(core, v, p_n, p_t, memory):
        memory[0] = p_n[0]

    for name in ("given", "again", "remember"):
        with pytest.raises(ModellingError) as caught:
            Hooks(**{name: old})
        assert f"hook {name} is old(core, v, p_n, p_t, memory)" in str(caught.value)
        assert f"{name}(core, memory, own, numbers" in str(caught.value)
    with pytest.raises(ModellingError, match=r"kernel\(REMEMBER\)"):
        Hooks(remember=lambda core, memory, own, numbers, v, p_n, p_t: None)
