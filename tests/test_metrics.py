"""Metrics: one file and one line each, columns with units and meanings, and own ones beside the built-in ones."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.test_comparison import SLIPPERY
from workbench.algorithms.escalation import default_solver
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations import FORMULATIONS
from workbench.builtin.reports.pages.comparison import render, save
from workbench.builtin.reports.text.columns import markdown
from workbench.builtin.reports.text.terminal import print_comparison
from workbench.cli.main import main
from workbench.comparison import cases
from workbench.comparison.cases import compare_case
from workbench.comparison.columns import RUNS, TRAJECTORIES
from workbench.comparison.files import compare_problem
from workbench.comparison.jobs import Settings
from workbench.comparison.measured import Measured, MeasuredRun, rms
from workbench.comparison.measured_problem import MeasuredProblem
from workbench.comparison.metric import metric
from workbench.comparison.metrics import METRICS
from workbench.problems.friction_problem import FrictionProblem
from workbench.support.errors import DataError, UnknownNameError
from workbench.support.output import provenance

pytestmark = pytest.mark.thorough

BY_NAME = {f.name: f for f in FORMULATIONS}
COULOMB = BY_NAME["coulomb"]
SETTINGS = Settings((1e-3,), 5e-4, 0.02)
PROBLEM = FrictionProblem(np.eye(3), np.array([-2.0, 4.0, 3.0]), np.array([0.5]), 2)


@metric("largest-impulse", unit="N s", meaning="largest normal impulse of the window", heading="p_n")
def largest_impulse(m: Measured) -> float:
    return m.run.p_n[m.steps].max()


@metric("drop", unit="m", meaning="how far the centre sinks")
def drop(m: MeasuredRun) -> float:
    return m.case.centre(m.run.states_q)[0, 2] - m.case.centre(m.run.states_q)[m.ends(m.run)[-1], 2]


@metric("smallest-diagonal", unit="1/kg", meaning="of W", shown="small")
def smallest_diagonal(m: MeasuredProblem) -> float:
    return m.run.problem.W.diagonal().min()


@metric("broken", unit="1", meaning="raises")
def broken(m):
    raise ZeroDivisionError("nothing to divide by")


@metric("rubbish", unit="1", meaning="returns what is no number")
def rubbish(m):
    return "3 apples"


def on_wheel(metrics=None, names=("box", "ccp")):
    return compare_case(Wheel(), [BY_NAME[n] for n in names], COULOMB, settings=SETTINGS, metrics=metrics)


def on_problem(metrics=None):
    return compare_problem("slide", PROBLEM, [BY_NAME["box"], COULOMB], COULOMB, metrics=metrics)


def test_names_columns_and_meanings_are_there_and_unique():
    names = [m.name for m in METRICS]
    assert names == METRICS.names
    columns = [c.name for c in (*RUNS, *(x for m in METRICS for x in m.columns))]
    assert len(set(columns)) == len(columns)
    assert all(m.column.unit and m.column.meaning and m.column.heading for m in METRICS)


def test_every_file_of_the_folder_is_listed():
    folder = Path(__file__).parent.parent / "workbench" / "comparison" / "metrics"
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert files == {place.partition(".")[0] for place in METRICS.bundled.values()}


def test_metrics_that_serve_both_kinds_are_the_same_object():
    both = {m.name for m in METRICS if {"case", "problem"} <= m.column.of}
    assert {"friction-rmsd", "misalignment-rms", "signorini", "cone", "dissipation", "natural-map"} <= both
    case, problem = on_wheel(), on_problem()
    for m in METRICS:
        assert (m.column.name in case.runs) == ("case" in m.column.of)
        assert (m.column.name in problem.runs) == ("problem" in m.column.of)


def test_own_metrics_have_columns_beside_the_built_in_ones():
    c = on_wheel([*METRICS, largest_impulse, drop])
    own = c.trajectories[(c.trajectories["label"] == "box") & (c.trajectories["solver"] == "proximal")]
    row = c.runs[(c.runs["solver"] == "proximal") & (c.runs["window"] == "all")].iloc[0]
    assert row["largest_impulse"] == own["p_n"].max()
    assert row["drop"] == pytest.approx(Wheel().centre(Wheel().start()[0])[2] - own["z"].iloc[-1], abs=1e-15)
    assert (c.runs["notes"] == "").all()
    assert ">p_n [N s]</button></th>" in render(c, provenance())
    one = on_problem([largest_impulse, smallest_diagonal])
    assert [m.name for m in one.metrics] == ["largest-impulse", "smallest-diagonal"]
    assert one.runs["smallest_diagonal"].tolist() == [1.0] * len(one.runs)


@pytest.mark.parametrize("compared", [on_wheel, on_problem])
def test_a_metric_that_breaks_costs_its_cell_and_says_why(compared, capsys):
    c, plain = compared([*METRICS, broken, rubbish]), compared()
    assert c.runs[["broken", "rubbish"]].isna().all(axis=None)
    notes = c.runs["notes"] if compared is on_problem else c.runs["notes"][~c.runs["sampled"]]
    assert notes.str.contains("broken: ZeroDivisionError: nothing to divide by").all()
    assert notes.str.contains("rubbish: TypeError: .*'3 apples'").all()
    assert c.runs["friction_rmsd"].equals(plain.runs["friction_rmsd"])
    assert "nothing to divide by" in render(c, provenance())
    print_comparison(c)
    assert "nothing to divide by" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("compared", [on_wheel, on_problem])
def test_a_few_metrics_are_enough_for_a_page(compared, capsys):
    c = compared(["friction-rmsd"])
    assert [m.name for m in c.metrics] == ["friction-rmsd"]
    assert "velocity_error" not in c.runs
    assert "ratio [%]" in render(c, provenance())
    print_comparison(c)
    assert "ratio" in capsys.readouterr().out
    assert render(compared([]), provenance())


def test_a_metric_that_is_about_the_other_kind_is_refused_where_it_is_asked_for_by_itself():
    with pytest.raises(DataError, match="smallest-diagonal is about problems from files, not about cases"):
        on_wheel([*METRICS, smallest_diagonal])
    with pytest.raises(DataError, match="position-error is about cases, not about problems from files"):
        on_problem(["cone", "position-error"])
    assert [m.name for m in on_problem([*METRICS]).metrics] == [m.name for m in on_problem().metrics]


def test_on_a_narrow_terminal_what_was_asked_for_stays_longest(capsys, monkeypatch):
    """A count, which tables leave out by default, and an own metric: the residual gives way to them."""
    wanted = [metric("spare", unit="1", meaning="none", heading="spare", shown="count")(lambda m: 7.0), largest_impulse]
    c = on_wheel(wanted)
    for width, shown, left_out in ((120, ["spare", "p_n", "residual"], []), (66, ["spare", "p_n"], ["residual"]),
                                   (54, ["spare"], ["p_n", "residual"])):  # fmt: skip
        monkeypatch.setattr("workbench.builtin.reports.text.terminal.PIPE_WIDTH", width)
        print_comparison(c, wanted)
        table, _, rest = capsys.readouterr().out.partition("Not shown")
        assert [x for x in ("spare", "p_n", "residual") if x in table] == shown
        assert [x for x in ("p_n", "residual") if x in rest] == left_out
    print_comparison(c)
    assert "spare" not in capsys.readouterr().out


def test_what_is_no_metric_is_refused():
    with pytest.raises(UnknownNameError, match="friction-rmsd"):
        on_wheel(["friction-rmds"])
    with pytest.raises(DataError, match="is not a metric"):
        on_wheel([rms])
    with pytest.raises(DataError, match="given twice"):
        on_problem(["cone", METRICS.find("cone")])
    for name in ("residual", "solve-time", ""):
        with pytest.raises(DataError, match="column of that name"):
            metric(name, unit="1", meaning="nothing")
    with pytest.raises(DataError, match="percent"):
        metric("mine", unit="1", meaning="nothing", shown="percents")


def test_a_metric_sees_none_for_what_does_not_reach_the_end_of_the_window(monkeypatch):
    """The solver that should take a formulation to round-off loses it at the end of sliding, and another does not."""
    monkeypatch.setattr(cases, "default_solver", lambda kind: SLIPPERY if kind == "LCP" else default_solver(kind))
    seen = {}

    @metric("watcher", unit="1", meaning="whether the formulation to round-off is there")
    def watcher(m: MeasuredRun) -> float:
        seen[m.run.solver, m.steps[-1] == m.run.steps_wanted - 1] = m.round_off is None
        return 0.0

    failing, settings = BY_NAME["anitescu-potra"], Settings((1e-3,), 1e-3)
    c = compare_case(Wheel(), [failing], COULOMB, ["lemke"], settings, metrics=[watcher, "velocity-error"])
    assert seen == {("lemke", False): False, ("lemke", True): True}
    assert c.runs["velocity_solver"].isna().tolist() == [window == "all" for window in c.runs["window"]]


def test_frames_know_their_columns_and_so_do_parquet_files(tmp_path):
    for c in (on_wheel(), on_problem()):
        save(c, tmp_path, provenance())
        for name in ("runs", "trajectories"):
            frame, read = getattr(c, name), pd.read_parquet(tmp_path / f"{name}.parquet")
            assert list(frame.attrs["columns"]) == list(frame.columns) == list(read.columns)
            assert read.attrs["columns"] == frame.attrs["columns"]
            assert all(about["meaning"] for about in frame.attrs["columns"].values())
    assert frame.attrs["columns"]["p_n"]["unit"] == "N s"


def test_the_documentation_lists_all_columns():
    page = (Path(__file__).parent.parent / "docs" / "columns.md").read_text("utf-8")
    assert page == markdown(), "run: python -m workbench.builtin.reports.text.columns > docs/columns.md"
    for column in (*RUNS, *TRAJECTORIES, *(x for m in METRICS for x in m.columns)):
        assert f"| `{column.name}` | {column.unit} |" in page


def test_the_command_takes_names_of_metrics(tmp_path, capsys):
    short = ["--duration", "0.02", "-f", "box", "--out", str(tmp_path / "out"), "--quiet"]
    assert main(["compare", "wheel", *short, "--metric", "energy-error"]) == 0
    runs = pd.read_csv(tmp_path / "out" / "runs.csv")
    assert "energy_error" in runs
    assert "friction_rmsd" not in runs
    assert main(["compare", "wheel", *short, "--metric", "energy"]) == 2
    assert "did you mean 'energy-error'?" in capsys.readouterr().err


@pytest.mark.parametrize(("unit", "shown"), [("1", "percent"), ("m/s", "number")])
def test_only_a_pure_distance_is_shown_in_percent(unit, shown):
    found = wb.distance("apart", unit=unit, meaning="a distance")(lambda m, a, b: 0.0)
    assert {column.shown for column in found.columns} == {shown}


def test_a_metric_of_ones_own_has_no_built_in_ones_name():
    creep = metric("creep", unit="m/s", meaning="another")(lambda m: 1.0)
    with pytest.raises(DataError, match="the metric creep has the name of a built-in one; rename it"):
        on_wheel([creep])
