"""A page that links the pages in a folder, each recognised by what its head says of itself."""

import os
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

from workbench.builtin.reports.pages.page import environment
from workbench.support.errors import WorkbenchError

GENERATOR = "contact-workbench: "
"""Beginning of the head entry that marks a page of the workbench, before its kind."""
NAME = "index.html"
HEAD = 65_536
"""Bytes of a page that are read; the head is within them."""
MOST = 5000
"""Pages that an index has at most."""


@dataclass(frozen=True)
class IndexEntry:
    """A page: its path within the folder, its kind, title, summary in a sentence, and when it was made."""

    path: str
    kind: str
    title: str
    summary: str
    made: str

    @property
    def address(self) -> str:
        return quote(self.path)


def entries(folder: Path) -> list[IndexEntry]:
    """The workbench's pages in a folder and in those within it, by kind and path; links are not followed.

    Raises WorkbenchError where there are none or too many.
    """
    found = []
    for place, folders, names in os.walk(folder):
        # What is hidden is being written, or is nobody's to read.
        folders[:] = sorted(x for x in folders if not x.startswith("."))
        for name in sorted(x for x in names if x.endswith(".html") and not x.startswith(".")):
            path = Path(place, name)
            head = head_of(path)
            if head.kind and head.kind != "index":
                within = path.relative_to(folder).as_posix()
                found.append(IndexEntry(within, head.kind, head.title, head.given.get("description", ""), head.made))
            if len(found) > MOST:
                raise WorkbenchError(f"'{folder}' holds more than {MOST} pages; make an index of a folder within it")
    if not found:
        raise WorkbenchError(f"'{folder}' holds no page of the workbench; give a folder of results, such as compare's")
    return sorted(found, key=lambda x: (x.kind, x.path))


def render(name: str, found: list[IndexEntry], provenance: dict[str, Any]) -> str:
    """The page as text."""
    return environment().get_template("index.html.j2").render(name=name, entries=found, provenance=provenance)


def head_of(path: Path) -> "Head":
    """Return the head of a page; empty if it is not a text file."""
    head = Head()
    try:
        with path.open("rb") as file:
            head.feed(file.read(HEAD).decode("utf-8", "replace"))
    except OSError:
        return Head()
    return head


class Head(HTMLParser):
    """Title and meta elements of a page, up to the end of its head."""

    def __init__(self) -> None:
        super().__init__()
        self.given: dict[str, str] = {}
        self.words: list[str] = []
        self.within = ""

    @property
    def kind(self) -> str:
        """Return the kind of a page, such as "comparison"; empty if it is not one of the workbench's."""
        generator = self.given.get("generator", "")
        return generator.removeprefix(GENERATOR) if generator.startswith(GENERATOR) else ""

    @property
    def title(self) -> str:
        return " ".join("".join(self.words).split())

    @property
    def made(self) -> str:
        """Day and minute."""
        return self.given.get("date", "")[:16].replace("T", " ")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.within = tag if self.within != "body" else "body"
        given = dict(attrs)
        if tag == "meta" and self.within != "body" and given.get("name"):
            self.given.setdefault(str(given["name"]), given.get("content") or "")

    def handle_endtag(self, tag: str) -> None:
        self.within = "" if self.within != "body" else "body"

    def handle_data(self, data: str) -> None:
        if self.within == "title":
            self.words.append(data)
