"""The index of a folder: every page of the workbench that it holds, and nothing else."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from markupsafe import escape

import workbench as wb
from workbench.builtin.reports.pages.index import HEAD, entries, head_of
from workbench.builtin.reports.reproductions.page import in_short
from workbench.cli.main import main
from workbench.support.errors import WorkbenchError

EVIL = 'a & "b" <img src=x onerror=alert(1)>'


def page(title="a title", kind="check", description="A sentence.", date="2026-01-02T03:04:05+00:00"):
    """The head of a page, as the templates write it."""
    safe = [escape(x) for x in (kind, description, date, title)]
    metas = zip(("generator", "description", "date"), (f"contact-workbench: {safe[0]}", *safe[1:3]), strict=True)
    return "<html><head>" + "".join(f'<meta name="{k}" content="{v}">' for k, v in metas) + f"<title>{safe[3]}</title>"


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "results"
    for path, text in {
        "one/report.html": page(kind="comparison", title=EVIL, description=EVIL),
        "deep/er/a page#1%.html": page(kind="trace"),
        "check.html": wb.check([[2, 1], [1, 2]], rhs=[-5, -6]).html(),
        "foreign.html": "<title>not ours</title><p>hello",
        "body.html": "<body>" + page(),
        "notes.txt": page(),
        ".hidden/report.html": page(),
        "far.html": "<!--" + "x" * HEAD + "-->" + page(),
        "binary.html": "\x00\ufffd" * 50,
    }.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text, "utf-8")
    (place / "loop").symlink_to(place, target_is_directory=True)
    (place / "dead.html").symlink_to(tmp_path / "nowhere")
    return place


def test_an_index_links_the_pages_of_a_folder_and_no_others(folder, capsys):
    assert main(["index", str(folder)]) == 0
    assert capsys.readouterr().out == f"3 pages linked: {folder}/index.html\n"
    text = (folder / "index.html").read_text("utf-8")
    assert re.findall(r'href="([^"]*)"', text) == ["check.html", "one/report.html", "deep/er/a%20page%231%25.html"]
    assert "<img" not in text
    assert text.count("a &amp; &#34;b&#34; &lt;img src=x onerror=alert(1)&gt;") == 2
    assert "2026-01-02 03:04" in text
    assert "default-src &#39;none&#39;" in text
    # It is made anew from the pages, of which it is none.
    assert main(["index", str(folder)]) == 0
    assert "3 pages linked" in capsys.readouterr().out
    assert main(["index", str(folder), "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_a_page_says_what_it_is(folder):
    (own,) = [x for x in entries(folder) if x.path == "check.html"]
    assert own.kind == "check"
    assert "well posed" in own.title
    assert own.summary.startswith("M is a P-matrix")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", own.made)


def a_study():
    with ThreadPoolExecutor(1) as here:
        return wb.study("wheel", ["box", "ccp"], duration=0.005, reference_step=5e-4, executor=here, workers=1)


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: wb.trace([[-1]], rhs=[-1]), "trace"), (lambda: wb.show("box"), "result"),
        (lambda: wb.vary("rod", along=("mu", 0, 2)), "vary"), (a_study, "study"),
    ],
)  # fmt: skip
def test_every_kind_of_page_has_a_summary(tmp_path, make, kind):
    head = head_of(make().page(tmp_path / "page.html"))
    assert head.kind == kind
    assert head.title
    assert len(head.given["description"]) > 15
    assert "<" not in head.given["description"]
    assert "as z0 grows" in head.given["description"] or kind != "trace"


def test_what_makes_no_index_is_reported_in_a_line(folder, tmp_path, capsys, monkeypatch):
    (tmp_path / "empty").mkdir()
    assert main(["index", str(tmp_path / "empty")]) == 2
    assert main(["index", str(tmp_path / "nothing")]) == 2
    (folder / "index.html").write_text("<title>my site</title>", "utf-8")
    assert main(["index", str(folder)]) == 2
    assert (folder / "index.html").read_text("utf-8") == "<title>my site</title>"
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 3
    for line, words in zip(said, ("holds no page", "is not a folder", "not written by the workbench"), strict=True):
        assert words in line
    monkeypatch.setattr("workbench.builtin.reports.pages.index.MOST", 1)
    with pytest.raises(WorkbenchError, match="more than 1 pages"):
        entries(folder)


def test_a_reproduction_is_summed_up():
    counts = {"claim": {"confirmed": 3, "differs": 1}, "check": {"confirmed": 0}}
    assert in_short(counts) == "Confirmed: 3 of 4 claims of the paper."
