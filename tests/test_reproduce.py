"""Reproductions: pages are whole, safe and offline; the folder matches the registry; commands write all or nothing."""

import json
import pickle
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

import workbench.builtin.reports.reproductions
from workbench.builtin.reports.figures.charts import Figure, lines
from workbench.builtin.reports.reproductions import (
    REPRODUCTIONS,
    find_reproduction,
)
from workbench.builtin.reports.reproductions.claims import (
    Check,
    Claim,
    Grid,
    Reproduction,
    ResultTable,
    Section,
    claims_frame,
)
from workbench.builtin.reports.reproductions.page import make_pages, render
from workbench.cli.main import main
from workbench.support.errors import WorkbenchError
from workbench.support.output import provenance

VERDICTS_OF_TOY = ["confirmed", "differs", "not confirmed", "confirmed in part", "not confirmed"]
TIME = pd.DataFrame({"t": [0.0, 1.0, 2.0], "label": "a <b></script>", "y": [1.0, 0.0, 100.0]})
TOY = Reproduction(
    "Toys & <b>tops</b>",
    "A. Author: “<i>”",
    "What $x < y$ means.",
    (
        Section(
            "First <em>",
            "One & two.\n\nThree,\n   with $\\frac{1}{2}$.",
            (r"|u_t| \le \mu",),
            (
                Claim("$\\mu$ is right", 0.3, 0.3),
                Claim("<script>alert(1)</script>", 1.67, 1.9, "%", 0.1, why="Because 1 < 2."),
                Claim("no number", 1.0, np.nan, "m"),
                Claim(
                    "$k$ solved",
                    0,
                    3,
                    tried=Grid("set <", "$k$ [kg]", ("1", "2", "4"), {"a <": (0, 0, 3), "b": (7, 7, 7)}),
                ),
            ),
            (ResultTable("A <table>", ("name", "$k$"), (("x & y", 1 / 3), ("z", np.nan)), "note <"),),
            (Figure("drawn", "Curve <x>", "caption $y$", lines(TIME, "y", "y [-]", log=True)),),
        ),
        Section("Second", claims=(Check("bound", 1.0, 2.0, relation="≤", origin="theory <"),)),
    ),
)


def test_the_frame_has_a_row_per_claim():
    frame = claims_frame("toy", TOY)
    first = ["paper", "kind", "section", "statement", "expected", "computed", "unit", "verdict", "where", "why"]
    assert list(frame.columns[:10]) == first
    assert list(frame["kind"]) == ["claim"] * 4 + ["check"]
    assert list(frame["verdict"]) == VERDICTS_OF_TOY
    assert list(frame["section"]) == ["First <em>"] * 4 + ["Second"]
    assert (frame["paper"] == "toy").all()


@pytest.fixture(scope="module")
def page():
    return render("toy", TOY, provenance(command="workbench reproduce toy"))


def outside_scripts(page):
    return re.sub(r"<script>.*?</script>", "", page, flags=re.S)


def test_the_page_loads_nothing_from_anywhere(page):
    text = outside_scripts(page)
    assert not re.search(r"""src\s*=|@import|url\(|<link|<iframe""", text)
    assert all(target.startswith(("#", "data:")) for target in re.findall(r'href\s*=\s*"([^"]*)"', text))
    assert page.count("<script>") == page.count("</script>") == 2


def test_words_are_escaped_and_mathematics_is_drawn(page):
    text = outside_scripts(page)
    for tag in ("<b>tops", "<i>", "<em>", "<script>alert", "a <b>", "A <table>", "<x>"):
        assert tag not in text, tag
    assert "Toys &amp; &lt;b&gt;tops" in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "&lt;math" not in text
    assert "$" not in text
    # Lead, prose, display, claim, table, caption, and of what was tried: claim, heading, parameter, verdict.
    assert text.count("<math") == 10
    # Bars close around what they enclose.
    assert text.count('lspace="0" rspace="0">&#x0007C;') == 2
    assert text.count("<p>Three, with ") == 1


def test_every_claim_has_its_numbers_its_verdict_and_its_reason(page):
    text = outside_scripts(page)
    assert text.count("✓ confirmed") == text.count("≠ differs") == 1
    assert text.count("✗ not confirmed") == 2
    for words in ("1.67\u202f%", "1.9\u202f%", "Because 1 &lt; 2.", "≤ 1", "theory &lt;", "0.3333"):
        assert words in text, words
    # What was tried.
    assert (text.count('class="holds"'), text.count('class="fails"')) == (2, 4)
    assert "set &lt;" in text
    assert "for a &lt; (<math" in text


def test_claims_of_the_paper_are_counted_apart_from_our_own_checks(page):
    text = " ".join(re.sub(r"<[^>]*>", " ", outside_scripts(page)).split())
    assert "Claims of the paper: 1 of 4 confirmed , 1 confirmed in part , 1 differs , 1 not confirmed ." in text
    assert "Additional checks: 0 of 1 confirmed , 1 not confirmed ." in text
    assert "expected computed" in text.partition("2. Second")[2]
    assert "published computed" in text.partition("2. Second")[0]
    assert "published computed" not in text.partition("2. Second")[2]


def test_specs_are_strict_json(page):
    spec = re.search(r"const specs = (.*?);\nadd", page, flags=re.S).group(1)
    found = json.loads(spec.replace("<\\/", "</"), parse_constant=lambda name: pytest.fail(f"{name} in a figure"))
    assert list(found) == ["drawn"]


def test_a_browser_draws_the_figure(page, tmp_path, reader):
    path = tmp_path / "toy.html"
    path.write_text(page, "utf-8")
    assert reader.open(path).locator("#figure-drawn svg path").count() > 0


