"""What the steps of a solver look like: text, frames, LaTeX, pages, pictures, the command and its refusals."""

import json
import re

import numpy as np
import pytest
from latex2mathml.converter import convert

import workbench as wb
from tests.test_trace import COTTLE, KOSTREVA, PIVOTING, murty_1978
from workbench.builtin.reports.text.trace_latex import in_latex
from workbench.cli.main import main


def test_the_text_fits_a_terminal_and_tells_all_steps(capsys):
    M, q = murty_1978(12)
    M[0, 1], M[3, 2] = 0.125, 0.25
    for solver in ("lemke", "murty", "judice-pires", "pgs"):
        problem = json.dumps({"M": M.tolist(), "q": q})
        assert main(["trace", problem, "--solver", solver, "--max-steps", "20", "--tableau"]) == 0
        shown = capsys.readouterr().out
        assert max(map(len, shown.splitlines())) <= 80
        steps = wb.trace(M, rhs=q, solver=solver, max_steps=20).trace.steps
        assert all(re.search(rf"^{step.number}( |$)", shown, re.MULTILINE) for step in steps)


def test_frames_are_tidy():
    found = wb.trace(COTTLE[0], rhs=COTTLE[1])
    assert found.frame["step"].tolist() == list(range(6))
    assert found.points.query("step == 5")["z_exact"].tolist() == ["0", "1", "3"]
    assert found.ratios.query("leaves").groupby("step").size().tolist() == [1] * 5
    assert found.ratios["ratio"].dtype == float
    assert set(found.frames) == {"steps", "points", "ratios"}
    assert "Verified in exact arithmetic" in repr(found)
    assert "<svg" in found._repr_html_()
    with pytest.raises(wb.WorkbenchError, match="steps are 0 to 5"):
        found.tableau(6)


def test_what_is_no_mathematics_is_escaped():
    assert in_latex("50 % of a_b & #1 {x} ^ ~1/2") == r"50 \% of a\_b \& \#1 \{x\} \^{} $\approx$$\frac{1}{2}$"


