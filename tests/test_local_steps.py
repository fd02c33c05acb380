"""Local steps: one step from each state of a run, as if the formulation had made that run, and nothing carried on."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from benchmarks.rows import Row
from tests.declared import IN_PYTHON, LEMKE, each_loop
from tests.test_hooks import compliant, remembered, scaled
from tests.test_parts import MIXED
from workbench.algorithms import find_solver
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases import CASES
from workbench.builtin.cases.block import Block
from workbench.builtin.cases.block import fill as fill_block
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations import FORMULATIONS
from workbench.engine.compiling import kernel
from workbench.language.assemble.find import compiled
from workbench.language.hooks import AGAIN, GIVEN
from workbench.language.modelling import Hooks
from workbench.mechanics.core import FILL
from workbench.mechanics.relaxation import Relaxation
from workbench.problems.solution import Status
from workbench.step.local_steps import local_steps
from workbench.step.simulation import simulate
from workbench.support.errors import DataError
from workbench.verbs.find import find_formulation

H = 1e-3
SOFT = Relaxation(k_n=1e6, b_n=1e3, k_t=1e5, b_t=1e2, k_b=1e7, b_b=1e2, lateral=1.0)
LABELS = [f.name for f in FORMULATIONS] + ["box:bounds=iterated", "hybrid:bounds=iterated", "box:axes=sliding"]


def solver_of(f, case):
    return default_solver(compiled(f, *(case.parts[0] if case.parts else case).size).kind)


def run_of(case, f, steps=40, h=H, solver=None, **options):
    f = find_formulation(f) if isinstance(f, str) else f
    return simulate(case, f, solver or solver_of(f, case), h, steps * h, **options)


def again(run, at=None, solver=None, formulation=None, **options):
    f = formulation or run.formulation
    at = np.arange(run.steps) if at is None else at
    return local_steps(run, f, solver or solver_of(f, run.case), at, **options)


def are_its_own(local, run):
    """Whether local steps are the run's own, to the last bit."""
    for name in ("v_after", "p_n", "p_t", "u_n", "u_t", "residuals", "t"):
        np.testing.assert_array_equal(getattr(local, name), getattr(run, name)[local.numbers], err_msg=name)
    np.testing.assert_array_equal(local.after_q, run.states_q[1:][local.numbers])
    np.testing.assert_array_equal(local.states_q, run.states_q[local.numbers])
    np.testing.assert_array_equal(local.record.effort, run.record.effort[local.numbers])
    np.testing.assert_array_equal(local.judged.natural_map, run.judged.natural_map[local.numbers])


@pytest.mark.share(4)
@pytest.mark.parametrize("relaxation", [None, SOFT], ids=["own", "soft"])
@pytest.mark.parametrize("name", ["wheel", "cube", "bouncing-ball", "drawer"])
@pytest.mark.parametrize("label", LABELS)
def test_local_steps_of_a_run_s_own_formulation_are_its_steps(label, name, relaxation):
    """With bristles, last bounds, iterated ones, turned axes, relaxed rows, joints, flight and rebound."""
    run = run_of(CASES.find(name)(), label, relaxation=relaxation)
    # Fixed points of redundant contacts may not settle at all.
    assert run.steps == 40 or label in ("staggered", "box:bounds=iterated")
    if run.steps:
        are_its_own(again(run, np.arange(0, run.steps, 3)), run)


@each_loop
@pytest.mark.parametrize("at", [[0, 1, 5, 9], [7]])
def test_a_memory_that_goes_further_back_is_built_up_along_the_run(solver, at):
    f = compliant(lambda k: Hooks(remembered, None, scaled, own=(k,), numbers=(0.25,)))
    run = run_of(Wheel(), f, 10, solver=solver)
    assert np.ptp(run.record.M[:, 0, 0]) > 1e-4
    are_its_own(again(run, np.array(at), solver), run)


@kernel(GIVEN)
def from_the_last_entry(core, memory, own, numbers):
    own[0] = 0.0 if np.isnan(memory[3]) else memory[3]


@kernel(AGAIN)
def into_the_last_entry(core, memory, own, numbers, v, p_n, p_t):
    memory[3] = p_n[0]
    return False


@each_loop
def test_what_passes_leave_in_the_memory_ends_with_the_local_step(solver):
    f = compliant(lambda k: Hooks(from_the_last_entry, into_the_last_entry, own=(k,), memory=4))
    run = run_of(Wheel(), f, 10, solver=solver)
    local = again(run, solver=solver)
    own, its = ((x.record.M - x.W[:, :1, :1])[:, 0, 0] for x in (local, run))
    assert np.abs(its[1:]).min() > 1e-3
    np.testing.assert_allclose(own, 0.0, atol=1e-12)


def test_an_impulse_that_rounding_leaves_below_zero_bounds_friction_by_zero():
    run = run_of(Wheel(), "coulomb", 10)
    p = run.record.p.copy()
    p[4, 0] = -1e-25
    local = again(replace(run, record=run.record._replace(p=p)), formulation=find_formulation("box"))
    assert local.residuals.max() < 1e-12
    assert np.abs(local.p_t[5]).max() == 0.0 < np.abs(local.p_t[6]).max()


