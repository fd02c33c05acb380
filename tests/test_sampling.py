"""Solvers that are slow and that nobody asked for solve a sample of steps of the run to round-off."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from benchmarks.rows import Row
from workbench.algorithms import find_solver
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases.block import Block
from workbench.builtin.cases.wedged_box import WedgedBox
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations import FORMULATIONS
from workbench.builtin.reports.pages.comparison import render
from workbench.comparison import cases
from workbench.comparison.cases import compare_case
from workbench.comparison.jobs import Settings
from workbench.comparison.sampling import in_place, sample
from workbench.language.assemble.find import compiled
from workbench.problems.solution import Status
from workbench.step.local_steps import local_steps
from workbench.step.simulation import simulate
from workbench.support.output import provenance

MOST = 40

BY_NAME = {f.name: f for f in FORMULATIONS}
COULOMB = BY_NAME["coulomb"]
SETTINGS = Settings(steps=(1e-3,), reference_step=5e-4, duration=0.4, reference="steps")
WHOLE = {"window": "all", "window_start": 0.0, "window_end": 9.0}


@dataclass(frozen=True)
class Off:
    """The round-off solver, and then every answer by a share too large; it gives up in steps of `hard` problems."""

    share: float
    hard: Any = None
    name = "off"
    solves = frozenset({"conic QP"})
    guaranteed_for = "nothing"
    tolerance = 1e-6

    def why_not(self, problem):
        return None

    def solve(self, problem):
        found = default_solver("conic QP").solve(problem)
        hard = self.hard and self.hard(problem)
        z = found.z * (1 + (1e-3 if hard else self.share))
        claimed = Status.ITERATION_LIMIT if hard else Status.SOLVED
        return replace(found, z=z, claimed=claimed, residual=float(problem.residual(z)), solver="off", tolerance=1e-6)


def run_of(case, name="ccp", duration=0.4, h=1e-3):
    f = BY_NAME[name]
    size = (case.parts[0] if case.parts else case).size
    return simulate(case, f, default_solver(compiled(f, *size).kind), h, duration)


def with_other(monkeypatch, solver, case=None, settings=SETTINGS):
    both = [default_solver("conic QP"), solver]
    monkeypatch.setattr(cases, "solvers_for", lambda *_: both)
    return compare_case(case or Wheel(), [BY_NAME["ccp"]], COULOMB, settings=settings)


def test_the_generic_optimiser_takes_a_sample_and_whoever_is_asked_for_takes_all():
    result = compare_case(Wheel(), [BY_NAME["ccp"]], COULOMB, settings=SETTINGS)
    runs = result.runs.set_index(["solver", "window"])
    generic, exact = runs.loc[("cvxpy:CLARABEL", "all")], runs.loc[("ccp-exact", "all")]
    assert (generic["sampled"], exact["sampled"]) == (True, False)
    assert generic["steps"] == MOST < exact["steps"] == 400
    assert generic["verified"]
    assert 0 < generic["residual"] < 1e-6
    assert 0 < generic["velocity_solver"] < 1e-6
    assert np.isnan(generic[["velocity_error", "position_error", "energy_error", "position_solver"]].to_list()).all()
    asked = compare_case(Wheel(), [BY_NAME["ccp"]], COULOMB, ["cvxpy:CLARABEL"], replace(SETTINGS, duration=0.05)).runs
    assert not asked["sampled"].any()
    assert (asked["steps"] == 50).all()
    assert asked["position_error"].notna().all()
    assert "cvxpy:CLARABEL" not in set(result.trajectories["solver"])


@pytest.mark.thorough
def test_the_solver_s_error_is_measured_on_the_sampled_steps(monkeypatch):
    """All impulses too large by a thousandth: friction's error is a thousandth of it, over the bound."""
    result = with_other(monkeypatch, Off(1e-3))
    row = result.runs[(result.runs["solver"] == "off") & (result.runs["window"] == "all")].iloc[0]
    assert (row["claimed"], row["verified"]) == ("INACCURATE", False)
    assert row["residual"] > 1e-5
    exact, fine = run_of(Wheel()), run_of(Wheel(), "coulomb", h=5e-4)
    k = sample(exact, [{"window_start": 0.0, "window_end": 0.4}] * 2)
    assert row["steps"] == k.size
    fine_p = (fine.p_n[0::2] + fine.p_n[1::2])[k] * Wheel().mu
    expected = 1e-3 * np.linalg.norm(exact.p_t[k]) / np.linalg.norm(fine_p)
    assert row["friction_solver"] == pytest.approx(expected, rel=1e-6)
    assert "off, " in render(result, provenance(case="wheel"))


