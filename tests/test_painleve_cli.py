"""`workbench painleve`: what it prints and writes, and one clear line for every mistake."""

import json
import re

import pytest

from workbench.builtin.cases.rod import Rod
from workbench.builtin.cases.rod_in_guide import RodInGuide
from workbench.builtin.reports.pages.painleve import rectangles, render
from workbench.cli.main import main
from workbench.cli.painleve import parse_axis
from workbench.diagnostics.painleve import of_case
from workbench.diagnostics.painleve_map import regime_map


def run(capsys, *arguments):
    assert main(["painleve", *arguments]) == 0
    return capsys.readouterr().out


def test_the_boundary_of_the_rod_as_text_and_as_json(capsys):
    boundary = ["rod", "--set", "tan_theta=2", "--set", "mu=4/3", "--set", "b=0"]
    text = run(capsys, *boundary)
    assert re.search(r"regime +infinitely many\n", text)
    assert "4/3 = 1.333333333" in text
    found = json.loads(run(capsys, *boundary, "--json"))
    assert found["regime"]["kind"] == "infinitely many"
    assert found["regime"]["rational_data"]
    assert found["p_matrix"] | {"sign_reversal": None} == {
        "verdict": "not P", "reason": None, "as_given": "not P", "proof": None, "index_set": [0], "minor": "0",
        "sign_reversal": None,
    }  # fmt: skip
    (critical,) = found["critical_friction"]
    assert (critical["of"], critical["exact"]) == ("mu", "4/3")
    assert critical["lo"] < 4 / 3 < critical["hi"] or critical["lo"] <= 4 / 3 <= critical["hi"]
    degrees = json.loads(run(capsys, "rod", "--set", "theta=63.43494882292201", "--set", "mu=4/3", "--json"))
    assert degrees["regime"]["kind"] == degrees["p_matrix"]["verdict"] == "undecided"
    assert "1e-12" in degrees["regime"]["reason"]


def test_a_map_and_its_page(capsys, tmp_path):
    out = tmp_path / "guide.html"
    arguments = ["rod-in-guide", "--set", "spin=1", "--x", "theta=10:85:30", "--y", "mu_wall=0:3:30"]
    text = run(capsys, *arguments, "--out", str(out))
    assert "Of the map over angle and mu_wall" in text
    assert f"report: {out}" in text
    page = out.read_text("utf-8")
    assert "<svg" in page
    assert 'id="figure-map"' in page
    assert "undefined" not in page.split("<script>")[0].lower()
    found = json.loads(run(capsys, *arguments, "--json"))["map"]
    assert len(found["kind"]) == len(found["critical"]) == 30
    assert sum(found["shares"].values()) == pytest.approx(1)


def test_pages_of_all_regimes_can_be_made():
    cases = [
        (Rod(angle=63.43494882292201, mu=4 / 3), {}), (Rod(mu=1.4, angle=63.0), {}), (Rod(speed=1.0), {}),
        (RodInGuide(angle=30.0, spin=1.0, mu_guide=1.6), {"mu_guide": 1.6}),
    ]  # fmt: skip
    for case, given in cases:
        page = render(of_case(case), case, given, {"command": "test"})
        assert page.count("<h2>") >= 4
        assert not re.search(r"\bnan\b", page.split("<script>")[0])


def test_the_rectangles_of_a_map_cover_it_once():
    case = RodInGuide(spin=1.0)
    m = regime_map(case, parse_axis(case, "angle=10:85:9", "--x"), parse_axis(case, "mu_wall=0:3:14", "--y"))
    frame = rectangles(m)
    by_column = frame.assign(height=frame["y2"] - frame["y"]).groupby("x")["height"].sum()
    assert len(by_column) == 9
    assert by_column.to_numpy() == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rood"], "unknown case 'rood'"),
        (["rod", "--set", "mu=x"], "--set mu=x: give NAME=NUMBER"),
        (["rod", "--set", "mu=1/0"], "--set mu=1/0: give NAME=NUMBER"),
        (["rod", "--set", "mu=1e999"], "--set mu: the value is beyond"),
        (["rod", "--set", "mi=1"], "unknown parameter of rod 'mi'"),
        (["rod", "--set", "b=-20"], "b = -20"),
        (["rod", "--x", "mu=0:1:5"], "both --x and --y"),
        (["rod", "--x", "mu=0:1:5", "--y", "mu=0:1:5"], "--x and --y are both mu"),
        (["rod", "--x", "mu=0:1", "--y", "angle=0:1:5"], "--x mu=0:1: give NAME=FROM:TO:COUNT"),
        (["rod", "--x", "mu=1:0:5", "--y", "angle=0:1:5"], "FROM < TO"),
        (["rod", "--x", "mu=0:1:5", "--y", "angel=0:1:5"], "unknown parameter of rod 'angel'"),
        (["particle"], "no contact is closed"),
        (["rod", "--set", "speed=0"], "every contact must slide"),
        (["rod", "--out", "/nowhere/page.html"], "cannot write to '/nowhere/page.html'"),
    ],
    ids=lambda x: " ".join(x[1:]) if isinstance(x, list) else None,
)
def test_mistakes_are_one_line(capsys, arguments, words):
    assert main(["painleve", *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
