"""Intervals at the front door: how they are written, the command, and refusals in one line."""

import json
import re

import numpy as np
import pytest
from flint import fmpq

import workbench as wb
from workbench.cli.main import main
from workbench.readers.problem import read_problem
from workbench.support.errors import DataError, WorkbenchError

ONE = "[2+-0.1 1; 1 [1.9, 2.1]]"


@pytest.mark.parametrize(
    ("text", "lower", "upper"),
    [
        ("[2+-0.1 -1; 1 2]", [["19/10", "-1"], ["1", "2"]], [["21/10", "-1"], ["1", "2"]]),
        ("[2\u00b10.1 -1; 1 2]", [["19/10", "-1"], ["1", "2"]], [["21/10", "-1"], ["1", "2"]]),
        ("[2 +/- 1/3, -1; 1, 2]", [["5/3", "-1"], ["1", "2"]], [["7/3", "-1"], ["1", "2"]]),
        ("[[1.9, 2.1] 1; 1 2]", [["19/10", "1"], ["1", "2"]], [["21/10", "1"], ["1", "2"]]),
        ("[[[1.9, 2.1], 1], [1, 2]]", [["19/10", "1"], ["1", "2"]], [["21/10", "1"], ["1", "2"]]),
        ("[[2, 4] [-2, 1]; [-1, 2] [2, 4]]", [["2", "-2"], ["-1", "2"]], [["4", "1"], ["2", "4"]]),
        ("[[2, 4], [-2, 1]; [-1, 2], [2, 4]]", [["2", "-2"], ["-1", "2"]], [["4", "1"], ["2", "4"]]),
        ("[1e-3+-1e-4]", [["9/10000"]], [["11/10000"]]),
        ('{"M": [["2+-1", 1], [1, [1, 3]]], "q": [1, 2]}', [["1", "1"], ["1", "1"]], [["3", "1"], ["1", "3"]]),
    ],
)
def test_intervals_in_text(text, lower, upper):
    M, _ = read_problem(text, intervals=True)
    assert [[str(x) for x in row] for row in M.exact.tolist()] == lower
    assert [[str(x) for x in row] for row in M.upper.exact.tolist()] == upper
    with pytest.raises(DataError, match="intervals"):
        read_problem(text)


@pytest.mark.parametrize(
    "text", ["[[1, 2], [3, 4]]", "[[1, 2]; [3, 4]]", "[1, 2]", '{"M": [[1, 2], [3, 4]], "q": [1, 2]}']
)
def test_rows_of_two_numbers_are_rows(text):
    assert read_problem(text, intervals=True)[0].upper is None


