"""The documentation: its code blocks are run, and what is made from the code is whole."""

import re

import pytest

import workbench as wb
from docs.site import examples, links
from docs.site.commands import commands, parsers
from docs.site.gallery import COMPARED, cases, page_of
from docs.site.made import MADE, MARK, filled
from docs.site.notebooks import notebooks
from docs.site.public import GROUPS, RESULTS
from docs.site.words import terms
from tests.thorough import quickly
from workbench.builtin.cases import CASES
from workbench.builtin.formulations import REGISTRIES
from workbench.diagnostics.friction_section import friction_section
from workbench.verbs.find import find_formulation

DOCS = examples.DOCS
LONG = {
    "tutorial", "paper", "painleve", "lecture", "study", "reality", "declare-your-own", "matrix", "grains", "scenes",
    "exam", "notebook",
}  # fmt: skip
"""Pages whose blocks take seconds each: the thorough run of the tests runs them."""


@pytest.mark.share(4)
@pytest.mark.parametrize(
    "page", quickly(examples.pages(), lambda page: page.stem not in LONG), ids=lambda page: page.stem
)
def test_every_code_block_of_a_page_does_what_the_page_says(page):
    examples.check(page)


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ("console\n$ workbench --version\nworkbench 7\n", "workbench 7"),
        ("console\n$ workbench list nothing\n", "nothing"),
        ("console\n$ rm -r .\n", "no command of the workbench"),
        ("python\n>>> 1 + 1\n3\n", "Got:"),
        ("ruby\nputs 1\n", "ruby"),
    ],
)
def test_a_block_that_does_something_else_is_noticed(block, words, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"```{block}```\n", "utf-8")
    with pytest.raises(examples.ExampleError, match=re.escape(words)):
        examples.check(page)


def test_every_block_is_in_a_language_that_is_run_or_known():
    languages = {language for page in DOCS.rglob("*.md") for language, _ in examples.blocks(page)}
    assert languages <= {"python", "console"} | examples.SHOWN


def test_the_gallery_has_every_case_with_all_its_parameters():
    text = cases(whole=True)
    sections = dict(zip(CASES.bundled, re.split(r"^\(case-.*\)=$", text, flags=re.MULTILINE)[1:], strict=True))
    for name, section in sections.items():
        case = CASES.find(name)
        assert f"## {name}\n" in section
        assert f'aria-label="{name} at its start"' in section
        assert all(f"| `{key}` | {value:g} |" in section for key, value, _, _ in case.parameter_table())
    assert {name for name, section in sections.items() if page_of(name) in section} == {*COMPARED}
    assert page_of("wheel") not in cases()


def test_the_gallery_has_every_formulation_with_its_relations_and_options():
    text = MADE["formulations"](False)
    names = [name for registry in REGISTRIES for name in registry.bundled]
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == names
    sections = re.split(r"^\(formulation-.*\)=$", text, flags=re.MULTILINE)[1:]
    for name, section in zip(names, sections, strict=True):
        f = find_formulation(name)
        assert section.count("```{math}") >= 2
        assert all(f"| `{option}` |" in section for option in f.described_options)
        assert ('<svg class="marks section"' in section) == (friction_section(f) is not None)


def test_the_list_of_notebooks_has_their_titles_and_in_a_whole_site_links():
    rows = notebooks(whole=True).split("\n")[2:]
    assert len(rows) == len(list((DOCS / "notebooks").glob("[0-9]*.py")))
    assert all("<a href" in row for row in rows)
    assert "<a href" not in notebooks()
    assert ">1. One particle on a plane</a> | `marimo edit docs/notebooks/01_one_particle.py` |" in rows[0]


def test_the_reference_has_every_command_with_its_options_and_every_public_name():
    sections = dict(re.findall(r"^## (\S+)$(.*?)(?=^\(command|\Z)", commands(), re.MULTILINE | re.DOTALL))
    for name, parser in parsers():
        actions = [action for action in parser._actions if action.dest != "help"]
        rows = re.findall(r"^\| (?!argument|- )(.*?) \| ", sections.pop(name), re.MULTILINE)
        assert len(rows) == len(actions)
        for action, row in zip(actions, rows, strict=True):
            assert all(f"`{option}" in row for option in action.option_strings)
    assert not sections
    named = [name for group in GROUPS.values() for name in group]
    assert sorted(named) == sorted(wb.__all__)
    assert set(RESULTS) <= set(GROUPS["Verbs"])


def test_the_glossary_explains_every_word_that_pages_link_to():
    linked = {word for page in DOCS.rglob("*.md") for word in re.findall(r"\{term\}`([^`]+)`", page.read_text("utf-8"))}
    assert len(linked) > 20
    assert linked <= set(terms()), linked - set(terms())
    assert len(terms()) == len(set(terms()))


def test_every_part_that_is_made_has_its_place_and_every_place_its_part():
    places = [name for page in DOCS.rglob("*.md") for name in MARK.findall(page.read_text("utf-8"))]
    assert sorted(places) == sorted(MADE)
    assert filled("a\n\n<!-- made: words -->\n", whole=False).startswith("a\n\n```{glossary}\n")


def test_links_that_lead_nowhere_and_what_comes_from_elsewhere_are_found(tmp_path):
    (tmp_path / "b.html").write_text('<p id="here"></p>', "utf-8")
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here"></a><a href="#top" id="top"></a><a href="https://example.org/x"></a>'
        '<a href="b.html#gone"></a><a href="c.html"></a><img src="data:,"><script src="https://example.org/y.js"></script>',
        "utf-8",
    )
    wrong, external = links.check(tmp_path)
    assert wrong == [
        "a.html loads https://example.org/y.js",
        "a.html links to b.html#gone: there is no such place on the page",
        "a.html links to c.html: there is no such file",
    ]
    assert external == ["https://example.org/x"]
