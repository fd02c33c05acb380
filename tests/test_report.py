"""The report: complete, offline, and drawn by a browser."""

import base64
import csv
import io
import json
import re

import altair as alt
import numpy as np
import pandas as pd
import pytest
from markupsafe import escape
from rich.console import Console

import workbench as wb
from workbench.builtin.cases.cube import Cube
from workbench.builtin.cases.wheel import Wheel
from workbench.builtin.formulations import FORMULATIONS
from workbench.builtin.reports.figures.charts import Figure, palette, write_figures
from workbench.builtin.reports.figures.comparison import ROWS, curves_of, figures
from workbench.builtin.reports.pages.comparison import render
from workbench.builtin.reports.pages.page import _specs, prose
from workbench.builtin.reports.text import exports, terminal
from workbench.builtin.reports.text.comparison import budget_columns, error_columns, judged_columns, symptom_columns
from workbench.builtin.reports.text.terminal import print_comparison
from workbench.comparison.cases import compare_case
from workbench.comparison.jobs import Settings
from workbench.support.output import provenance

pytestmark = pytest.mark.thorough

BY_NAME = {f.name: f for f in FORMULATIONS}


@pytest.fixture(scope="module")
def result():
    chosen = [f for f in FORMULATIONS if f.name not in ("frictionless", "discrete-velocity")]
    settings = Settings(steps=(2e-3, 1e-3), reference_step=1e-3, duration=0.1)
    return compare_case(Wheel(), chosen, BY_NAME["coulomb"], ["lemke", "judice-pires", "coulomb-exact"], settings)


@pytest.fixture(scope="module")
def page(result):
    return render(result, provenance(case="wheel"))


def outside_scripts(page):
    return re.sub(r"<script>.*?</script>", "", page, flags=re.S)


def test_the_page_loads_nothing_from_anywhere(page):
    text = outside_scripts(page)
    assert not re.search(r"""src\s*=|@import|url\(""", text)
    # What can be saved is within the page.
    assert all(link.startswith(("data:", "#")) for link in re.findall(r'href="([^"]*)"', text))
    assert page.count("<script>") == page.count("</script>") == 2


def test_every_run_has_its_row_and_every_failure_its_reason(result, page):
    text = outside_scripts(page)
    budgets = budget_columns(result)
    verdicts = result.diagnostics.drop_duplicates(["label", "step"])
    # The run ends within the window of sliding, so that all of it is the same.
    assert text.count("<h3>Window “") == text.count("<h3>Symptoms, window") == 1
    # The table of events has rows of its own where a run misses some.
    before, _, events = text.partition("Missed and spurious events")
    rest = before + events.partition("</table>")[2]
    assert rest.count('<td class="name">') == (
        2 * len(result.windows["sliding"])
        + len(result.windows["all"])
        + len(budgets) * len(result.windows["sliding"])
        + len(verdicts)
    )
    refused = result.runs[result.runs["claimed"] == "REFUSED"]
    assert len(refused)
    assert all(reason.split(":")[0] in text for reason in refused["reason"])


def test_the_mathematics_is_that_of_the_declarations(result, page):
    text = outside_scripts(page)
    folds = text.count('<details class="fold')
    # Eight sections, the display options and the legend of the motion, and the legend of the first chart.
    assert folds == 11
    assert text.count("<details") - text.count("Column definitions") - folds == (
        len(result.mathematics) + len(budget_columns(result)) + 2  # and all tables but the first
    )
    relations = sum(len(m["relations"]) for m in result.mathematics)
    assert text.count("<math") == relations + len(result.mathematics)
    assert "&lt;math" not in text


def test_headings_say_what_a_reader_looks_for(result, page):
    for heading in ("Comparison", "Tables", "Error budget", "Smallest principal minor", "Provenance"):
        assert heading in page
    for column in (*error_columns(result), *judged_columns(result)):
        assert f">{column.title}</button></th>" in page


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


