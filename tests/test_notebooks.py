"""The notebooks: they run, they keep their rules, and their pages hold all that they show and work offline."""

import ast
import builtins
import re
import symtable
from html import unescape
from itertools import pairwise

import pytest

from docs.notebooks.static.notebook import positions, read, variants
from docs.notebooks.static.page import page, title
from docs.site.notebooks import files
from tests import browser
from tests.thorough import quickly

QUICK = "01_one_particle"
"""The notebook that every run of the tests runs; the thorough one, and `python -m docs.build`, run all."""
ALLOWED = {"workbench", "cvxpy", "numpy", "altair", "marimo", "dataclasses", "fractions", "math"}
SMALL = '''
import marimo

app = marimo.App()


@app.cell
def _():
    import altair as alt
    import marimo as mo

    return alt, mo


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    # 1. A line

    Its slope is $a<b$ or

    $$
    \\begin{cases} a & b \\\\ 0 \\le a \\perp b \\ge 0 \\end{cases}
    $$
    """)
    return


@app.cell
def _(mo):
    slope = mo.ui.slider(0, 3, 0.5, value=0.5, label=r"slope $a$")
    shift = mo.ui.slider(steps=[0, 1, 10], value=10, label="shift")
    mo.hstack([slope, shift])
    return shift, slope


@app.cell
def _(slope):
    doubled = 2 * slope.value
    return (doubled,)


@app.cell
def _(doubled, mo):
    mo.md(f"Twice the slope is {doubled:g}.")
    return


@app.cell
def _(alt, mo, shift, slope):
    _rows = [{"x": x, "y": slope.value * x + shift.value} for x in range(3)]
    _line = alt.Chart(alt.Data(values=_rows)).mark_line().encode(x="x:Q", y="y:Q")
    mo.vstack([_line.properties(description=f"A line, shifted by {shift.value}"), mo.md("the line")])
    return


@app.cell(hide_code=True)
def solution_1(mo):
    assert 1 + 1 == 2
    mo.accordion({"Solution": mo.md("It is $x$."), "Another": mo.md("- one\\n- two")})
    return
'''


def notebook_of(text, tmp_path):
    path = tmp_path / "01_small.py"
    path.write_text(text, "utf-8")
    return read(path)


@pytest.fixture
def small(tmp_path):
    return notebook_of(SMALL, tmp_path)


every = pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)


@pytest.mark.parametrize("path", quickly(files(), lambda path: path.stem in QUICK), ids=lambda path: path.stem)
def test_a_notebook_runs_and_its_page_holds_what_it_shows(path):
    """With one position of each slider: the others run in seconds, not in tests."""
    notebook = read(path)
    shown = page(notebook, most=1)
    prose = re.sub(r"(?s)<(pre|style|script).*?</\1>", "", shown)
    assert not re.search(r"<marimo|\|\|[(\[]|\$|\*\*", prose), "mathematics or Markdown that is not written out"
    assert "default-src 'none'" in unescape(shown)
    # What a page would load is seen from what it links to.
    assert not re.search(r'(src|href)="(?!data:|#)[^"]*"', re.sub(r'<a [^>]*href="[^"]*"', "", shown))
    assert len(shown) < 3e6


@every
def test_a_notebook_keeps_the_rules(path):
    notebook = read(path)
    number = int(path.name[:2])
    assert title(notebook).startswith(f"{number}. ")
    assert "# " + title(notebook) in notebook.cells[1].code, "the title stands in the second cell, after the imports"
    assert "## What to read" in notebook.cells[-1].code
    tree = ast.parse(path.read_text("utf-8"))
    imported = [
        name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names])
    ]
    assert set(imported) <= ALLOWED
    assert len(notebook.cells) == path.read_text("utf-8").count("@app."), "cells that marimo cannot parse"


@every
def test_cells_read_what_earlier_cells_give(path):
    """File order is reading order is computing order, and signatures tell the truth: pages are made from them."""
    given = set()
    functions = symtable.symtable(path.read_text("utf-8"), path.name, "exec").get_children()
    for cell, table in zip(read(path).cells, functions, strict=True):
        assert set(cell.reads) <= given, f"{cell.name} reads what no earlier cell gives"
        assert set(cell.reads) <= referenced(table), f"{cell.name} does not read all of its arguments"
        assert not foreign(table), f"{cell.name} reads names that are not among its arguments"
        given |= set(cell.gives)


