"""`workbench convergence`: orders against the event-driven motion, limits of formulations, bounds through impacts."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import workbench as wb
from tests.refusals import refusal
from workbench.algorithms.escalation import default_solver
from workbench.builtin.reports.text.convergence import table
from workbench.cli.main import main
from workbench.comparison.measured import MeasuredRun
from workbench.comparison.metrics.motion_errors import position_error
from workbench.step.scheme import SYMPLECTIC
from workbench.step.simulation import simulate
from workbench.studies.convergence import error_bound
from workbench.studies.refinement import motions, orders, phases, refined
from workbench.support.errors import DataError, UnknownNameError, WorkbenchError
from workbench.verbs.find import find_case, find_formulation

STEPS = (2e-3, 1e-3, 5e-4, 2.5e-4)


def of(found, **where):
    """The one row of the orders with these values; position errors unless something else is asked for."""
    rows = found.orders
    for name, value in ({"error": "position_error"} | where).items():
        rows = rows[rows[name] == value]
    (row,) = rows.to_dict("records")
    return row


@pytest.fixture(scope="module")
def rod():
    return wb.convergence("rod", ["coulomb", "ccp"], STEPS)


@pytest.fixture(scope="module")
def particle():
    return wb.convergence("particle", ["coulomb", "box"], (*STEPS, 1.25e-4))


@pytest.mark.parametrize("error", ["position_error", "velocity_error"])
@pytest.mark.parametrize(("scheme", "order"), [("symplectic", 1), ("explicit", 1), ("moreau-jean", 1), ("midpoint", 2)])
def test_a_sliding_rod(rod, scheme, order, error):
    """The row of its contact turns: its value amid the step, held on v+ by Moreau's rule, makes that one of order 1."""
    row = of(rod, label="coulomb", scheme=scheme, error=error)
    assert (row["phase"], row["verdict"]) == ("smooth", "vanishes")
    assert row["order"] == pytest.approx(order, abs=0.06)
    assert row["order_low"] <= row["order"] <= row["order_high"]
    assert row["uncertainty"] < 1e-10 < row["last"]


@pytest.mark.thorough
@pytest.mark.parametrize(("scheme", "order"), [("symplectic", 1), ("explicit", 1), ("moreau-jean", 1), ("midpoint", 2)])
def test_a_wheel_that_slides_and_then_rolls(scheme, order):
    """Gyroscopic forces, slip in space that turns, and its end."""
    found = wb.convergence("wheel", "coulomb", STEPS, scheme)
    for phase in ("smooth", "stick-slip"):
        for error in ("position_error", "velocity_error"):
            row = of(found, phase=phase, error=error)
            assert row["order"] == pytest.approx(order, abs=0.06), (phase, error)


@pytest.mark.thorough
def test_stick_slip_keeps_the_order_of_the_midpoint_scheme():
    found = wb.convergence(find_case("rod", speed=0.5), "coulomb", STEPS, ["symplectic", "midpoint"])
    for scheme, order in (("symplectic", 1), ("midpoint", 2)):
        row = of(found, scheme=scheme, phase="stick-slip")
        assert row["order"] == pytest.approx(order, abs=0.15)


def test_the_limit_of_a_formulation_is_that_of_every_scheme_and_of_a_much_smaller_step(rod):
    """CCP lifts the rod: what is left is found without a fit, at a twentieth of the smallest step."""
    case, ccp = find_case("rod"), find_formulation("ccp")
    h = 1.25e-5
    fine = simulate(case, ccp, default_solver("conic QP"), h, case.duration)
    first = motions(case, find_formulation("coulomb"), None).at(h)[0]
    m = MeasuredRun(fine, first, None, None, np.arange(fine.steps), None, None, None)
    wanted = position_error.function(m, fine, first)
    for scheme in ("symplectic", "moreau-jean", "midpoint"):
        row = of(rod, label="ccp", scheme=scheme)
        assert row["verdict"] == "limit"
        assert row["limit"] == pytest.approx(wanted, rel=1e-3)
        assert row["limit_low"] <= row["limit"] <= row["limit_high"]


def test_impacts_have_a_bound_and_no_order(particle):
    for scheme in ("symplectic", "moreau-jean", "midpoint"):
        row = of(particle, label="coulomb", scheme=scheme, phase="impacts")
        assert row["verdict"] == "bounded"
        assert np.isnan(row["order"])
        own = particle.rows.query("label == 'coulomb' and scheme == @scheme and phase == 'impacts'")
        assert row["bound"] == (own["position_error"] / own["step"]).max()
    # Bounds of friction from the last step's impulse have nothing to do with the impact's.
    assert of(particle, label="box", scheme="symplectic", phase="impacts")["verdict"] == "not"
    # The explicit update with the gap law rebounds from its own penetration.
    assert of(particle, label="coulomb", scheme="explicit", phase="impacts")["verdict"] == "not"
    assert particle.orders.query("phase == 'impacts'")["error"].unique().tolist() == ["position_error"]


