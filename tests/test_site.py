"""The site of the documentation: it is made whole, asks the network for nothing, and can be read by everyone."""

import re
import subprocess
import sys

import pytest
from axe_playwright_python.sync_playwright import Axe

from docs.site import examples
from tests import browser

pytestmark = [pytest.mark.thorough, pytest.mark.skipif(browser.executable() is None, reason="no browser")]
WIDTH = 360
GRAVE = "serious", "critical"
KINDS = "index", "tutorial", "glossary", "howto/matrix", "gallery/cases", "explanation/residuals", "reference/commands"
"""Pages, one of each kind, on which axe-core is run: it takes seconds on a long page."""
OWN = "comparisons", "notebooks"
"""Folders of pages of the workbench itself, which have tests of their own."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site") / "built"
    out.mkdir()
    (out / "left-over.html").touch()
    command = [sys.executable, "-m", "docs.build", "--out", str(out)]
    done = subprocess.run(command, cwd=examples.DOCS.parent, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r" s  1 of \d+: ", done.stdout)
    return out


@pytest.fixture(scope="module")
def pages(site):
    return [x for x in sorted(site.rglob("*.html")) if x.relative_to(site).parts[0] not in OWN]


def test_a_site_has_what_it_links_to_and_nothing_from_before(site):
    assert not (site / "left-over.html").exists()
    assert not list(site.parent.glob(".*"))
    assert 'href="../comparisons/wheel.html"' in (site / "gallery/cases.html").read_text("utf-8")
    assert {path.parent.name for path in site.rglob("*.html")} >= set(OWN)
    assert all((site / f"{kind}.html").exists() for kind in KINDS)


def test_no_page_of_it_asks_the_network_complains_or_scrolls_sideways_on_a_phone(site, pages):
    wrong = []
    with browser.started() as chromium:
        page = chromium.new_page(viewport={"width": WIDTH, "height": 800})
        said = []
        page.on("request", lambda r: r.url.startswith(("file:", "data:", "blob:")) or said.append(f"asks for {r.url}"))
        page.on("console", lambda m: m.type == "error" and said.append(f"complains: {m.text}"))
        page.on("pageerror", lambda e: said.append(f"fails: {e}"))
        for path in pages:
            page.goto(path.as_uri())
            wide = page.evaluate("document.documentElement.scrollWidth")
            wrong += [f"{path.name} is {wide} px wide"] * (wide > WIDTH) + [f"{path.name} {words}" for words in said]
            said.clear()
    assert wrong == []


def test_axe_finds_no_serious_fault_in_light_and_dark(site):
    wrong = []
    with browser.started() as chromium:
        page = chromium.new_page(viewport={"width": WIDTH, "height": 800})
        for kind in KINDS:
            page.goto((site / f"{kind}.html").as_uri())
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                found = Axe().run(page, options={"preload": False}).response["violations"]
                wrong += [f"{kind}, {scheme}: {x['help']}, {x['nodes'][0]['target']}"
                          for x in found if x["impact"] in GRAVE]  # fmt: skip
    assert wrong == []
