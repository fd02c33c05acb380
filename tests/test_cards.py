"""Cards of formulations on a comparison's page, and words that explain themselves where they stand."""

import re

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.builtin.reports.pages.cards import cards
from workbench.builtin.reports.pages.terms import terms
from workbench.builtin.reports.text.cards import axes_words, section_words, verdict_words

pytestmark = pytest.mark.thorough

SQUARE = [[1, 0], [0, 1], [-1, 0], [0, -1]]


@pytest.fixture(scope="module")
def compared():
    names = ["stewart-trinkle", "stewart-trinkle:axes=sliding", "phantom-inertia:axes=fixed"]
    names += ["phantom-inertia", "frictionless", "ccp"]
    return wb.compare("wheel", names, duration=0.01, metrics=["velocity-error", "local-velocity-error"])


@pytest.fixture(scope="module")
def page(compared, tmp_path_factory):
    return compared.page(tmp_path_factory.mktemp("cards") / "wheel.html")


def test_a_section_is_reported_by_its_reach_and_its_area():
    assert (
        section_words(SQUARE, SQUARE) == "Admits 71 to 100 % of μ pₙ depending on direction; area 64 % of the disc's."
    )
    around = 2**0.5 * np.array([[np.cos(a), np.sin(a)] for a in np.pi / 4 + np.pi / 2 * np.arange(4)])
    assert section_words(around, SQUARE).startswith("Admits 100 to 141 % of μ pₙ depending on direction; area 127 % of")
    assert section_words(around, SQUARE[::2]).endswith("only along the sliding direction (thick).")
    round_one = [[np.cos(a), np.sin(a)] for a in np.linspace(0, 2 * np.pi, 73)[:-1]]
    assert section_words(round_one, round_one) == "Admits Coulomb's disc."
    assert section_words([[0, 0]], [[0, 0]]) == "Admits no friction."
    assert section_words(None, None).startswith("No cross-section")


def test_axes_that_turn_are_reported():
    assert axes_words(None) == axes_words(["fixed", "fixed"]) == ""
    assert axes_words(["body", "body"]) == "axes turn with the body"
    assert axes_words(["friction", "sliding"]) == (
        "axes turn with the sliding velocity in slip, with the last friction impulse in stick"
    )


def test_verdicts_that_differ_have_their_label():
    rows = [("a", "rank", 3.0, "full"), ("b", "rank", 2.0, "deficient by 1"), ("a", "P-matrix?", np.nan, "P")]
    frame = pd.DataFrame(rows, columns=["label", "quantity", "value", "verdict"]).assign(step=1e-3)
    assert verdict_words(frame, ["a", "b"]) == ["rank: 3, full (a); 2, deficient by 1 (b)", "P-matrix: P"]
    assert verdict_words(frame.iloc[:0], ["a"]) == []


def test_variants_share_a_card_with_a_picture_and_options(compared):
    found = {card["name"]: card for card in cards(compared.comparison)}
    assert len(found) == 4
    polygon = found["stewart-trinkle"]
    assert [label for label, *_ in polygon["labels"]] == ["stewart-trinkle", "stewart-trinkle:axes=sliding"]
    assert ("axes", "fixed or sliding") in [option[:2] for option in polygon["option_rows"]]
    assert len({colour for _, colour, *_ in polygon["labels"]}) == 2
    points = re.search(r'<polygon points="([^"]*)"', polygon["picture"]).group(1)
    assert sorted(points.split()) == sorted(["105.0,-0.0", "0.0,-105.0", "-105.0,-0.0", "0.0,105.0"])
    (words,) = found["phantom-inertia"]["section_words"]
    assert words.endswith("only along the sliding direction (thick).")
    assert found["phantom-inertia"]["picture"].count("<polygon") == 2
    assert "<polygon" not in found["frictionless"]["picture"]
    assert any("rank" in words for words in polygon["verdicts"])


def test_words_become_buttons_and_nothing_is_unescaped():
    text = terms("a P-matrix, never P: <b>LCP</b>, MLCP")
    assert text.count("<button") == 4
    assert 'popovertarget="word-mlcp">MLCP</button>' in text
    assert "&lt;b&gt;" in text
    assert terms("LCPs and ranks") == "LCPs and ranks"


def test_every_word_opens_what_it_means(page):
    text = re.sub(r"<script>.*?</script>", "", page.read_text("utf-8"), flags=re.S)
    targets, places = set(re.findall(r'popovertarget="([^"]*)"', text)), re.findall(r' id="([^"]*)"', text)
    assert len(targets) > 10
    assert targets <= set(places)
    assert len(places) == len(set(places))
    assert "<abbr" not in text


def test_a_word_opens_by_keyboard_and_closes_again(reader, page):
    shown = reader.open(page, width=360)
    word = shown.locator("th button.term").first
    meaning = shown.locator(f"#{word.get_attribute('popovertarget')}")
    assert meaning.is_hidden()
    word.focus()
    shown.keyboard.press("Enter")
    assert meaning.is_visible()
    box = meaning.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
    shown.keyboard.press("Escape")
    assert meaning.is_hidden()


def test_cards_stand_in_one_column_on_a_telephone_and_in_several_on_a_desk(reader, page):
    lefts = {}
    for width in (360, 1300):
        shown = reader.open(page, width=width)
        lefts[width] = {round(card.bounding_box()["x"]) for card in shown.locator(".card").all()}
        assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert len(lefts[360]) == 1
    assert len(lefts[1300]) >= 3