def test_specs_are_strict_json(result, page):
    spec = re.search(r"const specs = (.*?);\nadd", page, flags=re.S).group(1)
    found = json.loads(spec, parse_constant=lambda name: pytest.fail(f"{name} in a figure"))
    assert list(found) == [f.name for f in figures(result)]


def test_figures_may_have_any_number_of_rows(tmp_path):
    data = pd.DataFrame({"t": np.arange(6000.0), "x": np.zeros(6000)})
    many = Figure("many", "Many", "Many curves", alt.Chart(data).mark_point().encode(x="t:Q", y="x:Q"))
    # The user's own limit stays as it is; notebooks may have set another one in this process.
    with alt.data_transformers.enable("default", max_rows=5000):
        assert _specs([many]).count('"t":') >= 6000
        assert [path.name for path in write_figures([many], tmp_path, "svg")] == ["many.svg"]
        with pytest.raises(alt.MaxRowsError):
            many.chart.to_dict()


def test_a_browser_draws_every_figure(result, page, tmp_path, reader):
    path = tmp_path / "report.html"
    path.write_text(page, "utf-8")
    shown = reader.open(path)
    for figure in figures(result):
        assert shown.locator(f"#figure-{figure.name} svg path").count() > 0, figure.name


def sizes_of(pdf):
    """Width and height of each page of a PDF [pt]."""
    return [tuple(map(float, size)) for size in re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)]


def test_a_figure_is_printed_alone_at_its_size_and_the_page_is_whole_again(page, tmp_path, reader):
    (tmp_path / "report.html").write_text(page, "utf-8")
    found = reader.open(tmp_path / "report.html", script="window.print = () => {}")
    shown = found.locator("#figure-budget svg").bounding_box()
    found.locator("figure:has(#figure-budget) button", has_text="PDF").click()
    (size,) = sizes_of(found.pdf(prefer_css_page_size=True))
    for pixels, points in zip((shown["width"], shown["height"]), size, strict=True):
        assert pixels <= points / 0.75 <= pixels + 8
    # What was printed is followed by the page as it was.
    assert found.locator(".alone, .unprinted").count() == 0
    assert len(sizes_of(found.pdf())) > 5


def test_a_printed_page_is_light_unfolded_and_cuts_nothing_off(page, tmp_path, reader):
    (tmp_path / "report.html").write_text(page, "utf-8")
    found = reader.open(tmp_path / "report.html", dark=True, folded=True)
    found.set_viewport_size({"width": 700, "height": 900})
    found.emulate_media(media="print")
    found.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert found.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert found.locator("details[open]").count() == found.locator("details:not(.numbers)").count() > 3
    assert not found.locator("details.numbers").first.is_visible()
    wide = "[...document.querySelectorAll('.scroll, div.chart')].filter(x => x.scrollWidth > 701).length"
    assert found.evaluate(wide) == 0
    found.evaluate("dispatchEvent(new Event('afterprint'))")
    assert found.locator("details[open]").count() == 0


HTML = """<div class="scroll"><table class="claims"><tr><th>what | is</th><th colspan="2">both</th>
<th>number<br>there</th></tr>
<tr><td>{}<span class="why">50 % &lt; all_of &amp; μ</span></td><td>−1.5e-3</td><td>–</td><td>x<sub>12</sub></td></tr>
</table></div><table><tr><td>another</td></tr></table>"""


def test_a_table_of_a_page_is_saved_as_it_reads():
    table = exports.of_page(HTML.format(prose(r"for $\mu_c < 1$:")), "Claims: all")
    cell = r"for $\mu_c < 1$: 50 % < all_of & μ"
    assert table == exports.ExportedTable(
        "Claims: all", ["what | is", "both", "", "number there"], [[cell, "−1.5e-3", "–", "x_12"]],
        [True, False, False, True],
    )  # fmt: skip
    assert table.file == "claims"
    assert list(csv.reader(io.StringIO(exports.csv(table)))) == [table.head, *table.rows]
    assert r"| what \| is | both |  | number there |" in exports.markdown(table)
    assert "| --- | ---: | ---: | --- |" in exports.markdown(table)
    text = exports.latex_of(table)
    assert r"\begin{tabular}{lrrl}" in text
    assert r"for $\mu_c < 1$: 50 \% \textless{} all\_of \& $\mu$ & $-$1.5e-3 & -- & x\_12 \\" in text


