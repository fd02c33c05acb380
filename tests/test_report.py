"""The report: complete, offline, and drawn by a browser."""

import io
import json
import re

import pytest
from markupsafe import escape
from rich.console import Console

from workbench.builtin.cases.cube import Cube
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations import FORMULATIONS
from workbench.builtin.reports.figures.charts import palette, write_figures
from workbench.builtin.reports.figures.comparison import ROWS, curves_of, figures
from workbench.builtin.reports.pages.comparison import render
from workbench.builtin.reports.text import terminal
from workbench.builtin.reports.text.comparison import budget_columns, error_columns, judged_columns, symptom_columns
from workbench.builtin.reports.text.terminal import print_table
from workbench.comparison.cases import compare
from workbench.comparison.jobs import Settings
from workbench.output import provenance, staged

BY_NAME = {f.name: f for f in FORMULATIONS}


@pytest.fixture(scope="module")
def result():
    chosen = [f for f in FORMULATIONS if f.name not in ("frictionless", "discrete-velocity")]
    settings = Settings(steps=(2e-3, 1e-3), reference_step=1e-3, duration=0.1)
    return compare(Wheel(), chosen, BY_NAME["coulomb"], ["lemke", "judice-pires", "coulomb-exact"], settings)


@pytest.fixture(scope="module")
def page(result):
    return render(result, provenance(case="wheel"))


def outside_scripts(page):
    return re.sub(r"<script>.*?</script>", "", page, flags=re.S)


def test_the_page_loads_nothing_from_anywhere(page):
    text = outside_scripts(page)
    assert not re.search(r"""src\s*=|@import|url\(""", text)
    # What can be saved is within the page.
    assert all(link.startswith("data:") for link in re.findall(r'href="([^"]*)"', text))
    assert page.count("<script>") == page.count("</script>") == 2


def test_every_run_has_its_row_and_every_failure_its_reason(result, page):
    text = outside_scripts(page)
    budgets = budget_columns(result)
    verdicts = result.diagnostics.drop_duplicates(["label", "step"])
    # The run ends within the window of sliding, so that all of it is the same.
    assert text.count("<h3>Window “") == text.count("<h3>Symptoms, window") == 1
    assert text.count('<td class="name">') == (
        2 * len(result.windows["sliding"])
        + len(result.windows["all"])
        + len(budgets) * len(result.windows["sliding"])
        + len(verdicts)
        + text.count("<tr data-run=")
    )
    refused = result.runs[result.runs["claimed"] == "REFUSED"]
    assert len(refused)
    assert all(reason.split(":")[0] in text for reason in refused["reason"])


def test_the_mathematics_is_that_of_the_declarations(result, page):
    text = outside_scripts(page)
    assert text.count("<details") - text.count("What the columns mean") == (
        len(result.mathematics) + len(budget_columns(result))
    )
    relations = sum(len(m["relations"]) for m in result.mathematics)
    assert text.count("<math") == relations + len(result.mathematics)
    assert "&lt;math" not in text


def test_headings_say_what_a_reader_looks_for(result, page):
    for heading in ("What was compared", "The table", "Error budget", "Smallest principal minor", "Provenance"):
        assert heading in page
    for column in (*error_columns(result), *judged_columns(result)):
        assert f">{column.title}</abbr></th>" in page


def test_every_column_of_a_page_is_explained(result, page):
    for column in (*error_columns(result), *symptom_columns(result), *judged_columns(result)):
        assert f"<dt>{column.title}</dt><dd>{escape(column.meaning)}" in page


def test_a_formulation_has_one_colour_on_every_page():
    labels = [f.label for f in FORMULATIONS]
    colours = dict(zip(labels, palette(labels), strict=True))
    assert len(set(colours.values())) == len(labels)
    for chosen in (["box", "coulomb"], ["coulomb", "mine", "box"], ["box:axes=sliding", "coulomb"]):
        assert palette(chosen)[-1] == colours[chosen[-1]]
    assert palette(["mine", "coulomb"])[0] == palette(["box", "mine"])[1] not in colours.values()
    variants = ["hybrid", *(f"hybrid:k_t=1e{k}" for k in range(6)), "mine"]
    assert len(set(palette(variants))) == len(variants)


def test_figures_as_files(result, tmp_path):
    paths = write_figures(figures(result), tmp_path, "svg")
    assert [p.stem for p in paths] == [f.name for f in figures(result)]
    for path in paths:
        text = path.read_text()
        assert text.startswith("<svg")
        assert "NaN" not in text


def test_specs_are_strict_json(page):
    spec = re.search(r"const specs = (.*?);\nadd", page, flags=re.S).group(1)
    json.loads(spec.replace("<\\/", "</"), parse_constant=lambda name: pytest.fail(f"{name} in a figure"))


def test_a_browser_draws_every_figure(result, page, tmp_path, reader):
    path = tmp_path / "report.html"
    path.write_text(page, "utf-8")
    shown = reader.open(path)
    for figure in figures(result):
        assert shown.locator(f"#figure-{figure.name} svg path").count() > 0, figure.name


@pytest.mark.parametrize("width", [80, 100, 160])
def test_the_table_fits_the_terminal(result, width, capsys, monkeypatch):
    monkeypatch.setattr("workbench.builtin.reports.text.terminal.PIPE_WIDTH", width)
    print_table(result)
    table = capsys.readouterr().out.split("\n")
    rows = [line for line in table if "ms" in line and ("lemke" in line or "judice-pires" in line)]
    assert all(len(line) <= width for line in table)
    assert any("phantom-inertia" in line and "lemke" in line for line in rows), "names must not be cut off"


def test_staging_replaces_whole_files_or_nothing(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "kept.txt").write_text("old")

    def interrupted():
        with staged(out) as stage:
            (stage / "kept.txt").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        interrupted()
    assert (out / "kept.txt").read_text() == "old"
    with staged(out) as stage:
        (stage / "kept.txt").write_text("new")
        (stage / "sub").mkdir()
        (stage / "sub" / "more.txt").write_text("x")
    assert (out / "kept.txt").read_text() == "new"
    assert (out / "sub" / "more.txt").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out"]


def test_a_comparison_of_many_contacts_can_be_drawn():
    """Sixteen curves and more: the rows of a figure stay below what the drawing library takes."""
    chosen = [BY_NAME[x] for x in ("coulomb", "anitescu-potra", "phantom-inertia", "box", "ccp")]
    settings = Settings(steps=(1e-3,), reference_step=1e-3)
    c = compare(Cube(), chosen, BY_NAME["coulomb"], ["lemke", "proximal", "coulomb-exact", "ccp-exact"], settings)
    curves = curves_of(c)
    assert len(curves) <= ROWS
    assert set(curves["contact"]) == {0, 1, 2, 3}
    assert "Normalised friction" in render(c, provenance(case="cube"))


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_a_narrow_terminal_leaves_columns_out_and_cuts_none_off(result, monkeypatch, width):
    console = Console(width=width, file=io.StringIO())
    monkeypatch.setattr(terminal, "_console", lambda: console)
    print_table(result)
    table = console.file.getvalue().partition("Errors against")[0]
    assert "…" not in table
    assert max(map(len, table.splitlines())) <= width
    assert [line for line in table.splitlines() if line.rstrip().endswith(("yes", "no"))]
