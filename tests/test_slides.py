"""Slides of a comparison: one figure or formulation a screen, turned by keys, buttons and fingers."""

import re

import pytest

import workbench as wb
from workbench.builtin.reports.figures.comparison import figures
from workbench.builtin.reports.text.headline import headline
from workbench.cli.main import main

pytestmark = pytest.mark.thorough

SHOWN = """[...document.querySelectorAll('section')].flatMap((slide, i) =>
    getComputedStyle(slide).visibility == 'visible' ? [i] : [])"""


SIZES = "all => all.map(x => parseFloat(getComputedStyle(x).fontSize))"


@pytest.fixture(scope="module")
def compared():
    return wb.compare("wheel", ["box", "stewart-trinkle", "anitescu-potra", "ccp"], duration=0.05, reference_step=5e-4)


@pytest.fixture(scope="module")
def path(compared, tmp_path_factory):
    return compared.slides(tmp_path_factory.mktemp("slides") / "wheel.html")


def test_every_figure_and_every_formulation_is_a_slide(compared, path):
    found = re.findall("<section>.*?</section>", path.read_text("utf-8"), re.DOTALL)
    title, motion, ranking, conditions, *others = found
    slides = [ranking, *others]
    assert "<h1>wheel: which contact formulation?</h1>" in title
    assert "<h2>Conditions of the answer</h2>" in conditions
    assert 'id="motion"' in motion
    shown = figures(compared.comparison)
    assert [f'id="figure-{f.name}"' in slide for f, slide in zip(shown, slides, strict=False)] == [True] * len(shown)
    cards = compared.comparison.mathematics
    assert len(slides) == len(shown) + len(cards)
    for card, slide in zip(cards, slides[len(shown) :], strict=True):
        assert f"<h2>{card['label']}</h2>" in slide
        assert slide.count("<math") == len(card["relations"])


def test_the_first_slides_are_read_from_the_last_row(compared, path, reader):
    """One question, one answer and one picture; what a picture needs is said beside it, and nothing is folded."""
    page = reader.open(path, width=1280, height=720, folded=True)
    first = page.locator("section").first
    assert first.locator("svg").count() == 1
    assert first.locator("h1").inner_text() == "wheel: which contact formulation?"
    assert first.locator("p.said").inner_text().replace("\u00a0", " ") == headline(compared.comparison).sentences[0]
    assert len(first.inner_text().split()) < 60
    for _ in range(2):
        page.keyboard.press("ArrowRight")
        assert page.locator("summary:visible, figcaption input:visible").count() == 0
    caption = page.locator("#figure-ranking + figcaption").inner_text()
    assert "+N: N more with the same run." in caption
    assert min(page.locator("section > p, .words, figcaption").evaluate_all(SIZES)) >= 14


def test_keys_buttons_and_the_address_turn_slides_one_at_a_time(path, reader):
    page = reader.open(path)
    last = page.locator("section").count() - 1
    assert page.evaluate(SHOWN) == [0]
    for key, found in [
        ("ArrowRight", 1),
        ("Space", 2),
        ("PageUp", 1),
        ("End", last),
        ("ArrowRight", last),
        ("Home", 0),
    ]:
        page.keyboard.press(key)
        assert page.evaluate(SHOWN) == [found], key
    page.get_by_role("button", name="next slide").click()
    assert page.evaluate(SHOWN) == [1]
    assert page.url.endswith("#2")
    page.evaluate("location.hash = '#4'")
    page.wait_for_function(f"({SHOWN})[0] == 3")
    assert page.locator("#place").text_content() == f"4 / {last + 1}"
    assert reader.faults == []


@pytest.mark.parametrize(("width", "height"), [(1024, 768), (1920, 1080), (1280, 720)])
def test_a_slide_fits_its_screen(path, reader, width, height):
    page = reader.open(path, width=width, height=height)
    sizes = page.evaluate("[...document.querySelectorAll('section')].map(s => [s.scrollWidth, s.scrollHeight])")
    assert sizes == [[width, height]] * len(sizes)
    # Formulas are large, and none is cut.
    lines = page.evaluate("[...document.querySelectorAll('.math')].map(x => [x.scrollWidth, x.clientWidth])")
    assert all(needed <= there for needed, there in lines)
    formulas = page.evaluate("[...document.querySelectorAll('.math math')].map(x => x.getBoundingClientRect().width)")
    assert 0.4 * width < max(formulas) < width


def test_fingers_turn_slides(path, reader):
    page = reader.open(path, width=360, height=700, has_touch=True)
    swipe = """([from, to]) => {
        const at = x => new Touch({identifier: 1, target: document.body, clientX: x, clientY: 300});
        const send = (kind, x, touches) => document.body.dispatchEvent(
            new TouchEvent(kind, {bubbles: true, touches, changedTouches: [at(x)]}));
        send('touchstart', from, [at(from)]);
        send('touchend', to, []);
    }"""
    page.evaluate(swipe, [300, 100])
    assert page.evaluate(SHOWN) == [1]
    page.evaluate(swipe, [200, 180])
    assert page.evaluate(SHOWN) == [1]
    page.evaluate(swipe, [100, 300])
    assert page.evaluate(SHOWN) == [0]
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_slides_are_printed_one_a_page(path, reader, tmp_path):
    page = reader.open(path)
    page.pdf(path=tmp_path / "slides.pdf", prefer_css_page_size=True)
    found = re.findall(rb"/Type\s*/Page\b", (tmp_path / "slides.pdf").read_bytes())
    assert len(found) == page.locator("section").count()


def test_a_file_has_slides_too(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["export", "cube", "step.hdf5"]) == 0
    assert main(["slides", "step.hdf5", "-f", "box", "-f", "coulomb", "--quiet"]) == 0
    assert "step.hdf5-slides.html" in capsys.readouterr().out
    assert "<h1>step.hdf5:" in (tmp_path / "step.hdf5-slides.html").read_text("utf-8")