def referenced(table):
    """Names that the cell or a function in it reads."""
    own = {s.get_name() for s in table.get_symbols() if s.is_referenced()}
    return own.union(*(referenced(child) for child in table.get_children()))


def foreign(table):
    own = {s.get_name() for s in table.get_symbols() if s.is_global()} - set(dir(builtins))
    return own.union(*(foreign(child) for child in table.get_children()))


@every
def test_every_exercise_has_a_hidden_solution_that_is_checked(path):
    cells = read(path).cells
    exercises = [c for c in cells if c.name.startswith("exercise_")]
    assert [c.name for c in exercises] == [f"exercise_{i + 1}" for i in range(len(exercises))]
    assert 3 <= len(exercises) <= 5
    following = {a.name: b for a, b in pairwise(cells)}
    for i, exercise in enumerate(exercises, 1):
        assert f"### Exercise {i}" in exercise.code
        solution = following[exercise.name]
        assert solution.name == f"solution_{i}"
        assert solution.hidden
        assert "mo.accordion(" in solution.code
        checks = [node.test for node in ast.walk(ast.parse(solution.code)) if isinstance(node, ast.Assert)]
        assert any(not isinstance(test, ast.Constant) for test in checks), "a solution that nothing checks"


# Pages


def test_a_slider_of_a_page_has_positions_with_its_own_value_among_them(small):
    assert positions(small, small.run()) == {"slope": [0.5, 1, 2, 3], "shift": [0, 1, 10]}


def test_what_follows_a_slider_is_computed_for_every_position(small):
    ran = small.run()
    found = {(cell, sliders): shown for cell, sliders, shown in variants(small, ran, positions(small, ran))}
    assert [(cell, sliders, len(shown)) for (cell, sliders), shown in found.items()] == [
        (5, ("shift", "slope"), 12), (3, ("slope",), 4), (4, ("slope",), 4),
    ]  # fmt: skip
    assert "slope is 4." in found[4, ("slope",)][2,].text


def test_mathematics_charts_and_accordions_are_plain_html(small):
    shown = page(small)
    assert shown.count("<math") == 4
    assert shown.count('alt="A line, shifted by 10"') == 4
    assert shown.count("<summary>") == shown.count("</details>") == shown.count("<details") == 3
    # Without its script, and on paper, a page shows what belongs to the sliders' own values.
    at_rest = re.findall(r'<div data-at="([\d ]+)">(.*?)<', shown)
    assert [at for at, _ in at_rest] == ["0", "2 0"]
    assert "Twice the slope is 1." in shown[shown.index('<div data-at="0">') :][:300]
    assert "marimo-" not in shown


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('.properties(description=f"A line, shifted by {shift.value}")', "", "no description"),
        ("It is $x$.", r"It is $\\frac$.", "no LaTeX"),
    ],
)
def test_what_a_page_cannot_show_is_said(tmp_path, old, new, complaint):
    assert old in SMALL
    with pytest.raises(ValueError, match=complaint):
        page(notebook_of(SMALL.replace(old, new), tmp_path))


def test_a_notebook_that_fails_is_no_page(tmp_path):
    with pytest.raises(AssertionError):
        page(notebook_of(SMALL.replace("1 + 1 == 2", "1 + 1 == 3"), tmp_path))


@pytest.mark.thorough
def test_a_page_opens_offline_and_its_sliders_work(small, tmp_path):
    sync_api = pytest.importorskip("playwright.sync_api")
    browser_path = browser.executable()
    if not browser_path:
        pytest.skip("there is no Chromium")
    written = tmp_path / "small.html"
    written.write_text(page(small), "utf-8")
    with sync_api.sync_playwright() as p:
        chromium = p.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        view = chromium.new_page(viewport={"width": 360, "height": 800})
        said, asked = [], []
        view.on("console", lambda message: said.append(message.text))
        view.on("pageerror", lambda error: said.append(str(error)))
        view.on("request", lambda request: asked.append(request.url))
        view.goto(written.as_uri())
        assert view.get_by_text("Twice the slope is 1.").is_visible()
        view.get_by_label("slope").focus()
        view.keyboard.press("ArrowRight")
        assert view.get_by_text("Twice the slope is 2.").is_visible()
        assert view.get_by_text("Twice the slope is 1.").is_hidden()
        assert view.locator("img:visible").count() == 1
        assert view.evaluate("document.documentElement.scrollWidth") <= 360
        chromium.close()
    assert not said
    assert [url for url in asked if not url.startswith("data:")] == [written.as_uri()]
