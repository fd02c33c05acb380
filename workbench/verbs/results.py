"""Results of the verbs: numbers as tidy frames that can be viewed, saved, and shown as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.support.output import page_path, path_of, provenance, replaced, staged, write_json

if TYPE_CHECKING:
    import pandas as pd


class Result:
    """Base of all results: `frames` by name, `words` that explain them, `facts` on how they were computed."""

    title: str

    @property
    def frames(self) -> Mapping[str, pd.DataFrame]:
        """Tidy frames by name, the most important first; every column's unit and meaning in `frame.attrs`."""
        raise NotImplementedError

    @property
    def words(self) -> Sequence[str]:
        """The result in sentences."""
        raise NotImplementedError

    @property
    def drawn(self) -> str:
        """An SVG to show between the sentences and the frames in a notebook; empty if there is none."""
        return ""

    @property
    def facts(self) -> dict[str, Any]:
        """Versions, machine and settings."""
        return provenance(result=self.title)

    def html(self, facts: dict[str, Any] | None = None) -> str:
        """The result as one HTML page that opens offline; `facts` on its computation replace its own."""
        from workbench.builtin.reports.pages.result import render

        return render(self.title, self.words, self.frames, facts or self.facts)

    def write(self, folder: Path) -> None:
        """Write every frame as CSV, the page and provenance.json into an existing folder."""
        for name, frame in self.frames.items():
            frame.to_csv(folder / f"{name}.csv", index=False)
        (folder / "report.html").write_bytes(self.html().encode())
        write_json(folder / "provenance.json", self.facts)

    def save(self, folder: str | Path) -> Path:
        """Write everything into a folder, whole or not at all; raises WorkbenchError if it cannot be written."""
        with staged(path_of("folder", folder)) as stage:
            self.write(stage)
        return Path(folder)

    def page(self, path: str | Path) -> Path:
        """Write the page to a file, whole or not at all.

        Raises WorkbenchError if the file cannot be written, or its name does not end in .html.
        """
        with replaced(page_path(path)) as stage:
            stage.write_bytes(self.html().encode())
        return Path(path)

    def __repr__(self) -> str:
        return "\n".join([self.title, *self.words])

    def _repr_html_(self) -> str:
        sentences = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.words)
        frame = next(iter(self.frames.values()))
        table = frame.to_html(index=False, max_rows=20, border=0)
        return f"<h4>{escape(self.title)}</h4>{sentences}{self.drawn}{table}"
