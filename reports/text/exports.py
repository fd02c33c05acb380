"""A table of a comparison for other places: full numbers as CSV, the printed ones as Markdown and as LaTeX."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from workbench.comparison.columns import Column

LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "°": r"$^\circ$", "µ": r"$\mu$", "μ": r"$\mu$", "–": "--",
    "≥": r"$\geq$", "≤": r"$\leq$", "²": r"$^2$", "∞": r"$\infty$", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip
"""Characters that LaTeX reads otherwise, or has in mathematics alone."""


def csv(runs: pd.DataFrame, columns: Sequence[Column]) -> str:
    """The columns in full, in the units of docs/columns.md, with who made each row and whether it is verified."""
    who = [name for name in ("label", "solver", "step", "window") if name in runs]
    return runs[[*who, *(x.name for x in columns), "verified", "reason"]].to_csv(index=False)


def markdown(table: dict[str, Any]) -> str:
    """The table as on the page, in Markdown."""
    head, *rows = [[text.replace("|", "\\|") for text in row] for row in _cells(table)]
    rule = ["---", "---", *["---:"] * (len(head) - 3), "---"]
    lines = "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))
    return f"{table['title']}\n\n{lines}\n"


def latex(table: dict[str, Any]) -> str:
    """The table as on the page, in LaTeX with the rules of the package booktabs."""
    head, *rows = [" & ".join(map(_escaped, row)) + r" \\" for row in _cells(table)]
    shape = "ll" + "r" * (len(_cells(table)[0]) - 3) + "l"
    return "\n".join([
        f"% {table['title']}; needs \\usepackage{{booktabs}}", rf"\begin{{tabular}}{{{shape}}}", r"\toprule", head,
        r"\midrule", *rows, r"\bottomrule", r"\end{tabular}", "",
    ])  # fmt: skip


def _cells(table: dict[str, Any]) -> list[list[str]]:
    """Heading and rows; step sizes where there are several."""
    steps = len({r["step_text"] for r in table["rows"]}) > 1
    head = ["formulation", "solver", *["step"] * steps, *(x.title for x in table["columns"]), "verified"]
    return [head] + [
        [r["label"], r["solver"], *[r["step_text"]] * steps, *r["cells"], "yes" if r["verified"] else "no"]
        for r in table["rows"]
    ]


def _escaped(text: str) -> str:
    return "".join(LATEX.get(letter, letter) for letter in text)
