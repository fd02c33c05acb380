"""`workbench painleve`: what it prints and writes, and one clear line for every mistake."""

import itertools
import json
import re

import numpy as np
import pytest

from workbench.builtin.cases.rod import Rod
from workbench.builtin.cases.rod_in_guide import RodInGuide
from workbench.builtin.reports.figures.regimes import COLOURS, rectangles
from workbench.builtin.reports.pages.painleve import render
from workbench.cli.main import main
from workbench.diagnostics.painleve import of_case
from workbench.diagnostics.painleve_contacts import alternatives
from workbench.diagnostics.painleve_map import NAMES, axis, regime_map
from workbench.diagnostics.sliding_regime import REGIMES


def run(capsys, *arguments):
    assert main(["painleve", *arguments]) == 0
    return capsys.readouterr().out


def test_the_boundary_of_the_rod_as_text_and_as_json(capsys):
    boundary = ["rod", "--set", "tan_theta=2", "--set", "mu=4/3", "--set", "b=0"]
    text = run(capsys, *boundary)
    assert re.search(r"regime +indeterminate \(infinitely many solutions\)\n", text)
    assert "4/3 = 1.333333333" in text
    # Proposition 1 holds well inside, and not where the P-property is lost.
    assert re.search(r"plain .* no +1\.3", text)
    assert re.search(r"plain .* yes +1\.3", run(capsys, "rod"))
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
    assert "Map over angle and mu_wall" in text
    assert f"report: {out}" in text
    page = out.read_text("utf-8")
    assert "<svg" in page
    assert 'id="figure-map"' in page
    assert "undefined" not in page.split("<script>")[0].lower()
    found = json.loads(run(capsys, *arguments, "--json"))["map"]
    assert len(found["regime"]) == len(found["critical"]) == 30
    assert sum(found["shares"].values()) == pytest.approx(1)


def test_pages_of_all_regimes_can_be_made():
    cases = [
        (Rod(angle=63.43494882292201, mu=4 / 3), {}, "Undecided at this state."),
        (Rod(mu=1.4, angle=63.0), {}, "No: at this state it has no solution."),
        (Rod(mu=2.0, spin=5.0), {}, "No: at this state it has two solutions."),
        (Rod(speed=1.0), {}, "Yes, at this state and for all loads."),
        (
            RodInGuide(angle=30.0, spin=1.0, mu_guide=1.6), {"mu_guide": 1.6},
            "Yes, at this state; for some other loads not.",
        ),
    ]  # fmt: skip
    for case, given, verdict in cases:
        page = render(of_case(case), alternatives(case), case, given, {"command": "test"})
        assert f"<p><b>{verdict}</b></p>" in page
        assert page.count("<h2>") >= 4
        assert not re.search(r"\bnan\b", page.split("<script>")[0])


def test_a_page_names_accelerations_with_units_and_labels_the_sketch_with_the_case_s_numbers(capsys, tmp_path):
    out = tmp_path / "rod.html"
    text = run(capsys, "rod", "--set", "angle=30", "--set", "m=2", "--set", "l=0.5", "--out", str(out))
    found = re.search(r"accelerations +x'' = ([\d.-]+) m/s2, z'' = 0 m/s2, theta'' = ([\d.-]+) rad/s2", text)
    page = out.read_text("utf-8")
    assert f"x&#39;&#39; = {found[1]} m/s<sup>2</sup>" in page
    assert "theta&#39; [rad/s]: rate of the angle from the floor" in page
    sketch = page[page.index('<svg class="sketch"') :].partition("</svg>")[0]
    assert set(re.findall(r"<text[^>]*>(.*?)</text>", sketch)) == {"v", "30°", "2 kg", "0.5 m"}
    assert "m = 2 kg, l = 0.5 m, kappa = 0.333333, mu = 0.5, gravity = 9.81 m/s<sup>2</sup>, angle = 30°" in page


