"""Runs that go on from exact states: what formulations make of them within a while, as transients and as drifts."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.algorithms import find_solver
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases import CASES
from workbench.builtin.cases.drawer import Drawer
from workbench.builtin.formulations import FORMULATIONS
from workbench.builtin.reports.figures.comparison import figures
from workbench.comparison.cases import compare_case
from workbench.comparison.columns import CASE, ONWARD
from workbench.comparison.jobs import Settings
from workbench.comparison.onward import onward_rows
from workbench.language.assemble.find import compiled
from workbench.step.local_steps import local_steps, onward
from workbench.step.simulation import simulate
from workbench.support.errors import DataError

AFTER = (1, 3, 10, 30, 100)

H = 1e-3
STARTS = [0, 40, 150, 290]


def solver_of(case, f):
    return default_solver(compiled(f, *case.size).kind)


@pytest.fixture(scope="module")
def exact():
    """Exact Coulomb friction on a wheel, with one contact, and a cube, with four that are redundant."""
    coulomb = FORMULATIONS.find("coulomb")
    cases = {name: CASES.find(name)() for name in ("wheel", "cube")}
    return {name: simulate(case, coulomb, solver_of(case, coulomb), H, 0.5) for name, case in cases.items()}


@pytest.mark.parametrize("name", ["wheel", "cube"])
@pytest.mark.parametrize("f", FORMULATIONS, ids=lambda f: f.name)
def test_the_first_step_onward_is_the_local_step_to_the_last_bit(exact, name, f):
    base = exact[name]
    solver = solver_of(base.case, f)
    found, local = onward(base, f, solver, STARTS, 2), local_steps(base, f, solver, STARTS)
    assert [x.steps for x in found] == [2] * len(STARTS)
    for row, x in enumerate(found):
        assert (x.states_q[0] == base.states_q[STARTS[row]]).all()
        assert (x.v_after[0] == local.v_after[row]).all()
        assert (x.states_q[1] == local.after_q[row]).all()


@pytest.mark.parametrize("name", ["wheel", "cube"])
def test_exact_friction_goes_on_as_it_did_to_the_last_bit(exact, name):
    base = exact[name]
    for k, x in zip(
        STARTS, onward(base, base.formulation, solver_of(base.case, base.formulation), STARTS, 120), strict=True
    ):
        assert (x.record.q == base.record.q[k : k + 121]).all()
        assert (x.record.phi == base.record.phi[k : k + 120]).all()


def test_the_ccp_opens_a_sliding_contact_to_h_mu_times_its_speed_at_once(exact):
    """Associated flow (Anitescu & Tasora 2010): u_n + phi/h = mu |u_t| where the contact presses."""
    base, ccp = exact["wheel"], FORMULATIONS.find("ccp")
    for x in onward(base, ccp, solver_of(base.case, ccp), [40, 400], 2):
        assert x.p_n[0, 0] > 1e-4
        wanted = x.mu[0, 0] * np.linalg.norm(x.u_t[0, 0])
        assert x.u_n[0, 0] == pytest.approx(wanted, rel=1e-6)


def test_starts_that_are_not_there_are_refused(exact):
    base = exact["wheel"]
    for starts in ([-1], [base.steps], [4, 2], [3, 3]):
        with pytest.raises(DataError, match="increasing numbers from 0 to"):
            onward(base, base.formulation, solver_of(base.case, base.formulation), starts, 1)


def rows_of(exact, name, label, window=(0.0, 0.5)):
    base = exact[name]
    f = FORMULATIONS.find(label)
    run = simulate(base.case, f, solver_of(base.case, f), H, 0.5)
    return {r["after"]: r for r in onward_rows({}, base, run, window)}


def test_a_drift_grows_and_what_the_law_makes_itself_is_none(exact):
    found = rows_of(exact, "wheel", "stewart-trinkle")
    assert list(found) == list(AFTER)
    drift = [found[n]["direction_error"] for n in AFTER]
    assert all(a < b for a, b in pairwise(drift))
    assert max(found[n]["gap_error"] for n in AFTER) < 1e-7
    itself = rows_of(exact, "wheel", "coulomb")
    assert all(itself[n]["gap_error"] == itself[n]["speed_error"] == 0.0 for n in AFTER)
    ccp = rows_of(exact, "wheel", "ccp")
    assert H * ccp[1]["normal_error"] == pytest.approx(ccp[1]["gap_error"], rel=1e-9)
    assert 5e-4 < ccp[1]["gap_error"] < ccp[10]["gap_error"]
    assert ccp[100]["direction_error"] < ccp[1]["direction_error"], "a transient"
    assert rows_of(exact, "wheel", "frictionless")[100]["speed_error"] > found[100]["speed_error"]


def test_errors_are_medians_over_states_of_the_largest_of_all_contacts(exact):
    base, box = exact["cube"], FORMULATIONS.find("box")
    found = rows_of(exact, "cube", "box", (0.0, 0.3))
    starts = sorted({int(k) for k in np.linspace(0, 298 - 100, 8)})
    runs = onward(base, box, solver_of(base.case, box), starts, 101)
    gaps = [abs(x.record.phi[30] - base.record.phi[k + 30]).max() for k, x in zip(starts, runs, strict=True)]
    assert found[30]["gap_error"] == pytest.approx(np.median(gaps))
    assert found[30]["states"] == len(starts)
    # Of a window of fewer steps than the largest number, what is there.
    short = rows_of(exact, "cube", "box", (0.46, 0.5))
    assert max(short) < 100
    assert short[1]["states"] == 8


@pytest.mark.thorough
def test_a_comparison_holds_them_with_units_and_draws_them(tmp_path):
    found = wb.compare("wheel", ["ccp", "stewart-trinkle", "coulomb"], duration=0.3, reference_step=5e-4)
    frame = found.comparison.onward
    assert list(frame) == [x.name for x in ONWARD if x.of >= CASE]
    assert set(frame["label"]) == {"ccp", "stewart-trinkle", "coulomb"}
    assert frame.attrs["columns"]["gap_error"]["unit"] == "m"
    names = [x.name for x in figures(found.comparison)]
    assert [x for x in names if x.endswith("-onward")] == ["gap-onward", "direction-onward", "speed-onward"]
    found.save(tmp_path)
    again = wb.report(tmp_path).comparison.onward
    assert again.equals(frame)


def test_tables_have_every_formulation_once_at_every_step_whatever_its_solvers():
    """Beside exact friction at the same step, whose idle contacts nobody presses."""
    steps, coulomb, box = (4e-3, 2e-3), *(FORMULATIONS.find(x) for x in ("coulomb", "box"))
    c = compare_case(Drawer(), [box], coulomb, ["proximal", "judice-pires"], Settings(steps, 2e-3))
    ends_early = Drawer.windows["sliding"]
    assert ends_early[1] < Drawer.duration
    for h in steps:
        runs = [simulate(Drawer(), f, find_solver(x), h) for f, x in ((coulomb, "coulomb-exact"), (box, "proximal"))]
        named = {"case": "drawer", "formulation": "box", "label": "box", "step": h}
        rows = pd.DataFrame(onward_rows(named, *runs, ends_early))
        own = c.onward[c.onward["step"] == h].reset_index(drop=True)
        pd.testing.assert_frame_equal(own[list(rows)], rows, check_dtype=False)
    assert set(c.onward["step"]) == set(c.diagnostics["step"]) == set(steps)
    assert not c.diagnostics.duplicated(["label", "step", "quantity"]).any()
    assert c.timeline.groupby(["role", "solver", "step"])["contact"].unique().map(tuple).tolist() == [(0, 3)] * 5


def test_what_does_not_go_on_says_why_and_costs_nothing_else(monkeypatch):
    def breaks(*_):
        raise ZeroDivisionError("no state")

    monkeypatch.setattr("workbench.comparison.cases.onward_rows", breaks)
    c = wb.compare("wheel", ["box"], duration=0.02, reference_step=5e-4).comparison
    assert c.onward.empty
    assert c.runs["verified"].all()
    assert any(
        x.startswith("From exact states box cannot be continued: ZeroDivisionError: no state") for x in c.remarks
    )