def test_the_memory_is_the_run_s_and_not_that_of_the_last_local_step():
    """The box's bounds are mu times the run's last normal impulses, whichever steps are taken."""
    run, box = run_of(CASES.find("cube")(), "coulomb", 200), find_formulation("box")
    full = again(run, formulation=box)
    limits = full.record.upper[1:, -8:].reshape(-1, 4, 2)
    np.testing.assert_allclose(limits[..., 0], run.mu[1:] * np.maximum(run.p_n[:-1], 0.0), rtol=1e-14)
    np.testing.assert_allclose(limits[..., 1], limits[..., 0])
    assert np.abs(full.p_n[:-1] - run.p_n[:-1]).max() > 1e-3
    some = np.array([3, 50, 51, 199])
    np.testing.assert_array_equal(again(run, some, formulation=box).v_after, full.v_after[some])


@pytest.mark.parametrize("name", ["wheel", "cube", "sphere-stack", "wedged-box"])
def test_exact_friction_has_no_local_error_to_itself(name):
    run = run_of(CASES.find(name)(), "coulomb", 100)
    np.testing.assert_array_equal(again(run).v_after, run.v_after)


def test_without_friction_a_sliding_block_gains_mu_g_h_a_step():
    block = Block()
    run = run_of(block, "coulomb", 300)
    free = again(run, formulation=find_formulation("frictionless"))
    gained = np.linalg.norm(free.v_after - run.v_after, axis=-1)
    np.testing.assert_allclose(gained, block.mu * block.gravity * H, rtol=1e-12)
    # A run without friction drifts away; local errors do not grow.
    assert np.linalg.norm(run_of(block, "frictionless", 300).v_after - run.v_after, axis=-1)[-1] > 100 * gained[-1]


def test_solvers_and_cases_that_are_not_compiled_take_the_same_steps():
    run = run_of(Wheel(), "coulomb", 30)
    f, at = find_formulation("stewart-trinkle"), np.array([0, 3, 4, 29])
    one, other = again(run, at, LEMKE, f), again(run, at, IN_PYTHON, f)
    np.testing.assert_array_equal(one.v_after, other.v_after)
    np.testing.assert_array_equal(one.after_q, other.after_q)
    np.testing.assert_array_equal(one.record.effort, other.record.effort)
    generic = again(run, at, find_solver("cvxpy:CLARABEL"), find_formulation("ccp"))
    assert generic.solver == "cvxpy:CLARABEL"
    np.testing.assert_allclose(generic.v_after, again(run, at, None, find_formulation("ccp")).v_after, atol=1e-6)


@pytest.mark.parametrize("case", [Row(stacks=3.0), MIXED], ids=["row", "mixed"])
@pytest.mark.parametrize("label", ["hybrid", "stewart-trinkle", "ccp"])
def test_parts_take_theirs(case, label):
    run = run_of(case, label, 20)
    local = again(run)
    are_its_own(local, run)
    assert (local.statuses == Status.SOLVED).all()
    np.testing.assert_array_equal(local.W, run.W)
    assert local.parts[1].steps == 20


@kernel(FILL)
def fill_gap(q, v, data, core):
    """As `Block`, without a number for its weight between 10 and 20 mm."""
    fill_block(q, v, data, core)
    if 0.01 < q[0] < 0.02 and core.law == 0.0:
        core.f[0] = np.nan


@dataclass(frozen=True)
class Gap(Block):
    fill: ClassVar[Any] = staticmethod(fill_gap)


@each_loop
def test_a_step_that_fails_is_a_row_without_numbers_and_the_others_go_on(solver):
    run = run_of(Gap(), "coulomb", 30, normal="gap")
    broken = replace(run, course=replace(run.course, normal="velocity"))
    local = again(broken, formulation=find_formulation("stewart-trinkle"), solver=solver)
    x = run.states_q[:-1, 0]
    failing = (x > 0.01) & (x < 0.02)
    assert 0 < failing.sum() < 30
    assert failing.argmax() > 0
    np.testing.assert_array_equal(local.statuses == Status.NOT_FINITE, failing)
    np.testing.assert_array_equal(np.isnan(local.v_after).all(axis=1), failing)
    np.testing.assert_array_equal(np.isnan(local.after_q).all(axis=1), failing)
    np.testing.assert_array_equal(np.isinf(local.residuals), failing)
    assert local.residuals[~failing].max() < 1e-12
    assert local.status is Status.NOT_FINITE
    assert local.reason.startswith(f"step {failing.argmax()} (t = {failing.argmax() * H:.4g} s): ")


def test_a_refusal_holds_for_all_steps():
    run = run_of(CASES.find("cube")(), "coulomb", 15)
    local = again(run, None, find_solver("keller"), find_formulation("stewart-trinkle"))
    assert (local.statuses == Status.REFUSED).all()
    assert np.isnan(local.v_after).all()
    assert "symmetric" in local.reason


@pytest.mark.parametrize("at", [[-1, 2], [3, 10], [4, 3], [3, 3]])
def test_steps_are_the_run_s_and_in_order(at):
    with pytest.raises(DataError, match="increasing numbers from 0 to 9 are needed"):
        again(run_of(Wheel(), "coulomb", 10), at)


def test_no_steps_are_no_error():
    local = again(run_of(Wheel(), "box", 5), [])
    assert (local.steps, local.status, local.residuals.size) == (0, Status.SOLVED, 0)
