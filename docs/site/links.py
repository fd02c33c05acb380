"""Links of a built site: internal ones must lead somewhere, and nothing may be loaded from elsewhere."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("object", "data")}
"""Attributes whose address a browser loads by itself."""


@dataclass
class Page(HTMLParser):
    """The anchors of a page, where it links, and what it loads."""

    path: Path
    anchors: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    loads: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            if (tag, name) in LOADED and value:
                self.loads.add(value)
            elif name == "href" and value:
                self.links.add(value)


def check(site: Path, each: Callable[..., Iterable[Page]] = map) -> tuple[list[str], list[str]]:
    """What is wrong with the links of all pages, a line each, and the external addresses that they link to; `each` maps
    the reading of a page over them."""
    paths = sorted(site.rglob("*.html"))
    pages = dict(zip(paths, each(Page, paths), strict=True))
    wrong, external = [], set()
    for page in pages.values():
        where = page.path.relative_to(site)
        wrong += [f"{where} loads {address}" for address in sorted(page.loads) if _is_external(address)]
        external |= {address for address in page.links if _is_external(address)}
        local = [address for address in sorted(page.links | page.loads) if not _is_external(address)]
        wrong += [f"{where} links to {address}: {reason}" for address, reason in _broken(page, local, pages)]
    return wrong, sorted(external)


def _is_external(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme not in ("", "data") or bool(parts.netloc)


def _broken(page: Page, addresses: Iterable[str], pages: dict[Path, Page]) -> Iterable[tuple[str, str]]:
    for address in addresses:
        parts = urlsplit(address)
        if parts.scheme == "data":
            continue
        target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
        if not target.is_file():
            yield address, "there is no such file"
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
            yield address, "there is no such place on the page"
