"""A built site in a browser: no page asks the network for anything, complains, or scrolls sideways at 360 px.

On a page of each kind axe-core finds no serious violation of accessibility, contrast included, in light and dark mode.
"""

from collections.abc import Iterator
from pathlib import Path
from shutil import which

PROGRAMS = "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"
WIDTH = 360
GRAVE = "serious", "critical"
KINDS = "index", "tutorial", "glossary", "howto/matrix", "gallery/cases", "explanation/residuals", "reference/commands"
"""Pages, one of each kind, on which axe-core is run: it takes seconds on a long page."""


def chromium() -> str | None:
    """The browser of this machine, if it has one."""
    return next(filter(None, map(which, PROGRAMS)), None)


def faults(site: Path, program: str) -> Iterator[str]:
    """What is wrong with the pages of Sphinx, a line each."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 800})
        said: list[str] = []
        page.on("request", lambda r: r.url.startswith(("file:", "data:", "blob:")) or said.append(f"asks for {r.url}"))
        page.on("console", lambda m: m.type == "error" and said.append(f"complains: {m.text}"))
        page.on("pageerror", lambda e: said.append(f"fails: {e}"))
        for path in sorted(site.rglob("*.html")):
            if path.relative_to(site).parts[0] in ("comparisons", "notebooks"):
                # Pages of the workbench itself, which have tests of their own.
                continue
            page.goto(path.as_uri())
            wide = page.evaluate("document.documentElement.scrollWidth")
            if wide > WIDTH:
                said.append(f"is {wide} px wide in a window of {WIDTH}")
            kind = path.relative_to(site).with_suffix("").as_posix()
            for scheme in ("light", "dark") if kind in KINDS else ():
                page.emulate_media(color_scheme=scheme)
                found = Axe().run(page, options={"preload": False}).response["violations"]
                said += [f"{scheme}: {x['help']}, {x['nodes'][0]['target']}" for x in found if x["impact"] in GRAVE]
            yield from (f"{path.relative_to(site)} {words}" for words in said)
            said.clear()
        browser.close()
