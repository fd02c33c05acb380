"""Proved maps and ranges on the command line, in Python, and on the page."""

import json
from fractions import Fraction

import numpy as np
import pytest

import workbench as wb
from workbench.builtin.reports.figures.proved import frame, proved_figure
from workbench.builtin.reports.figures.regimes import COLOURS
from workbench.cli.main import main
from workbench.diagnostics.box_regime import VERDICTS
from workbench.support.errors import WorkbenchError

ROD = ["painleve", "rod", "--x", "theta=40:80", "--y", "mu=1/2:2", "--prove"]


def test_a_proved_map_as_json_text_and_page(capsys, tmp_path):
    out = tmp_path / "rod.html"
    assert main([*ROD, "--quiet", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert "Proved at the start for angle in [40, 80], mu in [0.5, 2]: one solution on" in text
    page = out.read_text("utf-8")
    assert 'id="figure-map"' in page
    assert "Hatched: undecided" in page
    assert main([*ROD, "--quiet", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["proved"]
    assert found["ranges"] == {"angle": ["40", "80"], "mu": ["1/2", "2"]}
    assert found["shares"]["undecided"] <= 0.01
    assert sum(found["shares"].values()) == pytest.approx(1)
    lower, upper = (np.array(found["boxes"][name]) for name in ("lower", "upper"))
    assert (upper - lower).prod(axis=1).sum() == 1
    assert set(found["boxes"]["verdict"]) == {VERDICTS.index(name) for name in found["shares"]}


def test_the_picture_is_hatched_where_nothing_is_proved():
    found = wb.painleve("rod", x=("angle", (40, 80)), y=("mu", (0, 2)), prove=True)
    assert found.map is None
    assert list(found.frames) == ["map"]
    figure = proved_figure(found.proved, found.case)
    cells, strokes = figure.chart.layer
    open_ = (found.frame.verdict == "undecided").sum()
    assert len(strokes.data) >= open_ > 0
    low, high = frame(found.proved)[["x", "y"]].min(), frame(found.proved)[["x2", "y2"]].max()
    assert (low.tolist(), high.tolist()) == ([40, 0], [80, 2])
    # Every stroke lies in a box without a proof.
    boxes = cells.data[cells.data.verdict == "undecided"]
    for s in strokes.data.iloc[::50].itertuples():
        x, y = 0.5 * (s.x + s.x2), 0.5 * (s.y + s.y2)
        assert ((boxes.x <= x) & (x <= boxes.x2) & (boxes.y <= y) & (y <= boxes.y2)).any()
    assert COLOURS["sliding"] in str(figure.chart.to_dict())


def test_ranges_of_parameters_on_the_command_line(capsys, tmp_path):
    words = ["check", "--case", "rod", "--vary", "mu=0.1:0.9", "theta=10:80"]
    assert main(words) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "exactly one solution at the start for mu in [0.1, 0.9], angle in [10, 80]: proved" in text
    words[4:] = ["mu=0.1:2", "theta=50:70", "--undecided", "0.1", "--out", str(tmp_path / "page.html"), "--json"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert 0.01 < found["shares"]["undecided"] <= 0.1
    assert found["witness"]["verdict"] == "none"
    values = {name: Fraction(x) for name, x in found["witness"]["parameters"].items()}
    assert wb.painleve("rod", values).state.regime.kind == "none"
    assert 'id="figure-map"' in (tmp_path / "page.html").read_text("utf-8")


def test_ranges_in_python():
    found = wb.vary("rod", along={"mu": ("0.1", "0.9"), "theta": (10, 80), "kappa": ("1/4", 1)}, undecided=0)
    assert found.data["shares"] == {"unique": 1.0}
    assert list(found.frames["boxes"].columns[:2]) == ["mu_from", "mu_to"]
    assert "<svg" not in found.html()
    one = wb.vary("rod", along={"mu": (0, 3)}, given={"tan_theta": 2}, undecided="1/1000")
    assert one.data["shares"]["unique"] == pytest.approx(4 / 9, abs=1e-3)
    assert 'id="figure-map"' not in one.html()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["painleve", "rod", "--prove"], "--prove needs --x and --y"),
        ([*ROD[:3], "theta=10:80:30", *ROD[4:]], "give NAME=FROM:TO"),
        ([*ROD, "--at", "0.1"], "takes none of q, v, at, slip"),
        ([*ROD[:3], "mu=0:1", *ROD[4:]], "both mu"),
        (["painleve", "wheel", "--x", "mu=0:1", "--y", "m=1:2", "--prove"], "wheel: its contacts are known at single"),
        (["painleve", "rod", "--x", "mu=1:0", "--y", "theta=1:2", "--prove"], "the first must be the smaller"),
        (["painleve", "rod", "--x", "nu=0:1", "--y", "theta=1:2", "--prove"], "unknown parameter 'nu' of rod"),
        (["check", "--case", "rod", "--vary", "mu=0:1", "theta=1:2", "-f", "coulomb"], "without -f"),
        (["check", "--case", "rod", "--vary", "mu=0:1", "mu=1:2"], "named twice"),
        (["check", "--case", "wheel", "--vary", "mu=0:1", "m=1:2"], "wheel: its contacts are known at single"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else None,
)
def test_mistakes_are_one_line(capsys, words, message):
    assert main([*words, *(["--quiet"] if words[0] == "painleve" else [])]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_ranges_are_asked_for_a_case_alone():
    with pytest.raises(WorkbenchError, match="give a case"):
        wb.vary([[1]], along={"t": (0, 1)})
    with pytest.raises(WorkbenchError, match="two ends"):
        wb.vary("rod", along={"mu": 3})