@pytest.mark.parametrize("solver", [*PIVOTING, "pgs"])
def test_latex_is_balanced_and_escaped(solver, capsys):
    problem = '{"M": [["1/3", "-1/7"], ["-1/7", "2"]], "q": [-1, "-5/2"]}'
    assert main(["trace", problem, "--solver", solver, "--latex", "--tableau", "--max-steps", "5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("%")
    shown = "\n".join(lines[1:])
    assert re.findall(r"\\begin\{(\w+)\}", shown) == re.findall(r"\\end\{(\w+)\}", shown)
    assert shown.count(r"\begin{array}") == (0 if solver == "pgs" else shown.count("Tableau after"))
    bare = re.sub(r"\\[{}_&%$#^~]", "", shown)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    outside = re.sub(r"\$[^$]*\$|\\\[.*?\\\]", "", bare, flags=re.DOTALL)
    assert not set("_^") & set(outside)
    row = next(line for line in lines if line.startswith("1 &"))
    columns = re.search(r"\\begin\{tabular\}\{([rl]*)", shown)[1]
    assert row.count("&") == len(columns) - (solver == "pgs")
    assert solver == "pgs" or r"\frac{" in shown
    for formula in (*re.findall(r"\$([^$]+)\$", shown), *re.findall(r"\\\[(.*?)\\\]", shown, flags=re.DOTALL)):
        assert convert(formula.replace("|", ""))


@pytest.mark.parametrize(
    ("M", "q", "solver", "drawn"),
    [
        (KOSTREVA, [-8, -12, -14], "lemke", True), ([[2, 1], [1, 2]], [-5, -6], "lemke", True),
        ([[-2, 0], [-1, 1]], [-2, -4], "lemke", True), ([[1, -1], [-1, 1]], [-5, 4], "keller", True),
        (KOSTREVA, [-1, -2, -3], "murty", True), ([[1, 2], [0, 1]], [-1, -1], "murty", True),
        (KOSTREVA, [1, 2, 3], "lemke", True), ([[1, 0], [0, 1]], [0, 0], "judice-pires", True),
        ([[0, 0, 0], [0, 0, 0], [0, 0, 0]], [-1, 0, 1], "lemke", True),
        ([[2, 1], [1, 2]], [-5, -6], "pgs", True), (np.eye(4), [-1] * 4, "lemke", False),
        (KOSTREVA, [-1, -1, -1], "pgs", False), ([[2, 1], [1, 2]], [5, 0], "pgs", True),
        ([[3]], [-2], "keller", False),
    ],
)  # fmt: skip
def test_pages_tell_the_end_then_draw_then_list(M, q, solver, drawn, tmp_path):
    found = wb.trace(M, rhs=q, solver=solver)
    page = found.page(tmp_path / "page.html").read_text("utf-8")
    places = [page.index("<p>" + solver), page.index("<h2>Steps"), page.index("<h2>Provenance")]
    assert ("<svg" in page) == drawn
    if drawn:
        places.insert(1, page.index("<svg"))
    assert places == sorted(places)
    assert "nan" not in page.partition("</svg>")[0].partition("<svg")[2]
    assert page.count("<figure><figcaption>after step") == len(found.trace.pivots)
    if drawn and solver != "pgs" and any(q) and min(q) < 0:
        marks = set(re.findall(r"\d+", " ".join(re.findall(r'fill="#fff" text-anchor="middle">([\d, ]+)<', page))))
        first = 1 if solver == "lemke" else 0
        assert marks == {str(step.number) for step in found.trace.pivots[first:]}


def test_where_the_path_has_no_direction_the_caption_says_so():
    """q = -e: the line q + t e goes through zero."""
    found = wb.trace(KOSTREVA, rhs=[-1, -1, -1]).picture()
    assert "through 0, which has no direction" in found.caption
    assert "through 0" not in wb.trace(KOSTREVA, rhs=[-1, -2, -1]).picture().caption


def test_sweeps_are_steps_parallel_to_the_axes():
    """To where their own row is zero: the corners after z_0 moved lie on w_0 = 0, the others on w_1 = 0."""
    found = wb.trace([[2, 1], [1, 2]], rhs=[-5, -6], solver="pgs")
    svg = found.picture().svg
    way = np.array(
        [[float(x) for x in p.split(",")] for p in re.search(r'class="way" d="M([^"]+)"', svg)[1].split("L")]
    )
    moves = np.abs(np.diff(way, axis=0))
    assert (moves.min(axis=1) == 0).all()
    rows = re.findall(r'class="row" d="M([\d.]+),([\d.]+)L([\d.]+),([\d.]+)"', svg)
    for k, row in enumerate(rows):
        a, b, c, d = map(float, row)
        for x, y in way[k + 1 : 6 : 2]:
            assert ((x - a) * (d - b) - (y - b) * (c - a)) / np.hypot(c - a, d - b) == pytest.approx(0, abs=0.3)
    with pytest.raises(wb.WorkbenchError, match="sweeps are drawn for two unknowns; the matrix has 3"):
        wb.trace(KOSTREVA, rhs=[-1, -1, -1], solver="pgs").picture()
    wild = wb.trace([[1, "-1e200"], ["-1e200", 1]], rhs=["-1e200", 1], solver="pgs")
    assert "nan" not in wild.picture().svg


def test_the_names_of_lines_that_end_close_together_stay_apart():
    svg = wb.trace([[1, -1], [-1, "4/3"]], rhs=[-1, 0], solver="pgs").picture().svg
    found = re.findall(r'<text x="([\d.]+)"[^>]*text-anchor="(\w+)"[^>]*>w[₀₁] = 0<', svg)
    (left, end), (right, start) = sorted((float(x), anchor) for x, anchor in found)
    assert (end, start) == ("end", "start")
    assert right - left >= 12
    one = wb.trace([[1, 0], [1, 1]], rhs=[1, -1], solver="pgs").picture().svg
    assert one.count('class="row"') == 1
    with pytest.raises(wb.WorkbenchError, match="two or three unknowns; the matrix has 4"):
        wb.trace(np.eye(4), rhs=[-1] * 4).picture()


def test_the_path_is_drawn_to_scale():
    """q + t e with t = 0, 4, 6 lies on one line of direction (1, 1), in proportion."""
    svg = wb.trace([[2, 1], [1, 2]], rhs=[-5, -6]).picture().svg
    dots = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="4"', svg)]
    (six, four, zero) = map(np.array, dots)
    np.testing.assert_allclose(six - four, (four - zero) / 2, atol=0.2)
    assert (four - zero)[0] == pytest.approx(-(four - zero)[1], abs=0.2)


def test_the_command_writes_a_page_and_json(tmp_path, capsys):
    file = tmp_path / "<b>&.csv"
    file.write_text("M = [2 1; 1 2]\nq = [-5 -6]\n")
    out = tmp_path / "page.html"
    assert main(["trace", str(file), "--json", "--tableau", "--out", str(out)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["outcome"], data["z"], data["steps"][1]["entering"]) == ("solution", ["4/3", "7/3"], ["t"])
    assert data["steps"][1]["tableau"]["constants"] == ["1", "6"]
    page = out.read_text("utf-8")
    assert "z ≥ 0" in page
    assert "&lt;b&gt;&amp;.csv" in page
    assert "<b>" not in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["[1 2; 3 4]"], "has no right-hand side"),
        (["[1 2 3; 4 5 6]", "--rhs", "[1; 2]"], "2 x 3"),
        (["[1 2; 3 4]", "--rhs", "[1; 2; 3]"], "q has 3 entries"),
        (["[1 nan; 3 4]", "--rhs", "[1; 2]"], "nan"),
        ([str(np.eye(13).tolist()), "--rhs", str([-1] * 13)], "at most 12 are traced"),
        (["[1]", "--rhs", "[1]", "--solver", "simplex"], "simplex"),
        (["[1]", "--rhs", "[1]", "--solver", "lemk"], "did you mean 'lemke'?"),
        (["[1]", "--rhs", "[1]", "--ties", "random"], "ties is 'random'; lexicographic or first is needed"),
        (["[1]", "--rhs", "[1]", "--ties", "first", "--solver", "murty"], "murty has no ratio test"),
        (["[1]", "--rhs", "[1]", "--exact"], "exact is for pgs"),
        (["[1 2; 0 1]", "--rhs", "[1; 1]", "--solver", "keller"], "M[1, 0] = 0 and M[0, 1] = 2"),
        (["[1 0; 0 0]", "--rhs", "[1; 1]", "--solver", "pgs"], "M[1, 1] = 0"),
        (["[1]", "--rhs", "[1]", "--max-steps", "x"], "--max-steps x"),
        (["[1]", "--rhs", "[1]", "--max-steps", "0"], "--max-steps 0 is not a positive whole number"),
        (["[1]", "--rhs", "[1]", "--max-steps", "99999"], "1 to 10000"),
        (["[1]", "--rhs", "[1]", "--max-steps", "99", "--solver", "pgs", "--exact"], "1 to 30"),
        (["[1]", "--rhs", "[1]", "--json", "--latex"], "exclude each other"),
        (["nowhere.csv"], "nowhere.csv"),
    ],
)  # fmt: skip
def test_refusals_in_one_line(arguments, words, capsys):
    assert main(["trace", *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_huge_and_tiny_numbers_stay_exact(tmp_path):
    M, q = [["1e300", "1e-300"], ["-1e-300", "1/3"]], ["-3e200", -1]
    for solver in ("lemke", "murty", "judice-pires"):
        found = wb.trace(M, rhs=q, solver=solver)
        assert found.trace.outcome == "solution"
        found.page(tmp_path / f"{solver}.html")
        assert max(map(len, found.text.splitlines())) <= 80
