"""Every kind of page in a browser: by light and in the dark, on a telephone, by keyboard, with a screen reader."""

import re
from functools import cache
from xml.etree import ElementTree

import pandas as pd
import pytest
from playwright.sync_api import expect

from tests.browser import SEEN, violations
from tests.every_page import PAGES
from tests.thorough import quickly

# What wants a finger, or scrolls by itself, must be reached by Tab and show that it is.
WANTED = """() => {
  const scrolls = e => /auto|scroll/.test(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth;
  const wanted = [...document.querySelectorAll('body *')].filter(e => e.checkVisibility()
    && (e.matches('a[href], button, select, input, summary, div.chart') || (e instanceof HTMLElement && scrolls(e))));
  const missed = new Set(wanted);
  const unseen = [];
  document.addEventListener('focusin', ({target}) => {
    missed.delete(target);
    if (getComputedStyle(target).outlineStyle === 'none') unseen.push(target.outerHTML.slice(0, 100));
  });
  window.tabbed = () => [...[...missed].map(e => e.outerHTML.slice(0, 100)), ...unseen];
  return document.querySelectorAll('a[href], button, select, input, summary, [tabindex]').length;
}"""
UNNAMED = """() => [...document.querySelectorAll('div.chart')].map(e => e.getAttribute('aria-label') || '')
  .filter(name => name.length < 20 || name.startsWith('Vega'))"""
SIDEWAYS = "document.documentElement.scrollWidth - innerWidth"
LIGHTNESS = """() => ['backgroundColor', 'color'].map(name => getComputedStyle(document.body)[name].match(/\\d+/g)
  .reduce((sum, x) => sum + Number(x), 0))"""
SIZES = "all => all.map(words => parseFloat(getComputedStyle(words).fontSize))"
CUT_OFF = "charts => charts.filter(chart => chart.scrollWidth > chart.clientWidth).map(chart => chart.id)"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The file of a page by its name; each is made once."""
    folder = tmp_path_factory.mktemp("pages")

    @cache
    def file(name):
        path = folder / f"{name}.html"
        path.write_text(PAGES[name](), "utf-8")
        return path

    return file


def opened(page):
    """Open what is folded, so that it is looked at too."""
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    return page


def is_well_lit(page):
    """By light and in the dark, and not wider than its window."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(SIDEWAYS) <= 0
        paper, ink = page.evaluate(LIGHTNESS)
        assert paper < 120 < 600 < ink if scheme == "dark" else ink < 120 < 600 < paper


@pytest.mark.parametrize("name", quickly(PAGES, lambda name: name == "check-matrix"))
def test_a_page_is_read_by_everybody(pages, reader, name):
    page = opened(reader.open(pages(name), width=360))
    assert violations(page) == []
    assert page.evaluate(UNNAMED) == []
    for _ in range(page.evaluate(WANTED)):
        page.keyboard.press("Tab")
    assert page.evaluate("tabbed()") == []
    is_well_lit(page)
    page.set_viewport_size({"width": 1300, "height": 900})
    is_well_lit(page)
    assert violations(page, SEEN) == []


