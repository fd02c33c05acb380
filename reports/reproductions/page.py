"""The pages of reproductions, each one HTML file that opens offline, and the index that links them."""

import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.builtin.reports.pages.page import environment, scripts
from workbench.builtin.reports.reproductions import find_reproduction
from workbench.builtin.reports.reproductions.claims import VERDICTS, Reproduction, claims_frame, number_text
from workbench.support.output import write_json
from workbench.support.processes import processes
from workbench.support.progress import ProgressCallback


@dataclass(frozen=True, eq=False)
class Page:
    """A finished page: the HTML, its claims as a frame, and the seconds that computing took."""

    name: str
    title: str
    source: str
    html: str
    claims: pd.DataFrame
    seconds: float

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        return counts(self.claims)


def counts(claims: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Count the claims of the paper ("claim") and the additional checks ("check") by verdict."""
    found = Counter(zip(claims["kind"], claims["verdict"], strict=True))
    return {kind: {verdict: found[kind, verdict] for verdict in VERDICTS} for kind in ("claim", "check")}


def in_short(found: dict[str, dict[str, int]]) -> str:
    """Return the numbers of confirmed claims and checks in a sentence."""
    words = {"claim": "claims of the paper", "check": "additional checks"}
    parts = [f"{x['confirmed']} of {sum(x.values())} {words[kind]}" for kind, x in found.items() if sum(x.values())]
    return f"Confirmed: {', '.join(parts)}."


def render(name: str, r: Reproduction, provenance: dict[str, Any]) -> str:
    """The whole page of one reproduction as text."""
    template = environment().get_template("reproduction.html.j2")
    return template.render(
        name=name, r=r, counts=counts(claims_frame(name, r)), provenance=provenance, number_text=number_text,
        in_short=in_short, **scripts(r.figures),
    )  # fmt: skip


def render_index(pages: Sequence[Page], provenance: dict[str, Any]) -> str:
    """The page that links `NAME.html` of all pages."""
    return environment().get_template("reproductions.html.j2").render(pages=pages, provenance=provenance)


def make_page(name: str, provenance: dict[str, Any], progress: ProgressCallback) -> Page:
    """Compute and render the reproduction of this name."""
    start = time.perf_counter()
    r = find_reproduction(name)(progress)
    seconds = time.perf_counter() - start
    html = render(name, r, provenance | {"seconds": f"{seconds:.1f}"})
    return Page(name, r.title, r.source, html, claims_frame(name, r), seconds)


def make_pages(
    names: Sequence[str], provenance: dict[str, Any], progress: ProgressCallback | None = None, workers: int = 1
) -> list[Page]:
    """The pages of these names in this order, several of them in up to `workers` processes."""
    progress = progress or silent
    if len(names) == 1 or workers == 1:
        return [make_page(name, provenance, progress) for name in names]
    pages: dict[str, Page] = {}
    with processes(min(workers, len(names))) as pool:
        waiting = [pool.submit(make_page, name, provenance, silent) for name in names]
        progress("reproductions in several processes", 0, len(names))
        for future in as_completed(waiting):
            page = future.result()
            pages[page.name] = page
            progress(page.name, len(pages), len(names))
    return [pages[name] for name in names]


def write_pages(pages: Sequence[Page], folder: Path, provenance: dict[str, Any]) -> pd.DataFrame:
    """NAME.html for each page, claims.csv, provenance.json and, for several pages, index.html; returns all claims."""
    claims = pd.concat([page.claims for page in pages], ignore_index=True)
    facts = provenance | {"seconds": {page.name: round(page.seconds, 1) for page in pages}}
    for page in pages:
        (folder / f"{page.name}.html").write_bytes(page.html.encode())
    if len(pages) > 1:
        (folder / "index.html").write_bytes(render_index(pages, facts).encode())
    claims.to_csv(folder / "claims.csv", index=False)
    write_json(folder / "provenance.json", facts)
    return claims


def silent(label: str, done: int, total: int) -> None:
    """Progress callback that does nothing."""
