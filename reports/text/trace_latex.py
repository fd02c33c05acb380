"""The steps of a traced method as LaTeX: a table with booktabs, and tableaux as arrays."""

import re

from workbench.builtin.reports.text.trace import cells, detail, heads, in_words, tableau_cells
from workbench.diagnostics.tracing.trace import Trace

# In this order: index sets, fractions, numbers with an exponent, unknowns and entries of the data, signs.
_MATHEMATICS = re.compile(
    r"(?P<set>\{[\d, ]*\})|(?P<fraction>(?<![\w.])-?\d+/\d+)|(?P<power>(?<![\w.])-?\d+(\.\d+)?e[+-]?\d+)"
    r"|(?P<number>(?<![\w.])-\d+(\.\d+)?)|(?P<name>\b[wzqM]_\w+(\^2)?)|(?P<sign>>=|<=|~|\^T)"
)
_SIGNS = {">=": r"\ge", "<=": r"\le", "~": r"\approx", "^T": "^T"}
_SPECIAL = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"} | {"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}"})


def to_latex(trace: Trace, title: str, tableaux: bool = False) -> str:
    """Return the text between \\begin{document} and its end; it needs \\usepackage{booktabs}."""
    titles = [*heads(trace), *(["why"] if trace.pivots else [])]
    # z and the reasons are long.
    columns = "r" * (len(titles) - 1 - bool(trace.pivots)) + "l" + (r"p{0.4\linewidth}" if trace.pivots else "")
    rows = [[*cells(trace, step), *([detail(trace, step)] if trace.pivots else [])] for step in trace.steps]
    lines = [
        rf"% {title!a}: {trace.solver} step by step; \usepackage{{booktabs}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _row(titles),
        r"\midrule",
        *map(_row, rows),
        r"\bottomrule",
        r"\end{tabular}",
        "",
        " ".join(map(in_latex, in_words(trace))),
    ]
    if tableaux:
        for step in trace.pivots:
            lines += ["", rf"Tableau after step {step.number}:", *_tableau(trace, step.number)]
    return "\n".join(lines)


def in_latex(text: str) -> str:
    """Plain text with its unknowns, fractions and index sets as mathematics, and all else escaped."""
    parts, end = [], 0
    for found in _MATHEMATICS.finditer(text):
        parts += [text[end : found.start()].translate(_SPECIAL), f"${_mathematics(found)}$"]
        end = found.end()
    return "".join([*parts, text[end:].translate(_SPECIAL)])


def _mathematics(found: re.Match[str]) -> str:
    word, kind = found[0], found.lastgroup
    if kind == "set":
        return rf"\{{{word[1:-1]}\}}"
    if kind == "fraction":
        above, below = word.lstrip("-").split("/")
        return rf"{'-' if word[0] == '-' else ''}\frac{{{above}}}{{{below}}}"
    if kind == "power":
        digits, exponent = word.split("e")
        return rf"{digits} \cdot 10^{{{int(exponent)}}}"
    if kind == "name":
        name, _, square = word.partition("^")
        return f"{name[0]}_{{{name[2:]}}}{'^2' if square else ''}"
    return _SIGNS.get(word, word)


def _row(row: list[str]) -> str:
    return " & ".join(map(in_latex, row)) + r" \\"


def _tableau(trace: Trace, number: int) -> list[str]:
    head, *rows = [[_entry(cell) for cell in row] for row in tableau_cells(trace, number)]
    lines = [" & ".join(row) + r" \\" for row in rows]
    return [
        rf"\[ \begin{{array}}{{r|{'r' * (len(head) - 1)}}}",
        " & ".join(head) + r" \\ \hline",
        *lines,
        r"\end{array} \]",
    ]


def _entry(cell: str) -> str:
    """A cell as mathematics, a pivot in a box."""
    pivot = cell.startswith("[")
    plain = in_latex(cell.strip("[]")).replace("$", "")
    return rf"\boxed{{{plain}}}" if pivot else plain