@pytest.mark.thorough
def test_a_page_fits_a_projector(pages, reader):
    page = reader.open(pages("compare-wheel"), width=1024, height=768)
    assert page.locator("div.chart").evaluate_all(CUT_OFF) == []
    for width, height in ((1024, 768), (1920, 1080)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(SIDEWAYS) <= 0
        assert min(page.locator("p, li, th, td, figcaption, summary").evaluate_all(SIZES)) >= 12


@pytest.mark.thorough
def test_the_results_of_an_exam_fit_a_screen_and_keep_their_names_on_a_telephone(pages, reader):
    page = reader.open(pages("exam"), width=1300, height=800)
    results = page.locator(".scroll:has(table.marks)")
    assert results.evaluate("x => x.scrollWidth - x.clientWidth") <= 0
    page.set_viewport_size({"width": 390, "height": 844})
    results.evaluate("x => { x.scrollLeft = 600; }")
    assert results.evaluate("x => x.scrollLeft") == 600
    edge = results.evaluate("x => x.getBoundingClientRect().left")
    assert results.locator("td.name").first.evaluate("x => x.getBoundingClientRect().left") == pytest.approx(
        edge, abs=1
    )


BOTTOM = "all => Math.max(...all.map(x => x.getBoundingClientRect().bottom))"


@pytest.mark.thorough
@pytest.mark.share(3)
@pytest.mark.parametrize("name", ["study-wheel", "reality-cube", "flow-drum"])
def test_curves_are_lighter_in_the_dark(pages, reader, name):
    """Their colours are chosen for white paper: the CCP's has a contrast of 2.8 on a dark page, and 3 is needed."""
    page = opened(reader.open(pages(name), dark=True))
    lit = "getComputedStyle(document.querySelector('svg.marks')).filter"
    assert page.evaluate(lit) == "brightness(1.35)"
    page.emulate_media(color_scheme="light")
    assert page.evaluate(lit) == "none"


@pytest.mark.parametrize("name", ["compare-wheel", "compare-cube", "compare-scene", "compare-file"])
def test_the_first_screen_of_a_comparison_answers(pages, reader, name):
    """What to take, error against cost, the motion and how sure that is; all else is folded, and one click away."""
    page = reader.open(pages(name), width=1300, height=800, folded=True)
    moves = [".motion canvas"] * (name != "compare-file")
    for part in (".answer", "dl.sure", "#figure-ranking svg", *moves, ".first", ".folds > details:first-child"):
        found = page.locator(part)
        assert found.count() == 1
        assert found.evaluate_all(BOTTOM) < 800
    assert page.locator(".folds > details").count() >= 6
    assert page.locator(".folds > details[open]").count() == 0
    assert len(page.locator("body").inner_text().split()) < 350
    if name != "compare-scene":
        page.evaluate("location.hash = '#loupe'")
        expect(page.locator("#loupe .view")).to_be_visible()
    page = reader.open(pages(name), width=390, height=844, folded=True)
    assert page.locator(".answer").evaluate_all(BOTTOM) < 500
    # Pictures fill more than a telephone's screen: the words go first.
    assert page.locator("dl.sure").evaluate_all(BOTTOM) < 600
    assert page.locator("#figure-ranking svg").evaluate("x => x.getBoundingClientRect().top") < 700


def lines(text):
    return [line for line in text.splitlines() if line.strip()]


READ = {
    ".csv": lambda path: len(pd.read_csv(path)),
    ".parquet": lambda path: len(pd.read_parquet(path)),
    ".md": lambda path: sum(line.startswith("|") for line in lines(path.read_text("utf-8"))) - 2,
    ".tex": lambda path: sum(line.endswith(r"\\") for line in lines(path.read_text("utf-8"))) - 1,
    ".svg": lambda path: len(ElementTree.parse(path).findall(".//{http://www.w3.org/2000/svg}path")),
    ".png": lambda path: path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n"),
    ".pdf": lambda path: path.read_bytes().startswith(b"%PDF"),
}


@pytest.mark.thorough
def test_what_a_table_and_a_figure_save_can_be_read(pages, reader):
    page = reader.open(pages("compare-wheel"))
    table = page.locator(".scroll:has(.runs) + .downloads").first
    rows = page.locator(".scroll:has(.runs)").first.locator("tr").count() - 1
    links = table.locator("a[download]").all()
    saved = [reader.download(page, link) for link in links]
    assert {path.suffix for path in saved} >= {".csv", ".md", ".tex"}
    assert {READ[path.suffix](path) for path in saved} == {rows}
    figure = page.locator("figure:has(#figure-energy) .downloads button", has_text=re.compile("^Save")).all()
    saved = [reader.download(page, button) for button in figure]
    assert {path.suffix for path in saved} >= {".svg", ".png"}
    assert all(path.stem == "energy" and READ[path.suffix](path) for path in saved)


def test_the_check_page_saves_its_certificate(pages, reader):
    page = reader.open(pages("check-matrix"))
    path = reader.download(page, page.locator("a[download$='.json']"))
    assert path.name == "certificate.json"


# A name in a legend is chosen by mouse, by keyboard and by a screen reader.

CURVES = "#figure-friction .mark-line path"
FAINT = f'{CURVES}[opacity="0.08"]'


@pytest.mark.thorough
def test_a_curve_is_singled_out_by_keyboard_as_by_a_click(pages, reader):
    page = reader.open(pages("compare-cube"))
    colours = """paths => [...new Set(paths.map(path => path.getAttribute('stroke')))]"""
    choice = page.locator("figure:has(#figure-friction)").get_by_label("Highlight")
    names = choice.locator("option").all_text_contents()
    assert names[0] == "all"
    assert len(names) - 1 == len(page.locator(CURVES).evaluate_all(colours))
    curves = page.locator(CURVES).count()
    contacts = curves // (len(names) - 1)
    expect(page.locator(FAINT)).to_have_count(0)

    choice.focus()
    page.keyboard.press("ArrowDown")
    expect(choice).to_have_value(names[1])
    expect(page.locator(FAINT)).to_have_count(curves - contacts)

    page.locator("#figure-friction .role-legend-label text").filter(has_text="box").click()
    expect(choice).to_have_value("box")
    expect(page.locator(FAINT)).to_have_count(curves - contacts)
    assert page.locator(f"{CURVES}:not([opacity='0.08'])").evaluate_all(colours) == ["#E8590C"]

    choice.select_option("all")
    expect(page.locator(FAINT)).to_have_count(0)
