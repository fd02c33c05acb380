"""A browser for tests of pages: the system's Chromium without a window, driven by playwright."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request, expect, sync_playwright

# Drawn by the processor: what tests see does not depend on a graphics card, and WebGL works without one. All but WebGL
# is drawn directly: through an emulated card a page costs a third more.
EMULATED = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
ARGUMENTS = ["--no-sandbox", *EMULATED, "--disable-gpu-compositing", "--disable-gpu-rasterization"]

# Machines that test are busy.
expect.set_options(timeout=30_000)

UNDRAWN = "div.chart:not(:has(svg, canvas))"


def executable() -> str | None:
    """Where the system has Chromium or a relative of it, rather one that can open no window; none is downloaded."""
    found = map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))
    return next(filter(None, found), None)


@contextmanager
def started() -> Iterator[Browser]:
    """A running browser. While it runs, its thread has an event loop: nothing there can call `asyncio.run`."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class Reader:
    """Somebody who opens pages, and remembers in `faults` each error in the console and each request for anything else.

    What a page holds itself (data: and blob: addresses) is no request, and neither is following a link to another file.
    """

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.browser = browser
        self.folder = folder
        self.faults: list[str] = []

    def open(
        self,
        path: Path,
        *,
        width: int = 1300,
        height: int = 900,
        dark: bool = False,
        still: bool = False,
        script: str = "",
        folded: bool = False,
        **context: Any,
    ) -> Page:
        """The page of a file once its figures are drawn.

        width, height: of the window, in pixels of the page.
        dark, still: the reader prefers dark colours, or reduced motion.
        script: JavaScript that runs before the page's own, such as one that takes something away from the browser.
        folded: leave folded what is; otherwise the large parts of a page are unfolded.
        context: further options of playwright's `new_context`, such as `has_touch=True`.
        """
        page = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce" if still else "no-preference",
            **context,
        ).new_page()
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", self._request)
        if script:
            page.add_init_script(script)
        page.goto(path.absolute().as_uri())
        # Pages forbid `eval`, by which playwright's `wait_for_function` waits; locators need none.
        expect(page.locator(UNDRAWN)).to_have_count(0)
        if not folded:
            page.locator("details.fold").evaluate_all("all => all.forEach(part => { part.open = true; })")
            # What parts of the page do when they open comes a moment later.
            page.wait_for_timeout(50)
        return page

    def download(self, page: Page, link: Locator) -> Path:
        """The file that a click on a link or a button saves, under the name that the page gives it."""
        with page.expect_download() as saved:
            link.click()
        path = self.folder / saved.value.suggested_filename
        saved.value.save_as(path)
        return path

    def close(self) -> None:
        """Close what is open."""
        for context in self.browser.contexts:
            context.close()

    def _said(self, message: ConsoleMessage) -> None:
        # Drawn without a graphics card, WebGL is slow, and the browser says so.
        if message.type in ("error", "warning") and "GL Driver Message" not in message.text:
            self.faults.append(message.text)

    def _request(self, request: Request) -> None:
        within = request.url.startswith(("data:", "blob:"))
        link = request.is_navigation_request() and request.url.startswith("file:")
        if not within and not link:
            self.faults.append(f"asks for {request.url}")


AXE = {
    "resultTypes": ["violations"],
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}


SEEN = {"resultTypes": ["violations"], "runOnly": ["color-contrast", "target-size", "scrollable-region-focusable"]}
"""Of these, what colours and the width of the window can change."""


def violations(page: Page, rules: dict[str, list[str]] = AXE) -> list[str]:
    """What axe-core finds on a page: the rule, the element and what would mend it."""
    found = Axe().run(page, options=rules).response["violations"]
    return [f"{x['id']}: {node['html'][:120]}: {node['failureSummary']}" for x in found for node in x["nodes"]]