def test_intervals_in_a_file(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("[1.9, 2.1], -1\n-1, [1.9, 2.1]\n")
    M, _ = read_problem(path, intervals=True)
    assert M.exact[0, 0] == fmpq(19, 10)
    assert M.upper.exact[1, 1] == fmpq(21, 10)
    assert M.upper.exact[0, 1] == -1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["[2+--0.1]"], "negative radius"),
        (["[2+-nan]"], "nan"),
        (["[1+-]"], "empty"),
        (["[[2.1, 1.9] 1; 1 2]"], "lower end above"),
        (["[2 1; 1 2]", "--uncertainty", "nan"], "--uncertainty is nan"),
        (["[2 1; 1 2]", "--uncertainty", "-1"], "a number >= 0"),
        (["[2 1; 1 2]", "--plus-minus", "[-1 1; 1 1]"], "radius \\[0, 0\\] is -1"),
        (["[2 1; 1 2]", "--plus-minus", "[1 1]"], "1 x 2 and the matrix is 2 x 2"),
        (["[2 1; 0 2]", "--symmetric"], "middle of entry"),
        (["[1 2 3; 4 5 6]", "--uncertainty", "0.1"], "2 x 3"),
        (["[2 1; 1 2]", "--uncertainty", "0.1", "--picture", "x.svg"], "--picture"),
        (["--case", "rod", "-f", "box", "--uncertainty", "0.1"], "not for --case"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(words, message, capsys):
    assert main(["check", *words]) != 0
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert re.search(message, error), error


def test_command_in_words_and_as_json(capsys, tmp_path):
    page = tmp_path / "page.html"
    assert main(["check", "[2 1; 1 2]", "--rhs", "[-1; -1]", "--plus-minus", "[.1 .1; .1 .1]", "--out", str(page)]) == 0
    text = capsys.readouterr().out
    assert "z_0 in [4/15, 2/5]" in text
    assert "Every matrix of the box is a P-matrix" in text
    assert max(map(len, text.splitlines()[:-1])) <= 80
    assert "4/15" in page.read_text()
    assert main(["check", "[2 1; 1 2]", "--uncertainty", "0.4", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["classes"]["P"]["verdict"] == "some"
    assert data["M"]["radius"] == [["4/5", "2/5"], ["2/5", "4/5"]]
    # (2 - 2 r) (2 - 2 r) = (1 + r)^2 at r = 1/3, of the given 2/5.
    bracket = data["largest_uncertainty"]["P"]
    assert bracket["lower"] <= 5 / 6 <= bracket["upper"] < 5 / 6 + 1e-6


def test_uncertainty_is_relative_to_q_as_well(capsys):
    assert main(["check", "[2]", "--rhs", "[-1]", "--uncertainty", "1/4", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["solutions"]
    assert (found["lower"], found["upper"]) == (["3/10"], ["5/6"])


def test_python_takes_intervals():
    found = wb.check(wb.interval(np.eye(2), 0.25))
    assert found.data["classes"]["P"]["verdict"] == "all"
    assert "classes" in found.frames
    assert found.data["M"]["radius"][0][1] == "1/4"
    assert wb.check(ONE).data["uncertain_entries"] == 2
    with pytest.raises(WorkbenchError, match="zero or positive"):
        wb.interval([[1]], -1)
    with pytest.raises(WorkbenchError, match="finite"):
        wb.interval([[1]], np.nan)
    with pytest.raises(WorkbenchError, match="radii are"):
        wb.interval([[1, 2], [3, 4]], [[1]])
    with pytest.raises(WorkbenchError, match="q has 3"):
        wb.check(wb.interval([[1]]), rhs=[1, 2, 3])


def test_the_page_marks_what_decides(tmp_path):
    """The member that is not P has these entries of the minor; bounds, samples and the middle stand in one figure."""
    found = wb.check("[2+-6/5 1; 1 2+-6/5]", rhs="[-1; 1/2]")
    page = found.html()
    assert page.count('class="decides uncertain"') == 2
    assert page.count('class="decides "') == 2
    assert page.count("▼ 4/5") == 2
    assert "rows and columns 0, 1, whose minor is -9/25" in page
    assert 'id="figure-solutions"' in page
    assert 'download="certificate.json"' in page
    definite = wb.check("[2+-1/10 1; 1 2]").html()
    assert "For all entries in these intervals" in definite
    assert "figure-solutions" not in definite


def test_samples_lie_within_the_bounds():
    found = wb.check(wb.interval([["2", "1"], ["1", "2"]], "1/10", True), rhs=wb.interval(["-1", "-1/2"], "1/4"))
    data = found.data["solutions"]
    assert len(data["samples"]) == 40
    lower, upper = (np.array([float(fmpq(x).p) / float(fmpq(x).q) for x in data[end]]) for end in ("lower", "upper"))
    samples = np.array(data["samples"])
    assert (samples >= lower - 1e-12).all()
    assert (samples <= upper + 1e-12).all()
    assert (np.ptp(samples, axis=0) > 0.1).all()


def test_unknowns_without_a_bound_end_in_an_arrow():
    from workbench.builtin.reports.figures.uncertain import frame, solutions_figure

    data = wb.check("[0+-1 0; 0 1]", rhs="[-1; -1]").data["solutions"]
    assert data["upper"] == [None, "1"]
    bars = frame(data)
    assert bars["open"].tolist() == [True, False]
    assert bars["upper"][0] > 1
    assert "Triangle" in solutions_figure(data).caption
