"""The pictures of the documentation, taken anew: `python -m tests.pictures`, or with the names of some."""

import base64
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import workbench as wb
from tests.browser import Reader, started
from tests.every_page import PAGES as SHORT

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
BEGIN, END = "<!-- pictures -->\n", "<!-- end of pictures -->"
PAGES = SHORT | {"wheel": lambda: wb.compare("wheel").html()}
"""Pages of short runs, and that of the first command."""
QUALITY = 80
"""Of WebP, in percent: at this, letters have no visible seams."""


@dataclass(frozen=True)
class Picture:
    """One window onto a page: what it shows, the page, its size [px], the element at its top (None: the page's)."""

    shows: str
    page: str
    width: int = 1200
    height: int = 900
    dark: bool = False
    top: str | None = None


PICTURES = {
    "compare": Picture("a comparison on a case: recommendation, error against cost, motion", "wheel", 1300, 800),
    "compare-dark": Picture("another comparison in dark mode", "compare-cube", 1300, 800, dark=True),
    "compare-telephone": Picture("the same on a telephone", "compare-cube", 390, 844),
    "motion": Picture("a formulation's motion over the reference's", "compare-cube", height=740, top=".motion"),
    "figures": Picture("figures of a comparison", "compare-wheel", height=860, top="figure:has(#figure-friction)"),
    "loupe": Picture("one contact at one time in detail", "compare-wheel", height=800, top="#loupe"),
    "table": Picture("errors as a table", "compare-wheel", height=620, top="#tables"),
    "table-telephone": Picture("the same on a telephone", "compare-wheel", 360, 620, top="#tables"),
    "contacts": Picture(
        "contacts over time: bodies that stick and slide", "compare-scene", height=760, top="#contacts"
    ),
    "compare-file": Picture("a comparison on a problem from a file", "compare-file", 1300, 800),
    "check": Picture("the verdicts on a matrix and its LCP", "check-matrix", height=1000),
    "check-classes": Picture("classes of a matrix", "check-matrix", height=800, top="h2:has-text('Classes')"),
    "check-dark": Picture("the verdicts in dark mode", "check-matrix", height=1000, dark=True),
    "check-case": Picture("a formulation on a case", "check-case", height=500),
    "painleve": Picture("regimes of a sliding rod", "painleve-rod", height=1200),
    "painleve-telephone": Picture("the same on a telephone", "painleve-rod", 360, 780, top="figure"),
    "vary": Picture("all solutions along a parameter", "vary-rod", height=900),
    "trace": Picture("Lemke's method, pivot by pivot", "trace-lemke", height=1100),
    "trace-dark": Picture("the same in dark mode", "trace-lemke", height=1100, dark=True),
    "reproduction": Picture("claims of a paper compared with computed numbers", "reproduction", height=1000),
    "reproductions": Picture("the index of reproductions", "reproductions", height=420),
}


def taken(reader: Reader, file: Path, picture: Picture) -> bytes:
    """The window as WebP."""
    page = reader.open(
        file, width=picture.width, height=picture.height, dark=picture.dark, still=True, folded=not picture.top
    )
    if picture.top:
        page.locator(picture.top).first.evaluate("place => place.scrollIntoView()")
    # Until what comes into sight is drawn.
    page.wait_for_timeout(1000)
    ask = {"format": "webp", "quality": QUALITY}
    found = page.context.new_cdp_session(page).send("Page.captureScreenshot", ask)
    page.context.close()
    return base64.b64decode(found["data"])


def table() -> str:
    """What there is, as a Markdown table."""
    rows = [f"| ![{x.shows}]({name}.webp) | {x.shows} | {x.width} × {x.height} |" for name, x in PICTURES.items()]
    return "\n".join(["| `NAME.webp` | shows | pixels |", "|---|---|---|", *rows, ""])


def written(text: str) -> str:
    """`docs/pictures/README.md` with the table as it is now."""
    head, rest = text.split(BEGIN)
    return head + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    names = sys.argv[1:] or list(PICTURES)
    with TemporaryDirectory() as folder, started() as browser:
        files = {page: Path(folder) / f"{page}.html" for page in {PICTURES[name].page for name in names}}
        for page, file in files.items():
            file.write_text(PAGES[page](), "utf-8")
        reader = Reader(browser, Path(folder))
        for name in names:
            (FOLDER / f"{name}.webp").write_bytes(taken(reader, files[PICTURES[name].page], PICTURES[name]))
    if reader.faults:
        sys.exit("\n".join(reader.faults))
    readme = FOLDER / "README.md"
    readme.write_text(written(readme.read_text("utf-8")), "utf-8")
