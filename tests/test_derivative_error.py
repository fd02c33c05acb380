"""The error of a derivative as a metric of a comparison."""

import pickle

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.cli.main import main

DURATION = 0.05


def compared(*names, case="block", metrics=None, **settings):
    found = wb.compare(
        case, list(names), metrics=metrics or [wb.derivative_error("v[0]", "mu")], reference="steps",
        solvers=["auto"], **{"duration": DURATION} | settings,
    )  # fmt: skip
    return found.runs[found.runs["window"] == "all"].set_index("label")


@pytest.mark.thorough
def test_a_polygon_misses_a_cosine_and_the_exact_law_nothing():
    runs = compared("coulomb", "stewart-trinkle")
    column = runs["dv[0]_dmu_error"]
    assert column["coulomb"] == pytest.approx(0, abs=1e-8)
    # Friction along the first axis, at 30 degrees to the velocity, instead of its component there.
    assert column["stewart-trinkle"] == pytest.approx(2 / np.sqrt(3) - 1, abs=1e-8)
    assert (runs["notes"] == "").all()


@pytest.mark.thorough
def test_it_is_the_error_in_the_table_of_sensitivity():
    column = compared("ccp", "coulomb", metrics=[wb.derivative_error("x", "speed")])["dx_dspeed_error"]
    table = wb.sensitivity("block", ["ccp"], of="x", to="speed", duration=DURATION).table.set_index("formulation")
    assert column.to_dict() == table.loc[["ccp", "coulomb"], "error"].to_dict()


@pytest.mark.parametrize(
    ("settings", "names", "words"),
    [
        ({"scheme": "explicit"}, ("x", "mu"), "symplectic scheme"),
        ({"normal": "velocity"}, ("x", "mu"), "normal law"),
        ({}, ("height of fall", "mu"), "height of fall"),
        ({}, ("x", "length"), "length"),
    ],
)
def test_what_has_no_derivative_says_why(settings, names, words):
    runs = compared("coulomb", metrics=[wb.derivative_error(*names)], **settings)
    assert np.isnan(runs[f"d{names[0]}_d{names[1]}_error"]).all()
    assert words in runs["notes"].iloc[0]


@pytest.mark.thorough
def test_windows_that_are_not_the_whole_run_have_none():
    error = wb.derivative_error("v[0]", "mu")
    runs = wb.compare("particle", ["coulomb"], metrics=[error], reference="steps", duration=0.6).runs
    column = runs.set_index("window")["dv[0]_dmu_error"]
    assert np.isnan(column["sliding"])
    assert abs(column["all"]) < 0.01
    assert (runs["notes"] == "").all()


@pytest.mark.thorough
def test_it_shows_the_missing_time_of_an_impact():
    error = wb.derivative_error("z", "height")
    row = compared("coulomb", case="bouncing-ball", metrics=[error], duration=0.6).iloc[0]
    # The derivative is +1 by steps, and -0.208 for the motion.
    assert row["dz_dheight_error"] == pytest.approx(1 / -0.208 - 1, rel=0.01)


def test_it_travels_to_other_processes():
    error = pickle.loads(pickle.dumps(wb.derivative_error("x", "mu")))
    assert error.column.name == "dx_dmu_error"


@pytest.mark.thorough
def test_the_command_adds_it_to_the_other_metrics(tmp_path, capsys):
    assert main([
        "compare", "block", "-f", "coulomb", "--derivative", "x", "mu", "--derivative", "energy", "speed",
        "--duration", "0.02", "--reference", "steps", "--out", str(tmp_path / "out"),
    ]) == 0  # fmt: skip
    runs = pd.read_csv(tmp_path / "out" / "runs.csv")
    assert {"dx_dmu_error", "denergy_dspeed_error", "position_error"} <= set(runs)
    # Columns that are asked for come first.
    heading = next(line for line in capsys.readouterr().out.splitlines() if "dx/dmu" in line)
    assert heading.split()[:2] == ["dx/dmu", "denergy/dspeed"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["block", "--derivative", "w", "mu"], "output 'w'"),
        (["block", "--derivative", "x", "length"], "length"),
        (["missing.hdf5", "--derivative", "x", "mu"], "--derivative"),
    ],
)
def test_a_wrong_name_is_one_line(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["compare", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.strip().split("\n"))) == ("", 1)
    assert words in err
    assert list(tmp_path.iterdir()) == []