def test_the_rectangles_of_a_map_cover_it_once():
    case = RodInGuide(spin=1.0)
    m = regime_map(case, axis(case, "angle", np.linspace(10, 85, 9)), axis(case, "mu_wall", np.linspace(0, 3, 14)))
    frame = rectangles(m)
    by_column = frame.assign(height=frame["y2"] - frame["y"]).groupby("x")["height"].sum()
    assert len(by_column) == 9
    assert by_column.to_numpy() == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rood"], "unknown case 'rood'"),
        (["rod", "--set", "mu=x"], "--set mu=x: 'x' is not a number"),
        (["rod", "--set", "mu=1/0"], "--set mu=1/0: '1/0' divides by zero"),
        (["rod", "--set", "mu=1e999"], "--set mu=1e999: '1e999' exceeds the largest double"),
        (["rod", "--set", "mu"], "--set mu: give NAME=NUMBER"),
        (["rod", "--set", "mu=1e999999999"], "'1e999999999' has an exponent beyond 9999"),
        (["rod", "--set", "mu=1e-999999999"], "'1e-999999999' has an exponent beyond 9999"),
        (["rod", "--set", "mu=nan"], "--set mu=nan is nan"),
        (["rod", "--x", "mu=1e999999999:2:3", "--y", "angle=10:20:3"], "exponent beyond 9999"),
        (["rod", "--x", "mu=0:1e400:3", "--y", "angle=10:20:3"], "'1e400' exceeds the largest double"),
        (["rod", "--x", "mu=0/0:1:3", "--y", "angle=10:20:3"], "'0/0' divides by zero"),
        (["rod", "--x", "mu=0:nan:3", "--y", "angle=0:1:5"], "nan"),
        (["rod", "--x", "mu=-1e308:1e308:3", "--y", "angle=10:20:3"], "within the range of doubles"),
        (["rod", "--x", "mu=0:1:2.5", "--y", "angle=10:20:3"], "COUNT must be a whole number from 2 to 1000"),
        (["rod", "--x", "mu=0:1:1e9", "--y", "angle=10:20:3"], "COUNT must be a whole number from 2 to 1000"),
        (["rod", "--x", "mu=0:1e299:3", "--y", "angle=10:20:3"], "mu goes to 1e+299; beyond 1e+150 squares overflow"),
        (["rod", "--x", "mu=::", "--y", "angle=10:20:3"], "--x mu=:: is empty"),
        (["rod", "--x", "mu=0:1:3", "--y", "angle=0:1e-322:1000"], "numbers that increase"),
        (["rod", "--x", "slip=0:1:3", "--y", "mu=0:1:5"], "no axis slip"),
        (["rod", "--slip", "30"], "in the plane it is 0 or 180"),
        (["cube", "--slip", "30,40"], "slip has 2 angles"),
        (["rod", "--set", "q=0,0"], "3 finite numbers are needed"),
        (["sphere", "--set", "q=0,0,0.5,2,0,0,0"], "off the unit length by 1"),
        (["rod", "--set", "v=1,0,1e200"], "f of this state is not finite"),
        (["rod", "--set", "q="], "--set q is empty; a number is needed"),
        (["rod", "--at", "9"], "from 0 to 0.3 s"),
        (["rod", "--at", "0.1", "--set", "v=1,0,0"], "at and a state (q, v) are both given"),
        (["rod", "--set", "mi=1"], "unknown parameter 'mi' of rod"),
        (["rod", "--set", "b=-20"], "b = -20"),
        (["rod", "--x", "mu=0:1:5"], "both --x and --y"),
        (["rod", "--x", "mu=0:1:5", "--y", "mu=0:1:5"], "--x and --y are both mu"),
        (["rod", "--x", "mu=0:1", "--y", "angle=0:1:5"], "--x mu=0:1: give NAME=FROM:TO:COUNT"),
        (["rod", "--x", "mu=1:0:5", "--y", "angle=0:1:5"], "FROM < TO"),
        (["rod", "--x", "mu=0:1:5", "--y", "angel=0:1:5"], "unknown parameter 'angel' of rod"),
        (["particle"], "no contact is closed"),
        (["rod", "--out", "/nowhere/page.html"], "cannot write to '/nowhere/page.html'"),
    ],
    ids=lambda x: " ".join(x[1:]) if isinstance(x, list) else None,
)
def test_mistakes_are_one_line(capsys, arguments, words):
    assert main(["painleve", *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def lightness(colour):
    """CIE L* of a colour as in "#7ab8dd", which is what a grey print keeps of it."""
    y = linear_rgb(colour) @ [0.2126, 0.7152, 0.0722]
    return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y


def linear_rgb(colour):
    c = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


# Linear RGB as seen without the long, the middle, the short cones (Machado, Oliveira & Fernandes 2009, severity 1).
SEEN = [
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
]


def test_the_regimes_are_apart_in_grey_and_for_all_kinds_of_colour_vision():
    for one, other in itertools.combinations(REGIMES, 2):
        assert abs(lightness(COLOURS[one]) - lightness(COLOURS[other])) > 15
        for matrix in SEEN:
            a, b = (np.clip(matrix @ linear_rgb(COLOURS[x]), 0, 1) ** (1 / 2.2) for x in (one, other))
            assert np.linalg.norm(a - b) > 0.2
    assert set(COLOURS) == set(NAMES)


def test_a_page_s_legend_names_the_four_regimes_and_pictures_stand_before_tables():
    case = Rod(mu=1.4, spin=4.0)
    m = regime_map(case, axis(case, "angle", np.linspace(10, 85, 40)), axis(case, "mu", np.linspace(0, 3, 40)))
    page = render(of_case(case), alternatives(case), case, {}, {"command": "test"}, m)
    assert page.index('id="figure-map"') < page.index("<table>")
    assert json.dumps(list(REGIMES))[:-1] in page
    assert set(rectangles(m)["regime"]) >= set(REGIMES)


def test_time_limits_leave_cells_out_and_say_so(capsys):
    case = Rod()
    axes = [axis(case, "angle", np.linspace(10, 85, 40)), axis(case, "spin", np.linspace(0, 3, 1000))]
    said = []
    m = regime_map(case, *axes, progress=lambda *what: said.append(what), seconds=0.0)
    assert m.shares()["out of time"] > 0.99
    assert said[0] == ("systems", 1, 40_000)
    asked = ["rod", "--x", "angle=1:80:70", "--y", "spin=0:1:70", "--time-limit", "0.01", "--json"]
    found = json.loads(run(capsys, *asked))
    assert found["map"]["shares"]["out of time"] > 0.5
    assert "out of time" in found["in_words"][-1]


def test_a_subnormal_coefficient_leaves_no_warning(capsys):
    assert "is a P-matrix for mu from 0 to" in run(capsys, "rod", "--set", "mu=1e-320")