@pytest.mark.parametrize(
    ("found", "titles"),
    [
        (lambda: wb.check([[2, 1], [1, 2]], rhs=[-5, -6]), ("solutions", "classes-of-m", "solvers")),
        (lambda: wb.vary("rod", along=("mu", 0, 2)), ("intervals-and-critical-values",)),
        (lambda: wb.trace([[2, 1], [1, 2]], rhs=[-5, -6]), ("steps",)),
        (lambda: wb.painleve("rod", {"tan_theta": 2, "mu": "4/3"}), ("solutions-at-this-state", "proposition-1")),
    ],
)
def test_tables_of_every_page_are_saved(found, titles):
    text = found().html()
    for title in titles:
        links = dict(re.findall(rf'download="{title}\.(\w+)" href="data:[^,"]*,([^"]*)"', text))
        assert set(links) == {"csv", "md", "tex"}
        rows = list(csv.reader(io.StringIO(base64.b64decode(links["csv"]).decode())))
        assert len(rows) > 1
        assert len({len(row) for row in rows}) == 1
        assert base64.b64decode(links["tex"]).decode().count(r"\\") == len(rows)


def test_a_parquet_of_the_page_has_full_numbers_and_units(result, page):
    name, link = re.search(r'download="([^"]*\.parquet)" href="data:[^,"]*,([^"]*)"', page).groups()
    frame = pd.read_parquet(io.BytesIO(base64.b64decode(link)))
    assert name == "window-sliding.parquet"
    rows = next(iter(result.windows.values()))
    rows = rows[~rows["sampled"]].reset_index(drop=True)
    assert frame["velocity_error"].equals(rows["velocity_error"])
    assert frame.attrs["columns"]["position_error"] == rows.attrs["columns"]["position_error"]


@pytest.mark.parametrize("width", [80, 100, 160])
def test_the_table_fits_the_terminal(result, width, capsys, monkeypatch):
    monkeypatch.setattr("workbench.builtin.reports.text.terminal.PIPE_WIDTH", width)
    print_comparison(result)
    table = capsys.readouterr().out.split("\n")
    rows = [line for line in table if "ms" in line and ("lemke" in line or "judice-pires" in line)]
    assert all(len(line) <= width for line in table)
    assert any("phantom-inertia" in line and "lemke" in line for line in rows), "names must not be cut off"


def test_a_comparison_of_many_contacts_can_be_drawn():
    """Sixteen curves and more: the rows of a figure stay below what the drawing library takes."""
    chosen = [BY_NAME[x] for x in ("coulomb", "anitescu-potra", "phantom-inertia", "box", "ccp")]
    settings = Settings(steps=(1e-3,), reference_step=1e-3)
    c = compare_case(Cube(), chosen, BY_NAME["coulomb"], ["auto"], settings)
    curves = curves_of(c)
    assert len(curves) <= ROWS
    assert set(curves["contact"]) == {0, 1, 2, 3}
    assert "Normalised friction" in render(c, provenance(case="cube"))


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_a_narrow_terminal_leaves_columns_out_and_cuts_none_off(result, monkeypatch, width):
    console = Console(width=width, file=io.StringIO())
    monkeypatch.setattr(terminal, "wide_console", lambda: console)
    print_comparison(result)
    table = console.file.getvalue().partition("Errors against")[0]
    assert "…" not in table
    assert max(map(len, table.splitlines())) <= width
    assert [line for line in table.splitlines() if line.rstrip().endswith(("yes", "no"))]