def test_a_page_without_figures_carries_no_drawing_library():
    assert len(render("plain", Reproduction("T", "S", "L", (Section("only"),)), provenance())) < 25_000


# The registry and the command line


def test_every_reproduction_in_the_folder_is_registered_and_the_other_way_round():
    folder = Path(workbench.builtin.reports.reproductions.__file__).parent
    found = {path.stem for path in folder.glob("*.py") if "\ndef reproduce(" in path.read_text("utf-8")}
    assert {name.replace("-", "_") for name in REPRODUCTIONS} == found
    assert len(set(REPRODUCTIONS)) == len(REPRODUCTIONS)
    assert all(callable(find_reproduction(name)) for name in REPRODUCTIONS)


@pytest.fixture
def toys(monkeypatch):
    """Two toy papers in place of the real ones, in this process."""
    for name in ("toy", "toy_two"):
        module = ModuleType(name)
        module.reproduce = lambda progress: progress("toys", 0, 1) or TOY
        monkeypatch.setitem(sys.modules, f"workbench.builtin.reports.reproductions.{name}", module)
    monkeypatch.setattr("workbench.builtin.reports.reproductions.REPRODUCTIONS", ("toy", "toy-two"))
    monkeypatch.setattr("os.cpu_count", lambda: 1)


def test_one_page_with_its_claims_and_provenance(toys, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "toy", "toy"]) == 0
    out = tmp_path / "toy-reproduction"
    assert {p.name for p in out.iterdir()} == {"toy.html", "claims.csv", "provenance.json"}
    assert len(pd.read_csv(out / "claims.csv")) == 5
    facts = json.loads((out / "provenance.json").read_text())
    assert facts["command"] == "workbench reproduce toy toy"
    assert list(facts["seconds"]) == ["toy"]
    text = capsys.readouterr().out
    assert "toy: 1 of 4 claims of the paper confirmed; 0 of 1 additional checks" in text
    assert "<script>alert(1)</script>" in text
    assert text.rstrip().endswith("toy.html")


def test_all_pages_with_an_index_that_links_them(toys, tmp_path, capsys):
    assert main(["reproduce", "--all", "--out", str(tmp_path / "out"), "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    names = {p.name for p in (tmp_path / "out").iterdir()}
    assert names == {"toy.html", "toy-two.html", "index.html", "claims.csv", "provenance.json"}
    index = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert re.findall(r'href="([^"]*)"', index) == ["toy.html", "toy-two.html"]
    assert "Toys &amp; &lt;b&gt;" in index
    assert list(pd.read_csv(tmp_path / "out" / "claims.csv")["paper"]) == ["toy"] * 5 + ["toy-two"] * 5


def test_json_prints_the_claims(toys, tmp_path, capsys):
    assert main(["reproduce", "toy", "--json", "--out", str(tmp_path)]) == 0
    rows = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert [r["verdict"] for r in rows] == VERDICTS_OF_TOY
    assert [r["kind"] for r in rows] == ["claim"] * 4 + ["check"]
    assert rows[2]["computed"] is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["reproduce", "idetc2016"], ["idetc2016", *REPRODUCTIONS]),
        (["reproduce", REPRODUCTIONS[0], "nothing"], ["nothing", *REPRODUCTIONS]),
        (["reproduce"], ["names", "--all", *REPRODUCTIONS]),
        (["reproduce", "--all", REPRODUCTIONS[0]], ["names", "--all"]),
        (["reproduce", REPRODUCTIONS[0], "--out", "file"], ["file", "folder"]),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("in the way")
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.strip().split("\n"))) == ("", 1)
    assert all(word in err for word in words), err
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_page_that_fails_leaves_nothing(toys, tmp_path, monkeypatch):
    def broken(progress):
        raise WorkbenchError("no")

    monkeypatch.setattr(sys.modules["workbench.builtin.reports.reproductions.toy_two"], "reproduce", broken)
    assert main(["reproduce", "--all", "--out", str(tmp_path / "out"), "--quiet"]) == 2
    assert list(tmp_path.iterdir()) == []


def test_pages_come_in_the_order_asked_for_and_report_their_progress(toys):
    heard = []
    pages = make_pages(["toy-two", "toy"], provenance(), lambda *said: heard.append(said))
    assert [page.name for page in pages] == ["toy-two", "toy"]
    assert heard == [("toys", 0, 1)] * 2
    # Pages travel between processes.
    assert pickle.loads(pickle.dumps(pages[0])).html == pages[0].html
    assert pages[0].counts == {
        "claim": {"confirmed": 1, "confirmed in part": 1, "differs": 1, "not confirmed": 1},
        "check": {"confirmed": 0, "confirmed in part": 0, "differs": 0, "not confirmed": 1},
    }


def test_pages_made_side_by_side_come_in_order_too(toys, monkeypatch):
    heard, second_is_done = [], Event()

    def last(progress):
        assert second_is_done.wait(60)
        return TOY

    monkeypatch.setattr(sys.modules["workbench.builtin.reports.reproductions.toy_two"], "reproduce", last)
    monkeypatch.setattr("workbench.builtin.reports.reproductions.page.processes", ThreadPoolExecutor)

    def hear(*said):
        heard.append(said)
        if said[0] == "toy":
            second_is_done.set()

    pages = make_pages(["toy-two", "toy"], provenance(), hear, workers=2)
    assert [page.name for page in pages] == ["toy-two", "toy"]
    assert [said[1:] for said in heard] == [(0, 2), (1, 2), (2, 2)]
    assert [said[0] for said in heard[1:]] == ["toy", "toy-two"]