def test_phases_part_the_motion_at_its_events():
    def found(name, h=2e-3, duration=None, **parameters):
        case = find_case(name, **parameters)
        return phases(motions(case, find_formulation("coulomb"), duration), h)

    (smooth, stick) = found("rod", speed=0.5)
    stop = 0.0424454635834
    assert (smooth.name, stick.name) == ("smooth", "stick-slip")
    assert (smooth.start, smooth.end) == (0.0, pytest.approx(stop - 4e-3, abs=1e-9))
    assert (stick.start, stick.end) == (pytest.approx(stop, abs=1e-9), find_case("rod").duration)
    # A phase of too few steps is none.
    assert [x.name for x in found("rod", h=1.2e-2, speed=0.5)] == ["stick-slip"]
    assert [x.name for x in found("particle", duration=0.3)] == ["smooth"]
    assert [x.name for x in found("particle")] == ["smooth", "impacts"]
    # Whole steps within a phase, and no more than there are.
    assert smooth.steps(1e-3, 300).tolist() == list(range(38))
    assert stick.steps(1e-3, 50).tolist() == list(range(43, 50))


def test_impacts_begin_with_the_first_and_steps_go_down():
    case, coulomb = find_case("bouncing-ball"), find_formulation("coulomb")
    known = motions(case, coulomb, 2.0)
    (smooth, impacts) = phases(known, 2e-3)
    assert (smooth.name, impacts.name) == ("smooth", "impacts")
    assert impacts.start == known.first.events[0].t
    said = []
    rows = refined(case, [coulomb], [SYMPLECTIC], (1e-3, 2e-3), known, lambda *x: said.append(x[1:]))
    assert rows["step"].tolist() == [2e-3, 2e-3, 1e-3, 1e-3]
    assert said == [(0, 2), (1, 2)]
    # The largest step decides which phases there are.
    with pytest.raises(DataError, match=r"no phase of the motion lasts 4 steps of 0\.6 s"):
        refined(case, [coulomb], [SYMPLECTIC], (1e-3, 0.6), known)


def test_runs_without_a_verified_end_are_rows_with_a_reason(monkeypatch):
    """One that raises, one that ends before its phase does, one whose worst residual is beyond its tolerance."""
    case, coulomb = find_case("rod"), find_formulation("coulomb")
    known = motions(case, coulomb, 0.1)

    def rows_of(**given):
        def run(*_, **__):
            if not given:
                raise DataError("no such step")
            whole = {"h": 1e-3, "steps": 100, "steps_wanted": 100, "solver": "x", "solve_time": 0.0, "reason": ""}
            return SimpleNamespace(**whole | {"residuals": np.zeros(100), "tolerance": 1e-8} | given)

        monkeypatch.setattr("workbench.studies.refinement.simulate", run)
        (row,) = refined(case, [coulomb], [SYMPLECTIC], (1e-3,), known).to_dict("records")
        assert not row["verified"]
        return row["reason"]

    assert rows_of() == "no such step"
    # Its phase ends with step 99, which is the hundredth.
    assert rows_of(steps=99, reason="it jams", residuals=np.zeros(99)) == "it jams"
    assert rows_of(residuals=np.eye(100)[5] * 2e-8) == "residual 2.0e-08 above 1e-08"


def test_the_worst_uncertainty_of_all_steps_counts(rod):
    rows = rod.rows.assign(position_reference=[1e-9 * k for k in range(len(rod.rows))])
    one = rows[(rows["label"] == "coulomb") & (rows["scheme"] == "midpoint")]
    found = orders(one)
    assert found[found["error"] == "position_error"]["uncertainty"].tolist() == [one["position_reference"].max()]
    # Errors that some steps do not have are left out, not all of them.
    gap = one.assign(velocity_error=[np.nan, *one["velocity_error"].iloc[1:]])
    assert set(orders(gap)["error"]) == {"position_error", "velocity_error"}


def test_a_bound_holds_where_errors_are_at_most_proportional():
    h = 1e-3 * 0.5 ** np.arange(6)
    rng = np.random.default_rng(4)
    erratic = h * rng.uniform(0.5, 1.0, h.size)
    found = error_bound(h, erratic)
    assert (found.falls, found.C, found.last) == ("bounded", (erratic / h).max(), erratic[-1])
    assert 3 * h[0] == error_bound(h, 3 * h**2).C
    assert [error_bound(h, e).falls for e in (np.full(6, 0.1), np.sqrt(h), 0.1 + h)] == ["not"] * 3
    assert error_bound(h[::-1], erratic[::-1]) == found
    assert error_bound(h, np.zeros(6)).falls == "zero"
    assert error_bound(h, np.where(h > 2e-4, erratic, np.nan)).falls == "unknown"
    assert error_bound(h[:0], h[:0]).falls == "unknown"