def test_a_sample_with_a_step_that_fails_is_not_verified(monkeypatch):
    last = run_of(Wheel()).record.q_[-1]
    result = with_other(monkeypatch, Off(0.0, lambda problem: np.allclose(problem.q, last, rtol=1e-12)))
    rows = result.runs[result.runs["solver"] == "off"].set_index("window")
    assert (rows["claimed"] == "ITERATION_LIMIT").all()
    assert not rows["verified"].any()
    assert "step 399" in rows.loc["all", "reason"]
    assert rows.loc["all", ["residual", "velocity_solver"]].isna().all()


def test_without_a_run_to_round_off_there_is_nothing_to_sample(monkeypatch):
    result = with_other(monkeypatch, Off(0.0), settings=replace(SETTINGS, duration=0.05))
    assert result.runs["verified"].all()
    f = BY_NAME["phantom-inertia"]
    monkeypatch.setattr(cases, "solvers_for", lambda *_: [find_solver("lemke"), Off(0.0)])
    runs = compare_case(WedgedBox(), [f], COULOMB, settings=Settings((1e-3,), 1e-3, 0.01)).runs
    assert (runs["solver"].unique().tolist(), runs["verified"].any()) == (["lemke"], False)


def test_samples_are_spread_over_windows_and_see_contacts_change():
    """The block comes to rest once; the step in which it does is among the sample, whatever the windows."""
    run = run_of(Block(), "coulomb", 0.8)
    stops = int(np.argmax(np.linalg.norm(run.u_t[:, 0], axis=-1) <= run.v_th))
    found = sample(run, [WHOLE])
    assert stops in found
    assert (found[0], found[-1]) == (0, 799)
    assert len(found) == MOST
    assert np.diff(found).max() <= 45
    short = {"window_start": 0.1, "window_end": 0.105}
    assert {100, 101, 102, 103, 104} <= set(sample(run, [WHOLE, short]))
    assert len(sample(run_of(Block(), "coulomb", 0.005), [WHOLE])) == 5


@pytest.mark.parametrize("case", [Wheel(), Row(stacks=2.0)], ids=["wheel", "row"])
def test_steps_in_their_places_are_the_run_s_own(case):
    run = run_of(case, "ccp", 0.02)
    at = np.array([3, 4, 11])
    size = (case.parts[0] if case.parts else case).size
    local = local_steps(run, run.formulation, default_solver(compiled(run.formulation, *size).kind), at)
    placed = in_place(local, run)
    for name in ("p_n", "p_t", "u_n", "u_t", "residuals"):
        np.testing.assert_array_equal(getattr(placed, name)[at], getattr(run, name)[at], err_msg=name)
    np.testing.assert_array_equal(placed.states_q[at + 1], run.states_q[at + 1])
    np.testing.assert_array_equal(placed.states_v[at + 1], run.states_v[at + 1])
    others = np.setdiff1d(np.arange(run.steps), at)
    assert np.isnan(placed.p_n[others]).all()


@pytest.mark.thorough
def test_tables_tell_how_many_steps_the_sample_has():
    result = compare_case(Wheel(), [BY_NAME["ccp"]], COULOMB, settings=replace(SETTINGS, duration=0.02))
    steps = result.runs[result.runs["sampled"]]["steps"].iloc[0]
    assert f"cvxpy:CLARABEL, {steps} steps" in render(result, provenance())


def test_a_generic_optimiser_is_asked_where_problems_are_convex_alone():
    """The matrix of Stewart and Trinkle's LCP is not symmetric; the box's MLCP is a convex quadratic program."""
    formulations = [BY_NAME["stewart-trinkle"], BY_NAME["box"]]
    runs = compare_case(Wheel(), formulations, COULOMB, settings=replace(SETTINGS, duration=0.02)).runs
    asked = runs.groupby("formulation")["solver"].unique().map(set).to_dict()
    assert asked == {"stewart-trinkle": {"lemke"}, "box": {"proximal", "cvxpy:CLARABEL"}}
