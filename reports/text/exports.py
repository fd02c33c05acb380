"""Export of tables: as shown on a page, as Markdown, LaTeX and CSV; of a comparison also at full precision."""

import csv as commas
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

import pandas as pd

from workbench.comparison.columns import Column

LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "°": r"$^\circ$", "µ": r"$\mu$", "μ": r"$\mu$", "–": "--",
    "≥": r"$\geq$", "≤": r"$\leq$", "²": r"$^2$", "∞": r"$\infty$", "<": r"\textless{}", ">": r"\textgreater{}",
    "₀": "$_0$", "₁": "$_1$", "₂": "$_2$", "ᵢ": "$_i$", "ₖ": "$_k$", "ᵀ": r"$^\top$", "β": r"$\beta$", "Θ": r"$\Theta$",
    "α": r"$\alpha$", "θ": r"$\theta$", "λ": r"$\lambda$", "σ": r"$\sigma$", "ρ": r"$\rho$", "≠": r"$\neq$",
    "✓": r"$\surd$", "✗": r"$\times$", "◑": r"$\circ$", "−": r"$-$", "×": r"$\times$", "…": r"\dots{}", "→": r"$\to$",
}  # fmt: skip
"""Characters that LaTeX reads otherwise, or has in mathematics alone."""
NUMBER = re.compile(r"[-−+~[(]*([\d.]+|∞)[^A-Za-z]*(e[-+]?\d+)?[^A-Za-z]*|–|")
"""Cells aligned to the right: a number, with its unit if that is a sign, an interval, or nothing."""
INLINE = ("a", "abbr", "b", "code", "i")
"""Elements within a line; others set their text apart."""
FORMULA = re.compile(r"(\$[^$]+\$)")


@dataclass(frozen=True)
class ExportedTable:
    """Content of a table: title, heading, rows with mathematics between dollar signs, and its columns of words."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[bool]

    @property
    def file(self) -> str:
        """A name for files, without ending."""
        return "-".join(re.findall(r"\w+", self.title.partition(":")[0].lower()))[:60] or "table"


def of_runs(table: dict[str, Any]) -> ExportedTable:
    """A table of a comparison as on the page; step sizes where there are several."""
    steps = len({r["step_text"] for r in table["rows"]}) > 1
    head = ["formulation", "solver", *["step"] * steps, *(x.title for x in table["columns"]), "verified"]
    rows = [
        [r["label"], r["solver"], *[r["step_text"]] * steps, *r["cells"], "yes" if r["verified"] else "no"]
        for r in table["rows"]
    ]
    return ExportedTable(table["title"], head, rows, [True, True, *[False] * (len(head) - 3), True])


def full(runs: pd.DataFrame, columns: Sequence[Column]) -> pd.DataFrame:
    """Return the columns in full, in the units of docs/columns.md, with the labels of each row and its verification."""
    who = [name for name in ("label", "solver", "step", "window") if name in runs]
    found = runs[[*who, *(x.name for x in columns), "verified", "reason"]]
    found.attrs["columns"] = {name: x for name, x in runs.attrs.get("columns", {}).items() if name in found}
    return found


def csv(table: ExportedTable) -> str:
    """The table as on the page, with commas between the cells."""
    text = io.StringIO()
    commas.writer(text, lineterminator="\n").writerows([table.head, *table.rows])
    return text.getvalue()


def markdown(table: ExportedTable) -> str:
    """The table as on the page, in Markdown."""
    head, *rows = [[text.replace("|", "\\|") for text in row] for row in (table.head, *table.rows)]
    rule = ["---" if words else "---:" for words in table.words]
    lines = "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))
    return f"{table.title}\n\n{lines}\n"


def latex_of(table: ExportedTable) -> str:
    """The table as on the page, in LaTeX with the rules of the package booktabs."""
    head, *rows = [" & ".join(map(_escaped, row)) + r" \\" for row in (table.head, *table.rows)]
    shape = "".join("l" if words else "r" for words in table.words)
    return "\n".join([
        f"% {table.title}; needs \\usepackage{{booktabs}}", rf"\begin{{tabular}}{{{shape}}}", r"\toprule", head,
        r"\midrule", *rows, r"\bottomrule", r"\end{tabular}", "",
    ])  # fmt: skip


def _escaped(text: str) -> str:
    parts = FORMULA.split(text)
    return "".join(x if i % 2 else "".join(LATEX.get(c, c) for c in x) for i, x in enumerate(parts))


def of_page(html: str, title: str) -> ExportedTable:
    """The first table of a page's HTML: text as it reads, mathematics as LaTeX, what spans several columns once."""
    reader = _Cells()
    reader.feed(html)
    found = [[" ".join(cell.split()) for cell in row] for row in reader.rows if row]
    width = max(map(len, found), default=0)
    head, *rows = [[*row, *[""] * (width - len(row))] for row in found] or [[]]
    words = [any(not NUMBER.fullmatch(row[i]) for row in rows) for i in range(width)]
    return ExportedTable(title, head, rows, words)


class _Cells(HTMLParser):
    """The text of the cells of the first table, row by row."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.place = 0
        self.formula = self.ended = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "tr" and not self.ended:
            self.rows.append([])
        elif tag in ("td", "th") and not self.ended:
            self.place = len(self.rows[-1])
            self.rows[-1] += [""] * int(given.get("colspan") or 1)
        elif tag == "math":
            self._add(f"${given.get('alttext')}$")
            self.formula = True
        else:
            self._add({"sub": "_", "sup": "^"}.get(tag, "" if tag in INLINE else " "))

    def handle_endtag(self, tag: str) -> None:
        self.formula = self.formula and tag != "math"
        self.ended = self.ended or tag == "table"

    def handle_data(self, data: str) -> None:
        self._add(data)

    def _add(self, text: str) -> None:
        if self.rows and self.rows[-1] and not self.formula and not self.ended:
            self.rows[-1][self.place] += text