def test_the_table_has_ten_rows_at_most_best_first(rod, particle):
    head, lines, left = table(rod.orders)
    assert head == ["formulation", "scheme", "smooth"]
    assert (len(lines), left) == (8, 0)
    assert lines[0][:2] == ["coulomb", "midpoint"]
    assert lines[0][2].startswith("2.00 ± 0.0")
    assert lines[-1][0] == "ccp"
    assert {line[1] for line in lines if line[2].startswith("e0 = 15.8 %")} >= {"symplectic", "moreau-jean", "midpoint"}
    _, lines, _ = table(particle.orders)
    assert lines[0][2:] == ["exact", lines[0][3]]
    assert " % per ms; " in lines[0][3]
    twice = rod.rows.assign(label=rod.rows["label"] + ":again")
    both = orders(wb_frame(rod.rows, twice))
    assert [len(table(both, everything)[1]) for everything in (False, True)] == [10, 16]
    assert table(both)[2] == 6


def wb_frame(*frames):
    import pandas as pd

    return pd.concat(frames, ignore_index=True)


def test_the_command_prints_a_table_or_json_and_writes_a_folder(capsys, tmp_path):
    asked = [
        "convergence",
        "rod",
        "--duration",
        "0.05",
        "--step",
        "2e-3",
        "1e-3",
        "5e-4",
        "--scheme",
        "midpoint",
        "--quiet",
    ]
    assert main([*asked, "-f", "coulomb", "-f", "ccp", "--out", str(tmp_path / "x")]) == 0
    said = capsys.readouterr().out
    assert said.startswith("rod: errors against the step, relative to the event-driven motion\n")
    assert max(map(len, said.splitlines())) <= 100
    assert "Steps of 2 to 0.5 ms; the reference is known to" in said
    assert {x.name for x in (tmp_path / "x").iterdir()} == {
        "orders.csv", "provenance.json", "report.html", "rows.csv", "rows.parquet",
    }  # fmt: skip
    page = (tmp_path / "x" / "report.html").read_text("utf-8")
    assert "Convergence</h2>" in page
    assert "vanishes with the step, order 2.0" in page
    assert json.loads((tmp_path / "x" / "provenance.json").read_text())["command"].startswith(
        "workbench convergence rod"
    )
    assert main([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(x["scheme"], x["error"]) for x in found] == [
        ("midpoint", "position_error"),
        ("midpoint", "velocity_error"),
    ]
    assert found[0]["order"] == pytest.approx(2.0, abs=0.05)


def test_the_page_has_a_panel_for_each_phase(particle):
    page = particle.html()
    assert "particle, smooth: position error" in page
    assert "particle, impacts: position error" in page
    assert "is at most C h, " in page
    assert "has no bound C h: " in page


def test_what_cannot_be_measured_is_refused_in_a_line(capsys):
    assert "cube has no event-driven motion" in refusal(wb.convergence, "cube", error=WorkbenchError)
    assert "beyond 0.03748 s; ask for a shorter duration" in refusal(wb.convergence, "wedged-box", error=WorkbenchError)
    for steps in (1e-3, [1e-3, 1e-3], [1e-3, -1e-3], [1e-3, np.nan], [1e-3, np.inf]):
        assert "at least two different positive steps" in refusal(wb.convergence, "block", steps=steps, error=DataError)
    assert "midpoint" in refusal(wb.convergence, "block", schemes="midpiont", error=UnknownNameError)
    assert "no scheme" in refusal(wb.convergence, "block", schemes=[], error=DataError)
    assert "lasts 4 steps of 0.4 s" in refusal(wb.convergence, "block", steps=[0.4, 0.2], error=DataError)
    assert "positive number of seconds" in refusal(wb.convergence, "block", duration=np.nan, error=DataError)
    assert main(["convergence", "block", "--scheme", "moreau-jean:theta=2", "--quiet"]) == 2
    assert "a number from 0.5 to 1 is needed" in capsys.readouterr().err


def test_frictionless_contacts_and_failures_are_rows():
    found = wb.convergence(find_case("block", mu=0.0), "coulomb", STEPS, "symplectic")
    assert of(found, error="position_error")["verdict"] == "zero"
    rows = wb.convergence("block", ["coulomb", "frictionless"], STEPS, "midpoint").rows
    assert rows["verified"].all()
    assert rows.attrs["columns"]["position_error"]["unit"] == "1"
